//! From bound arguments to nodes: evaluate, check, plan, add.
//!
//! - `checks`: the checks of operands and ranges against the program;
//! - `devices`: the checks of statements against their devices, and access to the memory of other devices;
//! - `given`: arguments whose types are known when the program runs;
//! - `body`, `questions`, `answers`, `flattened`, `recall`, `instances`: the bodies of functions, what their expansion asks, and
//!   the flat program that it gives; `recursion`: calls that have no end;
//! - `symbols`, `polys`, `moves`, `shift`: the bounds that setters change;
//! - `hidden`: the order of launches that share state; `plans`, `planning`: the plan, and those that are kept;
//! - `capture`, `captured`: the nodes of library calls; `bodies`, `conditions`: conditional nodes and their bodies;
//!   `choice`: the kernels that set them; `counted`: loops that count their turns; `single`: kernels of one thread;
//! - `collectives`, `agreed`: library calls of several ranks; `turns`: the order of their launches; `adding`: the order in which
//!   operations are added;
//! - `definition`, `nodes`: the graph that is being built; `tables`, `batches`: its batched launches; `fusing`,
//!   `fused`: its fused ones; `patch`: changes of its nodes
//!   once they are instantiated;
//! - `serial`: the same operations one behind the other, for a profile; `stamps`, `clocks`: the clocks between them; `traffic`: the
//!   bytes of statements;
//! - `hook`: the way for tests to hand the driver a broken plan.

mod adding;
mod agreed;
mod answers;
mod batches;
mod bodies;
mod body;
mod capture;
mod captured;
mod checks;
mod choice;
mod clocks;
mod collectives;
mod conditions;
mod counted;
mod definition;
mod devices;
mod fixed;
mod flattened;
mod fused;
mod fusing;
mod given;
mod hidden;
mod hook;
mod instances;
mod moves;
mod nodes;
mod patch;
mod planning;
mod plans;
mod polys;
mod questions;
mod quick;
mod recall;
mod recursion;
mod serial;
mod shift;
mod single;
mod stamps;
mod symbols;
mod tables;
mod traffic;
mod turns;

pub(crate) use answers::Asked;
pub use body::{Body, Sets};
pub use capture::Capture;
pub(crate) use checks::{
    check_host_statements, check_new_overlap, check_operands, check_overlap, follow_hints,
};
pub(crate) use choice::is_one_node;
pub(crate) use counted::{Counted, WORDS as RECORD_WORDS};
pub(crate) use definition::Definition;
pub(crate) use devices::{Contexts, Peers, check_allocated, check_devices, check_same_devices};
pub(crate) use flattened::{Built, Flattened};
pub use given::{CalledItem, Given, LaunchedItem};
pub(crate) use given::{GivenArgument, Misfit, Value};
pub(crate) use hook::apply as apply_hook;
pub use hook::{Rules, change_next_plan, change_next_rules, change_next_tables};
pub(crate) use moves::Shift;
pub(crate) use nodes::Nodes;
pub(crate) use planning::plan;
pub(crate) use plans::flattened;
pub(crate) use quick::Quick;
pub(crate) use recursion::check_recursion;
pub(crate) use serial::Serial;
pub(crate) use turns::Turns;
