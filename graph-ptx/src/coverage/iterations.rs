//! Runs many iterations of a loop at once.
//!
//! If the values that a loop carries have twice grown by the same constants, a group of threads gets one more index:
//! the iteration number. The body then runs once for all following iterations in which every branch goes the same
//! way, and the last of these iterations continues after the loop. Therefore:
//!
//! - where a branch divides the group, the part without the first iteration is dropped: the last iteration of the
//!   other part leads there;
//! - the stores of the body count when the header is reached again with the carried values of the next iteration: by
//!   induction the threads execute all these iterations. Otherwise only the stores of the first iteration count.

use super::cut::BoxCut;
use super::form::AffineForm;
use super::ops::FormValue;

/// The maximum number of iterations tried at once.
const MAX_ITERATIONS: u64 = 1 << 40;

/// The values that a loop carried when its header was last reached, and their growth since the time before.
#[derive(Clone)]
pub(super) struct Carried {
    head: u32,
    values: Vec<FormValue>,
    growth: Option<Vec<i128>>,
}

/// A loop that runs for many iterations at once.
#[derive(Clone)]
pub(super) struct BulkIterations {
    head: u32,
    /// The index that counts the iterations.
    index: u32,
    /// The carried values at the header, as functions of the iteration.
    values: Vec<FormValue>,
    growth: Vec<i128>,
    /// The stores of the body.
    stored: Vec<IterationStore>,
}

/// A store in the body of a loop.
#[derive(Clone)]
pub(super) struct IterationStore {
    pub parameter: usize,
    pub offset: AffineForm,
    pub bytes: u64,
}

/// The state of the loop that a group is in.
#[derive(Clone, Default)]
pub(super) struct LoopState {
    carried: Option<Carried>,
    iterations: Option<BulkIterations>,
}

/// Returns the differences of carried values; `None` if a value that is not a number has changed.
fn growth(before: &[FormValue], now: &[FormValue]) -> Option<Vec<i128>> {
    let one = |(before, now): (&FormValue, &FormValue)| match (before, now) {
        (FormValue::Number(before), FormValue::Number(now)) => {
            let alike = before.pointer == now.pointer && before.terms == now.terms;
            alike.then(|| now.constant.checked_sub(before.constant)).flatten()
        }
        (before, now) => (before == now).then_some(0),
    };
    (before.len() == now.len()).then(|| before.iter().zip(now).map(one).collect()).flatten()
}

impl LoopState {
    /// Returns the forms to update when the group is cut.
    pub fn forms(&mut self) -> impl Iterator<Item = &mut AffineForm> {
        let carried = self.carried.iter_mut().flat_map(|carried| &mut carried.values);
        let (values, stored) = match &mut self.iterations {
            Some(iterations) => (&mut iterations.values[..], &mut iterations.stored[..]),
            None => (&mut [][..], &mut [][..]),
        };
        let numbers = carried.chain(values).filter_map(|value| match value {
            FormValue::Number(form) => Some(form),
            _ => None,
        });
        numbers.chain(stored.iter_mut().map(|stored| &mut stored.offset))
    }

    /// Returns the header of the loop that runs for many iterations, and the iteration index.
    pub fn running_loop(&self) -> Option<(u32, u32)> {
        self.iterations.as_ref().map(|iterations| (iterations.head, iterations.index))
    }

    /// Returns true if a cut divides the iterations.
    pub fn cuts_iterations(&self, cut: BoxCut) -> bool {
        let (BoxCut::At { index, .. } | BoxCut::Factor { index, .. }) = cut;
        self.iterations.as_ref().is_some_and(|iterations| iterations.index == index)
    }

    /// Records a store of the body. Returns false outside of such a loop, where a store counts immediately.
    pub fn store(&mut self, parameter: usize, form: &AffineForm, bytes: u64) -> bool {
        let Some(iterations) = &mut self.iterations else { return false };
        iterations.stored.push(IterationStore { parameter, offset: form.clone(), bytes });
        true
    }

    /// Returns true if the values at the header are those of the next iteration, for all iterations.
    pub fn matches_next_iteration(&self, now: &[FormValue]) -> bool {
        let Some(iterations) = &self.iterations else { return false };
        growth(&iterations.values, now).is_some_and(|growth| growth == iterations.growth)
    }

    /// Ends the iterations. Returns their stores.
    pub fn finish(&mut self) -> Vec<IterationStore> {
        self.carried = None;
        self.iterations.take().map_or(Vec::new(), |iterations| iterations.stored)
    }

    /// Records the values at a loop header. Returns true if they have grown by the same constants twice, so that
    /// [`LoopState::begin`] may run many iterations.
    pub fn carry(&mut self, head: u32, values: &[FormValue]) -> bool {
        let before = self.carried.take().filter(|carried| carried.head == head);
        let now = before.as_ref().and_then(|before| growth(&before.values, values));
        let steady = before.is_some_and(|before| {
            now.as_ref()
                .is_some_and(|now| before.growth.as_ref() == Some(now) && now.iter().any(|by| *by != 0))
        });
        self.carried = Some(Carried { head, values: values.to_vec(), growth: now });
        steady
    }

    /// Begins to run many iterations. Returns the carried values as functions of the new index, and the count of that
    /// index.
    pub fn begin(&mut self, index: u32) -> Option<(Vec<FormValue>, u64)> {
        let carried = self.carried.take()?;
        let growth = carried.growth?;
        let over = |(value, by): (FormValue, &i128)| match value {
            FormValue::Number(mut form) => {
                if *by != 0 {
                    form.terms.push((index, *by));
                }
                FormValue::Number(form)
            }
            other => other,
        };
        let values: Vec<FormValue> = carried.values.into_iter().zip(&growth).map(over).collect();
        let iterations =
            BulkIterations { head: carried.head, index, values: values.clone(), growth, stored: Vec::new() };
        self.iterations = Some(iterations);
        Some((values, MAX_ITERATIONS))
    }
}
