//! The pipeline.
//!
//! ```text
//! tokens -> Source -> Ordered -> Checked -> Placed -> Layout -> Operations -> driver calls
//!           lower     order      check      place     layout    emit          runtime
//! ```
//!
//! The macro runs [`front`] and prints the checked program; the runtime runs [`back`] on it, once the sizes are known.

use crate::check::{self, Checked};
use crate::diagnostic::Diagnostic;
use crate::emit;
use crate::ir::{Memory, Program, StatementId};
use crate::layout::{self, LayoutError};
use crate::operation::Operations;
use crate::order::{self, Source};
use crate::place;
use crate::reach::Cycle;

/// How allocations reach the driver where nothing is said: the same launch time as memory nodes, the bytes of the plan,
/// and two memory nodes in all.
const DEFAULT_MEMORY: Memory = Memory::Arena;

/// Orders and checks a program: the program, unless there are faults, and all that is wrong with it.
pub fn front(source: Source) -> (Option<Checked>, Vec<Diagnostic>) {
    let (ordered, mut found) = order::order(source);
    let (checked, faults) = check::check(ordered);
    let cyclic = !found.is_empty();
    found.extend(faults);
    (checked.filter(|_| !cyclic), found)
}

/// What the build knows and the macro does not.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// How allocations reach the driver.
    pub memory: Option<Memory>,
    /// Order that hidden state of kernels adds.
    pub edges: Vec<(StatementId, StatementId)>,
}

/// Why a checked program cannot be emitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackError {
    /// Added edges contradict the program's own.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// The sizes.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Places, lays out and emits a checked program whose `dims` have these values.
///
/// # Errors
///
/// [`BackError`].
pub fn back(program: &Program, dims: &[u64], wishes: &Wishes) -> Result<Operations, BackError> {
    let edges = [&program.edges, wishes.edges.as_slice()].concat();
    let placed = place::place(program, &edges)?;
    let memory = wishes.memory.or(program.options.memory).unwrap_or(DEFAULT_MEMORY);
    let layout = layout::lay_out(program, dims, &placed, memory)?;
    Ok(emit::emit(program, &placed, layout, program.edges_before_reduction as usize + wishes.edges.len()))
}
