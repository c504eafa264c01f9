//! Updates nodes of an instantiated graph after a setter has changed arguments or addresses.

use cuweave_core::index::{Index, between, size};
use cuweave_core::ir::{BufferId, StatementId, StatementKind};
use cuweave_core::operation::OperationId;

use crate::build::merged::batches::{patch_batch, write_to_batch};
use crate::build::merged::fused::{patch_fused, write_member_parameters};
use crate::cuda::ParameterValues;
use crate::error::{Error, Result, at_statement};
use crate::statements::{SetContext, StatementRecordExt, SyncValue};

use super::built::BuiltGraph;
use super::definition::Definition;

impl BuiltGraph {
    /// Updates the node of a statement from its record.
    pub(crate) fn patch(&mut self, definition: &Definition, statement: StatementId) -> Result<()> {
        let Some(operation) = self.plan.operations.operation_of[statement] else { return Ok(()) };
        // Fast path for launches: setters change many of them and few other nodes.
        let BuiltGraph { handle, state, .. } = self;
        let node = handle.nodes[operation];
        if let StatementKind::Launch(launch) = &state.records[statement] {
            let values =
                ParameterValues { words: &state.words[size(launch.first)..], params: launch.kernel.params };
            let scratch = &mut state.scratch;
            let set =
                definition.driver.set_kernel(handle.exec, node, &launch.kernel_launch(), values, scratch);
            return set.map_err(|failure| {
                Error::driver(failure, Some(at_statement(definition.program(), statement)))
            });
        }
        // The condition itself has no setters. Setters of buffers in its body patch the body's nodes. Library calls
        // are captured again.
        let record = &self.state.records[statement];
        if record.is_body_border() || matches!(record, StatementKind::Capture(())) {
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.state.scratch);
        let emission = self.emission(&definition.flat, &definition.dims);
        let set = self.state.records[statement].node(&emission, statement, |params| {
            let driver = definition.driver;
            // An update cannot change a node's context, so it must be the one that the node was added with.
            let device = definition.program().statements[statement].device;
            let context = definition.context_of(definition.peers.context_device(statement, device));
            let (exec, words, scratch) = (self.handle.exec, &self.state.words, &mut scratch);
            params.set(SetContext { driver, context, exec, node, words, scratch })
        });
        self.state.scratch = scratch;
        set?.map_err(|failure| Error::driver(failure, Some(at_statement(definition.program(), statement))))
    }

    /// Updates the node of a statement from its record. Disables it if the statement is empty, and enables it again
    /// with the first update that leaves blocks or bytes.
    fn patch_or_disable(&mut self, definition: &Definition, statement: StatementId) -> Result<()> {
        let was_empty = self.state.empty.contains(&statement);
        let record = self.state.records[statement];
        if definition.empty_at_zero.statements.contains(&statement)
            && record.is_empty(definition.program(), &definition.dims, statement)
        {
            if !was_empty {
                self.switch(definition, statement, false)?;
                self.state.empty.insert(statement);
            }
            return Ok(());
        }
        self.patch(definition, statement)?;
        if was_empty {
            self.switch(definition, statement, !self.state.disabled.contains(&statement))?;
            self.state.empty.remove(&statement);
        }
        Ok(())
    }

    /// Returns the value that this launch of a synchronisation statement must exceed. `None` for other
    /// statements.
    pub(crate) fn sync_value(
        &self,
        definition: &Definition,
        statement: StatementId,
        launch: u64,
    ) -> Option<SyncValue> {
        let (word, sync) = self.state.records[statement].sync()?;
        sync.sync_value(&self.emission(&definition.flat, &definition.dims), statement, word, launch)
    }

    /// Updates the nodes of statements from their records. A node of several statements is updated once.
    pub(crate) fn patch_all(
        &mut self,
        definition: &Definition,
        statements: impl Iterator<Item = StatementId>,
    ) -> Result<()> {
        let operations = self.plan.operations.clone();
        let (mut batches, mut chains) = (Vec::new(), Vec::new());
        for statement in statements {
            let of_many = |&operation: &OperationId| operations.list[operation].sources.len() > 1;
            let Some(operation) = operations.operation_of[statement].filter(of_many) else {
                self.patch_or_disable(definition, statement)?;
                continue;
            };
            match operations.chain_of(&operations.list[operation]) {
                Some(chain) => {
                    write_member_parameters(self, definition.program(), chain, statement)?;
                    chains.push((operation, chain));
                }
                None => {
                    write_to_batch(self, definition.program(), statement, operation)?;
                    batches.push(operation);
                }
            }
        }
        batches.sort_unstable();
        batches.dedup();
        batches.into_iter().try_for_each(|operation| patch_batch(self, definition, operation))?;
        chains.sort_unstable();
        chains.dedup();
        chains.into_iter().try_for_each(|(operation, chain)| patch_fused(self, definition, operation, chain))
    }

    /// Sets the addresses of consecutive buffers, starting at `first`.
    pub fn set_bases(&mut self, first: BufferId, addresses: impl Iterator<Item = u64>) {
        between(first, BufferId::new(self.state.bases.len()))
            .zip(addresses)
            .for_each(|(buffer, address)| self.state.bases[buffer] = address);
    }

    /// Writes the current buffer addresses into the records of statements.
    pub(crate) fn readdress_all(
        &mut self,
        definition: &mut Definition,
        statements: &[StatementId],
    ) -> Result<()> {
        statements.iter().try_for_each(|&statement| self.resolve_own(definition, statement))
    }
}
