//! Generates the implementation of `Body`: the item's table, and the user's expressions that are evaluated
//! when the graph is built.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::generics::TypeParameters;

/// The function bodies of an implementation of `Body`. For an empty one the trait's default is used.
#[derive(Default)]
pub struct BodyMethods {
    /// Returns the handle of the table.
    pub table: TokenStream,
    /// Returns the value of a leaf. Parameters: `number`, `indices`.
    pub leaf: TokenStream,
    /// Returns the index of the arm that a choice takes. Parameters: `number`, `indices`.
    pub arm: TokenStream,
    /// Evaluates a step. Parameters: `step`, `indices`, `evaluation`.
    pub evaluate: TokenStream,
    /// Calls `enter` with the body of a callee. Parameters: `step`, `indices`, `enter`.
    pub enter: TokenStream,
    /// Runs a library call. Parameter: `capture`.
    pub capture: TokenStream,
}

impl BodyMethods {
    /// Generates the `impl Body` for the `Values` of an item.
    pub fn implementation(self, name: &Ident, types: &TypeParameters) -> TokenStream {
        let token = quote!(_: ::cuweave::__private::Token);
        let optional = |signature: TokenStream, body: TokenStream| {
            (!body.is_empty()).then(|| quote!(fn #signature { #body }))
        };
        let BodyMethods { table, leaf, arm, evaluate, enter, capture } = self;
        let functions = [
            optional(quote!(arm(&self, number: u32, indices: &[i64], #token) -> u32), arm),
            optional(
                quote!(evaluate(
                    &self,
                    step: u32,
                    indices: &[i64],
                    evaluation: &mut ::cuweave::__private::Evaluation<'_>,
                    #token,
                ) -> ::cuweave::Result<()>),
                evaluate,
            ),
            optional(
                quote!(enter(
                    &self,
                    step: u32,
                    indices: &[i64],
                    enter: &mut dyn ::core::ops::FnMut(&dyn ::cuweave::__private::Body),
                    #token,
                )),
                enter,
            ),
            optional(
                quote!(capture(
                    &self,
                    capture: &mut ::cuweave::__private::CallCapture<'_>,
                    #token,
                ) -> ::cuweave::Result<()>),
                capture,
            ),
        ];
        let (declared, names, conditions) = (types.declared(), types.names(), types.conditions());
        quote! {
            #[doc(hidden)]
            impl<#declared> ::cuweave::__private::Body for #name::Values<'_, #names>
            #conditions
            {
                fn table(&self, #token) -> ::core::option::Option<::cuweave::__private::TableHandle> {
                    #table
                }

                fn leaf(&self, number: u32, indices: &[i64], #token) -> ::cuweave::__private::Dim {
                    #leaf
                }

                #(#functions)*
            }
        }
    }
}
