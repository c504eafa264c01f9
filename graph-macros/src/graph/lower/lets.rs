//! Lowers `let`, which can name scalars, components of arguments, views and allocations.

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, Index, Local, Pat, PatTuple, PatType, Type, TypeTuple};

use super::functions::call_function;
use super::lowering::{LowerResult, Lowering, Reported};
use super::places::{bind_place, bind_place_name, place_to_bind};
use super::scalars::{
    bind_scalar_expr, bind_typed_scalar, is_launch_config, is_scalar_value, is_unbound_path, name_scalar,
    typed_scalar,
};
use super::shapes::{is_named, ungrouped};
use super::unsupported;
use super::views::split_at;
use crate::graph::parts::is_record;
use crate::graph::place::Place;
use crate::graph::scope::Binding;

pub(super) fn lower_let(lowering: &mut Lowering<'_>, local: &Local) -> LowerResult<()> {
    let done = try_local(lowering, local);
    if done.is_err() {
        bind_unknown(lowering, &local.pat);
    }
    done
}

/// Binds the names of a faulty pattern as unknown, so that their uses cause no further errors.
pub(super) fn bind_unknown(lowering: &mut Lowering<'_>, pattern: &Pat) {
    match pattern {
        Pat::Ident(name) => {
            lowering.scope.bind(&name.ident, Binding::Unknown);
            lowering.scope.bind_statement(&name.ident, None);
        }
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|element| bind_unknown(lowering, element)),
        Pat::Type(typed) => bind_unknown(lowering, &typed.pat),
        _ => {}
    }
}

pub(super) fn try_local(lowering: &mut Lowering<'_>, local: &Local) -> LowerResult<()> {
    let Some(init) = &local.init else {
        return Err(lowering.not_in_language(local, "a `let` without a value is", &[]));
    };
    if init.diverge.is_some() {
        return Err(lowering.not_in_language(local, "`let ... else` is", &[]));
    }
    match &local.pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            local_name(lowering, &name.ident, &init.expr, local)
        }
        Pat::Type(typed) => local_typed(lowering, typed, &init.expr, local),
        Pat::Wild(_)
            if is_scalar_value(&lowering.scope, &init.expr) || is_scalar_field(lowering, &init.expr)? =>
        {
            lowering.check_lint_attributes(&local.attrs);
            let value = lowering.substituted(&init.expr);
            lowering.typed.push(value);
            Ok(())
        }
        Pat::Wild(_) => lowering.expression(&init.expr, None, &local.attrs),
        Pat::Tuple(tuple) => local_tuple(lowering, tuple, &init.expr, local),
        _ => Err(lowering.not_in_language(local, "this pattern is", &[])),
    }
}

/// Lowers `let name = ..`.
fn local_name(lowering: &mut Lowering<'_>, name: &Ident, value: &Expr, local: &Local) -> LowerResult<()> {
    if bind_place_name(lowering, name, value)? {
        lowering.check_lint_attributes(&local.attrs);
        return Ok(());
    }
    if is_scalar_value(&lowering.scope, value)
        || is_unbound_path(&lowering.scope, value)
        || is_launch_config(&lowering.scope, value)
    {
        lowering.check_lint_attributes(&local.attrs);
        if is_unbound_path(&lowering.scope, value) {
            // Evaluated so that rustc reports a path that does not resolve.
            lowering.typed.push(value.clone());
        }
        name_scalar(lowering, name, value);
        return Ok(());
    }
    lowering.expression(value, Some(name), &local.attrs)
}

/// Lowers `let name: T = ..`, which names a scalar or a component of an argument.
fn local_typed(lowering: &mut Lowering<'_>, typed: &PatType, value: &Expr, local: &Local) -> LowerResult<()> {
    if let (Pat::Tuple(names), Type::Tuple(types)) = (&*typed.pat, &*typed.ty)
        && names.elems.len() == types.elems.len()
    {
        return local_typed_tuple(lowering, names, types, value, local);
    }
    let is_scalar = is_scalar_value(&lowering.scope, value);
    if let Pat::Wild(_) = &*typed.pat
        && (is_scalar || is_by_value(&typed.ty) && !allocates(value))
    {
        lowering.check_lint_attributes(&local.attrs);
        let value = lowering.substituted(value);
        lowering.typed.push(crate::dims::typed(&typed.ty, &value));
        return Ok(());
    }
    match pattern_name(&typed.pat) {
        Some(name) if !is_scalar && may_be_place(value) => {
            lowering.check_lint_attributes(&local.attrs);
            let Some(place) = place_to_bind(lowering, value)? else {
                return Err(lowering.not_in_language(local, "this pattern is", &[]));
            };
            if is_scalar_type(&typed.ty) && place.may_be_scalar() {
                typed_scalar(lowering, name, &typed.ty, value);
            } else {
                bind_place(lowering, name, place);
            }
            Ok(())
        }
        _ if !(is_scalar || is_by_value(&typed.ty) && !allocates(value)) => {
            Err(lowering.not_in_language(local, unsupported::TYPED_LET.what, &[]))
        }
        Some(name) => {
            lowering.check_lint_attributes(&local.attrs);
            typed_scalar(lowering, name, &typed.ty, value);
            Ok(())
        }
        None => Err(lowering.not_in_language(local, "this pattern is", &[])),
    }
}

/// Lowers `let (a, b): (T, U) = ..`, which names scalars. Values cannot refer to names of the same pattern.
fn local_typed_tuple(
    lowering: &mut Lowering<'_>,
    names: &PatTuple,
    types: &TypeTuple,
    value: &Expr,
    local: &Local,
) -> LowerResult<()> {
    let named: Option<Vec<Option<Ident>>> = names.elems.iter().map(name_or_none).collect();
    let Some(named) = named.filter(|_| types.elems.iter().all(is_scalar_type) && !allocates(value)) else {
        return Err(report_pattern(lowering, local));
    };
    if may_be_place(value)
        && let Some(place) = lowering.place(value)?
        && !place.may_be_scalar()
    {
        return Err(report_pattern(lowering, local));
    }
    lowering.check_lint_attributes(&local.attrs);
    let values: Vec<Expr> = match ungrouped(value) {
        Expr::Tuple(values) if values.elems.len() == named.len() => {
            values.elems.iter().map(|value| lowering.substituted(value)).collect()
        }
        _ => {
            let whole = crate::dims::typed(&Type::Tuple(types.clone()), &lowering.substituted(value));
            lowering.typed.push(whole.clone());
            (0..named.len()).map(|at| element(&whole, at)).collect()
        }
    };
    for ((name, ty), value) in named.iter().zip(&types.elems).zip(values) {
        match name {
            Some(name) => bind_typed_scalar(lowering, name, ty, &value),
            None => lowering.typed.push(crate::dims::typed(ty, &value)),
        }
    }
    Ok(())
}

/// Lowers `let (a, b) = ..`: the halves of a split, several values, or the results of a call.
fn local_tuple(
    lowering: &mut Lowering<'_>,
    tuple: &PatTuple,
    value: &Expr,
    local: &Local,
) -> LowerResult<()> {
    let names: Option<Vec<Option<Ident>>> = tuple.elems.iter().map(name_or_none).collect();
    match (names.as_deref(), ungrouped(value)) {
        (Some([lo, hi]), Expr::MethodCall(call)) if call.method == "split_at_mut" && call.args.len() == 1 => {
            lowering.check_lint_attributes(&local.attrs);
            split_at(lowering, [lo.as_ref(), hi.as_ref()], &call.receiver, &call.args[0])
        }
        (Some(names), Expr::Tuple(values)) if names.len() == values.elems.len() => {
            lowering.check_lint_attributes(&local.attrs);
            named_together(lowering, names, values.elems.iter(), local)
        }
        (Some(names), Expr::Call(call)) if matches!(&*call.func, Expr::Path(_)) => {
            let Expr::Path(path) = &*call.func else { return Ok(()) };
            let attributes = [local.attrs.as_slice(), &call.attrs].concat();
            call_function(lowering, call, &path.path, names, &attributes)
        }
        (Some(names), value) if may_be_place(value) && may_be_scalars(lowering, value)? => {
            lowering.check_lint_attributes(&local.attrs);
            let values: Vec<Expr> = (0..names.len()).map(|at| element(value, at)).collect();
            named_together(lowering, names, values.iter(), local)
        }
        _ => Err(report_pattern(lowering, local)),
    }
}

/// Returns true for a field of a record without a borrow.
fn is_scalar_field(lowering: &mut Lowering<'_>, value: &Expr) -> LowerResult<bool> {
    Ok(may_be_place(value) && lowering.place(value)?.is_some_and(|place| place.is_scalar()))
}

/// Returns true for a scalar's name, an element of one, or a record's field that may be a scalar.
fn may_be_scalars(lowering: &mut Lowering<'_>, value: &Expr) -> LowerResult<bool> {
    if is_scalar_value(&lowering.scope, value) {
        return Ok(true);
    }
    Ok(lowering.place(value)?.is_some_and(|place| place.may_be_scalar()))
}

fn report_pattern(lowering: &mut Lowering<'_>, local: &Local) -> Reported {
    let note = "several names are bound by tuples of scalars and parts of arguments, by `split_at_mut` and by calls \
                of graph functions";
    lowering.not_in_language(local, "this pattern is", &[note.into()])
}

/// Lowers `let (fine, coarse) = (levels[i], levels[i + 1]);`, which names components of arguments, scalars
/// and configurations. Values cannot refer to names of the same pattern.
fn named_together<'e>(
    lowering: &mut Lowering<'_>,
    names: &[Option<Ident>],
    values: impl Iterator<Item = &'e Expr>,
    local: &Local,
) -> LowerResult<()> {
    let mut meanings: Vec<Result<Place, Expr>> = Vec::new();
    for value in values {
        meanings.push(match place_to_bind(lowering, value)? {
            Some(place) => Ok(place),
            None if is_scalar_value(&lowering.scope, value)
                || is_unbound_path(&lowering.scope, value)
                || is_launch_config(&lowering.scope, value) =>
            {
                Err(lowering.substituted(value))
            }
            None => return Err(report_pattern(lowering, local)),
        });
    }
    for (name, meaning) in names.iter().zip(meanings) {
        match (name, meaning) {
            (Some(name), Ok(place)) => bind_place(lowering, name, place),
            (Some(name), Err(value)) => bind_scalar_expr(lowering, name, &value),
            (None, Ok(_)) => {}
            (None, Err(value)) => lowering.typed.push(value),
        }
    }
    Ok(())
}

/// Returns true for a type that is passed by value: a path or a tuple of such types.
fn is_by_value(ty: &Type) -> bool {
    match ty {
        Type::Path(_) => true,
        Type::Tuple(tuple) => tuple.elems.iter().all(is_by_value),
        Type::Paren(inner) => is_by_value(&inner.elem),
        Type::Group(inner) => is_by_value(&inner.elem),
        _ => false,
    }
}

/// Returns true for a call of `alloc`.
fn allocates(value: &Expr) -> bool {
    matches!(ungrouped(value), Expr::Call(call) if is_named(ungrouped(&call.func), "alloc"))
}

/// Returns the name that a pattern's element binds. `Some(None)` for `_`, None if it is not supported.
fn name_or_none(pattern: &Pat) -> Option<Option<Ident>> {
    match pattern {
        Pat::Wild(_) => Some(None),
        pattern => pattern_name(pattern).map(|name| Some(name.clone())),
    }
}

fn pattern_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) => Some(&name.ident),
        _ => None,
    }
}

/// Returns true if the expression may denote a component of an argument: `layer`, `layer.c`, `layers[i].c`.
fn may_be_place(value: &Expr) -> bool {
    matches!(ungrouped(value), Expr::Path(_) | Expr::Field(_) | Expr::Index(_))
}

/// Returns the expression `tuple.at`.
fn element(tuple: &Expr, at: usize) -> Expr {
    let at = Index { index: at as u32, span: tuple.span() };
    syn::parse_quote_spanned!(tuple.span()=> #tuple.#at)
}

/// Returns true for a by-value type that is not a record. A record's type names a lifetime.
fn is_scalar_type(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_scalar_type(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_scalar_type),
        Type::Paren(inner) => is_scalar_type(&inner.elem),
        Type::Group(inner) => is_scalar_type(&inner.elem),
        Type::Path(_) => !is_record(ty),
        _ => false,
    }
}
