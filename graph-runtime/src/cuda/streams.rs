//! Driver calls for contexts, streams, events and stream-ordered memory.
//!
//! Some stream captures forbid calls that wait on the host: `cuStreamBeginCapture` in global mode forbids them
//! to every thread, and such a call invalidates the capture. So these calls are made in relaxed mode, in which
//! only calls that affect the capture itself fail.

use std::mem::MaybeUninit;

use super::entry::{Driver, call, call_newer};
use super::failure::{Failure, NOT_FOUND, NOT_READY, Outcome};
use super::handles::{Context, Event, Stream};
use super::params::host_size;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: u32 = 2;
/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

impl Driver {
    /// Runs `work` in relaxed mode, so that no call in it fails because of an unrelated capture.
    pub fn relaxed<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut mode = RELAXED;
        let exchanged = call!(self, cuThreadExchangeStreamCaptureMode(&mut mode)).is_ok();
        let result = work();
        if exchanged && call!(self, cuThreadExchangeStreamCaptureMode(&mut mode)).is_err() {
            // Try again: a thread left in relaxed mode would miss failures that its program expects.
            let _ = call!(self, cuThreadExchangeStreamCaptureMode(&mut mode));
        }
        result
    }

    /// Makes a context current on this thread.
    pub fn enter(&self, context: Context) -> Outcome<()> {
        let mut current = Context::NONE;
        call!(self, cuCtxGetCurrent(&mut current))?;
        if current == context { Ok(()) } else { call!(self, cuCtxSetCurrent(context)) }
    }

    /// Waits on the host for all work of the current context.
    pub fn synchronize_context(&self) -> Outcome<()> {
        self.relaxed(|| call!(self, cuCtxSynchronize()))
    }

    /// Creates a non-blocking stream: it and the legacy default stream never wait for each other implicitly.
    pub fn create_stream(&self) -> Outcome<Stream> {
        let mut stream = Stream::LEGACY;
        call!(self, cuStreamCreate(&mut stream, NON_BLOCKING))?;
        Ok(stream)
    }

    /// Enqueues work in a new stream, which never captures, and waits for it.
    pub fn in_new_stream(&self, work: impl FnOnce(Stream) -> Outcome<()>) -> Outcome<()> {
        let stream = self.create_stream()?;
        let enqueued = self.relaxed(|| work(stream));
        let over = self.synchronize(stream);
        self.destroy_stream(stream)?;
        enqueued.and(over)
    }

    /// Destroys a stream. Its enqueued work still completes.
    pub fn destroy_stream(&self, stream: Stream) -> Outcome<()> {
        call!(self, cuStreamDestroy(stream))
    }

    /// Returns the id of a stream. Unique in the process, even if a later stream has the same handle.
    pub fn stream_id(&self, stream: Stream) -> Outcome<u64> {
        let mut id = 0;
        call!(self, cuStreamGetId(stream, &mut id))?;
        Ok(id)
    }

    /// Returns true if a stream is capturing.
    pub fn is_capturing(&self, stream: Stream) -> Outcome<bool> {
        let mut status = 0;
        call!(self, cuStreamIsCapturing(stream, &mut status))?;
        Ok(status != 0)
    }

    /// Creates an event without timing.
    pub fn create_event(&self) -> Outcome<Event> {
        let mut event = Event::NONE;
        call!(self, cuEventCreate(&mut event, DISABLE_TIMING))?;
        Ok(event)
    }

    /// Creates an event with timing.
    pub fn create_timing_event(&self) -> Outcome<Event> {
        let mut event = Event::NONE;
        call!(self, cuEventCreate(&mut event, 0))?;
        Ok(event)
    }

    /// Returns the time between two timing events in microseconds. Both must be recorded and complete.
    pub fn elapsed(&self, from: Event, to: Event) -> Outcome<f64> {
        let mut milliseconds = 0f32;
        call!(self, cuEventElapsedTime(&mut milliseconds, from, to))?;
        Ok(f64::from(milliseconds) * 1000.0)
    }

    /// Copies words from the device to the host in stream order, and waits for the copy.
    pub fn read(&self, address: u64, words: &mut [u64], stream: Stream) -> Outcome<()> {
        let bytes = std::mem::size_of_val(words);
        self.relaxed(|| {
            call!(self, cuMemcpyDtoHAsync(words.as_mut_ptr().cast(), address, bytes, stream))?;
            call!(self, cuStreamSynchronize(stream))
        })
    }

    /// Copies bytes from device or managed memory to the host, and waits for the copy.
    pub fn read_bytes(&self, address: u64, bytes: &mut [u8], stream: Stream) -> Outcome<()> {
        self.relaxed(|| {
            self.read_value(address, bytes, stream)?;
            call!(self, cuStreamSynchronize(stream))
        })
    }

    /// Copies bytes from the host to device or managed memory, and waits for the copy.
    pub fn write_bytes(&self, address: u64, bytes: &[u8], stream: Stream) -> Outcome<()> {
        self.relaxed(|| {
            call_newer!(self, cuMemcpyHtoDAsync(address, bytes.as_ptr().cast(), bytes.len(), stream))?;
            call!(self, cuStreamSynchronize(stream))
        })
    }

    /// Copies the bytes of a value from the host to the device in stream order.
    pub fn write_value(&self, address: u64, bytes: &[MaybeUninit<u8>], stream: Stream) -> Outcome<()> {
        call_newer!(self, cuMemcpyHtoDAsync(address, bytes.as_ptr().cast(), bytes.len(), stream))
    }

    /// Copies the bytes of a value from the device to the host in stream order. They must live until the copy is over.
    pub fn read_value(&self, address: u64, bytes: &mut [u8], stream: Stream) -> Outcome<()> {
        call!(self, cuMemcpyDtoHAsync(bytes.as_mut_ptr().cast(), address, bytes.len(), stream))
    }

    /// Copies bytes between device or managed memories in stream order.
    pub fn copy_bytes(&self, to: u64, from: u64, bytes: u64, stream: Stream) -> Outcome<()> {
        call!(self, cuMemcpyDtoDAsync(to, from, host_size(bytes), stream))
    }

    /// Sets bytes of device memory to a value in stream order.
    pub fn set_bytes(&self, address: u64, value: u8, bytes: u64, stream: Stream) -> Outcome<()> {
        call!(self, cuMemsetD8Async(address, value, host_size(bytes), stream))
    }

    /// Destroys an event. Waits for it that are already enqueued stay valid.
    pub fn destroy_event(&self, event: Event) -> Outcome<()> {
        call!(self, cuEventDestroy(event))
    }

    /// Makes later work on the stream wait for the work that the event last recorded.
    pub fn wait(&self, stream: Stream, event: Event) -> Outcome<()> {
        call!(self, cuStreamWaitEvent(stream, event, 0))
    }

    /// Records the work enqueued in the stream so far.
    pub fn record(&self, event: Event, stream: Stream) -> Outcome<()> {
        call!(self, cuEventRecord(event, stream))
    }

    /// Waits on the host for a stream, which must not be capturing.
    pub fn synchronize(&self, stream: Stream) -> Outcome<()> {
        self.relaxed(|| call!(self, cuStreamSynchronize(stream)))
    }

    /// Waits on the host for an event.
    pub fn synchronize_event(&self, event: Event) -> Outcome<()> {
        self.relaxed(|| call!(self, cuEventSynchronize(event)))
    }

    /// Returns true if the work that the event last recorded is complete. Must be called inside
    /// [`Driver::relaxed`].
    pub fn is_over(&self, event: Event) -> Outcome<bool> {
        match call!(self, cuEventQuery(event)) {
            Ok(()) => Ok(true),
            Err(Failure { code: NOT_READY, .. }) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Frees memory in stream order.
    pub fn free(&self, address: u64, stream: Stream) -> Outcome<()> {
        call!(self, cuMemFreeAsync(address, stream))
    }
}
