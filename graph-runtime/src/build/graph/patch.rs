//! Changes of the nodes of an exec, when arguments or addresses change.

use cuweave_core::index::{Index, between, size};
use cuweave_core::ir::{BufferId, Kind, StatementId};
use cuweave_core::operation::OperationId;

use crate::cuda::Values;
use crate::error::{Error, Result, at_statement};
use crate::statements::{Due, Record, RecordExt, Setting, address};

use super::definition::Definition;
use super::nodes::Nodes;

impl Nodes {
    /// Changes a node to what its statement's record says.
    pub(crate) fn patch(&mut self, definition: &Definition, statement: StatementId) -> Result<()> {
        let Some(operation) = self.operations.of_statement[statement] else { return Ok(()) };
        // Setters change many launches and few other nodes, so a launch takes the short way.
        if let Kind::Launch(launch) = &self.records[statement] {
            let values = Values { words: &self.words[size(launch.first)..], params: launch.kernel.params };
            let (exec, node) = (self.exec, self.nodes[operation]);
            let set =
                definition.driver.set_kernel(exec, node, &launch.launching(), values, &mut self.scratch);
            return set.map_err(|failure| {
                Error::driver(failure, Some(at_statement(definition.program(), statement)))
            });
        }
        // The statement's own buffers have no setters; setters of buffers in its body patch the body's nodes.
        if self.records[statement].is_body() {
            return Ok(());
        }
        let node = self.nodes[operation];
        let mut scratch = std::mem::take(&mut self.scratch);
        let emission = self.emission(&definition.flat, &definition.dims);
        let set = self.records[statement].node(&emission, statement, |params| {
            let driver = definition.driver;
            // The context of a node is that of its device, and no update changes it.
            let device = definition.program().statements[statement].device;
            let context = definition.context_of(definition.peers.runs(statement, device));
            let (exec, words, scratch) = (self.exec, &self.words, &mut scratch);
            params.set(Setting { driver, context, exec, node, words, scratch })
        });
        self.scratch = scratch;
        set?.map_err(|failure| Error::driver(failure, Some(at_statement(definition.program(), statement))))
    }

    /// Returns the value of a launch that must be ahead of that of the launch before; `None` if the statement has none.
    pub(crate) fn due(&self, definition: &Definition, statement: StatementId, launch: u64) -> Option<Due> {
        let (word, sync) = self.records[statement].sync()?;
        sync.due(&self.emission(&definition.flat, &definition.dims), statement, word, launch)
    }

    /// Returns true if each launch gives the statement's node another value.
    pub(crate) fn advances(&self, statement: StatementId) -> bool {
        self.records[statement].sync().is_some_and(|(_, sync)| sync.advances())
    }

    /// Changes the nodes of statements to what their records say: each node once, also where it has many of the statements.
    pub(crate) fn patch_all(
        &mut self,
        definition: &Definition,
        statements: impl Iterator<Item = StatementId>,
    ) -> Result<()> {
        let operations = self.operations.clone();
        let (mut batches, mut chains) = (Vec::new(), Vec::new());
        for statement in statements {
            let of_many = |&operation: &OperationId| operations.list[operation].sources.len() > 1;
            let Some(operation) = operations.of_statement[statement].filter(of_many) else {
                self.patch(definition, statement)?;
                continue;
            };
            match operations.chain_of(&operations.list[operation]) {
                Some(chain) => {
                    self.write_part(definition.program(), chain, statement)?;
                    chains.push((operation, chain));
                }
                None => {
                    self.write_to_batch(definition.program(), statement, operation)?;
                    batches.push(operation);
                }
            }
        }
        batches.sort_unstable();
        batches.dedup();
        batches.into_iter().try_for_each(|operation| self.patch_batch(definition, operation))?;
        chains.sort_unstable();
        chains.dedup();
        chains.into_iter().try_for_each(|(operation, chain)| self.patch_fused(definition, operation, chain))
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

    /// Sets the addresses of the buffers from `first` on.
    pub fn set_bases(&mut self, first: BufferId, addresses: impl Iterator<Item = u64>) {
        between(first, BufferId::new(self.bases.len()))
            .zip(addresses)
            .for_each(|(buffer, address)| self.bases[buffer] = address);
    }

    /// Writes the addresses of their buffers into the records of statements.
    pub(crate) fn readdress_all(
        &mut self,
        definition: &mut Definition,
        statements: &[StatementId],
    ) -> Result<()> {
        let mut words = std::mem::take(&mut self.words);
        let done = statements.iter().try_for_each(|&statement| {
            if let Kind::Launch(launch) = &self.records[statement] {
                let targets = (&*self.operations, self.pointed.as_ref());
                address(targets, &self.bases, (statement, launch), &mut words[size(launch.first)..]);
                return Ok(());
            }
            self.records[statement] =
                self.resolve(definition, statement, self.records[statement], &mut words)?;
            Ok(())
        });
        self.words = words;
        done
    }
}
