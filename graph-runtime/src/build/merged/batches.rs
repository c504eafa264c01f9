//! The nodes of batches: a setter changes a member's record in the table, and gives the node its table anew, in one call for
//! all members that it concerns.

use cuweave_core::index::{narrow, size};
use cuweave_core::ir::{Kind, Program, StatementId};
use cuweave_core::operation::{BatchId, Operation, OperationId};
use cuweave_ptx::rewrite::Table;

use crate::build::graph::annotate;
use crate::build::graph::definition::Definition;
use crate::build::graph::nodes::Nodes;
use crate::build::plan::hook;
use crate::cuda::{Launching, Node, Values};
use crate::error::{Error, PlanFault, Result, at_statement};
use crate::statements::{Record, address, batch_of, first_blocks, launch_of};

use super::tables::Batched;

impl Nodes {
    /// Adds the node of a batch, with its members' parameters.
    pub(crate) fn add_batch(
        &mut self,
        definition: &Definition,
        operation: &Operation,
        after: &[Node],
    ) -> Result<Node> {
        let batch = self.batch_of(operation)?;
        for (member, &statement) in (0..).zip(&operation.sources) {
            self.write_member(definition.program(), batch, member, statement)?;
        }
        let launch = self.batch_launch(definition.program(), batch)?;
        let Batched { packed, param, variant } = &mut self.batches.of[batch];
        hook::apply_to_table(&variant.table, packed);
        let values = Values { words: packed.words(), params: param };
        definition
            .driver
            .add_kernel(self.into, after, &launch, values, &mut self.scratch)
            .map_err(|failure| Error::driver(failure, Some(self.at(definition.program(), operation))))
    }

    /// Writes a member's record into the table of its batch, whose node must be patched afterwards.
    pub(crate) fn write_to_batch(
        &mut self,
        program: &Program,
        statement: StatementId,
        operation: OperationId,
    ) -> Result<()> {
        let operations = self.operations.clone();
        let operation = &operations.list[operation];
        let batch = self.batch_of(operation)?;
        let member = operation.sources.binary_search(&statement).map_or(0, narrow);
        self.write_member(program, batch, member, statement)
    }

    /// Checks that a new record of a statement can still be a member of its batch.
    ///
    /// All members share one configuration. It depends on no scalar that has a setter, but an expression of the user's may
    /// give another value each time that it is evaluated.
    pub(crate) fn check_member(&self, program: &Program, statement: StatementId, new: &Record) -> Result<()> {
        let Some(operation) = self.operations.of_statement[statement] else { return Ok(()) };
        let operation = &self.operations.list[operation];
        if self.operations.chain_of(operation).is_some() {
            return self.check_part(program, statement, new);
        }
        let (&Kind::Launch(old), Kind::Launch(new)) = (&self.records[statement], new) else {
            return Ok(());
        };
        if operation.sources.len() < 2 {
            return Ok(());
        }
        let axis = self.operations.batches[self.batch_of(operation)?].axis;
        // Members whose blocks are consecutive may have any grid: it stands in the table.
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
        Err(Error::BuildAgain { at: at_statement(program, statement), reason })
    }

    /// Changes the node of a batch to its table.
    pub(crate) fn patch_batch(&mut self, definition: &Definition, operation: OperationId) -> Result<()> {
        let operations = self.operations.clone();
        let batch = self.batch_of(&operations.list[operation])?;
        let launch = self.batch_launch(definition.program(), batch)?;
        let node = self.nodes[operation];
        let Batched { packed, param, .. } = &self.batches.of[batch];
        let values = Values { words: packed.words(), params: param };
        let set = definition.driver.set_kernel(self.exec, node, &launch, values, &mut self.scratch);
        set.map_err(|failure| {
            Error::driver(failure, Some(self.at(definition.program(), &operations.list[operation])))
        })?;
        annotate::members_moved(&self.annotated(definition), operation);
        Ok(())
    }

    /// Returns the number of an operation's batch.
    fn batch_of(&self, operation: &Operation) -> Result<BatchId> {
        let batch = batch_of(&self.operations, operation)?;
        if self.batches.of.get(batch).is_some() {
            return Ok(batch);
        }
        Err(PlanFault::NoBatch(operation.name.to_string()).into())
    }

    /// Writes a member's parameters, and its grid, into its record.
    fn write_member(
        &mut self,
        program: &Program,
        batch: BatchId,
        member: u32,
        statement: StatementId,
    ) -> Result<()> {
        let launch = launch_of(program, &self.records, statement)?;
        let words = &mut self.words[size(launch.first)..];
        address((&self.operations, self.pointed.as_ref()), &self.bases, (statement, &launch), words);
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

    /// Returns the configuration of a batch, from its members' records. Where the members' blocks are consecutive, the table is
    /// given their first blocks.
    fn batch_launch(&mut self, program: &Program, batch: BatchId) -> Result<Launching> {
        let operations = self.operations.clone();
        let planned = &operations.batches[batch];
        let first = launch_of(program, &self.records, planned.members[0])?;
        let mut launch = first.launching();
        let variant = self.batches.of[batch].variant.clone();
        launch.function = variant.info.function;
        if let Some(axis) = planned.axis {
            launch.grid[usize::from(axis)] = narrow(planned.members.len());
            return Ok(launch);
        }
        let (firsts, blocks) = first_blocks(program, &self.records, &planned.members)?;
        for (offset, value) in variant.table.search_words(&firsts, blocks) {
            self.batches.of[batch].packed.put_number(offset, value);
        }
        launch.grid = [blocks, 1, 1];
        Ok(launch)
    }
}
