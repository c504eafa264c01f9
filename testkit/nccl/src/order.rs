//! Orders the work of a communicator with a separate stream for each capture, as NCCL 2.28 does
//! (`strongstream.cc`).
//!
//! A capture is identified by its number. If a number occurs again, the earlier capture's stream is used again. If
//! that capture has ended, its stream is no longer capturing: then a capturing stream waits for a stream that does
//! not capture, which the driver refuses.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use std::ffi::c_void;

use cuweave_testkit::stand_in::is_capturing;

use crate::driver;

/// A capture that has or had work of the communicator.
struct KnownCapture {
    id: u64,
    stream: u64,
}

/// The streams and the event that order a communicator's work.
#[derive(Default)]
struct Streams {
    known: Vec<KnownCapture>,
    /// The stream of work outside of captures, and the event that orders that work with captures.
    outside: Option<(u64, u64)>,
}

pub struct Order {
    context: u64,
    /// True if events order work in graphs with work outside of them.
    mixing: bool,
    streams: Mutex<Streams>,
    /// The number of captures whose graphs are alive.
    graphs: AtomicUsize,
    /// True while a thread is enqueuing work.
    pub busy: AtomicBool,
}

/// The work of a communicator in one group.
pub struct GroupWork {
    order: Arc<Order>,
    launch: u64,
    own: u64,
}

/// Called when the graphs of a capture are destroyed. Must not take the lock of the library, since the driver holds
/// its own.
extern "C" fn graphs_destroyed(order: *mut c_void) {
    // SAFETY: made by `Arc::into_raw` for this single call.
    let order = unsafe { Arc::from_raw(order.cast::<Order>()) };
    order.graphs.fetch_sub(1, Ordering::SeqCst);
}

impl Order {
    pub fn new(mixing: bool) -> Arc<Order> {
        let (streams, graphs, busy) = (Mutex::default(), AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Order { context: driver::context(), mixing, streams, graphs, busy })
    }

    /// Returns the number of captures whose graphs are alive.
    pub fn graphs(&self) -> usize {
        self.graphs.load(Ordering::SeqCst)
    }

    /// Begins the work of a group in a stream. `None` if the stream is not capturing.
    pub fn begin(self: &Arc<Order>, launch: u64) -> Result<Option<GroupWork>, u32> {
        let Some(capture) = driver::capture_of(launch)? else { return Ok(None) };
        driver::enter(self.context)?;
        let own = self.stream_of(capture.id, launch)?;
        driver::follow(launch, own)?;
        self.graphs.fetch_add(1, Ordering::SeqCst);
        let held = Arc::into_raw(self.clone()).cast_mut().cast();
        driver::at_end_of(capture.graph, graphs_destroyed, held).inspect_err(|_| graphs_destroyed(held))?;
        Ok(Some(GroupWork { order: self.clone(), launch, own }))
    }

    fn stream_of(&self, id: u64, launch: u64) -> Result<u64, u32> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let Streams { known, outside } = &mut *streams;
        if let Some(known) = known.iter().find(|known| known.id == id) {
            return Ok(known.stream);
        }
        known.retain(|known| {
            let captures = is_capturing(known.stream);
            if !captures {
                driver::drop_stream(known.stream);
            }
            captures
        });
        let stream = driver::stream()?;
        known.push(KnownCapture { id, stream });
        driver::follow(stream, launch)?;
        driver::depend_on(stream, &[])?;
        if self.mixing {
            let event = match *outside {
                Some((_, event)) => event,
                None => {
                    let made = (driver::stream()?, driver::event()?);
                    *outside = Some(made);
                    driver::note(made.1, made.0)?;
                    made.1
                }
            };
            driver::wait_outside(stream, event)?;
        }
        Ok(stream)
    }

    /// Destroys the streams and the event.
    pub fn end(&self) {
        let Streams { known, outside } =
            std::mem::take(&mut *self.streams.lock().unwrap_or_else(PoisonError::into_inner));
        known.iter().for_each(|known| driver::drop_stream(known.stream));
        if let Some((stream, event)) = outside {
            driver::drop_stream(stream);
            driver::drop_event(event);
        }
    }
}

impl GroupWork {
    /// Ends the work of a group: the communicator's next work in this capture depends on it.
    pub fn end(self) -> Result<(), u32> {
        driver::enter(self.order.context)?;
        let Some(capture) = driver::capture_of(self.launch)? else { return Err(1) };
        driver::depend_on(self.own, &capture.last)?;
        if self.order.mixing {
            let streams = self.order.streams.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((_, event)) = streams.outside else { return Err(1) };
            let node = driver::record_node(capture.graph, &capture.last, event)?;
            driver::depend_on(self.own, &[node])?;
        }
        Ok(())
    }
}
