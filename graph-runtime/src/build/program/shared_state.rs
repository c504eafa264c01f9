//! Orders statements that share state which the program's order does not show: module variables, buffers that
//! launches update by atomics, and memory that is bound to two arguments.
//!
//! The kernels' items list the uses that commute (`Param::updates`, `Kernel::hidden`). All others get edges
//! here in program order, before memory is planned. A kernel without facts, such as machine code, commutes with
//! nothing. The edges are part of the key of the plan cache.

use std::collections::BTreeMap;

use cuweave_core::compile::{SharedStateFault, edges_of_shared_state};
use cuweave_core::flattened::Flattened;
use cuweave_core::index::Vector;
use cuweave_core::ir::{Access, BufferId, Device, Mode, Program, StatementId, StatementKind};
use cuweave_core::order::shared::{Effect, SharedUse};

use crate::build::arguments::aliases::Aliases;
use crate::error::{Error, MulticastFault, PlanFault, Result, at_statement};
use crate::kernels::{AtomicUpdates, LaunchRecord, Module, Param, ParamKind};
use crate::statements::{StatementRecord, StatementRecordExt};

/// Memory that launches share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SharedState<'a> {
    /// A variable of the module at that address, on a device.
    Variable(Device, usize, &'a str),
    /// A buffer of the graph.
    Buffer(BufferId),
    /// Bytes of two arguments, by the index of the alias.
    Alias(usize),
}

/// The uses of each shared memory, in program order.
type StateUses<'a> = BTreeMap<SharedState<'a>, Vec<SharedUse<'a>>>;

/// Returns edges, in program order, between statements that share memory, do not commute and are not ordered yet.
///
/// # Errors
///
/// In explicit order, two statements that share memory without being ordered. Otherwise an edge that contradicts
/// the order.
pub(crate) fn edges(
    flat: &Flattened,
    records: &Vector<StatementId, StatementRecord>,
    aliases: &Aliases,
) -> Result<Vec<(StatementId, StatementId)>> {
    let program = flat.checked.program();
    let mut uses = StateUses::new();
    for (statement, record) in records.enumerate() {
        if let StatementKind::Launch(launch) = record {
            variables(statement, program.statements[statement].device, launch, &mut uses);
            updates(flat, statement, launch, &mut uses);
        }
    }
    add_aliases(flat, records, aliases, &mut uses);
    edges_of_shared_state(&flat.checked, uses).map_err(|fault| match fault {
        SharedStateFault::Unordered(state, edge) => unordered(program, aliases, state, edge),
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
        let Some(effect) = effect_of_atomics(param) else { continue };
        let (lo, hi) = flat.widest_range(access);
        let one = SharedUse { statement, effect, lo, hi };
        uses.entry(SharedState::Buffer(access.buffer)).or_default().push(one);
    }
}

/// Returns the effect of a kernel's atomics on a parameter. `None` if it has none.
fn effect_of_atomics(param: &Param) -> Option<Effect<'static>> {
    match param.updates {
        AtomicUpdates::Reduction(operation) if param.kind == ParamKind::Atomic => {
            Some(Effect::Reduction(operation))
        }
        AtomicUpdates::Reads if param.kind == ParamKind::Atomic => Some(Effect::Reads),
        AtomicUpdates::Nothing if param.kind == ParamKind::Atomic => None,
        _ => Some(Effect::Ordered),
    }
}

/// Adds the uses of bytes that two arguments have in common.
fn add_aliases(
    flat: &Flattened,
    records: &Vector<StatementId, StatementRecord>,
    aliases: &Aliases,
    uses: &mut StateUses<'static>,
) {
    let effect = |record: &StatementRecord, at: usize, access: &Access| match access.mode {
        Mode::Read => Some(Effect::Reads),
        Mode::ReadWrite | Mode::Write => Some(Effect::Ordered),
        Mode::Atomic => {
            let params = record.launch().map_or(&[][..], |launch| launch.kernel.params);
            let param = params.iter().filter(|param| !param.is_scalar()).nth(at);
            param.map_or(Some(Effect::Ordered), effect_of_atomics)
        }
    };
    for (index, alias) in aliases.list.iter().enumerate() {
        for (statement, declared) in flat.checked.program().statements.enumerate() {
            let own = declared.kind.own_accesses(&declared.accesses);
            for (at, access) in own.iter().enumerate() {
                let Some((lo, hi)) = alias.part_of(flat, access) else { continue };
                let Some(effect) = effect(&records[statement], at, access) else { continue };
                let one = SharedUse { statement, effect, lo, hi };
                uses.entry(SharedState::Alias(index)).or_default().push(one);
            }
        }
    }
}

fn unordered(
    program: &Program,
    aliases: &Aliases,
    state: SharedState<'_>,
    edge: (StatementId, StatementId),
) -> Error {
    let (first, second) = (at_statement(program, edge.0), at_statement(program, edge.1));
    match state {
        SharedState::Variable(_, _, variable) => {
            Error::HiddenState { variable: variable.to_owned(), first, second }
        }
        SharedState::Buffer(buffer) => {
            let buffer = program.buffers[buffer].name.to_string();
            Error::AtomicOrder { buffer, first, second }
        }
        SharedState::Alias(alias) => {
            let [one, other] = aliases.list[alias].names(program);
            let fault = MulticastFault::Unordered { first: one, second: other, earlier: first };
            Error::MulticastArgument { at: second, fault }
        }
    }
}
