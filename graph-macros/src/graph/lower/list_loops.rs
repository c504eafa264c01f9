//! Lowers loops over record and list arguments, whose lengths are known when the graph is built: `for layer
//! in &layers`, `for (i, cache) in caches.iter().enumerate()`. The body is lowered once, with the index as
//! a symbol.

use cuweave_core::structure::{EnclosingLoop, Item, Loop, LoopRange};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, Pat};

use super::lowering::{LowerResult, Lowering};
use super::numbers::BuildLoop;
use super::places::{bind_place, count_of};
use super::shapes::{reversed, ungrouped};
use super::structure::collect_items;
use crate::dims::{DimExpr, index_ident};
use crate::graph::place::Place;
use crate::graph::scope::{Binding, Borrow};

/// The head of a loop over elements.
struct LoopHead<'e> {
    /// The name of the index and of the element. None for `_`. The outer Option of `index` is None without
    /// `enumerate`.
    index: Option<Option<&'e Ident>>,
    element: Option<&'e Ident>,
}

/// Which variables of the loop count down.
struct ReversedVariables {
    index: bool,
    element: bool,
}

/// Lowers a loop over the elements of a list. None for other loops.
pub(super) fn loop_over_elements(lowering: &mut Lowering<'_>, each: &ExprForLoop) -> LowerResult<Option<()>> {
    let (iterated, outside) = reversed(&each.expr);
    let (iterated, enumerated) = match iterated {
        Expr::MethodCall(call) if call.method == "enumerate" && call.args.is_empty() => {
            (&*call.receiver, true)
        }
        expr => (expr, false),
    };
    let (iterated, inside) = if enumerated { reversed(iterated) } else { (iterated, false) };
    let list = match iterated {
        Expr::MethodCall(call)
            if (call.method == "iter" || call.method == "iter_mut") && call.args.is_empty() =>
        {
            &*call.receiver
        }
        Expr::Reference(reference) if !(enumerated || outside) => &*reference.expr,
        Expr::Path(_) | Expr::Field(_) if !(enumerated || outside) => iterated,
        other => return other_iterator(lowering, other),
    };
    let Some(place) = lowering.place(list)? else { return Ok(None) };
    let Some(head) = head(&each.pat, enumerated) else {
        return Err(lowering.refuse(
            &each.pat,
            "this pattern does not take the elements of a list",
            "write `for layer in &layers` or `for (i, layer) in layers.iter().enumerate()`",
        ));
    };
    lower_list_loop(
        lowering,
        each,
        &head,
        &place,
        ReversedVariables { index: outside, element: outside != inside },
    );
    Ok(Some(()))
}

/// Rejects any other iterator over a list. None if the expression does not involve a list.
fn other_iterator(lowering: &mut Lowering<'_>, expr: &Expr) -> LowerResult<Option<()>> {
    let mut at = expr;
    while let Expr::MethodCall(call) = ungrouped(at) {
        at = &call.receiver;
    }
    let known = match ungrouped(at) {
        Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| matches!(lowering.scope.get(name), Some(Binding::Part(_)))),
        Expr::Field(_) => lowering.place(at)?.is_some(),
        _ => false,
    };
    if !known || !matches!(expr, Expr::MethodCall(_)) {
        return Ok(None);
    }
    Err(lowering.refuse(
        expr,
        "this iterator is not part of the language of graph functions",
        "loop over `&layers`, `layers.iter().rev()`, `layers.iter().enumerate()` or indices: `for i in \
         0..layers.len()` and `&layers[i].q`",
    ))
}

/// Lowers the body of a loop over a list once.
fn lower_list_loop(
    lowering: &mut Lowering<'_>,
    each: &ExprForLoop,
    head: &LoopHead<'_>,
    place: &Place,
    backwards: ReversedVariables,
) {
    let hi = count_of(lowering, &place.expr);
    let (lo, hi) = (lowering.program.dims.intern(DimExpr::constant(0)), lowering.program.dims.intern(hi));
    let name = head.index.flatten().map_or_else(|| "..".to_owned(), ToString::to_string);
    let number = lowering.nesting.add_loop(BuildLoop { range: syn::parse_quote!(0usize..0usize), name });
    let variable: Expr = {
        let variable = index_ident(number);
        syn::parse_quote!(#variable)
    };
    let list = lowering.substituted(&place.expr);
    let at = |backwards: bool| -> Expr {
        if backwards { syn::parse_quote!((#list.len() - 1 - #variable)) } else { variable.clone() }
    };
    let (index_value, element_index) = (at(backwards.index), at(backwards.element));
    let index = lowering.bound(&element_index);
    let index = lowering.program.dims.intern(index);
    let borrow = match reversed(&each.expr).0 {
        Expr::Reference(reference) if reference.mutability.is_some() => Borrow::Mutable,
        Expr::MethodCall(call) if call.method == "iter_mut" => Borrow::Mutable,
        _ => Borrow::Shared,
    };
    let element = place.element(index, &element_index);
    let element = Place { borrow: Some(borrow), ..element };
    // The element's index determines the direction; without an element, the counted index does.
    let counts_down = if head.element.is_some() { backwards.element } else { backwards.index };
    lowering.nesting.enter(if counts_down {
        EnclosingLoop::Down(number, lo, hi)
    } else {
        EnclosingLoop::Up(number)
    });
    let body = collect_items(lowering, |lowering| {
        lowering.scope.enter();
        if let Some(index) = head.index.flatten() {
            lowering.scope.bind_scalar(index, index_value);
        }
        if let Some(name) = head.element {
            bind_place(lowering, name, element);
        }
        lowering.statements(&each.body.stmts);
        lowering.leave_block();
    });
    lowering.nesting.leave();
    let line = each.span().start().line as u32;
    lowering.nesting.push(Item::Loop(Loop { line, variable: number, range: LoopRange::Range(lo, hi), body }));
}

/// Returns the names in a loop's head. None if the pattern does not fit.
fn head(pattern: &Pat, enumerated: bool) -> Option<LoopHead<'_>> {
    let (index, element) = match pattern {
        Pat::Tuple(tuple) if enumerated && tuple.elems.len() == 2 => {
            (Some(name(&tuple.elems[0])?), name(&tuple.elems[1])?)
        }
        _ if !enumerated => (None, name(pattern)?),
        _ => return None,
    };
    Some(LoopHead { index, element })
}

/// Returns the name that a pattern binds. `Some(None)` for `_`, None if the pattern is not supported.
fn name(pattern: &Pat) -> Option<Option<&Ident>> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() => Some(Some(&name.ident)),
        Pat::Wild(_) => Some(None),
        Pat::Reference(inner) => name(&inner.pat),
        _ => None,
    }
}
