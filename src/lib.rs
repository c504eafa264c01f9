//! CUDA graphs written as Rust functions: ordered, checked and planned while your crate compiles.

pub use cudarc;
pub use cuweave_core::runtime::{
    AnyBits, ArenaPool, At, BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, BoundBuffer,
    BudgetStep, Budgeted, Buffer, BuildTimes, CurvePoint, DeclaredPart, DeviceView, DeviceViewMut,
    DriverFailure, Error, Exclusive, ExclusivePinned, Exec, Graph, GraphFn, GraphMemory, LeftUnwritten,
    Loaded, Output, OutputBuffer, OutputDescription, OutputView, OutputViewMut, Pinned, PinnedViewMut, Plan,
    Report, Result, Shared, SharedPinned, ShortLaunch, Taken, VouchedFor, context, graph_memory,
    reset_graph_memory_high, trim_graph_memory,
};
pub use cuweave_macros::{graph, kernels};

#[cfg(doctest)]
mod borrows;
pub mod errors;
mod language;

/// The words of the language, so that editors know them.
pub mod prelude {
    #[doc(hidden)]
    pub use crate::language::__Prelude;
    pub use crate::language::{alloc, atomic, copy, fill, free, per_item};
    pub use cudarc::driver::LaunchConfig;
    pub use cuweave_core::runtime::Pinned;
    pub use cuweave_core::runtime::private::param::Atomic;
    pub use std::mem::MaybeUninit;
}

#[doc(hidden)]
pub mod __private {
    pub use cudarc::driver::{CudaContext, CudaStream, CudaView, CudaViewMut, PinnedHostSlice};
    pub use cuweave_core::runtime::private::*;

    pub use crate::language::found;
}
