//! Fault injection: makes the nth call of a driver function fail, so that tests reach error paths.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::status::Status;

struct PendingFault {
    /// The number of calls before the one that fails.
    left: u64,
    status: Status,
}

static FAULTS: Mutex<BTreeMap<String, Vec<PendingFault>>> = Mutex::new(BTreeMap::new());

/// The number of calls of each function so far.
static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Returns the number of calls of each function.
pub fn calls() -> BTreeMap<&'static str, u64> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Makes the `nth` call of `call` from now on fail with `status`. Counts from 1.
pub fn add(call: &str, nth: u64, status: Status) {
    let mut faults = FAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    faults.entry(call.to_owned()).or_default().push(PendingFault { left: nth.max(1) - 1, status });
}

/// Removes all pending faults and returns their number.
pub fn clear() -> usize {
    let mut faults = FAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *faults).values().map(Vec::len).sum()
}

/// Counts a call. Returns the injected error if this call must fail.
pub fn count_call(call: &'static str) -> Option<Status> {
    *CALLS.lock().unwrap_or_else(PoisonError::into_inner).entry(call).or_default() += 1;
    let mut faults = FAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    if faults.is_empty() {
        return None;
    }
    let pending = faults.get_mut(call)?;
    let hit = pending.iter().position(|fault| fault.left == 0);
    pending.iter_mut().for_each(|fault| fault.left = fault.left.saturating_sub(1));
    let status = hit.map(|at| pending.remove(at).status);
    if pending.is_empty() {
        faults.remove(call);
    }
    status
}
