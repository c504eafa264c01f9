//! The runtime: graph functions become graphs of the driver, and are launched.
//!
//! ```text
//! Args --bind--> operands --build--> Core (evaluate, check, plan, add) = Graph --instantiate--> Exec --launch-->
//! ```
//!
//! - `driver`: the driver's calls, the one module with `unsafe`;
//! - `bind`, `operand`: what arguments are bound to, and how its uses are ordered with the graph's;
//! - `mark`, `kernel`, `image`, `modules`, `config`, `limits`, `dims`, `fill`, `evaluate`: what generated code says of
//!   kernels and launches, and whether device and driver take it;
//! - `build`, `hidden`, `core`: from arguments to nodes;
//! - `graph`, `launch`, `set`, `output`: the graph and the exec, and what can be done with them;
//! - `waits`, `uses`, `state`: how the driver and the host are made to wait, for launches, for what uses outputs and for
//!   what shares hidden state;
//! - `arena`: one arena for the execs of a stream;
//! - `annotate`, `hook`: what the simulated driver is told, and the way for tests to give it a broken plan;
//! - `report`, `dot`, `pool`, `context`, `error`.
//!
//! No memory is used after it is freed, whatever safe code drops, forgets or moves: `operand` and `output` say why.

mod annotate;
mod arena;
mod batches;
mod bind;
mod build;
mod config;
mod context;
mod core;
mod coverage;
mod dims;
mod dot;
mod driver;
mod error;
mod evaluate;
mod facts;
mod fill;
mod graph;
mod hidden;
mod hook;
mod image;
mod kernel;
mod launch;
mod limits;
mod mark;
mod modules;
mod operand;
mod output;
mod output_view;
mod plans;
mod pool;
mod report;
mod set;
mod state;
mod uses;
mod variants;
mod waits;

pub use crate::operation::{BudgetStep, Budgeted};
pub use crate::plan::budget::CurvePoint;
pub use arena::ArenaPool;
pub use bind::{
    BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, Exclusive, ExclusivePinned, Pinned,
    PinnedViewMut, Shared, SharedPinned, Taken,
};
pub use context::context;
pub use cuweave_ptx::declare::Open as DeclaredPart;
pub use driver::AnyBits;
pub use error::{At, DriverFailure, Error, Result, ShortLaunch};
pub use graph::{Exec, Graph, GraphFn};
pub use kernel::Loaded;
pub use output::{Output, OutputBuffer, OutputDescription, OutputView, OutputViewMut};
pub use pool::{GraphMemory, graph_memory, reset_graph_memory_high, trim_graph_memory};
pub use report::{BuildTimes, LeftUnwritten, Plan, Report, VouchedFor};

/// What generated code is made of. Nothing here is for users, and all of it may change.
pub mod private {
    pub use super::bind::{
        BindMut, BindPinned, BindPinnedMut, BindShared, BindTaken, Bound, Exclusive, ExclusivePinned,
        PinnedViewMut, Shared, SharedPinned, Taken,
    };
    pub use super::build::build;
    pub use super::config::{Config, PerItem, per_item};
    pub use super::dims::{Dim, Dims, ToDim, dim};
    pub use super::driver::{Bits, NotAnyBits, Packed, any_bits};
    pub use super::error::{Error, Result};
    pub use super::evaluate::{Arguments, Evaluation};
    pub use super::fill::Fillable;
    pub use super::graph::{Exec, ExecCore, Generated, Graph, GraphFn, Token, operations};
    pub use super::hook::{change_next_plan, change_next_tables};
    pub use super::kernel::{Kernel, KernelItem, Loaded, Module, Param, ParamKind, Updates, load};
    pub use super::mark::{Fits, param};
    /// The kinds of buffer arguments.
    pub mod mark {
        pub use super::super::mark::{Atomic, Fresh, Shared, Unique};
    }
    pub use super::operand::Visitor;
    pub use super::output::{Handed, HandedOver, Output, OutputDescription};
    pub use crate::table::{Layout, Table};
    pub use cuweave_ptx::declare::Open;
}

/// Keeps a failure of a drop in the context, as cudarc does.
fn record(ctx: &cudarc::driver::CudaContext, failure: driver::Failure) {
    // cudarc keeps an error as its enum, which has no room for codes that it does not know: those are told as
    // unknown.
    ctx.record_err::<()>(Err(cudarc::driver::DriverError(driver::known_code(failure.code))));
}
