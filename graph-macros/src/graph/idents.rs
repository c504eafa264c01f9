//! Identifiers of generated code.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Returns an identifier that resolves where the macro is called.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Returns tokens whose errors rustc reports at a place; their names resolve as they did.
pub(super) fn located(tokens: &impl ToTokens, at: Span) -> TokenStream {
    let one = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), located(&group.stream(), at)).into();
        }
        token.set_span(token.span().located_at(at));
        token
    };
    tokens.to_token_stream().into_iter().map(one).collect()
}
