//! A library call through the handle of cuBLAS.

use cudarc::cublas::sys;
use cudarc::driver::{DevicePtr, DevicePtrMut};
use cuweave::blas::{self, Blas};
use cuweave::prelude::*;

/// x = a⁻¹ · x, with a lower triangular a in column-major order.
#[cuweave::call]
pub unsafe fn solve(
    stream: &CallStream,
    blas: &Blas,
    a: &[f32; m * m],
    x: &mut [f32; m * n],
    workspace: [u8; blas.workspace(m, n, m)],
    m: u32,
    n: u32,
) -> Result<(), blas::Error> {
    let handle = blas.handle(stream, workspace)?;
    let ((a, _a), (x, _x)) = (a.device_ptr(stream), x.device_ptr_mut(stream));
    let address = |address: u64| std::ptr::with_exposed_provenance_mut::<f32>(address as usize);
    let status = unsafe {
        sys::cublasStrsm_v2(
            handle.raw(),
            sys::cublasSideMode_t::CUBLAS_SIDE_LEFT,
            sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
            sys::cublasOperation_t::CUBLAS_OP_N,
            sys::cublasDiagType_t::CUBLAS_DIAG_NON_UNIT,
            m as i32,
            n as i32,
            &1.0,
            address(a),
            m as i32,
            address(x),
            m as i32,
        )
    };
    Ok(status.result()?)
}
