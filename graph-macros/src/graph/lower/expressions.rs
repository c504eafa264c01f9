//! Resolves names in expressions, substitutes loop indices, and finds the components of arguments that
//! expressions denote.

use proc_macro2::Ident;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr, Member};

use super::hosts::report_misplaced_host_value;
use super::lowering::{LowerResult, Lowering};
use super::names::{ExprNames, with_bindings};
use super::shapes::name_alone;
use crate::dims::DimExpr;
use crate::graph::place::Place;
use crate::graph::scope::{Binding, View};
use crate::substitution::{Substituter, located};

impl Lowering<'_> {
    pub fn bound(&mut self, expr: &Expr) -> DimExpr {
        let substituted = self.substituted(expr);
        let as_written = substituted == *expr;
        self.program.dims.bound_of(&substituted, as_written)
    }

    /// Substitutes the values of loop indices and of scalar `let`s in an expression that rustc will
    /// evaluate.
    pub fn substituted(&mut self, expr: &Expr) -> Expr {
        if matches!(expr, Expr::Lit(_)) {
            return expr.clone();
        }
        let found = self.names(expr);
        if !self.arguments.roots.is_empty() && !matches!(expr, Expr::Path(_)) {
            self.require_index_checks(expr);
        }
        let mut expr = expr.clone();
        if !self.scope.substitutions().is_empty() {
            if found.binds(self.scope.substitutions()) {
                return with_bindings(self.scope.substitutions(), &found.mentioned, &expr);
            }
            Substituter { variables: self.scope.substitutions() }.visit_expr_mut(&mut expr);
        }
        expr
    }

    /// Returns the names in an expression. Reports those that are bound to buffers or statements.
    pub fn names(&mut self, expr: &Expr) -> ExprNames {
        let found = ExprNames::from_expr(expr);
        for name in &found.mentioned {
            if self.scope.is_argument(name) {
                self.arguments.mention(name);
            }
        }
        let alone = name_alone(expr).is_some();
        found.values.iter().for_each(|name| self.check_scalar(name, alone));
        found
    }

    /// Reports a name in a scalar expression that is bound to something else. `alone` is true if the name
    /// is the whole expression.
    fn check_scalar(&mut self, name: &Ident, alone: bool) {
        let (what, help) = match self.scope.get(name) {
            Some(Binding::View(view)) => self.buffer_as_scalar(view),
            Some(Binding::Part(_)) => return,
            Some(Binding::Array(views, _)) => (
                "an array of buffers",
                format!("it has {} elements; write a number or a scalar", views.len()),
            ),
            Some(Binding::Moved(..)) => ("a buffer", "write a scalar".to_owned()),
            Some(Binding::Statement) => ("a statement", "give one of the two another name".to_owned()),
            // Methods and functions of a host value may return a scalar. rustc knows their types.
            Some(Binding::Host { resource: false, .. }) if !alone => {
                self.arguments.mention(&name.to_string());
                return;
            }
            Some(Binding::Host { .. }) => {
                report_misplaced_host_value(self, name);
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

    /// Returns the subject and the help for a buffer used as a scalar.
    fn buffer_as_scalar(&self, view: &View) -> (&'static str, String) {
        if let Some(name) = self.program.returning_call(view.buffer) {
            let bound = self.program.buffer(view.buffer).base_name();
            let help = format!(
                "if `{name}` is an ordinary function of scalars, write the type: `let {bound}: u32 = {name}(..);`"
            );
            return ("an allocation that a call returns", help);
        }
        let len = &self.program.dims.bound(self.program.buffer(view.buffer).len).text;
        (
            "a buffer",
            format!("its length is `{len}`; its elements are in the device's memory, which kernels read"),
        )
    }

    /// Returns the component of an argument that an expression denotes, borrowed or not. None for other
    /// expressions.
    pub fn place(&mut self, expr: &Expr) -> LowerResult<Option<Place>> {
        match expr {
            Expr::Paren(inner) => self.place(&inner.expr),
            Expr::Group(inner) => self.place(&inner.expr),
            Expr::Reference(inner) => self.place(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.place(&unary.expr),
            Expr::Path(path) => Ok(path.path.get_ident().and_then(|name| match self.scope.get(name) {
                Some(Binding::Part(place)) => {
                    let mut place = (**place).clone();
                    self.arguments.mention_root(&place);
                    place.expr = located(&place.expr, name.span());
                    Some(place)
                }
                _ => None,
            })),
            Expr::Field(field) => {
                let Some(place) = self.place(&field.base)? else { return Ok(None) };
                match &field.member {
                    // `.0` may select from a tuple or struct of scalars.
                    Member::Unnamed(_) if !place.may_be_scalar() => Err(self.refuse(
                        expr,
                        "the fields of a record have names",
                        "write `layer.q` with the name of the field",
                    )),
                    member => Ok(Some(place.field(member))),
                }
            }
            Expr::Index(index) if !matches!(&*index.index, Expr::Range(_)) => {
                let Some(place) = self.place(&index.expr)? else { return Ok(None) };
                let (bound, written) = (self.bound(&index.index), self.substituted(&index.index));
                let dim = self.program.dims.intern(bound);
                Ok(Some(place.element(dim, &written)))
            }
            _ => Ok(None),
        }
    }

    /// Requires that the build checks the index of every list element whose scalars the expression
    /// mentions.
    pub fn require_index_checks(&mut self, expr: &Expr) {
        struct Indexed<'e>(Vec<&'e Expr>);
        impl<'e> Visit<'e> for Indexed<'e> {
            fn visit_expr(&mut self, expr: &'e Expr) {
                syn::visit::visit_expr(self, expr);
                if let Expr::Index(index) = expr
                    && !matches!(&*index.index, Expr::Range(_))
                {
                    self.0.push(expr);
                }
            }
        }
        let mut found = Indexed(Vec::new());
        found.visit_expr(expr);
        for expr in found.0 {
            if let Ok(Some(place)) = self.place(expr) {
                let part = self.arguments.part(&place);
                self.nesting.require_index_check(part);
            }
        }
    }
}
