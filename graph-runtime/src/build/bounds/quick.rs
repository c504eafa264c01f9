//! The fast path of a setter that moves ranges. It applies if every bound that the setter changes is
//! `factor * v + constant`, where `v` is the value of one expression: a position in a cache, for example.
//!
//! [`Quick::of`] derives these linear forms from the code of the bounds and compares them with the bounds'
//! polynomials. It also computes the interval of `v` in which no operation of the code fails and all ranges and
//! views stay in bounds.
//!
//! In that interval the checks of [`Moves`](cuweave_core::moves::Moves) pass. So [`Quick::ask`] only evaluates
//! the user's expressions and compares those that do not depend on the setter with their old values. Otherwise
//! the setter takes the slow path, which also reports what is wrong.

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

/// The maximum number of expressions to evaluate. With more of them the slow path costs no more.
const MOST_ASKS: usize = 64;

/// The bounds that a setter changes, as linear functions of the values of expressions.
#[derive(Debug)]
pub(crate) struct Quick {
    /// The expressions, in the order of evaluation.
    asks: Vec<Ask>,
    /// The symbols, each with the index of its expression in `asks`.
    symbols: Vec<(usize, usize)>,
    bounds: Vec<(DimId, Line)>,
    /// The byte offsets of accesses in their buffers.
    targets: Vec<(PointedId, Line)>,
    /// The current values of the expressions.
    values: Vec<u64>,
    /// The values of the symbols before the last [`Quick::put`].
    before: Vec<u64>,
}

/// An expression to evaluate.
#[derive(Debug)]
struct Ask {
    frame: FrameId,
    leaf: LeafId,
    turns: Box<[i64]>,
    /// The interval of values, bounds included, that needs no further check.
    from: u64,
    to: u64,
    /// The required value, if it follows from other expressions.
    is: Option<Line>,
}

/// `factor * v + constant` modulo 2^64, where `v` is the value of expression `of`. The result of a checked form
/// fits 64 bits.
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
    /// Returns the fast path of a scalar's setter for the current values. `None` if the setter has none.
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
            // A saturated sum (`u64::MAX`) is not a valid bound.
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

    /// Evaluates the user's expressions. Returns true if their values need no further checks; [`Quick::put`]
    /// then stores the bounds.
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

    /// Stores the bounds for the values of the last [`Quick::ask`].
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

    /// Restores the bounds from before the last [`Quick::put`].
    pub fn put_back(&mut self, definition: &mut Definition, built: &mut BuiltGraph) {
        for (&(_, ask), &value) in self.symbols.iter().zip(&self.before) {
            self.values[ask] = value;
        }
        self.put(definition, built);
    }
}

/// `factor * v + constant`, where `v` is the value of expression `of`. `None` in `of` means a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    of: Option<usize>,
    factor: i128,
    constant: i128,
    /// True if the code computes this value with signed numbers.
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

    /// Returns true if the form equals a bound's polynomial.
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

    /// Returns the form times the element size, modulo 2^64.
    fn line(self, bytes: u64) -> Line {
        let low = |value: i128| u64::try_from(value.rem_euclid(1 << 64)).unwrap_or(0).wrapping_mul(bytes);
        Line { of: self.of.unwrap_or(usize::MAX), factor: low(self.factor), constant: low(self.constant) }
    }
}

/// The state of deriving forms.
struct Forms<'f> {
    flat: &'f Flattened,
    definition: &'f Definition,
    asked: Asked<'f>,
    asks: Vec<Ask>,
}

impl<'f> Forms<'f> {
    /// Returns the index of an expression in `asks`, and adds it if needed. `is` is the form that its value
    /// must have.
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

    /// Returns the index of an expression if it is in `asks`.
    fn known(&self, at: Place<'f>, leaf: LeafId) -> Option<usize> {
        let turns: Box<[i64]> = at.mentioned(leaf);
        self.asks.iter().position(|ask| ask.frame == at.frame && ask.leaf == leaf && ask.turns == turns)
    }

    /// Returns the form of a leaf of a bound.
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

    /// Returns the form of an expression that is not a symbol: a parameter of a callee, or an expression that
    /// no setter reaches.
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

    /// Returns the form of a bound of the program: one of `moved`, or a constant.
    fn bound(&self, moved: &[(DimId, Form)], dim: DimId) -> Option<Form> {
        if let Ok(at) = moved.binary_search_by_key(&dim, |&(known, _)| known) {
            return Some(moved[at].1);
        }
        let fixed = !self.flat.moves.moves(dim);
        fixed.then(|| Form::number(i128::from(self.definition.dims[dim]), false))
    }

    /// Restricts the fast path to values for which `form` lies in `least..=most`. Returns `None` if there are
    /// no such values.
    fn within(&mut self, form: Form, least: i128, most: i128) -> Option<()> {
        let Some(of) = form.of.filter(|_| form.factor != 0) else {
            return (least..=most).contains(&form.constant).then_some(());
        };
        let (low, high) = (least.checked_sub(form.constant)?, most.checked_sub(form.constant)?);
        let (low, high) = if form.factor > 0 { (low, high) } else { (high, low) };
        let rest = |number: i128| i128::from(number.rem_euclid(form.factor) != 0);
        let (up, down) = (low.div_euclid(form.factor), high.div_euclid(form.factor));
        let (up, down) = if form.factor > 0 { (up + rest(low), down) } else { (up, down - rest(high)) };
        let ask = &mut self.asks[of];
        ask.from = ask.from.max(u64::try_from(up.max(0)).ok()?);
        ask.to = ask.to.min(u64::try_from(down.min(i128::from(u64::MAX))).ok()?);
        (ask.from <= ask.to).then_some(())
    }

    /// Restricts the fast path to values for which all ranges lie in their buffers and all nested views in
    /// their outer views.
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

    /// Returns the byte offsets of accesses in their buffers.
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
