//! CUDA graphs written as Rust functions: ordered, checked and planned while your crate compiles.
//!
//! Declare a kernel once, write a graph as a function that launches kernels, call the function to build the
//! graph, and launch it repeatedly:
//!
//! ```
//! use cuweave::prelude::*;
//!
//! #[cuweave::kernels("examples/kernels/nn.ptx")]
//! unsafe extern "ptx-kernel" {
//!     /// y = w · x, one thread per row.
//!     fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
//!     fn relu(x: &mut [f32; n], n: u32);
//!     fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
//! }
//!
//! /// out = x + relu(w · x)
//! #[cuweave::graph]
//! fn residual(n: u32, w: &[f32; n * n], x: &[f32; n], out: &mut [f32; n]) {
//!     let h = alloc::<f32>(n);
//!     matvec[per_item(n)](&w, &x, &mut h, n);
//!     relu[per_item(n)](&mut h, n);
//!     add[per_item(n)](&x, &h, &mut out, n);
//! } // h is freed here, by a free node that the compiler places
//!
//! fn main() -> cuweave::Result<()> {
//! #   cuweave_sim::load().expect("a driver");
//!     let n = 64;
//!     let ctx = cuweave::context(0)?;
//!     let stream = ctx.new_stream()?;
//!     let w = stream.clone_htod(&vec![0.5_f32; 64 * 64])?;
//!     let x = stream.clone_htod(&vec![1.0_f32; 64])?;
//!     let mut out = stream.alloc_zeros::<f32>(64)?;
//!
//!     let graph = residual(&ctx, n, &w, &x, &mut out)?; // one cuGraphAdd* call per node
//!     let mut exec = graph.instantiate()?; // consumes the graph: one instantiation, no clone
//!     exec.launch(&stream)?;
//!     drop(exec);
//!     assert_eq!(stream.clone_dtoh(&out)?, vec![33.0; 64]);
//!     Ok(())
//! }
//! ```
//!
//! # Where to look
//!
//! - [`guide`]: first steps in five minutes without a GPU, or without CUDA before; coming from CUDA C++,
//!   cudarc, capture, candle, PyTorch and CUDASTF; memory, launches, devices, library calls, tests, profiles;
//! - [`reference`](mod@reference): every form of the language with an example, [what binds to
//!   what](reference::graphs), [the setters](reference::execs), [the words of reports](reference::reports),
//!   [a grammar](reference::grammar);
//! - [`codes`]: each error with a wrong and a right program;
//! - [`prelude`]: the words of the language, for editors.
//!
//! # In short
//!
//! - **Kernels.** [`#[kernels]`](macro@kernels) declares the kernels of a PTX or CUDA file. The types say how
//!   a kernel accesses memory: `&[T; len]` is read, `&mut [T; len]` is read and written, `&mut
//!   [MaybeUninit<T>; len]` is fully written before it is read, `&[Atomic<T>; len]` is updated by atomics.
//!   The declaration is checked against the PTX while the crate compiles. What cannot be proved is assumed on
//!   the word of the block's `unsafe`, and [`Report::assumed_declarations`](report::Report::assumed_declarations) lists
//!   it.
//! - **Graphs.** [`#[graph]`](macro@graph) makes a function that builds a graph. Program order is the
//!   meaning, and the graph keeps only the order that the accesses need. Loops, `if` and `match` on scalars
//!   and calls of other graph functions are resolved at build; the device decides `if`, `while` and `match`
//!   on buffers in each launch.
//! - **Arguments** are scalars, buffers, pinned memory, lists, and [records](macro@arguments), structs of
//!   buffers such as a layer with its weights. Any number of execs can bind a [`Buffer`], and their launches
//!   are ordered across streams. [`Managed`] memory is shared with the host.
//! - **Execs.** [`Graph::instantiate`] returns the generated type `residual::Exec`, whose documentation has all
//!   methods. An exec owns or borrows every buffer that it uses, and waits for its last launch before it gives one
//!   back: no order of drops leads to a use after free. Setters update only the nodes that use an argument.
//! - **Libraries.** [`#[call]`](macro@call) declares a function whose work is captured into the graph:
//!   cuBLAS, cuFFT, your own. The module `blas` has matrix products, and the module `nccl` has collectives of
//!   several devices; each needs the feature of its name.
//! - **The host** takes part through [`host`](prelude::host()), events, [`Flag`]s and [`Semaphore`]s.
//! - **Devices.** `#[graph(devices = 2)]` and `#[on(1)]` put the work of several devices into [one
//!   graph](guide::devices).
//! - **Memory.** Temporaries share bytes where the order allows it. No order is added for that unless a `budget`
//!   asks for it. Execs of one stream can share an [`ArenaPool`]; [`memory`] queries the device's graph pool.
//! - **Graphs that are known only at run time** are built by a [`Builder`](builder::Builder), which makes the
//!   same checks as the macro.
//! - **Times.** `exec.profile(&stream, 20)?` measures each statement: a [`profile::Profile`] is a table, a
//!   picture and a trace.
//!
//! # Errors
//!
//! Everything that can fail returns [`Result`]. An [`Error`] names the buffer or the statement with its file
//! and line. `Debug` prints the same text as `Display`, so `main` can return it. Its
//! [`source`](std::error::Error::source) is the driver's error. `?` converts cudarc's errors, too.
//!
//! # Without a GPU
//!
//! The crate `cuweave-sim` is a CUDA driver that runs PTX on the CPU and reports races, uses after free and
//! reads of unwritten memory: call `cuweave_sim::load()` first in a test.
//!
//! # Features
//!
//! - `half`: `f16` and `bf16` of the crate `half` (2.x) as elements and scalars, for example `&[half::f16;
//!   n]`, in kernels and graphs;
//! - `blas`: matrix products by cuBLASLt, in the module `blas`;
//! - `nccl`: collectives of several devices and processes by NCCL, in the module `nccl`;
//! - `dlpack`: tensors of other frameworks as memory, in the module `dlpack`;
//! - `nvtx`: ranges of NVTX for profilers: the statements of each node, and each launch;
//! - `inspect`, on by default: reports, pictures, pages and profiles of graphs, by the crate
//!   `cuweave-inspect`. Without it their methods do not exist;
//! - `cuda-version-from-build-system` and `fallback-latest`, both on by default: the CUDA version of cudarc's
//!   bindings. No CUDA toolkit is needed to build.

#![deny(unsafe_code)]
#![deny(missing_debug_implementations)]

// `multicast`, `blas` and `nccl` declare their functions with the crate's own attributes.
extern crate self as cuweave;

pub use cudarc;
pub use cuweave_macros::{arguments, call, graph, kernels};
pub use cuweave_runtime::cuweave_check as certificate;
#[doc(inline)]
pub use cuweave_runtime::{
    AnyBits, ArenaPool, Bank, Buffer, CallStream, Captured, Condition, Error, Exec, Finding, Findings, Flag,
    Foreign, FoundAccess, Graph, GraphExec, GraphFn, Lifted, Loaded, LoopIterations, Managed, Output, Pinned,
    Ptr, PtrMut, Result, Semaphore, SemaphoreHandle, Variable, context, lift,
};

#[cfg(feature = "blas")]
pub mod blas;
#[cfg(feature = "dlpack")]
#[doc(inline)]
pub use cuweave_runtime::dlpack;
#[cfg(doctest)]
mod borrows;
pub mod codes;
mod editor;
pub mod guide;
pub mod multicast;
#[cfg(feature = "nccl")]
pub mod nccl;
#[cfg(doctest)]
mod pages;
pub mod prelude;
pub mod reference;

pub mod bind {
    //! The arguments of graphs: the traits of bindable types, and the types as which they are bound.
    //!
    //! | declared | takes | is bound as |
    //! |---|---|---|
    //! | `&[T; len]` | [`BindShared`] | [`BoundShared`] |
    //! | `&mut [T; len]` | [`BindMut`] | [`BoundExclusive`] |
    //! | `Option<&[T; len]>` | [`BindOptional`] | [`Optional`] |
    //! | `Option<&mut [T; len]>` | [`BindOptionalMut`] | [`Optional`] |
    //! | `&Pinned<[T; len]>` | [`BindPinned`] | [`BoundSharedPinned`] |
    //! | `&mut Pinned<[T; len]>` | [`BindPinnedMut`] | [`BoundExclusivePinned`] |
    //! | `&mut [MaybeUninit<T>; len]` | [`BindMut`] | [`BoundExclusive`] |
    //! | `[T; len]` | [`BindTaken`] | [`BoundTaken`] |
    //!
    //! `&[T; len]` and `&mut [T; len]` take a [`Buffer`](crate::Buffer) or [`Managed`](crate::Managed) memory by
    //! reference or by value.

    #[doc(inline)]
    pub use cuweave_runtime::{
        BindHost, BindKept, BindMut, BindOptional, BindOptionalMut, BindPinned, BindPinnedMut, BindResource,
        BindShared, BindTaken, BoundBuffer, BoundExclusive, BoundExclusivePinned, BoundShared,
        BoundSharedPinned, BoundTaken, DeviceView, DeviceViewMut, FlagValue, Host, Optional, PinnedViewMut,
        Resource,
    };
}

pub mod builder;

/// The types of [`Managed`] memory.
pub mod managed {
    #[doc(inline)]
    pub use cuweave_runtime::{
        Advice, Attach, HostView, HostViewMut, Location, ManagedAttributes, ManagedFault,
    };
}

/// The types of an [`Output`], an allocation that a graph returns.
pub mod output {
    #[doc(inline)]
    pub use cuweave_runtime::{OutputBuffer, OutputDescription, OutputView, OutputViewMut};
}

/// A disk cache for the machine code of kernels.
pub mod code {
    #[doc(inline)]
    pub use cuweave_runtime::{CodeCache, set_code_cache};
}

/// Keeps the inspection methods. Generated code uses this macro because the feature `inspect` is this
/// crate's, not the user's: a `cfg` in the expansion would test the wrong crate.
#[cfg(feature = "inspect")]
#[doc(hidden)]
#[macro_export]
macro_rules! __inspected {
    ($($methods:tt)*) => { $($methods)* };
}

/// Drops the inspection methods.
#[cfg(not(feature = "inspect"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __inspected {
    ($($methods:tt)*) => {};
}

/// The types of reports: [`Graph::report`], [`Graph::times`] and [`Graph::budget_curve`].
pub mod report {
    #[doc(inline)]
    #[cfg(feature = "inspect")]
    pub use cuweave_runtime::{
        AssumedDeclaration, AssumedRegisters, Budget, BudgetStep, ForwardedElements, FullEdge,
        FullEdgeReason, FullReport, MemoryHint, MemoryHintKind, MemoryPlan, MovedStatement,
        RepeatedStatement, Report, SerializedBranch, SizeEffect, SizeState, SwitchState, UnbatchedLaunches,
        UnbatchedReason, UnfusedPair, UnfusedReason, UnwrittenOutput,
    };
    #[doc(inline)]
    pub use cuweave_runtime::{
        BuildTimes, Change, CollectiveEntry, Collectives, CurvePoint, DeclaredPart, LeftAlone, NamedKernel,
    };
}

/// Profiles: the time of each statement of a graph, from `exec.profile(&stream, launches)`.
///
/// A [`Profile`](profile::Profile) can be printed as a table or written as an SVG or a Chrome trace.
/// `docs/profiling.md` in the repository explains how its times are measured.
#[cfg(feature = "inspect")]
pub mod profile {
    #[doc(inline)]
    pub use cuweave_runtime::{
        IterationStats, Profile, ProfileEntry as Entry, ProfileMember as Member, TimeStats,
    };
}

/// Verifications: whether an exec computes what its statements do, from `exec.verify(&stream)`.
///
/// `docs/trust.md` in the repository says what a verification shows.
pub mod verify {
    #[doc(inline)]
    pub use cuweave_runtime::{
        Difference, DifferenceCause, ElementValue, Rewriting, RewrittenNode, StoreInstruction, Verification,
    };
}

/// The device's graph pool, from which the alloc nodes of all graphs allocate, and the bytes of a [`Bank`].
pub mod memory {
    #[doc(inline)]
    pub use cuweave_runtime::{
        BankBytes, ExecBytes, GraphPool, graph_pool, reset_graph_pool_high, trim_graph_pool,
    };
}

/// The types in an [`Error`].
pub mod error {
    #[doc(inline)]
    pub use cuweave_runtime::{
        BadRows, BankFault, BrokenCertificate, BudgetFault, CallFault, CommunicatorFault, ConfigFault,
        ConfigPart, DeviceFault, DeviceFeature, DriverFailure, FailedCall, Fault, ForeignFault, Inaccessible,
        KernelFault, LaunchShape, LibraryError, LiftFault, LoopFault, MemoryKind, ModuleFailure, OutputFault,
        OutsideExtent, PlanFault, ProfileFault, Quantity, Refusal, RowsFault, SetterFault, ShortLaunch,
        SourceLocation, SwitchFault, Ungranted, UnknownAccess, UnprovedLaunch, VerificationFault,
        VerificationObstacle,
    };
}

#[doc(hidden)]
pub mod __private;
