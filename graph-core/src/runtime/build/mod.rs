//! From bound arguments to nodes: evaluate, check, plan, add.
//!
//! - `dims`, `config`, `fill`, `arguments`, `evaluate`: what generated code says of lengths and launches; `checks`: whether that
//!   and the operands hold;
//! - `body`, `answers`, `flattened`, `instances`: the bodies of functions, what their expansion asks, and the flat program that it
//!   gives;
//! - `hidden`: the order of launches that share state; `plans`, `planning`: the plan, and those that are kept;
//! - `definition`, `nodes`: the graph that is being built; `node`, `resolve`: the node of each kind of statement; `tables`, `batches`: its batched launches; `patch`: changes of its
//!   nodes once they are instantiated;
//! - `hook`: the way for tests to hand the driver a broken plan.

mod answers;
mod arguments;
mod batches;
mod body;
mod checks;
mod config;
mod definition;
mod dims;
mod evaluate;
mod fill;
mod flattened;
mod hidden;
mod hook;
mod instances;
mod node;
mod nodes;
mod patch;
mod planning;
mod plans;
mod resolve;
mod tables;

pub(crate) use answers::Asked;
pub use arguments::Arguments;
pub use body::Body;
pub(crate) use checks::{check_new_overlap, check_operands, check_overlap};
pub use config::{Config, PerItem, per_item};
pub(crate) use definition::Definition;
pub use dims::{Dim, ToDim, TurnVariable, dim, index, turn};
pub use evaluate::Evaluation;
pub(crate) use evaluate::Open;
pub use fill::Fillable;
pub(crate) use flattened::Flattened;
pub(crate) use hook::apply as apply_hook;
pub use hook::{Rules, change_next_plan, change_next_rules, change_next_tables};
pub(crate) use node::element;
pub(crate) use nodes::Nodes;
pub(crate) use planning::plan;
pub(crate) use plans::flattened;
