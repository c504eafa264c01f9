//! Access rights of devices to memory, their own and that of peers.

use crate::base::config::config;
use crate::base::types::MEMORY_DEVICE;
use crate::memory::{Allocation, AllocationKind};
use crate::state::State;
use crate::state::operation::MemoryCopy;

/// Returns true if work of a context may access an allocation. Pinned and managed memory is open to all contexts.
/// Pool, graph and mapped memory is open to the devices that were granted access. Other memory is open to its own
/// device, and to contexts that were granted access.
pub fn can_access(state: &State, context: u64, found: &Allocation) -> bool {
    let Some(own) = state.contexts.get(context) else { return false };
    match found.kind {
        AllocationKind::Managed | AllocationKind::ManagedVariable => true,
        AllocationKind::Mapped => found.access.contains(&own.device),
        AllocationKind::Graph(_) => found.device == own.device || found.access.contains(&own.device),
        AllocationKind::Pool(pool) => {
            let opened = || state.pools.get(pool).is_some_and(|pool| pool.access.contains(&own.device));
            found.device == own.device || opened()
        }
        _ => found.on_host() || found.device == own.device || own.peers.contains(&found.context),
    }
}

/// Returns the part of a report that explains why work of a context in a stream may not access the memory; empty if
/// it may.
pub fn explain(state: &State, context: u64, stream: u64, found: &Allocation) -> String {
    let Some(own) = state.contexts.get(context) else { return String::new() };
    if !can_access(state, context, found) && found.device != own.device {
        return format!(", memory of device {}, to which device {} has no access", found.device, own.device);
    }
    detached(found, stream).unwrap_or_default().to_owned()
}

/// Returns the part of a report that explains why devices may not access managed memory in work of a stream.
fn detached(found: &Allocation, stream: u64) -> Option<&'static str> {
    let managed = found.managed.as_ref()?;
    if managed.is_of_other_stream(stream) {
        return Some(", managed memory that is attached to another stream");
    }
    let open = managed.is_accessible_from(stream, config().concurrent);
    (!open).then_some(", managed memory that is attached to the host")
}

/// Returns the description of managed memory that a copy may not use in a stream. Memory that is attached to the
/// host is copied by the host, unless the copy says that the address is one of the device.
///
/// Source: the CUDA C++ Programming Guide, "Memcpy()/Memset() Behavior with Unified Memory".
pub fn describe_detached(state: &State, copy: &MemoryCopy, stream: u64) -> Option<String> {
    [&copy.from, &copy.to].into_iter().find_map(|end| {
        let found = state.memory.find(end.at.start)?;
        let reason = detached(found, stream)?;
        let by_device = end.kind == MEMORY_DEVICE;
        let closed =
            by_device || found.managed.as_ref().is_some_and(|managed| managed.is_of_other_stream(stream));
        closed.then(|| format!("{}{reason}", found.describe_at(end.at.start)))
    })
}
