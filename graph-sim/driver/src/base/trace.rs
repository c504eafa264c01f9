//! A trace of the driver calls, for tests of their order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A finished driver call.
#[derive(Debug)]
pub struct TracedCall {
    /// The number of the calling thread.
    pub thread: u64,
    pub name: &'static str,
    /// The first eight bytes of each argument.
    pub arguments: Vec<u64>,
    pub result: u32,
    /// The handle or address that the call created; 0 if it created none.
    pub created: u64,
}

static ON: AtomicBool = AtomicBool::new(false);
static CALLS: Mutex<Vec<TracedCall>> = Mutex::new(Vec::new());

/// The functions whose first argument points to the created handle or address.
const CREATING_CALLS: [&str; 16] = [
    "cuCtxGetCurrent",
    "cuEventCreate",
    "cuGraphConditionalHandleCreate",
    "cuGraphCreate",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuImportExternalSemaphore",
    "cuMemAddressReserve",
    "cuMemAllocAsync",
    "cuMemAlloc_v2",
    "cuMemCreate",
    "cuMemHostAlloc",
    "cuModuleLoadDataEx",
    "cuStreamCreate",
    "cuStreamCreateWithPriority",
    "cuThreadExchangeStreamCaptureMode",
];

/// Returns true if calls are recorded.
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

pub fn set(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Returns the recorded calls and clears them.
pub fn take() -> Vec<TracedCall> {
    std::mem::take(&mut *CALLS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the first eight bytes of an argument as a number.
pub fn number<T: Copy>(argument: &T) -> u64 {
    let mut bytes = [0u8; 8];
    let count = size_of::<T>().min(8);
    // SAFETY: `count` bytes exist on both sides. Arguments are integers, pointers and structs of integers.
    unsafe { std::ptr::copy_nonoverlapping((&raw const *argument).cast(), bytes.as_mut_ptr(), count) };
    u64::from_le_bytes(bytes)
}

/// Records a call with its result.
pub fn keep(name: &'static str, arguments: Vec<u64>, result: u32) {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local!(static THREAD: u64 = THREADS.fetch_add(1, Ordering::Relaxed));
    let place = arguments.first().copied().unwrap_or(0);
    let created = if result == 0 && place != 0 && CREATING_CALLS.contains(&name) {
        // SAFETY: a successful call has written there. The capture mode has four bytes.
        unsafe {
            let place = std::ptr::with_exposed_provenance::<u8>(place as usize);
            let mode = name == "cuThreadExchangeStreamCaptureMode";
            if mode {
                place.cast::<u32>().read_unaligned().into()
            } else {
                place.cast::<u64>().read_unaligned()
            }
        }
    } else {
        0
    };
    let call = TracedCall { thread: THREAD.with(|thread| *thread), name, arguments, result, created };
    CALLS.lock().unwrap_or_else(PoisonError::into_inner).push(call);
}
