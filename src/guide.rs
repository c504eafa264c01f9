//! The guide: first steps, the way from other libraries, and the subjects one by one. The language is in the [reference](crate::reference).
//!
//! - [`five_minutes`]: from a `.cu` file to a graph, without a GPU;
//! - [`without_cuda`]: the words, a kernel and a graph, for who has never written for a GPU;
//! - coming [from CUDA C++](from_cuda), [from cudarc](from_cudarc), [from stream capture](from_capture), [from candle](from_candle), [from PyTorch](from_pytorch)
//!   and [from CUDASTF](from_cudastf), each with a before and an after;
//! - [`memory`], [`launches`], [`devices`], [`library_calls`], [`nccl`], [`testing`], [`profiling`];
//! - [errors](crate::codes), one page each.

// A build script is a program.
#[allow(clippy::needless_doctest_main)]
#[doc = include_str!("../docs/five-minutes.md")]
pub mod five_minutes {}

#[doc = include_str!("../docs/without-cuda.md")]
#[allow(clippy::needless_doctest_main)]
pub mod without_cuda {}

#[doc = include_str!("../docs/from-cuda.md")]
pub mod from_cuda {}

#[doc = include_str!("../docs/from-cudarc.md")]
pub mod from_cudarc {}

#[doc = include_str!("../docs/from-capture.md")]
pub mod from_capture {}

#[doc = include_str!("../docs/from-candle.md")]
pub mod from_candle {}

#[doc = include_str!("../docs/from-pytorch.md")]
pub mod from_pytorch {}

#[doc = include_str!("../docs/from-cudastf.md")]
pub mod from_cudastf {}

#[doc = include_str!("../docs/memory.md")]
pub mod memory {}

#[doc = include_str!("../docs/launches.md")]
pub mod launches {}

#[doc = include_str!("../docs/devices.md")]
pub mod devices {}

// Its code takes the library's bindings.
#[cfg(any(not(doctest), feature = "blas"))]
#[doc = include_str!("../docs/library-calls.md")]
pub mod library_calls {}

// Its code needs the module.
#[cfg(any(not(doctest), feature = "nccl"))]
#[doc = include_str!("../docs/nccl.md")]
pub mod nccl {}

#[doc = include_str!("../docs/testing.md")]
pub mod testing {}

#[doc = include_str!("../docs/profiling.md")]
pub mod profiling {}
