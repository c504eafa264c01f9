//! Statements while a graph is built, by their kinds: their values, and the parameters of their nodes.
//!
//! - `kinds`: the matches on kinds, and a file a kind;
//! - `evaluator`: the statement that generated code evaluates; `dims`, `config`, `arguments`: what it says of lengths and launches;
//! - `emission`: the addresses that nodes are given; `members`: the blocks of a batch.

mod arguments;
mod config;
mod dims;
mod emission;
mod evaluator;
mod kinds;
mod members;

pub use arguments::Arguments;
pub(crate) use config::BlockLimits;
pub use config::{Config, PerItem, per_item};
pub(crate) use dims::compute;
pub use dims::{Dim, ToDim, TurnVariable, dim, index, turn, typed};
pub(crate) use emission::{Adding, Emission, Setting, element};
pub(crate) use evaluator::Open;
pub use kinds::Evaluation;
pub(crate) use kinds::Record;
pub use kinds::fill::Fillable;
pub(crate) use kinds::launch::address;
pub(crate) use members::{batch_of, first_blocks, launch_of, members_of};
