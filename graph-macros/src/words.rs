//! The words of the prelude that an item uses.
//!
//! The macros read `alloc`, `fill` and so on as tokens and never call them, so rustc would call their import unused.
//! Generated code imports them once more out of the user's scope. An import takes a name of whatever kind: a program may
//! have a module, a type or a function of its own with the name, or none, for which there is a macro of that name, that
//! does nothing.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;

const WORDS: [&str; 9] =
    ["alloc", "fill", "copy", "free", "atomic", "per_item", "Atomic", "MaybeUninit", "Pinned"];

/// An item that refers to each word in `tokens`.
pub fn words(tokens: &TokenStream) -> TokenStream {
    let mut found = BTreeSet::new();
    collect(tokens, &mut found);
    // For whoever imports all of the prelude.
    found.insert("__Prelude");
    let words = found.iter().map(|word| {
        let [name, unused] =
            [word.to_string(), format!("__{word}")].map(|name| Ident::new(&name, Span::call_site()));
        quote!(#name as #unused)
    });
    quote! {
        const _: () = {
            mod __words {
                mod scope {
                    #[allow(unused_imports)]
                    pub(super) use super::super::*;
                    #[allow(unused_imports)]
                    pub(super) use ::cuweave::__private::found::*;
                }
                #[allow(unused_imports)]
                use self::scope::{#(#words),*};
            }
        };
    }
}

fn collect(tokens: &TokenStream, found: &mut BTreeSet<&'static str>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => collect(&group.stream(), found),
            TokenTree::Ident(name) => {
                found.extend(WORDS.iter().filter(|word| name == **word));
            }
            _ => {}
        }
    }
}
