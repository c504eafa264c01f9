//! Sets buffers aside that are dropped while their owning stream is capturing. cudarc's drop would wait and
//! free in that stream, which invalidates the capture. Such buffers are dropped later, once the stream no
//! longer captures.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaSlice, CudaStream};

use super::entry::{Driver, driver};
use super::handles::{Context, Stream};

/// A device buffer that an exec owns. Its drop is safe during captures.
#[derive(Debug)]
pub struct OwnedBuffer<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> OwnedBuffer<T> {
    /// Wraps a buffer.
    pub fn new(buffer: CudaSlice<T>) -> OwnedBuffer<T> {
        OwnedBuffer(ManuallyDrop::new(buffer))
    }

    /// Returns the buffer.
    pub fn into_inner(self) -> CudaSlice<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so the buffer is taken only once.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Deref for OwnedBuffer<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.0
    }
}

impl<T> DerefMut for OwnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        &mut self.0
    }
}

impl<T> Drop for OwnedBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: in the drop of its only owner.
        let buffer = unsafe { ManuallyDrop::take(&mut self.0) };
        let Ok(driver) = driver() else { return };
        if captures(driver, buffer.stream()) {
            let stream = buffer.stream().clone();
            set_aside(stream, Box::new(Freed(buffer)));
        }
    }
}

/// Drops a buffer without freeing its memory. Its stream waits for its uses.
pub fn forget_or_wait<T>(buffer: CudaSlice<T>) {
    let stream = buffer.stream().clone();
    let kept = NotFreed(Some(buffer));
    if driver().is_ok_and(|driver| captures(driver, &stream)) {
        set_aside(stream, Box::new(kept));
    }
}

/// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`: returned for the legacy default stream while a blocking stream is
/// capturing.
const STREAM_CAPTURE_IMPLICIT: u32 = 906;

/// Returns true if a stream, or one that it implicitly waits for, is capturing.
fn captures(driver: &Driver, stream: &CudaStream) -> bool {
    let _ = driver.enter(Context::from_cudarc(stream.context()));
    match driver.is_capturing(Stream::from_cudarc(stream)) {
        Ok(captures) => captures,
        Err(failure) => failure.code == STREAM_CAPTURE_IMPLICIT,
    }
}

/// A buffer with its element type erased. Only its drop is called.
trait ErasedBuffer {}

impl<T> ErasedBuffer for Freed<T> {}
impl<T> ErasedBuffer for NotFreed<T> {}

/// Its drop frees the memory.
struct Freed<T>(#[allow(dead_code)] CudaSlice<T>);

/// Its drop leaves the memory allocated.
struct NotFreed<T>(Option<CudaSlice<T>>);

impl<T> Drop for NotFreed<T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.0.take() {
            let _ = buffer.leak();
        }
    }
}

/// A buffer set aside. Only its drop is called.
struct SetAsideBuffer(#[allow(dead_code)] Box<dyn ErasedBuffer>);

// SAFETY: a buffer that is only dropped may be dropped on any thread, whatever its elements are.
unsafe impl Send for SetAsideBuffer {}

/// The buffers set aside, each with its stream.
static SET_ASIDE: Mutex<Vec<(Arc<CudaStream>, SetAsideBuffer)>> = Mutex::new(Vec::new());
/// The length of [`SET_ASIDE`], to check it without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn set_aside(stream: Arc<CudaStream>, ended: Box<dyn ErasedBuffer + '_>) {
    // SAFETY: only the drop of the buffer is called. It does not access the elements, so their lifetimes do not
    // matter.
    let ended =
        unsafe { std::mem::transmute::<Box<dyn ErasedBuffer + '_>, Box<dyn ErasedBuffer + 'static>>(ended) };
    let mut waiting = SET_ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.push((stream, SetAsideBuffer(ended)));
    COUNT.store(waiting.len(), Ordering::Relaxed);
}

impl Driver {
    /// Drops the buffers that were set aside and whose streams no longer capture.
    pub fn drop_set_aside(&self) {
        if COUNT.load(Ordering::Relaxed) == 0 {
            return;
        }
        let ready: Vec<_> = {
            let mut waiting = SET_ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
            let (ready, stay) = waiting.drain(..).partition(|(stream, _)| !captures(self, stream));
            *waiting = stay;
            COUNT.store(waiting.len(), Ordering::Relaxed);
            ready
        };
        for (stream, ended) in ready {
            let _ = self.enter(Context::from_cudarc(stream.context()));
            drop(ended);
        }
    }
}
