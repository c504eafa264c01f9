//! Setters: change an argument of an instantiated graph and patch the nodes that use it.
//!
//! A buffer setter checks the new operands and writes their addresses into the nodes. A setter of scalars is an
//! edit (`edit`): it reevaluates the statements that depend on them, replaces their records and patches their nodes.
//! Bounds that depend on them are moved first, by a fast path if there is one. After a failure the old values are
//! restored; if that fails, too, the exec is unusable.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use cuweave_core::ids::ArgumentId;
use cuweave_core::ids::ScalarId;
use cuweave_core::index::{Index, size};
use cuweave_core::ir::{BufferId, StatementId, Text};
use cuweave_core::settable_bounds::{BoundUpdate, SetterEffects};

use crate::bind::{Bound, HandedOutputs, Operand, Output, OutputDescription, Prologue, RangedHint, Visitor};
use crate::build::annotate;
use crate::build::{
    Aliases, Body, BodyEvaluator, Definition, apply_hints, check_allocated, check_host_statements,
    check_limits, check_member, check_moved_ranges, check_new_overlap, check_operands, check_pinned_launches,
    check_ranged, check_same_devices,
};
use crate::context;
use crate::error::{
    Error, MemoryKind, PlanFault, Result, SetterFault, SourceLocation, at_buffer, at_function, at_statement,
};
use crate::statements::{Evaluation, StatementRecord, StatementRecordExt, StatementValues, UnprovedLaunches};

use super::core::Core;
use super::graph::{ExecCore, GraphFn};
use super::release::release_operands;

impl<A: GraphFn> ExecCore<A> {
    /// Launches with a tuple of the outputs to take over: see the generated `launch`.
    pub fn launch(&mut self, stream: &Arc<CudaStream>, mut taken: impl HandedOutputs) -> Result<()> {
        taken.with(&mut |taken| {
            if self.core.counting.launches == 0 {
                self.core.ready()?;
                self.begin()?;
                self.verify_first(stream, taken)?;
            }
            self.core.launch(stream, taken)
        })
    }

    /// Returns output `index` of the last launch. Each output can be taken once per launch.
    pub fn output<T: 'static>(&self, index: impl TryInto<usize>) -> Result<Output<'_, T>> {
        self.core.output(number(index))
    }

    /// Returns the description of an output.
    pub fn description<T>(&self, index: impl TryInto<usize>) -> OutputDescription<T> {
        OutputDescription::from_slot(&self.core.operands.slots[number(index)])
    }

    /// Binds an argument to another buffer. `first` is the index of its first buffer in the program.
    pub fn set_buffer<B: Bound>(
        &mut self,
        first: u32,
        mut value: B,
        place: impl FnOnce(&mut A) -> &mut B,
    ) -> Result<()> {
        let old = self.core.replace_buffers(size(first), &mut value)?;
        std::mem::swap(place(&mut self.args), &mut value);
        self.core.release(&old, value);
        Ok(())
    }
}

/// The hints whose ranges a setter moves.
#[derive(Debug, Default)]
pub(super) struct MovedHints {
    /// The index of each operand, and its new hints.
    hints: Vec<(usize, Vec<RangedHint>)>,
    prologues: Vec<Prologue>,
}

impl Core {
    /// Checks the hints that differ for the present values of the arguments, which `present` returns, and those about
    /// the buffers `resized`, whose lengths have changed, and gives their advice. Advice about elements that a range
    /// leaves remains.
    pub(super) fn moved_hints(
        &self,
        present: &dyn Fn() -> Vec<(usize, Vec<RangedHint>)>,
        resized: &[BufferId],
    ) -> Result<MovedHints> {
        let operands = &self.operands.list;
        let operand = |buffer: &BufferId| operands.get(buffer.index());
        let is_hinted = |buffer: &BufferId| operand(buffer).is_some_and(|operand| !operand.hints.is_empty());
        if !operands.iter().any(Operand::has_ranged_hints) && !resized.iter().any(is_hinted) {
            return Ok(MovedHints::default());
        }
        let mut hints = present();
        hints.retain(|(at, hints)| {
            let buffer = BufferId::new(*at);
            operand(&buffer).is_some_and(|operand| operand.hints != *hints || resized.contains(&buffer))
        });
        let Definition { driver, contexts, context, .. } = &self.definition;
        // The user's expressions may have changed the current context.
        driver.enter(*context)?;
        let hinted = hints.iter().map(|(at, hints)| (*at, &operands[*at], hints.as_slice()));
        let (program, dims) = (self.definition.program(), self.definition.dims());
        let prologues = apply_hints(program, dims, driver, contexts, hinted)?;
        Ok(MovedHints { hints, prologues })
    }

    /// Replaces hints after all checks of a setter.
    pub(super) fn install_hints(&mut self, moved: MovedHints) {
        let MovedHints { hints, prologues } = moved;
        for (at, hints) in hints {
            self.operands.list[at].hints = hints;
        }
        if !prologues.is_empty() {
            self.operands.prologues.install(prologues);
        }
    }

    /// Checks that a scalar can be set.
    pub(super) fn check_settable(&mut self, scalar: ScalarId) -> Result<()> {
        self.check_changeable()?;
        if let Some(reason) = SetterFault::of(&self.definition.flat, scalar) {
            let scalar = &self.definition.flat.scalars[scalar];
            let at =
                Box::new(SourceLocation::new(&*scalar.name, &*self.definition.program().file, scalar.line));
            return Err(Error::BuildAgain { at, reason });
        }
        Ok(())
    }

    /// Applies the new values of scalars, which `body` already returns. `scalars` is ascending. `shift` receives the
    /// old values of bounds.
    pub(super) fn set(
        &mut self,
        body: &dyn Body,
        scalars: &[ScalarId],
        shift: &mut OldBounds,
        hints: &dyn Fn() -> Vec<(usize, Vec<RangedHint>)>,
    ) -> Result<()> {
        let edit = self.prepare(scalars, body);
        let effects = self.edits[edit].effects.clone();
        let SetterEffects { evaluated, follow, buffers, .. } = &*effects;
        check_limits(&self.definition.flat, body, &self.edits[edit].limited)?;
        self.move_bounds(body, edit, &effects, shift)?;
        let hints = self.moved_hints(hints, buffers)?;
        let (records, unproved) = self.evaluate(body, evaluated)?;
        let calls = evaluated.iter().chain(follow).copied();
        let mut changed = self.built.changed_calls(&self.definition, body, calls)?;
        self.replace_children(&mut changed)?;
        if let Err(error) = self.replace_records(evaluated, follow, records, shift) {
            self.restore_children(&mut changed);
            return Err(error);
        }
        self.built.state.record_unproved(evaluated, unproved);
        if self.built.state.hosts.has_statements() {
            annotate::update_host_accesses(&self.built.annotated(&self.definition));
        }
        self.install_hints(hints);
        Ok(())
    }

    /// Reevaluates statements. Returns their new records; the records' words are stored in `spare`.
    pub(super) fn evaluate(
        &mut self,
        body: &dyn Body,
        statements: &[StatementId],
    ) -> Result<(Vec<StatementRecord>, UnprovedLaunches)> {
        let core = self;
        if statements.is_empty() {
            core.definition.driver.enter(core.definition.context)?;
            return Ok((Vec::new(), UnprovedLaunches::new()));
        }
        let spare = std::mem::take(&mut core.built.state.spare);
        let mut evaluation = Evaluation::new(
            core.definition.flat.checked.program(),
            &core.definition.dims,
            &core.definition.limits,
            &mut core.definition.modules,
            &core.definition.empty_at_zero.statements,
            statements.len(),
            spare,
        );
        evaluation.statements(&core.definition.flat, body, statements)?;
        let StatementValues { mut records, mut words, unproved, works } = evaluation.finish();
        core.built
            .state
            .hosts
            .adopt(works, core.built.state.records.iter().filter_map(StatementRecord::work));
        // The user's expressions may have changed the current context.
        core.definition.driver.enter(core.definition.context)?;
        for (&statement, record) in statements.iter().zip(&mut records) {
            *record = core.built.resolve(&mut core.definition, statement, *record, &mut words)?;
        }
        core.built.state.spare = words;
        Ok((records, unproved))
    }

    /// Recomputes the bounds that an edit changes and checks the ranges.
    fn move_bounds(
        &mut self,
        body: &dyn Body,
        edit: usize,
        effects: &SetterEffects,
        shift: &mut OldBounds,
    ) -> Result<()> {
        if effects.is_empty() {
            return Ok(());
        }
        let Core { definition, built, edits, .. } = self;
        let flat = definition.flat.clone();
        if let Some(linear) = &mut edits[edit].linear
            && linear.evaluate(body, &flat.frames)
        {
            linear.store(definition, built);
            shift.linear = Some(edit);
            return Ok(());
        }
        let Definition { dims, symbols, empty_at_zero, .. } = definition;
        let pointed = &mut built.state.pointed;
        let changed =
            flat.moves.shift(effects, &mut BodyEvaluator::new(body), &flat.frames, dims, symbols)?;
        let changed = shift.moved.insert(changed);
        changed.swap(dims, symbols, pointed.as_mut());
        check_moved_ranges(effects, &flat, dims, &empty_at_zero.buffers)?;
        if let Some(pointed) = pointed {
            changed.point(effects, &built.plan.operations, flat.checked.program(), dims, pointed);
        }
        Ok(())
    }

    /// Restores the old values of bounds.
    pub(super) fn restore(&mut self, shift: &mut OldBounds) {
        let mut shift = std::mem::take(shift);
        if let Some(moved) = &mut shift.moved {
            let Definition { dims, symbols, .. } = &mut self.definition;
            moved.swap(dims, symbols, self.built.state.pointed.as_mut());
        }
        let linear = shift.linear.and_then(|edit| self.edits.get_mut(edit)?.linear.as_mut());
        if let Some(linear) = linear {
            linear.restore(&mut self.definition, &mut self.built);
        }
    }
}

/// The values of bounds before a setter changed them.
#[derive(Debug, Default)]
pub(super) struct OldBounds {
    moved: Option<BoundUpdate>,
    /// The edit whose fast path changed the bounds. `moved` is then `None`.
    linear: Option<usize>,
}

/// Converts a literal of any integer type from generated code.
fn number(index: impl TryInto<usize>) -> usize {
    index.try_into().unwrap_or(usize::MAX)
}

impl Core {
    /// Replaces the buffers from index `first` on by those of `value`, and returns the replaced operands. The
    /// caller must store the value among the arguments.
    pub(super) fn replace_buffers<B: Bound>(&mut self, first: usize, value: &mut B) -> Result<Vec<Operand>> {
        let core = self;
        core.check_changeable()?;
        let mut visitor = Visitor::new(&core.definition.contexts, &mut core.operands.owners);
        value.visit(&mut visitor);
        let mut new = visitor.finish()?;
        for (operand, old) in new.iter_mut().zip(core.operands.list.iter().skip(first)) {
            operand.hints = old.hints.clone();
        }
        check_operands(core.definition.program(), core.definition.planned_lengths(), first, &new)?;
        let definition = &core.definition;
        check_pinned_launches(definition.driver, definition.context, definition.program(), first, &new)?;
        core.check_new_devices(first, &new)?;
        core.check_new_aliases(first, &new)?;
        if core.built.state.hosts.has_statements() {
            check_host_statements(core.definition.program(), first, &new)?;
        }
        let apart = check_new_overlap(
            core.definition.program(),
            core.definition.planned_lengths(),
            first,
            &new,
            &core.operands.list,
        );
        // Several setters in a row may swap buffers, so the next launch checks an overlap of shared buffers again.
        let exchanged = apart.is_err() && new.iter().any(|operand| operand.shared.is_some());
        if !exchanged {
            apart?;
        }
        core.check_not_captured(first, new.len())?;
        core.check_not_freed(first, &new)?;
        let driver = core.definition.driver;
        let (program, dims) = (core.definition.program(), core.definition.dims());
        let hinted = (first..).zip(&new).map(|(at, operand)| (at, operand, operand.hints.as_slice()));
        let prologues = apply_hints(program, dims, driver, &core.definition.contexts, hinted)?;
        core.rebind(first, &new)?;
        core.operands.prologues.replace(driver, first, new.len(), prologues)?;
        annotate::update_addresses(&core.built.annotated(&core.definition));
        core.operands.exchanged |= exchanged;
        let old: Vec<Operand> = new
            .into_iter()
            .enumerate()
            .map(|(at, operand)| {
                core.operands.count(&operand, true);
                operand.note_exec(&core.in_flight.done);
                std::mem::replace(&mut core.operands.list[first + at], operand)
            })
            .collect();
        // Frees what the last launch returned, if its handle was forgotten.
        core.operands.rebind(first, old.len()).iter().for_each(|slot| slot.retire(core.id));
        Ok(old)
    }

    /// Checks that new operands have the same bytes in common with mapped multicast objects as the ones that they
    /// replace.
    fn check_new_aliases(&self, first: usize, new: &[Operand]) -> Result<()> {
        let Definition { mappings, aliases, .. } = &self.definition;
        if mappings.is_empty() {
            return Ok(());
        }
        let (before, rest) = self.operands.list.split_at(first);
        let operands: Vec<&Operand> = before.iter().chain(new).chain(&rest[new.len()..]).collect();
        let program = self.definition.program();
        match Aliases::new(program, self.definition.planned_lengths(), &operands) == *aliases {
            true => Ok(()),
            false => {
                let at = at_buffer(program, BufferId::new(first));
                Err(Error::BuildAgain { at, reason: SetterFault::OtherViews })
            }
        }
    }

    /// Checks that new operands lie on the same devices as the ones they replace, and enables access from the
    /// devices that use them.
    fn check_new_devices(&self, first: usize, new: &[Operand]) -> Result<()> {
        let Definition { driver, contexts, peers, context, .. } = &self.definition;
        let program = self.definition.program();
        check_allocated(program, contexts, first, new, &self.operands.list)?;
        if contexts.len() == 1 {
            return Ok(());
        }
        check_same_devices(program, first, new, &self.operands.list)?;
        let mut opened = (first..).map(BufferId::new).zip(new);
        let opened =
            opened.try_for_each(|(buffer, new)| peers.enable_access(program, driver, contexts, buffer, new));
        driver.enter(*context)?;
        opened
    }

    /// Drops a replaced value. An owned buffer in it is freed after the last launch.
    pub(super) fn release<B>(&mut self, old: &[Operand], value: B) {
        if self.retire(old) {
            self.definition.driver.relaxed(|| drop(value));
        } else {
            std::mem::forget(value);
        }
    }

    pub(super) fn check_changeable(&mut self) -> Result<()> {
        if self.broken {
            return Err(Error::Unusable { function: self.definition.program().name.to_string() });
        }
        self.check_hosts()?;
        context::enter(self.definition.driver, &self.definition.ctx)?;
        self.ready()
    }

    /// Returns an error if a host statement panicked and no call has reported it yet.
    pub(super) fn check_hosts(&self) -> Result<()> {
        match self.built.state.hosts.take_fault() {
            None => Ok(()),
            Some((statement, message)) => {
                Err(Error::HostPanicked { at: at_statement(self.definition.program(), statement), message })
            }
        }
    }

    /// Replaces the records of `statements` and patches their nodes. Of the statements in `follow` only the
    /// addresses change. `shift` holds the old values of bounds. On failure everything is restored.
    pub(super) fn replace_records(
        &mut self,
        statements: &[StatementId],
        follow: &[StatementId],
        mut records: Vec<StatementRecord>,
        shift: &mut OldBounds,
    ) -> Result<()> {
        let swap = |core: &mut Core, records: &mut [StatementRecord]| {
            statements
                .iter()
                .zip(records)
                .for_each(|(&statement, record)| core.built.state.swap(statement, record));
        };
        statements
            .iter()
            .zip(&records)
            .try_for_each(|(&id, record)| check_member(&self.built, self.definition.program(), id, record))?;
        swap(self, &mut records);
        let all = || statements.iter().chain(follow).copied();
        let checked = match self.definition.ranged.is_empty() {
            true => Ok(()),
            false => check_ranged(&self.built, self.definition.program(), statements),
        };
        let readdressed = checked.and_then(|()| self.built.readdress_all(&mut self.definition, follow));
        readdressed.and_then(|()| self.built.patch_all(&self.definition, all())).inspect_err(|_| {
            swap(self, &mut records);
            self.restore(shift);
            self.broken |= self.built.readdress_all(&mut self.definition, follow).is_err();
            self.restore_parameters(all());
        })
    }

    fn restore_parameters(&mut self, statements: impl Iterator<Item = StatementId>) {
        self.broken |= self.built.patch_all(&self.definition, statements).is_err();
    }

    /// Returns the statements that use any of the `count` buffers from `first` on. Sorted, unique.
    fn users(&mut self, first: usize, count: usize) -> Vec<StatementId> {
        if self.users.is_empty() {
            self.users = vec![Vec::new(); self.operands.list.len()];
            for (statement, declared) in self.definition.program().statements.enumerate() {
                for access in declared.accesses.iter() {
                    let users = self.users.get_mut(access.buffer.index());
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

    /// Checks that no pitched copy, library call or condition uses the buffers: their nodes keep their addresses.
    fn check_not_captured(&mut self, first: usize, count: usize) -> Result<()> {
        let users = self.users(first, count);
        let is_node = |statement: StatementId| !self.built.state.as_kernels[statement];
        let pitched = users
            .iter()
            .find(|&&statement| self.definition.flat.is_pitched_copy(statement) && is_node(statement));
        if let Some(&copy) = pitched {
            let program = self.definition.program();
            let buffer = program.buffers[BufferId::new(first)].name.to_string();
            let reason = SetterFault::RowsOf { buffer };
            return Err(Error::BuildAgain { at: at_statement(program, copy), reason });
        }
        match users.into_iter().find(|&statement| self.definition.flat.is_captured(statement)) {
            None => {}
            Some(call) => {
                let program = self.definition.program();
                let buffer = program.buffers[BufferId::new(first)].name.to_string();
                let reason = SetterFault::KeptByCall { buffer };
                return Err(Error::BuildAgain { at: at_statement(program, call), reason });
            }
        }
        let program = self.definition.program();
        let given = BufferId::new(first)..BufferId::new(first + count);
        let decides = program.statements.enumerate().find(|(_, statement)| {
            let own = statement.kind.own_accesses(&statement.accesses);
            statement.kind.is_body_border() && own.iter().any(|access| given.contains(&access.buffer))
        });
        match decides {
            None => Ok(()),
            Some((condition, _)) => {
                let buffer = program.buffers[BufferId::new(first)].name.to_string();
                let reason = SetterFault::KeptByCondition { buffer };
                Err(Error::BuildAgain { at: at_statement(program, condition), reason })
            }
        }
    }

    /// Checks that taken-over operands that the graph frees keep their addresses. The driver cannot update or disable
    /// nodes that free memory.
    fn check_not_freed(&self, first: usize, new: &[Operand]) -> Result<()> {
        let (program, old) = (self.definition.program(), self.operands.list.iter().skip(first));
        let changed = (first..).map(BufferId::new).zip(new.iter().zip(old));
        let mut moved = changed.filter(|(_, (new, old))| new.address != old.address);
        match moved.find(|(at, (new, _))| new.kind == MemoryKind::Taken && !program.outputs.contains(at)) {
            None => Ok(()),
            Some((at, _)) => {
                Err(Error::BuildAgain { at: at_buffer(program, at), reason: SetterFault::Freed })
            }
        }
    }

    /// Writes the addresses of new operands into the nodes that use them. Restores the old addresses on failure.
    fn rebind(&mut self, first: usize, new: &[Operand]) -> Result<()> {
        let users = self.users(first, new.len());
        self.built.set_bases(BufferId::new(first), new.iter().map(|operand| operand.address));
        let readdress = |core: &mut Core| core.built.readdress_all(&mut core.definition, &users);
        let patched = |core: &mut Core| core.built.patch_all(&core.definition, users.iter().copied());
        readdress(self).and_then(|()| patched(self)).inspect_err(|_| {
            let old: Vec<u64> =
                self.operands.list[first..first + new.len()].iter().map(|operand| operand.address).collect();
            self.built.set_bases(BufferId::new(first), old.into_iter());
            self.broken |= readdress(self).is_err();
            self.restore_parameters(users.iter().copied());
        })
    }

    /// Retires replaced operands: owned ones now, borrowed ones when the exec is dropped. Returns true if
    /// later uses of the owned ones are ordered after the last launch.
    fn retire(&mut self, old: &[Operand]) -> bool {
        self.operands.replaced(old);
        release_operands(self, old.iter().filter(|operand| !operand.borrowed))
    }

    /// Returns the source location of the graph function.
    pub(super) fn at_function(&self) -> Box<SourceLocation> {
        at_function(self.definition.program())
    }

    /// Returns the statements that depend on the scalar `field` of a record, or an error if it cannot be set.
    /// `path` leads to the record; `name` names it in messages.
    pub(super) fn settable_field(
        &mut self,
        argument: ArgumentId,
        path: &[Text],
        name: &str,
        field: &'static str,
    ) -> Result<Vec<StatementId>> {
        let path: Vec<Text> = path.iter().cloned().chain([field.into()]).collect();
        self.check_changeable()?;
        let Some(scalar) = self.definition.flat.field(argument, &path) else {
            return Err(PlanFault::NoScalar { record: name.to_owned(), field }.into());
        };
        if let Some(reason) = SetterFault::of(&self.definition.flat, scalar) {
            let mut at = self.at_function();
            at.name = format!("{name}.{field}");
            return Err(Error::BuildAgain { at, reason });
        }
        Ok(self.definition.flat.scalars[scalar].statements.clone())
    }

    /// Replaces the records of statements that were reevaluated for a scalar of a record.
    pub(super) fn replace_field_records(
        &mut self,
        statements: &[StatementId],
        records: Vec<StatementRecord>,
        unproved: UnprovedLaunches,
    ) -> Result<()> {
        self.replace_records(statements, &[], records, &mut OldBounds::default())?;
        self.built.state.record_unproved(statements, unproved);
        Ok(())
    }
}
