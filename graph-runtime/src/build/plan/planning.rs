//! Plans a graph: gathers the facts about its launches on their devices, and passes them with the options to
//! [`compile::plan`].
//!
//! If a later driver call fails, from adding nodes to instantiation, the build is repeated with the launches as
//! written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::{self, BackendOptions, LaunchFacts};
use cuweave_core::index::{Vector, narrow};
use cuweave_core::ir::{BufferId, Device, Memory, Mode, Program, Statement, StatementId, StatementKind};
use cuweave_core::launches::{Allowed, Change, LeftAlone, RangedLaunch};

use crate::build::arguments::aliases::Aliases;
use crate::build::conditional::setters::early_setters;
use crate::build::program::{plans, shared_state};
use crate::cuda::{Driver, Word};
use crate::error::Result;
use crate::error::program::plan_error;
use crate::kernels::{BatchedVariant, ChangingLaunches, DeviceTarget, FusedKernel, Modules};
use crate::statements::{StatementRecord, StatementRecordExt};
use cuweave_core::flattened::Flattened;

use super::ranged::RangedLaunches;
use super::{fusing, hook};

/// The core's plan, with the loaded kernels.
pub(crate) type Plan = compile::Plan<BatchedVariant, FusedKernel>;

/// The options of planning.
pub(crate) struct PlanOptions<'p> {
    /// The lowering of allocations. `None` takes the program's.
    pub memory: Option<Memory>,
    /// True if the program's budget is no limit.
    pub unlimited: bool,
    /// The permitted changes of launches.
    pub allowed: Allowed,
    /// The bytes that arguments have in common.
    pub aliases: &'p Aliases,
    /// The arguments that are mapped multicast objects.
    pub mappings: &'p [BufferId],
    /// The launches that stay as written whatever else is permitted.
    pub as_written: BTreeSet<StatementId>,
    /// The launches that are merged for all values of sizes. The records have the largest values.
    pub ranged: &'p RangedLaunches,
    /// The statements that sizes of 0 leave without blocks or bytes.
    pub emptied: &'p BTreeSet<StatementId>,
}

/// Decides about the launches and plans the graph.
pub(crate) fn plan(
    flat: &Flattened,
    driver: &'static Driver,
    contexts: &Vector<Device, Arc<CudaContext>>,
    records: &Vector<StatementId, StatementRecord>,
    words: &[Word],
    modules: &mut Modules,
    PlanOptions { memory, unlimited, allowed, as_written, emptied, aliases, mappings, ranged }: PlanOptions<
        '_,
    >,
) -> Result<Plan> {
    let Flattened { checked, sizes: dims, .. } = flat;
    let program = checked.program();
    let mut target = DeviceTarget::new(driver, modules);
    let (mut facts, allowed) = facts(flat, contexts, records, words, &mut target, allowed, ranged);
    leave_mapped_alone(program, mappings, &mut facts);
    for (statement, launch) in facts.launches.enumerate_mut() {
        if program.statements[statement].switchable || emptied.contains(&statement) {
            *launch = None;
        }
        if as_written.contains(&statement) {
            launch.iter_mut().for_each(|launch| launch.restrict(Allowed::default()));
        }
    }
    let by_atomics = program.statements.iter().flat_map(|statement| statement.accesses.iter());
    let shared =
        target.modules.share_state() || by_atomics.into_iter().any(|access| access.mode == Mode::Atomic);
    let shared = shared || !aliases.list.is_empty();
    let edges = if shared { shared_state::edges(flat, records, aliases)? } else { Vec::new() };
    let duration_classes = duration_classes(flat);
    let setters = if allowed.overlap { early_setters(flat, driver, target.modules) } else { BTreeSet::new() };
    let is_fill = |id: &&StatementId| program.statements[**id].kind == StatementKind::Fill(());
    let emptied_fills = emptied.iter().filter(is_fill).copied().collect();
    let given = BackendOptions {
        memory,
        unlimited,
        edges,
        allowed,
        setters,
        duration_classes,
        emptied_fills,
        ..BackendOptions::default()
    };
    let back = |backend_options: &BackendOptions| plans::operations(checked, dims, backend_options);
    let planned = compile::plan(checked, dims, &given, facts, &mut target, &mut hook::rules(), &mut { back });
    let mut plan = planned.map_err(|error| plan_error(program, error))?;
    plan.decided.assumed = target.assumed();
    Ok(plan)
}

/// Returns the facts about the launches, and the permitted changes: none if the facts cannot be gathered.
fn facts(
    flat: &Flattened,
    contexts: &Vector<Device, Arc<CudaContext>>,
    records: &Vector<StatementId, StatementRecord>,
    words: &[Word],
    target: &mut DeviceTarget<'_>,
    allowed: Allowed,
    ranged: &RangedLaunches,
) -> (LaunchFacts, Allowed) {
    let (program, functions) = (flat.checked.program(), flat.checked.functions());
    let changing = ChangingLaunches::collect(&flat.scalars, program.statements.len());
    let launches = records.enumerate().map(|(statement, record)| (statement, record.launch()));
    let (mut facts, allowed) = match target.gather(contexts, program, launches, words, &changing, allowed) {
        Ok(facts) => (facts, allowed),
        Err(why) => {
            let left_alone = BTreeSet::from([LeftAlone::all(Change::Any, why)]);
            (LaunchFacts { left_alone, ..LaunchFacts::default() }, Allowed::default())
        }
    };
    for (statement, launch) in facts.launches.enumerate_mut() {
        if let (Some(launch), Some(ranged)) = (launch, ranged.get(&statement)) {
            launch.grid_changes = false;
            launch.ranged = Arc::new(RangedLaunch { grid: ranged.grid, scalars: Vec::new() });
        }
    }
    if allowed.fuse {
        fusing::locate(flat, records, words, target, &mut facts, ranged);
    }
    if !functions.is_uniform() {
        for (statement, launch) in facts.launches.enumerate_mut() {
            let own = Allowed::by(functions.launches(program, statement));
            launch.iter_mut().for_each(|launch| launch.restrict(own));
        }
    }
    (facts, allowed)
}

/// Keeps the launches that use a mapped multicast object as they are written: what is proved about the blocks of a
/// kernel counts the bytes of one memory.
fn leave_mapped_alone(program: &Program, mappings: &[BufferId], facts: &mut LaunchFacts) {
    let launches = facts.launches.enumerate_mut().filter(|_| !mappings.is_empty());
    for (statement, launch) in launches {
        let mut accesses = program.statements[statement].accesses.iter();
        if accesses.any(|access| mappings.contains(&access.buffer)) {
            launch.iter_mut().for_each(|launch| launch.restrict(Allowed::default()));
        }
    }
}

/// Assigns a number to each statement. Two statements that are not launches get the same number, so the same
/// assumed duration, if their kinds, the element sizes and lengths of their accesses and, for calls, the
/// library functions are equal. Each body gets its own: nobody knows whether and how often it runs.
fn duration_classes(flat: &Flattened) -> Vector<StatementId, u32> {
    let program = flat.checked.program();
    let mut numbers = BTreeMap::new();
    let number = |(id, statement): (StatementId, &Statement)| {
        let lengths = statement.accesses.iter().map(|access| {
            let length = flat.sizes[access.hi].saturating_sub(flat.sizes[access.lo]);
            (program.buffers[access.buffer].element, length)
        });
        let callee = flat.is_captured(id).then(|| flat.frames[flat.instances[id].frame].table.address());
        let next = narrow(numbers.len());
        let body = matches!(statement.kind, StatementKind::Join(_)).then_some(id);
        *numbers.entry((statement.kind.name(), callee, body, lengths.collect::<Vec<_>>())).or_insert(next)
    };
    program.statements.enumerate().map(number).collect()
}
