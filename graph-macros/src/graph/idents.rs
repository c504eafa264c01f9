//! Identifiers of generated code.

use proc_macro2::{Ident, Span};

/// Returns an identifier that resolves where the macro is called.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
