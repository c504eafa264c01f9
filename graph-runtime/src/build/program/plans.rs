//! The caches of a build: a function with the same sizes is ordered, checked and planned once.
//!
//! [`flattened`] returns the flat program of a function, [`operations`] its plan. `recall.rs` avoids the
//! expansion as well. Each cache keeps the latest entries, by linear search.

use std::sync::{Arc, Mutex, PoisonError};

use cuweave_core::check::Checked;
use cuweave_core::compile::{self, BackError, BackendOptions};
use cuweave_core::expand::fixed::{self, FixedReason};
use cuweave_core::expand::{
    Answers, ArgumentDescription, DimValue, Expanded, ExpansionFault, ExpansionPoint, Frame, FrameId,
    SettableBound, StatementOrigin, assume_extents, expand,
};
use cuweave_core::index::{Vector, size};
use cuweave_core::ir::{DimId, Mode, Program, StatementId};
use cuweave_core::operation::Operations;
use cuweave_core::order::{Functions, LoweredProgram};
use cuweave_core::structure::Choice;
use cuweave_core::table::{BoundOp, DecodedFunction, TableHandle};
use cuweave_ptx::poly::Poly;

use crate::build::arguments::answers::BodyEvaluator;
use crate::build::arguments::checks::check_lengths;
use crate::error::Error;
use crate::error::program::refused_program;
use cuweave_core::settable_bounds::{BoundValues, SettableBounds};

use super::recall::{recall_build, remember};
use cuweave_core::flattened::{Flattened, SizedProgram};

/// The key of a plan.
struct PlanKey {
    /// Equal programs share one allocation, so its address identifies the program.
    checked: Arc<Checked>,
    dims: Vector<DimId, u64>,
    backend_options: BackendOptions,
}

/// A cache of up to [`MAX_CACHED`] values, oldest first.
struct BuildCache<K, V>(Mutex<Vec<(K, Arc<V>)>>);

/// The capacity of a cache. The oldest value is dropped first.
const MAX_CACHED: usize = 32;

impl<K, V> BuildCache<K, V> {
    const fn new() -> BuildCache<K, V> {
        BuildCache(Mutex::new(Vec::new()))
    }

    /// Returns the value of a key, and makes it if it is not cached. `make` runs without the lock, since
    /// planning is slow. Two threads may make the same value; these are equal.
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

    /// Returns the latest value whose key satisfies `is`.
    fn find(&self, is: impl Fn(&K) -> bool) -> Option<Arc<V>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|(key, _)| is(key)).map(|(_, value)| value.clone())
    }

    fn keep(&self, key: K, value: Arc<V>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropped after the lock is released.
        let _dropped = (kept.len() >= MAX_CACHED).then(|| kept.remove(0));
        kept.push((key, value));
        drop(kept);
    }
}

/// A key with the values of lengths and bounds. The numbers come first in the comparison, since they are what
/// differs between programs of one function.
#[derive(PartialEq)]
struct SizedKey<F> {
    /// The lengths, and the bounds that no setter changes.
    sizes: Vector<DimId, u64>,
    /// The bounds that setters change.
    polys: Vec<Poly>,
    of: F,
}

/// Flat functions, keyed by the address of their static table. `None` if setters change no bounds, or not all of
/// them, although the polynomials suggest so.
static FLAT: BuildCache<SizedKey<usize>, Option<Arc<Flattened>>> = BuildCache::new();
static CHECKED: BuildCache<SizedKey<(Arc<Program>, Functions)>, Checked> = BuildCache::new();
static PLANS: BuildCache<PlanKey, Operations> = BuildCache::new();

impl PlanKey {
    fn is(
        &self,
        checked: &Arc<Checked>,
        dims: &Vector<DimId, u64>,
        backend_options: &BackendOptions,
    ) -> bool {
        Arc::ptr_eq(&self.checked, checked) && self.dims == *dims && self.backend_options == *backend_options
    }
}

/// Returns the flat program of a function, ordered and checked by the same code as in the macro. Bounds that
/// setters change are compared as polynomials, all others by their values.
///
/// # Errors
///
/// Bounds without a value, invalid lengths and ranges, and faults that depend on the values.
pub(crate) fn flattened(
    table: &TableHandle,
    arguments: &[ArgumentDescription],
    asked: &mut BodyEvaluator<'_>,
) -> Result<SizedProgram, Error> {
    let TableHandle::Static(static_table) = *table else {
        return Ok(order_and_check(expand(table, arguments, asked)?, arguments, asked)?.0);
    };
    if let Some(built) = recall_build(static_table, arguments, asked) {
        return Ok(built);
    }
    let built = expand_and_check(static_table, arguments, asked)?;
    remember(static_table, arguments, asked, &built);
    Ok(built)
}

/// Like [`flattened`], but expands the function.
fn expand_and_check(
    table: &'static DecodedFunction,
    arguments: &[ArgumentDescription],
    asked: &mut BodyEvaluator<'_>,
) -> Result<SizedProgram, Error> {
    let handle = TableHandle::Static(table);
    if !table.structure.is_flat() {
        return Ok(order_and_check(expand(&handle, arguments, asked)?, arguments, asked)?.0);
    }
    let root = Vector::from(vec![Frame::outermost(handle.clone())]);
    let at = ExpansionPoint { frames: &root, frame: FrameId::OUTERMOST, loop_values: &[] };
    let numbers: Result<Vector<DimId, DimValue>, Error> =
        table.program.dims.ids().map(|dim| asked.bound(at, dim, &mut |_| None)).collect();
    let numbers = numbers?;
    let moves = |number: &&DimValue| number.poly.as_constant().is_none();
    let mut sizes: Vector<DimId, u64> =
        numbers.iter().map(|number| if moves(&number) { 0 } else { number.value }).collect();
    table.program.buffers.iter().for_each(|buffer| sizes[buffer.len] = numbers[buffer.len].value);
    let polys = numbers.iter().filter(moves).map(|number| number.poly.clone()).collect();
    let make = |asked: &mut BodyEvaluator<'_>| {
        let expanded = expand(&handle, &[], &mut KnownBounds { numbers: &numbers, asked })?;
        order_and_check(expanded, &[], asked)
    };
    let mut made = None;
    let key = SizedKey { sizes, polys, of: std::ptr::from_ref(table).addr() };
    let kept = FLAT.get_or_make(key, |_| {
        let (built, symbolic) = make(asked)?;
        let flat = made.insert(built).flat.clone();
        Ok::<_, Error>(symbolic.then_some(flat))
    })?;
    match (made, &*kept) {
        (Some(built), _) => Ok(built),
        (None, Some(flat)) => match flat.moves.values(asked, &flat.frames, &flat.sizes) {
            Ok(BoundValues { dims, symbols }) => {
                if !flat.moves.is_empty() {
                    check_lengths(flat.checked.program(), &dims)?;
                }
                Ok(SizedProgram { flat: flat.clone(), dims, symbols })
            }
            // The polynomial does not represent a bound with a negative intermediate value.
            Err(_) => Ok(make(asked)?.0),
        },
        (None, None) => Ok(make(asked)?.0),
    }
}

/// Orders and checks a flat program for all values that setters may bring, and returns `true`. If that proof
/// fails, repeats it for the values of this build only and returns `false`; setters then change no bounds. Also
/// returns `false` if a node keeps bounds that setters of the table would change.
fn order_and_check(
    mut expanded: Expanded,
    arguments: &[ArgumentDescription],
    asked: &mut BodyEvaluator<'_>,
) -> Result<(SizedProgram, bool), Error> {
    let (symbols, mut fixed) = asked.symbols.substitute_fixed(&mut expanded);
    let Expanded { mut source, values, moving, elements, instances, frames } = expanded;
    check_lengths(&source.program, &values)?;
    let now: Vec<u64> = symbols.iter().map(|symbol| symbol.value).collect();
    let value = |symbol: u32| now.get(size(symbol)).map(|&value| i128::from(value));
    let with_poly = |moving: SettableBound| {
        let poly = source.polys[moving.dim].clone();
        (moving, poly)
    };
    let mut bounds: Vec<(SettableBound, Poly)> = moving.into_iter().map(with_poly).collect();
    let agrees =
        |(moving, poly): &(SettableBound, Poly)| poly.value(&value) == Some(i128::from(values[moving.dim]));
    let mut symbolic = bounds.iter().all(agrees);
    let mut sizes = values.clone();
    let mut polys = (!bounds.is_empty()).then(|| (source.polys.clone(), source.may_be_zero));
    let functions = source.regions.functions.clone();
    let by_values = |program: Program| LoweredProgram::with_values(program, functions.clone(), &values);
    let (written, checked) = loop {
        if !symbolic {
            for (moving, _) in std::mem::take(&mut bounds) {
                fixed::add(&mut fixed, moving.of, FixedReason::Value);
            }
            sizes.clone_from(&values);
            source = by_values(source.program);
        }
        let changes = bounds.iter().filter(|(_, poly)| poly.as_constant().is_none());
        changes.for_each(|(moving, _)| sizes[moving.dim] = 0);
        source.program.buffers.iter().for_each(|buffer| sizes[buffer.len] = values[buffer.len]);
        let of_bounds = bounds.iter().map(|(_, poly)| poly.clone()).collect();
        let again = (!bounds.is_empty()).then(|| source.program.clone());
        let written = Arc::new(source.program.clone());
        let key =
            SizedKey { sizes: sizes.clone(), polys: of_bounds, of: (written.clone(), functions.clone()) };
        let ordered = CHECKED.get_or_make(key, |SizedKey { of: (program, _), .. }| {
            let (checked, found) = compile::front(source);
            checked.ok_or_else(|| Box::new((Program::clone(program), found)))
        });
        let program = match ordered {
            Ok(checked) => match again.filter(|_| has_unproved_elements(&checked, &instances, &frames)) {
                // Elements that are unwritten for some values of scalars may be written, and read, for the
                // current values.
                Some(program) if has_other_modes(by_values(program.clone()), &checked) => program,
                _ => break (written, checked),
            },
            Err(refused) if bounds.is_empty() => return Err(refused_program(&refused.0, &refused.1)),
            Err(refused) => refused.0,
        };
        source = by_values(program);
        symbolic = false;
        if let Some((mut polys, may_be_zero)) = polys.take().filter(|_| !bounds.is_empty())
            && assume_extents(&source.program, &frames, &symbols, &values, &mut polys)
        {
            bounds.iter_mut().for_each(|(moving, poly)| poly.clone_from(&polys[moving.dim]));
            source = LoweredProgram { polys, may_be_zero, ..source };
            symbolic = true;
        }
    };
    // Then constants of the flat program depend on scalars that are settable in the table.
    let kept = |reason: &FixedReason| matches!(reason, FixedReason::Rows(_) | FixedReason::Address(_));
    symbolic &= !fixed.values().any(kept);
    let scalars = frames[FrameId::OUTERMOST].table.scalars.len();
    let moves = SettableBounds::new(checked.program(), symbols, bounds, scalars);
    let symbols = if moves.is_empty() { Vec::new() } else { now };
    let scalars = Vector::new();
    let flat = Flattened { written, checked, sizes, moves, elements, instances, frames, scalars, fixed }
        .with_scalars(arguments);
    Ok((SizedProgram { flat: Arc::new(flat), dims: values, symbols }, symbolic))
}

/// Returns true if a launch takes elements by `&mut` that are not proved to be written before.
fn has_unproved_elements(
    checked: &Checked,
    instances: &Vector<StatementId, StatementOrigin>,
    frames: &Vector<FrameId, Frame>,
) -> bool {
    checked.program().statements.iter().zip(instances).any(|(statement, instance)| {
        let template = &frames[instance.frame].table.program.statements[instance.template];
        let pairs = statement.accesses.iter().zip(template.accesses.iter());
        pairs.into_iter().any(|(now, written)| now.mode != written.mode)
    })
}

/// Returns true if some access of the program has another mode for the values of this build.
fn has_other_modes(numeric: LoweredProgram, checked: &Checked) -> bool {
    let (numeric, _) = compile::front(numeric);
    let modes = |checked: &Checked| -> Vec<Mode> {
        let statements = checked.program().statements.iter();
        statements.flat_map(|statement| statement.accesses.iter()).map(|access| access.mode).collect()
    };
    numeric.is_some_and(|numeric| modes(&numeric) != modes(checked))
}

/// Answers for a flat function whose bounds are known already.
struct KnownBounds<'k, 'b> {
    numbers: &'k Vector<DimId, DimValue>,
    asked: &'k mut BodyEvaluator<'b>,
}

impl Answers for KnownBounds<'_, '_> {
    type Error = Error;

    fn bound(
        &mut self,
        _: ExpansionPoint<'_>,
        dim: DimId,
        _: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Result<DimValue, Error> {
        Ok(self.numbers[dim].clone())
    }

    fn arm(&mut self, at: ExpansionPoint<'_>, choice: &Choice) -> Result<u32, Error> {
        self.asked.arm(at, choice)
    }

    fn callee(&mut self, at: ExpansionPoint<'_>, call: StatementId) -> Result<TableHandle, Error> {
        self.asked.callee(at, call)
    }

    fn refused(
        &mut self,
        at: ExpansionPoint<'_>,
        statement: Option<StatementId>,
        refusal: ExpansionFault,
    ) -> Error {
        self.asked.refused(at, statement, refusal)
    }
}

/// Like [`compile::back`], but cached.
pub(crate) fn operations(
    checked: &Arc<Checked>,
    dims: &Vector<DimId, u64>,
    backend_options: &BackendOptions,
) -> Result<Arc<Operations>, BackError> {
    if let Some(operations) = PLANS.find(|key| key.is(checked, dims, backend_options)) {
        return Ok(operations);
    }
    let operations = Arc::new(compile::back(checked, dims, backend_options)?);
    let key =
        PlanKey { checked: checked.clone(), dims: dims.clone(), backend_options: backend_options.clone() };
    PLANS.keep(key, operations.clone());
    Ok(operations)
}
