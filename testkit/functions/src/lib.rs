//! Random graph functions of cuweave's own tests, generated where the tests are compiled. The items that a macro stands
//! for name what is in scope at its call, and messages of the compiler point to the call.

#![deny(unsafe_code)]

use proc_macro::TokenStream;

mod conditions;
#[path = "../../../tests/side_by_side/builder_random/generate.rs"]
mod generate;
mod written;

/// The programs of `tests/conditional/random.rs`, each with its meaning as plain Rust, and a macro for all of them.
#[proc_macro]
pub fn conditions(_: TokenStream) -> TokenStream {
    conditions::text().parse().expect("items")
}

/// The programs of `tests/side_by_side/builder_random` as graph functions.
#[proc_macro]
pub fn written(_: TokenStream) -> TokenStream {
    written::text().parse().expect("items")
}
