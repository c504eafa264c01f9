//! Products of `cuweave::blas` in graphs, against products in `f64`: by cuBLAS where it can be loaded, else by kernels of cuweave's.

mod layouts;
mod memory;
mod own;
mod products;
mod programs;
mod refused;
mod support;
