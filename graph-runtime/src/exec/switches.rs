//! Switches statements off and on: disabled nodes of an exec do nothing.
//!
//! A disabled kernel or copy still orders its successors after its predecessors, by full edges; a disabled memset node
//! does not. The elements that its statement would have written keep their values, so these must be there.
//! `#[switchable]` sees to both, with edges around the node. A launch or copy without the attribute can be switched if
//! it happens to have a node of its own with full edges.

use std::collections::BTreeSet;

use cuweave_core::ir::{Mode, StatementId, StatementKind};
use cuweave_core::operation::{OperationId, OperationKind};
use cuweave_core::picture::without_places;

use crate::build::refuse_disabling;
use crate::error::{Error, Result, SwitchFault, at_statement};

use super::core::Core;

impl Core {
    /// See the generated `enable`.
    pub(crate) fn enable(&mut self, name: &str, on: bool) -> Result<()> {
        self.check_changeable()?;
        let statements = self.called(name)?;
        for &statement in &statements {
            if let Some(reason) = self.refuse_switch(statement) {
                let at = at_statement(self.definition.program(), statement);
                return Err(Error::NotSwitchable(at, reason));
            }
        }
        let changed = |&statement: &StatementId| self.built.state.disabled.contains(&statement) == on;
        let statements: Vec<StatementId> = statements.into_iter().filter(changed).collect();
        // The node of an empty statement stays disabled.
        let switch = |statement: &StatementId, on: bool| {
            let on = on && !self.built.state.empty.contains(statement);
            self.built.switch(&self.definition, *statement, on)
        };
        let switched = statements.iter().try_for_each(|statement| switch(statement, on));
        if switched.is_err() {
            self.broken |= statements.iter().any(|statement| switch(statement, !on).is_err());
            return switched;
        }
        for statement in statements {
            match on {
                true => self.built.state.disabled.remove(&statement),
                false => self.built.state.disabled.insert(statement),
            };
        }
        Ok(())
    }

    /// See the generated `is_enabled`.
    pub(crate) fn is_enabled(&self, name: &str) -> Result<bool> {
        let statements = self.called(name)?;
        Ok(!statements.iter().any(|statement| self.built.state.disabled.contains(statement)))
    }

    /// Returns the statements with this name: one of the source, in all iterations of its loops. A name without the
    /// lines and indices of calls stands for all of these.
    fn called(&self, name: &str) -> Result<Vec<StatementId>> {
        let (program, flat) = (self.definition.program(), &self.definition.flat);
        let is_meant = |own: &str| {
            own == name || without_places(own) == name || without_indices(&without_places(own)) == name
        };
        let found: Vec<StatementId> = program
            .statements
            .enumerate()
            .filter(|(_, statement)| !statement.kind.is_memory() && is_meant(&statement.name))
            .map(|(id, _)| id)
            .collect();
        // A short loop is unrolled in the program of its function, so its iterations share a line alone.
        let sources: BTreeSet<(usize, u32)> = found
            .iter()
            .map(|&id| (flat.frames[flat.instances[id].frame].table.address(), program.statements[id].line))
            .collect();
        let reason = match sources.len() {
            1 => return Ok(found),
            0 => {
                let switchable = program.statements.iter().filter(|statement| statement.switchable);
                let known: BTreeSet<String> =
                    switchable.map(|statement| statement.name.to_string()).collect();
                SwitchFault::Unknown { name: name.to_owned(), known: Vec::from_iter(known) }
            }
            statements => SwitchFault::Ambiguous { name: name.to_owned(), statements },
        };
        Err(Error::NotSwitchable(self.at_function(), reason))
    }

    /// Returns the reason if the node of a statement cannot be disabled.
    fn refuse_switch(&self, id: StatementId) -> Option<SwitchFault> {
        let statement = &self.definition.program().statements[id];
        if let Some(reason) = refuse_disabling(self.definition.program(), id) {
            return Some(reason);
        }
        if statement.switchable {
            return None;
        }
        if statement.kind == StatementKind::Fill(()) {
            return Some(SwitchFault::Fill);
        }
        let written = statement.accesses.iter().find(|access| access.mode == Mode::Write);
        if let Some(access) = written {
            let buffer = self.definition.program().buffers[access.buffer].name.to_string();
            return Some(SwitchFault::Writes { buffer });
        }
        let operations = &self.built.plan.operations;
        let Some(own) = operations.operation_of[id] else { return Some(SwitchFault::Merged) };
        let is_programmatic = |at: OperationId| operations.list[at].programmatic == Some(own);
        let operation = &operations.list[own];
        let alone = operation.sources.len() == 1 && matches!(operation.kind, OperationKind::Statement(_));
        let full = operation.programmatic.is_none() && !operations.list.ids().any(is_programmatic);
        (!alone || !full).then_some(SwitchFault::Merged)
    }
}

/// Returns the path of a statement without the indices of loops around calls: `layer.extra` for `layer[2].extra`.
fn without_indices(path: &str) -> String {
    path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
}
