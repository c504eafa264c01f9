//! Statements at build: their values and the parameters of their nodes.
//!
//! Generated code passes the values of each statement to an `Evaluation`, which checks them and keeps a
//! record per statement. Once addresses are known, a record becomes the parameters of a node.
//!
//! - `kinds`: `Evaluation`, the records, and a file for each kind of statement;
//! - `evaluator`: the checks' context; `dims`, `config`, `arguments`: the values of lengths and launches;
//! - `rows`: the rows of pitched copies and fills;
//! - `entry`: the kernel that writes an entry of a pointer table;
//! - `host_functions`: the functions of host statements;
//! - `emission`: the addresses that nodes use; `batches`: the blocks of a batch.

mod arguments;
mod batches;
mod config;
mod dims;
mod emission;
pub mod entry;
mod evaluator;
mod host_functions;
mod kinds;
mod rows;

pub use arguments::Arguments;
pub(crate) use batches::{batch_layout, batch_of, first_blocks, launch_record};
pub(crate) use config::BlockLimits;
pub use config::{Config, PerItem, per_item};
pub(crate) use dims::compute;
pub use dims::{Dim, LoopVariable, ToDim, dim, index, loop_variable, typed};
pub(crate) use emission::{AddContext, EmissionContext, SetContext, element};
pub(crate) use evaluator::{LaunchExtents, UnprovedLaunches};
pub(crate) use host_functions::HostFunctions;
pub use kinds::Evaluation;
pub use kinds::fill::Fillable;
pub(crate) use kinds::launch::write_addresses;
pub(crate) use kinds::sync::SyncValue;
pub(crate) use kinds::{StatementRecord, StatementRecordExt, StatementValues};
pub(crate) use rows::{RowNumbers, row_offsets};
