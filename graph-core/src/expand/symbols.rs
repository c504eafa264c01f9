//! The symbols of a build: unknowns in the bounds that setters may change.
//!
//! The order of a graph must hold for every value that a setter may set. A bound that depends on a settable scalar
//! is therefore a polynomial over symbols, each an unsigned number; every other bound is a constant. Invariant: a
//! bound always equals its polynomial. A setter whose value would violate this is rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{LeafId, ScalarId};
use crate::index::{Vector, narrow, size};
use crate::ir::{DimId, StatementId, StatementKind};
use crate::structure::Argument;
use crate::table::{DecodedFunction, Parameter, Scalar, Setting};
use cuweave_ptx::poly::Poly;

use super::answers::{Frame, FrameId};

/// The definition of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolDefinition {
    /// The value of a leaf in a loop iteration.
    Leaf(FrameId, LeafId, Arc<[i64]>),
    /// The quotient of two polynomials.
    Quotient(Poly, Poly),
    /// The remainder of two polynomials.
    Remainder(Poly, Poly),
    /// A bound whose polynomial has too large coefficients.
    Bound(FrameId, DimId, Arc<[i64]>),
}

/// A symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its definition.
    pub meaning: SymbolDefinition,
    /// The scalars of the outermost function that it depends on.
    pub of: BTreeSet<ScalarId>,
    /// The value in this build.
    pub value: u64,
}

/// All symbols. The number of a symbol is its variable in polynomials.
#[derive(Debug, Default)]
pub struct Symbols {
    /// The symbols, by number.
    pub list: Vec<Symbol>,
    numbers: BTreeMap<SymbolDefinition, u32>,
    /// For each scalar of a frame, the settable scalars of the outermost function that it depends on.
    roots: BTreeMap<FrameId, Vector<ScalarId, BTreeSet<ScalarId>>>,
    /// True if any bound can change. `None` until computed.
    pub any: Option<bool>,
    /// Scalars that reach a length, a loop or a choice, so that no setter changes them.
    pub fixed: BTreeSet<ScalarId>,
}

impl Symbols {
    /// Returns the variable of a symbol, adding the symbol if it is new.
    pub fn of(&mut self, meaning: SymbolDefinition, of: BTreeSet<ScalarId>, value: u64) -> Poly {
        let next = narrow(self.list.len());
        let number = *self.numbers.entry(meaning.clone()).or_insert(next);
        if number == next {
            self.list.push(Symbol { meaning, of, value });
        }
        Poly::variable(number)
    }

    /// Returns the scalars that the symbols of a polynomial depend on.
    pub fn scalars(&self, poly: &Poly) -> BTreeSet<ScalarId> {
        poly.variables().into_iter().flat_map(|symbol| self.list[size(symbol)].of.iter().copied()).collect()
    }

    /// Returns, for each scalar of a frame, the settable scalars of the outermost function that it depends on.
    pub fn roots(
        &mut self,
        frames: &Vector<FrameId, Frame>,
        frame: FrameId,
    ) -> &Vector<ScalarId, BTreeSet<ScalarId>> {
        if !self.roots.contains_key(&frame) {
            let table = &frames[frame].table;
            let mut roots = Vector::filled(BTreeSet::new(), table.scalars.len());
            match &frames[frame].call {
                None => {
                    // Scalars of records keep the values of the build.
                    let settable = |scalar: &Scalar| !scalar.setting.is_fixed() && scalar.path.is_empty();
                    for (scalar, _) in table.scalars.enumerate().filter(|(_, scalar)| settable(scalar)) {
                        roots[scalar].insert(scalar);
                    }
                }
                Some(call) => {
                    let passed = passed(&frames[call.frame].table, call.template, table);
                    let outer = self.roots(frames, call.frame);
                    for (own, of) in passed {
                        roots[own] = of.iter().flat_map(|&scalar| outer[scalar].iter().copied()).collect();
                    }
                }
            }
            self.roots.insert(frame, roots);
        }
        &self.roots[&frame]
    }
}

/// Returns true if a scalar of the outermost function is a size.
pub(super) fn is_size(frames: &Vector<FrameId, Frame>, scalar: ScalarId) -> bool {
    frames[FrameId::OUTERMOST].table.scalars[scalar].setting == Setting::Size
}

/// Returns true if a scalar with a setter reaches a bound or a call of a function.
#[must_use]
pub fn any(table: &DecodedFunction) -> bool {
    let settable = |scalar: &ScalarId| !table.scalars[*scalar].setting.is_fixed();
    let structure = &table.structure;
    let arguments = structure.calls.iter().flat_map(|call| &call.arguments);
    structure.leaf_scalars.iter().flatten().any(settable)
        || arguments.into_iter().any(|argument| match argument {
            Argument::Scalar { of, .. } => of.iter().any(settable),
            _ => false,
        })
}

/// Returns the scalar parameters of a callee, each with the scalars of the caller that its argument depends on.
#[must_use]
pub fn passed<'t>(
    caller: &'t DecodedFunction,
    call: StatementId,
    callee: &DecodedFunction,
) -> Vec<(ScalarId, &'t [ScalarId])> {
    let StatementKind::Call(call) = caller.program.statements[call].kind else { return Vec::new() };
    let pairs = callee.parameters.iter().zip(&caller.structure.calls[call].arguments);
    pairs
        .filter_map(|(parameter, argument)| match (parameter, argument) {
            (Parameter::Scalar(own), Argument::Scalar { of, .. }) => Some((*own, of.as_slice())),
            _ => None,
        })
        .collect()
}
