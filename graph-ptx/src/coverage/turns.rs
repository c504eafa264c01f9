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

use super::cut::Cut;
use super::form::Form;
use super::ops::Value;

/// The maximum number of iterations tried at once.
const MOST_TURNS: u64 = 1 << 40;

/// The values that a loop carried when its header was last reached, and their growth since the time before.
#[derive(Clone)]
pub(super) struct Carried {
    head: u32,
    values: Vec<Value>,
    growth: Option<Vec<i128>>,
}

/// A loop that runs for many iterations at once.
#[derive(Clone)]
pub(super) struct Turns {
    head: u32,
    /// The index that counts the iterations.
    index: u32,
    /// The carried values at the header, as functions of the iteration.
    values: Vec<Value>,
    growth: Vec<i128>,
    /// The stores of the body.
    stored: Vec<TurnStore>,
}

/// A store in the body of a loop.
#[derive(Clone)]
pub(super) struct TurnStore {
    pub parameter: usize,
    pub offset: Form,
    pub bytes: u64,
}

/// The state of the loop that a group is in.
#[derive(Clone, Default)]
pub(super) struct Loop {
    carried: Option<Carried>,
    turns: Option<Turns>,
}

/// Returns the differences of carried values; `None` if a value that is not a number has changed.
fn growth(before: &[Value], now: &[Value]) -> Option<Vec<i128>> {
    let one = |(before, now): (&Value, &Value)| match (before, now) {
        (Value::Number(before), Value::Number(now)) => {
            let alike = before.pointer == now.pointer && before.terms == now.terms;
            alike.then(|| now.constant.checked_sub(before.constant)).flatten()
        }
        (before, now) => (before == now).then_some(0),
    };
    (before.len() == now.len()).then(|| before.iter().zip(now).map(one).collect()).flatten()
}

impl Loop {
    /// Returns the forms to update when the group is cut.
    pub fn forms(&mut self) -> impl Iterator<Item = &mut Form> {
        let carried = self.carried.iter_mut().flat_map(|carried| &mut carried.values);
        let (values, stored) = match &mut self.turns {
            Some(turns) => (&mut turns.values[..], &mut turns.stored[..]),
            None => (&mut [][..], &mut [][..]),
        };
        let numbers = carried.chain(values).filter_map(|value| match value {
            Value::Number(form) => Some(form),
            _ => None,
        });
        numbers.chain(stored.iter_mut().map(|stored| &mut stored.offset))
    }

    /// Returns the header of the loop that runs for many iterations, and the iteration index.
    pub fn turning(&self) -> Option<(u32, u32)> {
        self.turns.as_ref().map(|turns| (turns.head, turns.index))
    }

    /// Returns true if a cut divides the iterations.
    pub fn cuts_turns(&self, cut: Cut) -> bool {
        let (Cut::At { index, .. } | Cut::Factor { index, .. }) = cut;
        self.turns.as_ref().is_some_and(|turns| turns.index == index)
    }

    /// Records a store of the body. Returns false outside of such a loop, where a store counts immediately.
    pub fn store(&mut self, parameter: usize, form: &Form, bytes: u64) -> bool {
        let Some(turns) = &mut self.turns else { return false };
        turns.stored.push(TurnStore { parameter, offset: form.clone(), bytes });
        true
    }

    /// Returns true if the values at the header are those of the next iteration, for all iterations.
    pub fn goes_on(&self, now: &[Value]) -> bool {
        let Some(turns) = &self.turns else { return false };
        growth(&turns.values, now).is_some_and(|growth| growth == turns.growth)
    }

    /// Ends the iterations. Returns their stores.
    pub fn finish(&mut self) -> Vec<TurnStore> {
        self.carried = None;
        self.turns.take().map_or(Vec::new(), |turns| turns.stored)
    }

    /// Records the values at a loop header. Returns true if they have grown by the same constants twice, so that
    /// [`Loop::begin`] may run many iterations.
    pub fn carry(&mut self, head: u32, values: &[Value]) -> bool {
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
    pub fn begin(&mut self, index: u32) -> Option<(Vec<Value>, u64)> {
        let carried = self.carried.take()?;
        let growth = carried.growth?;
        let over = |(value, by): (Value, &i128)| match value {
            Value::Number(mut form) => {
                if *by != 0 {
                    form.terms.push((index, *by));
                }
                Value::Number(form)
            }
            other => other,
        };
        let values: Vec<Value> = carried.values.into_iter().zip(&growth).map(over).collect();
        let turns = Turns { head: carried.head, index, values: values.clone(), growth, stored: Vec::new() };
        self.turns = Some(turns);
        Some((values, MOST_TURNS))
    }
}
