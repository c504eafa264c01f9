//! The arms of a builder's conditional statement: adds the condition before the arm's closure runs and the
//! join after it, also if the closure fails or panics.

use std::any::TypeId;
use std::ops::Not;

use cuweave_core::codes::Code;
use cuweave_core::condition::{ArmValues, Condition, ConditionKeyword};
use cuweave_core::index::{Index, narrow};
use cuweave_core::ir::{Access, BufferId, Device, DimId, Mode, Origin, StatementId};
use cuweave_core::kind::StatementKind;

use crate::error::{Refusal, Result};

use super::bound::ElementType;
use super::declarations::Builder;
use super::handle::{Argument, CallSite};
use super::messages;
use super::program::{NextStatement, Program, StatementSite};
use super::size::ToSize;

/// A decision of the device: a buffer of one `u32`, `i32`, `u8` or `bool`. The body runs if it is not
/// 0; with `!flag`, if it is 0.
#[derive(Clone, Debug)]
pub struct Decision {
    pub(super) operand: Argument,
    pub(super) negated: bool,
}

impl Not for Decision {
    type Output = Decision;

    fn not(self) -> Decision {
        Decision { negated: !self.negated, ..self }
    }
}

/// A conditional statement whose arms are being added.
pub(super) struct OpenConditional {
    /// The id of the builder.
    builder: u64,
    place: CallSite,
    pub name: String,
    word: ConditionKeyword,
    device: Device,
    /// The accesses of the operand and, in a bounded loop, of the counter.
    condition_accesses: Vec<Access>,
    at_most: Option<u32>,
    after: Vec<StatementId>,
    /// The condition and the join of each arm.
    pub begin_and_join: Vec<[StatementId; 2]>,
    /// True if an arm was dropped because it has no statement.
    has_empty_arm: bool,
}

impl Program {
    /// Begins a conditional statement.
    pub(super) fn conditional(
        &mut self,
        place: CallSite,
        word: ConditionKeyword,
        at_most: Option<u32>,
        decision: &Decision,
    ) -> Result<OpenConditional> {
        let (name, after) = self.begin_statement(place, word.name())?;
        let device = self.cursor.taken.take().unwrap_or_else(|| self.device_of_body());
        let site = StatementSite { place, name: &name };
        let operand = self.operand(&site, word, &decision.operand)?;
        if at_most == Some(0) {
            let message = "`while_at_most` takes a number of turns, from 1 on";
            return Err(self.refuse(&site, Code::CW001, message, None));
        }
        if self.is_condition(operand.buffer) {
            self.check_decides_once(&site, word, operand.buffer, at_most)?;
        }
        let mut own = vec![operand];
        own.extend(at_most.map(|_| self.counter(place, device)));
        let builder = self.builder;
        Ok(OpenConditional {
            builder,
            place,
            name,
            word,
            device,
            condition_accesses: own,
            at_most,
            after,
            begin_and_join: Vec::new(),
            has_empty_arm: false,
        })
    }

    /// Checks the operand of a conditional and returns its access.
    fn operand(
        &mut self,
        site: &StatementSite<'_>,
        word: ConditionKeyword,
        operand: &Argument,
    ) -> Result<Access> {
        let word = word.name();
        let access = self.transfer_access(site, operand, word, Mode::Read)?;
        let text = self.argument_text(operand);
        let text = text.trim_start_matches('&');
        let of = |dim: DimId| &self.bounds.dims[dim].1;
        let length = of(access.hi).minus(of(access.lo)).and_then(|length| length.as_constant());
        if length != Some(1) {
            let message =
                format!("`{word}` needs a buffer of one element, and `{text}` is not known to be one");
            let help = "declare it with the length 1, or take a part: `x.range(i, i + 1)`";
            return Err(self.refuse(site, Code::CW001, &message, Some(help)));
        }
        let (element, name) = self.element(access.buffer);
        let deciding = [TypeId::of::<u32>(), TypeId::of::<i32>(), TypeId::of::<u8>(), TypeId::of::<bool>()];
        if !deciding.contains(&element) && !self.is_condition(access.buffer) {
            let message = format!(
                "`{word}` decides by a `u32`, `i32`, `u8` or `bool`, and `{text}` is a buffer of `{name}`"
            );
            let help = "let a kernel write the decision into a buffer of one `u32`";
            return Err(self.refuse(site, Code::CW001, &message, Some(help)));
        }
        self.check_device_memory(site, access.buffer, word)?;
        Ok(access)
    }

    /// Allocates the iteration counter of a loop.
    fn counter(&mut self, place: CallSite, device: Device) -> Access {
        let (name, statement) = ("turns".to_owned(), StatementId::new(self.statements.len()));
        let site = StatementSite { place, name: &name };
        let buffer = self.declare(&site, Origin::Alloc(statement), 1u64.to_size(), ElementType::of::<u32>());
        let (kind, accesses, scalars) = (StatementKind::Alloc(buffer), Vec::new(), Default::default());
        self.cursor.taken = Some(device);
        self.push(name, place, kind, accesses, Vec::new(), scalars);
        let hi = self.buffers[buffer].dim;
        Access { buffer, mode: Mode::Write, lo: DimId::from_u32(0), hi, relied_on: false, rows: None }
    }

    /// Begins an arm.
    fn begin_arm(&mut self, arms: &mut OpenConditional, test: ArmValues) -> StatementId {
        let arm = narrow(arms.begin_and_join.len());
        let OpenConditional { word, at_most, .. } = *arms;
        let body = Condition { word, arm, arms: 0, total: false, test, at_most };
        let (accesses, after) = match arm {
            0 => (arms.condition_accesses.clone(), std::mem::take(&mut arms.after)),
            _ => (Vec::new(), Vec::new()),
        };
        self.cursor.taken = Some(arms.device);
        let at = self.push(
            arms.name.clone(),
            arms.place,
            StatementKind::Condition(body),
            accesses,
            after,
            Default::default(),
        );
        self.cursor.open.push(at);
        at
    }

    /// Ends the arm that begins with `begin`. Drops an arm without statements.
    ///
    /// Returns an error if the user replaced the builder by another one, or if an inner arm has not ended
    /// because of such a replacement.
    fn end_arm(&mut self, arms: &mut OpenConditional, begin: StatementId) -> Result<()> {
        if self.builder != arms.builder || self.cursor.open.last() != Some(&begin) {
            let site = StatementSite { place: arms.place, name: &arms.name };
            let message =
                format!("another builder took the place of the one that adds this `{}`", arms.word.name());
            return Err(self.refuse(
                &site,
                Code::CW001,
                &message,
                Some("add to the builder that the closure is given"),
            ));
        }
        self.cursor.open.pop();
        if self.statements.len() == begin.index() + 1 {
            if let Some(empty) = self.statements.pop() {
                arms.after = empty.after;
            }
            arms.has_empty_arm = true;
            return Ok(());
        }
        let kind = match self.statements[begin].kind {
            StatementKind::Condition(body) => StatementKind::Join(body),
            _ => return Ok(()),
        };
        let behind = |access: &Access| Access { mode: Mode::ReadWrite, ..*access };
        let accesses = match arms.word {
            ConditionKeyword::While => std::iter::once(arms.condition_accesses[0])
                .chain(arms.condition_accesses[1..].iter().map(behind))
                .collect(),
            ConditionKeyword::If | ConditionKeyword::Match => Vec::new(),
        };
        let (name, place, scalars) = (arms.name.clone(), arms.place, Default::default());
        self.cursor.taken = Some(arms.device);
        let join = self.push(name, place, kind, accesses, Vec::new(), scalars);
        arms.begin_and_join.push([begin, join]);
        Ok(())
    }

    /// Ends an arm whose closure panicked. Completes the conditional with the arms so far and keeps the fault
    /// for the build.
    fn end_panicked_arm(&mut self, arms: &mut OpenConditional, begin: StatementId, panics: usize) {
        if self.end_arm(arms, begin).is_err() {
            return;
        }
        self.end_conditional(arms, false);
        self.cursor.pending = NextStatement::default();
        if self.cursor.panics == panics {
            // No inner arm has reported this panic.
            let site = StatementSite { place: arms.place, name: &arms.name };
            let message =
                format!("an arm of this `{}` panicked, and may have been added in part", arms.word.name());
            let error =
                self.refuse(&site, Code::CW001, &message, Some("make the graph with another builder"));
            self.keep_fault(error);
            self.cursor.panics += 1;
        }
    }

    /// Returns the faults of a program that cannot be checked as a whole because an arm panicked or has not ended.
    pub(super) fn unfinished_arm_faults(&self) -> Option<Vec<Refusal>> {
        let open = self.cursor.open.last().and_then(|&body| self.statements.get(body));
        if self.cursor.panics == 0 && open.is_none() {
            return None;
        }
        let open = open.map(|begun| {
            let word = match &begun.kind {
                StatementKind::Condition(condition) => condition.word.name(),
                _ => "condition",
            };
            let message = format!("an arm of this `{word}` has not ended");
            let help = "check and build the program outside of its conditions, and leave the builder in its place in \
                them";
            messages::refusal(&self.at(begun.place, &begun.name), Code::CW001, &message, &[], Some(help))
        });
        Some(self.faults.iter().cloned().chain(open).collect())
    }

    /// Ends a conditional statement: sets the number of arms in each of its arms.
    pub(super) fn end_conditional(&mut self, arms: &OpenConditional, total: bool) {
        if self.builder != arms.builder {
            return;
        }
        let count = narrow(arms.begin_and_join.len());
        for &statement in arms.begin_and_join.iter().flatten() {
            if let StatementKind::Condition(body) | StatementKind::Join(body) =
                &mut self.statements[statement].kind
            {
                (body.arms, body.total) = (count, total && !arms.has_empty_arm);
            }
        }
    }

    /// Returns an error if a buffer was not allocated in the innermost body. A body can free or move only its own
    /// buffers, because the device may run it any number of times.
    pub(super) fn check_owned_by_body(&self, site: &StatementSite<'_>, buffer: BufferId) -> Result<()> {
        let Some(&body) = self.cursor.open.last() else { return Ok(()) };
        let declared = &self.buffers[buffer];
        if matches!(declared.origin, Origin::Alloc(at) if at > body) {
            return Ok(());
        }
        let message =
            format!("`{}` is from outside of this body, which the device may skip or repeat", declared.name);
        let help = "its nodes keep their addresses: write both half-steps in one iteration, or `copy`";
        Err(self.refuse(site, Code::CW001, &message, Some(help)))
    }

    /// Returns an error for a name from a body that has ended.
    pub(super) fn check_in_scope(
        &self,
        site: &StatementSite<'_>,
        name: &str,
        what: &str,
        body: Option<StatementId>,
    ) -> Result<()> {
        let Some(body) = body.filter(|body| !self.cursor.open.contains(body)) else { return Ok(()) };
        let of = match self.statements.get(body).map(|statement| &statement.kind) {
            Some(StatementKind::Condition(condition)) => condition.body(),
            _ => "a body".to_owned(),
        };
        let message = format!("`{name}`, {what} {of}, is used outside of it");
        Err(self.refuse(
            site,
            Code::CW001,
            &message,
            Some("make it before the condition, or use it in the body"),
        ))
    }
}

impl<'a> Builder<'a> {
    /// Adds the statements of an arm. If the closure fails, the statements added so far stay, as a complete body.
    pub(super) fn arm<R>(
        &mut self,
        arms: &mut OpenConditional,
        test: ArmValues,
        body: impl FnOnce(&mut Builder<'a>) -> Result<R>,
    ) -> Result<()> {
        let panics = self.program.cursor.panics;
        let mut operand = arms.condition_accesses.first().map(|access| access.buffer);
        operand = operand.filter(|&buffer| self.program.is_condition(buffer));
        let name = arms.name.clone();
        let site = StatementSite { place: arms.place, name: &name };
        if operand.is_some() {
            let arm = narrow(arms.begin_and_join.len());
            self.program.check_own_arm(&site, arms.word, arm, &test)?;
        }
        let begin = self.program.begin_arm(arms, test);
        let mut open = OpenArm { builder: self, arms, begin, panics, returned: false };
        let done = body(open.builder).map(drop);
        open.returned = true;
        let OpenArm { builder: Builder { program, .. }, arms, .. } = &mut open;
        if done.is_err() {
            program.cursor.pending = NextStatement::default();
        }
        program.end_arm(arms, begin).and(done)?;
        match operand {
            Some(buffer) if arms.word == ConditionKeyword::While && !arms.begin_and_join.is_empty() => {
                program.check_is_set(&site, buffer, begin)
            }
            _ => Ok(()),
        }
    }
}

/// An arm whose closure is running. If it is dropped by a panic, it ends the arm.
struct OpenArm<'o, 'a> {
    builder: &'o mut Builder<'a>,
    arms: &'o mut OpenConditional,
    begin: StatementId,
    /// The number of panics before this arm began.
    panics: usize,
    returned: bool,
}

impl Drop for OpenArm<'_, '_> {
    fn drop(&mut self) {
        if !self.returned {
            self.builder.program.end_panicked_arm(self.arms, self.begin, self.panics);
        }
    }
}
