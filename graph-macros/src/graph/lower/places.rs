//! Lowers expressions that denote components of record and list arguments: `layer.q`, `layers[i].inner`,
//! `caches[i]`.

use cuweave_core::ids::ArgumentPartId;
use cuweave_core::ir::{BufferId, Origin};
use proc_macro2::{Ident, Span};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprParen, ExprReference, Type};

use super::lowering::{LowerResult, Lowering};
use crate::dims::{DimExpr, compact};
use crate::graph::place::{Place, PlaceKind};
use crate::graph::scope::{Binding, Borrow, View};

/// Returns the view of a component that is a buffer.
pub(super) fn place_view(lowering: &mut Lowering<'_>, place: &Place, at: &Expr) -> LowerResult<View> {
    if place.is_whole() {
        let (what, help) = match place.kind {
            PlaceKind::Record => ("a record", "borrow a field of it: `&layer.q`"),
            PlaceKind::Records => ("a list of records", "borrow a field of an element: `&layers[i].q`"),
            _ => ("a list of buffers", "borrow an element: `&caches[i]`"),
        };
        return Err(lowering.refuse(at, &format!("{what} is not a buffer"), help));
    }
    let part = lowering.arguments.part(place);
    let len = match &place.kind {
        PlaceKind::Buffer(buffer) => lowering.bound(&buffer.len.clone()),
        _ => lowering.program.dims.length(part, &written(at)),
    };
    let element: Type = match &place.kind {
        PlaceKind::Buffer(buffer) => buffer.element.clone(),
        _ => syn::parse_quote!(()),
    };
    let buffer = place_buffer(lowering, part, || written(at), at.span(), len.clone(), element);
    let mut used = at;
    while let Expr::Reference(ExprReference { expr, .. }) | Expr::Paren(ExprParen { expr, .. }) = used {
        used = expr;
    }
    let place_of_use = (buffer, used.span().start());
    lowering.arguments.parts.exprs.insert(place_of_use, place.expr.clone());
    Ok(View { buffer, lo: DimExpr::constant(0), hi: len, borrow: place.implied_borrow() })
}

/// Returns the buffer that represents a component. It is created at the first use.
pub(super) fn place_buffer(
    lowering: &mut Lowering<'_>,
    part: ArgumentPartId,
    name: impl FnOnce() -> String,
    span: Span,
    len: DimExpr,
    element: Type,
) -> BufferId {
    if let Some(&known) = lowering.arguments.parts.buffers.get(&part) {
        return known;
    }
    lowering.nesting.require_expansion();
    let view = lowering.program.add_buffer(name(), span, Origin::Part(part), len, element, None);
    lowering.arguments.parts.buffers.insert(part, view.buffer);
    view.buffer
}

/// Lowers `let q = &layer.q;` and `let d = layer.d;`, which give a component another name. Returns false
/// for other expressions.
pub(super) fn bind_place_name(lowering: &mut Lowering<'_>, name: &Ident, value: &Expr) -> LowerResult<bool> {
    let Some(place) = place_to_bind(lowering, value)? else { return Ok(false) };
    bind_place(lowering, name, place);
    Ok(true)
}

/// Returns the component that a `let` names, with the borrow of the `let`. None for other expressions.
pub(super) fn place_to_bind(lowering: &mut Lowering<'_>, value: &Expr) -> LowerResult<Option<Place>> {
    let Some(place) = lowering.place(value)? else { return Ok(None) };
    let borrow = match value {
        Expr::Reference(reference) if reference.mutability.is_some() => Some(Borrow::Mutable),
        Expr::Reference(_) => Some(Borrow::Shared),
        _ => place.borrow,
    };
    if borrow.is_none() {
        // Checks the scalar's expression, which the name will denote.
        lowering.substituted(value);
    }
    Ok(Some(Place { borrow, ..place }))
}

/// Binds a name to a component, also for use in expressions.
pub(super) fn bind_place(lowering: &mut Lowering<'_>, name: &Ident, place: Place) {
    lowering.nesting.require_expansion();
    let meaning = crate::substitution::Substitution::Place(Box::new(place.expr.clone()));
    lowering.scope.add_substitution(&name.to_string(), meaning);
    lowering.scope.bind(name, Binding::Part(std::rc::Rc::new(place)));
}

/// Returns the text of a component as written, without the borrow.
fn written(expr: &Expr) -> String {
    match expr {
        Expr::Reference(inner) => written(&inner.expr),
        Expr::Paren(inner) => written(&inner.expr),
        Expr::Group(inner) => written(&inner.expr),
        _ => compact(expr).replace(" [", "["),
    }
}

/// Returns the number of elements of a list as a bound.
pub(super) fn count_of(lowering: &mut Lowering<'_>, list: &Expr) -> DimExpr {
    let list = lowering.substituted(list);
    let tokens =
        quote_spanned!(list.span()=> ::cuweave::__private::dim(::cuweave::__private::__count(&#list)));
    lowering.program.dims.count(&list, tokens)
}
