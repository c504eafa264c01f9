//! Lowers `if let Some(b) = bias { .. } else { .. }` over optional buffers, which is decided when the graph
//! is built. An optional buffer is represented as a list of at most one element.

use proc_macro2::Ident;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprIf, ExprLet, ExprMatch, ExprMethodCall, Pat, Stmt};

use super::lowering::{LowerResult, Lowering};
use super::places::bind_place;
use super::shapes::{is_named, ungrouped};
use crate::dims::DimExpr;
use crate::graph::place::{Place, PlaceKind};
use crate::graph::scope::{Binding, Borrow, Scope};

const HELP: &str = "write `if let Some(b) = bias { .. } else { .. }` for an argument or a field `Option<&[T; len]>` \
                    or `Option<&mut [T; len]>`, and `match` for a scalar";

/// Returns the name and the place in `let Some(name) = place`.
pub(super) fn optional_pattern<'e>(
    lowering: &mut Lowering<'_>,
    pattern: &'e ExprLet,
) -> LowerResult<(Option<&'e Ident>, Place)> {
    let name = match &*pattern.pat {
        Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => name(&some.elems[0]),
        _ => None,
    };
    let of = ungrouped(&pattern.expr);
    let of = option_borrow_call(of).map_or(of, |lent| &*lent.receiver);
    match (name, lowering.place(of)?) {
        (Some(name), Some(place)) if is_optional(&place.kind) => Ok((name, place)),
        _ => {
            Err(lowering.refuse(pattern, "this pattern is not part of the language of graph functions", HELP))
        }
    }
}

/// Returns the condition that the buffer is present.
pub(super) fn presence_condition(lowering: &mut Lowering<'_>, place: &Place) -> Expr {
    let list = lowering.substituted(&place.expr);
    let tokens = quote_spanned!(list.span()=> ::cuweave::__private::is_given(&#list));
    syn::parse2(tokens).unwrap_or_else(|_| syn::parse_quote!(false))
}

/// Returns the argument in `Some(argument)` if it may be a buffer.
pub(super) fn in_some<'e>(scope: &Scope, argument: &'e Expr) -> Option<&'e Expr> {
    let Expr::Call(some) = ungrouped(argument) else { return None };
    let inner = some.args.first().filter(|_| some.args.len() == 1 && is_named(&some.func, "Some"))?;
    let is_buffer = match ungrouped(inner) {
        Expr::Reference(_) => true,
        Expr::Path(path) => {
            let binding = path.path.get_ident().and_then(|name| scope.get(name));
            matches!(binding, Some(Binding::View(_) | Binding::Part(_)))
        }
        _ => false,
    };
    is_buffer.then_some(inner)
}

/// Returns the buffer inside an optional one. Valid only where it is known to be present.
pub(super) fn present_buffer(lowering: &mut Lowering<'_>, place: &Place) -> Place {
    let first = lowering.program.dims.intern(DimExpr::constant(0));
    let borrow = match &place.kind {
        PlaceKind::Buffers(buffer) if !buffer.mutable => Borrow::Shared,
        _ => Borrow::Mutable,
    };
    let element = place.element(first, &syn::parse_quote!(0usize));
    Place { borrow: Some(borrow), ..element }
}

/// Returns the first optional buffer among a launch's arguments, with its index: an argument's name, or
/// `layer.bias.as_ref()`.
pub(super) fn optional_argument<'e>(
    lowering: &mut Lowering<'_>,
    call: &'e ExprCall,
) -> LowerResult<Option<(usize, &'e Expr)>> {
    for (at, argument) in call.args.iter().enumerate() {
        if optional_borrow(lowering, argument)?.is_some() {
            return Ok(Some((at, argument)));
        }
    }
    Ok(call.args.iter().enumerate().find(|(_, argument)| {
        let inner = match ungrouped(argument) {
            Expr::Reference(reference) => ungrouped(&reference.expr),
            inner => inner,
        };
        let Expr::Path(path) = inner else { return false };
        match path.path.get_ident().and_then(|name| lowering.scope.get(name)) {
            Some(Binding::Part(place)) => {
                matches!(&place.kind, PlaceKind::Buffers(buffer) if buffer.optional)
            }
            _ => false,
        }
    }))
}

/// Returns `&layer.bias` for `layer.bias.as_ref()`, and `&mut layer.kept` for `layer.kept.as_mut()`.
pub(super) fn optional_borrow(lowering: &mut Lowering<'_>, argument: &Expr) -> LowerResult<Option<Expr>> {
    let Some(lent) = option_borrow_call(ungrouped(argument)) else { return Ok(None) };
    let of = &lent.receiver;
    let is_optional = lowering.place(of)?.is_some_and(|place| is_optional(&place.kind));
    Ok(is_optional.then(|| match lent.method.to_string().ends_with("mut") {
        true => syn::parse_quote_spanned!(argument.span()=> &mut #of),
        false => syn::parse_quote_spanned!(argument.span()=> &#of),
    }))
}

/// Lowers a block in which a name denotes a component of an argument.
pub(super) fn block_with_place(
    lowering: &mut Lowering<'_>,
    name: Option<&Ident>,
    place: Place,
    statements: &[Stmt],
) {
    lowering.scope.enter();
    if let Some(name) = name {
        bind_place(lowering, name, place);
    }
    lowering.statements(statements);
    lowering.leave_block();
}

/// Returns true if the place may be an optional buffer: an optional argument, or a record's field, whose
/// type only rustc knows.
fn is_optional(kind: &PlaceKind) -> bool {
    match kind {
        PlaceKind::Buffers(buffer) => buffer.optional,
        PlaceKind::Field => true,
        PlaceKind::Record | PlaceKind::Records | PlaceKind::Buffer(_) | PlaceKind::Array => false,
    }
}

/// Returns the call in `bias.as_ref()`, `bias.as_mut()` and their `deref` variants.
fn option_borrow_call(expr: &Expr) -> Option<&ExprMethodCall> {
    let Expr::MethodCall(call) = expr else { return None };
    let lends = ["as_ref", "as_mut", "as_deref", "as_deref_mut"].iter().any(|one| call.method == one);
    (lends && call.args.is_empty()).then_some(call)
}

/// Returns true for a bare `None`.
pub(super) fn is_none(expr: &Expr) -> bool {
    matches!(ungrouped(expr), Expr::Path(path) if path.path.is_ident("None"))
}

/// Returns the name that a pattern binds. `Some(None)` for `_`, None if the pattern is not supported.
fn name(pattern: &Pat) -> Option<Option<&Ident>> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() => Some(Some(&name.ident)),
        Pat::Wild(_) => Some(None),
        _ => None,
    }
}

/// Rewrites `match bias { Some(b) => .., None => .. }` to an `if let`.
pub(super) fn match_as_if_let(choice: &ExprMatch) -> Option<ExprIf> {
    let [one, other] = &choice.arms[..] else { return None };
    let is_some = |pattern: &Pat| matches!(pattern, Pat::TupleStruct(some) if some.path.is_ident("Some"));
    let is_none = |pattern: &Pat| match pattern {
        Pat::Ident(name) => name.ident == "None",
        Pat::Path(path) => path.path.is_ident("None"),
        Pat::Wild(_) => true,
        _ => false,
    };
    let (some, none) = if is_some(&one.pat) { (one, other) } else { (other, one) };
    if !is_some(&some.pat) || !is_none(&none.pat) {
        return None;
    }
    let (of, pattern, given, otherwise) = (&choice.expr, &some.pat, &some.body, &none.body);
    Some(syn::parse_quote_spanned!(choice.span()=> if let #pattern = #of { #given } else { #otherwise }))
}
