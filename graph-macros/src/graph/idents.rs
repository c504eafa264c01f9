//! Identifiers of generated code.

use proc_macro2::{Ident, Span};

/// Returns an identifier that resolves where the macro is called.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Returns the identifier of a user's name, which may be raw.
pub(super) fn named(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()),
        None => ident(name),
    }
}
