//! The fast path of a setter that moves ranges. It applies if every bound that the setter changes is
//! `factor * v + constant`, where `v` is the value of one expression: a position in a cache, for example.
//!
//! [`LinearBounds::new`] derives these linear forms from the code of the bounds and compares them with the bounds'
//! polynomials. It also computes the interval of `v` in which no operation of the code fails and all ranges and
//! views stay in bounds.
//!
//! In that interval the checks of [`SettableBounds`](cuweave_core::settable_bounds::SettableBounds) pass. So
//! [`LinearBounds::evaluate`] only evaluates the user's expressions and compares those that do not depend on the setter
//! with their old values. Otherwise the setter takes the slow path, which also reports what is wrong.

use cuweave_core::expand::symbols::SymbolDefinition;
use cuweave_core::expand::{DimValue, ExpansionPoint, Formula, Frame, FrameId};
use cuweave_core::ids::{LeafId, ScalarId};
use cuweave_core::index::{Index, Vector, size};
use cuweave_core::ir::{DimId, StatementId};
use cuweave_core::operation::{AccessTargetId, Operations};
use cuweave_core::table::BoundOp;
use cuweave_ptx::poly::Poly;

use crate::build::arguments::answers::BodyEvaluator;
use crate::build::arguments::body::{Body, enter};
use crate::build::graph::built::BuiltGraph;
use crate::build::graph::definition::Definition;
use crate::statements::Dim;
use crate::token::Token;
use cuweave_core::flattened::Flattened;

use cuweave_core::settable_bounds::{SetterEffects, target};

/// The maximum number of expressions to evaluate. With more of them the slow path costs no more.
const MAX_EXPRESSIONS: usize = 64;

/// The bounds that a setter changes, as linear functions of the values of expressions.
#[derive(Debug)]
pub(crate) struct LinearBounds {
    /// The expressions, in the order of evaluation.
    expressions: Vec<CheckedExpression>,
    /// The symbols, each with the index of its expression in `expressions`.
    symbols: Vec<(usize, usize)>,
    bounds: Vec<(DimId, WrappingForm)>,
    /// The byte offsets of accesses in their buffers.
    targets: Vec<(AccessTargetId, WrappingForm)>,
    /// The current values of the expressions.
    values: Vec<u64>,
    /// The values of the symbols before the last [`LinearBounds::store`].
    before: Vec<u64>,
}

/// An expression to evaluate.
#[derive(Debug)]
struct CheckedExpression {
    frame: FrameId,
    leaf: LeafId,
    loop_values: Box<[i64]>,
    /// The interval of values, bounds included, that needs no further check.
    from: u64,
    to: u64,
    /// The required value, if it follows from other expressions.
    is: Option<WrappingForm>,
}

/// `factor * v + constant` modulo 2^64, where `v` is the value of expression `of`. The result of a checked form
/// fits 64 bits.
#[derive(Clone, Copy, Debug)]
struct WrappingForm {
    of: usize,
    factor: u64,
    constant: u64,
}

impl WrappingForm {
    fn value(self, values: &[u64]) -> u64 {
        let of = values.get(self.of).copied().unwrap_or(0);
        self.factor.wrapping_mul(of).wrapping_add(self.constant)
    }
}

impl LinearBounds {
    /// Returns the fast path of an edit of scalars for the current values. `None` if it has none.
    pub fn new(
        moved: &SetterEffects,
        scalars: &[ScalarId],
        body: &dyn Body,
        definition: &Definition,
        built: &BuiltGraph,
    ) -> Option<LinearBounds> {
        let flat = &*definition.flat;
        let mut forms =
            LinearForms { flat, definition, asked: BodyEvaluator::new(body), expressions: Vec::new() };
        let mut symbols = Vec::new();
        for &symbol in moved.symbols() {
            let declared = &flat.moves.symbols[symbol];
            let SymbolDefinition::Leaf(frame, leaf, loop_values) = &declared.meaning else { return None };
            if declared.of.iter().any(|other| !scalars.contains(other)) {
                return None;
            }
            let at = ExpansionPoint { frames: &flat.frames, frame: *frame, loop_values };
            symbols.push((symbol, forms.ask(at, *leaf, None)?));
        }
        let mut bounds: Vec<(DimId, LinearForm)> = Vec::new();
        for &bound in moved.bounds() {
            let (moving, poly) = &flat.moves.bounds[bound];
            let form = match &moving.formula {
                Formula::Code { frame, dim, loop_values, lengths } => {
                    let at = ExpansionPoint { frames: &flat.frames, frame: *frame, loop_values };
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
        forms.check(&bounds, moved)?;
        let targets = forms.targets(&bounds, &moved.accesses, &built.plan.operations)?;
        let bounds = bounds.into_iter().map(|(dim, form)| (dim, form.line(1))).collect();
        let (values, before) = (vec![0; forms.expressions.len()], vec![0; symbols.len()]);
        Some(LinearBounds { expressions: forms.expressions, symbols, bounds, targets, values, before })
    }

    /// Evaluates the user's expressions. Returns true if their values need no further checks; [`LinearBounds::store`]
    /// then stores the bounds.
    pub fn evaluate(&mut self, body: &dyn Body, frames: &Vector<FrameId, Frame>) -> bool {
        for (at, ask) in self.expressions.iter().enumerate() {
            let leaf = ask.leaf.as_u32();
            let value = if ask.frame == FrameId::OUTERMOST {
                Some(body.leaf(leaf, &ask.loop_values, Token))
            } else {
                enter(body, frames, ask.frame, &mut |body| body.leaf(leaf, &ask.loop_values, Token))
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

    /// Stores the bounds for the values of the last [`LinearBounds::evaluate`].
    pub fn store(&mut self, definition: &mut Definition, built: &mut BuiltGraph) {
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

    /// Restores the bounds from before the last [`LinearBounds::store`].
    pub fn restore(&mut self, definition: &mut Definition, built: &mut BuiltGraph) {
        for (&(_, ask), &value) in self.symbols.iter().zip(&self.before) {
            self.values[ask] = value;
        }
        self.store(definition, built);
    }
}

/// `factor * v + constant`, where `v` is the value of expression `of`. `None` in `of` means a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinearForm {
    of: Option<usize>,
    factor: i128,
    constant: i128,
    /// True if the code computes this value with signed numbers.
    signed: bool,
}

impl LinearForm {
    fn number(constant: i128, signed: bool) -> LinearForm {
        LinearForm { of: None, factor: 0, constant, signed }
    }

    fn plus(self, other: LinearForm, sign: i128) -> Option<LinearForm> {
        let of = match (self.of, other.of) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        Some(LinearForm {
            of,
            factor: self.factor.checked_add(other.factor.checked_mul(sign)?)?,
            constant: self.constant.checked_add(other.constant.checked_mul(sign)?)?,
            signed: self.signed || other.signed,
        })
    }

    fn times(self, other: LinearForm) -> Option<LinearForm> {
        let (of, by) = match (self.of, other.of) {
            (Some(_), Some(_)) => return None,
            (None, _) => (other, self.constant),
            (Some(_), None) => (self, other.constant),
        };
        Some(LinearForm {
            of: of.of,
            factor: of.factor.checked_mul(by)?,
            constant: of.constant.checked_mul(by)?,
            signed: self.signed || other.signed,
        })
    }

    /// Returns true if the form equals a bound's polynomial.
    fn is(self, poly: &Poly, symbols: &[(usize, usize)]) -> bool {
        let mut of = LinearForm::number(0, self.signed);
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
    fn line(self, bytes: u64) -> WrappingForm {
        let low = |value: i128| u64::try_from(value.rem_euclid(1 << 64)).unwrap_or(0).wrapping_mul(bytes);
        WrappingForm {
            of: self.of.unwrap_or(usize::MAX),
            factor: low(self.factor),
            constant: low(self.constant),
        }
    }
}

/// The state of deriving forms.
struct LinearForms<'f> {
    flat: &'f Flattened,
    definition: &'f Definition,
    asked: BodyEvaluator<'f>,
    expressions: Vec<CheckedExpression>,
}

impl<'f> LinearForms<'f> {
    /// Returns the index of an expression in `expressions`, and adds it if needed. `is` is the form that its value
    /// must have.
    fn ask(&mut self, at: ExpansionPoint<'f>, leaf: LeafId, is: Option<LinearForm>) -> Option<usize> {
        if let Some(known) = self.known(at, leaf) {
            return Some(known);
        }
        let value = self.asked.leaf_dim(at, leaf).ok()?.value().ok()?;
        if self.expressions.len() >= MAX_EXPRESSIONS {
            return None;
        }
        if is.is_some_and(|form| form.of.is_none() && form.constant != i128::from(value)) {
            return None;
        }
        let is = is.map(|form| form.line(1));
        self.expressions.push(CheckedExpression {
            frame: at.frame,
            leaf,
            loop_values: at.mentioned(leaf),
            from: 0,
            to: u64::MAX,
            is,
        });
        Some(self.expressions.len() - 1)
    }

    /// Returns the index of an expression if it is in `expressions`.
    fn known(&self, at: ExpansionPoint<'f>, leaf: LeafId) -> Option<usize> {
        let loop_values: Box<[i64]> = at.mentioned(leaf);
        self.expressions
            .iter()
            .position(|ask| ask.frame == at.frame && ask.leaf == leaf && ask.loop_values == loop_values)
    }

    /// Returns the form of a leaf of a bound.
    fn leaf(&mut self, at: ExpansionPoint<'f>, leaf: LeafId) -> Option<LinearForm> {
        let signed = self.asked.leaf_dim(at, leaf).ok()?.is_signed();
        if let Some(known) = self.known(at, leaf) {
            return Some(match self.expressions[known].is {
                None => LinearForm { of: Some(known), factor: 1, constant: 0, signed },
                Some(_) => return self.computed(at, leaf, signed),
            });
        }
        self.computed(at, leaf, signed)
    }

    /// Returns the form of an expression that is not a symbol: a parameter of a callee, or an expression that
    /// no setter reaches.
    fn computed(&mut self, at: ExpansionPoint<'f>, leaf: LeafId, signed: bool) -> Option<LinearForm> {
        let roots = self.asked.symbols.roots(at.frames, at.frame);
        if at.scalars(leaf).iter().all(|&scalar| roots[scalar].is_empty()) {
            let value = self.asked.leaf_dim(at, leaf).ok()?.integer().ok()?;
            let form = LinearForm::number(value, signed);
            self.ask(at, leaf, Some(form))?;
            return Some(form);
        }
        let (caller, argument) = at.passed(leaf)?;
        let outer = caller.table();
        if let [BoundOp::Leaf(passed)] = outer.dims[argument].as_slice()
            && outer.scalars.iter().any(|scalar| scalar.leaf == Some(*passed))
        {
            return self.leaf(caller, *passed);
        }
        let form = LinearForm { signed, ..self.code(caller, argument, &[])? };
        self.ask(at, leaf, Some(form))?;
        Some(form)
    }

    /// Returns the form that the code of a bound computes.
    fn code(
        &mut self,
        at: ExpansionPoint<'f>,
        dim: DimId,
        lengths: &[(BoundOp, DimValue)],
    ) -> Option<LinearForm> {
        let mut stack: Vec<LinearForm> = Vec::new();
        for &op in &at.table().dims[dim] {
            let form = match op {
                BoundOp::Constant(value) => LinearForm::number(i128::from(value), false),
                BoundOp::Leaf(leaf) => self.leaf(at, leaf)?,
                BoundOp::Variable(variable) => {
                    LinearForm::number(i128::from(*at.loop_values.get(variable.index())?), true)
                }
                BoundOp::Length(_) | BoundOp::Extent(_) => {
                    let length = lengths.iter().find(|(known, _)| *known == op);
                    let (_, number) = length.filter(|(_, number)| number.poly.as_constant().is_some())?;
                    LinearForm::number(i128::from(number.value), false)
                }
                BoundOp::Add | BoundOp::Sub | BoundOp::Mul | BoundOp::Div | BoundOp::Rem => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    let numbers = left.of.is_none() && right.of.is_none();
                    let signed = left.signed || right.signed;
                    match op {
                        BoundOp::Add => left.plus(right, 1)?,
                        BoundOp::Sub => left.plus(right, -1)?,
                        BoundOp::Mul => left.times(right)?,
                        BoundOp::Div if numbers => {
                            LinearForm::number(left.constant.checked_div(right.constant)?, signed)
                        }
                        BoundOp::Rem if numbers => {
                            LinearForm::number(left.constant.checked_rem(right.constant)?, signed)
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
    fn bound(&self, moved: &[(DimId, LinearForm)], dim: DimId) -> Option<LinearForm> {
        if let Ok(at) = moved.binary_search_by_key(&dim, |&(known, _)| known) {
            return Some(moved[at].1);
        }
        let fixed = !self.flat.moves.moves(dim);
        fixed.then(|| LinearForm::number(i128::from(self.definition.dims[dim]), false))
    }

    /// Restricts the fast path to values for which `form` lies in `least..=most`. Returns `None` if there are
    /// no such values.
    fn within(&mut self, form: LinearForm, least: i128, most: i128) -> Option<()> {
        let Some(of) = form.of.filter(|_| form.factor != 0) else {
            return (least..=most).contains(&form.constant).then_some(());
        };
        let (low, high) = (least.checked_sub(form.constant)?, most.checked_sub(form.constant)?);
        let (low, high) = if form.factor > 0 { (low, high) } else { (high, low) };
        let rest = |number: i128| i128::from(number.rem_euclid(form.factor) != 0);
        let (up, down) = (low.div_euclid(form.factor), high.div_euclid(form.factor));
        let (up, down) = if form.factor > 0 { (up + rest(low), down) } else { (up, down - rest(high)) };
        let ask = &mut self.expressions[of];
        ask.from = ask.from.max(u64::try_from(up.max(0)).ok()?);
        ask.to = ask.to.min(u64::try_from(down.min(i128::from(u64::MAX))).ok()?);
        (ask.from <= ask.to).then_some(())
    }

    /// Restricts the fast path to values for which all ranges lie in their buffers, all nested views in their outer
    /// views, and all buffers in their memory.
    fn check(&mut self, bounds: &[(DimId, LinearForm)], moved: &SetterEffects) -> Option<()> {
        let program = self.flat.checked.program();
        let rise = |forms: &mut LinearForms<'f>, one: DimId, other: DimId| {
            let (one, other) = (forms.bound(bounds, one)?, forms.bound(bounds, other)?);
            forms.within(other.plus(one, -1)?, 0, i128::MAX >> 1)
        };
        for &(statement, access) in moved.accesses.iter().chain(&moved.unmoved) {
            let access = &program.statements[statement].accesses[access];
            rise(self, access.lo, access.hi)?;
            rise(self, access.hi, program.buffers[access.buffer].len)?;
        }
        for &buffer in &moved.buffers {
            let len = program.buffers[buffer].len;
            let form = self.bound(bounds, len)?;
            let least = i128::from(!self.definition.empty_at_zero.buffers.contains(&buffer));
            self.within(form, least, i128::from(self.flat.sizes[len]))?;
        }
        for &view in moved.views() {
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
        bounds: &[(DimId, LinearForm)],
        accesses: &[(StatementId, usize)],
        operations: &Operations,
    ) -> Option<Vec<(AccessTargetId, WrappingForm)>> {
        let program = self.flat.checked.program();
        let one = |&(statement, index): &(StatementId, usize)| {
            let access = &program.statements[statement].accesses[index];
            let bytes = u64::from(program.buffers[access.buffer].element);
            Some((target(operations, statement, index), self.bound(bounds, access.lo)?.line(bytes)))
        };
        accesses.iter().map(one).collect()
    }
}
