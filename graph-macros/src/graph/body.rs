//! The generated implementation of `Body`: the table of an item and the expressions of the user that the build evaluates.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::generics::TypeParameters;

/// The functions of a body. An empty one is left to the trait's default.
#[derive(Default)]
pub struct Functions {
    /// The handle of the table.
    pub table: TokenStream,
    /// The value of a leaf, of `number` and `turns`.
    pub leaf: TokenStream,
    /// The number of the arm that a choice takes, of `number` and `turns`.
    pub arm: TokenStream,
    /// The evaluation of a step, of `step`, `turns` and `evaluation`.
    pub evaluate: TokenStream,
    /// The call of `enter` with the body of a callee, of `step` and `turns`.
    pub enter: TokenStream,
    /// The body of a library call, of `capture`.
    pub capture: TokenStream,
}

impl Functions {
    /// Prints the implementation for the values of an item.
    pub fn implementation(self, name: &Ident, types: &TypeParameters) -> TokenStream {
        let token = quote!(_: ::cuweave::__private::Token);
        let optional = |signature: TokenStream, body: TokenStream| {
            (!body.is_empty()).then(|| quote!(fn #signature { #body }))
        };
        let Functions { table, leaf, arm, evaluate, enter, capture } = self;
        let functions = [
            optional(quote!(arm(&self, number: u32, turns: &[i64], #token) -> u32), arm),
            optional(
                quote!(evaluate(
                    &self,
                    step: u32,
                    turns: &[i64],
                    evaluation: &mut ::cuweave::__private::Evaluation<'_>,
                    #token,
                ) -> ::cuweave::Result<()>),
                evaluate,
            ),
            optional(
                quote!(enter(
                    &self,
                    step: u32,
                    turns: &[i64],
                    enter: &mut dyn ::core::ops::FnMut(&dyn ::cuweave::__private::Body),
                    #token,
                )),
                enter,
            ),
            optional(
                quote!(capture(
                    &self,
                    capture: &mut ::cuweave::__private::Capture<'_>,
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

                fn leaf(&self, number: u32, turns: &[i64], #token) -> ::cuweave::__private::Dim {
                    #leaf
                }

                #(#functions)*
            }
        }
    }
}
