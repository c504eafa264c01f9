//! Views: the buffer ranges that expressions name.

use cuweave_core::ir::{self, Origin};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, RangeLimits};

use super::{Lower, Lowering, Reported};
use crate::dims::Bound;
use crate::graph::scope::{Binding, View};
use crate::meaning::constant;

impl Lowering<'_> {
    /// Returns the view that an expression names: `b`, `b[lo..hi]`, `w[2]`, `w[i][..k]`, with or without `&`.
    pub(super) fn view(&mut self, expr: &Expr) -> Lower<Option<View>> {
        match expr {
            Expr::Paren(inner) => self.view(&inner.expr),
            Expr::Group(inner) => self.view(&inner.expr),
            Expr::Reference(inner) => self.view(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.view(&unary.expr),
            Expr::Path(path) => match path.path.get_ident().and_then(|name| self.scopes.get(name)) {
                Some(Binding::View(view)) => Ok(Some(view.clone())),
                Some(Binding::Unknown) => Err(Reported),
                Some(Binding::Moved(to, _)) => {
                    let message = format!("the buffer of this name is called `{to}` since");
                    Err(self.refuse(
                        expr,
                        &message,
                        "give the name an allocation again, or use the other name",
                    ))
                }
                Some(Binding::Part(place)) => {
                    let place = place.clone();
                    self.place(expr)?;
                    self.part_view(&place, expr).map(Some)
                }
                Some(Binding::Array(..)) => Err(self.refuse(
                    expr,
                    "an array of buffers is not a buffer",
                    "index it with a literal or with the variable of a loop",
                )),
                Some(Binding::Statement) => Err(self.refuse(
                    expr,
                    "this names a statement, not a buffer",
                    "pass an allocation or an argument",
                )),
                Some(Binding::Host { .. }) => match path.path.get_ident() {
                    Some(name) => Err(self.host_elsewhere(name)),
                    None => Ok(None),
                },
                Some(Binding::Number) | None => Ok(None),
            },
            Expr::Field(_) => match self.place(expr)? {
                Some(place) => self.part_view(&place, expr).map(Some),
                None => Ok(None),
            },
            Expr::Index(index) => self.indexed(expr, index),
            _ => Ok(None),
        }
    }

    pub(super) fn indexed(&mut self, expr: &Expr, index: &syn::ExprIndex) -> Lower<Option<View>> {
        if let Expr::Path(path) = &*index.expr
            && let Some(Binding::Array(views, array)) =
                path.path.get_ident().and_then(|name| self.scopes.get(name))
            && !matches!(&*index.index, Expr::Range(_))
        {
            let (views, array) = (views.clone(), array.clone());
            self.names(&index.index);
            let Some(at) = constant(&index.index, &self.variables) else {
                let (bound, written) = (self.bound(&index.index), self.substituted(&index.index));
                let dim = self.dim(bound);
                self.mentioned.insert(self.argument_names[array.argument].clone());
                return self.part_view(&array.element(dim, &written), expr).map(Some);
            };
            return match usize::try_from(at).ok().and_then(|at| views.get(at)) {
                Some(view) => Ok(Some(view.clone())),
                None => {
                    let message = format!("the index is {at}, but the array has {} buffers", views.len());
                    Err(self.refuse(&index.index, &message, "stay below the length of the array"))
                }
            };
        }
        if !matches!(&*index.index, Expr::Range(_))
            && let Some(place) = self.place(expr)?
        {
            return self.part_view(&place, expr).map(Some);
        }
        let Some(view) = self.view(&index.expr)? else { return Ok(None) };
        let Expr::Range(range) = &*index.index else {
            let help = match self.buffers[view.buffer].origin {
                Origin::Taken => {
                    "an argument `[T; len]` is an allocation of another graph: for numbers, take scalars or a struct by value"
                }
                _ => {
                    "take a range of it: `&x[i..i + 1]`; for a number that the host knows, take a scalar argument"
                }
            };
            return Err(self.refuse(expr, "an element of a buffer is neither a buffer nor a scalar", help));
        };
        let lo = match &range.start {
            Some(start) => {
                let start = self.bound(start);
                view.lo.plus(&start, &mut self.symbols)
            }
            None => view.lo.clone(),
        };
        let hi = match &range.end {
            Some(end) => {
                let end = self.bound(end);
                let end = match range.limits {
                    RangeLimits::HalfOpen(_) => end,
                    RangeLimits::Closed(_) => end.plus(&Bound::constant(1), &mut self.symbols),
                };
                view.lo.plus(&end, &mut self.symbols)
            }
            None => view.hi.clone(),
        };
        if range.start.is_some() || range.end.is_some() {
            self.part(&view, &lo, &hi, expr.span());
        }
        Ok(Some(View { lo, hi, ..view }))
    }

    /// Makes the build check that a part of a view lies in it. A part of a whole buffer is checked at each use.
    pub(super) fn part(&mut self, view: &View, lo: &Bound, hi: &Bound, at: Span) {
        if self.is_whole(view) {
            return;
        }
        let mut dim = |bound: &Bound| self.dim(bound.clone());
        let (lo, hi, of) = (dim(lo), dim(hi), (dim(&view.lo), dim(&view.hi)));
        let line = at.start().line as u32;
        self.parts.insert(ir::View { buffer: view.buffer, line, column: 0, file: None, lo, hi, of });
    }
}
