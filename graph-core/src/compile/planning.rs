//! Planning: the launch decisions, the plan of memory and the operations, for a device that may refuse a decision.
//!
//! Rewriting, loading and occupancy may refuse a batch or a chain. The target is asked before the final plan is made: after
//! a refusal the launches are decided again without that kernel.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::Checked;
use crate::index::Vector;
use crate::ir::{BufferId, Device, DimId, Program, StatementId};
use crate::launches::{Allowed, Launch, LeftAlone, Tuning};
use crate::layout::ALIGNMENT;
use crate::location::{At, at_buffer, at_function, at_statement};
use crate::operation::{BatchId, ChainId, MemoryId, Operation, OperationId, Operations, Place, What};

use super::back::{BackError, Wishes, is_within_budget, may_spare};
use super::decided::Decided;
use super::target::{LaunchFacts, Target};

/// The number of decisions after which elements of fused launches go through memory.
const MAX_DECISIONS: usize = 64;

/// What is added to a graph, with the loaded kernels of batches (`B`) and of chains (`F`). A fallback is another plan.
#[derive(Debug)]
pub struct Plan<B, F> {
    /// The operations.
    pub operations: Arc<Operations>,
    /// One kernel for each batch.
    pub batched: Vector<BatchId, B>,
    /// One kernel for each chain.
    pub fused: Vector<ChainId, F>,
    /// The kernels that are launched as written, and the reasons: sorted.
    pub left_alone: Vec<LeftAlone>,
    /// The inputs of the decisions.
    pub decided: Decided,
}

/// The inputs of the launch decisions that are not facts: with any of them, the results of a graph are the same.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The changes of launches that are allowed.
    pub allowed: Allowed,
    /// The constants of the device.
    pub tuning: Tuning,
    /// Order beyond the program's.
    pub added: Vec<(StatementId, StatementId)>,
}

/// Returns the operations of a checked program with these lengths and options: those of [`super::back`].
pub type Back<'b> = &'b mut dyn FnMut(&Wishes) -> Result<Arc<Operations>, BackError>;

/// Changes the rules before a decision, given the program and its launches.
pub type ChangeRules<'r> = &'r mut dyn FnMut(&Checked, &Vector<StatementId, Option<Launch>>, Rules) -> Rules;

/// Decides about the launches, and plans. `given` holds the options that no decision changes. The target is asked at most once
/// for each kernel that it refuses, and once for each temporary that stays in registers or is refused to.
///
/// # Errors
///
/// Sizes that cannot be planned.
pub fn plan<T: Target>(
    checked: &Arc<Checked>,
    dims: &Vector<DimId, u64>,
    given: &Wishes,
    mut facts: LaunchFacts,
    target: &mut T,
    change_rules: ChangeRules<'_>,
    back: Back<'_>,
) -> Result<Plan<T::Batched, T::Fused>, BackError> {
    // The temporaries that stay in registers of whole chains, once they are known, and those that do not in pieces of them.
    let mut registers: Option<BTreeSet<BufferId>> = None;
    let mut refused: BTreeSet<BufferId> = BTreeSet::new();
    // A plan without the budget comes first: it is taken if the budget holds it.
    let mut budgeted = false;
    let mut decisions = 0;
    loop {
        decisions += 1;
        let rules = Rules { allowed: given.allowed, tuning: facts.tuning.clone(), added: Vec::new() };
        let Rules { allowed, tuning, added } = change_rules(checked, &facts.launches, rules);
        // After many decisions nothing stays in registers: then no plan depends on what does.
        let forwards = allowed.fuse && allowed.forward && decisions < MAX_DECISIONS;
        let whole = forwards && registers.is_none();
        let wishes = Wishes {
            edges: [given.edges.as_slice(), &added].concat(),
            allowed,
            launches: facts.launches.clone(),
            tuning,
            left_out: registers.clone().filter(|_| forwards).unwrap_or_default(),
            whole,
            budgeted,
            ..given.clone()
        };
        let operations = back(&wishes)?;
        let batched = facts.batched(target, &operations.batches);
        let fused = facts.fused(target, checked.program(), &operations.chains, forwards);
        let (Some(batched), Some(fused)) = (batched, fused) else { continue };
        let forward: Vec<_> = fused.iter().map(|fused| T::in_registers(fused).cloned()).collect();
        let buffers: BTreeSet<BufferId> = forward
            .iter()
            .flatten()
            .flat_map(|forward| forward.left_out.iter().map(|&buffer| BufferId::from_u32(buffer)))
            .collect();
        // What has no memory must stay in registers. Each turn adds a temporary, or refuses one for good.
        refused.extend(operations.left_out.difference(&buffers));
        let known = &wishes.left_out;
        let next: BTreeSet<BufferId> = known.union(&buffers).copied().collect();
        let next: BTreeSet<BufferId> = next.difference(&refused).copied().collect();
        if next != *known || whole && (budgeted || may_spare(&operations)) {
            registers = Some(next);
            continue;
        }
        if !budgeted && !is_within_budget(checked, dims, &operations) {
            (budgeted, decisions, registers) = (true, 0, Some(next));
            continue;
        }
        let LaunchFacts { left_alone, slower, slower_fused, unstacked, .. } = facts;
        let decided = Decided {
            checked: Some(checked.clone()),
            wishes,
            slower,
            slower_fused,
            unstacked,
            assumed: Vec::new(),
            changed: false,
            forward,
        };
        return Ok(Plan {
            operations,
            batched,
            fused,
            left_alone: left_alone.into_iter().collect(),
            decided,
        });
    }
}

impl<B, F> Plan<B, F> {
    /// Takes back programmatic edges that were added as full ones.
    pub fn note_full(&mut self, full: &[OperationId]) {
        if full.is_empty() {
            return;
        }
        let operations = Arc::make_mut(&mut self.operations);
        operations.overlapped -= full.len();
        for &operation in full {
            operations.list[operation].programmatic = None;
        }
    }

    /// Returns true if launches differ from how they are written.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let Operations { batches, chains, overlapped, .. } = &*self.operations;
        !batches.is_empty() || !chains.is_empty() || *overlapped > 0
    }

    /// Returns the memories of a device that no node allocates, each with its offset in one block that holds all of them, and
    /// the size of that block in bytes.
    #[must_use]
    pub fn without_nodes(&self, device: Device) -> (Vec<(MemoryId, u64)>, u64) {
        let mut end = 0u64;
        let memories = self.operations.memories.enumerate();
        let memories = memories.filter(|(_, memory)| !memory.node && memory.device == device);
        let offsets = memories
            .map(|(at, memory)| {
                let offset = end.next_multiple_of(ALIGNMENT);
                end = offset + memory.bytes;
                (at, offset)
            })
            .collect();
        (offsets, end)
    }

    /// Returns the buffers that lie in each memory.
    #[must_use]
    pub fn inside(&self) -> Vector<MemoryId, Vec<BufferId>> {
        let mut inside = Vector::filled(Vec::new(), self.operations.memories.len());
        for (buffer, place) in self.operations.places.enumerate() {
            if let Place::Inside { memory, .. } = *place {
                inside[memory].push(buffer);
            }
        }
        inside
    }

    /// Returns the place in the source that an operation comes from.
    #[must_use]
    pub fn at(&self, program: &Program, operation: &Operation) -> Box<At> {
        match (operation.sources.first(), &operation.what) {
            (Some(&source), _) => at_statement(program, source),
            (None, &(What::Alloc { memory } | What::Free { memory })) => self.at_memory(program, memory),
            (None, &What::FreeTaken { buffer }) => at_buffer(program, buffer),
            (None, _) => at_name(program, &operation.name),
        }
    }

    /// Returns the place in the source that a memory comes from.
    #[must_use]
    pub fn at_memory(&self, program: &Program, memory: MemoryId) -> Box<At> {
        let inside = |place: &Place| matches!(place, Place::Inside { memory: other, .. } if *other == memory);
        let mut buffers = self.operations.places.enumerate().filter(|(_, place)| inside(place));
        match (buffers.next(), buffers.next()) {
            (Some((buffer, _)), None) => at_buffer(program, buffer),
            _ => at_name(program, &self.operations.memories[memory].name),
        }
    }
}

/// Returns the place of a name of the runtime's own: the line of the function's first statement.
fn at_name(program: &Program, name: &str) -> Box<At> {
    let at = program.statements.ids().next().map(|first| at_statement(program, first));
    Box::new(at.unwrap_or_else(|| at_function(program)).with_name(name))
}
