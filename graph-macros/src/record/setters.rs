//! The setters of a record that an exec is bound to.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::{Field, Record, as_record};
use crate::graph::parts::PartType;
use crate::graph::signature::{ArgumentKind, BufferType};

impl Record {
    /// Returns the type that has the setters.
    pub(super) fn setters(&self) -> TokenStream {
        let (visibility, name) = (&self.visibility, &self.name);
        let setters = format_ident!("{name}Setters");
        let documented = format!("The setters of a [`{name}`] that an exec is bound to.");
        let methods = (0u32..).zip(&self.fields).filter_map(|(at, field)| self.setter(at, field));
        quote! {
            #[doc = #documented]
            #[derive(Debug)]
            #[allow(dead_code)]
            #visibility struct #setters<'e, 'a> {
                part: ::cuweave::__private::PartMut<'e, #name<'a>>,
            }

            #[allow(clippy::all, clippy::used_underscore_binding, unused, non_snake_case)]
            impl<'a> #setters<'_, 'a> {
                #(#methods)*
            }

            #[doc(hidden)]
            impl<'a> ::cuweave::__private::Settable for #name<'a> {
                type Setters<'e> = #setters<'e, 'a> where Self: 'e;

                fn setters<'e>(
                    part: ::cuweave::__private::PartMut<'e, Self>,
                    _: ::cuweave::__private::Token,
                ) -> #setters<'e, 'a> {
                    #setters { part }
                }
            }
        }
    }

    /// Returns the setter of a field, or the function that gives the setters of its parts.
    fn setter(&self, at: u32, field: &Field) -> Option<TokenStream> {
        let (visibility, name) = (&self.visibility, &field.name);
        let text = name.to_string();
        let set = format_ident!("set_{}", text.trim_start_matches("r#"), span = name.span());
        let index = Ident::new("index", Span::mixed_site());
        let token = quote!(::cuweave::__private::Token);
        let part = quote!(self.part.field((#at, #text), |record| &mut record.#name));
        let element = |buffer: &BufferType| {
            let bound = buffer.bound("'a");
            (quote!(::cuweave::__private::Element<'_, #bound>), quote!(::cuweave::__private::Element::new))
        };
        let (ty, setters) = match &field.kind {
            ArgumentKind::Scalar(_) if self.lengths.contains(&text) => return None,
            ArgumentKind::Scalar(ty) => {
                let documented = format!("Sets the field `{name}`: only what uses it is updated.");
                return Some(quote! {
                    #[doc = #documented]
                    ///
                    /// # Errors
                    ///
                    /// A field that reaches a length, a bound or a choice of the graph; a launch configuration that the
                    /// device does not take; a failure of the driver.
                    #visibility fn #set(&mut self, #name: #ty) -> ::cuweave::Result<()> {
                        self.part.set_scalar(#text, #name, |record| &mut record.#name)
                    }
                });
            }
            ArgumentKind::Buffer(buffer) => {
                let documented = format!("Binds the field `{name}` anew: only what uses it is updated.");
                let (ty, bound) = (buffer.bindable(), buffer.bind(&quote!(#name)));
                return Some(quote! {
                    #[doc = #documented]
                    ///
                    /// # Errors
                    ///
                    /// A buffer that is too short, of another context, or that overlaps another of which one is written;
                    /// a failure of the driver.
                    #visibility fn #set(&mut self, #name: #ty) -> ::cuweave::Result<()> {
                        self.part.set_buffer(#at, #bound, |record| &mut record.#name)
                    }
                });
            }
            ArgumentKind::Part(PartType::Record(ty)) => {
                let record = as_record(ty);
                let documented = format!("Returns the setters of the field `{name}`.");
                return Some(quote! {
                    #[doc = #documented]
                    #visibility fn #name(&mut self) -> #record::Setters<'_> {
                        #record::setters(#part, #token)
                    }
                });
            }
            ArgumentKind::Part(PartType::Records(ty, _)) => {
                let record = as_record(ty);
                (quote!(#record::Setters<'_>), quote!(#record::setters))
            }
            ArgumentKind::Part(PartType::Buffers(buffer)) => element(buffer),
            ArgumentKind::Array(buffer, _) => element(buffer),
        };
        let documented = format!("Returns the setters of an element of the field `{name}`.");
        Some(quote! {
            #[doc = #documented]
            ///
            /// # Errors
            ///
            /// An index that is not below the length.
            #visibility fn #name(&mut self, #index: usize) -> ::cuweave::Result<#ty> {
                ::core::result::Result::Ok(#setters(#part.element(#index)?, #token))
            }
        })
    }
}
