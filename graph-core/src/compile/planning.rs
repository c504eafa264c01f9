//! Plans a graph for a target that may refuse a decision: launch decisions, memory plan and operations.
//!
//! Rewriting, loading or occupancy may rule out a batch or a chain. So the target is asked before the plan is
//! final. After a refusal, the launches are decided again without that kernel.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::Checked;
use crate::index::Vector;
use crate::ir::{BufferId, Device, DimId, Program, StatementId};
use crate::launches::{Allowed, Launch, LeftAlone, Tuning};
use crate::layout::ALIGNMENT;
use crate::location::{SourceLocation, at_buffer, at_function, at_statement};
use crate::operation::{
    BatchId, BufferPlacement, ChainId, MemoryId, Operation, OperationId, OperationKind, Operations,
};

use super::back::{BackError, BackendOptions, can_split_chains, is_within_budget};
use super::decided::Decided;
use super::target::{LaunchFacts, Target};

/// The number of decisions after which no elements stay in registers any more.
const MAX_DECISIONS: usize = 64;

/// The plan of a graph, with the loaded kernels of batches (`B`) and chains (`F`). A fallback is a new plan.
#[derive(Debug)]
pub struct Plan<B, F> {
    /// The operations.
    pub operations: Arc<Operations>,
    /// The kernel of each batch.
    pub batched: Vector<BatchId, B>,
    /// The kernel of each chain.
    pub fused: Vector<ChainId, F>,
    /// The kernels launched as written, with the reasons. Sorted.
    pub left_alone: Vec<LeftAlone>,
    /// The inputs and results of the decisions.
    pub decided: Decided,
}

/// The inputs of the launch decisions that do not affect the results of a graph.
#[derive(Clone, Debug, Default)]
pub struct LaunchRules {
    /// The allowed launch transformations.
    pub allowed: Allowed,
    /// The device constants.
    pub tuning: Tuning,
    /// Edges added to the order of the program.
    pub added: Vec<(StatementId, StatementId)>,
}

/// Returns the operations of the program for these options, like [`super::back`].
pub type BackFn<'b> = &'b mut dyn FnMut(&BackendOptions) -> Result<Arc<Operations>, BackError>;

/// Modifies the rules before a decision, given the program and its launches.
pub type ChangeRules<'r> =
    &'r mut dyn FnMut(&Checked, &Vector<StatementId, Option<Launch>>, LaunchRules) -> LaunchRules;

/// Decides about the launches and plans the graph.
///
/// `given` holds the options that no decision changes. The target is asked at most once for each kernel that it
/// refuses, and once for each temporary that it keeps in registers or not.
///
/// # Errors
///
/// If the sizes cannot be planned.
pub fn plan<T: Target>(
    checked: &Arc<Checked>,
    dims: &Vector<DimId, u64>,
    given: &BackendOptions,
    mut facts: LaunchFacts,
    target: &mut T,
    change_rules: ChangeRules<'_>,
    back: BackFn<'_>,
) -> Result<Plan<T::Batched, T::Fused>, BackError> {
    // The temporaries that stay in registers in whole chains, once known; and those that do not in pieces of
    // chains.
    let mut registers: Option<BTreeSet<BufferId>> = None;
    let mut refused: BTreeSet<BufferId> = BTreeSet::new();
    // The first plan ignores the budget. It is taken if it meets the budget anyway.
    let mut budgeted = false;
    let mut decisions = 0;
    loop {
        decisions += 1;
        let rules = LaunchRules { allowed: given.allowed, tuning: facts.tuning.clone(), added: Vec::new() };
        let LaunchRules { allowed, tuning, added } = change_rules(checked, &facts.launches, rules);
        // After many decisions, keep nothing in registers, so that the loop ends.
        let forwards = allowed.fuse && allowed.forward && decisions < MAX_DECISIONS;
        let whole = forwards && registers.is_none();
        let backend_options = BackendOptions {
            edges: [given.edges.as_slice(), &added].concat(),
            allowed,
            launches: facts.launches.clone(),
            tuning,
            elided: registers.clone().filter(|_| forwards).unwrap_or_default(),
            whole,
            budgeted,
            ..given.clone()
        };
        let operations = back(&backend_options)?;
        let batched = facts.batched(target, &operations.batches);
        let fused = facts.fused(target, checked.program(), &operations.chains, forwards);
        let (Some(batched), Some(fused)) = (batched, fused) else { continue };
        let forward: Vec<_> = fused.iter().map(|fused| T::in_registers(fused).cloned()).collect();
        let buffers: BTreeSet<BufferId> = forward
            .iter()
            .flatten()
            .flat_map(|forward| forward.elided.iter().map(|&buffer| BufferId::from_u32(buffer)))
            .collect();
        // An elided buffer must stay in registers. Each iteration adds a temporary, or refuses one for good.
        refused.extend(operations.elided.difference(&buffers));
        let known = &backend_options.elided;
        let next: BTreeSet<BufferId> = known.union(&buffers).copied().collect();
        let next: BTreeSet<BufferId> = next.difference(&refused).copied().collect();
        if next != *known || whole && (budgeted || can_split_chains(&operations)) {
            registers = Some(next);
            continue;
        }
        if !budgeted && !given.unlimited && !is_within_budget(checked, dims, &operations) {
            (budgeted, decisions, registers) = (true, 0, Some(next));
            continue;
        }
        let LaunchFacts { left_alone, slower, slower_fused, unstacked, .. } = facts;
        let decided = Decided {
            checked: Some(checked.clone()),
            backend_options,
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
    /// Records that the build added programmatic edges as full edges.
    pub fn record_full_edges(&mut self, full: &[OperationId]) {
        if full.is_empty() {
            return;
        }
        let operations = Arc::make_mut(&mut self.operations);
        operations.overlapped -= full.len();
        for &operation in full {
            operations.list[operation].programmatic = None;
        }
    }

    /// Returns true if any launches are batched, fused or overlapped.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let Operations { batches, chains, overlapped, .. } = &*self.operations;
        !batches.is_empty() || !chains.is_empty() || *overlapped > 0
    }

    /// Returns the memory blocks of a device that no node allocates, each with its offset in one allocation for all
    /// of them, and the size of that allocation in bytes.
    #[must_use]
    pub fn exec_memories(&self, device: Device) -> (Vec<(MemoryId, u64)>, u64) {
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

    /// Returns the buffers in each memory block.
    #[must_use]
    pub fn inside(&self) -> Vector<MemoryId, Vec<BufferId>> {
        let mut inside = Vector::filled(Vec::new(), self.operations.memories.len());
        for (buffer, place) in self.operations.places.enumerate() {
            if let BufferPlacement::Inside { memory, .. } = *place {
                inside[memory].push(buffer);
            }
        }
        inside
    }

    /// Returns the source location of an operation.
    #[must_use]
    pub fn at(&self, program: &Program, operation: &Operation) -> Box<SourceLocation> {
        match (operation.sources.first(), &operation.kind) {
            (Some(&source), _) => at_statement(program, source),
            (None, &(OperationKind::Alloc { memory } | OperationKind::Free { memory })) => {
                self.at_memory(program, memory)
            }
            (None, &OperationKind::FreeTaken { buffer }) => at_buffer(program, buffer),
            (None, _) => at_name(program, &operation.name),
        }
    }

    /// Returns the source location of a memory block.
    #[must_use]
    pub fn at_memory(&self, program: &Program, memory: MemoryId) -> Box<SourceLocation> {
        let inside = |place: &BufferPlacement| matches!(place, BufferPlacement::Inside { memory: other, .. } if *other == memory);
        let mut buffers = self.operations.places.enumerate().filter(|(_, place)| inside(place));
        match (buffers.next(), buffers.next()) {
            (Some((buffer, _)), None) => at_buffer(program, buffer),
            _ => at_name(program, &self.operations.memories[memory].name),
        }
    }
}

/// Returns a location for a name made by the compiler: the line of the function's first statement.
fn at_name(program: &Program, name: &str) -> Box<SourceLocation> {
    let at = program.statements.ids().next().map(|first| at_statement(program, first));
    Box::new(at.unwrap_or_else(|| at_function(program)).with_name(name))
}
