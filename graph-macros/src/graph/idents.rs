//! Identifiers and types as generated code spells them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

use crate::substitution::located_tokens;

/// Returns an identifier with call-site hygiene.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Generates the type of a function's item in the module beside the function. It is named like the
/// function, which is how builders name it, with the alias `__Item`. If that name is taken by a type of the
/// module, it is `__Item` itself.
pub(super) fn item(function: &Ident, taken: &[&str]) -> TokenStream {
    let clashes = taken.iter().any(|name| function == name);
    let item = if clashes { ident("__Item") } else { function.clone() };
    let alias = (!clashes).then(|| {
        quote! {
            /// The type of the item, whatever name the function is imported under.
            #[doc(hidden)]
            pub type __Item = #item;
        }
    });
    quote! {
        /// The item through which calls in graph functions find the function.
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #[derive(Debug)]
        pub struct #item {}

        #alias

        #[doc(hidden)]
        pub const __ITEM: ::cuweave::__private::GraphPath<__Item> = ::cuweave::__private::GraphPath(__Item {});
    }
}

/// Generates the body of `Debug::fmt` for a struct with these fields. Calls are fully qualified because the
/// user's traits may have methods of the same names.
pub fn debug_body<'f>(name: &str, fields: impl IntoIterator<Item = &'f Ident>) -> TokenStream {
    let all = Ident::new("shown", Span::mixed_site());
    let fields = fields.into_iter().map(|field| {
        let text = field.to_string();
        quote!(::core::fmt::DebugStruct::field(&mut #all, #text, &self.#field);)
    });
    quote! {
        let mut #all = ::core::fmt::Formatter::debug_struct(f, #name);
        #(#fields)*
        ::core::fmt::DebugStruct::finish_non_exhaustive(&mut #all)
    }
}

/// Returns a type located at `at`, so that rustc reports errors about it there. Name resolution is
/// unchanged. The type of a call's result keeps its own span, so that rustc reports a callee's error only
/// once.
pub(super) fn located_type(ty: &Type, at: Span) -> TokenStream {
    let of_a_call = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| {
        last.ident.to_string().starts_with("__Output")
    }));
    if of_a_call { ty.to_token_stream() } else { located_tokens(ty.to_token_stream(), at) }
}
