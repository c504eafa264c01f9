//! The part of a graph function that other graph functions call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::expand::Expansion;
use super::parts::{BufferMemory, BufferType};
use super::signature::ArgumentKind;

impl Expansion<'_> {
    /// The function by which other graph functions call this one, with the bounds that hold arguments against parameters.
    pub(super) fn callee(&self) -> TokenStream {
        let name = self.name();
        let known: Vec<&Ident> = self.known().map(|argument| &argument.name).collect();
        let (mut generics, mut parameters, mut given) = (Vec::new(), Vec::new(), Vec::new());
        let [arguments, enter] = ["given", "enter"].map(|name| Ident::new(name, Span::mixed_site()));
        // A builder's call has no records and lists.
        let mut of_builders = true;
        for (at, argument) in self.signature.arguments.iter().enumerate() {
            let (value, private) = (&argument.name, quote!(::cuweave::__private));
            match &argument.kind {
                ArgumentKind::Scalar(ty) => {
                    parameters.push(quote!(#value: #ty));
                    given.push(quote!(let #value = #arguments.scalar::<#ty>(#at)?;));
                }
                ArgumentKind::Buffer(BufferType { element, memory, mutable, fresh, .. }) => {
                    let generic = format_ident!("A{at}", span = Span::mixed_site());
                    parameters.push(quote!(_: #generic));
                    let declared = match (memory, mutable, fresh) {
                        (BufferMemory::Device, true, true) => quote!(Write),
                        (BufferMemory::Device, true, false) => quote!(ReadWrite),
                        (BufferMemory::Device, false, _) => quote!(Read),
                        (BufferMemory::Taken, ..) => {
                            generics.push(quote!(#generic: #private::TakenOver<#element, #name::#name>));
                            continue;
                        }
                        // Only the outermost function copies from and to the host.
                        (BufferMemory::Pinned, ..) => return TokenStream::new(),
                    };
                    generics.push(
                        quote!(#generic: #private::Fits<#private::param::#declared<#element>, #name::#name>),
                    );
                    given.push(quote!(#arguments.buffer::<#element>(#at)?;));
                }
                ArgumentKind::Array(..) | ArgumentKind::Part(_) => {
                    let ty = argument.value_type();
                    parameters.push(quote!(#value: #ty));
                    of_builders = false;
                }
            }
        }
        let called_item = of_builders.then(|| {
            quote! {
                #[doc(hidden)]
                impl ::cuweave::__private::CalledItem for #name::#name {
                    fn table(
                        _: ::cuweave::__private::Token,
                    ) -> ::core::option::Option<::cuweave::__private::TableHandle> {
                        __table().handle()
                    }

                    fn enter(
                        #arguments: &mut ::cuweave::__private::Given<'_>,
                        #enter: &mut dyn ::core::ops::FnMut(&dyn ::cuweave::__private::Body),
                        _: ::cuweave::__private::Token,
                    ) -> ::core::option::Option<()> {
                        #(#given)*
                        #enter(&#name::Values { #(#known,)* __lifetime: ::core::marker::PhantomData });
                        ::core::option::Option::Some(())
                    }
                }
            }
        });
        let count = self.signature.returned.len();
        quote! {
            #[doc(hidden)]
            impl ::cuweave::__private::Returns<#count> for #name::#name {}
            #[doc(hidden)]
            impl #name::#name {
                pub fn __call<'v, #(#generics),*>(#(#parameters),*) -> #name::Values<'v> {
                    #name::Values { #(#known,)* __lifetime: ::core::marker::PhantomData }
                }
            }
            #called_item
        }
    }

    /// A function that names the graph function: one that only other graph functions call is used.
    pub(super) fn named(&self) -> TokenStream {
        let name = self.name();
        let names = self.signature.arguments.iter().map(|argument| &argument.name);
        let [ctx, args] = ["ctx", "args"].map(|name| Ident::new(name, Span::mixed_site()));
        quote! {
            #[doc(hidden)]
            impl #name::#name {
                /// Returns its table.
                pub fn __table() -> &'static ::cuweave::__private::Table {
                    __table()
                }
            }
            fn __named(#ctx: &::std::sync::Arc<::cuweave::cudarc::driver::CudaContext>, #args: #name::Args<'_>) {
                ::core::mem::drop(#name(#ctx, #(#args.#names),*));
            }
        }
    }
}
