//! Reads the parameters of a graph's nodes back from the driver.

use std::ptr::{null, null_mut};

use cuweave_core::index::{size, wide};

use super::entry::{Driver, call};
use super::failure::{Failure, Outcome};
use super::handles::{Function, Node};
use super::params::{
    AllocParams, CopyEnd, CopyPitch, KernelLaunch, KernelParams, Memcpy, MemcpyParams, Memset, MemsetParams,
    RawCopyEnd,
};

/// A kernel node.
#[derive(Clone, Debug)]
pub struct KernelNode {
    /// Its function and configuration.
    pub kernel_launch: KernelLaunch,
    /// The bytes of each parameter. Empty if the driver has no list of values.
    pub parameters: Vec<Vec<u8>>,
}

impl Driver {
    /// Returns the parameters of a kernel node as the driver has them. Their pointers are valid as long as the node is
    /// unchanged.
    pub(super) fn kernel_params_of(&self, node: Node) -> Outcome<KernelParams> {
        let mut params = KernelParams {
            function: Function::NONE,
            grid: [0; 3],
            block: [0; 3],
            shared: 0,
            values: null_mut(),
            extra: null_mut(),
            kernel: 0,
            context: 0,
        };
        call!(self, cuGraphKernelNodeGetParams(node, &mut params))?;
        Ok(params)
    }

    /// Returns a kernel node. `sizes` has the sizes of its parameters, in bytes.
    pub fn kernel_of(&self, node: Node, sizes: &[u32]) -> Outcome<KernelNode> {
        let KernelParams { function, grid, block, shared, values, .. } = self.kernel_params_of(node)?;
        let mut parameters = Vec::new();
        for (at, &bytes) in sizes.iter().enumerate().filter(|_| !values.is_null()) {
            // SAFETY: the node was added with a value for each of these parameters, of at least these sizes.
            // The driver keeps the values with the node, which nobody changes meanwhile. They were copied byte
            // for byte; padding that was not written is unknown, but not undefined, once the driver has copied
            // it.
            let value = unsafe { std::slice::from_raw_parts((*values.add(at)).cast::<u8>(), size(bytes)) };
            parameters.push(value.to_vec());
        }
        let kernel_launch = KernelLaunch { function, grid, block, shared, cooperative: false };
        Ok(KernelNode { kernel_launch, parameters })
    }

    /// Returns the parameters of a memset node.
    pub fn fill_of(&self, node: Node) -> Outcome<Memset> {
        let mut params = MemsetParams { target: 0, pitch: 0, value: 0, element: 0, width: 0, height: 0 };
        call!(self, cuGraphMemsetNodeGetParams(node, &mut params))?;
        let MemsetParams { target, value, element, width, pitch, height: rows } = params;
        // The pitch of a single row is unused, and the driver may return any.
        let pitch = if rows > 1 { wide(pitch) } else { 0 };
        Ok(Memset { target, value, element, width: wide(width), rows: wide(rows), pitch })
    }

    /// Returns the parameters of a memcpy node.
    pub fn copy_of(&self, node: Node) -> Outcome<Memcpy> {
        const NONE: RawCopyEnd = RawCopyEnd {
            x_in_bytes: 0,
            y: 0,
            z: 0,
            lod: 0,
            memory_type: 0,
            host: 0,
            device: 0,
            array: 0,
            reserved: 0,
            pitch: 0,
            height: 0,
        };
        let mut params = MemcpyParams { source: NONE, target: NONE, width: 0, height: 0, depth: 0 };
        call!(self, cuGraphMemcpyNodeGetParams(node, &mut params))?;
        // CU_MEMORYTYPE_HOST is 1.
        let place = |end: &RawCopyEnd| match end.memory_type {
            1 => CopyEnd::Host(wide(end.host)),
            _ => CopyEnd::Device(end.device),
        };
        let MemcpyParams { source, target, width, height: rows, depth: planes } = &params;
        let pitch = |end: &RawCopyEnd| match *rows > 1 || *planes > 1 {
            true => CopyPitch { bytes: wide(end.pitch), height: wide(end.height) },
            false => CopyPitch::default(),
        };
        Ok(Memcpy {
            from: place(source),
            to: place(target),
            bytes: wide(*width),
            rows: wide(*rows),
            planes: wide(*planes),
            pitches: [pitch(source), pitch(target)],
        })
    }

    /// Returns the address and the size in bytes of an alloc node.
    pub fn allocated_by(&self, node: Node) -> Outcome<(u64, u64)> {
        let mut params = AllocParams {
            allocation_type: 0,
            handle_types: 0,
            location_type: 0,
            location: 0,
            reserved: [0; 9],
            accesses: null(),
            access_count: 0,
            bytes: 0,
            address: 0,
        };
        call!(self, cuGraphMemAllocNodeGetParams(node, &mut params))?;
        Ok((params.address, wide(params.bytes)))
    }

    /// Returns the address that a free node frees.
    pub fn freed_by(&self, node: Node) -> Outcome<u64> {
        let mut address = 0;
        call!(self, cuGraphMemFreeNodeGetParams(node, &mut address))?;
        Ok(address)
    }
}
