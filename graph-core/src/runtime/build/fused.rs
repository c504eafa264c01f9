//! The nodes of chains: the parameters of all members lie in one, in which a setter changes those of a member, and gives the
//! node all of it anew.

use crate::index::size;
use crate::ir::{Kind, Program, StatementId};
use crate::operation::{ChainId, Operation, OperationId};

use crate::runtime::cuda::{Launching, Node, Values};
use crate::runtime::error::{Error, Result, at_statement};
use crate::runtime::statements::{Record, address, launch_of};

use super::definition::Definition;
use super::nodes::Nodes;
use super::tables::FusedNode;

impl Nodes {
    /// Adds the node of a chain, with its members' parameters.
    pub(crate) fn add_fused(
        &mut self,
        definition: &Definition,
        operation: &Operation,
        chain: ChainId,
        after: &[Node],
    ) -> Result<Node> {
        let operations = self.operations.clone();
        for &statement in &operations.chains[chain].members {
            self.write_part(definition.program(), chain, statement)?;
        }
        let launch = self.fused_launch(definition.program(), chain)?;
        let FusedNode { packed, param, .. } = &self.fused[chain];
        let values = Values { words: packed.words(), params: param };
        definition
            .driver
            .add_kernel(self.into, after, &launch, values, &mut self.scratch)
            .map_err(|failure| Error::driver(failure, Some(self.at(definition.program(), operation))))
    }

    /// Checks that a new record of a statement can still be a member of its chain: its configuration is that of the chain, and
    /// depends on no scalar that has a setter, but an expression of the user's may give another value each time.
    pub(crate) fn check_part(&self, program: &Program, statement: StatementId, new: &Record) -> Result<()> {
        let Some(operation) = self.operations.of_statement[statement] else { return Ok(()) };
        let (&Kind::Launch(old), Kind::Launch(new)) = (&self.records[statement], new) else {
            return Ok(());
        };
        if old.shape == new.shape {
            return Ok(());
        }
        let reason = format!(
            "is one of {} launches that are fused, and its configuration was {} when the graph was built and is {} now",
            self.operations.list[operation].sources.len(),
            old.shape,
            new.shape
        );
        Err(Error::BuildAgain { at: at_statement(program, statement), reason })
    }

    /// Changes the node of a chain to its parameters.
    pub(crate) fn patch_fused(
        &mut self,
        definition: &Definition,
        operation: OperationId,
        chain: ChainId,
    ) -> Result<()> {
        let launch = self.fused_launch(definition.program(), chain)?;
        let node = self.nodes[operation];
        let FusedNode { packed, param, .. } = &self.fused[chain];
        let values = Values { words: packed.words(), params: param };
        let set = definition.driver.set_kernel(self.exec, node, &launch, values, &mut self.scratch);
        set.map_err(|failure| {
            let operation = self.operations.list[operation].clone();
            Error::driver(failure, Some(self.at(definition.program(), &operation)))
        })
    }

    /// Writes a member's parameters. The node must be patched afterwards.
    pub(crate) fn write_part(
        &mut self,
        program: &Program,
        chain: ChainId,
        statement: StatementId,
    ) -> Result<()> {
        let operations = self.operations.clone();
        let members = &operations.chains[chain].members;
        let launch = launch_of(program, &self.records, statement)?;
        let words = &mut self.words[size(launch.first)..];
        address((&self.operations, self.pointed.as_ref()), &self.bases, (statement, &launch), words);
        let FusedNode { kernel, packed, .. } = &mut self.fused[chain];
        let part = members.iter().position(|&member| member == statement);
        let Some(places) = part.and_then(|part| kernel.table.parts.get(part)) else {
            return Err(Error::Plan(format!(
                "{} is no member of its chain",
                at_statement(program, statement)
            )));
        };
        let mut at = 0;
        for (param, &(offset, bytes)) in launch.kernel.params.iter().zip(places) {
            packed.put(offset, &words[at..at + param.words()], bytes);
            at += param.words();
        }
        Ok(())
    }

    /// Returns the configuration of a chain: that of its members, with the most shared memory.
    fn fused_launch(&self, program: &Program, chain: ChainId) -> Result<Launching> {
        let members = &self.operations.chains[chain].members;
        let mut launch = launch_of(program, &self.records, members[0])?.launching();
        for &member in members {
            launch.shared = launch.shared.max(launch_of(program, &self.records, member)?.shape.shared);
        }
        launch.function = self.fused[chain].kernel.info.function;
        Ok(launch)
    }
}
