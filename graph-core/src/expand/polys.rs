//! Computes the polynomials of bounds over the symbols of a build, and finds the scalars that must not have a
//! setter.

use std::collections::BTreeSet;

use crate::ids::{LeafId, ScalarId};
use crate::index::{Index, Vector, size};
use crate::ir::{Access, DimId, StatementKind};
use crate::table::{BoundOp, Setting};
use cuweave_ptx::poly::Poly;

use super::answers::{DimValue, ExpansionPoint, Frame, FrameId};
use super::expressions::Expressions;
use super::fixed::{self, FixedReason, FixedScalars};
use super::symbols::{Symbol, SymbolDefinition, Symbols, any, is_size};
use super::{Expanded, Formula};

/// The largest coefficient of a bound's polynomial. Sums of a few such numbers fit into 128 bits.
const MAX_COEFFICIENT: i128 = 1 << 100;

impl Symbols {
    /// Returns the polynomial of a bound with the given value.
    pub fn poly<E: Expressions>(
        &mut self,
        expressions: &mut E,
        at: ExpansionPoint<'_>,
        dim: DimId,
        value: u64,
        length: &mut dyn FnMut(BoundOp) -> Option<DimValue>,
    ) -> Poly {
        let constant = || Poly::constant(i128::from(value));
        let code = &at.table().dims[dim];
        let mut stack: Vec<Poly> = Vec::new();
        for &op in code {
            let poly = match op {
                BoundOp::Constant(value) => Some(Poly::constant(i128::from(value))),
                BoundOp::Leaf(leaf) => Some(self.leaf_poly(expressions, at, leaf)),
                BoundOp::Variable(variable) => {
                    at.loop_values.get(variable.index()).map(|&value| Poly::constant(i128::from(value)))
                }
                BoundOp::Length(_) | BoundOp::Extent(_) => length(op).map(|number| {
                    // A name may denote buffers of different lengths. Scalars that lengths depend on are therefore
                    // fixed, except sizes.
                    let scalars = self.scalars(&number.poly);
                    self.fixed.extend(scalars.into_iter().filter(|&scalar| !is_size(at.frames, scalar)));
                    number.poly
                }),
                BoundOp::Add | BoundOp::Sub | BoundOp::Mul | BoundOp::Div | BoundOp::Rem => {
                    let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else { return constant() };
                    self.operation(op, &left, &right)
                }
            };
            match poly {
                Some(poly) => stack.push(poly),
                None => return self.opaque(expressions, at, dim, value),
            }
        }
        let poly = stack.pop().unwrap_or_else(constant);
        let fits = poly
            .terms()
            .all(|(_, coefficient)| coefficient.checked_abs().is_some_and(|one| one <= MAX_COEFFICIENT));
        if fits { poly } else { self.opaque(expressions, at, dim, value) }
    }

    /// Returns true if a setter may reach a bound.
    pub fn may_move(&mut self, at: ExpansionPoint<'_>, dim: DimId) -> bool {
        let any = *self.any.get_or_insert_with(|| any(&at.frames[FrameId::OUTERMOST].table));
        let table = at.table();
        any && table.dims[dim].iter().any(|op| match op {
            BoundOp::Leaf(leaf) => {
                let roots = self.roots(at.frames, at.frame);
                at.scalars(*leaf).iter().any(|&scalar| !roots[scalar].is_empty())
            }
            BoundOp::Length(_) | BoundOp::Extent(_) => true,
            _ => false,
        })
    }

    /// Returns the scalars of the outermost function whose setters reach a bound.
    fn reaching(
        &mut self,
        frames: &Vector<FrameId, Frame>,
        formula: &Formula,
        poly: &Poly,
    ) -> BTreeSet<ScalarId> {
        let mut of = self.scalars(poly);
        if let Formula::Code { frame, dim, .. } = formula {
            let table = &frames[*frame].table;
            let leaves = table.dims[*dim].iter().filter_map(|op| match op {
                BoundOp::Leaf(leaf) => table.structure.leaf_scalars.get(*leaf),
                _ => None,
            });
            let roots = self.roots(frames, *frame);
            of.extend(leaves.flatten().flat_map(|&scalar| roots[scalar].iter().copied()));
        }
        of
    }

    /// Returns the polynomial of `left op right`.
    fn operation(&mut self, op: BoundOp, left: &Poly, right: &Poly) -> Option<Poly> {
        if let BoundOp::Add | BoundOp::Sub | BoundOp::Mul = op {
            return op.poly(left, right);
        }
        let of = &self.scalars(left) | &self.scalars(right);
        let value = |symbol: u32| Some(i128::from(self.list[size(symbol)].value));
        let (one, other) = (left.value(&value)?, right.value(&value)?);
        let (meaning, value) = match op {
            BoundOp::Div => {
                (SymbolDefinition::Quotient(left.clone(), right.clone()), one.checked_div(other)?)
            }
            _ => (SymbolDefinition::Remainder(left.clone(), right.clone()), one.checked_rem(other)?),
        };
        if of.is_empty() {
            return Some(Poly::constant(value));
        }
        Some(self.of(meaning, of, u64::try_from(value).ok()?))
    }

    /// Returns the polynomial of a leaf, whose value must be known.
    fn leaf_poly<E: Expressions>(
        &mut self,
        expressions: &mut E,
        at: ExpansionPoint<'_>,
        leaf: LeafId,
    ) -> Poly {
        let value = expressions.leaf(at, leaf).ok().flatten().unwrap_or(0);
        let roots = self.roots(at.frames, at.frame);
        let of: BTreeSet<ScalarId> =
            at.scalars(leaf).iter().flat_map(|&scalar| roots[scalar].iter().copied()).collect();
        if of.is_empty() {
            return Poly::constant(i128::from(value));
        }
        if let Some(poly) = self.argument(expressions, at, leaf, value) {
            return poly;
        }
        let meaning = SymbolDefinition::Leaf(at.frame, leaf, at.mentioned(leaf));
        self.of(meaning, of, value)
    }

    /// For a leaf that is a scalar parameter: returns the polynomial of its argument in the caller. `None` for
    /// other leaves, and if the 64-bit values differ.
    fn argument<E: Expressions>(
        &mut self,
        expressions: &mut E,
        at: ExpansionPoint<'_>,
        leaf: LeafId,
        value: u64,
    ) -> Option<Poly> {
        let (caller, argument) = at.passed(leaf)?;
        let given = expressions.value(caller, argument, &mut |_| None).ok()?;
        (given == value).then(|| self.poly(expressions, caller, argument, value, &mut |_| None))
    }

    /// Returns a symbol that stands for a whole bound.
    fn opaque<E: Expressions>(
        &mut self,
        expressions: &mut E,
        at: ExpansionPoint<'_>,
        dim: DimId,
        value: u64,
    ) -> Poly {
        let mut of = BTreeSet::new();
        for op in &at.table().dims[dim] {
            if let BoundOp::Leaf(leaf) = *op {
                let poly = self.leaf_poly(expressions, at, leaf);
                of.extend(self.scalars(&poly));
            }
        }
        if of.is_empty() {
            return Poly::constant(i128::from(value));
        }
        self.of(SymbolDefinition::Bound(at.frame, dim, at.loop_values.into()), of, value)
    }

    /// Returns the scalars of the outermost function that reach a length, a loop, a choice, or a captured address,
    /// also through callees.
    fn fixed_by(&mut self, expanded: &Expanded) -> FixedScalars {
        let Expanded { source, frames, instances, .. } = expanded;
        let mut found = FixedScalars::new();
        for frame in frames.ids() {
            let table = &frames[frame].table;
            for (scalar, declared) in table.scalars.enumerate().filter(|(_, one)| one.setting.is_fixed()) {
                let roots = self.roots(frames, frame)[scalar].iter().copied();
                let may_rise =
                    |root: &ScalarId| declared.setting == Setting::Rising && is_size(frames, *root);
                let roots: Vec<ScalarId> = roots.filter(|root| !may_rise(root)).collect();
                if !roots.is_empty() {
                    let reason = fixed::of_frame(table.capture().is_some(), frame, instances);
                    fixed::add(&mut found, roots, reason);
                }
            }
        }
        fixed::add(&mut found, self.fixed.iter().copied(), FixedReason::Structure);
        let program = &source.program;
        let of_dim = |dim: DimId| match source.polys[dim].as_constant() {
            Some(_) => BTreeSet::new(),
            None => self.scalars(&source.polys[dim]),
        };
        for buffer in program.buffers.iter() {
            let scalars = of_dim(buffer.len).into_iter().filter(|&scalar| !is_size(frames, scalar));
            fixed::add(&mut found, scalars, FixedReason::Structure);
        }
        let mut moved_by = |dim: DimId, reason| fixed::add(&mut found, of_dim(dim), reason);
        let options = [program.options.budget, program.options.width];
        options.into_iter().flatten().for_each(|dim| moved_by(dim, FixedReason::Structure));
        // The driver changes neither the rows nor the place of a pitched copy or fill. Those that a size changes are
        // kernels.
        let one_device = program.devices() == 1;
        for (id, statement) in program.statements.enumerate() {
            let pinned = |access: &Access| program.buffers[access.buffer].origin.is_pinned();
            let may_be_kernel = one_device && !statement.accesses.iter().any(pinned);
            if statement.accesses.iter().all(|access| access.rows.is_none()) {
                continue;
            }
            for access in statement.accesses.iter() {
                let rows = access.rows.into_iter().flat_map(|rows| rows.dims());
                for dim in [access.lo, access.hi].into_iter().chain(rows) {
                    let mut scalars = of_dim(dim);
                    scalars.retain(|&scalar| !may_be_kernel || !is_size(frames, scalar));
                    fixed::add(&mut found, scalars, FixedReason::Rows(id));
                }
            }
        }
        // The kernel that sets a condition keeps its address. A library call is captured again for sizes only.
        for (id, statement) in program.statements.enumerate() {
            let captured = statement.kind == StatementKind::Capture(());
            if !captured && !statement.kind.is_body_border() {
                continue;
            }
            for access in statement.kind.own_accesses(&statement.accesses) {
                let mut scalars = of_dim(access.lo);
                scalars.append(&mut of_dim(access.hi));
                scalars.retain(|&scalar| !captured || !is_size(frames, scalar));
                fixed::add(&mut found, scalars, FixedReason::Address(id));
            }
        }
        found
    }

    /// Replaces symbols that no setter changes by their values. Returns the remaining symbols, and the scalars
    /// without a setter.
    pub fn substitute_fixed(&mut self, expanded: &mut Expanded) -> (Vec<Symbol>, FixedScalars) {
        if expanded.moving.is_empty() {
            return (Vec::new(), FixedScalars::new());
        }
        let mut found = self.fixed_by(expanded);
        let mut symbols = self.list.clone();
        symbols.iter_mut().for_each(|symbol| symbol.of.retain(|scalar| !found.contains_key(scalar)));
        for moving in &expanded.moving {
            let put_in = |symbol: u32| {
                let Symbol { of, value, .. } = &symbols[size(symbol)];
                Some(if of.is_empty() { Poly::constant(i128::from(*value)) } else { Poly::variable(symbol) })
            };
            let poly = &mut expanded.source.polys[moving.dim];
            match poly.substitute(&put_in) {
                Some(settled) => *poly = settled,
                // The coefficients are too large, so the scalars get no setters.
                None => {
                    let scalars: Vec<ScalarId> = poly
                        .variables()
                        .into_iter()
                        .flat_map(|symbol| symbols[size(symbol)].of.iter().copied())
                        .collect();
                    fixed::add(&mut found, scalars, FixedReason::Value);
                    *poly = Poly::constant(i128::from(expanded.values[moving.dim]));
                }
            }
        }
        for moving in &mut expanded.moving {
            moving.of = self.reaching(&expanded.frames, &moving.formula, &expanded.source.polys[moving.dim]);
            moving.of.retain(|scalar| !found.contains_key(scalar));
        }
        expanded.moving.retain(|moving| !moving.of.is_empty());
        (symbols, found)
    }
}
