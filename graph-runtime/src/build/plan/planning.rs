//! Planning: the launch decisions, the plan of memory and the operations.
//!
//! Rewriting, loading and occupancy may refuse a batch. They are asked before the final plan is made: after a refusal the
//! launches are decided again without that kernel. Failures of later driver calls, from adding nodes to instantiation, lead to
//! a plan with the launches as written (`Core::as_written`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cudarc::driver::CudaContext;
use cuweave_core::compile::Decided;
use cuweave_core::compile::{self, Wishes};
use cuweave_core::index::{Vector, narrow};
use cuweave_core::ir::{BufferId, Device, Kind, Memory, Mode, Statement, StatementId};
use cuweave_core::launches::Allowed;
use cuweave_core::launches::LeftAlone;
use cuweave_core::operation::{BatchId, ChainId, Operations};

use crate::build::conditional::choice::early_setters;
use crate::build::program::flattened::Flattened;
use crate::build::program::{hidden, plans};
use crate::cuda::{Driver, Word};
use crate::error::Result;
use crate::error::program::plan_error;
use crate::kernels::{Changing, Facts, Fused, Modules, Variant, gather};
use crate::statements::{Record, RecordExt};

use super::hook::Rules;
use super::{fusing, hook};

/// What is added to a graph, and the kernels of merged launches. A fallback is another plan.
#[derive(Debug)]
pub(crate) struct Plan {
    pub operations: Arc<Operations>,
    /// One variant for each batch.
    pub variants: Vector<BatchId, Variant>,
    /// One kernel for each chain.
    pub fused: Vector<ChainId, Fused>,
    /// The kernels that are launched as written, and the reasons: sorted.
    pub left_alone: Vec<LeftAlone>,
    /// The inputs of the decisions.
    pub decided: Decided,
}

/// The turns of decisions after which elements of fused launches go through memory.
const MOST_TURNS: usize = 64;

/// Decides about the launches, and plans. Everything that may refuse a batch does so before the plan that is used is made.
pub(crate) fn plan(
    flat: &Flattened,
    (driver, contexts): (&'static Driver, &Vector<Device, Arc<CudaContext>>),
    (records, words): (&Vector<StatementId, Record>, &[Word]),
    modules: &mut Modules,
    (memory, allowed): (Option<Memory>, Allowed),
) -> Result<Plan> {
    let Flattened { checked, sizes: dims, .. } = flat;
    let program = checked.program();
    let (mut facts, allowed) = facts(flat, (driver, contexts), (records, words), modules, allowed);
    let by_atomics = program.statements.iter().flat_map(|statement| statement.accesses.iter());
    let shared = modules.share_state() || by_atomics.into_iter().any(|access| access.mode == Mode::Atomic);
    let edges = if shared { hidden::edges(flat, records)? } else { Vec::new() };
    let others = others(flat);
    let setters = if allowed.overlap { early_setters(flat, driver, modules) } else { BTreeSet::new() };
    let mut rules = hook::rules();
    // The temporaries that stay in registers of whole chains, once they are known, and those that do not in pieces of them.
    let mut registers: Option<BTreeSet<BufferId>> = None;
    let mut refused: BTreeSet<BufferId> = BTreeSet::new();
    // A plan without the budget comes first: it is taken if the budget holds it.
    let mut budgeted = false;
    let mut turns = 0;
    loop {
        turns += 1;
        let given = Rules { allowed, tuning: facts.tuning.clone(), added: Vec::new() };
        let Rules { allowed, tuning, added } = rules(checked, &facts.launches, given);
        let edges = [edges.as_slice(), &added].concat();
        let (launches, others, setters) = (facts.launches.clone(), others.clone(), setters.clone());
        // After many turns nothing stays in registers: then no plan depends on what does.
        let forwards = allowed.fuse && allowed.forward && turns < MOST_TURNS;
        let whole = forwards && registers.is_none();
        let left_out = registers.clone().filter(|_| forwards).unwrap_or_default();
        let wishes =
            Wishes { memory, edges, allowed, launches, setters, others, tuning, left_out, whole, budgeted };
        let operations =
            plans::operations(checked, dims, &wishes).map_err(|error| plan_error(program, error))?;
        let variants = facts.variants((driver, modules), &operations.batches);
        let fused = facts.fused((driver, modules), (&operations.chains, program, forwards));
        if let (Some(variants), Some(fused)) = (variants, fused) {
            let forward = fused.iter().filter_map(|fused| fused.forward.as_ref());
            let buffers: BTreeSet<BufferId> = forward
                .flat_map(|forward| forward.left_out.iter().map(|&buffer| BufferId::from_u32(buffer)))
                .collect();
            // What has no memory must stay in registers. Each turn adds a temporary, or refuses one for good.
            refused.extend(operations.left_out.difference(&buffers));
            let known = &wishes.left_out;
            let next: BTreeSet<BufferId> = known.union(&buffers).copied().collect();
            let next: BTreeSet<BufferId> = next.difference(&refused).copied().collect();
            if next != *known || whole && (budgeted || compile::may_spare(&operations)) {
                registers = Some(next);
                continue;
            }
            if !budgeted && !compile::is_within_budget(checked, dims, &operations) {
                (budgeted, turns, registers) = (true, 0, Some(next));
                continue;
            }
            let assumed = facts.assumed(modules);
            let Facts { left_alone, slower, slower_fused, unstacked, .. } = facts;
            let left_alone = left_alone.into_iter().collect();
            let forward = fused.iter().map(|fused| fused.forward.clone()).collect();
            let checked = Some(checked.clone());
            let decided = Decided {
                checked,
                wishes,
                slower,
                slower_fused,
                unstacked,
                assumed,
                changed: false,
                forward,
            };
            return Ok(Plan { operations, variants, fused, left_alone, decided });
        }
    }
}

/// Returns the facts about the launches of a program, and the changes of them that are allowed: none without facts.
fn facts(
    flat: &Flattened,
    (driver, contexts): (&'static Driver, &Vector<Device, Arc<CudaContext>>),
    (records, words): (&Vector<StatementId, Record>, &[Word]),
    modules: &mut Modules,
    allowed: Allowed,
) -> (Facts, Allowed) {
    let (program, functions) = (flat.checked.program(), flat.checked.functions());
    let changing = Changing::of(&flat.scalars, program.statements.len());
    let launches = records.enumerate().map(|(statement, record)| (statement, record.launch()));
    let gathered = gather((driver, contexts), program, (launches, words), &changing, modules, allowed);
    let (mut facts, allowed) = match gathered {
        Ok(facts) => (facts, allowed),
        Err(error) => (Facts::unknown(&error), Allowed::default()),
    };
    if allowed.fuse {
        fusing::locate(flat, records, words, modules, &mut facts);
    }
    if !functions.is_uniform() {
        for (statement, launch) in facts.launches.enumerate_mut() {
            let own = Allowed::by(functions.launches(program, statement));
            launch.iter_mut().for_each(|launch| launch.restrict(own));
        }
    }
    (facts, allowed)
}

/// Numbers the statements: two that are no launches have equal numbers if their kinds, the elements and lengths of their buffers and,
/// for calls, the library functions are equal. Nobody knows if a body runs, and how often: each has a number of its own.
fn others(flat: &Flattened) -> Vector<StatementId, u32> {
    let program = flat.checked.program();
    let mut numbers = BTreeMap::new();
    let number = |(id, statement): (StatementId, &Statement)| {
        let lengths = statement.accesses.iter().map(|access| {
            let length = flat.sizes[access.hi].saturating_sub(flat.sizes[access.lo]);
            (program.buffers[access.buffer].element, length)
        });
        let callee = flat.is_captured(id).then(|| flat.frames[flat.instances[id].frame].table.address());
        let next = narrow(numbers.len());
        let body = matches!(statement.kind, Kind::Join(_)).then_some(id);
        *numbers.entry((statement.kind.name(), callee, body, lengths.collect::<Vec<_>>())).or_insert(next)
    };
    program.statements.enumerate().map(number).collect()
}
