//! Lowers statements that rebind names to other allocations: `swap(&mut a, &mut b);`, `h = y;`, `(a, b) =
//! block(..);`.
//!
//! Rebinding adds no node. Inside a loop or an arm, rebinding an outer name becomes an [`Item`], since the
//! binding then changes by iteration.

use cuweave_core::structure::Item;
use proc_macro2::Ident;
use syn::{Attribute, Expr, ExprCall, Path};

use super::conditionals::reject_outer_buffer;
use super::functions::call_function;
use super::lowering::{LowerResult, Lowering};
use super::scalars::is_scalar_name;
use super::shapes::ungrouped;
use super::views::view_of;
use crate::graph::scope::{Binding, View};

/// Lowers `swap(&mut a, &mut b);`, which exchanges the buffers of two names.
pub(super) fn swap_names(lowering: &mut Lowering<'_>, a: &Expr, b: &Expr) -> LowerResult<()> {
    let ((a, one), (b, other)) = (rebindable(lowering, a)?, rebindable(lowering, b)?);
    same_length(lowering, &a, &one, &other)?;
    reject_outer_buffer(lowering, &a, one.buffer)?;
    reject_outer_buffer(lowering, &b, other.buffer)?;
    lowering.program.record_rename(one.buffer, other.buffer);
    if is_outer(lowering, &a) || is_outer(lowering, &b) {
        lowering.nesting.push(Item::Swap(one.buffer, other.buffer));
    } else {
        lowering.scope.rebind(&a, Binding::View(other));
        lowering.scope.rebind(&b, Binding::View(one));
    }
    Ok(())
}

/// Lowers `h = y;`, which rebinds `h` to the buffer of `y`. Also lowers `h = block(&h);` and `(a, b) =
/// block(..);`, which rebind names to the results of a call.
pub(super) fn assign_name(
    lowering: &mut Lowering<'_>,
    to: &Expr,
    from: &Expr,
    attributes: &[Attribute],
) -> LowerResult<()> {
    if let Expr::Call(call) = ungrouped(from)
        && let Expr::Path(callee) = ungrouped(&call.func)
    {
        return assign_results(lowering, to, call, &callee.path, attributes);
    }
    lowering.check_lint_attributes(attributes);
    let ((to, old), (from, new)) = (assigned_name(lowering, to)?, rebindable(lowering, from)?);
    rebind(lowering, &to, &old, &new)?;
    // The name that was moved from keeps the buffer that no other name denotes now, so that it can be
    // assigned again.
    let left = if is_outer(lowering, &to) { new } else { old };
    lowering.scope.rebind(&from, Binding::Moved(to, left));
    Ok(())
}

/// Rebinds a name to the buffer of another one.
fn rebind(lowering: &mut Lowering<'_>, to: &Ident, old: &View, new: &View) -> LowerResult<()> {
    same_length(lowering, to, old, new)?;
    reject_outer_buffer(lowering, to, old.buffer)?;
    reject_outer_buffer(lowering, to, new.buffer)?;
    lowering.program.record_rename(old.buffer, new.buffer);
    if is_outer(lowering, to) {
        lowering.nesting.push(Item::Rename { to: old.buffer, from: new.buffer });
        lowering.scope.rebind(to, Binding::View(old.clone()));
    } else {
        lowering.scope.rebind(to, Binding::View(new.clone()));
    }
    Ok(())
}

fn assign_results(
    lowering: &mut Lowering<'_>,
    to: &Expr,
    call: &ExprCall,
    callee: &Path,
    attributes: &[Attribute],
) -> LowerResult<()> {
    let targets: Vec<&Expr> = match ungrouped(to) {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        one => vec![one],
    };
    let targets: LowerResult<Vec<Option<(Ident, View)>>> = targets
        .into_iter()
        .map(|target| match target {
            Expr::Infer(_) => Ok(None),
            target => assigned_name(lowering, target).map(Some),
        })
        .collect();
    let targets = targets?;
    let names: Vec<Option<Ident>> =
        targets.iter().map(|target| target.as_ref().map(|target| target.0.clone())).collect();
    lowering.scope.enter();
    let done = match names.as_slice() {
        [Some(name)] => lowering.expression(&Expr::Call(call.clone()), Some(name), attributes),
        names => call_function(lowering, call, callee, names, &[attributes, &call.attrs].concat()),
    };
    let given: Vec<Option<Binding>> =
        names.iter().map(|name| name.as_ref().and_then(|name| lowering.scope.get(name).cloned())).collect();
    lowering.leave_block();
    done?;
    for (target, given) in targets.into_iter().zip(given) {
        let Some((name, old)) = target else { continue };
        match given {
            Some(Binding::View(new)) if new.buffer != old.buffer => rebind(lowering, &name, &old, &new)?,
            _ => {
                return Err(lowering.refuse(
                    &name,
                    "only an allocation is assigned to the name of one",
                    "assign what `alloc` or a graph function returns",
                ));
            }
        }
    }
    Ok(())
}

/// Returns the target of an assignment and its buffer. The name may have been moved from before.
fn assigned_name(lowering: &mut Lowering<'_>, expr: &Expr) -> LowerResult<(Ident, View)> {
    if let Expr::Path(path) = ungrouped(expr)
        && let Some(name) = path.path.get_ident()
        && let Some(Binding::Moved(_, view)) = lowering.scope.get(name)
    {
        return Ok((name.clone(), view.clone()));
    }
    rebindable(lowering, expr)
}

/// Returns the name and the buffer of an allocation that can be rebound.
fn rebindable(lowering: &mut Lowering<'_>, expr: &Expr) -> LowerResult<(Ident, View)> {
    let inner = match expr {
        Expr::Reference(reference) if reference.mutability.is_some() => &reference.expr,
        expr => expr,
    };
    if let Expr::Index(_) = inner {
        return Err(lowering.refuse(
            expr,
            "a part of a buffer is not assigned",
            "write `fill(&mut x[i..i + 1], value);`, `copy(&y, &mut x[lo..hi]);` or launch a kernel",
        ));
    }
    let name = match inner {
        Expr::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    let view = view_of(lowering, inner)?;
    let of_an_allocation = |view: &View, lowering: &Lowering<'_>| {
        lowering.program.buffer(view.buffer).origin.is_owned() && lowering.program.is_whole(view)
    };
    match (name, view) {
        (Some(name), Some(view)) if of_an_allocation(&view, lowering) => Ok((name, view)),
        (Some(name), None) if is_scalar_name(&lowering.scope, inner) => Err(lowering.refuse(
            expr,
            &format!("`{name}` is a scalar, which keeps its value"),
            "give the new value a `let` of its own; in a loop, compute it from the variable of the loop",
        )),
        _ => Err(lowering.refuse(
            expr,
            "only names of whole allocations can be rebound to another buffer",
            "write `swap(&mut a, &mut b);` or `a = b;` with allocations, or `copy(&b, &mut a);`",
        )),
    }
}

fn same_length(lowering: &mut Lowering<'_>, at: &Ident, one: &View, other: &View) -> LowerResult<()> {
    let element = |view: &View| lowering.program.element(view.buffer);
    if one.hi.poly == other.hi.poly && element(one) == element(other) {
        return Ok(());
    }
    // Results of calls are compared when the graph is built.
    let returned = |view: &View| lowering.program.returning_call(view.buffer).is_some();
    if returned(one) || returned(other) {
        return Ok(());
    }
    Err(lowering.refuse(
        at,
        "the two allocations differ in length or element type",
        "allocate both with the same expression: the length of the longest, of which launches take ranges, \
         `&h[..n]`; or keep buffers of several lengths in records",
    ))
}

/// Returns true if a name is declared outside the loop or arm being lowered.
fn is_outer(lowering: &Lowering<'_>, name: &Ident) -> bool {
    lowering.scope.depth_of(name).is_some_and(|scope| lowering.nesting.is_outer(scope))
}
