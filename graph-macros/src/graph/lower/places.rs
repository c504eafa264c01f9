//! Parts of arguments: `layer.q`, `layers[i].inner`, `caches[i]`, as lowering knows them.
//!
//! The macro sees the kind of an argument and of the elements of its lists. A field may be anything: where it is borrowed it
//! counts as a buffer, where it stands bare as a scalar, and rustc holds that against the record.

use std::collections::BTreeMap;

use cuweave_core::ids::{ArgumentId, PartId};
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Origin, Text};
use cuweave_core::structure::{Item, Part, Step};
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr, Member, Type};

use super::{Lower, Lowering};
use crate::dims::{Bound, compact};
use crate::graph::parts::PartType;
use crate::graph::scope::{Binding, Borrow, View};
use crate::graph::signature::BufferType;

/// A part of an argument, or an argument that has parts.
#[derive(Clone)]
pub struct Place {
    pub argument: ArgumentId,
    pub path: Vec<Step>,
    /// The expression by which generated code names it.
    pub expr: Expr,
    pub kind: PlaceKind,
    /// The borrow under which a `let` or a loop gave it its name.
    pub borrow: Option<Borrow>,
}

/// The kind of a part, as far as the macro knows it.
#[derive(Clone)]
pub enum PlaceKind {
    /// A record.
    Record,
    /// A list of records.
    Records,
    /// A list of buffers.
    Buffers(Box<BufferType>),
    /// A buffer of such a list.
    Buffer(Box<BufferType>),
    /// A field of a record, or an element of one.
    Field,
    /// An array of buffers.
    Array,
}

/// The parts of arguments that a function names.
#[derive(Default)]
pub struct Parts {
    pub list: Vector<PartId, Part>,
    numbers: BTreeMap<(ArgumentId, Vec<StepKey>), PartId>,
    /// The buffers that stand for parts.
    buffers: BTreeMap<PartId, BufferId>,
    /// The expressions by which generated code names the buffers that are parts.
    pub exprs: BTreeMap<BufferId, Expr>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum StepKey {
    Index(DimId),
    Field(Text),
}

impl Parts {
    /// Returns the number of a part.
    pub fn number(&mut self, place: &Place) -> PartId {
        let key = |step: &Step| match step {
            Step::Index(dim) => StepKey::Index(*dim),
            Step::Field(name) => StepKey::Field(name.clone()),
        };
        let key = (place.argument, place.path.iter().map(key).collect());
        let list = &mut self.list;
        *self
            .numbers
            .entry(key)
            .or_insert_with(|| list.push(Part { argument: place.argument, path: place.path.clone() }))
    }
}

impl Place {
    /// Returns an argument that has parts.
    pub fn argument(argument: ArgumentId, name: &Ident, part: &PartType) -> Place {
        let kind = match part {
            PartType::Record(_) => PlaceKind::Record,
            PartType::Records(..) => PlaceKind::Records,
            PartType::Buffers(buffer) => PlaceKind::Buffers(buffer.clone()),
        };
        Place { argument, path: Vec::new(), expr: syn::parse_quote!(#name), kind, borrow: None }
    }

    /// Returns an element, of which the index is a bound.
    pub fn element(&self, index: DimId, written: &Expr) -> Place {
        let (mut path, expr) = (self.path.clone(), &self.expr);
        path.push(Step::Index(index));
        let kind = match &self.kind {
            PlaceKind::Records => PlaceKind::Record,
            PlaceKind::Buffers(buffer) => PlaceKind::Buffer(buffer.clone()),
            PlaceKind::Record | PlaceKind::Buffer(_) | PlaceKind::Field | PlaceKind::Array => {
                PlaceKind::Field
            }
        };
        let expr = syn::parse_quote_spanned!(expr.span()=> #expr[#written]);
        Place { path, expr, kind, borrow: self.borrow, ..*self }
    }

    fn field(&self, name: &Ident) -> Place {
        let (mut path, expr) = (self.path.clone(), &self.expr);
        path.push(Step::Field(name.to_string().into()));
        Place {
            path,
            expr: syn::parse_quote_spanned!(name.span()=> #expr.#name),
            kind: PlaceKind::Field,
            borrow: None,
            ..*self
        }
    }

    /// Returns the expression of a reference to it. An argument is known by a reference.
    pub fn reference(&self) -> Expr {
        let expr = &self.expr;
        if self.path.is_empty() { expr.clone() } else { syn::parse_quote_spanned!(expr.span()=> &#expr) }
    }

    /// Returns true if a call takes it as it is: a record or a list.
    pub fn is_whole(&self) -> bool {
        matches!(self.kind, PlaceKind::Record | PlaceKind::Records | PlaceKind::Buffers(_))
    }

    /// Returns the borrow that the bare name passes to a parameter, if it is a buffer.
    pub fn lent(&self) -> Option<Borrow> {
        match &self.kind {
            PlaceKind::Buffer(buffer) => Some(if buffer.mutable { Borrow::Mutable } else { Borrow::Shared }),
            PlaceKind::Field => self.borrow,
            PlaceKind::Record | PlaceKind::Records | PlaceKind::Buffers(_) | PlaceKind::Array => None,
        }
    }

    /// Returns true if one of the two is a part of the other, or they are the same.
    pub fn overlaps(&self, other: &Place) -> bool {
        self.argument == other.argument && self.path.iter().zip(&other.path).all(|(one, two)| one == two)
    }
}

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
                    locate(&mut place.expr, name.span());
                    Some(place)
                }
                _ => None,
            })),
            Expr::Field(field) => {
                let Some(place) = self.place(&field.base)? else { return Ok(None) };
                match &field.member {
                    Member::Named(name) => Ok(Some(place.field(name))),
                    Member::Unnamed(_) => Err(self.refuse(
                        expr,
                        "the fields of a record have names",
                        "write `layer.q` with the name of the field",
                    )),
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

    /// Returns the buffer that a part is.
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
        let known = self.parts_of_arguments.buffers.get(&part).copied();
        let len = match &place.kind {
            PlaceKind::Buffer(buffer) => self.bound(&buffer.len.clone()),
            _ => Bound::length(part, &written(at), &mut self.symbols),
        };
        let buffer = match known {
            Some(buffer) => buffer,
            None => {
                self.structured = true;
                let none: Type = syn::parse_quote!(());
                let name = written(at);
                let view = self.buffer(name, at.span(), Origin::Part(part), len.clone(), none, None);
                self.parts_of_arguments.buffers.insert(part, view.buffer);
                self.parts_of_arguments.exprs.insert(view.buffer, place.expr.clone());
                view.buffer
            }
        };
        Ok(View { buffer, lo: Bound::constant(0), hi: len, borrow: place.lent() })
    }

    /// Has the build check that the elements exist whose scalars an expression names.
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

    /// `let q = &layer.q;`, `let d = layer.d;`: another name for a part. Returns false for other expressions.
    pub(super) fn name_part(&mut self, name: &Ident, value: &Expr) -> Lower<bool> {
        let Some(place) = self.place(value)? else { return Ok(false) };
        let borrow = match value {
            Expr::Reference(reference) if reference.mutability.is_some() => Some(Borrow::Mutable),
            Expr::Reference(_) => Some(Borrow::Shared),
            _ => place.borrow,
        };
        if borrow.is_none() {
            // The name stands for the scalar.
            self.substituted(value);
        }
        self.bind_place(name, Place { borrow, ..place });
        Ok(true)
    }

    /// Gives a part a name, which stands for it in expressions, too.
    pub(super) fn bind_place(&mut self, name: &Ident, place: Place) {
        self.structured = true;
        let meaning = crate::dims::Meaning::Place(Box::new(place.expr.clone()));
        self.variables.push((name.to_string(), meaning));
        self.scopes.bind(name, Binding::Part(std::rc::Rc::new(place)));
    }
}

/// Has messages about the expression of a part point at its use.
fn locate(expr: &mut Expr, span: Span) {
    struct Locate(Span);
    impl VisitMut for Locate {
        fn visit_ident_mut(&mut self, name: &mut Ident) {
            name.set_span(name.span().located_at(self.0));
        }
    }
    Locate(span).visit_expr_mut(expr);
}

/// Returns the text of a part as it is written, without the borrow.
fn written(expr: &Expr) -> String {
    match expr {
        Expr::Reference(inner) => written(&inner.expr),
        Expr::Paren(inner) => written(&inner.expr),
        Expr::Group(inner) => written(&inner.expr),
        _ => compact(expr).replace(" [", "["),
    }
}
