//! Parts of arguments: `layer.q`, `layers[i].inner`, `caches[i]`.
//!
//! The macro sees the kind of an argument and of the elements of its lists. A field may be anything: where it is borrowed it
//! counts as a buffer, where it stands bare as a scalar, and rustc holds that against the record.

use std::collections::BTreeMap;

use cuweave_core::ids::{ArgumentId, PartId};
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Text};
use cuweave_core::structure::{Part, Step};
use proc_macro2::{Ident, LineColumn};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Member};

use super::parts::{BufferType, PartType};

/// The declared borrow of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Borrow {
    Shared,
    Mutable,
}

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

    /// Returns a field of a record, or an element of a tuple.
    pub fn field(&self, name: &Member) -> Place {
        let (mut path, expr) = (self.path.clone(), &self.expr);
        path.push(Step::Field(name.to_token_stream().to_string().into()));
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

    /// Returns true if it stands without a borrow, so that it is a scalar.
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, PlaceKind::Field) && self.borrow.is_none()
    }

    /// Returns true if a written type may make it a scalar.
    pub fn may_be_scalar(&self) -> bool {
        matches!(self.kind, PlaceKind::Field)
    }

    /// Returns true if one of the two is a part of the other, or they are the same.
    pub fn overlaps(&self, other: &Place) -> bool {
        self.argument == other.argument && self.path.iter().zip(&other.path).all(|(one, two)| one == two)
    }
}

/// The expressions of buffers that are parts, by the place in the program that messages about them point to.
pub type Uses = BTreeMap<(BufferId, LineColumn), Expr>;

/// The parts of arguments that a function names.
#[derive(Default)]
pub struct Parts {
    pub list: Vector<PartId, Part>,
    numbers: BTreeMap<(ArgumentId, Vec<StepKey>), PartId>,
    /// The buffers that stand for parts.
    pub buffers: BTreeMap<PartId, BufferId>,
    /// The expressions by which generated code names the buffers that are parts, by the place of their use.
    pub exprs: Uses,
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
