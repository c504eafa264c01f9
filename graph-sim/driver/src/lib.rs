//! The simulated libcuda.
