//! The caches of the build: the same function with the same sizes is not ordered, checked and planned again.

use std::sync::{Arc, Mutex, PoisonError};

use crate::check::Checked;
use crate::compile::{self, BackError, Wishes};
use crate::expand::{
    Answers, At, Described, Expanded, Frame, FrameId, Instance, Moving, Number, Refusal, expand,
};
use crate::index::{Vector, size};
use crate::ir::{DimId, Memory, Mode, Program, StatementId};
use crate::launches::{Allowed, Launch, Tuning};
use crate::operation::Operations;
use crate::order::Source;
use crate::structure::Choice;
use crate::table::{Decoded, Op};
use cuweave_ptx::poly::Poly;

use crate::runtime::error::{Error, refused_program};

use super::answers::Asked;
use super::checks::check_lengths;
use super::flattened::Flattened;
use super::moves::Moves;

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

/// A function or a program, with its lengths, and its bounds as numbers or as polynomials.
type Numbered<F> = (F, Vector<DimId, u64>, Vec<Poly>);

/// Flat functions by the address of their table, which is a static, by their lengths and the bounds that no setter changes, and
/// by the polynomials of the others. `None` where setters change no bounds though the polynomials say so.
static FLAT: Kept<Numbered<usize>, Option<Arc<Flattened>>> = Kept::new();
static CHECKED: Kept<Numbered<Program>, Checked> = Kept::new();
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

/// A flat program that is ordered and checked, with the values of this build.
pub(crate) struct Built {
    pub flat: Arc<Flattened>,
    /// The values of its lengths and bounds.
    pub dims: Vector<DimId, u64>,
    /// The values of the symbols of bounds that setters change.
    pub symbols: Vec<u64>,
}

/// Returns the flat program of a function, ordered and checked by the code that the macro checks with: bounds that setters change
/// are compared as polynomials, and all others by their values.
///
/// # Errors
///
/// Bounds without a value, a length or a range that cannot be, faults that only the values show.
pub(crate) fn flattened(
    table: &'static Decoded,
    arguments: &[Described],
    asked: &mut Asked<'_>,
) -> Result<Built, Error> {
    if !table.structure.is_flat() {
        return Ok(checked(expand(table, arguments, asked)?, asked)?.0);
    }
    let root = Vector::from(vec![Frame::outermost(table)]);
    let at = At { frames: &root, frame: FrameId::OUTERMOST, turns: &[] };
    let numbers: Result<Vector<DimId, Number>, Error> =
        table.program.dims.ids().map(|dim| asked.bound(at, dim, &mut |_| None)).collect();
    let numbers = numbers?;
    let moves = |number: &&Number| number.poly.as_constant().is_none();
    let sizes = numbers.iter().map(|number| if moves(&number) { 0 } else { number.value }).collect();
    let polys = numbers.iter().filter(moves).map(|number| number.poly.clone()).collect();
    let make = |asked: &mut Asked<'_>| {
        let expanded = expand(table, &[], &mut Known { numbers: &numbers, asked })?;
        checked(expanded, asked)
    };
    let mut made = None;
    let kept = FLAT.get_or_make((std::ptr::from_ref(table).addr(), sizes, polys), || {
        let (built, symbolic) = make(asked)?;
        let flat = made.insert(built).flat.clone();
        Ok::<_, Error>(symbolic.then_some(flat))
    })?;
    match (made, &*kept) {
        (Some(built), _) => Ok(built),
        (None, Some(flat)) => {
            let (dims, symbols) = flat.moves.values(asked, &flat.frames, &flat.sizes)?;
            if !flat.moves.is_empty() {
                check_lengths(flat.checked.program(), &dims)?;
            }
            Ok(Built { flat: flat.clone(), dims, symbols })
        }
        (None, None) => Ok(make(asked)?.0),
    }
}

/// Orders and checks a flat program for all values that setters may bring. If that cannot be proved right, it is done for the
/// values of this build, setters change no bounds, and the result is marked by `false`.
fn checked(mut expanded: Expanded, asked: &mut Asked<'_>) -> Result<(Built, bool), Error> {
    let (symbols, mut fixed) = asked.settle(&mut expanded);
    let Expanded { mut source, values, moving, elements, instances, frames } = expanded;
    check_lengths(&source.program, &values)?;
    let now: Vec<u64> = symbols.iter().map(|symbol| symbol.value).collect();
    let value = |symbol: u32| now.get(size(symbol)).map(|&value| i128::from(value));
    let with_poly = |moving: Moving| {
        let poly = source.polys[moving.dim].clone();
        (moving, poly)
    };
    let mut bounds: Vec<(Moving, Poly)> = moving.into_iter().map(with_poly).collect();
    let agrees = |(moving, poly): &(Moving, Poly)| poly.value(&value) == Some(i128::from(values[moving.dim]));
    let mut symbolic = bounds.iter().all(agrees);
    let mut sizes = values.clone();
    let checked = loop {
        if !symbolic {
            for (moving, _) in std::mem::take(&mut bounds) {
                fixed.extend(moving.of);
            }
            sizes.clone_from(&values);
            source = Source::with_values(source.program, &values);
        }
        // A bound that no setter changes keeps its value.
        let changes = bounds.iter().filter(|(_, poly)| poly.as_constant().is_none());
        changes.for_each(|(moving, _)| sizes[moving.dim] = 0);
        let polys = bounds.iter().map(|(_, poly)| poly.clone()).collect();
        let again = (!bounds.is_empty()).then(|| source.program.clone());
        let ordered = CHECKED.get_or_make((source.program.clone(), sizes.clone(), polys), || {
            let program = source.program.clone();
            let (checked, found) = compile::front(source);
            checked.ok_or_else(|| Box::new((program, found)))
        });
        match ordered {
            Ok(checked) => match again.filter(|_| is_fresh(&checked, &instances, &frames)) {
                // Of elements that are fresh for some values a kernel may read those that are written for these.
                Some(program) if is_other(&program, &values, &checked) => {
                    source = Source::with_values(program, &values);
                }
                _ => break checked,
            },
            Err(refused) if bounds.is_empty() => return Err(refused_program(&refused.0, &refused.1)),
            Err(refused) => source = Source::with_values(refused.0, &values),
        }
        symbolic = false;
    };
    let scalars = frames[FrameId::OUTERMOST].table.scalars.len();
    let moves = Moves::new(checked.program(), (symbols, bounds), scalars);
    let symbols = if moves.is_empty() { Vec::new() } else { now };
    let flat = Flattened::new(checked, (sizes, moves, &fixed), elements, instances, frames);
    Ok((Built { flat: Arc::new(flat), dims: values, symbols }, symbolic))
}

/// Returns true if a launch is given elements by `&mut` that are not proved to be written.
fn is_fresh(
    checked: &Checked,
    instances: &Vector<StatementId, Instance>,
    frames: &Vector<FrameId, Frame>,
) -> bool {
    checked.program().statements.iter().zip(instances).any(|(statement, instance)| {
        let template = &frames[instance.frame].table.program.statements[instance.template];
        let pairs = statement.accesses.iter().zip(template.accesses.iter());
        pairs.into_iter().any(|(now, written)| now.mode != written.mode)
    })
}

/// Returns true if a program has other modes for the values of this build.
fn is_other(program: &Program, values: &Vector<DimId, u64>, checked: &Checked) -> bool {
    let (numeric, _) = compile::front(Source::with_values(program.clone(), values));
    let modes = |checked: &Checked| -> Vec<Mode> {
        let statements = checked.program().statements.iter();
        statements.flat_map(|statement| statement.accesses.iter()).map(|access| access.mode).collect()
    };
    numeric.is_some_and(|numeric| modes(&numeric) != modes(checked))
}

/// The answers for a flat function whose bounds are computed.
struct Known<'k, 'b> {
    numbers: &'k Vector<DimId, Number>,
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
        Ok(self.numbers[dim].clone())
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
