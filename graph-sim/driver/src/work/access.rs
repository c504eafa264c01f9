//! Access rights of devices to memory, their own and that of peers.

use crate::memory::{Allocation, AllocationKind};
use crate::state::State;

/// Returns true if work of a context may access an allocation. Pinned and managed memory is open to all contexts.
/// Pool, graph and mapped memory is open to the devices that were granted access. Other memory is open to its own
/// device, and to contexts that were granted access.
pub fn can_access(state: &State, context: u64, found: &Allocation) -> bool {
    let Some(own) = state.contexts.get(context) else { return false };
    match found.kind {
        AllocationKind::Managed => true,
        AllocationKind::Mapped => found.access.contains(&own.device),
        AllocationKind::Graph(_) => found.device == own.device || found.access.contains(&own.device),
        AllocationKind::Pool(pool) => {
            let opened = || state.pools.get(pool).is_some_and(|pool| pool.access.contains(&own.device));
            found.device == own.device || opened()
        }
        _ => found.on_host() || found.device == own.device || own.peers.contains(&found.context),
    }
}

/// Returns the part of a report that explains why the device may not access the memory; empty if it may.
pub fn explain(state: &State, context: u64, found: &Allocation) -> String {
    let Some(own) = state.contexts.get(context) else { return String::new() };
    if can_access(state, context, found) || found.device == own.device {
        return String::new();
    }
    format!(", memory of device {}, to which device {} has no access", found.device, own.device)
}
