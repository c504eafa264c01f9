//! The access of devices to memory, their own and that of peers.

use crate::memory::{Allocation, Kind};
use crate::state::State;

/// Returns true if work of a context may touch an allocation. Pinned and managed memory is accessible to all; memory of pools and
/// of graphs, and mapped memory, to the devices that were given access; other memory to its device, and to contexts that were
/// given access.
pub fn may_touch(state: &State, context: u64, found: &Allocation) -> bool {
    let Some(own) = state.contexts.get(context) else { return false };
    match found.kind {
        Kind::Managed => true,
        Kind::Mapped => found.access.contains(&own.device),
        Kind::Graph(_) => found.device == own.device || found.access.contains(&own.device),
        Kind::Pool(pool) => {
            let opened = || state.pools.get(pool).is_some_and(|pool| pool.access.contains(&own.device));
            found.device == own.device || opened()
        }
        _ => found.on_host() || found.device == own.device || own.peers.contains(&found.context),
    }
}

/// Returns what a report adds about an access that is illegal because of the device; nothing if it is not.
pub fn explain(state: &State, context: u64, found: &Allocation) -> String {
    let Some(own) = state.contexts.get(context) else { return String::new() };
    if may_touch(state, context, found) || found.device == own.device {
        return String::new();
    }
    format!(", memory of device {}, to which device {} was given no access", found.device, own.device)
}
