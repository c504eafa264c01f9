//! Generates the part of a graph function that callers use: other graph functions, and builders.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::expansion::Expansion;
use super::parts::{BufferMemory, BufferType};
use super::signature::{Argument, ArgumentKind, HostType};

/// Generates the methods through which callers use the item.
pub(super) fn callee(expansion: &Expansion<'_>) -> TokenStream {
    let (name, count) = (expansion.name(), expansion.signature.returned.len());
    let (called, entered) = (called(expansion), entered(expansion));
    quote! {
        #[allow(clippy::all, unused_variables, clippy::used_underscore_binding)]
        const _: () = {
            #called
            #entered
            #[doc(hidden)]
            impl ::cuweave::__private::Returns<#count> for #name::__Item {}
            impl #name::__Item {
                /// Checks that a call names as many results as the function returns.
                #[doc(hidden)]
                pub fn __returning<const COUNT: usize>(self) -> Self
                where
                    Self: ::cuweave::__private::Returns<COUNT>,
                {
                    self
                }
            }
        };
    }
}

/// Generates `__call`, the method by which other graph functions call this one. Its bounds check arguments
/// against parameters.
fn called(expansion: &Expansion<'_>) -> TokenStream {
    let name = expansion.name();
    let known = known_values(expansion);
    let (mut generics, mut parameters, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (at, argument) in expansion.signature.arguments.iter().enumerate() {
        let (value, private) = (&argument.name, quote!(::cuweave::__private));
        match &argument.kind {
            ArgumentKind::Scalar(_) if expansion.signature.is_refused(argument) => {
                parameters.push(quote!(_: impl ::core::marker::Sized));
            }
            ArgumentKind::Host(HostType { ty, kept: true, .. }) => {
                parameters.push(quote!(#value: impl #private::PassedKept<'v, #ty>));
                kept.push(quote!(let #value = #private::PassedKept::kept(#value);));
            }
            ArgumentKind::Host(_) => {
                let ty = argument.value_type();
                parameters.push(quote!(#value: #ty));
            }
            ArgumentKind::Scalar(ty) => parameters.push(quote!(#value: #ty)),
            ArgumentKind::Buffer(BufferType { element, memory, mutable, fresh, .. }) => {
                let generic = format_ident!("__A{at}", span = Span::mixed_site());
                parameters.push(quote!(_: #generic));
                let declared = match (memory, mutable, fresh) {
                    (BufferMemory::Device, true, true) => quote!(Write),
                    (BufferMemory::Device, true, false) => quote!(ReadWrite),
                    (BufferMemory::Device, false, _) => quote!(Read),
                    (BufferMemory::Taken, ..) => quote!(Taken),
                    (BufferMemory::Pinned, true, _) => quote!(PinnedMut),
                    (BufferMemory::Pinned, false, _) => quote!(Pinned),
                };
                generics.push(quote!(#generic: #private::Fits<#private::param::#declared<#element>>));
            }
            ArgumentKind::Array(..) | ArgumentKind::Part(_) => {
                let ty = argument.value_type();
                parameters.push(quote!(#value: #ty));
            }
        }
    }
    let names = expansion.signature.arguments.iter().map(|argument| &argument.name);
    let contexts = expansion.contexts();
    let [ctx, args] = ["ctx", "args"].map(|name| Ident::new(name, Span::mixed_site()));
    // `__call` mentions the function, so that rustc does not report it as unused if only other functions
    // call it.
    quote! {
        fn __built(
            #ctx: #contexts,
            #args: #name::Args<'_>,
        ) {
            ::core::mem::drop(#name(#ctx, #(#args.#names),*));
        }
        impl #name::__Item {
            #[doc(hidden)]
            pub fn __call<'v, #(#generics),*>(self, #(#parameters),*) -> #name::Values<'v> {
                let _ = __built;
                #(#kept)*
                #name::Values { #(#known,)* __lifetime: ::core::marker::PhantomData }
            }
        }
    }
}

/// Generates the accessor of the item's table. Must be placed where `__table` is in scope.
pub(super) fn item_table(expansion: &Expansion<'_>) -> TokenStream {
    let name = expansion.name();
    quote! {
        impl #name::__Item {
            /// Returns the table of the function.
            #[doc(hidden)]
            pub fn __table(self) -> &'static ::cuweave::__private::Table {
                __table()
            }
        }
    }
}

/// Generates the trait through which a builder calls the function: its table, and its values from the
/// builder's arguments.
fn entered(expansion: &Expansion<'_>) -> TokenStream {
    let name = expansion.name();
    let known = known_values(expansion);
    let mut given = Vec::new();
    let [arguments, enter] = ["given", "enter"].map(|name| Ident::new(name, Span::mixed_site()));
    for (at, argument) in expansion.signature.arguments.iter().enumerate() {
        let value = &argument.name;
        match &argument.kind {
            ArgumentKind::Scalar(_) if expansion.signature.is_refused(argument) => {}
            ArgumentKind::Scalar(ty) => {
                given.push(quote!(let #value = #arguments.scalar::<#ty>(#at)?;));
            }
            ArgumentKind::Host(HostType { ty, kept: true, .. }) => {
                given.push(quote!(let #value = #arguments.host::<#ty>(#at)?;));
            }
            ArgumentKind::Host(HostType { ty, resource: false, .. }) => {
                given.push(quote!(let #value = &**#arguments.host::<#ty>(#at)?;));
            }
            // Calls from a builder support no records, lists or resources.
            ArgumentKind::Host(_) | ArgumentKind::Array(..) | ArgumentKind::Part(_) => {
                return TokenStream::new();
            }
            ArgumentKind::Buffer(BufferType { element, .. }) => {
                given.push(quote!(#arguments.buffer::<#element>(#at)?;));
            }
        }
    }
    quote! {
        #[doc(hidden)]
        impl ::cuweave::__private::CalledItem for #name::__Item {
            fn table(
                _: ::cuweave::__private::Token,
            ) -> ::core::option::Option<::cuweave::__private::TableHandle> {
                <#name::Args<'static> as ::cuweave::__private::GraphFn>::table(::cuweave::__private::Token)?.handle()
            }

            fn enter(
                #arguments: &mut ::cuweave::__private::ArgumentReader<'_>,
                #enter: &mut dyn ::core::ops::FnMut(&dyn ::cuweave::__private::Body),
                _: ::cuweave::__private::Token,
            ) -> ::core::option::Option<()> {
                let _ = __built;
                #(#given)*
                #enter(&#name::Values { #(#known,)* __lifetime: ::core::marker::PhantomData });
                ::core::option::Option::Some(())
            }
        }
    }
}

/// Returns the initialisers of the fields of `Values`. The values are in scope under the arguments' names.
fn known_values(expansion: &Expansion<'_>) -> Vec<TokenStream> {
    let value = |argument: &Argument| {
        let name = &argument.name;
        match expansion.signature.is_refused(argument) {
            true => quote!(#name: ::cuweave::__private::Refused),
            false => quote!(#name),
        }
    };
    expansion.known().map(value).collect()
}
