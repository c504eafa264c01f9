//! Finds record arguments whose type lacks a lifetime, by the uses of their fields.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprForLoop, ExprReference, Type};

use super::unsupported_types::ungrouped;

/// The names whose fields the body borrows or iterates over.
pub struct FieldUses(BTreeSet<String>);

impl FieldUses {
    /// Collects the names in a body. O(tokens).
    pub fn new(body: &Block) -> FieldUses {
        let mut found = FieldUses(BTreeSet::new());
        found.visit_block(body);
        found
    }

    /// Returns true if the argument is used as a record but its type has no lifetime, as in `Layer<'_>`.
    pub fn is_unmarked_record(&self, name: &str, ty: &Type) -> bool {
        let ty = match ungrouped(ty) {
            Type::Reference(reference) => ungrouped(&reference.elem),
            ty => ty,
        };
        let Type::Path(path) = ty else { return false };
        self.0.contains(name) && path.path.segments.last().is_some_and(|last| last.arguments.is_none())
    }

    fn place(&mut self, expr: &Expr) {
        match expr {
            Expr::Field(field) => match &*field.base {
                Expr::Path(path) => {
                    self.0.extend(path.path.get_ident().map(ToString::to_string));
                }
                base => self.place(base),
            },
            Expr::Index(index) => self.place(&index.expr),
            Expr::Paren(paren) => self.place(&paren.expr),
            Expr::Group(group) => self.place(&group.expr),
            _ => {}
        }
    }
}

impl<'b> Visit<'b> for FieldUses {
    fn visit_expr_reference(&mut self, reference: &'b ExprReference) {
        self.place(&reference.expr);
        visit::visit_expr_reference(self, reference);
    }

    fn visit_expr_for_loop(&mut self, turn: &'b ExprForLoop) {
        self.place(&turn.expr);
        visit::visit_expr_for_loop(self, turn);
    }
}
