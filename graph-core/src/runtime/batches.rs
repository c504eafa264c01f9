//! Launches that became one: the table of their parameters, and the node that takes it.
//!
//! Record `i` of a table is what the i-th member's own launch would be given; so a setter changes a record, and gives the
//! node its table anew: one call for all members that it concerns.

use crate::ir::StatementId;
use crate::operation::{Operation, OperationId};
use cuweave_ptx::rewrite::Table;

use super::annotate;
use super::build::at_statement;
use super::core::{Core, address};
use super::driver::{Launching, Node, Packed, Values};
use super::error::{Error, Result};
use super::evaluate::{LaunchRecord, Recorded};
use super::kernel::Param;
use super::variants::Variant;

/// The batches of a graph, by their number.
#[derive(Default)]
pub(super) struct Batches {
    of: Vec<Batched>,
}

struct Batched {
    variant: Variant,
    packed: Packed,
    /// One parameter, of the table's size.
    param: [Param; 1],
}

impl Batches {
    /// With empty tables.
    pub fn new(variants: Vec<Variant>) -> Batches {
        let one = |variant: Variant| Batched {
            packed: Packed::zeroed(variant.table.bytes),
            param: [Param::bytes("table", variant.table.bytes)],
            variant,
        };
        Batches { of: variants.into_iter().map(one).collect() }
    }
}

impl Core {
    /// Adds the node of a batch, with its members' parameters.
    pub(super) fn add_batch(&mut self, operation: &Operation, after: &[Node]) -> Result<Node> {
        let batch = self.batch_of(operation)?;
        for (member, &statement) in (0..).zip(&operation.sources) {
            self.write_member(batch, member, statement)?;
        }
        let launch = self.batch_launch(batch)?;
        let Batched { packed, param, variant } = &mut self.batches.of[batch];
        super::hook::apply_to_table(&variant.table, packed);
        let values = Values { words: packed.words(), params: param };
        self.driver
            .add_kernel(self.graph, after, &launch, values, &mut self.scratch)
            .map_err(|failure| Error::driver(failure, Some(self.at(operation))))
    }

    /// Writes what a member's record says now into the table of its batch, whose node is still to be patched.
    pub(super) fn write_to_batch(&mut self, statement: StatementId, operation: OperationId) -> Result<()> {
        let operations = self.operations.clone();
        let operation = &operations.list[operation as usize];
        let batch = self.batch_of(operation)?;
        let member = operation.sources.binary_search(&statement).unwrap_or(0) as u32;
        self.write_member(batch, member, statement)
    }

    /// Checks that a new record of a statement can still be a member of its batch.
    ///
    /// All members share one configuration. It depends on no scalar that has a setter, but an expression of the user's may
    /// give another value each time that it is evaluated.
    pub(super) fn check_member(&self, statement: StatementId, new: &Recorded) -> Result<()> {
        let Some(operation) = self.operations.of_statement[statement as usize] else { return Ok(()) };
        let operation = &self.operations.list[operation as usize];
        let (&Recorded::Launch(old), Recorded::Launch(new)) = (&self.records[statement as usize], new) else {
            return Ok(());
        };
        if operation.sources.len() < 2 {
            return Ok(());
        }
        let axis = self.operations.batches[self.batch_of(operation)?].axis;
        // Members behind each other may have any grid: it stands in the table.
        let grid_differs = axis.is_some() && old.shape.grid != new.shape.grid;
        if !grid_differs && (old.shape.block, old.shape.shared) == (new.shape.block, new.shape.shared) {
            return Ok(());
        }
        let reason = format!(
            "is one of {} launches that are batched, and its configuration was {} when the graph was built and is {} now",
            operation.sources.len(),
            old.shape,
            new.shape
        );
        Err(Error::BuildAgain { at: at_statement(self.program, statement), reason })
    }

    /// Gives the node of a batch its table.
    pub(super) fn patch_batch(&mut self, operation: OperationId) -> Result<()> {
        let operations = self.operations.clone();
        let batch = self.batch_of(&operations.list[operation as usize])?;
        let launch = self.batch_launch(batch)?;
        let node = self.nodes[operation as usize];
        let Batched { packed, param, .. } = &self.batches.of[batch];
        let values = Values { words: packed.words(), params: param };
        let set = self.driver.set_kernel(self.exec, node, &launch, values, &mut self.scratch);
        set.map_err(|failure| Error::driver(failure, Some(self.at(&operations.list[operation as usize]))))?;
        annotate::members_moved(self, operation);
        Ok(())
    }

    /// Along which dimension of the grid the members of an operation lie; or, where it is none, the first block of each.
    pub(super) fn members_of(&self, operation: &Operation) -> Result<(Option<u8>, Vec<u32>)> {
        let batch = self.batch_of(operation)?;
        match self.operations.batches[batch].axis {
            Some(axis) => Ok((Some(axis), Vec::new())),
            None => Ok((None, self.first_blocks(batch)?.0)),
        }
    }

    /// The first block of each member where they lie one behind the other, and how many blocks they are.
    fn first_blocks(&self, batch: usize) -> Result<(Vec<u32>, u32)> {
        let members = &self.operations.batches[batch].members;
        let mut blocks = 0u64;
        let mut firsts = Vec::with_capacity(members.len());
        for &member in members {
            firsts.push(blocks as u32);
            let own = self.launch_of(member)?.shape.grid;
            blocks += own.iter().map(|&extent| u64::from(extent)).product::<u64>();
            if blocks > i32::MAX as u64 {
                let reason = format!("{blocks} blocks and more in one launch");
                return Err(Error::Config { at: at_statement(self.program, member), reason });
            }
        }
        Ok((firsts, blocks as u32))
    }

    /// The number of an operation's batch: batches are sorted by their first members.
    fn batch_of(&self, operation: &Operation) -> Result<usize> {
        let first = operation.sources.first();
        let found = self.operations.batches.binary_search_by(|batch| batch.members.first().cmp(&first));
        found
            .ok()
            .filter(|&batch| batch < self.batches.of.len())
            .ok_or_else(|| Error::Plan(format!("`{}` is no batch of the plan", operation.name)))
    }

    fn launch_of(&self, statement: StatementId) -> Result<LaunchRecord> {
        match self.records[statement as usize] {
            Recorded::Launch(launch) => Ok(launch),
            _ => Err(Error::Plan(format!("{} is no launch", at_statement(self.program, statement)))),
        }
    }

    /// Writes a member's parameters, and its grid, into its record.
    fn write_member(&mut self, batch: usize, member: u32, statement: StatementId) -> Result<()> {
        let launch = self.launch_of(statement)?;
        let words = &mut self.words[launch.first as usize..];
        address(&self.operations, &self.bases, (statement, &launch), words);
        let Batched { variant, packed, .. } = &mut self.batches.of[batch];
        let Table { records, stride, parameters, grid, .. } = &*variant.table;
        let record = records + member * stride;
        let mut at = 0;
        for (param, &(offset, bytes)) in launch.kernel.params.iter().zip(parameters) {
            packed.put(record + offset, &words[at..at + param.words()], bytes);
            at += param.words();
        }
        if let Some(offset) = grid {
            for (axis, extent) in (0..).zip(launch.shape.grid) {
                packed.put_number(record + offset + 4 * axis, extent);
            }
        }
        Ok(())
    }

    /// The configuration of a batch, by its members' records; where blocks lie one behind the other, also the table of
    /// where each member's begin.
    fn batch_launch(&mut self, batch: usize) -> Result<Launching> {
        let operations = self.operations.clone();
        let planned = &operations.batches[batch];
        let first = self.launch_of(planned.members[0])?;
        let mut launch = first.launching();
        let variant = self.batches.of[batch].variant.clone();
        launch.function = variant.info.function;
        if let Some(axis) = planned.axis {
            launch.grid[usize::from(axis)] = planned.members.len() as u32;
            return Ok(launch);
        }
        let (firsts, blocks) = self.first_blocks(batch)?;
        for (offset, value) in variant.table.search_words(&firsts, blocks) {
            self.batches.of[batch].packed.put_number(offset, value);
        }
        launch.grid = [blocks, 1, 1];
        Ok(launch)
    }
}
