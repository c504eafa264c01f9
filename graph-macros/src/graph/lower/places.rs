//! Lowers the names of parts of arguments: `layer.q`, `layers[i].inner`, `caches[i]`.

use cuweave_core::ids::PartId;
use cuweave_core::ir::{BufferId, Origin};
use cuweave_core::structure::Item;
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprParen, ExprReference, Member, Type};

use super::{Lower, Lowering};
use crate::dims::{Bound, compact};
use crate::graph::place::{Place, PlaceKind};
use crate::graph::scope::{Binding, Borrow, View};
use crate::meaning::located;

impl Lowering<'_> {
    /// Returns the part of an argument that an expression names, borrowed or not; `None` for other expressions.
    pub(super) fn place(&mut self, expr: &Expr) -> Lower<Option<Place>> {
        match expr {
            Expr::Paren(inner) => self.place(&inner.expr),
            Expr::Group(inner) => self.place(&inner.expr),
            Expr::Reference(inner) => self.place(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.place(&unary.expr),
            Expr::Path(path) => Ok(path.path.get_ident().and_then(|name| match self.scopes.get(name) {
                Some(Binding::Part(place)) => {
                    let mut place = (**place).clone();
                    let root = self.argument_names[place.argument].clone();
                    self.mentioned.insert(root);
                    place.expr = located(&place.expr, name.span());
                    Some(place)
                }
                _ => None,
            })),
            Expr::Field(field) => {
                let Some(place) = self.place(&field.base)? else { return Ok(None) };
                match &field.member {
                    // An element of a tuple or of a structure of scalars.
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
                let dim = self.dim(bound);
                Ok(Some(place.element(dim, &written)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the view of a part that is a buffer.
    pub(super) fn part_view(&mut self, place: &Place, at: &Expr) -> Lower<View> {
        if place.is_whole() {
            let (what, help) = match place.kind {
                PlaceKind::Record => ("a record", "borrow a field of it: `&layer.q`"),
                PlaceKind::Records => ("a list of records", "borrow a field of an element: `&layers[i].q`"),
                _ => ("a list of buffers", "borrow an element: `&caches[i]`"),
            };
            return Err(self.refuse(at, &format!("{what} is not a buffer"), help));
        }
        let part = self.parts_of_arguments.number(place);
        let len = match &place.kind {
            PlaceKind::Buffer(buffer) => self.bound(&buffer.len.clone()),
            _ => Bound::length(part, &written(at), &mut self.symbols),
        };
        let element: Type = match &place.kind {
            PlaceKind::Buffer(buffer) => buffer.element.clone(),
            _ => syn::parse_quote!(()),
        };
        let buffer = self.part_buffer(part, || written(at), at.span(), len.clone(), element);
        let mut used = at;
        while let Expr::Reference(ExprReference { expr, .. }) | Expr::Paren(ExprParen { expr, .. }) = used {
            used = expr;
        }
        let place_of_use = (buffer, used.span().start());
        self.parts_of_arguments.exprs.insert(place_of_use, place.expr.clone());
        Ok(View { buffer, lo: Bound::constant(0), hi: len, borrow: place.lent() })
    }

    /// Returns the buffer that stands for a part, made at its first use.
    pub(super) fn part_buffer(
        &mut self,
        part: PartId,
        name: impl FnOnce() -> String,
        span: Span,
        len: Bound,
        element: Type,
    ) -> BufferId {
        if let Some(&known) = self.parts_of_arguments.buffers.get(&part) {
            return known;
        }
        self.structured = true;
        let view = self.buffer(name(), span, Origin::Part(part), len, element, None);
        self.parts_of_arguments.buffers.insert(part, view.buffer);
        view.buffer
    }

    /// Makes the build check the indices of all elements whose scalars an expression mentions.
    pub(super) fn needs(&mut self, expr: &Expr) {
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
                let part = self.parts_of_arguments.number(&place);
                let known = self.items.iter().rev().map_while(|item| match item {
                    Item::Needs(part) => Some(*part),
                    _ => None,
                });
                if !known.into_iter().any(|known| known == part) {
                    self.structured = true;
                    self.items.push(Item::Needs(part));
                }
            }
        }
    }

    /// Lowers `let q = &layer.q;` and `let d = layer.d;`, which give a part another name. Returns false for other
    /// expressions.
    pub(super) fn name_part(&mut self, name: &Ident, value: &Expr) -> Lower<bool> {
        let Some(place) = self.named_part(value)? else { return Ok(false) };
        self.bind_place(name, place);
        Ok(true)
    }

    /// Returns the part that a `let` names, with the borrow of the `let`; `None` for other expressions.
    pub(super) fn named_part(&mut self, value: &Expr) -> Lower<Option<Place>> {
        let Some(place) = self.place(value)? else { return Ok(None) };
        let borrow = match value {
            Expr::Reference(reference) if reference.mutability.is_some() => Some(Borrow::Mutable),
            Expr::Reference(_) => Some(Borrow::Shared),
            _ => place.borrow,
        };
        if borrow.is_none() {
            // Checks the scalar's expression, for which the name stands.
            self.substituted(value);
        }
        Ok(Some(Place { borrow, ..place }))
    }

    /// Binds a name to a part. The name also stands for the part in expressions.
    pub(super) fn bind_place(&mut self, name: &Ident, place: Place) {
        self.structured = true;
        let meaning = crate::meaning::Meaning::Place(Box::new(place.expr.clone()));
        self.variables.push((name.to_string(), meaning));
        self.scopes.bind(name, Binding::Part(std::rc::Rc::new(place)));
    }
}

/// Returns the text of a part as written, without the borrow.
fn written(expr: &Expr) -> String {
    match expr {
        Expr::Reference(inner) => written(&inner.expr),
        Expr::Paren(inner) => written(&inner.expr),
        Expr::Group(inner) => written(&inner.expr),
        _ => compact(expr).replace(" [", "["),
    }
}
