//! Expressions of scalars: their names, and the values of loop variables in them.

use cuweave_core::ir::{Buffer, Kind, Origin, Statement};
use proc_macro2::Ident;
use syn::Expr;
use syn::visit_mut::VisitMut;

use super::{Lowering, names};
use crate::dims::Bound;
use crate::graph::scope::{Binding, View};
use crate::meaning::Substitute;

impl Lowering<'_> {
    pub(super) fn bound(&mut self, expr: &Expr) -> Bound {
        let substituted = self.substituted(expr);
        let as_written = substituted == *expr;
        Bound::of(&substituted, as_written, &self.integers, &mut self.symbols)
    }

    /// Substitutes the values of the loops' variables in an expression for rustc to evaluate.
    pub(super) fn substituted(&mut self, expr: &Expr) -> Expr {
        if matches!(expr, Expr::Lit(_)) {
            return expr.clone();
        }
        let found = self.names(expr);
        if !self.roots.is_empty() && !matches!(expr, Expr::Path(_)) {
            self.needs(expr);
        }
        let mut expr = expr.clone();
        if !self.variables.is_empty() {
            if found.binds(&self.variables) {
                return names::with_bindings(&self.variables, &found.mentioned, &expr);
            }
            Substitute { variables: &self.variables }.visit_expr_mut(&mut expr);
        }
        expr
    }

    /// Returns the names in an expression. Reports those that are bound to buffers or statements.
    pub(super) fn names(&mut self, expr: &Expr) -> names::Names {
        let found = names::Names::of(expr);
        for name in &found.mentioned {
            if self.scalars.contains(name) && !self.mentioned.contains(name) {
                self.mentioned.insert(name.clone());
            }
        }
        let alone = name_alone(expr).is_some();
        found.values.iter().for_each(|name| self.check_scalar(name, alone));
        found
    }

    /// Reports a name in an expression of scalars that is bound to a buffer or a statement. `alone` is true if the name is all of the
    /// expression.
    fn check_scalar(&mut self, name: &Ident, alone: bool) {
        let (what, help) = match self.scopes.get(name) {
            Some(Binding::View(view)) => self.buffer_as_scalar(view),
            Some(Binding::Part(_)) => return,
            Some(Binding::Array(views, _)) => (
                "an array of buffers",
                format!("it has {} elements; write a number or a scalar", views.len()),
            ),
            Some(Binding::Moved(..)) => ("a buffer", "write a scalar".to_owned()),
            Some(Binding::Statement) => ("a statement", "give one of the two another name".to_owned()),
            // rustc knows the type of what its methods and functions of it return.
            Some(Binding::Host { resource: false, .. }) if !alone => {
                self.mentioned.insert(name.to_string());
                return;
            }
            Some(Binding::Host { .. }) => {
                self.host_elsewhere(name);
                return;
            }
            Some(Binding::Unknown | Binding::Number) | None => return,
        };
        self.refuse(
            name,
            &format!("`{name}` is {what} here, and an expression is computed of scalars"),
            &help,
        );
    }

    /// Returns the name of the call that returns a buffer.
    pub(super) fn returned_by(&self, origin: &Origin) -> Option<&str> {
        match origin {
            Origin::Alloc(at) => match self.statements.get(*at) {
                Some(Statement { kind: Kind::Call(_), name, .. }) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the subject and the help of a message about a buffer in the place of a scalar.
    fn buffer_as_scalar(&self, view: &View) -> (&'static str, String) {
        let Buffer { origin, len, .. } = &self.buffers[view.buffer];
        if let Some(name) = self.returned_by(origin) {
            let help = format!(
                "if `{name}` is an ordinary function of scalars, write the type: `let m: u32 = {name}(..);`"
            );
            return ("an allocation that a call returns", help);
        }
        let len = &self.dims[*len].text;
        (
            "a buffer",
            format!("its length is `{len}`; its elements are in the device's memory, which kernels read"),
        )
    }
}

/// Returns the name that an expression is, also borrowed or in parentheses.
pub(super) fn name_alone(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Paren(inner) => name_alone(&inner.expr),
        Expr::Group(inner) => name_alone(&inner.expr),
        Expr::Reference(inner) => name_alone(&inner.expr),
        _ => None,
    }
}
