//! CUDA graphs written as Rust functions.
