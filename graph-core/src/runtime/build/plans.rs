//! The caches of the build: the same function with the same sizes is not ordered, checked and planned again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::check::Checked;
use crate::compile::{self, BackError, Wishes};
use crate::expand::{Answers, At, Described, Expanded, Frame, FrameId, Number, Refusal, expand};
use crate::index::Vector;
use crate::ir::{DimId, Memory, Program, StatementId};
use crate::launches::{Allowed, Launch, Tuning};
use crate::operation::Operations;
use crate::order::Functions;
use crate::structure::Choice;
use crate::table::{Decoded, Op, TableHandle};

use crate::runtime::error::{Error, refused_program};

use super::answers::Asked;
use super::checks::check_lengths;
use super::flattened::{Flattened, Parts};
use super::recall::{keep, recalled};

/// The inputs of a plan.
struct Key {
    /// One program is kept once, so its address is its identity.
    checked: Arc<Checked>,
    dims: Vector<DimId, u64>,
    memory: Option<Memory>,
    edges: Vec<(StatementId, StatementId)>,
    allowed: Allowed,
    launches: Vector<StatementId, Option<Launch>>,
    tuning: Tuning,
}

/// At most [`MOST`] values by their keys, the latest last.
struct Kept<K, V>(Mutex<Vec<(K, Arc<V>)>>);

/// The most values that a cache keeps; the oldest is dropped first.
const MOST: usize = 32;

impl<K, V> Kept<K, V> {
    const fn new() -> Kept<K, V> {
        Kept(Mutex::new(Vec::new()))
    }

    /// Returns the value of a key; one that is not kept is made. It is made without the lock: planning is slow, and two threads
    /// that make the same get equal values.
    fn get_or_make<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E>
    where
        K: PartialEq,
    {
        if let Some(value) = self.find(|other| *other == key) {
            return Ok(value);
        }
        let value = Arc::new(make(&key)?);
        self.keep(key, value.clone());
        Ok(value)
    }

    /// Returns the latest value with such a key.
    fn find(&self, is: impl Fn(&K) -> bool) -> Option<Arc<V>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|(key, _)| is(key)).map(|(_, value)| value.clone())
    }

    fn keep(&self, key: K, value: Arc<V>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What is dropped is dropped after the lock.
        let _dropped = (kept.len() >= MOST).then(|| kept.remove(0));
        kept.push((key, value));
        drop(kept);
    }
}

/// Flat functions by the address of their table, which is a static, and by the values of their bounds.
static FLAT: Kept<(usize, Vector<DimId, u64>), Flattened> = Kept::new();
/// Flat programs by the values of their bounds, which are compared first: programs of one function differ in them.
static CHECKED: Kept<(Vector<DimId, u64>, Program, Functions), Checked> = Kept::new();
static PLANS: Kept<Key, Operations> = Kept::new();

impl Key {
    fn is(&self, checked: &Arc<Checked>, dims: &Vector<DimId, u64>, wishes: &Wishes) -> bool {
        let Wishes { memory, edges, allowed, launches, tuning } = wishes;
        Arc::ptr_eq(&self.checked, checked)
            && self.dims == *dims
            && self.memory == *memory
            && self.edges == *edges
            && self.allowed == *allowed
            && self.launches == *launches
            && self.tuning == *tuning
    }
}

/// Returns the flat program of a function, ordered and checked for the values of its bounds by the code that the macro checks
/// with: the macro compares expressions, this compares their values.
///
/// # Errors
///
/// Bounds without a value, a length or a range that cannot be, faults that only the values show.
pub(crate) fn flattened(
    table: &TableHandle,
    arguments: &[Described],
    asked: &mut Asked<'_>,
) -> Result<Arc<Flattened>, Error> {
    let TableHandle::Static(of_code) = *table else {
        return Ok(Arc::new(checked(expand(table, arguments, asked)?, arguments)?));
    };
    if let Some(flat) = recalled(of_code, arguments, asked) {
        return Ok(flat);
    }
    let flat = anew(of_code, arguments, asked)?;
    keep(of_code, arguments, asked, &flat);
    Ok(flat)
}

/// As [`flattened`], with an expansion.
fn anew(
    table: &'static Decoded,
    arguments: &[Described],
    asked: &mut Asked<'_>,
) -> Result<Arc<Flattened>, Error> {
    let handle = TableHandle::Static(table);
    if !table.structure.is_flat() {
        return Ok(Arc::new(checked(expand(&handle, arguments, asked)?, arguments)?));
    }
    let root = Vector::from(vec![Frame::outermost(handle.clone())]);
    let at = At { frames: &root, frame: FrameId::OUTERMOST, turns: &[] };
    let values: Result<Vector<DimId, u64>, Error> =
        table.program.dims.ids().map(|dim| Ok(asked.bound(at, dim, &mut |_| None)?.value)).collect();
    let values = values?;
    let key = (std::ptr::from_ref(table).addr(), values.clone());
    FLAT.get_or_make(key, |_| checked(expand(&handle, &[], &mut Known { values: &values, asked })?, &[]))
}

/// Orders and checks a flat program.
fn checked(expanded: Expanded, arguments: &[Described]) -> Result<Flattened, Error> {
    let Expanded { source, values, elements, instances, frames } = expanded;
    check_lengths(&source.program, &values)?;
    let key = (values.clone(), source.program.clone(), source.regions.functions.clone());
    let checked = CHECKED.get_or_make(key, |(_, program, _)| {
        let (checked, found) = compile::front(source);
        checked.ok_or_else(|| refused_program(program, &found))
    })?;
    Ok(Flattened::new(checked, Parts { values, elements, instances, frames }, arguments))
}

/// The answers for a flat function whose bounds are computed.
struct Known<'k, 'b> {
    values: &'k Vector<DimId, u64>,
    asked: &'k mut Asked<'b>,
}

impl Answers for Known<'_, '_> {
    type Error = Error;

    fn bound(
        &mut self,
        _: At<'_>,
        dim: DimId,
        _: &mut dyn FnMut(Op) -> Option<Number>,
    ) -> Result<Number, Error> {
        Ok(Number::constant(self.values[dim]))
    }

    fn arm(&mut self, at: At<'_>, choice: &Choice) -> Result<u32, Error> {
        self.asked.arm(at, choice)
    }

    fn callee(&mut self, at: At<'_>, call: StatementId) -> Result<TableHandle, Error> {
        self.asked.callee(at, call)
    }

    fn refused(&mut self, at: At<'_>, statement: Option<StatementId>, refusal: Refusal) -> Error {
        self.asked.refused(at, statement, refusal)
    }
}

/// As [`compile::back`], from the cache where possible.
pub(crate) fn operations(
    checked: &Arc<Checked>,
    dims: &Vector<DimId, u64>,
    wishes: &Wishes,
) -> Result<Arc<Operations>, BackError> {
    if let Some(operations) = PLANS.find(|key| key.is(checked, dims, wishes)) {
        return Ok(operations);
    }
    let operations = Arc::new(compile::back(checked, dims, wishes)?);
    let key = Key {
        checked: checked.clone(),
        dims: dims.clone(),
        memory: wishes.memory,
        edges: wishes.edges.clone(),
        allowed: wishes.allowed,
        launches: wishes.launches.clone(),
        tuning: wishes.tuning.clone(),
    };
    PLANS.keep(key, operations.clone());
    Ok(operations)
}
