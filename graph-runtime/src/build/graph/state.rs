//! The values of a built graph that change from launch to launch.

use std::collections::BTreeMap;

use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{BufferId, StatementId};
use cuweave_core::operation::{BatchId, ChainId, Operations, Pointed, PointedId};

use crate::build::conditional::counted::CountedLoops;
use crate::build::plan::planning::Plan;
use crate::cuda::{Packed, Scratch, Values, Word};
use crate::kernels::{Finding, LaunchRecord, Param};
use crate::statements::{Hosts, Record, RecordExt, UnprovedLaunches, address};

use super::definition::Definition;

/// The values that the nodes of a graph are given.
pub(crate) struct LaunchState {
    /// One record for each statement.
    pub records: Vector<StatementId, Record>,
    /// The values of the launches' parameters.
    pub words: Vec<Word>,
    /// The words of new records while a setter evaluates them.
    pub spare: Vec<Word>,
    /// The address of each buffer.
    pub bases: Vector<BufferId, u64>,
    /// The targets of all accesses, if setters change some.
    pub pointed: Option<Vector<PointedId, Pointed>>,
    /// The parameters of batched launches.
    pub batches: Vector<BatchId, PackedTable>,
    /// The parameters of fused launches.
    pub fused: Vector<ChainId, PackedTable>,
    /// Fills of 8-byte values that a setter may change: kernels, whatever the value is now.
    pub fill_kernels: Vector<StatementId, bool>,
    /// Launches that are not proved to write all of their write-only parameters.
    pub unproved: BTreeMap<StatementId, Vec<Finding>>,
    /// The functions of host statements, and what their nodes point to.
    pub hosts: Hosts,
    /// The loops that count their turns.
    pub counted: CountedLoops,
    /// The number of the launch that the nodes hold the values of.
    pub launch: u64,
    /// Scratch space of the calls that add and change kernel nodes.
    pub scratch: Scratch,
}

/// The parameters of launches that are one node: one table, which is the node's only parameter.
pub(crate) struct PackedTable {
    pub packed: Packed,
    /// One parameter, of the table's size.
    param: [Param; 1],
}

impl PackedTable {
    fn zeroed(bytes: u32) -> PackedTable {
        PackedTable { packed: Packed::zeroed(bytes), param: [Param::bytes("table", bytes)] }
    }

    /// Returns the values of the node's parameters.
    pub fn values(&self) -> Values<'_, Param> {
        Values { words: self.packed.words(), params: &self.param }
    }
}

impl LaunchState {
    /// Returns the state before the first launch. No buffer has an address yet.
    pub fn new(
        definition: &Definition,
        records: Vector<StatementId, Record>,
        words: Vec<Word>,
    ) -> LaunchState {
        let mut fill_kernels = Vector::filled(false, definition.program().statements.len());
        // A fill of an 8-byte value that a scalar reaches cannot turn from a memset into a kernel later.
        for &statement in definition.flat.scalars.iter().flat_map(|scalar| &scalar.statements) {
            fill_kernels[statement] = true;
        }
        LaunchState {
            records,
            words,
            spare: Vec::new(),
            bases: Vector::new(),
            pointed: None,
            batches: Vector::new(),
            fused: Vector::new(),
            fill_kernels,
            unproved: BTreeMap::new(),
            hosts: Hosts::default(),
            counted: CountedLoops::of(definition.program()),
            launch: 0,
            scratch: Scratch::default(),
        }
    }

    /// Returns the same values for the nodes of another graph, of the same operations.
    pub fn for_other_graph(&self, plan: &Plan) -> LaunchState {
        let mut other = LaunchState {
            records: self.records.clone(),
            words: self.words.clone(),
            spare: Vec::new(),
            bases: Vector::new(),
            pointed: self.pointed.clone(),
            batches: Vector::new(),
            fused: Vector::new(),
            fill_kernels: self.fill_kernels.clone(),
            unproved: BTreeMap::new(),
            hosts: self.hosts.shared(),
            counted: self.counted.clone(),
            launch: 0,
            scratch: Scratch::default(),
        };
        other.reset_tables(plan);
        other
    }

    /// Takes the targets and empty tables of a plan.
    pub fn follow(&mut self, definition: &Definition, plan: &Plan) {
        let moves = &definition.flat.moves;
        self.pointed = moves.pointed(&plan.operations, definition.program(), &definition.dims);
        self.reset_tables(plan);
    }

    fn reset_tables(&mut self, plan: &Plan) {
        self.batches = plan.batched.iter().map(|one| PackedTable::zeroed(one.table.bytes)).collect();
        self.fused = plan.fused.iter().map(|kernel| PackedTable::zeroed(kernel.bytes())).collect();
    }

    /// Returns the target of each access.
    pub fn pointed<'s>(&'s self, operations: &'s Operations) -> &'s Vector<PointedId, Pointed> {
        self.pointed.as_ref().unwrap_or(&operations.targets.list)
    }

    /// Writes the addresses of a launch's buffers into its words.
    #[inline]
    pub fn address(&mut self, operations: &Operations, statement: StatementId, launch: &LaunchRecord) {
        let pointed = self.pointed.as_ref().unwrap_or(&operations.targets.list);
        let words = &mut self.words[size(launch.first)..];
        address(operations, pointed, &self.bases, statement, launch, words);
    }

    /// Replaces the notes of which of these statements are not proved to write all.
    pub fn record_unproved(&mut self, statements: &[StatementId], unproved: UnprovedLaunches) {
        for statement in statements {
            self.unproved.remove(statement);
        }
        self.unproved.extend(unproved);
    }

    /// Swaps a statement's record with one whose words lie in `spare`.
    pub fn swap(&mut self, statement: StatementId, other: &mut Record) {
        let record = &mut self.records[statement];
        let ((here, count), (there, _)) = (record.words(), other.words());
        self.words[here..here + count].swap_with_slice(&mut self.spare[there..there + count]);
        let old = record.at(there);
        *record = other.at(here);
        *other = old;
    }

    /// Returns true if each launch gives the statement's node another value.
    pub fn advances(&self, statement: StatementId) -> bool {
        self.records[statement].sync().is_some_and(|(_, sync)| sync.advances())
    }
}
