//! Orders launches that share state which the program's order does not show: module variables, and buffers that
//! they update by atomics.
//!
//! The kernels' items list the uses that commute (`Param::updates`, `Kernel::hidden`). All others get edges
//! here in program order, before memory is planned. A kernel without facts, such as machine code, commutes with
//! nothing. The edges are part of the key of the plan cache.

use std::collections::BTreeMap;

use cuweave_core::compile::{SharedStateFault, edges_of_shared_state};
use cuweave_core::flattened::Flattened;
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Device, Mode, Program, StatementId, StatementKind};
use cuweave_core::order::shared::{Effect, SharedUse};

use crate::error::{Error, PlanFault, Result, at_statement};
use crate::kernels::{AtomicUpdates, LaunchRecord, Module, ParamKind};
use crate::statements::StatementRecord;

/// Memory that launches share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SharedState<'a> {
    /// A variable of the module at that address, on a device.
    Variable(Device, usize, &'a str),
    /// A buffer of the graph.
    Buffer(BufferId),
}

/// The uses of each shared memory, in program order.
type StateUses<'a> = BTreeMap<SharedState<'a>, Vec<SharedUse<'a>>>;

/// Returns edges, in program order, between launches that share memory, do not commute and are not ordered yet.
///
/// # Errors
///
/// In explicit order, two launches that share memory without being ordered. Otherwise an edge that contradicts
/// the order.
pub(crate) fn edges(
    flat: &Flattened,
    records: &Vector<StatementId, StatementRecord>,
) -> Result<Vec<(StatementId, StatementId)>> {
    let program = flat.checked.program();
    let mut uses = StateUses::new();
    for (statement, record) in records.enumerate() {
        if let StatementKind::Launch(launch) = record {
            variables(statement, program.statements[statement].device, launch, &mut uses);
            updates(flat, statement, launch, &mut uses);
        }
    }
    edges_of_shared_state(&flat.checked, uses).map_err(|fault| match fault {
        SharedStateFault::Unordered(state, edge) => unordered(program, state, edge),
        SharedStateFault::Cyclic(cycle) => PlanFault::Cyclic(cycle).into(),
    })
}

/// Adds the module variables that a launch reads and writes.
fn variables(statement: StatementId, device: Device, launch: &LaunchRecord, uses: &mut StateUses<'static>) {
    let kernel = launch.kernel;
    let module = std::ptr::from_ref::<Module>(kernel.module).addr();
    let writes = kernel.hidden_writes.iter().map(|name| (name, Effect::Ordered));
    let reads = kernel.hidden_reads.iter().filter(|name| !kernel.hidden_writes.contains(name));
    for (name, effect) in writes.chain(reads.map(|name| (name, Effect::Reads))) {
        let one = SharedUse { statement, effect, lo: 0, hi: 1 };
        uses.entry(SharedState::Variable(device, module, name)).or_default().push(one);
    }
}

/// Adds the buffers that a launch updates by atomics.
fn updates(flat: &Flattened, statement: StatementId, launch: &LaunchRecord, uses: &mut StateUses<'static>) {
    let program = flat.checked.program();
    let accesses = program.statements[statement].accesses.iter();
    let buffers = launch.kernel.params.iter().filter(|param| !param.is_scalar());
    for (access, param) in accesses.zip(buffers).filter(|(access, _)| access.mode == Mode::Atomic) {
        let effect = match param.updates {
            AtomicUpdates::Reduction(operation) if param.kind == ParamKind::Atomic => {
                Effect::Reduction(operation)
            }
            AtomicUpdates::Reads if param.kind == ParamKind::Atomic => Effect::Reads,
            AtomicUpdates::Nothing if param.kind == ParamKind::Atomic => continue,
            _ => Effect::Ordered,
        };
        // A setter may move the range to any place in the buffer.
        let (lo, hi) = if flat.moves.moves(access.lo) || flat.moves.moves(access.hi) {
            (0, flat.sizes[program.buffers[access.buffer].len])
        } else {
            (flat.sizes[access.lo], flat.sizes[access.hi])
        };
        let one = SharedUse { statement, effect, lo, hi };
        uses.entry(SharedState::Buffer(access.buffer)).or_default().push(one);
    }
}

fn unordered(program: &Program, state: SharedState<'_>, edge: (StatementId, StatementId)) -> Error {
    let (first, second) = (at_statement(program, edge.0), at_statement(program, edge.1));
    match state {
        SharedState::Variable(_, _, variable) => {
            Error::HiddenState { variable: variable.to_owned(), first, second }
        }
        SharedState::Buffer(buffer) => {
            let buffer = program.buffers[buffer].name.to_string();
            Error::AtomicOrder { buffer, first, second }
        }
    }
}
