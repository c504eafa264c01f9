//! The caches of the build: the same function with the same sizes is not ordered, checked and planned again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::check::Checked;
use crate::compile::{self, BackError, Wishes};
use crate::expand::{Answers, At, Described, Expanded, Frame, FrameId, Number, Refusal, expand};
use crate::index::Vector;
use crate::ir::{DimId, Memory, Program, StatementId};
use crate::launches::{Allowed, Launch, Tuning};
use crate::operation::Operations;
use crate::structure::Choice;
use crate::table::{Decoded, Op};

use crate::runtime::error::{Error, refused_program};

use super::answers::Asked;
use super::checks::check_lengths;
use super::flattened::{Flattened, Parts};

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

impl<K: PartialEq, V> Kept<K, V> {
    const fn new() -> Kept<K, V> {
        Kept(Mutex::new(Vec::new()))
    }

    /// Returns the value of a key; one that is not kept is made. It is made without the lock: planning is slow, and two threads
    /// that make the same get equal values.
    fn get_or_make<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, value)) = kept.iter().find(|(other, _)| *other == key) {
                return Ok(value.clone());
            }
        }
        let value = Arc::new(make()?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((key, value.clone()));
        Ok(value)
    }
}

/// Flat functions by the address of their table, which is a static, and by the values of their bounds.
static FLAT: Kept<(usize, Vector<DimId, u64>), Flattened> = Kept::new();
static CHECKED: Kept<(Program, Vector<DimId, u64>), Checked> = Kept::new();
static PLANS: Kept<Key, Operations> = Kept::new();

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        Arc::ptr_eq(&self.checked, &other.checked)
            && self.dims == other.dims
            && self.memory == other.memory
            && self.edges == other.edges
            && self.allowed == other.allowed
            && self.launches == other.launches
            && self.tuning == other.tuning
    }
}

/// Returns the flat program of a function, ordered and checked for the values of its bounds by the code that the macro checks
/// with: the macro compares expressions, this compares their values.
///
/// # Errors
///
/// Bounds without a value, a length or a range that cannot be, faults that only the values show.
pub(crate) fn flattened(
    table: &'static Decoded,
    arguments: &[Described],
    asked: &mut Asked<'_>,
) -> Result<Arc<Flattened>, Error> {
    if !table.structure.is_flat() {
        return Ok(Arc::new(checked(expand(table, arguments, asked)?, arguments)?));
    }
    let root = Vector::from(vec![Frame::outermost(table)]);
    let at = At { frames: &root, frame: FrameId::OUTERMOST, turns: &[] };
    let values: Result<Vector<DimId, u64>, Error> =
        table.program.dims.ids().map(|dim| Ok(asked.bound(at, dim, &mut |_| None)?.value)).collect();
    let values = values?;
    let key = (std::ptr::from_ref(table).addr(), values.clone());
    FLAT.get_or_make(key, || checked(expand(table, &[], &mut Known { values: &values, asked })?, &[]))
}

/// Orders and checks a flat program.
fn checked(expanded: Expanded, arguments: &[Described]) -> Result<Flattened, Error> {
    let Expanded { source, values, elements, instances, frames } = expanded;
    check_lengths(&source.program, &values)?;
    let checked = CHECKED.get_or_make((source.program.clone(), values.clone()), || {
        let program = source.program.clone();
        let (checked, found) = compile::front(source);
        checked.ok_or_else(|| refused_program(&program, &found))
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

    fn callee(&mut self, at: At<'_>, call: StatementId) -> Result<&'static Decoded, Error> {
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
    let key = Key {
        checked: checked.clone(),
        dims: dims.clone(),
        memory: wishes.memory,
        edges: wishes.edges.clone(),
        allowed: wishes.allowed,
        launches: wishes.launches.clone(),
        tuning: wishes.tuning.clone(),
    };
    PLANS.get_or_make(key, || compile::back(checked, dims, wishes))
}
