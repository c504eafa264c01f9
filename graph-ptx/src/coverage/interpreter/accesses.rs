//! Loads and stores of groups of threads.

use super::super::form::AffineForm;
use super::super::launch::UnknownAccess;
use super::super::ops::{FORM, FormValue, NoValue};
use super::super::slice::{IntType, SliceArg, SliceOp, SliceOpcode, SlicedParameter};
use super::{Interpreter, StepOutcome, ThreadGroup};

impl Interpreter<'_, '_> {
    /// Runs a load or a store of a group.
    pub(super) fn store(&mut self, group: &mut ThreadGroup, op: &SliceOp) -> StepOutcome {
        let [
            SliceArg::Constant(parameter),
            address,
            SliceArg::Constant(offset),
            SliceArg::Constant(bytes),
            guard @ ..,
        ] = &op.args[..]
        else {
            return StepOutcome::Ends;
        };
        let mut is_definite = group.region.is_none();
        match guard.first().map(|&guard| group.arg(guard)) {
            None | Some(FormValue::Predicate(true)) => {}
            Some(FormValue::Predicate(false)) => return StepOutcome::Goes,
            Some(_) if self.collects_possible => is_definite = false,
            Some(value) => {
                let (access, by) = self.because(op, &value);
                self.inexact(op, &UnknownAccess::Guard { access, by });
                return StepOutcome::Goes;
            }
        }
        let address = group.arg(*address);
        let known = match &address {
            FormValue::Number(form) if !self.ops(group).ranged.mentions(form) => Some(form),
            _ => None,
        };
        let Some(form) = known else {
            let (access, by) = self.because(op, &address);
            self.trace.irregular(op.target);
            self.inexact(op, &UnknownAccess::Address { access, by });
            return StepOutcome::Goes;
        };
        let to = form.pointer.map(i64::from);
        let form =
            AffineForm { pointer: None, ..form.clone() }.plus(&AffineForm::constant(i128::from(*offset)), 1);
        let signed = IntType { bits: 64, signed: true };
        let exact = form.ok_or(NoValue::Opaque(FORM)).and_then(|form| self.ops(group).exact(&form, signed));
        match exact {
            Err(NoValue::Cut(cut)) => return StepOutcome::Cut(cut),
            Ok(form) if to == Some(*parameter) => {
                if let Some(at) = self.followed(op) {
                    if group.inside.store(at, &form, *bytes as u64) {
                        self.trace.irregular(op.target);
                    } else {
                        if self.collects_possible {
                            let ThreadGroup { counts, places, assumed, .. } = group;
                            self.trace.touched(op.target, &form, counts, places, is_definite, assumed);
                        }
                        self.accessed(group, at, &form, *bytes as u64);
                    }
                }
            }
            _ => {
                self.trace.irregular(op.target);
                let access = self.note(op.target).to_owned();
                self.inexact(op, &UnknownAccess::Address { access, by: None });
            }
        }
        StepOutcome::Goes
    }

    /// Returns the text of an access, and that of the instruction that determines it.
    fn because(&self, op: &SliceOp, value: &FormValue) -> (String, Option<String>) {
        let by = match value {
            FormValue::Opaque(note) if *note != FORM => Some(self.note(*note).to_owned()),
            _ => None,
        };
        (self.note(op.target).to_owned(), by)
    }

    pub(super) fn note(&self, note: u32) -> &str {
        self.slice.notes.get(note as usize).map_or("an instruction", String::as_str)
    }

    pub(super) fn followed(&self, op: &SliceOp) -> Option<usize> {
        let Some(SliceArg::Constant(parameter)) = op.args.first() else { return None };
        let same = |followed: &SlicedParameter| i64::from(followed.parameter) == *parameter;
        let first = self.slice.parameters.iter().position(same)?;
        // The entry for reads precedes that for writes.
        Some(if self.collects_possible && op.code == SliceOpcode::Store { first + 1 } else { first })
    }
}
