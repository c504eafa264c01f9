//! The type parameters of a library call: its elements and scalars may be of types that the caller's buffers say.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Ident, Type, TypeParam, WhereClause};

use cuweave_core::codes::Code;

use crate::report::Report;

/// The type parameters of an item: none, but for library calls.
#[derive(Clone, Default)]
pub struct TypeParameters {
    parameters: Vec<TypeParam>,
    conditions: Option<WhereClause>,
}

impl TypeParameters {
    /// Returns those of a library call; lifetimes and constants are refused.
    pub fn of(generics: &Generics, report: &mut Report) -> TypeParameters {
        let mut parameters = Vec::new();
        for parameter in &generics.params {
            let (what, help) = match parameter {
                GenericParam::Type(parameter) => {
                    parameters.push(parameter.clone());
                    continue;
                }
                GenericParam::Lifetime(_) => ("lifetime", "leave lifetimes out"),
                GenericParam::Const(_) => ("constant", "pass the constant as a scalar"),
            };
            let message = format!("a library call has no {what} parameters");
            report.error(parameter.span(), Code::CW001, &message, &[], Some(help));
        }
        TypeParameters { parameters, conditions: generics.where_clause.clone() }
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Returns the names, each with a comma behind it.
    pub fn names(&self) -> TokenStream {
        let names = self.idents();
        quote!(#(#names,)*)
    }

    /// Returns the declarations, each with a comma behind it. Element types are told apart by their `TypeId`, so they are `'static`.
    pub fn declared(&self) -> TokenStream {
        let declared = self.parameters.iter().map(|TypeParam { ident, bounds, .. }| {
            let plus = (!bounds.is_empty() && !bounds.trailing_punct()).then(|| quote!(+));
            quote!(#ident: #bounds #plus 'static,)
        });
        quote!(#(#declared)*)
    }

    /// Returns the `where` clause.
    pub fn conditions(&self) -> &Option<WhereClause> {
        &self.conditions
    }

    /// Returns the type of a marker that names all of them.
    pub fn marker(&self) -> TokenStream {
        let names = self.idents();
        quote!((&'v (), #(fn() -> #names,)*))
    }

    /// Returns true if a type is one of them, and no more.
    pub fn are(&self, ty: &Type) -> bool {
        matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| self.idents().any(|one| one == name)))
    }

    fn idents(&self) -> impl Iterator<Item = &Ident> {
        self.parameters.iter().map(|parameter| &parameter.ident)
    }
}
