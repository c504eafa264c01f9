//! The setters of a record that an exec is bound to.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::{Field, FieldKind, Record};
use crate::graph::methods::{element, record};
use crate::graph::parts::PartType;

impl Record {
    /// Generates the type that has the setters.
    pub(super) fn setters(&self) -> TokenStream {
        let (visibility, name) = (&self.visibility, &self.name);
        let setters = format_ident!("{name}Setters");
        let documented = format!("The setters of a [`{name}`] that an exec is bound to.");
        let methods = (0u32..).zip(&self.fields).filter_map(|(at, field)| self.setter(at, field));
        quote! {
            #[doc = #documented]
            #[derive(Debug)]
            #[allow(dead_code)]
            #visibility struct #setters<P> {
                part: ::cuweave::__private::PartMut<P>,
            }

            #[allow(clippy::all, clippy::used_underscore_binding, unused, non_snake_case)]
            impl<'a, P: ::cuweave::__private::Place<Part = #name<'a>>> #setters<P> {
                #(#methods)*
            }

            #[doc(hidden)]
            impl<'a> ::cuweave::__private::Settable for #name<'a> {
                type Setters<P: ::cuweave::__private::Place<Part = Self>> = #setters<P>;

                fn setters<P: ::cuweave::__private::Place<Part = Self>>(
                    part: ::cuweave::__private::PartMut<P>,
                    _: ::cuweave::__private::Token,
                ) -> #setters<P> {
                    #setters { part }
                }
            }
        }
    }

    /// Generates the setter of a field, or the accessor of its parts' setters.
    fn setter(&self, at: u32, field: &Field) -> Option<TokenStream> {
        let (visibility, name) = (&self.visibility, &field.name);
        let text = name.to_string();
        let set = format_ident!("set_{}", text.trim_start_matches("r#"), span = name.span());
        let index = Ident::new("index", Span::mixed_site());
        let token = quote!(::cuweave::__private::Token);
        let part = quote!(self.part.field((#at, #text), |record| &mut record.#name));
        let bound = field.bound("'a");
        let whole = quote!(::cuweave::__private::OfRecord<'_, P, #bound>);
        let place = quote!(::cuweave::__private::OfList<#whole>);
        let (ty, setters) = match &field.kind {
            FieldKind::Scalar(_) if self.lengths.contains(&text) => return None,
            FieldKind::Scalar(ty) => {
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
            FieldKind::Buffer(buffer) => {
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
            FieldKind::Part(PartType::Record(ty)) => {
                let (ty, setters) = record(ty, &whole);
                let documented = format!("Returns the setters of the field `{name}`.");
                return Some(quote! {
                    #[doc = #documented]
                    #visibility fn #name(&mut self) -> #ty {
                        #setters(#part, #token)
                    }
                });
            }
            FieldKind::Part(PartType::Records(ty, _)) => record(ty, &place),
            FieldKind::Part(PartType::Buffers(buffer)) => element(buffer, &place),
            FieldKind::Array(buffer, _) => element(buffer, &place),
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
