//! Statements while a graph is built, by their kinds: their values, and the parameters of their nodes.
//!
//! - `statement`: the matches on kinds; `launch`, `fill`, `copy`: a file a kind;
//! - `evaluator`: the statement that generated code evaluates; `dims`, `config`, `arguments`: what it says of lengths and launches;
//! - `emission`: the addresses that nodes are given; `members`: the blocks of a batch.

mod arguments;
mod config;
mod copy;
mod dims;
mod emission;
mod evaluator;
mod fill;
mod launch;
mod members;
mod statement;

pub use arguments::Arguments;
pub use config::{Config, PerItem, per_item};
pub(crate) use dims::compute;
pub use dims::{Dim, ToDim, TurnVariable, dim, turn};
pub(crate) use emission::{Adding, Emission, Setting, element};
pub(crate) use evaluator::Open;
pub use fill::Fillable;
pub(crate) use launch::address;
pub(crate) use members::{batch_of, first_blocks, launch_of, members_of};
pub use statement::Evaluation;
pub(crate) use statement::Record;
