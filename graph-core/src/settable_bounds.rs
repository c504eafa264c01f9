//! The range bounds that setters change, and their new values.
//!
//! A new value is computed by the generated code of the bound, as in the build, so both reject the same values. The
//! value must equal the bound's polynomial, since the order depends on the polynomials. The facts that the order
//! assumes are checked again.

use std::collections::BTreeSet;

use crate::expand::symbols::{Symbol, SymbolDefinition};
use crate::expand::{DimValue, ExpansionPoint, Expressions, Formula, Frame, FrameId, SettableBound};
use crate::ids::ScalarId;
use crate::index::{Index, Vector, size};
use crate::ir::{Access, BufferId, DimId, Program, Statement, StatementId};
use crate::location::{SourceLocation, at_statement};
use crate::operation::{AccessTarget, AccessTargetId, Operations};
use crate::table::{BoundOp, Scalar};
use cuweave_ptx::poly::Poly;

/// The bounds of a flat program that setters change.
#[derive(Clone, Debug, Default)]
pub struct SettableBounds {
    /// The symbols of their polynomials. Each depends only on symbols before it.
    pub symbols: Vec<Symbol>,
    /// The bounds with their polynomials, ascending.
    pub bounds: Vec<(SettableBound, Poly)>,
    /// For each dimension, its index in `bounds`. `None` if no setter changes it.
    at: Vector<DimId, Option<usize>>,
    /// The accesses whose lower bound a setter changes.
    accesses: Vec<(StatementId, usize)>,
    /// Everything that the setter of each scalar changes.
    pub of: Vector<ScalarId, SetterEffects>,
}

/// Indices of everything that the setter of one scalar changes.
#[derive(Clone, Debug, Default)]
pub struct SetterEffects {
    symbols: Vec<usize>,
    bounds: Vec<usize>,
    /// Accesses, each as its statement and index.
    pub accesses: Vec<(StatementId, usize)>,
    /// Accesses that stay where they are, but whose buffers change their lengths.
    pub unmoved: Vec<(StatementId, usize)>,
    views: Vec<usize>,
    /// The buffers whose lengths change.
    pub buffers: Vec<BufferId>,
    /// Statements to re-evaluate, ascending: their configuration, arguments or value mention the scalar, or one of
    /// their accesses changes its length.
    pub evaluated: Vec<StatementId>,
    /// The other statements with an access that moves, ascending. Only their addresses change.
    pub follow: Vec<StatementId>,
}

impl SetterEffects {
    /// Returns true if the setter changes no bound.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Returns what of it `other` does not change.
    #[must_use]
    pub fn without(mut self, other: &SetterEffects) -> SetterEffects {
        let accesses =
            |one: &(StatementId, usize)| !other.accesses.contains(one) && !other.unmoved.contains(one);
        self.accesses.retain(accesses);
        self.unmoved.retain(accesses);
        self.views.retain(|view| !other.views.contains(view));
        self.buffers.retain(|buffer| !other.buffers.contains(buffer));
        self.evaluated.retain(|statement| {
            other.evaluated.binary_search(statement).is_err()
                && other.follow.binary_search(statement).is_err()
        });
        self
    }

    /// Returns the indices of the symbols that it changes, ascending.
    #[must_use]
    pub fn symbols(&self) -> &[usize] {
        &self.symbols
    }

    /// Returns the indices of the bounds that it changes, ascending.
    #[must_use]
    pub fn bounds(&self) -> &[usize] {
        &self.bounds
    }

    /// Returns the indices of the views that it changes.
    #[must_use]
    pub fn views(&self) -> &[usize] {
        &self.views
    }
}

/// Values of all bounds.
#[derive(Clone, Debug)]
pub struct BoundValues {
    /// The value of each bound.
    pub dims: Vector<DimId, u64>,
    /// The values of the symbols in the bounds that setters change.
    pub symbols: Vec<u64>,
}

/// New values of bounds. After [`BoundUpdate::swap`] it holds the old values, for undo.
#[derive(Debug, Default)]
pub struct BoundUpdate {
    dims: Vec<(DimId, u64)>,
    symbols: Vec<(usize, u64)>,
    pointed: Vec<(AccessTargetId, u64)>,
}

impl SettableBounds {
    /// Collects everything that the setters of a program change. `scalars` is the number of scalars.
    #[must_use]
    pub fn new(
        program: &Program,
        symbols: Vec<Symbol>,
        bounds: Vec<(SettableBound, Poly)>,
        scalars: usize,
    ) -> SettableBounds {
        let mut of: Vector<ScalarId, SetterEffects> = Vector::filled(SetterEffects::default(), scalars);
        let mut at = Vector::new();
        let mut accesses = Vec::new();
        if bounds.is_empty() {
            return SettableBounds { symbols: Vec::new(), bounds, at, accesses, of };
        }
        at = Vector::filled(None, program.dims.len());
        for (index, symbol) in symbols.iter().enumerate() {
            symbol.of.iter().for_each(|&scalar| of[scalar].symbols.push(index));
        }
        for (index, (moving, _)) in bounds.iter().enumerate() {
            at[moving.dim] = Some(index);
            moving.of.iter().for_each(|&scalar| of[scalar].bounds.push(index));
        }
        let scalars = |dims: &[DimId]| -> BTreeSet<ScalarId> {
            let moving = dims.iter().filter_map(|&dim| at[dim]).map(|index| &bounds[index].0);
            moving.flat_map(|moving| moving.of.iter().copied()).collect()
        };
        for (statement, declared) in program.statements.enumerate() {
            for (index, access) in declared.accesses.iter().enumerate() {
                let mut moved = scalars(&[access.lo, access.hi]);
                moved.extend(access.rows.iter().flat_map(|rows| scalars(&rows.dims())));
                let by_length = scalars(&[program.buffers[access.buffer].len]);
                for &scalar in by_length.difference(&moved) {
                    of[scalar].unmoved.push((statement, index));
                }
                moved.into_iter().for_each(|scalar| of[scalar].accesses.push((statement, index)));
                if at[access.lo].is_some() {
                    accesses.push((statement, index));
                }
            }
        }
        for (index, view) in program.views.iter().enumerate() {
            scalars(&[view.lo, view.hi, view.of.0, view.of.1])
                .into_iter()
                .for_each(|scalar| of[scalar].views.push(index));
        }
        for (buffer, declared) in program.buffers.enumerate() {
            scalars(&[declared.len]).into_iter().for_each(|scalar| of[scalar].buffers.push(buffer));
        }
        SettableBounds { symbols, bounds, at, accesses, of }
    }

    /// Returns everything that the setters of several scalars change together. O(what they change).
    #[must_use]
    pub fn union(&self, scalars: &Vector<ScalarId, Scalar>, of: &[ScalarId]) -> SetterEffects {
        fn union<'l, T: Ord + Copy + 'l>(lists: impl Iterator<Item = &'l Vec<T>>) -> Vec<T> {
            let all: BTreeSet<T> = lists.flatten().copied().collect();
            all.into_iter().collect()
        }
        let each = || of.iter().map(|&scalar| &self.of[scalar]);
        let evaluated = union(of.iter().map(|&scalar| match self.of[scalar].is_empty() {
            true => &scalars[scalar].statements,
            false => &self.of[scalar].evaluated,
        }));
        let mut follow = union(each().map(|one| &one.follow));
        follow.retain(|statement| evaluated.binary_search(statement).is_err());
        SetterEffects {
            symbols: union(each().map(|one| &one.symbols)),
            bounds: union(each().map(|one| &one.bounds)),
            accesses: union(each().map(|one| &one.accesses)),
            unmoved: union(each().map(|one| &one.unmoved)),
            views: union(each().map(|one| &one.views)),
            buffers: union(each().map(|one| &one.buffers)),
            evaluated,
            follow,
        }
    }

    /// Splits the statements that a setter reaches into those to re-evaluate and those whose addresses change.
    /// `mentioned` are the statements that mention the scalar.
    pub fn split_statements(&mut self, program: &Program, scalar: ScalarId, mentioned: &[StatementId]) {
        let is_longer = |&(statement, access): &(StatementId, usize)| {
            let access = &program.statements[statement].accesses[access];
            !self.keeps_length(access.lo, access.hi) || self.moves_rows(access)
        };
        let moved = &self.of[scalar];
        let longer = moved.accesses.iter().filter(|access| is_longer(access)).map(|access| access.0);
        let evaluated: BTreeSet<StatementId> = mentioned.iter().copied().chain(longer).collect();
        let follow: BTreeSet<StatementId> = moved.accesses.iter().map(|access| access.0).collect();
        let follow = follow.difference(&evaluated).copied().collect();
        let moved = &mut self.of[scalar];
        (moved.evaluated, moved.follow) = (evaluated.into_iter().collect(), follow);
    }

    /// Returns true if a range has the same length for all values of the scalars.
    fn keeps_length(&self, lo: DimId, hi: DimId) -> bool {
        let poly = |dim: DimId| self.at.get(dim).copied().flatten().map(|index| &self.bounds[index].1);
        match (poly(lo), poly(hi)) {
            (None, None) => true,
            (Some(one), None) | (None, Some(one)) => one.as_constant().is_some(),
            (Some(lo), Some(hi)) => hi.minus(lo).is_some_and(|length| length.as_constant().is_some()),
        }
    }

    /// Returns true if a setter changes a number of the rows of an access.
    fn moves_rows(&self, access: &Access) -> bool {
        access.rows.is_some_and(|rows| rows.dims().into_iter().any(|dim| self.moves(dim)))
    }

    /// Returns true if a statement is a pitched copy or fill, and a setter changes its rows or its place.
    #[must_use]
    pub fn moves_pitched(&self, statement: &Statement) -> bool {
        let moves = |access: &Access| [access.lo, access.hi].into_iter().any(|dim| self.moves(dim));
        let pitched = statement.accesses.iter().any(|access| access.rows.is_some());
        pitched && statement.accesses.iter().any(|access| moves(access) || self.moves_rows(access))
    }

    /// Returns true if no setter changes a bound.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Returns true if a setter changes the bound.
    #[must_use]
    pub fn moves(&self, dim: DimId) -> bool {
        self.at.get(dim).is_some_and(Option::is_some)
    }

    /// Returns the values of all symbols and bounds. `sizes` holds the bounds that no setter changes.
    ///
    /// # Errors
    ///
    /// If a bound has no value, or a value other than its polynomial's.
    pub fn values<E: Expressions>(
        &self,
        expressions: &mut E,
        frames: &Vector<FrameId, Frame>,
        sizes: &Vector<DimId, u64>,
    ) -> Result<BoundValues, E::Error> {
        let all = SetterEffects {
            symbols: (0..self.symbols.len()).collect(),
            bounds: (0..self.bounds.len()).collect(),
            ..SetterEffects::default()
        };
        let (mut dims, mut symbols) = (sizes.clone(), vec![0; self.symbols.len()]);
        let shift = self.shift(&all, expressions, frames, &dims, &symbols)?;
        shift.dims.iter().for_each(|&(dim, value)| dims[dim] = value);
        shift.symbols.iter().for_each(|&(symbol, value)| symbols[symbol] = value);
        Ok(BoundValues { dims, symbols })
    }

    /// Computes the new values of everything that a setter changes, by evaluating the user's expressions.
    ///
    /// # Errors
    ///
    /// If a bound has no value, or a value other than its polynomial's.
    pub fn shift<E: Expressions>(
        &self,
        moved: &SetterEffects,
        expressions: &mut E,
        frames: &Vector<FrameId, Frame>,
        dims: &Vector<DimId, u64>,
        symbols: &[u64],
    ) -> Result<BoundUpdate, E::Error> {
        let mut shift = BoundUpdate::default();
        let mut now = symbols.to_vec();
        for &symbol in &moved.symbols {
            now[symbol] = self.symbol(symbol, expressions, frames, &now)?;
            shift.symbols.push((symbol, now[symbol]));
        }
        let of = |symbol: u32| now.get(size(symbol)).map(|&value| i128::from(value));
        for &bound in &moved.bounds {
            let SettableBound { dim, formula, .. } = &self.bounds[bound].0;
            let value = match formula {
                Formula::Code { frame, dim, loop_values, lengths } => {
                    let at = ExpansionPoint { frames, frame: *frame, loop_values };
                    let mut length = |op: BoundOp| {
                        let (_, number) = lengths.iter().find(|(known, _)| *known == op)?;
                        let value = number.poly.value(&of).and_then(|value| u64::try_from(value).ok());
                        Some(DimValue { value: value.unwrap_or(number.value), ..number.clone() })
                    };
                    expressions.value(at, *dim, &mut length)?
                }
                Formula::Sum(one, other) => shift.value(*one, dims).saturating_add(shift.value(*other, dims)),
            };
            shift.dims.push((*dim, value));
        }
        for (&bound, &(_, value)) in moved.bounds.iter().zip(&shift.dims) {
            let (SettableBound { formula, .. }, poly) = &self.bounds[bound];
            // A range that ends at the largest number is in no buffer; the range check rejects it.
            if value != u64::MAX && poly.value(&of) != Some(i128::from(value)) {
                return Err(unequal_bound::<E>(frames, formula));
            }
        }
        Ok(shift)
    }

    /// Returns the value of a symbol.
    fn symbol<E: Expressions>(
        &self,
        symbol: usize,
        expressions: &mut E,
        frames: &Vector<FrameId, Frame>,
        now: &[u64],
    ) -> Result<u64, E::Error> {
        let value = |poly: &Poly| poly.value(&|symbol| now.get(size(symbol)).map(|&value| i128::from(value)));
        let divided = match &self.symbols[symbol].meaning {
            SymbolDefinition::Leaf(frame, leaf, loop_values) => {
                let at = ExpansionPoint { frames, frame: *frame, loop_values };
                // The bounds that mention a leaf without a value have reported it.
                return Ok(expressions.leaf(at, *leaf)?.unwrap_or(0));
            }
            SymbolDefinition::Bound(frame, dim, loop_values) => {
                return expressions.value(
                    ExpansionPoint { frames, frame: *frame, loop_values },
                    *dim,
                    &mut |_| None,
                );
            }
            SymbolDefinition::Quotient(one, other) => {
                value(one).zip(value(other)).and_then(|(one, other)| one.checked_div(other))
            }
            SymbolDefinition::Remainder(one, other) => {
                value(one).zip(value(other)).and_then(|(one, other)| one.checked_rem(other))
            }
        };
        Ok(divided.and_then(|value| u64::try_from(value).ok()).unwrap_or(0))
    }

    /// Returns true if a setter changes the lower bound of an access.
    #[must_use]
    pub fn moves_access(&self, statement: StatementId, access: usize) -> bool {
        self.accesses.contains(&(statement, access))
    }

    /// Returns the targets of the accesses of a plan for these bounds. `None` if no access moves.
    #[must_use]
    pub fn pointed(
        &self,
        operations: &Operations,
        program: &Program,
        dims: &Vector<DimId, u64>,
    ) -> Option<Vector<AccessTargetId, AccessTarget>> {
        if self.accesses.is_empty() {
            return None;
        }
        let mut pointed = operations.targets.list.clone();
        for &(statement, access) in &self.accesses {
            pointed[target(operations, statement, access)].offset = offset(program, dims, statement, access);
        }
        Some(pointed)
    }
}

/// Returns the target of an access.
#[must_use]
pub fn target(operations: &Operations, statement: StatementId, access: usize) -> AccessTargetId {
    AccessTargetId::new(operations.targets.first_of[statement].index() + access)
}

/// Returns the offset of an access from the start of its buffer, in bytes.
fn offset(program: &Program, dims: &Vector<DimId, u64>, statement: StatementId, access: usize) -> u64 {
    let access = &program.statements[statement].accesses[access];
    dims[access.lo].wrapping_mul(u64::from(program.buffers[access.buffer].element))
}

/// Returns the error for a bound whose value differs from its polynomial's.
#[cold]
fn unequal_bound<E: Expressions>(frames: &Vector<FrameId, Frame>, formula: &Formula) -> E::Error {
    let (frame, text) = match formula {
        Formula::Code { frame, dim, .. } => (*frame, frames[*frame].table.program.dims[*dim].to_string()),
        Formula::Sum(..) => (FrameId::OUTERMOST, String::new()),
    };
    let program = &frames[frame].table.program;
    let uses = |dim: DimId| program.dims[dim] == text;
    let user = program.statements.position(|one| one.accesses.iter().any(|at| uses(at.lo) || uses(at.hi)));
    let at = match user {
        Some(statement) => at_statement(program, statement),
        None => Box::new(SourceLocation::new(&*program.name, &*program.file, 0)),
    };
    E::inconstant(at, &text)
}

impl BoundUpdate {
    /// Swaps its values with the current ones.
    pub fn swap(
        &mut self,
        dims: &mut Vector<DimId, u64>,
        symbols: &mut [u64],
        pointed: Option<&mut Vector<AccessTargetId, AccessTarget>>,
    ) {
        for (dim, value) in &mut self.dims {
            std::mem::swap(value, &mut dims[*dim]);
        }
        for (symbol, value) in &mut self.symbols {
            std::mem::swap(value, &mut symbols[*symbol]);
        }
        let Some(pointed) = pointed else { return };
        for (target, offset) in &mut self.pointed {
            std::mem::swap(offset, &mut pointed[*target].offset);
        }
    }

    /// Sets the targets of the moved accesses from `dims`, which must hold the new values, and stores the old
    /// offsets.
    pub fn point(
        &mut self,
        moved: &SetterEffects,
        operations: &Operations,
        program: &Program,
        dims: &Vector<DimId, u64>,
        pointed: &mut Vector<AccessTargetId, AccessTarget>,
    ) {
        for &(statement, access) in &moved.accesses {
            let target = target(operations, statement, access);
            let offset = offset(program, dims, statement, access);
            let old = std::mem::replace(&mut pointed[target].offset, offset);
            self.pointed.push((target, old));
        }
    }

    /// Returns the new value of a bound.
    fn value(&self, dim: DimId, old: &Vector<DimId, u64>) -> u64 {
        match self.dims.binary_search_by_key(&dim, |&(dim, _)| dim) {
            Ok(at) => self.dims[at].1,
            Err(_) => old[dim],
        }
    }
}
