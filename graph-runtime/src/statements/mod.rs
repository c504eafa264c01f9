//! Statements at build: their values and the parameters of their nodes.
//!
//! Generated code passes the values of each statement to an `Evaluation`, which checks them and keeps a
//! record per statement. Once addresses are known, a record becomes the parameters of a node.
//!
//! - `kinds`: `Evaluation`, the records, and a file for each kind of statement;
//! - `evaluator`: the checks' context; `dims`, `config`, `arguments`: the values of lengths and launches;
//! - `entry`: the kernel that writes an entry of a pointer table;
//! - `hosts`: the functions of host statements;
//! - `emission`: the addresses that nodes use; `members`: the blocks of a batch.

mod arguments;
mod config;
mod dims;
mod emission;
pub mod entry;
mod evaluator;
mod hosts;
mod kinds;
mod members;

pub use arguments::Arguments;
pub(crate) use config::BlockLimits;
pub use config::{Config, PerItem, per_item};
pub(crate) use dims::compute;
pub use dims::{Dim, ToDim, TurnVariable, dim, index, turn, typed};
pub(crate) use emission::{Adding, Emission, Setting, element};
pub(crate) use evaluator::{Extents, UnprovedLaunches};
pub(crate) use hosts::Hosts;
pub use kinds::Evaluation;
pub use kinds::fill::Fillable;
pub(crate) use kinds::launch::address;
pub(crate) use kinds::sync::Due;
pub(crate) use kinds::{Record, RecordExt, StatementValues};
pub(crate) use members::{batch_of, first_blocks, launch_of, members_of};
