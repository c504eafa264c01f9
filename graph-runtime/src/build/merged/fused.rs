//! The nodes of chains: the parameters of all members lie in one, in which a setter changes those of a member, and gives the
//! node all of it anew.

use cuweave_core::index::{narrow, size};
use cuweave_core::ir::{Kind, Program, StatementId};
use cuweave_core::launches::Stack;
use cuweave_core::operation::{ChainId, Operation, OperationId};

use crate::build::graph::definition::Definition;
use crate::build::graph::nodes::Nodes;
use crate::cuda::{Launching, Node, Values};
use crate::error::{Error, PlanFault, Result, at_statement};
use crate::statements::{Record, address, first_blocks, launch_of};

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
        self.write_grids(definition.program(), chain)?;
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
        let launch = launch_of(program, &self.records, statement)?;
        let words = &mut self.words[size(launch.first)..];
        address((&self.operations, self.pointed.as_ref()), &self.bases, (statement, &launch), words);
        let FusedNode { kernel, packed, .. } = &mut self.fused[chain];
        let position = operations.chains[chain].position(statement);
        let of = |(of, part): (usize, usize)| Some((kernel.record(of), kernel.table.parts.get(part)?));
        let Some((record, places)) = position.and_then(of) else {
            return Err(PlanFault::NoMember(at_statement(program, statement)).into());
        };
        let mut at = 0;
        for (param, &(offset, bytes)) in launch.kernel.params.iter().zip(places) {
            packed.put(record + offset, &words[at..at + param.words()], bytes);
            at += param.words();
        }
        Ok(())
    }

    /// Returns the configuration of a chain: that of its members, with the most shared memory, and the blocks of all stacked ones.
    fn fused_launch(&self, program: &Program, chain: ChainId) -> Result<Launching> {
        let chain_of = &self.operations.chains[chain];
        let mut launch = launch_of(program, &self.records, chain_of.members[0])?.launching();
        for &member in &chain_of.members {
            launch.shared = launch.shared.max(launch_of(program, &self.records, member)?.shape.shared);
        }
        launch.function = self.fused[chain].kernel.info.function;
        match chain_of.stack {
            Some(Stack { chains, axis: Some(axis) }) => launch.grid[usize::from(axis)] = narrow(chains),
            Some(Stack { axis: None, .. }) => {
                let firsts: Vec<StatementId> = chain_of.chains().map(|members| members[0]).collect();
                launch.grid = [first_blocks(program, &self.records, &firsts)?.1, 1, 1];
            }
            None => {}
        }
        Ok(launch)
    }

    /// Writes the grids of stacked chains whose blocks are consecutive, and their first blocks. No setter changes them.
    fn write_grids(&mut self, program: &Program, chain: ChainId) -> Result<()> {
        let operations = self.operations.clone();
        let chain_of = &operations.chains[chain];
        let Some(Stack { axis: None, .. }) = chain_of.stack else { return Ok(()) };
        let firsts: Vec<StatementId> = chain_of.chains().map(|members| members[0]).collect();
        let (blocks, all) = first_blocks(program, &self.records, &firsts)?;
        let FusedNode { kernel, packed, .. } = &mut self.fused[chain];
        let Some(table) = kernel.stack.as_ref().map(|stack| &stack.chains) else { return Ok(()) };
        for (offset, value) in table.search_words(&blocks, all) {
            packed.put_number(offset, value);
        }
        for (at, &first) in (0..).zip(&firsts) {
            let grid = launch_of(program, &self.records, first)?.shape.grid;
            let Some(offset) = table.grid else { continue };
            for (axis, extent) in (0..).zip(grid) {
                packed.put_number(table.records + at * table.stride + offset + 4 * axis, extent);
            }
        }
        Ok(())
    }
}
