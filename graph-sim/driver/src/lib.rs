//! The simulated libcuda.

pub mod interp;
