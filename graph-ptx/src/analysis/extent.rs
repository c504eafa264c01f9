//! Extents: symbolic upper bounds of the accesses through each pointer, over the kernel's own parameters.
//!
//! The analysis recognises the usual guarded form: an index that a dominating comparison bounds by an expression over
//! the kernel's integer parameters, times a size, plus an offset. `condition` finds the comparisons and `derived`
//! handles indices computed from others. All other accesses are unbounded. The bounds hold for launches of fewer than
//! 2^31 threads along each axis, in which thread indices are not negative.

use crate::analysis::bits;
use crate::analysis::code::{NONE, Referent, Source, SsaFunction, StepId};
use crate::analysis::condition::{Conditions, Fact};
use crate::analysis::effect::{self, Effect};
use crate::analysis::facts::{AccessBound, PointerAccess, Site, Unbounded, VectorBound};
use crate::analysis::flow::Flow;
use crate::analysis::trace::{canonical, definition, parameter, thread_registers};
use crate::isa::{self, Arithmetic, Bitwise, Operation, unfollowed};
use crate::poly::Poly;
use crate::syntax::{Instruction, TypeClass};
use std::collections::BTreeMap;

mod derived;

/// Variables of at least this number are atoms: they stand for the bounded value of that number minus `ATOM`.
const ATOM: u32 = 1 << 24;
/// The maximum depth and number of values of an expression; larger ones have no bound.
const MAX_DEPTH: u32 = 48;
const MAX_NODES: u32 = 400;
/// The maximum number of terms of a polynomial; larger ones have no bound.
const MAX_TERMS: usize = 12;
/// The maximum number of analysed accesses per pointer and of bounds kept per access.
const MAX_ACCESSES: usize = 256;
const MAX_BOUNDS: usize = 4;

/// The result of [`reaches`].
pub(crate) struct AccessBounds {
    /// One bound per access; `None` if some access has no bound.
    pub all: Option<Vec<AccessBound>>,
    /// The bounds that some launch reaches.
    pub tight: Vec<AccessBound>,
    /// The first access without a bound, and the reason.
    pub unbounded: Option<(Site, Unbounded)>,
}

/// Finds the bounds of the accesses through one pointer.
pub(crate) fn access_bounds(
    flow: &Flow<'_, '_, '_>,
    touched: &[PointerAccess],
    site: impl Fn(StepId) -> Site,
) -> AccessBounds {
    let mut reaches = AccessBounds { all: Some(Vec::new()), tight: Vec::new(), unbounded: None };
    if touched.len() > MAX_ACCESSES {
        reaches.all = None;
    }
    let mut conditions = Conditions::new(&flow.kernel);
    for touched in touched.iter().take(MAX_ACCESSES) {
        let (mut bound, mut lost) = (None, Unbounded::Form);
        if touched.at.instance == 0 && touched.definite {
            let mut bounds = Bounds::new(&flow.kernel, flow.kinds.pointers, &mut conditions, touched.at.step);
            bound = bounds.access();
            let at = |step: u32| site(StepId { step, ..touched.at });
            lost = bounds.lost.map_or(Unbounded::Form, |lost| lost.reason(&flow.kernel, at));
        }
        match bound {
            Some((bytes, starts, tight)) => {
                let reach = AccessBound { bytes, starts, site: site(touched.at) };
                if tight && reach.bytes.len() == 1 {
                    reaches.tight.push(reach.clone());
                }
                if let Some(all) = &mut reaches.all {
                    all.push(reach);
                }
            }
            None => {
                reaches.all = None;
                reaches.unbounded.get_or_insert_with(|| (site(touched.at), lost));
            }
        }
    }
    reaches
}

/// Evaluates expressions at one step.
struct Bounds<'s, 'm, 'a> {
    code: &'s SsaFunction<'m, 'a>,
    pointers: &'s [bool],
    step: u32,
    facts: Vec<Fact>,
    /// True if no comparison on the path tightens the bounds.
    plain: bool,
    nodes: u32,
    /// The first value that is not a polynomial.
    lost: Option<StopPoint>,
}

/// The reason that the evaluation of an expression stopped, with the defining step.
#[derive(Clone, Copy)]
enum StopPoint {
    Step(u32),
    Undefined,
    Large,
}

impl<'s, 'm, 'a> Bounds<'s, 'm, 'a> {
    fn new(
        code: &'s SsaFunction<'m, 'a>,
        pointers: &'s [bool],
        conditions: &mut Conditions<'s, 'm, 'a>,
        step: u32,
    ) -> Self {
        let (mut facts, plain) = conditions.at(step);
        facts.retain(|fact| fact.value != NONE);
        Bounds { code, pointers, step, facts, plain, nodes: 0, lost: None }
    }

    /// Returns the upper bounds of the access in bytes from its pointer, and its bounds by vector start. The flag is
    /// true if there is a single bound and some launch reaches it.
    fn access(&mut self) -> Option<(Vec<Poly>, Vec<VectorBound>, bool)> {
        let step = &self.code.steps[self.step as usize];
        let instruction = step.instruction?;
        let mut addresses = step.sources.iter().filter(|source| matches!(source, Source::Memory(..)));
        let (Some(Source::Memory(place, offset)), None) = (addresses.next(), addresses.next()) else {
            return None;
        };
        let size = effect::touch(instruction, 0).size?;
        let address = match place {
            Referent::Value(value) => self.value(*value, 0)?.plus(&Poly::constant(i128::from(*offset)))?,
            _ => return None,
        };
        // The pointer must occur exactly once and with coefficient 1, since the access goes through it.
        let pointer = address.terms().find_map(|(product, coefficient)| match product {
            [id] if coefficient == 1 && self.is_pointer(*id) => Some(*id),
            _ => None,
        })?;
        let distance = address.minus(&Poly::variable(pointer))?.plus(&Poly::constant(i128::from(size)))?;
        if distance.terms().any(|(product, _)| product.iter().any(|&id| self.is_pointer(id))) {
            return None;
        }
        let starts = self.starts(&distance, size).unwrap_or_default();
        let (bytes, tight) = self.substitute(&distance)?;
        Some((bytes, starts, tight))
    }

    /// Returns a bound by vector start for each atom that is a multiple of at least 2 and is multiplied only by
    /// parameters.
    fn starts(&self, distance: &Poly, size: u32) -> Option<Vec<VectorBound>> {
        let mut starts = Vec::new();
        for atom in distance.variables().into_iter().filter(|&id| id >= ATOM) {
            let (multiple, tile) = bits::multiple(self.code, atom - ATOM);
            let (mut times, mut rest) = (Poly::default(), Poly::default());
            let mut is_linear = multiple.max(tile) > 1;
            for (product, coefficient) in distance.terms() {
                let others: Vec<u32> = product.iter().copied().filter(|&id| id != atom).collect();
                let term = Poly::from_products([(&others[..], coefficient)]);
                match product.len() - others.len() {
                    0 => rest = rest.plus(&term)?,
                    1 => {
                        is_linear &= coefficient > 0 && others.iter().all(|&id| id < ATOM);
                        times = times.plus(&term)?;
                    }
                    _ => is_linear = false,
                }
            }
            if !is_linear {
                continue;
            }
            let (rests, _) = self.substitute(&rest)?;
            for fact in self.facts.iter().filter(|fact| fact.value == atom - ATOM).take(MAX_BOUNDS) {
                starts.extend(rests.iter().map(|rest| VectorBound {
                    below: fact.below.clone(),
                    multiple,
                    tile,
                    times: times.clone(),
                    rest: rest.clone(),
                    size,
                }));
            }
        }
        Some(starts)
    }

    fn is_pointer(&self, id: u32) -> bool {
        id < ATOM && self.pointers.get(id as usize).copied().unwrap_or(false)
    }

    /// Substitutes the atoms by their bounds.
    fn substitute(&self, poly: &Poly) -> Option<(Vec<Poly>, bool)> {
        let mut atoms: BTreeMap<u32, Vec<Poly>> = BTreeMap::new();
        for (product, _) in poly.terms() {
            for &id in product.iter().filter(|&&id| id >= ATOM) {
                let bounds =
                    self.facts.iter().filter(|fact| fact.value == id - ATOM).map(|fact| fact.below.clone());
                atoms.entry(id).or_insert_with(|| {
                    let mut bounds: Vec<Poly> = bounds.collect();
                    bounds.dedup();
                    bounds.truncate(MAX_BOUNDS);
                    bounds
                });
            }
        }
        let mut tight =
            self.plain && atoms.values().all(|bounds| bounds.len() == 1) && self.is_only_constraint(&atoms);
        tight &= self.facts.iter().all(|fact| fact.tight || !atoms.contains_key(&(ATOM + fact.value)));
        let mut results = Vec::new();
        for choice in 0..MAX_BOUNDS {
            if choice > 0 && atoms.values().all(|bounds| bounds.len() <= choice) {
                break;
            }
            let mut sum = Poly::default();
            for (product, coefficient) in poly.terms() {
                let has_atoms = product.iter().any(|&id| id >= ATOM);
                if coefficient < 0 && has_atoms {
                    tight = false;
                    continue;
                }
                let mut term = Poly::constant(coefficient);
                for &id in product {
                    let factor = match atoms.get(&id) {
                        Some(bounds) => {
                            bounds.get(choice.min(bounds.len() - 1))?.minus(&Poly::constant(1))?
                        }
                        None => Poly::variable(id),
                    };
                    term = term.times(&factor)?;
                }
                sum = sum.plus(&term)?;
            }
            results.push(sum);
        }
        Some((results, tight))
    }

    /// Returns true if no other comparison on the path involves the same thread index: for `x[i]`, the condition `i +
    /// 1 < n` is stronger than `i < n`.
    fn is_only_constraint(&self, atoms: &BTreeMap<u32, Vec<Poly>>) -> bool {
        let places: Vec<_> = atoms.keys().map(|atom| thread_registers(self.code, atom - ATOM)).collect();
        self.facts.iter().all(|fact| {
            let entered = |atom: &u32| {
                definition(self.code, atom - ATOM).is_some_and(|step| {
                    step.instruction.is_none()
                        && step.sources.iter().any(|source| match source {
                            Source::Place(Referent::Value(value), 0) => {
                                canonical(self.code, *value) == fact.value
                            }
                            _ => false,
                        })
                })
            };
            if fact.joined || atoms.contains_key(&(ATOM + fact.value)) || atoms.keys().any(entered) {
                return true;
            }
            let place = thread_registers(self.code, fact.value);
            match place {
                None => atoms.is_empty(),
                Some(place) => {
                    places.iter().all(|other| other.as_ref().is_some_and(|other| place.is_disjoint(other)))
                }
            }
        })
    }

    fn source(&mut self, source: &Source<'a>, depth: u32) -> Option<Poly> {
        match source {
            Source::Constant(value) => Some(Poly::constant(i128::from(*value))),
            Source::Place(Referent::Value(value), 0) => self.value(*value, depth + 1),
            _ => None,
        }
    }

    /// Returns a value as a polynomial over parameters and atoms.
    fn value(&mut self, value: u32, depth: u32) -> Option<Poly> {
        let value = canonical(self.code, value);
        self.nodes += 1;
        let found = self.expression(value, depth);
        if found.is_none() && self.lost.is_none() {
            let at = self.code.defining(value);
            let large = depth > MAX_DEPTH || self.nodes > MAX_NODES;
            self.lost =
                Some(if large { StopPoint::Large } else { at.map_or(StopPoint::Undefined, StopPoint::Step) });
        }
        found
    }

    fn expression(&mut self, value: u32, depth: u32) -> Option<Poly> {
        if depth > MAX_DEPTH || self.nodes > MAX_NODES || value == NONE {
            return None;
        }
        if self.facts.iter().any(|fact| fact.value == value) {
            return Some(Poly::variable(ATOM + value));
        }
        let step = definition(self.code, value)?;
        if let Some(parameter) = parameter(self.code, step) {
            return Some(Poly::variable(parameter));
        }
        let instruction = step.instruction?;
        if step.guard.is_some() || step.defines.len() != 1 {
            return None;
        }
        let poly = match self.derived(value, instruction, &step.sources, depth) {
            Some(poly) => poly,
            None => self.operation(instruction, &step.sources, depth)?,
        };
        (poly.terms().count() <= MAX_TERMS).then_some(poly)
    }

    fn operation(
        &mut self,
        instruction: &Instruction<'a>,
        sources: &[Source<'a>],
        depth: u32,
    ) -> Option<Poly> {
        if instruction.types().any(|ty| ty.class() == TypeClass::Float || ty.size() < 4) {
            return None;
        }
        match (isa::row(instruction.op()).operation, sources) {
            (Operation::Move | Operation::Address, [a]) => self.source(a, depth),
            (Operation::Convert, [a]) => self.extended(a, instruction, depth),
            (Operation::Arithmetic(Arithmetic::Add), [a, b]) => {
                self.source(a, depth)?.plus(&self.source(b, depth)?)
            }
            (Operation::Arithmetic(Arithmetic::Sub), [a, b]) => {
                self.source(a, depth)?.minus(&self.source(b, depth)?)
            }
            (Operation::Arithmetic(Arithmetic::Mul), [a, b]) if instruction.has("lo") => {
                self.source(a, depth)?.times(&self.source(b, depth)?)
            }
            (Operation::Arithmetic(Arithmetic::Mul), [a, b]) if instruction.has("wide") => {
                self.extended(a, instruction, depth)?.times(&self.extended(b, instruction, depth)?)
            }
            (Operation::Arithmetic(Arithmetic::Mad), [a, b, c]) if instruction.has("lo") => {
                self.source(a, depth)?.times(&self.source(b, depth)?)?.plus(&self.source(c, depth)?)
            }
            (Operation::Arithmetic(Arithmetic::Mad), [a, b, c]) if instruction.has("wide") => {
                let product =
                    self.extended(a, instruction, depth)?.times(&self.extended(b, instruction, depth)?)?;
                product.plus(&self.source(c, depth)?)
            }
            (Operation::Bitwise(Bitwise::Shl), [a, Source::Constant(by @ 0..=31)]) => {
                self.source(a, depth)?.times(&Poly::constant(1 << by))
            }
            // Other forms, and operations that are not polynomial.
            (Operation::Move | Operation::Convert | unfollowed!(), _) => None,
        }
    }

    /// Returns a widened value. Zero extension is only followed if the value cannot be negative.
    fn extended(&mut self, source: &Source<'a>, instruction: &Instruction<'a>, depth: u32) -> Option<Poly> {
        let poly = self.source(source, depth)?;
        let signed = instruction.types().next_back().is_some_and(|ty| ty.name().starts_with('s'));
        (signed || self.at_least_zero(&poly)).then_some(poly)
    }

    fn at_least_zero(&self, poly: &Poly) -> bool {
        let mut least = Poly::default();
        for (product, coefficient) in poly.terms() {
            let has_atoms = product.iter().any(|&id| id >= ATOM);
            if has_atoms && coefficient > 0 {
                continue;
            }
            let mut term = Poly::constant(coefficient);
            for &id in product {
                let bound = self.facts.iter().find(|fact| id >= ATOM && fact.value == id - ATOM);
                let factor = match bound {
                    Some(fact) => fact.below.minus(&Poly::constant(1)),
                    None => Some(Poly::variable(id)),
                };
                match factor.and_then(|factor| term.times(&factor)) {
                    Some(product) => term = product,
                    None => return false,
                }
            }
            match least.plus(&term) {
                Some(sum) => least = sum,
                None => return false,
            }
        }
        least.at_least_zero()
    }
}

impl StopPoint {
    /// Returns the reason that the value at which the evaluation stopped has no bound.
    fn reason(self, code: &SsaFunction<'_, '_>, site: impl Fn(u32) -> Site) -> Unbounded {
        let at = match self {
            StopPoint::Step(at) => at,
            StopPoint::Undefined => return Unbounded::Form,
            StopPoint::Large => return Unbounded::Large,
        };
        let step = &code.steps[at as usize];
        let Some(instruction) = step.instruction else { return Unbounded::Joined };
        let special = step.sources.iter().find_map(|source| match source {
            Source::Special(name) => Some((*name).to_owned()),
            _ => None,
        });
        match (special, effect::effect(instruction), &step.sources[..]) {
            (Some(name), ..) => Unbounded::Special(name),
            (None, Effect::Load, [Source::Memory(Referent::Parameter(_), _)]) => Unbounded::Part,
            (None, Effect::Load, _) => Unbounded::Loaded(site(at)),
            _ => Unbounded::Computed(site(at)),
        }
    }
}
