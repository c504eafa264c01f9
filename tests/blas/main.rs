//! Products of `cuweave::blas` in graphs, compared with products in `f64`. They run with cuBLAS if it can be
//! loaded, and otherwise with cuweave's own kernels.

// The call in `own` is declared with `unsafe`.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
mod cublas;
mod layouts;
mod lists;
mod memory;
mod own;
mod products;
mod programs;
mod refused;
mod support;
mod threads;
mod triangular;
