//! The type parameters of a library call. The caller's buffers determine them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Ident, Type, TypeParam, WhereClause};

use cuweave_core::codes::Code;

use crate::report::Report;

/// The type parameters of an item. Empty except for library calls.
#[derive(Clone, Default)]
pub struct TypeParameters {
    parameters: Vec<TypeParam>,
    conditions: Option<WhereClause>,
}

impl TypeParameters {
    /// Collects the type parameters of a library call. Lifetimes and constants are rejected.
    pub fn from_generics(generics: &Generics, report: &mut Report) -> TypeParameters {
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

    /// Returns true if there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Returns the names, each followed by a comma.
    pub fn names(&self) -> TokenStream {
        let names = self.idents();
        quote!(#(#names,)*)
    }

    /// Returns the declarations, each followed by a comma. Every parameter is `'static`, because element
    /// types are compared by their `TypeId`.
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

    /// Returns a marker type that mentions all parameters.
    pub fn marker(&self) -> TokenStream {
        let names = self.idents();
        quote!((&'v (), #(fn() -> #names,)*))
    }

    /// Returns true if the type is exactly one of the parameters.
    pub fn are(&self, ty: &Type) -> bool {
        matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| self.idents().any(|one| one == name)))
    }

    fn idents(&self) -> impl Iterator<Item = &Ident> {
        self.parameters.iter().map(|parameter| &parameter.ident)
    }
}
