//! Unrolls loops over arrays of buffers, whose lengths are literals: `for x in &w`, `for (i, x) in
//! w.iter().enumerate()`.

use std::rc::Rc;

use cuweave_core::structure::EnclosingLoop;
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, Pat};

use super::lowering::{LowerResult, Lowering};
use super::unroll::unroll;
use super::unsupported;
use crate::graph::scope::{Binding, Borrow, Scope, View};
use crate::substitution::Substitution;

/// The elements that a loop iterates over.
pub(super) struct LoopElements {
    views: Rc<[View]>,
    /// True with `.enumerate()`.
    enumerated: bool,
    /// True if the index of `.enumerate()` counts down.
    counts_down: bool,
    /// True if the loop starts at the last element.
    backwards: bool,
}

/// Returns the elements that a loop over an array of buffers iterates over. Accepts `&w`, `&mut w`, `w`,
/// `w.iter()`, `w.iter_mut()`, and these with `.enumerate()` and `.rev()`.
pub(super) fn elements_of(scope: &Scope, expr: &Expr) -> Option<LoopElements> {
    match expr {
        Expr::Paren(inner) => elements_of(scope, &inner.expr),
        Expr::Group(inner) => elements_of(scope, &inner.expr),
        Expr::Reference(inner) => {
            let elements = elements_of(scope, &inner.expr)?;
            Some(if inner.mutability.is_some() { elements } else { elements.shared() })
        }
        Expr::MethodCall(call) if call.args.is_empty() => {
            let elements = elements_of(scope, &call.receiver)?;
            match call.method.to_string().as_str() {
                "iter" => Some(elements.shared()),
                "iter_mut" | "into_iter" => Some(elements),
                "enumerate" if !elements.enumerated && is_iterator(&call.receiver) => {
                    Some(LoopElements { enumerated: true, ..elements })
                }
                "rev" if is_iterator(&call.receiver) => Some(elements.reversed()),
                _ => None,
            }
        }
        Expr::Path(path) => match scope.get(path.path.get_ident()?)? {
            Binding::Array(views, _) => Some(LoopElements {
                views: views.clone(),
                enumerated: false,
                counts_down: false,
                backwards: false,
            }),
            _ => None,
        },
        _ => None,
    }
}

/// Lowers one iteration per element.
pub(super) fn for_each(
    lowering: &mut Lowering<'_>,
    each: &ExprForLoop,
    elements: LoopElements,
) -> LowerResult<()> {
    let names = match (&*each.pat, elements.enumerated) {
        (Pat::Tuple(tuple), true) if tuple.elems.len() == 2 => {
            name(&tuple.elems[0]).zip(name(&tuple.elems[1]))
        }
        (pattern, false) => name(pattern).map(|name| (None, name)),
        _ => None,
    };
    let Some((index, element)) = names else {
        return Err(lowering.not_in_language(&each.pat, unsupported::LOOP_PATTERN.what, &[]));
    };
    let count = elements.views.len() as i128;
    unroll(lowering, each.span(), 0..count, |lowering, at| {
        let view = usize::try_from(at).ok().and_then(|at| elements.views.get(at));
        let element_at = if elements.backwards { count - 1 - at } else { at };
        let at = if elements.counts_down { count - 1 - at } else { at };
        let Some(view) = view else { return };
        lowering.nesting.enter(EnclosingLoop::Value(i64::try_from(element_at).unwrap_or_default()));
        lowering.scope.enter();
        if let Some(element) = element {
            lowering.scope.bind(element, Binding::View(view.clone()));
        }
        if let Some(index) = index {
            lowering.scope.add_substitution(&index.to_string(), Substitution::Number(at));
        }
        lowering.block_with(index, &each.body.stmts);
        if index.is_some() {
            lowering.scope.remove_last_substitution();
        }
        lowering.leave_block();
        lowering.nesting.leave();
    });
    Ok(())
}

impl LoopElements {
    fn shared(self) -> LoopElements {
        let shared = |view: View| View { borrow: view.borrow.map(|_| Borrow::Shared), ..view };
        LoopElements { views: self.views.iter().cloned().map(shared).collect(), ..self }
    }

    /// Returns the elements in reverse order, with their original indices.
    fn reversed(self) -> LoopElements {
        let views = self.views.iter().rev().cloned().collect();
        let counts_down = self.enumerated != self.counts_down;
        LoopElements { views, counts_down, backwards: !self.backwards, ..self }
    }
}

/// Returns true for `w.iter()`, `w.iter().enumerate()` and the like.
fn is_iterator(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(_))
}

/// Returns the name that a pattern binds. `Some(None)` for `_`, None if the pattern is not supported.
fn name(pattern: &Pat) -> Option<Option<&Ident>> {
    match pattern {
        Pat::Wild(_) => Some(None),
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(Some(&name.ident)),
        _ => None,
    }
}
