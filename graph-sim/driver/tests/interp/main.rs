//! Runs kernels that NVRTC 12.9 and 13.5 compiled (`ptx/*.cu`) in the interpreter, and compares their results
//! with plain code.

mod basic;
mod conflicts;
mod errors;
mod fuzz;
mod misc;
mod snippets;
mod support;
mod tensor;
