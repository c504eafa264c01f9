use proc_macro2::TokenStream;
pub fn expand(_: &syn::ItemFn, _: &super::signature::Signature, _: &super::lower::Lowered) -> TokenStream {
    TokenStream::new()
}
