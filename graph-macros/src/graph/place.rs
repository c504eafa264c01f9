//! The components of record and list arguments: `layer.q`, `layers[i].inner`, `caches[i]`.
//!
//! The macro knows the kind of an argument and of the elements of its lists, but a record's field may be
//! anything. A borrowed field is treated as a buffer, a bare field as a scalar, and rustc checks that
//! against the record.

use std::collections::BTreeMap;

use cuweave_core::ids::{ArgumentId, ArgumentPartId};
use cuweave_core::index::Vector;
use cuweave_core::ir::{BufferId, DimId, Text};
use cuweave_core::structure::{ArgumentPart, PathStep};
use proc_macro2::{Ident, LineColumn};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Member};

use super::parts::{AggregateType, BufferType};

/// The kind of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Borrow {
    Shared,
    Mutable,
}

/// A component of an argument, or a whole record or list argument.
#[derive(Clone)]
pub struct Place {
    pub argument: ArgumentId,
    pub path: Vec<PathStep>,
    /// The expression that denotes it in generated code.
    pub expr: Expr,
    pub kind: PlaceKind,
    /// The borrow with which a `let` or a loop bound its name.
    pub borrow: Option<Borrow>,
}

/// The kind of a component, as far as the macro can know it.
#[derive(Clone)]
pub enum PlaceKind {
    Record,
    Records,
    Buffers(Box<BufferType>),
    /// An element of a list of buffers.
    Buffer(Box<BufferType>),
    /// A field of a record, or an element of a field.
    Field,
    Array,
}

impl Place {
    /// Returns the place of a whole argument.
    pub fn argument(argument: ArgumentId, name: &Ident, part: &AggregateType) -> Place {
        let kind = match part {
            AggregateType::Record(_) => PlaceKind::Record,
            AggregateType::Records(..) => PlaceKind::Records,
            AggregateType::Buffers(buffer) => PlaceKind::Buffers(buffer.clone()),
        };
        Place { argument, path: Vec::new(), expr: syn::parse_quote!(#name), kind, borrow: None }
    }

    /// Returns an element. `index` is the index as a bound, `written` the expression.
    pub fn element(&self, index: DimId, written: &Expr) -> Place {
        let (mut path, expr) = (self.path.clone(), &self.expr);
        path.push(PathStep::Index(index));
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
        path.push(PathStep::Field(name.to_token_stream().to_string().into()));
        Place {
            path,
            expr: syn::parse_quote_spanned!(name.span()=> #expr.#name),
            kind: PlaceKind::Field,
            borrow: None,
            ..*self
        }
    }

    /// Returns the expression of a reference to it. In generated code a whole argument is a reference
    /// already.
    pub fn reference(&self) -> Expr {
        let expr = &self.expr;
        if self.path.is_empty() { expr.clone() } else { syn::parse_quote_spanned!(expr.span()=> &#expr) }
    }

    /// Returns true if a call takes it without a borrow: a record or a list.
    pub fn is_whole(&self) -> bool {
        matches!(self.kind, PlaceKind::Record | PlaceKind::Records | PlaceKind::Buffers(_))
    }

    /// Returns the borrow implied by the bare name, if it is a buffer.
    pub fn implied_borrow(&self) -> Option<Borrow> {
        match &self.kind {
            PlaceKind::Buffer(buffer) => Some(if buffer.mutable { Borrow::Mutable } else { Borrow::Shared }),
            PlaceKind::Field => self.borrow,
            PlaceKind::Record | PlaceKind::Records | PlaceKind::Buffers(_) | PlaceKind::Array => None,
        }
    }

    /// Returns true for a field without a borrow, which is a scalar.
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, PlaceKind::Field) && self.borrow.is_none()
    }

    /// Returns true if a type annotation can make it a scalar.
    pub fn may_be_scalar(&self) -> bool {
        matches!(self.kind, PlaceKind::Field)
    }

    /// Returns true if one place contains the other, or they are equal.
    pub fn overlaps(&self, other: &Place) -> bool {
        self.argument == other.argument && self.path.iter().zip(&other.path).all(|(one, two)| one == two)
    }
}

/// The expressions of buffers that are components, by the position that messages about them point at.
pub type PlaceExprs = BTreeMap<(BufferId, LineColumn), Expr>;

/// The components that a function mentions.
#[derive(Default)]
pub struct PlaceTable {
    pub list: Vector<ArgumentPartId, ArgumentPart>,
    numbers: BTreeMap<(ArgumentId, Vec<PathStepKey>), ArgumentPartId>,
    /// The buffer that represents each component.
    pub buffers: BTreeMap<ArgumentPartId, BufferId>,
    /// The expressions that denote these buffers in generated code, by the position of the use.
    pub exprs: PlaceExprs,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum PathStepKey {
    Index(DimId),
    Field(Text),
}

impl PlaceTable {
    /// Returns the number of a component, adding it if it is new.
    pub fn intern(&mut self, place: &Place) -> ArgumentPartId {
        let key = |step: &PathStep| match step {
            PathStep::Index(dim) => PathStepKey::Index(*dim),
            PathStep::Field(name) => PathStepKey::Field(name.clone()),
        };
        let key = (place.argument, place.path.iter().map(key).collect());
        let list = &mut self.list;
        *self
            .numbers
            .entry(key)
            .or_insert_with(|| list.push(ArgumentPart { argument: place.argument, path: place.path.clone() }))
    }
}
