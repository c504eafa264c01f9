//! State that launches share outside the program's order: module-level variables, and buffers that they update by atomics.
//! The kernels' items list the uses that commute (`Param::updates`, `Kernel::hidden`); the others are ordered here, in program
//! order and before anything is placed. A kernel without facts, such as machine code, commutes with nothing. The cache of
//! plans is keyed by these edges.

use std::collections::BTreeMap;

use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, Device, Kind, Mode, Program, StatementId};
use cuweave_core::order::shared::{Effect, Use, missing};
use cuweave_core::reach::{Cycle, Reach};

use crate::error::{Error, PlanFault, Result, at_statement};
use crate::kernels::{LaunchRecord, Module, ParamKind, Updates};
use crate::statements::Record;

use super::flattened::Flattened;

/// A piece of shared state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State<'a> {
    /// A variable of the module at that address, on a device.
    Variable(Device, usize, &'a str),
    /// A buffer of the graph.
    Buffer(BufferId),
}

/// The shared state, with its uses in program order.
type Uses<'a> = BTreeMap<State<'a>, Vec<Use<'a>>>;

/// Returns the edges, in program order, between launches that share state, do not commute and are not ordered.
///
/// # Errors
///
/// In explicit order, two launches that share state and that nothing orders; otherwise an edge that contradicts the order.
pub(crate) fn edges(
    flat: &Flattened,
    records: &Vector<StatementId, Record>,
) -> Result<Vec<(StatementId, StatementId)>> {
    let checked = &flat.checked;
    let program = checked.program();
    let mut uses = Uses::new();
    for (statement, record) in records.enumerate() {
        if let Kind::Launch(launch) = record {
            variables(statement, program.statements[statement].device, launch, &mut uses);
            updates(flat, statement, launch, &mut uses);
        }
    }
    // Atomics of the scope of a device do not commute with those of another device.
    let device = |one: &Use<'_>| program.statements[one.statement].device;
    for uses in uses.values_mut() {
        if uses.iter().any(|one| device(one) != device(&uses[0])) {
            uses.iter_mut().for_each(|one| one.effect = Effect::Ordered);
        }
    }
    uses.retain(|_, uses| {
        uses.len() > 1 && uses.iter().any(|one| one.effect != uses[0].effect || one.effect == Effect::Ordered)
    });
    if uses.is_empty() {
        return Ok(Vec::new());
    }
    let mut preds = Vector::filled(Vec::new(), program.statements.len());
    for &(before, after) in checked.edges().iter() {
        preds[after].push(before);
    }
    let reach = Reach::of(&preds).map_err(PlanFault::Cyclic)?;
    let forward = checked.edges().iter().all(|(before, after)| before < after);
    let mut found: BTreeMap<(StatementId, StatementId), State<'_>> = BTreeMap::new();
    for (&state, uses) in &uses {
        for edge in missing(uses, &reach, forward) {
            found.entry(edge).or_insert(state);
        }
    }
    let explicit =
        |edge: &(StatementId, StatementId)| checked.functions().is_explicit(program, edge.0, edge.1);
    if let Some((&edge, &state)) = found.iter().find(|(edge, _)| explicit(edge)) {
        return Err(unordered(program, state, edge));
    }
    for &(before, after) in found.keys() {
        preds[after].push(before);
    }
    if let Err(Cycle { path }) = Reach::of(&preds) {
        let around = path.iter().copied().zip(path.iter().copied().cycle().skip(1));
        let closing = around.into_iter().find_map(|edge| Some((edge, *found.get(&edge)?)));
        if let Some((edge, state)) =
            closing.or_else(|| found.first_key_value().map(|(&edge, &state)| (edge, state)))
        {
            return Err(unordered(program, state, edge));
        }
    }
    Ok(found.into_keys().collect())
}

/// Adds the variables of its module that a launch reads and writes.
fn variables(statement: StatementId, device: Device, launch: &LaunchRecord, uses: &mut Uses<'static>) {
    let kernel = launch.kernel;
    let module = std::ptr::from_ref::<Module>(kernel.module).addr();
    let writes = kernel.hidden_writes.iter().map(|name| (name, Effect::Ordered));
    let reads = kernel.hidden_reads.iter().filter(|name| !kernel.hidden_writes.contains(name));
    for (name, effect) in writes.chain(reads.map(|name| (name, Effect::Reads))) {
        let one = Use { statement, effect, lo: 0, hi: 1 };
        uses.entry(State::Variable(device, module, name)).or_default().push(one);
    }
}

/// Adds the buffers that a launch updates by atomics.
fn updates(flat: &Flattened, statement: StatementId, launch: &LaunchRecord, uses: &mut Uses<'static>) {
    let program = flat.checked.program();
    let accesses = program.statements[statement].accesses.iter();
    let buffers = launch.kernel.params.iter().filter(|param| !param.is_scalar());
    for (access, param) in accesses.zip(buffers).filter(|(access, _)| access.mode == Mode::Atomic) {
        let effect = match param.updates {
            Updates::Reduction(operation) if param.kind == ParamKind::Atomic => Effect::Reduction(operation),
            Updates::Reads if param.kind == ParamKind::Atomic => Effect::Reads,
            Updates::Nothing if param.kind == ParamKind::Atomic => continue,
            _ => Effect::Ordered,
        };
        // A setter may move the range anywhere.
        let (lo, hi) = if flat.moves.moves(access.lo) || flat.moves.moves(access.hi) {
            (0, flat.sizes[program.buffers[access.buffer].len])
        } else {
            (flat.sizes[access.lo], flat.sizes[access.hi])
        };
        let one = Use { statement, effect, lo, hi };
        uses.entry(State::Buffer(access.buffer)).or_default().push(one);
    }
}

fn unordered(program: &Program, state: State<'_>, (first, second): (StatementId, StatementId)) -> Error {
    let (first, second) = (at_statement(program, first), at_statement(program, second));
    match state {
        State::Variable(_, _, variable) => {
            Error::HiddenState { variable: variable.to_owned(), first, second }
        }
        State::Buffer(buffer) => {
            let buffer = program.buffers[buffer].name.to_string();
            Error::AtomicOrder { buffer, first, second }
        }
    }
}
