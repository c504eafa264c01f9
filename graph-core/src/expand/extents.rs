//! Assumes that extents are the lengths of what is passed, where both are equal for the values of a build and an
//! expression of the user's computes one of them.
//!
//! An extent such as `product.c_len()` is a symbol of its own, so nothing proves that a call writes all of a buffer of
//! `n * width` elements. With the assumption, its polynomial is that of the length. A setter whose value would violate
//! it is rejected, like any whose bound is not its polynomial.

use std::collections::BTreeMap;

use crate::index::{Vector, size};
use crate::ir::{DimId, Program};
use cuweave_ptx::poly::Poly;

use super::answers::{Frame, FrameId};
use super::symbols::{Symbol, SymbolDefinition, is_size};

/// Replaces symbols of extents that depend on sizes by the length of the argument, and returns true if there are any.
/// O(accesses² of a buffer).
pub fn assume_extents(
    program: &Program,
    frames: &Vector<FrameId, Frame>,
    symbols: &[Symbol],
    values: &Vector<DimId, u64>,
    polys: &mut Vector<DimId, Poly>,
) -> bool {
    let mut assumed: BTreeMap<u32, Poly> = BTreeMap::new();
    let is_opaque = |symbol: u32| is_opaque_size(frames, &symbols[size(symbol)]);
    for access in program.statements.iter().flat_map(|statement| statement.accesses.iter()) {
        let Some(extent) = polys[access.hi].minus(&polys[access.lo]) else { continue };
        let &[symbol] = extent.variables().as_slice() else { continue };
        if extent != Poly::variable(symbol) || !is_opaque(symbol) || assumed.contains_key(&symbol) {
            continue;
        }
        let others = program.statements.iter().flat_map(|statement| statement.accesses.iter());
        let ends = others.filter(|other| other.buffer == access.buffer).map(|other| other.hi);
        let mut ends = [program.buffers[access.buffer].len].into_iter().chain(ends);
        let length = ends.find_map(|end| {
            let length = polys[end].minus(&polys[access.lo]).filter(|_| values[end] == values[access.hi])?;
            // So each setter of the length checks the extent, too.
            let of = &symbols[size(symbol)].of;
            let known = |variable: u32| !is_opaque(variable) && symbols[size(variable)].of.is_subset(of);
            length.variables().into_iter().all(known).then_some(length)
        });
        if let Some(length) = length {
            assumed.insert(symbol, length);
        }
    }
    let put_in = |symbol: u32| Some(assumed.get(&symbol).cloned().unwrap_or_else(|| Poly::variable(symbol)));
    for poly in polys.iter_mut() {
        if poly.variables().iter().any(|symbol| assumed.contains_key(symbol))
            && let Some(with_lengths) = poly.substitute(&put_in)
        {
            *poly = with_lengths;
        }
    }
    !assumed.is_empty()
}

/// Returns true if the user's code computes a symbol from a size.
fn is_opaque_size(frames: &Vector<FrameId, Frame>, symbol: &Symbol) -> bool {
    let is_expression = match &symbol.meaning {
        SymbolDefinition::Leaf(frame, leaf, _) => {
            frames[*frame].table.scalars.iter().all(|scalar| scalar.leaf != Some(*leaf))
        }
        SymbolDefinition::Bound(..) => true,
        SymbolDefinition::Quotient(..) | SymbolDefinition::Remainder(..) => false,
    };
    is_expression && symbol.of.iter().any(|&scalar| is_size(frames, scalar))
}
