//! Conditions on the device: `if`, `while` and `match` on a buffer of one element. Their bodies are closures;
//! `arms` adds the statements around each.

use std::ops::Not;

use cuweave_core::codes::Code;
use cuweave_core::condition::{ArmValues, ConditionKeyword, MAX_VALUES};

use crate::error::{Error, Result};

use super::arms::{Decision, OpenConditional};
use super::declarations::Builder;
use super::handle::{CallSite, Handle, Statement, View};
use super::program::{NextStatement, StatementSite};

/// A buffer on which the device branches: `&Handle`, `&View`, or `!` of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer on which the device can branch",
    label = "a decision is `&flag`, or `!&flag`, of a buffer of one `u32`, `i32`, `u8` or `bool`"
)]
pub trait ToDecision {
    /// Converts it to a decision.
    fn to_decision(self) -> Decision;
}

impl ToDecision for Decision {
    fn to_decision(self) -> Decision {
        self
    }
}

macro_rules! decisions {
    ($($ty:ty)*) => {$(
        impl ToDecision for &$ty {
            fn to_decision(self) -> Decision {
                Decision { operand: self.read(), negated: false }
            }
        }

        impl Not for &$ty {
            type Output = Decision;

            fn not(self) -> Decision {
                !self.to_decision()
            }
        }

        impl Not for $ty {
            type Output = Decision;

            fn not(self) -> Decision {
                !&self
            }
        }
    )*};
}
decisions!(Handle View);

/// The values of a `match` arm: a `u32`, or an array, a slice or a vector of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of values of an arm",
    label = "an arm runs for a `u32`, `3`, or for several, `[0, 1]`"
)]
pub trait ToValues {
    /// Converts them to a list.
    fn to_values(self) -> Vec<u32>;
}

impl ToValues for u32 {
    fn to_values(self) -> Vec<u32> {
        vec![self]
    }
}

impl<const N: usize> ToValues for [u32; N] {
    fn to_values(self) -> Vec<u32> {
        self.into()
    }
}

impl ToValues for &[u32] {
    fn to_values(self) -> Vec<u32> {
        self.to_vec()
    }
}

impl ToValues for Vec<u32> {
    fn to_values(self) -> Vec<u32> {
        self
    }
}

impl<'a> Builder<'a> {
    /// Runs a body on the device if a flag is not 0: `if flag { .. }`. The flag is a buffer of one `u32`, `i32`, `u8`
    /// or `bool`; `!&flag` negates it.
    ///
    /// The closure is called once, now, and adds the statements of the body. Its allocations belong to the body.
    /// Buffers from outside keep their memory: the body can neither free them nor move them into a call. If the
    /// closure panics and the caller catches the panic, [`build`](Builder::build) returns an error.
    ///
    /// ```no_run
    /// # use cuweave_runtime::builder::Builder;
    /// # fn add(b: &mut Builder<'_>) -> cuweave_runtime::Result<()> {
    /// let (flag, x) = (b.named("flag").alloc::<u32>(1), b.named("x").alloc::<f32>(8));
    /// b.fill(flag.write(), 1)?;
    /// b.if_else(&flag, |b| b.fill(x.write(), 1.0), |b| b.fill(x.write(), 2.0))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The closure's error; a flag that is not known to be one such element on the device (CW001); a handle of
    /// another builder (CW402).
    #[track_caller]
    pub fn if_<R>(
        &mut self,
        flag: impl ToDecision,
        then: impl FnOnce(&mut Builder<'a>) -> Result<R>,
    ) -> Result<()> {
        let decision = flag.to_decision();
        let mut arms = self.program.conditional(CallSite::caller(), ConditionKeyword::If, None, &decision)?;
        let done = self.arm(&mut arms, truth_test(decision.negated), then);
        self.program.end_conditional(&arms, false);
        done
    }

    /// Runs one of two bodies on the device: `if flag { .. } else { .. }`. Elements that both write count as
    /// written afterwards.
    ///
    /// # Errors
    ///
    /// The errors of [`if_`](Builder::if_).
    #[track_caller]
    pub fn if_else<R, S>(
        &mut self,
        flag: impl ToDecision,
        then: impl FnOnce(&mut Builder<'a>) -> Result<R>,
        otherwise: impl FnOnce(&mut Builder<'a>) -> Result<S>,
    ) -> Result<()> {
        let decision = flag.to_decision();
        let mut arms = self.program.conditional(CallSite::caller(), ConditionKeyword::If, None, &decision)?;
        let first = self.arm(&mut arms, truth_test(decision.negated), then);
        let done = first.and_then(|()| self.arm(&mut arms, truth_test(!decision.negated), otherwise));
        self.program.end_conditional(&arms, done.is_ok());
        done
    }

    /// Repeats a body on the device while a flag is not 0: `while flag { .. }`. The body must write the flag.
    ///
    /// The closure is called once, so its effects on Rust variables happen once, not per iteration. Returns the loop.
    ///
    /// ```no_run
    /// # use cuweave_runtime::builder::Builder;
    /// # fn add(b: &mut Builder<'_>) -> cuweave_runtime::Result<()> {
    /// let flag = b.named("flag").alloc::<u32>(1);
    /// b.fill(flag.write(), 1)?;
    /// b.while_(&flag, |b| b.fill(flag.write(), 0))?; // `flag.write()`: `&mut flag` is no borrow beside `&flag`
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`if_`](Builder::if_); an empty body (CW001). The build reports a body that never writes
    /// the flag (CW001).
    #[track_caller]
    pub fn while_<R>(
        &mut self,
        flag: impl ToDecision,
        body: impl FnOnce(&mut Builder<'a>) -> Result<R>,
    ) -> Result<Statement> {
        self.repeat(CallSite::caller(), None, &flag.to_decision(), body)
    }

    /// Repeats a body while a flag is not 0, with a limit on the iterations: `#[at_most(n)] while flag { .. }`.
    ///
    /// [`Exec::iterations_of`](super::Exec::iterations_of) returns the number of iterations and whether the limit was
    /// hit.
    ///
    /// # Errors
    ///
    /// The errors of [`while_`](Builder::while_); a limit of 0 (CW001).
    #[track_caller]
    pub fn while_at_most<R>(
        &mut self,
        flag: impl ToDecision,
        most: u32,
        body: impl FnOnce(&mut Builder<'a>) -> Result<R>,
    ) -> Result<Statement> {
        self.repeat(CallSite::caller(), Some(most), &flag.to_decision(), body)
    }

    /// Begins a choice between bodies by the value of a buffer of one element: `match index { .. }`.
    /// [`Match::arm`] adds its arms, and [`Match::otherwise`] ends it.
    ///
    /// ```no_run
    /// # use cuweave_runtime::builder::Builder;
    /// # fn add(b: &mut Builder<'_>) -> cuweave_runtime::Result<()> {
    /// let (index, x) = (b.named("index").alloc::<u32>(1), b.named("x").alloc::<f32>(8));
    /// b.fill(index.write(), 2)?;
    /// b.match_(&index)
    ///     .arm(0, |b| b.fill(x.write(), 1.0))
    ///     .arm([1, 2], |b| b.fill(x.write(), 2.0))
    ///     .otherwise(|b| b.fill(x.write(), 3.0))?;
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn match_(&mut self, index: impl ToDecision) -> Match<'_, 'a> {
        let (decision, place) = (index.to_decision(), CallSite::caller());
        let arms = if decision.negated {
            self.program.cursor.pending = NextStatement::default();
            let site = StatementSite { place, name: "match" };
            let message = "`match` takes a buffer, and not the opposite of one";
            Err(self.program.refuse(&site, Code::CW001, message, None))
        } else {
            self.program.conditional(place, ConditionKeyword::Match, None, &decision)
        };
        let panics = self.program.cursor.panics;
        Match { builder: self, place, arms, seen: Vec::new(), panics, ended: false }
    }

    fn repeat<R>(
        &mut self,
        place: CallSite,
        at_most: Option<u32>,
        decision: &Decision,
        body: impl FnOnce(&mut Builder<'a>) -> Result<R>,
    ) -> Result<Statement> {
        let mut arms = self.program.conditional(place, ConditionKeyword::While, at_most, decision)?;
        let done = self.arm(&mut arms, truth_test(decision.negated), body);
        self.program.end_conditional(&arms, false);
        done?;
        match arms.begin_and_join.first() {
            Some(&[_, join]) => Ok(self.program.statement(join)),
            None => {
                let site = StatementSite { place, name: &arms.name };
                let message = "the body of this `while` is empty";
                let help = "write its operand in the body, by a launch, `fill` or `copy`";
                Err(self.program.refuse(&site, Code::CW001, message, Some(help)))
            }
        }
    }
}

/// A `match` from [`Builder::match_`] whose arms are being added.
#[must_use = "a `match` ends with `otherwise`"]
pub struct Match<'m, 'a> {
    builder: &'m mut Builder<'a>,
    place: CallSite,
    arms: Result<OpenConditional>,
    /// The values of the arms so far.
    seen: Vec<u32>,
    /// The number of arms that had panicked before it began.
    panics: usize,
    ended: bool,
}

impl std::fmt::Debug for Match<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Match").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl<'a> Match<'_, 'a> {
    /// Adds the body for a value, `0 => { .. }`, or for several, `1 | 2 => { .. }`. Values of earlier arms
    /// are skipped. After the first error no more closures are called; [`otherwise`](Match::otherwise)
    /// returns the error.
    #[track_caller]
    pub fn arm<R>(mut self, values: impl ToValues, body: impl FnOnce(&mut Builder<'a>) -> Result<R>) -> Self {
        let place = CallSite::caller();
        let mut values = values.to_values();
        values.retain(|value| !self.seen.contains(value));
        if values.is_empty() {
            self.refuse(place, "no value is left for this arm", Some("leave it out"));
            return self;
        }
        self.seen.extend(&values);
        match ArmValues::of(&values, false) {
            Some(test) => self.add(test, body),
            None => self.too_many(place),
        }
        self
    }

    /// Adds the body for all other values, `_ => { .. }`, and ends the `match`.
    ///
    /// # Errors
    ///
    /// A closure's error; the errors of [`if_`](Builder::if_) for the operand; an arm without remaining
    /// values, more than 8 values, no arm before this one (CW001).
    #[track_caller]
    pub fn otherwise<R>(mut self, body: impl FnOnce(&mut Builder<'a>) -> Result<R>) -> Result<()> {
        let place = CallSite::caller();
        self.ended = true;
        if self.seen.is_empty() {
            let help = "call the methods of the arm without it";
            self.refuse(place, "a `match` of `_` alone decides nothing", Some(help));
        } else {
            match ArmValues::of(&self.seen, true) {
                Some(test) => self.add(test, body),
                None => self.too_many(place),
            }
        }
        match &self.arms {
            Ok(arms) => {
                self.builder.program.end_conditional(arms, true);
                Ok(())
            }
            Err(error) => Err(error.clone()),
        }
    }

    fn add<R>(&mut self, test: ArmValues, body: impl FnOnce(&mut Builder<'a>) -> Result<R>) {
        let Ok(arms) = &mut self.arms else { return };
        match self.builder.arm(arms, test, body) {
            // If the caller forgets the `match`, it keeps the arms so far.
            Ok(()) => self.builder.program.end_conditional(arms, false),
            Err(error) => self.fail(error),
        }
    }

    fn refuse(&mut self, place: CallSite, message: &str, help: Option<&str>) {
        let error =
            self.builder.program.refuse(&StatementSite { place, name: "match" }, Code::CW001, message, help);
        self.fail(error);
    }

    fn too_many(&mut self, place: CallSite) {
        let message = format!("a `match` on a buffer tells up to {MAX_VALUES} values apart");
        self.refuse(place, &message, Some("write several, one in the last arm of another"));
    }

    /// Keeps the first error. The arms so far become a complete statement.
    fn fail(&mut self, error: Error) {
        if let Ok(arms) = &self.arms {
            self.builder.program.end_conditional(arms, false);
            self.arms = Err(error);
        }
    }
}

impl Drop for Match<'_, '_> {
    fn drop(&mut self) {
        if self.ended || self.builder.program.cursor.panics > self.panics {
            return;
        }
        let help = "end it with `otherwise(|b| ..)`, whose body may be empty";
        self.refuse(self.place, "a `match` on a buffer takes all values", Some(help));
        if let Err(error) = &self.arms {
            self.builder.program.keep_fault(error.clone());
        }
    }
}

/// Returns the test for which the body of an `if` or a `while` runs.
fn truth_test(negated: bool) -> ArmValues {
    ArmValues { others: !negated, ..ArmValues::TRUE }
}
