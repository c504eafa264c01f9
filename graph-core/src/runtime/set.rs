//! Setters: an argument of an instantiated graph changes, and only the nodes that use it.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::ir::StatementId;

use super::bind::Bound;
use super::build::{check_new_overlap, check_operands};
use super::core::{Core, NodeParams};
use super::driver::{Event, Values};
use super::error::{At, Error, Result};
use super::evaluate::{Evaluation, Open, Recorded};
use super::graph::{ExecCore, GraphFn, Token};
use super::operand::{Operand, Visitor};
use super::output::{HandedOver, Output, OutputDescription};

impl<A: GraphFn> ExecCore<A> {
    /// Launches, and hands over a tuple of outputs: see the generated `launch`.
    pub fn launch(&mut self, stream: &Arc<CudaStream>, mut taken: impl HandedOver) -> Result<()> {
        taken.with(&mut |taken| self.core.launch(stream, taken))
    }

    /// The output of that number of the last launch. Each can be taken once a launch.
    pub fn output<T: 'static>(&self, index: impl TryInto<usize>) -> Result<Output<'_, T>> {
        self.core.output(number(index))
    }

    /// The description of an output.
    pub fn description<T>(&self, index: impl TryInto<usize>) -> OutputDescription<T> {
        OutputDescription::of(&self.core.slots[number(index)])
    }

    /// Binds an argument anew. `first` is its first buffer in the program.
    pub fn set_buffer<B: Bound>(
        &mut self,
        first: u32,
        mut value: B,
        place: impl FnOnce(&mut A) -> &mut B,
    ) -> Result<()> {
        let core = &mut self.core;
        core.changeable()?;
        let first = first as usize;
        let mut visitor = Visitor::new(&core.ctx, &mut core.owners);
        value.visit(&mut visitor);
        let new = visitor.finish()?;
        check_operands(core.program, &core.dims, first, &new)?;
        check_new_overlap(core.program, &core.dims, first, &new, &core.operands)?;
        core.rebind(first, &new)?;

        std::mem::swap(place(&mut self.args), &mut value);
        let old: Vec<Operand> = new
            .into_iter()
            .enumerate()
            .map(|(at, operand)| {
                core.count(&operand, true);
                std::mem::replace(&mut core.operands[first + at], operand)
            })
            .collect();
        // What was owned is dropped here, and freed behind the last launch.
        if core.retire(&old) {
            core.driver.relaxed(|| drop(value))
        } else {
            std::mem::forget(value)
        }
        Ok(())
    }

    /// Sets a scalar argument.
    pub fn set_scalar<T>(&mut self, index: usize, value: T, place: impl Fn(&mut A) -> &mut T) -> Result<()> {
        let scalar = &self.core.table.scalars[index];
        self.core.changeable()?;
        if scalar.dims {
            let file = self.core.program.file.to_string();
            return Err(Error::BuildAgain {
                at: Box::new(At { name: scalar.name.to_string(), file, line: scalar.line }),
                reason: "reaches a length or a bound, and cannot be set".to_owned(),
            });
        }
        let old = std::mem::replace(place(&mut self.args), value);
        // Evaluating runs the user's expressions, which may panic: then the old value is put back, too.
        let mut change = Change { exec: self, place, old: Some(old) };
        let (records, open) = change.exec.evaluate(&scalar.statements)?;
        change.exec.core.exchange(&scalar.statements, records)?;
        change.exec.core.note_open(&scalar.statements, open);
        change.old = None;
        Ok(())
    }

    /// New records of statements, with their words in the spare room.
    fn evaluate(&mut self, statements: &[StatementId]) -> Result<(Vec<Recorded>, Open)> {
        let core = &mut self.core;
        let room = (statements.len(), std::mem::take(&mut core.spare));
        let mut evaluation = Evaluation::new(core.program, &core.dims, &core.limits, &mut core.modules, room);
        for &statement in statements {
            let step = core.table.steps[statement as usize];
            evaluation.one(statement, |evaluation| self.args.evaluate(step, evaluation, Token))?;
        }
        let (mut records, mut words, open) = evaluation.into_parts();
        // The user's expressions may have made another context current.
        core.driver.enter(core.context)?;
        for (&statement, record) in statements.iter().zip(&mut records) {
            *record = core.resolve(statement, *record, &mut words)?;
        }
        core.spare = words;
        Ok((records, open))
    }
}

/// A scalar argument that is being set. Dropped before it is complete, it puts the old value back.
struct Change<'e, A: GraphFn, T, P: Fn(&mut A) -> &mut T> {
    exec: &'e mut ExecCore<A>,
    place: P,
    old: Option<T>,
}

impl<A: GraphFn, T, P: Fn(&mut A) -> &mut T> Drop for Change<'_, A, T, P> {
    fn drop(&mut self) {
        if let Some(old) = self.old.take() {
            *(self.place)(&mut self.exec.args) = old;
        }
    }
}

/// A literal of generated code, of whatever integer type.
fn number(index: impl TryInto<usize>) -> usize {
    index.try_into().unwrap_or(usize::MAX)
}

impl Core {
    /// Notes anew what statements are not proved to write.
    pub(super) fn note_open(&mut self, statements: &[StatementId], open: Open) {
        for statement in statements {
            self.open.remove(statement);
        }
        self.open
            .extend(open.into_iter().map(|(statement, kernel, findings)| (statement, (kernel, findings))));
    }

    fn changeable(&self) -> Result<()> {
        if self.broken {
            return Err(Error::Unusable { function: self.program.name.to_string() });
        }
        super::context::enter(self.driver, &self.ctx)
    }

    /// Gives a node what its statement's record says.
    pub(super) fn patch(&mut self, statement: StatementId) -> Result<()> {
        let Some(operation) = self.operations.of_statement[statement as usize] else { return Ok(()) };
        let node = self.nodes[operation as usize];
        let (driver, exec) = (self.driver, self.exec);
        let set = match self.node_of(statement)? {
            NodeParams::Launch(launch, first, params) => {
                let values = Values { words: &self.words[first..], params };
                driver.set_kernel(exec, node, &launch, values, &mut self.scratch)
            }
            NodeParams::Fill(fill) => driver.set_fill(exec, node, &fill, self.context),
            NodeParams::Copy { from, to, bytes } => {
                driver.set_copy(exec, node, from, to, bytes, self.context)
            }
        };
        set.map_err(|failure| {
            Error::driver(failure, Some(super::build::at_statement(self.program, statement)))
        })
    }

    /// Gives the nodes of statements what their records say: each node once, whatever many of the statements are its.
    pub(super) fn patch_all(&mut self, statements: &[StatementId]) -> Result<()> {
        let mut batches = Vec::new();
        for &statement in statements {
            match self.operations.of_statement[statement as usize] {
                Some(operation) if self.operations.list[operation as usize].sources.len() > 1 => {
                    self.write_to_batch(statement, operation)?;
                    batches.push(operation);
                }
                _ => self.patch(statement)?,
            }
        }
        batches.sort_unstable();
        batches.dedup();
        batches.into_iter().try_for_each(|operation| self.patch_batch(operation))
    }

    /// Puts new records in the place of old ones, in the graph too; on failure everything is put back.
    fn exchange(&mut self, statements: &[StatementId], mut records: Vec<Recorded>) -> Result<()> {
        let swap = |core: &mut Core, records: &mut [Recorded]| {
            statements.iter().zip(records).for_each(|(&statement, record)| core.swap(statement, record));
        };
        statements.iter().zip(&records).try_for_each(|(&id, record)| self.check_member(id, record))?;
        swap(self, &mut records);
        self.patch_all(statements).inspect_err(|_| {
            swap(self, &mut records);
            self.put_back(statements);
        })
    }

    /// Swaps a statement's record with one whose words are in the spare room.
    fn swap(&mut self, statement: StatementId, other: &mut Recorded) {
        let record = &mut self.records[statement as usize];
        let ((here, count), (there, _)) = (record.words(), other.words());
        self.words[here..here + count].swap_with_slice(&mut self.spare[there..there + count]);
        let old = record.at(there);
        *record = other.at(here);
        *other = old;
    }

    fn put_back(&mut self, statements: &[StatementId]) {
        self.broken |= self.patch_all(statements).is_err();
    }

    /// The statements that use the buffers from `first` on.
    fn users(&mut self, first: usize, count: usize) -> Vec<StatementId> {
        if self.users.is_empty() {
            self.users = vec![Vec::new(); self.operands.len()];
            for (statement, declared) in (0..).zip(self.program.statements.iter()) {
                for access in declared.accesses.iter() {
                    let users = self.users.get_mut(access.buffer as usize);
                    if let Some(users) = users.filter(|users| users.last() != Some(&statement)) {
                        users.push(statement);
                    }
                }
            }
        }
        match &self.users[first..first + count] {
            [users] => users.clone(),
            many => {
                let mut users = many.concat();
                users.sort_unstable();
                users.dedup();
                users
            }
        }
    }

    /// Gives the nodes that use them the addresses of new operands; on failure those of the old ones again.
    fn rebind(&mut self, first: usize, new: &[Operand]) -> Result<()> {
        let users = self.users(first, new.len());
        self.set_bases(first, new.iter().map(|operand| operand.address));
        let readdress = |core: &mut Core| users.iter().try_for_each(|&statement| core.readdress(statement));
        readdress(self).and_then(|()| self.patch_all(&users)).inspect_err(|_| {
            let old: Vec<u64> =
                self.operands[first..first + new.len()].iter().map(|operand| operand.address).collect();
            self.set_bases(first, old.into_iter());
            self.broken |= readdress(self).is_err();
            self.put_back(&users);
        })
    }

    fn set_bases(&mut self, first: usize, addresses: impl Iterator<Item = u64>) {
        self.bases[first..].iter_mut().zip(addresses).for_each(|(base, address)| *base = address);
    }

    pub(super) fn readdress(&mut self, statement: StatementId) -> Result<()> {
        let mut words = std::mem::take(&mut self.words);
        let record = self.resolve(statement, self.records[statement as usize], &mut words);
        self.words = words;
        self.records[statement as usize] = record?;
        Ok(())
    }

    /// Replaced operands: borrowed ones stay borrowed as long as the exec's type says so, and are given back at
    /// its end; owned ones are given back now.
    /// Returns whether what follows on those is known to come after the last launch.
    fn retire(&mut self, old: &[Operand]) -> bool {
        old.iter().for_each(|operand| self.count(operand, false));
        for operand in old.iter().filter(|operand| operand.borrowed) {
            if let Some(owner) = operand.owner {
                let events = [operand.read, operand.write].into_iter().filter(|&event| event != Event::NONE);
                self.retired.extend(events.map(|event| (event, owner)));
            }
        }
        self.give_back(old.iter().filter(|operand| !operand.borrowed))
    }
}
