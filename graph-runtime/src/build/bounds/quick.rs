//! The short way of a setter that moves ranges: all bounds that it changes are `factor * v + constant` for the value `v` of one
//! expression, as a position in a cache is.
//!
//! [`Quick::of`] computes the forms from the code of the bounds, compares them with the bounds' polynomials, and computes for which `v`
//! no number of the code has a fault, all ranges lie in their buffers and all parts in their parts. For such a `v` the checks of
//! [`Moves`](super::moves::Moves) pass, so [`Quick::ask`] evaluates the user's expressions, compares those that do not depend on the
//! setter with the values that they had, and is done. In every other case the setter takes the long way, which says what is wrong.

use cuweave_core::expand::symbols::Meaning;
use cuweave_core::expand::{ExpansionPoint as Place, Formula, Frame, FrameId, Number};
use cuweave_core::ids::{LeafId, ScalarId};
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::{DimId, StatementId};
use cuweave_core::operation::{Operations, PointedId};
use cuweave_core::table::Op;
use cuweave_ptx::poly::Poly;

use crate::build::arguments::answers::Asked;
use crate::build::arguments::body::{Body, enter};
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::statements::Dim;
use crate::token::Token;
use cuweave_core::flattened::Flattened;

use cuweave_core::moves::target;

/// The maximum number of expressions that are evaluated. With more the long way is as good.
const MOST_ASKS: usize = 64;

/// The bounds that a setter changes, as functions of the values of expressions.
#[derive(Debug)]
pub(crate) struct Quick {
    /// The expressions, in the order in which they are evaluated.
    asks: Vec<Ask>,
    /// The symbols, each with the index of its expression.
    symbols: Vec<(usize, usize)>,
    bounds: Vec<(DimId, Line)>,
    /// The distances of accesses from the starts of their buffers, in bytes.
    targets: Vec<(PointedId, Line)>,
    /// The values of the expressions.
    values: Vec<u64>,
    /// The values of the symbols before the last change.
    before: Vec<u64>,
}

/// An expression that is evaluated.
#[derive(Debug)]
struct Ask {
    frame: FrameId,
    leaf: LeafId,
    turns: Box<[i64]>,
    /// The first and the last value that need no check.
    from: u64,
    to: u64,
    /// The value that it must have, if it is computed of others.
    is: Option<Line>,
}

/// `factor * v + constant` modulo 2^64, for the value of the expression of that index; the values of forms fit.
#[derive(Clone, Copy, Debug)]
struct Line {
    of: usize,
    factor: u64,
    constant: u64,
}

impl Line {
    fn value(self, values: &[u64]) -> u64 {
        let of = values.get(self.of).copied().unwrap_or(0);
        self.factor.wrapping_mul(of).wrapping_add(self.constant)
    }
}

impl Quick {
    /// Returns the short way of a scalar's setter, for the values that are in place; `None` if there is none.
    pub fn of(
        scalar: ScalarId,
        body: &dyn Body,
        definition: &Definition,
        built: &BuiltGraph,
    ) -> Option<Quick> {
        let flat = &*definition.flat;
        let mut forms = Forms { flat, definition, asked: Asked::new(body), asks: Vec::new() };
        let moved = &flat.moves.of[scalar];
        let mut symbols = Vec::new();
        for &symbol in moved.symbols() {
            let declared = &flat.moves.symbols[symbol];
            let Meaning::Leaf(frame, leaf, turns) = &declared.meaning else { return None };
            if declared.of.iter().any(|&other| other != scalar) {
                return None;
            }
            let at = Place { frames: &flat.frames, frame: *frame, turns };
            symbols.push((symbol, forms.ask(at, *leaf, None)?));
        }
        let mut bounds: Vec<(DimId, Form)> = Vec::new();
        for &bound in moved.bounds() {
            let (moving, poly) = &flat.moves.bounds[bound];
            let form = match &moving.formula {
                Formula::Code { frame, dim, turns, lengths } => {
                    let at = Place { frames: &flat.frames, frame: *frame, turns };
                    forms.code(at, *dim, lengths)?
                }
                Formula::Sum(one, other) => {
                    forms.bound(&bounds, *one)?.plus(forms.bound(&bounds, *other)?, 1)?
                }
            };
            // A sum that saturates is a bound of no range.
            forms.within(form, 0, i128::from(u64::MAX) - 1)?;
            if !form.is(poly, &symbols) {
                return None;
            }
            bounds.push((moving.dim, form));
        }
        forms.check(&bounds, moved.accesses.as_slice(), moved.views())?;
        let targets = forms.targets(&bounds, &moved.accesses, &built.plan.operations)?;
        let bounds = bounds.into_iter().map(|(dim, form)| (dim, form.line(1))).collect();
        let (values, before) = (vec![0; forms.asks.len()], vec![0; symbols.len()]);
        Some(Quick { asks: forms.asks, symbols, bounds, targets, values, before })
    }

    /// Evaluates the user's expressions. Returns true if their values need no more checks; [`Quick::put`] puts them in place.
    pub fn ask(&mut self, body: &dyn Body, frames: &Vector<FrameId, Frame>) -> bool {
        for (at, ask) in self.asks.iter().enumerate() {
            let leaf = ask.leaf.as_u32();
            let value = if ask.frame == FrameId::OUTERMOST {
                Some(body.leaf(leaf, &ask.turns, Token))
            } else {
                enter(body, frames, ask.frame, &mut |body| body.leaf(leaf, &ask.turns, Token))
            };
            let Some(Ok(value)) = value.map(Dim::value) else { return false };
            let fits = match ask.is {
                Some(line) => value == line.value(&self.values[..at]),
                None => (ask.from..=ask.to).contains(&value),
            };
            if !fits {
                return false;
            }
            self.values[at] = value;
        }
        true
    }

    /// Puts the bounds for the evaluated expressions in place.
    pub fn put(&mut self, definition: &mut Definition, built: &mut BuiltGraph) {
        for (&(symbol, ask), before) in self.symbols.iter().zip(&mut self.before) {
            *before = std::mem::replace(&mut definition.symbols[symbol], self.values[ask]);
        }
        for &(dim, line) in &self.bounds {
            definition.dims[dim] = line.value(&self.values);
        }
        let Some(pointed) = &mut built.state.pointed else { return };
        for &(target, line) in &self.targets {
            pointed[target].offset = line.value(&self.values);
        }
    }

    /// Puts the bounds from before the last [`Quick::put`] in place.
    pub fn put_back(&mut self, definition: &mut Definition, built: &mut BuiltGraph) {
        for (&(_, ask), &value) in self.symbols.iter().zip(&self.before) {
            self.values[ask] = value;
        }
        self.put(definition, built);
    }
}

/// `factor * v + constant` for the value of the expression of that index; without one the constant alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    of: Option<usize>,
    factor: i128,
    constant: i128,
    /// True if the code computes with negative numbers there.
    signed: bool,
}

impl Form {
    fn number(constant: i128, signed: bool) -> Form {
        Form { of: None, factor: 0, constant, signed }
    }

    fn plus(self, other: Form, sign: i128) -> Option<Form> {
        let of = match (self.of, other.of) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        Some(Form {
            of,
            factor: self.factor.checked_add(other.factor.checked_mul(sign)?)?,
            constant: self.constant.checked_add(other.constant.checked_mul(sign)?)?,
            signed: self.signed || other.signed,
        })
    }

    fn times(self, other: Form) -> Option<Form> {
        let (of, by) = match (self.of, other.of) {
            (Some(_), Some(_)) => return None,
            (None, _) => (other, self.constant),
            (Some(_), None) => (self, other.constant),
        };
        Some(Form {
            of: of.of,
            factor: of.factor.checked_mul(by)?,
            constant: of.constant.checked_mul(by)?,
            signed: self.signed || other.signed,
        })
    }

    /// Returns true if it is the polynomial of a bound.
    fn is(self, poly: &Poly, symbols: &[(usize, usize)]) -> bool {
        let mut of = Form::number(0, self.signed);
        for (product, coefficient) in poly.terms() {
            match *product {
                [] => of.constant = coefficient,
                [symbol] => {
                    let known = symbols.iter().find(|(known, _)| *known == size(symbol));
                    let Some(&(_, ask)) = known.filter(|_| of.of.is_none()) else { return false };
                    (of.of, of.factor) = (Some(ask), coefficient);
                }
                _ => return false,
            }
        }
        self.constant == of.constant && self.factor == of.factor && (of.of.is_none() || self.of == of.of)
    }

    /// Returns it, times an element's bytes, modulo 2^64.
    fn line(self, bytes: u64) -> Line {
        // The remainder lies in 0..2^64.
        let low = |value: i128| u64::try_from(value.rem_euclid(1 << 64)).unwrap_or(0).wrapping_mul(bytes);
        Line { of: self.of.unwrap_or(usize::MAX), factor: low(self.factor), constant: low(self.constant) }
    }
}

/// The forms of bounds while they are computed.
struct Forms<'f> {
    flat: &'f Flattened,
    definition: &'f Definition,
    asked: Asked<'f>,
    asks: Vec<Ask>,
}

impl<'f> Forms<'f> {
    /// Returns the index of an expression that is evaluated: with any value, or with the one that `is` says.
    fn ask(&mut self, at: Place<'f>, leaf: LeafId, is: Option<Form>) -> Option<usize> {
        if let Some(known) = self.known(at, leaf) {
            return Some(known);
        }
        let value = self.asked.leaf_dim(at, leaf).ok()?.value().ok()?;
        if self.asks.len() >= MOST_ASKS {
            return None;
        }
        if is.is_some_and(|form| form.of.is_none() && form.constant != i128::from(value)) {
            return None;
        }
        let is = is.map(|form| form.line(1));
        self.asks.push(Ask { frame: at.frame, leaf, turns: at.mentioned(leaf), from: 0, to: u64::MAX, is });
        Some(self.asks.len() - 1)
    }

    /// Returns the index of an expression that is evaluated already.
    fn known(&self, at: Place<'f>, leaf: LeafId) -> Option<usize> {
        let turns: Box<[i64]> = at.mentioned(leaf);
        self.asks.iter().position(|ask| ask.frame == at.frame && ask.leaf == leaf && ask.turns == turns)
    }

    /// Returns the form of an expression of a bound.
    fn leaf(&mut self, at: Place<'f>, leaf: LeafId) -> Option<Form> {
        let signed = self.asked.leaf_dim(at, leaf).ok()?.is_signed();
        if let Some(known) = self.known(at, leaf) {
            return Some(match self.asks[known].is {
                None => Form { of: Some(known), factor: 1, constant: 0, signed },
                Some(_) => return self.computed(at, leaf, signed),
            });
        }
        self.computed(at, leaf, signed)
    }

    /// Returns the form of an expression that is no symbol: a parameter, or one that no setter of a bound reaches.
    fn computed(&mut self, at: Place<'f>, leaf: LeafId, signed: bool) -> Option<Form> {
        let roots = self.asked.symbols.roots(at.frames, at.frame);
        if at.scalars(leaf).iter().all(|&scalar| roots[scalar].is_empty()) {
            let value = self.asked.leaf_dim(at, leaf).ok()?.integer().ok()?;
            let form = Form::number(value, signed);
            self.ask(at, leaf, Some(form))?;
            return Some(form);
        }
        let (caller, argument) = at.passed(leaf)?;
        let outer = caller.table();
        if let [Op::Leaf(passed)] = outer.dims[argument].as_slice()
            && outer.scalars.iter().any(|scalar| scalar.leaf == Some(*passed))
        {
            // A variable is passed on as it is.
            return self.leaf(caller, *passed);
        }
        let form = Form { signed, ..self.code(caller, argument, &[])? };
        self.ask(at, leaf, Some(form))?;
        Some(form)
    }

    /// Returns the form that the code of a bound computes.
    fn code(&mut self, at: Place<'f>, dim: DimId, lengths: &[(Op, Number)]) -> Option<Form> {
        let mut stack: Vec<Form> = Vec::new();
        for &op in &at.table().dims[dim] {
            let form = match op {
                Op::Constant(value) => Form::number(i128::from(value), false),
                Op::Leaf(leaf) => self.leaf(at, leaf)?,
                Op::Variable(variable) => Form::number(i128::from(*at.turns.get(variable.index())?), true),
                Op::Length(_) | Op::Extent(_) => {
                    let length = lengths.iter().find(|(known, _)| *known == op);
                    let (_, number) = length.filter(|(_, number)| number.poly.as_constant().is_some())?;
                    Form::number(i128::from(number.value), false)
                }
                Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    let numbers = left.of.is_none() && right.of.is_none();
                    let signed = left.signed || right.signed;
                    match op {
                        Op::Add => left.plus(right, 1)?,
                        Op::Sub => left.plus(right, -1)?,
                        Op::Mul => left.times(right)?,
                        Op::Div if numbers => {
                            Form::number(left.constant.checked_div(right.constant)?, signed)
                        }
                        Op::Rem if numbers => {
                            Form::number(left.constant.checked_rem(right.constant)?, signed)
                        }
                        _ => return None,
                    }
                }
            };
            let least = if form.signed { i128::from(i64::MIN) } else { 0 };
            self.within(form, least, i128::from(u64::MAX))?;
            stack.push(form);
        }
        let form = stack.pop().filter(|_| stack.is_empty())?;
        self.within(form, 0, i128::from(u64::MAX))?;
        Some(form)
    }

    /// Returns the form of a bound of the program.
    fn bound(&self, moved: &[(DimId, Form)], dim: DimId) -> Option<Form> {
        if let Ok(at) = moved.binary_search_by_key(&dim, |&(known, _)| known) {
            return Some(moved[at].1);
        }
        let fixed = !self.flat.moves.moves(dim);
        fixed.then(|| Form::number(i128::from(self.definition.dims[dim]), false))
    }

    /// Lets the short way be taken only where a form lies between two numbers.
    fn within(&mut self, form: Form, least: i128, most: i128) -> Option<()> {
        let Some(of) = form.of.filter(|_| form.factor != 0) else {
            return (least..=most).contains(&form.constant).then_some(());
        };
        let (low, high) = (least.checked_sub(form.constant)?, most.checked_sub(form.constant)?);
        let (low, high) = if form.factor > 0 { (low, high) } else { (high, low) };
        // `div_euclid` rounds down for a factor above 0, up for one below.
        let rest = |number: i128| i128::from(number.rem_euclid(form.factor) != 0);
        let (up, down) = (low.div_euclid(form.factor), high.div_euclid(form.factor));
        let (up, down) = if form.factor > 0 { (up + rest(low), down) } else { (up, down - rest(high)) };
        let ask = &mut self.asks[of];
        ask.from = ask.from.max(u64::try_from(up.max(0)).ok()?);
        ask.to = ask.to.min(u64::try_from(down.min(i128::from(u64::MAX))).ok()?);
        (ask.from <= ask.to).then_some(())
    }

    /// Lets the short way be taken only where the ranges lie in their buffers, and the parts in their parts.
    fn check(
        &mut self,
        bounds: &[(DimId, Form)],
        accesses: &[(StatementId, usize)],
        views: &[usize],
    ) -> Option<()> {
        let program = self.flat.checked.program();
        let rise = |forms: &mut Forms<'f>, one: DimId, other: DimId| {
            let (one, other) = (forms.bound(bounds, one)?, forms.bound(bounds, other)?);
            forms.within(other.plus(one, -1)?, 0, i128::MAX >> 1)
        };
        for &(statement, access) in accesses {
            let access = &program.statements[statement].accesses[access];
            rise(self, access.lo, access.hi)?;
            rise(self, access.hi, program.buffers[access.buffer].len)?;
        }
        for &view in views {
            let view = &program.views[view];
            rise(self, view.of.0, view.lo)?;
            rise(self, view.lo, view.hi)?;
            rise(self, view.hi, view.of.1)?;
        }
        Some(())
    }

    /// Returns the distances of accesses from the starts of their buffers, in bytes.
    fn targets(
        &self,
        bounds: &[(DimId, Form)],
        accesses: &[(StatementId, usize)],
        operations: &Operations,
    ) -> Option<Vec<(PointedId, Line)>> {
        let program = self.flat.checked.program();
        let one = |&(statement, index): &(StatementId, usize)| {
            let access = &program.statements[statement].accesses[index];
            let bytes = u64::from(program.buffers[access.buffer].element);
            Some((target(operations, statement, index), self.bound(bounds, access.lo)?.line(bytes)))
        };
        accesses.iter().map(one).collect()
    }
}
