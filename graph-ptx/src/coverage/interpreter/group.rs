//! Groups of threads: their values and their cuts.
//!
//! A cut changes the counts of the indices and substitutes them in every form of the group.

use super::super::cut::BoxCut;
use super::super::form::AffineForm;
use super::super::ops::{FORM, FormValue};
use super::super::slice::{SliceArg, SliceOp};
use super::ThreadGroup;

impl ThreadGroup {
    /// Restricts the group to one side of a cut. Returns the other side if it has threads.
    pub(super) fn cut(&mut self, cut: BoxCut) -> Option<ThreadGroup> {
        if let Some((_, iterations)) = self.inside.running_loop()
            && !self.inside.cuts_iterations(cut)
            && self.counts[iterations as usize] > 1
        {
            // The number of iterations may be the reason for the cut, so fewer are tried.
            self.restrict(iterations, 0, (self.counts[iterations as usize] / 64).max(1));
            return None;
        }
        match cut {
            BoxCut::At { index, at } => {
                let count = self.counts[index as usize];
                if self.inside.cuts_iterations(cut) {
                    self.restrict(index, 0, at);
                    return None;
                }
                let mut other = self.clone();
                self.restrict(index, 0, at);
                other.restrict(index, at, count - at);
                Some(other)
            }
            BoxCut::Factor { index, .. } if self.inside.cuts_iterations(cut) => {
                self.restrict(index, 0, 1);
                None
            }
            BoxCut::Factor { index, by } => {
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

    pub(super) fn forms(&mut self) -> impl Iterator<Item = &mut AffineForm> {
        let values = self.values.iter_mut().filter_map(|value| match value {
            FormValue::Number(form) => Some(form),
            _ => None,
        });
        self.places.iter_mut().chain(values).chain(self.inside.forms())
    }

    pub(super) fn arg(&self, arg: SliceArg) -> FormValue {
        match arg {
            SliceArg::Constant(value) => FormValue::Number(AffineForm::constant(i128::from(value))),
            SliceArg::Value(value) => {
                self.values.get(value as usize).cloned().unwrap_or(FormValue::Opaque(FORM))
            }
        }
    }

    pub(super) fn set(&mut self, target: u32, value: FormValue) {
        if let Some(place) = self.values.get_mut(target as usize) {
            *place = value;
        }
    }

    pub(super) fn note(&self, op: &SliceOp) -> u32 {
        match op.args.first() {
            Some(&SliceArg::Constant(note)) => note as u32,
            _ => FORM,
        }
    }
}
