//! Products of `cuweave::blas` in graphs, against products in `f64`: by cuBLAS where it can be loaded, else by kernels of cuweave's.

// The call of `own` is declared with `unsafe`.
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
