//! Accounting of the memory that graphs hold on a device.

use crate::base::status::Result;
use crate::state::State;

/// Frees a graph allocation.
pub fn free(state: &mut State, address: u64) -> Result {
    let gone = state.memory.free(address)?;
    count_graph_memory(state, gone.device, -(gone.size as i64));
    Ok(())
}

/// The granularity of the memory that graphs reserve.
const RESERVE_GRANULARITY: u64 = 32 << 20;

/// Counts an allocation or a free of graph memory on a device. `change` is in bytes.
pub fn count_graph_memory(state: &mut State, device: usize, change: i64) {
    let Some(device) = state.devices.get_mut(device) else { return };
    device.graph_used.0 = device.graph_used.0.saturating_add_signed(change);
    device.graph_used.1 = device.graph_used.1.max(device.graph_used.0);
    device.graph_reserved.0 =
        device.graph_reserved.0.max(device.graph_used.0.next_multiple_of(RESERVE_GRANULARITY));
    device.graph_reserved.1 = device.graph_reserved.1.max(device.graph_reserved.0);
}
