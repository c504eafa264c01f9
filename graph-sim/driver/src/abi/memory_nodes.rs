//! The parameters of alloc nodes.

use crate::base::config::are_peers;
use crate::base::log;
use crate::base::pointer::read_array;
use crate::base::status::{Result, Status};
use crate::base::types::{
    ACCESS_READ_WRITE, ALLOCATION_PINNED, CUDA_MEM_ALLOC_NODE_PARAMS, CUgraphNode, CUmemAccessDesc,
    CUmemLocation, CUmemPoolProps, LOCATION_DEVICE,
};
use crate::state::State;
use crate::state::operation::{AllocProperties, Operation};

/// Returns the operation that the parameters of an alloc node describe.
pub(super) fn alloc_op(state: &State, p: &CUDA_MEM_ALLOC_NODE_PARAMS) -> Result<Operation> {
    let no = |status, what: &str| Err(log::log_error(status, format!("an alloc node {what}")));
    let props = &p.poolProps;
    // The error codes of this function are those of driver 580 (CUDA 13.0).
    match props.handleTypes {
        0 => {}
        // File descriptors and fabric handles.
        1 | 8 => return no(Status::NOT_SUPPORTED, "with handles for other processes"),
        _ => return no(Status::INVALID_VALUE, "with handles of an unknown type"),
    }
    if props.allocType != ALLOCATION_PINNED || props.reserved.iter().any(|&byte| byte != 0) {
        return no(Status::INVALID_VALUE, "of memory that is not plain device memory");
    }
    if props.location.kind != LOCATION_DEVICE {
        return no(Status::NOT_SUPPORTED, "at a location that is no device");
    }
    let device = state.device(props.location.id).map_err(|_| Status::INVALID_VALUE)?;
    let access = read_array(p.accessDescs, p.accessDescCount)?;
    for (at, desc) in access.iter().enumerate() {
        check_access(state, device, desc)?;
        let same = |other: &CUmemAccessDesc| {
            (other.location.kind, other.location.id) == (desc.location.kind, desc.location.id)
        };
        if access[..at].iter().any(same) {
            return no(Status::INVALID_VALUE, "that describes the access of one location twice");
        }
    }
    let (max_size, usage) = (props.maxSize, props.usage);
    let properties = AllocProperties { access: access.into_boxed_slice(), max_size, usage };
    Ok(Operation::Alloc { address: 0, bytes: p.bytesize as u64, device, properties })
}

/// Checks who is given access to memory of a device by an alloc node.
fn check_access(state: &State, device: usize, access: &CUmemAccessDesc) -> Result {
    match access.flags {
        ACCESS_READ_WRITE => {}
        0 | 1 => {
            return Err(log::log_error(Status::NOT_SUPPORTED, "an alloc node with less than full access"));
        }
        _ => return Err(Status::INVALID_VALUE),
    }
    match access.location.kind {
        LOCATION_DEVICE => {}
        // Measured: the host and its NUMA nodes are accepted too, without effect.
        2..=4 => return Ok(()),
        _ => return Err(Status::INVALID_VALUE),
    }
    let peer = state.device(access.location.id)?;
    if peer != device && !are_peers(peer, device) {
        return Err(log::log_error(
            Status::INVALID_DEVICE,
            format!(
                "an alloc node of memory of device {device} with access for device {peer}, which is not a peer"
            ),
        ));
    }
    Ok(())
}

/// Returns the address of an alloc node.
pub(super) fn address(state: &State, node: CUgraphNode) -> Result<u64> {
    match state.definitions.node(node)?.op {
        Operation::Alloc { address, .. } => Ok(address),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Returns the parameters of an alloc node. They point to a list that lives as long as the node.
pub(super) fn alloc_params(state: &State, node: CUgraphNode) -> Result<CUDA_MEM_ALLOC_NODE_PARAMS> {
    let Operation::Alloc { address, bytes, device, properties } = &state.definitions.node(node)?.op else {
        return Err(Status::INVALID_VALUE);
    };
    Ok(CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps {
            allocType: ALLOCATION_PINNED,
            handleTypes: 0,
            location: CUmemLocation { kind: LOCATION_DEVICE, id: *device as i32 },
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: properties.max_size,
            usage: properties.usage,
            reserved: [0; 54],
        },
        accessDescs: properties.access.as_ptr(),
        accessDescCount: properties.access.len(),
        bytesize: *bytes as usize,
        dptr: *address,
    })
}
