//! The thread that drops the owners of foreign memory, once the device no longer uses it.

use std::any::Any;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::ledger::TrackedBuffer;

/// The memory's uses, and its owner.
type Owned = (Arc<TrackedBuffer>, Option<Box<dyn Any + Send>>);

/// Sends to the thread. `None` before its first use.
static THREAD: Mutex<Option<Sender<Owned>>> = Mutex::new(None);

/// Drops the owner of memory after all uses of it. An owner that nothing can wait for is leaked.
pub(super) fn drop_after(tracked: Arc<TrackedBuffer>, owner: Option<Box<dyn Any + Send>>) {
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
    // A panic of the owner's must not end the thread.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(owner)));
}
