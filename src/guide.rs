//! The guide: first steps, coming from other libraries, and the topics one by one. The
//! [reference](crate::reference) describes the language.
//!
//! - [`five_minutes`]: from a `.cu` file to a graph, without a GPU;
//! - [`without_cuda`]: the vocabulary, a kernel and a graph, for readers who are new to GPUs;
//! - coming [from CUDA C++](from_cuda), [from cudarc](from_cudarc), [from stream capture](from_capture), also
//!   [without a rewrite](mod@lift), [from candle](from_candle), [from PyTorch](from_pytorch) and [from
//!   CUDASTF](from_cudastf), each with a before and an after;
//! - [`memory`], [`launches`], [`devices`], [`library_calls`], [`nccl`], [`testing`], [`editors`], [`trust`],
//!   [`profiling`];
//! - [errors](crate::codes), one page each.

// In the book a page links to the files of others. In this documentation `links.md` maps these links to its own
// pages; its definitions come first. Doc tests leave it out, so that errors refer to the file and line of the page.

// A build script needs its `main`.
#[allow(clippy::needless_doctest_main)]
#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/five-minutes.md")]
pub mod five_minutes {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/without-cuda.md")]
#[allow(clippy::needless_doctest_main)]
pub mod without_cuda {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/from-cuda.md")]
pub mod from_cuda {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/from-cudarc.md")]
pub mod from_cudarc {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/from-capture.md")]
pub mod from_capture {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/lift.md")]
#[allow(clippy::needless_doctest_main)]
pub mod lift {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/from-candle.md")]
pub mod from_candle {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/from-pytorch.md")]
pub mod from_pytorch {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/from-cudastf.md")]
pub mod from_cudastf {}

// rustdoc copies no files, so the picture is embedded in the page and the link to it is hidden.
#[cfg_attr(
    not(doctest),
    doc = "<style>img[src=\"memory/unet.svg\"] { display: none } .docblock svg { max-width: 100%; height: auto \
        }</style>\n"
)]
#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/memory.md")]
#[doc = ""]
#[doc = include_str!("../docs/memory/unet.svg")]
pub mod memory {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/launches.md")]
pub mod launches {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/devices.md")]
pub mod devices {}

// Its examples use the library's bindings.
#[cfg(any(not(doctest), feature = "blas"))]
#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/library-calls.md")]
pub mod library_calls {}

// Its examples need the module.
#[cfg(any(not(doctest), feature = "nccl"))]
#[doc = include_str!("../docs/nccl.md")]
pub mod nccl {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/testing.md")]
pub mod testing {}

#[doc = include_str!("../docs/editors.md")]
pub mod editors {}

#[cfg_attr(not(doctest), doc = include_str!("links.md"))]
#[doc = include_str!("../docs/trust.md")]
pub mod trust {}
#[doc = include_str!("../docs/profiling.md")]
pub mod profiling {}
