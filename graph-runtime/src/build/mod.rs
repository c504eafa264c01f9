//! Builds a graph from bound arguments: evaluates the user's expressions, checks, plans, and adds the driver's
//! nodes. The modules, in the order in which a build uses them:
//!
//! - `arguments`: evaluates the user's expressions for the expansion, and checks the arguments;
//! - `program`: the flat programs of functions, and their caches;
//! - `bounds`: fast paths for setters that change bounds;
//! - `plan`: decides about launches, and plans memory and operations;
//! - `graph`: builds the driver's graph, and patches it;
//! - `merged`: nodes of several launches: batches and chains, with their parameter tables;
//! - `conditional`: conditional nodes, their bodies, and the kernels that set their conditions;
//! - `calls`: library calls and collectives;
//! - `profile`: the operations in sequence with clocks in between, for a profile;
//! - `duplicate`: a second graph of the same program in memory of its own, for a verification.

mod arguments;
mod bounds;
mod calls;
mod conditional;
mod duplicate;
mod graph;
mod merged;
mod plan;
mod profile;
mod program;

pub(crate) use arguments::aliases::{Alias, Aliases, check_mappings};
pub(crate) use arguments::answers::BodyEvaluator;
pub use arguments::body::{Body, Rises, Sets, Takes};
pub(crate) use arguments::checks::{
    apply_hints, check_host_statements, check_moved_ranges, check_new_overlap, check_operands, check_overlap,
    check_pinned_launches,
};
pub(crate) use arguments::devices::{
    Contexts, Peers, check_allocated, check_devices, check_same_devices, memory_device,
};
pub use arguments::given::{ArgumentReader, CalledItem, LaunchedItem};
pub(crate) use arguments::given::{GivenArgument, Misfit, MisfitArgument, ScalarValue, SharedValue};
pub(crate) use arguments::limits::{check_limits, limited_frames};
pub(crate) use arguments::recursion::check_recursion;
pub(crate) use bounds::linear::LinearBounds;
pub use calls::capture::CallCapture;
pub(crate) use calls::capture::KEPT_FILE;
pub(crate) use calls::collective_order::CollectiveOrder;
pub use calls::order::{CollectiveEntry, Collectives};
pub(crate) use calls::recapture::ChangedCall;
pub(crate) use conditional::counted::{CountedLoop, RECORD_WORDS};
pub(crate) use conditional::setters::is_one_node;
pub use cuweave_core::compile::LaunchRules;
pub(crate) use duplicate::{DuplicateForm, DuplicateGraph};
pub(crate) use graph::adding::{FREED, add_nodes};
pub(crate) use graph::annotate;
pub(crate) use graph::built::BuiltGraph;
pub(crate) use graph::definition::Definition;
pub(crate) use graph::state::LaunchState;
pub(crate) use merged::batches::check_member;
pub(crate) use merged::ranged::check_ranged;
pub(crate) use plan::hook::apply as apply_hook;
pub use plan::hook::{change_next_plan, change_next_rules, change_next_tables};
pub(crate) use plan::planning::{PlanOptions, plan};
pub(crate) use plan::ranged::{SizeSample, ranged_launches, sized_launches};
#[cfg(feature = "inspect")]
pub(crate) use plan::traffic::traffic;
#[cfg(feature = "inspect")]
pub(crate) use profile::serial::SerialGraph;
pub(crate) use program::emptied::{EmptyAtZero, refuse_disabling};
pub(crate) use program::plans::flattened;
