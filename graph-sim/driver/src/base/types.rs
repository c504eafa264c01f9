//! The C types of the driver API, laid out as in `cuda.h`.
//!
//! Handles are integers: they are looked up in tables and never dereferenced, so a bad handle cannot crash.

#![allow(non_camel_case_types, non_snake_case, missing_docs)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

pub type CUdevice = c_int;
pub type CUdeviceptr = u64;
pub type CUcontext = u64;
pub type CUstream = u64;
pub type CUevent = u64;
pub type CUmodule = u64;
pub type CUlibrary = u64;
pub type CUlinkState = u64;
pub type CUfunction = u64;
pub type CUkernel = u64;
pub type CUgraph = u64;
pub type CUgraphNode = u64;
pub type CUgraphExec = u64;
pub type CUmemoryPool = u64;
pub type CUuserObject = u64;
pub type CUgraphConditionalHandle = u64;
pub type CUexternalSemaphore = u64;
pub type CUhostFn = Option<unsafe extern "C" fn(*mut c_void)>;
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(c_int) -> usize>;

pub const NODE_KERNEL: u32 = 0;
pub const NODE_MEMCPY: u32 = 1;
pub const NODE_MEMSET: u32 = 2;
pub const NODE_HOST: u32 = 3;
pub const NODE_GRAPH: u32 = 4;
pub const NODE_EMPTY: u32 = 5;
pub const NODE_WAIT_EVENT: u32 = 6;
pub const NODE_EVENT_RECORD: u32 = 7;
pub const NODE_SIGNAL: u32 = 8;
pub const NODE_WAIT_SEMAPHORE: u32 = 9;
pub const NODE_MEM_ALLOC: u32 = 10;
pub const NODE_MEM_FREE: u32 = 11;
pub const NODE_MEMORY_OPERATIONS: u32 = 12;
pub const NODE_CONDITIONAL: u32 = 13;

pub const CONDITIONAL_IF: u32 = 0;
pub const CONDITIONAL_WHILE: u32 = 1;
pub const CONDITIONAL_SWITCH: u32 = 2;

pub const CONDITIONAL_ASSIGN_DEFAULT: u32 = 1;

pub const MEMORY_HOST: u32 = 1;
pub const MEMORY_DEVICE: u32 = 2;
pub const MEMORY_ARRAY: u32 = 3;
pub const MEMORY_UNIFIED: u32 = 4;

pub const LOCATION_DEVICE: u32 = 1;

pub const ALLOCATION_PINNED: u32 = 1;

/// `CU_STREAM_LEGACY`, and below it `CU_STREAM_PER_THREAD`: handles of predefined streams.
pub const STREAM_LEGACY: CUstream = 1;
pub const STREAM_PER_THREAD: CUstream = 2;

pub const INSTANTIATE_AUTO_FREE: u64 = 1;
pub const INSTANTIATE_UPLOAD: u64 = 2;
pub const INSTANTIATE_DEVICE_LAUNCH: u64 = 4;
pub const INSTANTIATE_NODE_PRIORITY: u64 = 8;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_KERNEL_NODE_PARAMS_v1 {
    pub func: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    pub func: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: CUkernel,
    pub ctx: CUcontext,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemLocation {
    pub kind: c_uint,
    pub id: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAllocationProp {
    pub kind: c_uint,
    pub requestedHandleTypes: c_uint,
    pub location: CUmemLocation,
    pub win32HandleMetaData: *mut c_void,
    pub allocFlags: [u8; 8],
}

impl Default for CUmemAllocationProp {
    fn default() -> Self {
        let location = CUmemLocation { kind: 0, id: 0 };
        let win32HandleMetaData = std::ptr::null_mut();
        CUmemAllocationProp {
            kind: 0,
            requestedHandleTypes: 0,
            location,
            win32HandleMetaData,
            allocFlags: [0; 8],
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmulticastObjectProp {
    pub numDevices: c_uint,
    pub size: usize,
    pub handleTypes: c_ulonglong,
    pub flags: c_ulonglong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemPoolProps {
    pub allocType: c_uint,
    pub handleTypes: c_uint,
    pub location: CUmemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub usage: u16,
    pub reserved: [u8; 54],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    pub flags: c_uint,
}

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
pub const ACCESS_READ_WRITE: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMCPY2D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcMemoryType: c_uint,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: u64,
    pub srcPitch: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstMemoryType: c_uint,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: u64,
    pub dstPitch: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
}

/// `CUDA_MEMCPY3D`. `CUDA_MEMCPY3D_PEER` has contexts in place of the reserved words.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMCPY3D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: c_uint,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: u64,
    pub reserved0: u64,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: c_uint,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: u64,
    pub reserved1: u64,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMCPY_NODE_PARAMS {
    pub flags: c_int,
    pub reserved: c_int,
    pub copyCtx: CUcontext,
    pub copyParams: CUDA_MEMCPY3D,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMSET_NODE_PARAMS {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_HOST_NODE_PARAMS {
    pub function: CUhostFn,
    pub userData: *mut c_void,
}

/// `CUstreamBatchMemOpParams`. Waits and writes have the same fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUstreamBatchMemOpParams {
    pub operation: c_uint,
    pub address: CUdeviceptr,
    pub value: u64,
    pub flags: c_uint,
    pub alias: CUdeviceptr,
    pub rest: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS {
    pub ctx: CUcontext,
    pub count: c_uint,
    pub paramArray: *const CUstreamBatchMemOpParams,
    pub flags: c_uint,
}

/// `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS` and `.._WAIT_PARAMS`. The value is the first word of both.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_EXTERNAL_SEMAPHORE_PARAMS {
    pub value: u64,
    pub others: [u64; 8],
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// `CUDA_EXT_SEM_SIGNAL_NODE_PARAMS` and `.._WAIT_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_EXT_SEM_NODE_PARAMS {
    pub extSemArray: *const CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_PARAMS,
    pub numExtSems: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
    pub kind: c_uint,
    pub handle: [u64; 2],
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_CHILD_GRAPH_NODE_PARAMS {
    pub graph: CUgraph,
    pub ownership: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_CONDITIONAL_NODE_PARAMS {
    pub handle: CUgraphConditionalHandle,
    pub kind: c_uint,
    pub size: c_uint,
    pub phGraph_out: *const CUgraph,
    pub ctx: CUcontext,
}

/// `CUgraphNodeParams`: the node type, then a union of 29 words that begins with the struct of that type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUgraphNodeParams {
    pub kind: c_uint,
    pub reserved0: [c_int; 3],
    pub body: [u64; 29],
    pub reserved2: i64,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CUgraphEdgeData {
    pub from_port: u8,
    pub to_port: u8,
    pub kind: u8,
    pub reserved: [u8; 5],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: u64,
    pub hUploadStream: CUstream,
    pub hErrNode_out: CUgraphNode,
    pub result_out: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUgraphExecUpdateResultInfo {
    pub result: c_uint,
    pub errorNode: CUgraphNode,
    pub errorFromNode: CUgraphNode,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchAttribute {
    pub id: c_uint,
    pub pad: [c_char; 4],
    pub value: [u64; 8],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub attrs: *mut CUlaunchAttribute,
    pub numAttrs: c_uint,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_cuda_h() {
        assert_eq!(size_of::<CUDA_KERNEL_NODE_PARAMS_v1>(), 56);
        assert_eq!(size_of::<CUDA_KERNEL_NODE_PARAMS>(), 72);
        assert_eq!(size_of::<CUmemAllocationProp>(), 32);
        assert_eq!(size_of::<CUmemPoolProps>(), 88);
        assert_eq!(size_of::<CUDA_MEM_ALLOC_NODE_PARAMS>(), 120);
        assert_eq!(size_of::<CUDA_MEMCPY2D>(), 128);
        assert_eq!(size_of::<CUDA_MEMCPY3D>(), 200);
        assert_eq!(size_of::<CUDA_MEMCPY_NODE_PARAMS>(), 216);
        assert_eq!(size_of::<CUDA_MEMSET_NODE_PARAMS>(), 40);
        assert_eq!(size_of::<CUDA_CONDITIONAL_NODE_PARAMS>(), 32);
        assert_eq!(size_of::<CUstreamBatchMemOpParams>(), 48);
        assert_eq!(size_of::<CUDA_BATCH_MEM_OP_NODE_PARAMS>(), 32);
        assert_eq!(size_of::<CUDA_EXTERNAL_SEMAPHORE_PARAMS>(), 144);
        assert_eq!(size_of::<CUDA_EXT_SEM_NODE_PARAMS>(), 24);
        assert_eq!(size_of::<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>(), 96);
        assert_eq!(size_of::<CUgraphNodeParams>(), 256);
        assert_eq!(size_of::<CUgraphEdgeData>(), 8);
        assert_eq!(size_of::<CUDA_GRAPH_INSTANTIATE_PARAMS>(), 32);
        assert_eq!(size_of::<CUgraphExecUpdateResultInfo>(), 24);
        assert_eq!(size_of::<CUlaunchAttribute>(), 72);
        assert_eq!(size_of::<CUlaunchConfig>(), 56);
    }
}
