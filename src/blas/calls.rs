//! The library calls of this module: each enqueues a product in the stream that is captured.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use cudarc::driver::{CudaView, CudaViewMut, DevicePtr, DevicePtrMut};

use crate::CallStream;

use super::element::{Element, ResultOf};
use super::error::Error;
use super::handle::Blas;
use super::kernels::Operands;
use super::product::{Product, Writes};

/// c = a · b for row-major matrices without gaps: a has m rows and k columns, b has k rows and n columns, and
/// c has m rows and n columns.
///
/// `gemm(&blas, &a, &b, &mut c, m, n, k);` with `m`, `n` and `k` of type `u32`. For other layouts, batches
/// and scaling see [`matmul`](mod@matmul).
#[crate::call(less_scratch)]
pub unsafe fn gemm<T: Element, C: ResultOf<T>>(
    stream: &CallStream,
    blas: &Blas,
    a: &[T; m * k],
    b: &[T; k * n],
    c: &mut [MaybeUninit<C>; m * n],
    scratch: [u8; blas.scratch::<T, C>(&Product::row_major(m, n, k), false)],
    m: u32,
    n: u32,
    k: u32,
) -> Result<(), Error> {
    let operands = operands(stream, a, b, c, scratch, None);
    blas.run::<T, C>(stream, &Product::row_major(m, n, k), Writes::All, &operands)
}

/// y = a · x for a row-major matrix of m rows and n columns without gaps, and vectors of n and of m elements.
///
/// `gemv(&blas, &a, &x, &mut y, m, n);` with `m` and `n` of type `u32`.
#[crate::call(less_scratch)]
pub unsafe fn gemv<T: Element, C: ResultOf<T>>(
    stream: &CallStream,
    blas: &Blas,
    a: &[T; m * n],
    x: &[T; n],
    y: &mut [MaybeUninit<C>; m],
    scratch: [u8; blas.scratch::<T, C>(&Product::row_major(m, 1, n), false)],
    m: u32,
    n: u32,
) -> Result<(), Error> {
    let operands = operands(stream, a, x, y, scratch, None);
    blas.run::<T, C>(stream, &Product::row_major(m, 1, n), Writes::All, &operands)
}

/// c = activation(α · a · b), for one product or a batch, in any layout. c must have no gaps; all of it is written.
///
/// `matmul(&blas, &a, &b, &mut c, product);` with a [`Product`], such as `Product::row_major(m, n,
/// k).b_transposed().alpha(0.125)`.
#[crate::call(less_scratch)]
pub unsafe fn matmul<T: Element, C: ResultOf<T>>(
    stream: &CallStream,
    blas: &Blas,
    a: &[T; product.a_len()],
    b: &[T; product.b_len()],
    c: &mut [MaybeUninit<C>; product.c_len()],
    scratch: [u8; blas.scratch::<T, C>(&product, false)],
    product: Product,
) -> Result<(), Error> {
    let operands = operands(stream, a, b, c, scratch, None);
    blas.run::<T, C>(stream, &product, Writes::All, &operands)
}

/// c = activation(α · a · b + β · c), for one product or a batch, in any layout. Elements in gaps of c are unchanged.
///
/// `matmul_into(&blas, &a, &b, &mut c, product);` with a [`Product`], such as `Product::row_major(m, n, k).beta(1.0)`.
#[crate::call(less_scratch)]
pub unsafe fn matmul_into<T: Element, C: ResultOf<T>>(
    stream: &CallStream,
    blas: &Blas,
    a: &[T; product.a_len()],
    b: &[T; product.b_len()],
    c: &mut [C; product.c_len()],
    scratch: [u8; blas.scratch::<T, C>(&product, false)],
    product: Product,
) -> Result<(), Error> {
    let operands = operands(stream, a, b, c, scratch, None);
    blas.run::<T, C>(stream, &product, Writes::Some, &operands)
}

/// c = activation(α · a · b + bias). The bias has one element per column of a row-major c, or per row of a
/// column-major one. All members of a batch use the same bias. c must have no gaps; all of it is written.
///
/// `matmul_bias(&blas, &a, &b, &bias, &mut c, product);` with a [`Product`], such as `Product::row_major(m,
/// n, k).gelu()`.
#[crate::call(less_scratch)]
pub unsafe fn matmul_bias<T: Element, C: ResultOf<T>>(
    stream: &CallStream,
    blas: &Blas,
    a: &[T; product.a_len()],
    b: &[T; product.b_len()],
    bias: &[C; product.bias_len()],
    c: &mut [MaybeUninit<C>; product.c_len()],
    scratch: [u8; blas.scratch::<T, C>(&product, true)],
    product: Product,
) -> Result<(), Error> {
    let operands = operands(stream, a, b, c, scratch, Some(bias.device_ptr(stream).0));
    blas.run::<T, C>(stream, &product, Writes::All, &operands)
}

/// c = activation(α · a · b + β · c + bias): [`matmul_bias`](mod@matmul_bias) combined with
/// [`matmul_into`](mod@matmul_into).
#[crate::call(less_scratch)]
pub unsafe fn matmul_bias_into<T: Element, C: ResultOf<T>>(
    stream: &CallStream,
    blas: &Blas,
    a: &[T; product.a_len()],
    b: &[T; product.b_len()],
    bias: &[C; product.bias_len()],
    c: &mut [C; product.c_len()],
    scratch: [u8; blas.scratch::<T, C>(&product, true)],
    product: Product,
) -> Result<(), Error> {
    let operands = operands(stream, a, b, c, scratch, Some(bias.device_ptr(stream).0));
    blas.run::<T, C>(stream, &product, Writes::Some, &operands)
}

/// Returns the addresses of a call's arguments.
fn operands<T, C>(
    stream: &CallStream,
    a: &CudaView<'_, T>,
    b: &CudaView<'_, T>,
    c: &mut CudaViewMut<'_, C>,
    scratch: &mut CudaViewMut<'_, u8>,
    bias: Option<u64>,
) -> Operands {
    Operands {
        a: a.device_ptr(stream).0,
        b: b.device_ptr(stream).0,
        bias,
        c: c.device_ptr_mut(stream).0,
        scratch_bytes: cudarc::driver::DeviceSlice::len(scratch) as u64,
        scratch: scratch.device_ptr_mut(stream).0,
    }
}
