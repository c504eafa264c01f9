//! The words of the prelude that an item uses.
//!
//! The macros read `alloc`, `fill` and so on as tokens and never call them, so rustc would call their import unused.
//! Generated code refers to them by the types of the same names, by way of the user's scope first: a block is searched
//! before the module around it, so a program without the import, or with its own item of the name, is as good.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// Those with a type of an element, and those without.
const PLAIN: [&str; 6] = ["alloc", "fill", "copy", "free", "atomic", "per_item"];
const GENERIC: [&str; 2] = ["Atomic", "MaybeUninit"];

/// An item that refers to each word in `tokens`.
pub fn words(tokens: &TokenStream) -> TokenStream {
    let mut found = BTreeSet::new();
    collect(tokens, &mut found);
    // For whoever imports all of the prelude.
    found.insert("__Prelude");
    let words = found.iter().map(|word| {
        let name = Ident::new(word, Span::call_site());
        match *word {
            "Pinned" => quote!(#name<[u8; 1]>),
            _ if GENERIC.contains(word) => quote!(#name<u8>),
            _ => quote!(#name),
        }
    });
    quote! {
        const _: () = {
            mod __words {
                #[allow(unused_imports)]
                use ::cuweave::prelude::*;
                #[allow(dead_code)]
                fn words() {
                    #[allow(unused_imports)]
                    use super::*;
                    #(let _ = ::core::marker::PhantomData::<#words>;)*
                }
            }
        };
    }
}

fn collect(tokens: &TokenStream, found: &mut BTreeSet<&'static str>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => collect(&group.stream(), found),
            TokenTree::Ident(name) => {
                found.extend(PLAIN.iter().chain(&GENERIC).chain(&["Pinned"]).filter(|word| name == **word));
            }
            _ => {}
        }
    }
}
