//! From bound arguments to nodes: evaluate, check, plan, add.
//!
//! Its rooms, as a build goes through them:
//!
//! - `arguments`: the arguments of a build: the bodies of functions, their questions and answers, and the checks;
//! - `program`: the flat program of a function, and those that are kept;
//! - `bounds`: bounds that setters change;
//! - `plan`: launch decisions, the plan of memory, the operations;
//! - `graph`: the driver's graph that is being built, and changes of its nodes;
//! - `merged`: launches that are one node: batches, chains, and their tables;
//! - `conditional`: conditional nodes: their bodies, and the kernels that set them;
//! - `calls`: library calls, and those of several ranks;
//! - `profile`: the same operations one behind the other, with clocks, for a profile.

mod arguments;
mod bounds;
mod calls;
mod conditional;
mod graph;
mod merged;
mod plan;
mod profile;
mod program;

pub(crate) use arguments::answers::Asked;
pub use arguments::body::{Body, Sets};
pub(crate) use arguments::checks::{
    check_host_statements, check_moved, check_new_overlap, check_operands, check_overlap, follow_hints,
};
pub(crate) use arguments::devices::{Contexts, Peers, check_allocated, check_devices, check_same_devices};
pub use arguments::given::{CalledItem, Given, LaunchedItem};
pub(crate) use arguments::given::{GivenArgument, Misfit, MisfitArgument, Value};
pub(crate) use arguments::recursion::check_recursion;
pub(crate) use bounds::quick::Quick;
pub use calls::capture::Capture;
pub use calls::order::{CollectiveEntry, Collectives};
pub(crate) use calls::turns::Turns;
pub(crate) use conditional::choice::is_one_node;
pub(crate) use conditional::counted::{Counted, WORDS as RECORD_WORDS};
pub use cuweave_core::compile::Rules;
pub(crate) use graph::adding::add_nodes;
pub(crate) use graph::annotate;
pub(crate) use graph::built::BuiltGraph;
pub(crate) use graph::definition::Definition;
pub(crate) use graph::state::LaunchState;
pub(crate) use merged::batches::check_member;
pub(crate) use plan::hook::apply as apply_hook;
pub use plan::hook::{change_next_plan, change_next_rules, change_next_tables};
pub(crate) use plan::planning::{PlanOptions, plan};
#[cfg(feature = "inspect")]
pub(crate) use plan::traffic::traffic;
#[cfg(feature = "inspect")]
pub(crate) use profile::serial::Serial;
pub(crate) use program::plans::flattened;
