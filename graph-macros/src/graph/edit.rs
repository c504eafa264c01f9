//! Generates `edit`, which sets several scalars at once, and the type that its closure receives.

use cuweave_core::index::Index;
use proc_macro2::TokenStream;
use quote::quote;

use super::expansion::Expansion;
use super::idents::debug_body;
use super::setter_traits::setter_bounds;
use super::signature::NumberedArgument;

/// Generates the type `Edit` in the function's module.
pub(super) fn edit_type(expansion: &Expansion<'_>) -> TokenStream {
    let shown = debug_body("Edit", []);
    let documented =
        format!("New values of scalars of `{}`, which `edit` applies together.", expansion.name());
    quote! {
        #[doc = #documented]
        pub struct Edit<'e, 'a> {
            #[doc(hidden)]
            pending: ::cuweave::__private::PendingEdit<'e, Args<'a>>,
        }

        impl ::core::fmt::Debug for Edit<'_, '_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #shown
            }
        }

        impl<'e, 'a> Edit<'e, 'a> {
            #[doc(hidden)]
            pub(super) fn __new(
                pending: ::cuweave::__private::PendingEdit<'e, Args<'a>>,
                _: ::cuweave::__private::Token,
            ) -> Self {
                Edit { pending }
            }

            #[doc(hidden)]
            pub(super) fn __pending(
                &mut self,
                _: ::cuweave::__private::Token,
            ) -> &mut ::cuweave::__private::PendingEdit<'e, Args<'a>> {
                &mut self.pending
            }

            #[doc(hidden)]
            pub(super) fn __apply(self, _: ::cuweave::__private::Token) -> ::cuweave::Result<()> {
                ::cuweave::__private::PendingEdit::apply(self.pending)
            }
        }
    }
}

impl Expansion<'_> {
    /// Generates the method `edit` of the exec.
    pub(super) fn edit(&self) -> TokenStream {
        let (name, core) = (self.name(), self.core_call("core_mut"));
        quote! {
            /// Sets several scalars at once: `exec.edit(|e| { e.set_n(17)?; e.set_pos(530) })?`.
            ///
            /// The new values are checked together, and each node that uses one of them is updated once. If
            /// `changes` or a check fails, or the driver does, the exec keeps its old values.
            ///
            /// # Errors
            ///
            /// The errors of `changes`; those of the scalars' setters.
            pub fn edit(
                &mut self,
                changes: impl ::core::ops::FnOnce(&mut #name::Edit<'_, 'a>) -> ::cuweave::Result<()>,
            ) -> ::cuweave::Result<()> {
                let mut edit = #name::Edit::__new(#core.edit(), ::cuweave::__private::Token);
                changes(&mut edit)?;
                #name::Edit::__apply(edit, ::cuweave::__private::Token)
            }
        }
    }

    /// Generates the setters of an edit.
    pub(super) fn edit_setters(&self) -> TokenStream {
        let name = self.name();
        let scalars = self.signature.numbered().filter(|one| one.argument.is_scalar());
        let setters = scalars.map(|NumberedArgument { number, argument, .. }| {
            let (setter, value, ty) =
                (self.setter(&argument.name), &argument.name, argument.parameter_type());
            let (index, bounds) = (number.index(), setter_bounds(self, number));
            let (method, documented) = match self.setters[number].is_size {
                true => (quote!(set_size), format!("Sets the size `{value}`.")),
                false => (quote!(set), format!("Sets the argument `{value}`.")),
            };
            let hidden = self.setters[number].reason().map(|_| quote!(#[doc(hidden)]));
            quote! {
                #[doc = #documented]
                ///
                /// # Errors
                ///
                /// An exec that cannot be changed; for a size, a value out of its range.
                #hidden
                pub fn #setter(&mut self, #value: #ty) -> ::cuweave::Result<()> #bounds {
                    ::cuweave::__private::PendingEdit::#method(
                        self.__pending(::cuweave::__private::Token),
                        #index,
                        #value,
                        |args| &mut args.#value,
                    )
                }
            }
        });
        quote! {
            #[allow(non_snake_case)]
            impl<'a> #name::Edit<'_, 'a> {
                #(#setters)*
            }
        }
    }

    /// Generates the method through which the runtime changes sizes.
    pub(super) fn size_slots(&self) -> Option<TokenStream> {
        let sizes = self.signature.numbered().filter(|one| self.setters[one.number].is_size);
        let arms: Vec<TokenStream> = sizes
            .map(|NumberedArgument { number, argument, .. }| {
                let (index, value) = (number.index(), &argument.name);
                quote!(#index => ::core::option::Option::Some(&mut self.#value),)
            })
            .collect();
        (!arms.is_empty()).then(|| {
            quote! {
                fn size(
                    &mut self,
                    number: usize,
                    _: ::cuweave::__private::Token,
                ) -> ::core::option::Option<&mut dyn ::cuweave::__private::SizeSlot> {
                    match number {
                        #(#arms)*
                        _ => ::core::option::Option::None,
                    }
                }
            }
        })
    }
}
