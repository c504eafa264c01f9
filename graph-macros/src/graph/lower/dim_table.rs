//! The table of a program's lengths and bounds, by number.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cuweave_core::ids::{ArgumentPartId, VariableId};
use cuweave_core::index::{Index, Vector, ids};
use cuweave_core::ir::{BufferId, DimId, Text};
use cuweave_core::table::BoundOp;
use cuweave_ptx::poly::{Poly, Symbols};
use proc_macro2::TokenStream;
use syn::Expr;

use super::numbers::{BuildLoop, codes, readable};
use crate::dims::{DimExpr, IntExpr, index_ident, is_integer, variable};

/// The bounds of a program. Bounds with equal polynomials share a number, and the shortest of their texts
/// is kept. Invariant: bound 0 is the constant 0.
pub(super) struct DimTable {
    bounds: Vector<DimId, DimExpr>,
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
    pub codes: Vec<Vec<BoundOp>>,
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
        table.intern(DimExpr::constant(0));
        table
    }

    /// Returns the number of a bound, adding it if it is new.
    pub fn intern(&mut self, bound: DimExpr) -> DimId {
        let next = DimId::new(self.bounds.len());
        let id = *self.numbers.entry(bound.poly.clone()).or_insert(next);
        if id == next {
            self.bounds.push(bound);
        } else if bound.text.len() < self.bounds[id].text.len() {
            self.bounds[id] = bound;
        }
        id
    }

    pub fn bound(&self, number: DimId) -> &DimExpr {
        &self.bounds[number]
    }

    /// Returns the bound of an expression. `as_written` is false if names were substituted; see
    /// [`DimExpr::from_expr`].
    pub fn bound_of(&mut self, expr: &Expr, as_written: bool) -> DimExpr {
        DimExpr::from_expr(expr, as_written, &self.integers, &mut self.symbols)
    }

    /// Returns true if the tokens alone show that the expression is integer arithmetic.
    pub fn is_integer(&self, expr: &Expr) -> bool {
        is_integer(expr, &self.integers)
    }

    pub fn sum(&mut self, one: &DimExpr, other: &DimExpr) -> DimExpr {
        one.plus(other, &mut self.symbols)
    }

    /// Returns one past the last element of rows that begin at `lo`. `rows` has the rows of a plane, the elements of a
    /// row, the pitch, the planes, and the rows from the start of a plane to the start of the next one.
    pub fn end_of_rows(&mut self, lo: &DimExpr, rows: &[DimExpr; 5]) -> DimExpr {
        let [count, width, pitch, planes, height] = rows;
        let one = DimExpr::constant(1);
        let planes = self.combine(BoundOp::Sub, planes, &one);
        let before = self.combine(BoundOp::Mul, &planes, height);
        let rows = self.combine(BoundOp::Sub, count, &one);
        let rows = self.combine(BoundOp::Add, &before, &rows);
        let last = self.combine(BoundOp::Mul, &rows, pitch);
        let end = self.combine(BoundOp::Add, &last, width);
        self.sum(lo, &end)
    }

    /// Returns the result of `+`, `-` or `*`.
    fn combine(&mut self, op: BoundOp, left: &DimExpr, right: &DimExpr) -> DimExpr {
        let key = format!("{op:?} ({:?}) ({:?})", left.poly, right.poly);
        let poly = op.poly(&left.poly, &right.poly).unwrap_or_else(|| self.symbols.opaque(&key, &key));
        if let Some(value) = poly.as_constant().and_then(|value| u64::try_from(value).ok())
            && left.poly.as_constant().is_some()
            && right.poly.as_constant().is_some()
        {
            return DimExpr::constant(value);
        }
        let operands = (left.term.clone(), right.term.clone());
        let text = self.symbols.text(&poly);
        DimExpr { poly, term: IntExpr::Operation(op, Rc::new(operands)), text }
    }

    /// Returns the length of a buffer that a call returns.
    pub fn extent(&mut self, buffer: BufferId, name: &str) -> DimExpr {
        DimExpr::extent(buffer, name, &mut self.symbols)
    }

    /// Returns the length of a component of a record or list argument.
    pub fn length(&mut self, part: ArgumentPartId, name: &str) -> DimExpr {
        DimExpr::length(part, name, &mut self.symbols)
    }

    /// Returns the number of elements of a list. `tokens` compute it as a `Dim`.
    pub fn count(&mut self, list: &Expr, tokens: TokenStream) -> DimExpr {
        DimExpr::count(list, tokens, &mut self.symbols)
    }

    pub fn finish(mut self, loops: &[BuildLoop]) -> FinishedDims {
        let (codes, leaves) = codes(self.bounds.as_slice());
        let variable = |number| variable(&index_ident(number), &mut self.symbols);
        FinishedDims {
            variables: ids(loops.len()).map(variable).collect(),
            polys: self.bounds.iter().map(|bound| bound.poly.clone()).collect(),
            texts: self.bounds.into_iter().map(|bound| readable(bound.text, loops).into()).collect(),
            codes,
            leaves,
            integers: self.integers,
        }
    }
}
