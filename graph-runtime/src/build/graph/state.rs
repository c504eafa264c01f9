//! The part of a built graph that changes from launch to launch: statement records, parameter values,
//! addresses, and the packed tables of batches and chains.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{BufferId, StatementId};
use cuweave_core::kind::StatementKind;
use cuweave_core::operation::{AccessTarget, AccessTargetId, BatchId, ChainId, Operations};

use crate::build::conditional::counted::CountedLoops;
use crate::build::plan::planning::Plan;
use crate::cuda::{Packed, ParameterValues, Scratch, Word};
use crate::kernels::{Finding, LaunchRecord, Param};
use crate::statements::{
    HostFunctions, StatementRecord, StatementRecordExt, UnprovedLaunches, write_addresses,
};

use super::definition::Definition;

/// The values that the nodes of a graph are added and updated with.
pub(crate) struct LaunchState {
    /// One record for each statement.
    pub records: Vector<StatementId, StatementRecord>,
    /// The parameters of all launches. Each record refers to its words by index.
    pub words: Vec<Word>,
    /// The words of new records, while a setter evaluates them.
    pub spare: Vec<Word>,
    /// The address of each buffer.
    pub bases: Vector<BufferId, u64>,
    /// The buffer offset of each access. `None` if no setter changes any: the plan has them then.
    pub pointed: Option<Vector<AccessTargetId, AccessTarget>>,
    /// The parameters of batched launches.
    pub batches: Vector<BatchId, PackedTable>,
    /// The parameters of fused launches.
    pub fused: Vector<ChainId, PackedTable>,
    /// True for fills and copies that are kernels whatever the current values are: see [`LaunchState::new`].
    pub as_kernels: Vector<StatementId, bool>,
    /// Launches that are not proved to write all elements of their write-only parameters.
    pub unproved: BTreeMap<StatementId, Vec<Finding>>,
    /// The functions of host statements, with the data that their nodes point to.
    pub hosts: HostFunctions,
    /// The loops that count their iterations.
    pub counted: CountedLoops,
    /// The number of the launch whose values the nodes have.
    pub launch: u64,
    /// The statements that `enable` has disabled.
    pub disabled: BTreeSet<StatementId>,
    /// The statements without blocks or bytes for the present sizes. Their nodes are disabled too, and keep their
    /// parameters.
    pub empty: BTreeSet<StatementId>,
    /// Scratch space of driver calls for kernel nodes.
    pub scratch: Scratch,
}

/// The parameters of several launches in one node: a table that is the node's only parameter.
pub(crate) struct PackedTable {
    pub packed: Packed,
    /// A single parameter of the table's size.
    param: [Param; 1],
}

impl PackedTable {
    fn zeroed(bytes: u32) -> PackedTable {
        PackedTable { packed: Packed::zeroed(bytes), param: [Param::bytes("table", bytes)] }
    }

    pub fn values(&self) -> ParameterValues<'_, Param> {
        ParameterValues { words: self.packed.words(), params: &self.param }
    }
}

impl LaunchState {
    /// Returns the state before the first launch. Buffers have no addresses yet.
    pub fn new(
        definition: &Definition,
        records: Vector<StatementId, StatementRecord>,
        words: Vec<Word>,
    ) -> LaunchState {
        // An update changes neither the kind of a node nor the rows of a memset or memcpy node. So a fill that a setter
        // may give an 8-byte value is a kernel from the start, and so is what copies or fills rows that a size moves.
        let (program, flat) = (definition.program(), &definition.flat);
        let rows = program.statements.iter().map(|statement| flat.moves.moves_pitched(statement));
        let mut as_kernels: Vector<StatementId, bool> = rows.collect();
        for &statement in flat.scalars.iter().flat_map(|scalar| &scalar.statements) {
            let declared = &program.statements[statement];
            let is_wide = declared.accesses.iter().any(|access| program.buffers[access.buffer].element == 8);
            as_kernels[statement] |= is_wide && matches!(declared.kind, StatementKind::Fill(_));
        }
        LaunchState {
            records,
            words,
            spare: Vec::new(),
            bases: Vector::new(),
            pointed: None,
            batches: Vector::new(),
            fused: Vector::new(),
            as_kernels,
            unproved: BTreeMap::new(),
            hosts: HostFunctions::default(),
            counted: CountedLoops::new(definition.program()),
            launch: 0,
            disabled: BTreeSet::new(),
            empty: BTreeSet::new(),
            scratch: Scratch::default(),
        }
    }

    /// Returns a copy for another graph of the same operations.
    pub fn for_other_graph(&self, plan: &Plan) -> LaunchState {
        let mut other = LaunchState {
            records: self.records.clone(),
            words: self.words.clone(),
            spare: Vec::new(),
            bases: Vector::new(),
            pointed: self.pointed.clone(),
            batches: Vector::new(),
            fused: Vector::new(),
            as_kernels: self.as_kernels.clone(),
            unproved: BTreeMap::new(),
            hosts: self.hosts.shared(),
            counted: self.counted.clone(),
            launch: 0,
            disabled: self.disabled.clone(),
            empty: self.empty.clone(),
            scratch: Scratch::default(),
        };
        other.reset_tables(plan);
        other
    }

    /// Takes over the access offsets of a plan, and allocates its tables.
    pub fn follow(&mut self, definition: &Definition, plan: &Plan) {
        let moves = &definition.flat.moves;
        self.pointed = moves.pointed(&plan.operations, definition.program(), &definition.dims);
        self.reset_tables(plan);
    }

    fn reset_tables(&mut self, plan: &Plan) {
        self.batches = plan.batched.iter().map(|one| PackedTable::zeroed(one.table.bytes)).collect();
        self.fused = plan.fused.iter().map(|kernel| PackedTable::zeroed(kernel.bytes())).collect();
    }

    /// Returns the buffer offset of each access.
    pub fn pointed<'s>(&'s self, operations: &'s Operations) -> &'s Vector<AccessTargetId, AccessTarget> {
        self.pointed.as_ref().unwrap_or(&operations.targets.list)
    }

    /// Writes the addresses of a launch's buffers into its words.
    #[inline]
    pub fn write_addresses(
        &mut self,
        operations: &Operations,
        statement: StatementId,
        launch: &LaunchRecord,
    ) {
        let pointed = self.pointed.as_ref().unwrap_or(&operations.targets.list);
        let words = &mut self.words[size(launch.first)..];
        write_addresses(operations, pointed, &self.bases, statement, launch, words);
    }

    /// Replaces the findings about write-only parameters of these statements.
    pub fn record_unproved(&mut self, statements: &[StatementId], unproved: UnprovedLaunches) {
        for statement in statements {
            self.unproved.remove(statement);
        }
        self.unproved.extend(unproved);
    }

    /// Swaps a statement's record with one whose words are in `spare`.
    pub fn swap(&mut self, statement: StatementId, other: &mut StatementRecord) {
        let record = &mut self.records[statement];
        let ((here, count), (there, _)) = (record.words(), other.words());
        self.words[here..here + count].swap_with_slice(&mut self.spare[there..there + count]);
        let old = record.at(there);
        *record = other.at(here);
        *other = old;
    }

    /// Returns the statements whose nodes are disabled.
    pub fn left_out(&self) -> BTreeSet<StatementId> {
        &self.disabled | &self.empty
    }

    /// Returns true if the value of the statement's node changes with each launch.
    pub fn advances(&self, statement: StatementId) -> bool {
        self.records[statement].sync().is_some_and(|(_, sync)| sync.advances())
    }
}
