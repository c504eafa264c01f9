//! Resolves the paths of kernels and graph functions in statements, such that a path to anything else is a
//! single error with our message (`kernels/item.rs` in the core).
//!
//! Kernels and graph functions have a constant `name::__ITEM`. A path of one segment is imported under
//! another name. An import binds a name in all namespaces, and shadows the names of a glob import in each
//! namespace separately. So if the user's name is neither a type nor a module, `__ITEM` resolves to that of
//! `no_item`, which is glob-imported. A dummy function of the same name ensures that the import always
//! finds something.

use cuweave_core::codes::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use crate::expanded_names::{self, ItemKind};
use crate::implicit_prelude::on_unimplemented;

/// A graph function that another one calls.
pub struct Callee {
    pub path: Path,
    /// The maximum number of allocations that a `let` binds from a call.
    pub results: usize,
}

/// Generates the expression of the item of the kernel that a path names.
pub fn launched(path: &Path) -> TokenStream {
    let (imports, found, span) = (imports(path), found(path), path.span());
    let item = quote_spanned!(span=> ::cuweave::__private::Launched::item(#found::__ITEM));
    quote!({ #imports #item })
}

/// Generates the imports that [`found`] relies on.
pub fn imports(path: &Path) -> TokenStream {
    let Some(anything) = anything(path) else { return TokenStream::new() };
    let nothing = nothing(path, ItemKind::Kernel, &Ident::new("__found", Span::call_site()), 0);
    quote! {
        #[allow(non_snake_case)]
        #anything
        use #path as __found;
        mod __no_kernel { #nothing }
        use __no_kernel::*;
        use ::cuweave::__private::NoItem as _;
    }
}

/// Generates the module that provides `__ITEM` for a name that is neither a kernel nor a graph function. If
/// a similar name is known, using that constant makes rustc suggest it.
fn nothing(path: &Path, kind: ItemKind, name: &Ident, results: usize) -> TokenStream {
    let written = path.get_ident().map(ToString::to_string).unwrap_or_default();
    let Some(suggestion) = expanded_names::suggestion(&written, kind) else {
        let outputs = outputs(results, &quote!(::cuweave::__private::NoPath));
        return match results {
            0 => quote!(pub use ::cuweave::__private::no_item as #name;),
            _ => quote!(pub mod #name { pub use ::cuweave::__private::no_item::*; #outputs }),
        };
    };
    let (message, label, found) = match kind {
        ItemKind::Kernel => (
            "only kernels are launched by `name[config](..)`",
            "no kernel of this name is in scope",
            "Launched",
        ),
        ItemKind::Graph => (
            "only graph functions are called by `name(..)`",
            "no function of this name with `#[cuweave::graph]` is in scope",
            "Called",
        ),
    };
    let (message, label) = (format!("{}: {message}", Code::CW001), format!("{label}: {suggestion}"));
    let see = format!("see {}", Code::CW001.url());
    let told = on_unimplemented(&message, &label, &see);
    let (found, outputs) = (Ident::new(found, Span::call_site()), outputs(results, &quote!(Nothing<()>)));
    quote! {
        pub mod #name {
            pub use ::cuweave::__private::no_item::*;
            #told
            pub trait Meant {
                type Item;
                fn none(self) -> Self::Item;
            }
            pub struct Nothing<T>(T);
            impl<T> Nothing<T> {
                pub const fn holds_host(&self) -> bool {
                    false
                }
            }
            impl<T: Meant> ::cuweave::__private::#found for Nothing<T> {
                type Item = T::Item;
                fn item(self) -> T::Item {
                    self.0.none()
                }
            }
            pub const __ITEM: Nothing<()> = Nothing(());
            #outputs
        }
    }
}

/// Generates the type aliases of the results of an unresolved call.
fn outputs(results: usize, nothing: &TokenStream) -> TokenStream {
    let names = (0..results).map(|at| format_ident!("__Output{at}"));
    quote!(#(pub type #names = <#nothing as ::cuweave::__private::Called>::Item;)*)
}

/// Returns the path of a kernel's item. Must be placed after [`imports`].
pub fn found(path: &Path) -> TokenStream {
    match anything(path) {
        Some(_) => Ident::new("__found", path.span()).into_token_stream(),
        None => path.to_token_stream(),
    }
}

/// Generates the expression of the item of the graph function with this number.
pub fn called(path: &Path, number: usize) -> TokenStream {
    let name = callee(path, number);
    quote_spanned!(path.span()=> ::cuweave::__private::Called::item(#name::__ITEM))
}

/// Returns the path of the graph function with this number. Must be placed after [`callees`].
pub fn callee(path: &Path, number: usize) -> TokenStream {
    match anything(path) {
        Some(_) => alias(number, path.span()).into_token_stream(),
        None => path.to_token_stream(),
    }
}

/// Generates a const expression that is true if the graph function contains a host statement or an event.
pub fn holds_host(path: &Path, number: usize) -> TokenStream {
    let name = callee(path, number);
    quote_spanned!(path.span()=> #name::__ITEM.holds_host())
}

fn alias(number: usize, span: Span) -> Ident {
    format_ident!("__callee_{number}", span = span)
}

/// Generates the imports of the graph functions that a function calls.
pub fn callees(callees: &[Callee]) -> TokenStream {
    let named =
        || callees.iter().enumerate().filter_map(|(at, callee)| Some((at, callee, anything(&callee.path)?)));
    if named().next().is_none() {
        return TokenStream::new();
    }
    let imports = named().map(|(number, Callee { path, .. }, anything)| {
        let name = alias(number, Span::call_site());
        quote!(#anything use #path as #name;)
    });
    let nothing = named().map(|(number, Callee { path, results }, _)| {
        nothing(path, ItemKind::Graph, &alias(number, Span::call_site()), *results)
    });
    quote! {
        #(#imports)*
        mod __no_callees { #(#nothing)* }
        use __no_callees::*;
        use ::cuweave::__private::NoItem as _;
    }
}

/// Generates a dummy function with the name of a one-segment path. None for other paths.
fn anything(path: &Path) -> Option<TokenStream> {
    let name = path.get_ident()?;
    let keyword = ["self", "Self", "super", "crate"].iter().any(|keyword| name == keyword);
    (!keyword).then(|| quote!(fn #name() {}))
}
