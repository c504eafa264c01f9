//! The table of a program's lengths and bounds, by number.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ids::{PartId, VariableId};
use cuweave_core::index::{Index, Vector, ids};
use cuweave_core::ir::{BufferId, DimId, Text};
use cuweave_core::table::Op;
use cuweave_ptx::poly::{Poly, Symbols};
use proc_macro2::TokenStream;
use syn::Expr;

use super::numbers::{Turn, codes, readable};
use crate::dims::{Bound, is_integer, turn, variable};

/// The bounds of a program. Bounds with equal polynomials share a number, and the shortest of their texts
/// is kept. Invariant: bound 0 is the constant 0.
pub(super) struct DimTable {
    bounds: Vector<DimId, Bound>,
    numbers: BTreeMap<Poly, DimId>,
    symbols: Symbols,
    /// The names of the integer arguments. Arithmetic on them is checked and done in 64 bits.
    integers: BTreeSet<String>,
}

/// The numbered bounds of a lowered function.
pub(super) struct FinishedDims {
    pub texts: Vector<DimId, Text>,
    pub polys: Vector<DimId, Poly>,
    /// The postfix code of each bound.
    pub codes: Vec<Vec<Op>>,
    /// The leaves that the codes refer to.
    pub leaves: Vec<TokenStream>,
    /// The polynomial of each loop index.
    pub variables: Vector<VariableId, Poly>,
    pub integers: BTreeSet<String>,
}

impl DimTable {
    pub fn new(integers: BTreeSet<String>) -> DimTable {
        let (bounds, numbers, symbols) = (Vector::new(), BTreeMap::new(), Symbols::default());
        let mut table = DimTable { bounds, numbers, symbols, integers };
        table.number(Bound::constant(0));
        table
    }

    /// Returns the number of a bound, adding it if it is new.
    pub fn number(&mut self, bound: Bound) -> DimId {
        let next = DimId::new(self.bounds.len());
        let id = *self.numbers.entry(bound.poly.clone()).or_insert(next);
        if id == next {
            self.bounds.push(bound);
        } else if bound.text.len() < self.bounds[id].text.len() {
            self.bounds[id] = bound;
        }
        id
    }

    pub fn bound(&self, number: DimId) -> &Bound {
        &self.bounds[number]
    }

    /// Returns the bound of an expression. `as_written` is false if names were substituted; see
    /// [`Bound::of`].
    pub fn bound_of(&mut self, expr: &Expr, as_written: bool) -> Bound {
        Bound::of(expr, as_written, &self.integers, &mut self.symbols)
    }

    /// Returns true if the tokens alone show that the expression is integer arithmetic.
    pub fn is_integer(&self, expr: &Expr) -> bool {
        is_integer(expr, &self.integers)
    }

    pub fn sum(&mut self, one: &Bound, other: &Bound) -> Bound {
        one.plus(other, &mut self.symbols)
    }

    /// Returns the length of a buffer that a call returns.
    pub fn extent(&mut self, buffer: BufferId, name: &str) -> Bound {
        Bound::extent(buffer, name, &mut self.symbols)
    }

    /// Returns the length of a component of a record or list argument.
    pub fn length(&mut self, part: PartId, name: &str) -> Bound {
        Bound::length(part, name, &mut self.symbols)
    }

    /// Returns the number of elements of a list. `tokens` compute it as a `Dim`.
    pub fn count(&mut self, list: &Expr, tokens: TokenStream) -> Bound {
        Bound::count(list, tokens, &mut self.symbols)
    }

    pub fn finish(mut self, turns: &[Turn]) -> FinishedDims {
        let (codes, leaves) = codes(self.bounds.as_slice());
        let variable = |number| variable(&turn(number), &mut self.symbols);
        FinishedDims {
            variables: ids(turns.len()).map(variable).collect(),
            polys: self.bounds.iter().map(|bound| bound.poly.clone()).collect(),
            texts: self.bounds.into_iter().map(|bound| readable(bound.text, turns).into()).collect(),
            codes,
            leaves,
            integers: self.integers,
        }
    }
}
