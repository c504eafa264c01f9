//! Groups of threads: their values and their cuts.
//!
//! A cut changes the counts of the indices and substitutes them in every form of the group.

use super::super::cut::Cut;
use super::super::form::Form;
use super::super::ops::{FORM, Value};
use super::super::outline::{Arg, Op};
use super::Group;

impl Group {
    /// Restricts the group to one side of a cut. Returns the other side if it has threads.
    pub(super) fn cut(&mut self, cut: Cut) -> Option<Group> {
        if let Some((_, turns)) = self.inside.turning()
            && !self.inside.cuts_turns(cut)
            && self.counts[turns as usize] > 1
        {
            // The number of iterations may be the reason for the cut, so fewer are tried.
            self.restrict(turns, 0, (self.counts[turns as usize] / 64).max(1));
            return None;
        }
        match cut {
            Cut::At { index, at } => {
                let count = self.counts[index as usize];
                if self.inside.cuts_turns(cut) {
                    self.restrict(index, 0, at);
                    return None;
                }
                let mut other = self.clone();
                self.restrict(index, 0, at);
                other.restrict(index, at, count - at);
                Some(other)
            }
            Cut::Factor { index, .. } if self.inside.cuts_turns(cut) => {
                self.restrict(index, 0, 1);
                None
            }
            Cut::Factor { index, by } => {
                let outer = self.counts.len() as u32;
                self.counts.push(self.counts[index as usize] / by);
                self.counts[index as usize] = by;
                self.forms().for_each(|form| form.factor(index, outer, by));
                if by == 1 {
                    self.forms().for_each(|form| form.restrict(index, 0, 1));
                }
                None
            }
        }
    }

    pub(super) fn restrict(&mut self, index: u32, first: u64, count: u64) {
        self.counts[index as usize] = count;
        self.forms().for_each(|form| form.restrict(index, first, count));
    }

    pub(super) fn forms(&mut self) -> impl Iterator<Item = &mut Form> {
        let values = self.values.iter_mut().filter_map(|value| match value {
            Value::Number(form) => Some(form),
            _ => None,
        });
        self.places.iter_mut().chain(values).chain(self.inside.forms())
    }

    pub(super) fn arg(&self, arg: Arg) -> Value {
        match arg {
            Arg::Constant(value) => Value::Number(Form::constant(i128::from(value))),
            Arg::Value(value) => self.values.get(value as usize).cloned().unwrap_or(Value::Opaque(FORM)),
        }
    }

    pub(super) fn set(&mut self, target: u32, value: Value) {
        if let Some(place) = self.values.get_mut(target as usize) {
            *place = value;
        }
    }

    pub(super) fn note(&self, op: &Op) -> u32 {
        match op.args.first() {
            Some(&Arg::Constant(note)) => note as u32,
            _ => FORM,
        }
    }
}
