//! The elements of foreign memory, the ranges of all of it, and the thread that drops its owners once the device no
//! longer uses it.

use std::any::Any;
use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream, CudaView};

use crate::cuda::{Driver, UnownedBuffer, drop_outside_captures};
use crate::error::Result;
use crate::waits::OwnedEvent;

use super::ledger::{Ledger, TrackedBuffer};
use super::users::User;

/// The elements of foreign memory.
pub(super) struct ForeignElements {
    /// Its bytes.
    elements: UnownedBuffer<u8>,
    len: usize,
    /// Taken by [`ForeignElements::release`].
    owner: Mutex<Option<Box<dyn Any + Send>>>,
    /// The event that [`Foreign::event`] returned last.
    event: Mutex<Option<OwnedEvent>>,
}

impl ForeignElements {
    pub fn new(elements: UnownedBuffer<u8>, len: usize, owner: Box<dyn Any + Send>) -> ForeignElements {
        ForeignElements { elements, len, owner: Mutex::new(Some(owner)), event: Mutex::default() }
    }

    pub fn view<T>(&self) -> CudaView<'_, T> {
        self.elements.elements(0, self.len)
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        self.elements.stream()
    }

    /// Keeps the event until the next one.
    pub fn keep(&self, event: OwnedEvent) {
        *self.event.lock().unwrap_or_else(PoisonError::into_inner) = Some(event);
    }

    /// Drops the owner after all uses of the memory, on another thread.
    pub fn release(&self, tracked: &Arc<TrackedBuffer>) {
        let owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop_after(tracked.clone(), owner);
    }
}

/// The ranges of all foreign memory, with their uses.
static RANGES: Mutex<Vec<(Range<u64>, Weak<TrackedBuffer>)>> = Mutex::new(Vec::new());

/// Removes the range of memory that nothing uses any more.
fn forget(tracked: &Arc<TrackedBuffer>) {
    let mut ranges = RANGES.lock().unwrap_or_else(PoisonError::into_inner);
    ranges.retain(|(_, other)| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(tracked)));
}

/// Returns the uses of a range, with those of the other ranges that it overlaps.
pub(super) fn tracked(
    driver: &'static Driver,
    ctx: &Arc<CudaContext>,
    range: Range<u64>,
) -> Result<Arc<TrackedBuffer>> {
    let user = User::new(Arc::new(OwnedEvent::new(driver, ctx)?));
    user.end();
    let mut tracked = TrackedBuffer::new(Ledger::shared(driver), ctx.clone(), user);
    let mut ranges = RANGES.lock().unwrap_or_else(PoisonError::into_inner);
    ranges.retain(|(_, other)| other.strong_count() > 0);
    let overlap = ranges.iter().filter(|(other, _)| other.start < range.end && range.start < other.end);
    tracked.overlapping = overlap.map(|(_, other)| other.clone()).collect();
    let tracked = Arc::new(tracked);
    ranges.push((range, Arc::downgrade(&tracked)));
    Ok(tracked)
}

/// The memory's uses, and its owner.
type Owned = (Arc<TrackedBuffer>, Option<Box<dyn Any + Send>>);

/// Sends to the thread. `None` before its first use.
static THREAD: Mutex<Option<Sender<Owned>>> = Mutex::new(None);

/// Drops the owner of memory after all uses of it. An owner that nothing can wait for is leaked.
fn drop_after(tracked: Arc<TrackedBuffer>, owner: Option<Box<dyn Any + Send>>) {
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let sender = match &*thread {
        Some(sender) => sender.clone(),
        None => {
            let (sender, receiver) = channel::<Owned>();
            let work = move || receiver.into_iter().for_each(release);
            if std::thread::Builder::new().name("cuweave owners".to_owned()).spawn(work).is_err() {
                drop(thread);
                return release((tracked, owner));
            }
            thread.insert(sender).clone()
        }
    };
    drop(thread);
    if let Err(unsent) = sender.send((tracked, owner)) {
        release(unsent.0);
    }
}

fn release((tracked, owner): Owned) {
    if !tracked.end_on_host() {
        std::mem::forget(owner);
        return;
    }
    forget(&tracked);
    // A panic of the owner's must not end the thread.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop_outside_captures(owner)));
}
