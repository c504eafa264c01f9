//! The runtime: turns graph functions into the driver's graphs and launches them.
//!
//! ```text
//! arguments --bind--> operands --build--> nodes = Graph --instantiate--> Exec --launch-->
//! ```
//!
//! Its rooms, from the lowest floor up; each imports only those before it (`tests/repository/layers.rs` checks it):
//!
//! - `cuda`: the driver's calls and handles, the only module with `unsafe`;
//! - `waits`, `watch`, `ranges`, `error`, `context`, `token`: how streams and the host wait, memory in
//!   reserved address ranges, the error type, the current context, and the token of generated code;
//! - `bind`: bound arguments, operands and outputs;
//! - `kernels`: declarations, modules, and the properties of launches;
//! - `statements`: the values of statements by kind, and the parameters of their nodes;
//! - `build`: the checks, the plan, and the nodes;
//! - `certificate`: the certificate of a graph;
//! - `exec`: graphs and execs;
//! - `builder`: graphs that are known only at run time.
//!
//! No memory is used after it is freed, whatever safe code drops, forgets or moves. `bind/operand.rs` and
//! `bind/output.rs` give the argument.

#![deny(unsafe_code)]
// Without reports and profiles, some of the data kept for them is never read.
#![cfg_attr(not(feature = "inspect"), allow(dead_code))]
#![deny(missing_debug_implementations)]
#![deny(
    clippy::as_conversions,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

mod bind;
mod build;
pub mod builder;
mod certificate;
mod context;
mod cuda;
mod error;
mod exec;
mod kernels;
mod lift;
mod pool;
mod ranges;
mod statements;
mod token;
mod waits;
mod watch;

#[cfg(feature = "dlpack")]
pub use bind::dlpack;
pub use bind::multicast;
pub use bind::{
    Advice, Attach, BindHost, BindKept, BindMut, BindOptional, BindOptionalMut, BindPinned, BindPinnedMut,
    BindResource, BindShared, BindTaken, BoundBuffer, BoundExclusive, BoundExclusivePinned, BoundShared,
    BoundSharedPinned, BoundTaken, Buffer, DeviceView, DeviceViewMut, Flag, FlagValue, Foreign, Host,
    HostView, HostViewMut, Location, LoopIterations, Managed, ManagedAttributes, Optional, Output,
    OutputBuffer, OutputDescription, OutputView, OutputViewMut, Pinned, Resource, Semaphore,
};
pub use build::{CollectiveEntry, Collectives};
pub use context::context;
pub use cuda::{AnyBits, CallStream, Condition, PinnedViewMut, Ptr, PtrMut, SemaphoreHandle};
pub use cuweave_check;
pub use cuweave_core::launches::{Change, LaunchShape, LeftAlone, NamedKernel};
pub use cuweave_core::plan::budget::CurvePoint;
#[cfg(feature = "inspect")]
pub use cuweave_inspect::{
    AssumedDeclaration, AssumedRegisters, Budget, BudgetStep, Entry as ProfileEntry, ForwardedElements,
    FullEdge, FullEdgeReason, FullReport, IterationStats, Member as ProfileMember, MemoryHint,
    MemoryHintKind, MemoryPlan, MovedStatement, Profile, RepeatedStatement, Report, SerializedBranch,
    SizeEffect, SizeState, SwitchState, TimeStats, UnbatchedLaunches, UnbatchedReason, UnfusedPair,
    UnfusedReason, UnwrittenOutput,
};
pub use cuweave_ptx::declare::DeclaredPart;
pub use error::{
    BadRows, BankFault, BrokenCertificate, BudgetFault, CallFault, CommunicatorFault, ConfigFault,
    ConfigPart, DeviceFault, DeviceFeature, Difference, DifferenceCause, DriverFailure, ElementValue, Error,
    FailedCall, Fault, ForeignFault, Inaccessible, KernelFault, LibraryError, LiftFault, LoopFault,
    ManagedFault, MemoryKind, ModuleFailure, MulticastFault, OutputFault, OutsideExtent, PlanFault,
    ProfileFault, Quantity, Refusal, Result, Rewriting, RewrittenNode, RowsFault, SetterFault, ShortLaunch,
    SourceLocation, StoreInstruction, SwitchFault, Ungranted, UnknownAccess, UnprovedLaunch, VariableFault,
    VerificationFault, VerificationObstacle,
};
pub use exec::{
    ArenaPool, Bank, BankBytes, BuildTimes, Exec, ExecBytes, Graph, GraphExec, GraphFn, Verification,
};
pub use kernels::{CodeCache, Loaded, ReadVariable, Variable, set_code_cache};
pub use lift::{Captured, Finding, Findings, FoundAccess, Lifted, lift};
pub use pool::{GraphPool, graph_pool, reset_graph_pool_high, trim_graph_pool};

/// The items that generated code refers to. Not for users; all of it may change.
pub mod private {
    pub use crate::bind::{
        Absent, ArgumentList, ArgumentRecord, BindHost, BindKept, BindMut, BindOptional, BindOptionalMut,
        BindPinned, BindPinnedMut, BindResource, BindShared, BindTaken, Bound, BoundExclusive,
        BoundExclusivePinned, BoundShared, BoundSharedPinned, BoundTaken, BufferDeclaration, HandedOutput,
        HandedOutputs, Hint, HintLocation, HintVisitor, Host, Location, Optional, Output, OutputDescription,
        PassedKept, RangedHint, Resource, ResourceHandle, SizeDeclaration, SomeOrNone, ToView, ViewContext,
        Visitor, absent, count as __count, describe_records, is_given,
    };
    pub use crate::build::{
        ArgumentReader, Body, CallCapture, CalledItem, LaunchRules, LaunchedItem, Rises, Sets, Takes,
        change_next_plan, change_next_rules, change_next_tables,
    };
    pub use crate::context::is_simulated;
    pub use crate::cuda::{
        Bits, CallBuffer, CallNodes, CallStream, Collective, CollectiveDifference, CollectiveSequence,
        HostMemory, Interleaving, LocalRanks, NotAnyBits, Packed, PinnedViewMut, any_bits, between_captures,
    };
    pub use crate::error::{Error, Result};
    pub use crate::exec::{
        ArgumentMut, ArgumentPath, Element, ElementMut, Exec, ExecArgument, ExecCore, Generated, Graph,
        GraphExec, GraphFn, ListElement, PendingEdit, RecordField, Settable, SizeSlot, SizeValue, build,
        build_on, dump, limit_verified_pieces, operations, read_back,
    };
    pub use crate::kernels::item::{
        Called, GraphPath, HoldsHost, KernelPath, Launched, NoItem, NoPath, Refused, kernel_of, limits,
        no_item,
    };
    pub use crate::kernels::mark::{Fits, FitsOptional, OfElement, Returns, nothing, param};
    pub use crate::kernels::{
        AtomicUpdates, Kernel, KernelItem, Loaded, Module, Param, ParamKind, change_code, load, variable,
    };
    pub use crate::lift::verify_by_lifting;
    pub use crate::statements::entry;
    pub use crate::statements::{
        Arguments, Config, Dim, Evaluation, Fillable, LoopVariable, PerItem, ToDim, dim, index,
        loop_variable, per_item, typed,
    };
    pub use crate::token::Token;
    pub use cuweave_core::expand::ArgumentDescription;
    /// The kinds of buffer arguments.
    pub mod mark {
        pub use crate::kernels::mark::{
            Atomic, Fresh, FreshMoved, Moved, PassedMut, PassedShared, PinnedShared, PinnedUnique, Shared,
            Unique, chosen, copies, decides, decides_by, element, element_mut, leaves, lent, lent_mut, same,
            some,
        };
    }
    pub use cuweave_core::table::{ElementLayout, Table, TableHandle};
    pub use cuweave_ptx::declare::DeclaredPart;
}
