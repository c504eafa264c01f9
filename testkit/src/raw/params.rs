//! The parameters of nodes.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use cudarc::driver::sys;

pub fn alloc_params(bytes: usize) -> sys::CUDA_MEM_ALLOC_NODE_PARAMS {
    // SAFETY: a struct of numbers and pointers, for which all zeros are valid. Enumerators are set below.
    let mut params: sys::CUDA_MEM_ALLOC_NODE_PARAMS = unsafe {
        let mut params = MaybeUninit::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>::zeroed();
        let props = &raw mut (*params.as_mut_ptr()).poolProps;
        (&raw mut (*props).allocType).write(sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED);
        (&raw mut (*props).handleTypes).write(sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
        (&raw mut (*props).location.type_).write(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE);
        params.assume_init()
    };
    params.bytesize = bytes;
    params
}

pub fn kernel_params(
    function: sys::CUfunction,
    blocks: u32,
    threads: u32,
    pointers: &mut [*mut c_void],
) -> sys::CUDA_KERNEL_NODE_PARAMS_v2_st {
    sys::CUDA_KERNEL_NODE_PARAMS_v2_st {
        func: function,
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: pointers.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    }
}

pub fn fill_params(address: u64, value: u8, bytes: usize) -> sys::CUDA_MEMSET_NODE_PARAMS {
    sys::CUDA_MEMSET_NODE_PARAMS {
        dst: address,
        pitch: 0,
        value: u32::from(value),
        elementSize: 1,
        width: bytes,
        height: 1,
    }
}

pub fn copy_params(to: u64, from: u64, bytes: usize) -> sys::CUDA_MEMCPY3D {
    sys::CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: null(),
        srcDevice: from,
        srcArray: null_mut(),
        reserved0: null_mut(),
        srcPitch: bytes,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: null_mut(),
        dstDevice: to,
        dstArray: null_mut(),
        reserved1: null_mut(),
        dstPitch: bytes,
        dstHeight: 1,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}
