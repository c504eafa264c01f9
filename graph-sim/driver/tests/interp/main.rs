//! Kernels compiled by NVRTC (`ptx/*.cu`), run by the interpreter and compared with plain code.

mod basic;
mod conflicts;
mod errors;
mod fuzz;
mod misc;
mod multimem;
mod snippets;
mod support;
mod tensor;
