//! Generates the setters of a record that is bound to an exec.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Type;

use super::{DeclaredField, FieldKind, RecordDeclaration};
use crate::graph::methods::{element, indexed_by, record};
use crate::graph::parts::{AggregateType, BufferType};
use crate::implicit_prelude::on_unimplemented;

impl RecordDeclaration {
    /// Generates the type that has the setters.
    pub(super) fn setters(&self) -> TokenStream {
        let (visibility, name) = (&self.visibility, &self.name);
        let setters = format_ident!("{name}Setters");
        let documented = format!("The setters of a [`{name}`] that an exec is bound to.");
        let fixed = (0u32..).zip(&self.fields).filter_map(|(at, field)| self.fixed(at, field));
        let methods = (0u32..).zip(&self.fields).filter_map(|(at, field)| self.setter(at, field));
        quote! {
            #[doc = #documented]
            #[derive(Debug)]
            #[allow(dead_code)]
            #visibility struct #setters<__P> {
                part: ::cuweave::__private::ArgumentMut<__P>,
            }

            #[allow(clippy::all, clippy::used_underscore_binding, unused, non_snake_case, private_bounds)]
            const _: () = {
                #(#fixed)*
                impl<'a, __P: ::cuweave::__private::ArgumentPath<Target = #name<'a>>> #setters<__P> {
                    #(#methods)*
                }
            };

            #[doc(hidden)]
            impl<'a> ::cuweave::__private::Settable for #name<'a> {
                type Setters<__P: ::cuweave::__private::ArgumentPath<Target = Self>> = #setters<__P>;

                fn setters<__P: ::cuweave::__private::ArgumentPath<Target = Self>>(
                    part: ::cuweave::__private::ArgumentMut<__P>,
                    _: ::cuweave::__private::Token,
                ) -> #setters<__P> {
                    #setters { part }
                }
            }
        }
    }

    /// Generates the trait whose diagnostic explains why a field has no setter.
    fn fixed(&self, at: u32, field: &DeclaredField) -> Option<TokenStream> {
        let (name, text) = (&self.name, field.name.to_string());
        if !field.is_scalar() || field.size.is_some() || !self.lengths.contains(&text) {
            return None;
        }
        let reason = fixed_name(at);
        let message = format!("`{text}` of `{name}` has no setter: the length of a field depends on it");
        let label = format!("the graph is built for one value of `{text}`");
        let told = on_unimplemented(&message, &label, "build the graph again for another value");
        Some(quote!(#told trait #reason {}))
    }

    /// Generates the setter of a field, or the method that returns the setters of its components.
    fn setter(&self, at: u32, field: &DeclaredField) -> Option<TokenStream> {
        let (visibility, name) = (&self.visibility, &field.name);
        let text = name.to_string();
        let index = Ident::new("index", Span::mixed_site());
        let token = quote!(::cuweave::__private::Token);
        let part = quote! {
            ::cuweave::__private::ArgumentMut::field(&mut self.part, #at, #text, |record| &mut record.#name)
        };
        let bound = field.bound("'a");
        let whole = quote!(::cuweave::__private::RecordField<'_, __P, #bound>);
        let place = quote!(::cuweave::__private::ListElement<#whole>);
        let (ty, setters) = match &field.kind {
            FieldKind::Scalar(ty) => return Some(self.scalar_setter(at, field, ty)),
            FieldKind::Buffer(buffer) => return Some(self.buffer_setter(at, field, buffer)),
            FieldKind::Part(AggregateType::Record(ty)) => {
                let (ty, setters) = record(ty, &whole);
                let documented = format!("Returns the setters of the field `{name}`.");
                return Some(quote! {
                    #[doc = #documented]
                    #visibility fn #name(&mut self) -> #ty {
                        #setters(#part, #token)
                    }
                });
            }
            FieldKind::Part(AggregateType::Records(ty, _)) => record(ty, &place),
            FieldKind::Part(AggregateType::Buffers(buffer)) => element(buffer, &place),
            FieldKind::Array(buffer, _) => element(buffer, &place),
        };
        let is_optional = field.buffer().is_some_and(|buffer| buffer.optional);
        let (documented, fails, parameter, index) = indexed_by(is_optional, &index);
        let documented = format!("Returns the setters of {documented} the field `{name}`.");
        Some(quote! {
            #[doc = #documented]
            ///
            /// # Errors
            ///
            #[doc = #fails]
            #visibility fn #name(&mut self, #parameter) -> ::cuweave::Result<#ty> {
                ::core::result::Result::Ok(#setters(::cuweave::__private::ArgumentMut::element(#part, #index)?, #token))
            }
        })
    }

    /// Generates the setter of a scalar.
    fn scalar_setter(&self, at: u32, field: &DeclaredField, ty: &Type) -> TokenStream {
        let (visibility, name, set) = (&self.visibility, &field.name, set_name(field));
        let text = name.to_string();
        if field.size.is_some() {
            let documented = format!("Sets the size `{name}`: only what uses it is updated.");
            return quote! {
                #[doc = #documented]
                ///
                /// # Errors
                ///
                /// A value out of its range; a range or a length of the graph that depends on it; a launch
                /// configuration that exceeds the device's limits; or the driver fails.
                #visibility fn #set(&mut self, #name: #ty) -> ::cuweave::Result<()> {
                    ::cuweave::__private::ArgumentMut::set_size(
                        &mut self.part,
                        #text,
                        #name,
                        |record, name, value| {
                            record.__size(#at, name, ::cuweave::__private::SizeValue::get(value))
                        },
                        |record| &mut record.#name,
                    )
                }
            };
        }
        // The trait's diagnostic explains why there is no setter.
        if self.lengths.contains(&text) {
            let reason = fixed_name(at);
            return quote! {
                #[doc(hidden)]
                #visibility fn #set(&mut self, #name: #ty) -> ::cuweave::Result<()>
                where
                    for<'__setter> (): #reason,
                {
                    ::cuweave::__private::ArgumentMut::set_scalar(
                        &mut self.part, #text, #name, |record| &mut record.#name
                    )
                }
            };
        }
        let documented = format!("Sets the field `{name}`: only what uses it is updated.");
        quote! {
            #[doc = #documented]
            ///
            /// # Errors
            ///
            /// The field affects a length, a bound or a choice of the graph; a launch configuration exceeds
            /// the device's limits; or the driver fails.
            #visibility fn #set(&mut self, #name: #ty) -> ::cuweave::Result<()> {
                ::cuweave::__private::ArgumentMut::set_scalar(
                        &mut self.part, #text, #name, |record| &mut record.#name
                    )
            }
        }
    }

    /// Generates the setter of a buffer.
    fn buffer_setter(&self, at: u32, field: &DeclaredField, buffer: &BufferType) -> TokenStream {
        let (visibility, name, set) = (&self.visibility, &field.name, set_name(field));
        let documented = format!("Binds the field `{name}` anew: only what uses it is updated.");
        let (ty, bound) = (buffer.bindable(), buffer.bind(&quote!(#name)));
        quote! {
            #[doc = #documented]
            ///
            /// # Errors
            ///
            /// A buffer is too short, belongs to another context, or overlaps another buffer while one of
            /// them is written; or the driver fails.
            #visibility fn #set(&mut self, #name: #ty) -> ::cuweave::Result<()> {
                ::cuweave::__private::ArgumentMut::set_buffer(&mut self.part, #at, #bound, |record| &mut record.#name)
            }
        }
    }
}

/// Returns the name of a field's setter.
fn set_name(field: &DeclaredField) -> Ident {
    let (name, text) = (&field.name, field.name.to_string());
    format_ident!("set_{}", text.trim_start_matches("r#"), span = name.span())
}

/// Returns the name of the trait whose diagnostic explains why a field has no setter.
fn fixed_name(at: u32) -> Ident {
    format_ident!("__Fixed{at}", span = Span::mixed_site())
}
