//! Copies and fills.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use crate::base::pointer::read_argument;
use crate::base::status::{Result, Status};
use crate::base::types::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUstream,
};
use crate::call::driver_calls;
use crate::state::operation::{MemoryCopy, MemoryFill, Operation, TypedAddress};
use crate::stream::enqueue;

fn line(to: TypedAddress, from: TypedAddress, bytes: usize, stream: CUstream) -> Result {
    if bytes == 0 {
        return Ok(());
    }
    enqueue(stream, &Operation::Copy(MemoryCopy::line(to, from, bytes as u64)))
}

fn fill(
    dst: CUdeviceptr,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Result {
    if width == 0 || height == 0 {
        return Ok(());
    }
    let parameters = CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, elementSize: element, width, height };
    enqueue(stream, &Operation::Fill(MemoryFill::from_parameters(&parameters)?))
}

fn copy_2d(copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Result {
    let p = read_argument(copy)?;
    let parameters = CUDA_MEMCPY3D {
        srcXInBytes: p.srcXInBytes,
        srcY: p.srcY,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: p.srcMemoryType,
        srcHost: p.srcHost,
        srcDevice: p.srcDevice,
        srcArray: p.srcArray,
        reserved0: 0,
        srcPitch: p.srcPitch,
        srcHeight: 0,
        dstXInBytes: p.dstXInBytes,
        dstY: p.dstY,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: p.dstMemoryType,
        dstHost: p.dstHost,
        dstDevice: p.dstDevice,
        dstArray: p.dstArray,
        reserved1: 0,
        dstPitch: p.dstPitch,
        dstHeight: 0,
        WidthInBytes: p.WidthInBytes,
        Height: p.Height,
        Depth: 1,
    };
    enqueue(stream, &Operation::Copy(MemoryCopy::from_parameters(&parameters)?))
}

fn copy_3d(copy: *const CUDA_MEMCPY3D, stream: CUstream) -> Result {
    enqueue(stream, &Operation::Copy(MemoryCopy::from_parameters(&read_argument(copy)?)?))
}

driver_calls! {
    Call fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) {
        line(TypedAddress::unified(dst), TypedAddress::unified(src), bytes, 0)
    }

    Call fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream) {
        line(TypedAddress::unified(dst), TypedAddress::unified(src), bytes, stream)
    }

    Call fn cuMemcpyHtoD_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize) {
        line(TypedAddress::device(dst), TypedAddress::host(src as u64), bytes, 0)
    }

    Call fn cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize, stream: CUstream) {
        line(TypedAddress::device(dst), TypedAddress::host(src as u64), bytes, stream)
    }

    Call fn cuMemcpyDtoH_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize) {
        line(TypedAddress::host(dst as u64), TypedAddress::device(src), bytes, 0)
    }

    Call fn cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize, stream: CUstream) {
        line(TypedAddress::host(dst as u64), TypedAddress::device(src), bytes, stream)
    }

    Call fn cuMemcpyDtoD_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) {
        line(TypedAddress::device(dst), TypedAddress::device(src), bytes, 0)
    }

    Call fn cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream) {
        line(TypedAddress::device(dst), TypedAddress::device(src), bytes, stream)
    }

    Call fn cuMemcpyPeer(dst: CUdeviceptr, to: CUcontext, src: CUdeviceptr, from: CUcontext, bytes: usize) {
        known(to)?;
        known(from)?;
        line(TypedAddress::device(dst), TypedAddress::device(src), bytes, 0)
    }

    Call fn cuMemcpyPeerAsync(
        dst: CUdeviceptr, to: CUcontext, src: CUdeviceptr, from: CUcontext, bytes: usize, stream: CUstream
    ) {
        known(to)?;
        known(from)?;
        line(TypedAddress::device(dst), TypedAddress::device(src), bytes, stream)
    }

    Call fn cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) { copy_2d(copy, 0) }

    Call fn cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) { copy_2d(copy, 0) }

    Call fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) { copy_2d(copy, stream) }

    Call fn cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D) { copy_3d(copy, 0) }

    Call fn cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream) { copy_3d(copy, stream) }

    Call fn cuMemcpy3DPeer(copy: *const CUDA_MEMCPY3D) { copy_3d(copy, 0) }

    Call fn cuMemcpy3DPeerAsync(copy: *const CUDA_MEMCPY3D, stream: CUstream) { copy_3d(copy, stream) }

    Call fn cuMemsetD8_v2(dst: CUdeviceptr, value: c_uchar, count: usize) {
        fill(dst, 0, u32::from(value), 1, count, 1, 0)
    }

    Call fn cuMemsetD8Async(dst: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream) {
        fill(dst, 0, u32::from(value), 1, count, 1, stream)
    }

    Call fn cuMemsetD16_v2(dst: CUdeviceptr, value: c_ushort, count: usize) {
        fill(dst, 0, u32::from(value), 2, count, 1, 0)
    }

    Call fn cuMemsetD16Async(dst: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) {
        fill(dst, 0, u32::from(value), 2, count, 1, stream)
    }

    Call fn cuMemsetD32_v2(dst: CUdeviceptr, value: c_uint, count: usize) {
        fill(dst, 0, value, 4, count, 1, 0)
    }

    Call fn cuMemsetD32Async(dst: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) {
        fill(dst, 0, value, 4, count, 1, stream)
    }

    Call fn cuMemsetD2D8_v2(dst: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize) {
        fill(dst, pitch, u32::from(value), 1, width, height, 0)
    }

    Call fn cuMemsetD2D8Async(
        dst: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize, stream: CUstream
    ) {
        fill(dst, pitch, u32::from(value), 1, width, height, stream)
    }

    Call fn cuMemsetD2D16_v2(dst: CUdeviceptr, pitch: usize, value: c_ushort, width: usize, height: usize) {
        fill(dst, pitch, u32::from(value), 2, width, height, 0)
    }

    Call fn cuMemsetD2D16Async(
        dst: CUdeviceptr, pitch: usize, value: c_ushort, width: usize, height: usize, stream: CUstream
    ) {
        fill(dst, pitch, u32::from(value), 2, width, height, stream)
    }

    Call fn cuMemsetD2D32_v2(dst: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize) {
        fill(dst, pitch, value, 4, width, height, 0)
    }

    Call fn cuMemsetD2D32Async(
        dst: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize, stream: CUstream
    ) {
        fill(dst, pitch, value, 4, width, height, stream)
    }
}

fn known(context: CUcontext) -> Result {
    let state = crate::state::state();
    if context == 0 { Err(Status::INVALID_CONTEXT) } else { state.context(context).map(drop) }
}
