//! Numbers the leaves of bounds, and relates loops and scalars to the bounds that mention them.

use std::collections::{BTreeMap, BTreeSet};

use cuweave_core::ids::{LeafId, ScalarId, VariableId};
use cuweave_core::index::{Index, Vector, ids};
use cuweave_core::structure::Variable;
use cuweave_core::table::BoundOp;
use proc_macro2::{TokenStream, TokenTree};
use syn::{Expr, Type};

use super::names::collect_names;
use crate::dims::{DimExpr, index_of_name};
use crate::graph::signature::{ArgumentKind, Signature};

/// A loop that is unrolled when the graph is built.
pub struct BuildLoop {
    /// The range as written, with the indices of outer loops substituted.
    pub range: Expr,
    /// The name of the loop's variable in the source.
    pub name: String,
}

/// Returns the code of each bound, and the leaves without duplicates. Equal expressions share a leaf, so an
/// expression that is not deterministic is still evaluated only once per build.
pub(super) fn codes(bounds: &[DimExpr]) -> (Vec<Vec<BoundOp>>, Vec<TokenStream>) {
    let mut numbers: BTreeMap<String, LeafId> = BTreeMap::new();
    let mut leaves = Vec::new();
    let mut number = |tokens: &TokenStream, key: &str| {
        if let Some(&number) = numbers.get(key) {
            return number;
        }
        let number = LeafId::new(leaves.len());
        leaves.push(tokens.clone());
        numbers.insert(key.to_owned(), number);
        number
    };
    let code = |bound: &DimExpr| {
        let mut code = Vec::new();
        bound.term.code(&mut code, &mut number);
        code
    };
    (bounds.iter().map(code).collect(), leaves)
}

/// Replaces the generated names of loop indices in a text by those of the source.
pub(super) fn readable(mut text: String, loops: &[BuildLoop]) -> String {
    for (number, BuildLoop { name, .. }) in loops.iter().enumerate().rev() {
        text = text.replace(&format!("__index_{number}"), name);
    }
    text
}

/// Returns the loops' variables, each with the dimensions that mention it.
pub(super) fn variables(
    loops: &[BuildLoop],
    dims: &[Vec<BoundOp>],
    leaves: &[TokenStream],
) -> Vector<VariableId, Variable> {
    let of_leaves: Vec<Vec<VariableId>> = leaves.iter().map(|leaf| indices_in(leaf.clone())).collect();
    let mentions = |code: &[BoundOp], variable: VariableId| {
        code.iter().any(|op| match op {
            BoundOp::Variable(other) => *other == variable,
            BoundOp::Leaf(leaf) => of_leaves[leaf.index()].contains(&variable),
            _ => false,
        })
    };
    let variable = |(number, each): (VariableId, &BuildLoop)| Variable {
        name: each.name.clone().into(),
        dims: ids(dims.len())
            .zip(dims)
            .filter(|(_, code)| mentions(code, number))
            .map(|(dim, _)| dim)
            .collect(),
    };
    ids(loops.len()).zip(loops).map(variable).collect()
}

/// Returns the loops whose indices occur in the tokens. Sorted, without duplicates.
pub fn indices_in(tokens: TokenStream) -> Vec<VariableId> {
    let mut names = BTreeSet::new();
    collect_names(tokens, &mut names);
    let mut loops: Vec<VariableId> = names.iter().filter_map(|name| index_of_name(name)).collect();
    loops.sort_unstable();
    loops
}

/// Returns the user's expression in a leaf: `n` in `dim(n)`.
pub fn expression(leaf: &TokenStream) -> TokenStream {
    match leaf.clone().into_iter().last() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => leaf.clone(),
    }
}

/// Returns the scalar arguments that a leaf mentions. Sorted, without duplicates.
pub(super) fn scalars_in(leaf: &TokenStream, numbers: &BTreeMap<String, ScalarId>) -> Vec<ScalarId> {
    let mut names = BTreeSet::new();
    collect_names(expression(leaf), &mut names);
    let mut scalars: Vec<ScalarId> = names.iter().filter_map(|name| numbers.get(name).copied()).collect();
    scalars.sort_unstable();
    scalars
}

/// Returns the names of the scalar arguments, and the names of those with an integer type.
pub(super) fn scalars(signature: &Signature) -> (BTreeSet<String>, BTreeSet<String>) {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let (mut scalars, mut integers) = (BTreeSet::new(), BTreeSet::new());
    for argument in &signature.arguments {
        if let ArgumentKind::Scalar(ty) = &argument.kind {
            scalars.insert(argument.name.to_string());
            if matches!(&**ty, Type::Path(path) if INTEGERS.iter().any(|name| path.path.is_ident(name))) {
                integers.insert(argument.name.to_string());
            }
        }
    }
    (scalars, integers)
}
