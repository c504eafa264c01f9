//! Marks the prelude's words that an item uses as used.
//!
//! The macros read `alloc`, `fill` and so on as tokens and generate no calls of them, so rustc would report
//! the import of the prelude as unused. Generated code therefore imports each used word from the user's
//! scope. Such an import resolves in every namespace: to the prelude's function, to an item of the program
//! with that name, or else to a macro of that name that does nothing (`found` in the facade's
//! `prelude.rs`).

use std::collections::BTreeSet;

use cuweave_core::ir::StatementKind;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// The prelude's words that are not statements.
const WORDS: [&str; 10] = [
    "atomic",
    "condition",
    "per_item",
    "record",
    "Atomic",
    "Condition",
    "MaybeUninit",
    "Pinned",
    "Ptr",
    "PtrMut",
];

/// Generates an item that refers to each of the words that occur in `tokens`.
pub fn use_prelude_words(tokens: &TokenStream) -> TokenStream {
    let known: Vec<&'static str> = WORDS.into_iter().chain(StatementKind::words()).collect();
    let mut found = BTreeSet::new();
    collect(tokens, &known, &mut found);
    // Marks a glob import of the prelude as used.
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

fn collect(tokens: &TokenStream, words: &[&'static str], found: &mut BTreeSet<&'static str>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => collect(&group.stream(), words, found),
            TokenTree::Ident(name) => {
                found.extend(words.iter().filter(|word| name == **word));
            }
            _ => {}
        }
    }
}
