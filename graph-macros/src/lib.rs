//! The attributes of `cuweave`: `#[kernels]` and `#[graph]`. Documented there.
//!
//! Thin: tokens are lowered to the IR of `cuweave-core`, which orders and checks it; what is found is told at the
//! places it stands, and the checked program is printed back as a static table with the code that evaluates it.

mod dims;
mod graph;
mod image;
mod kernels;
mod proof;
mod report;
mod words;

use proc_macro::TokenStream;

/// Declares the kernels of a PTX file: `#[cuweave::kernels("path")] unsafe extern "ptx-kernel" { fn ..; }`.
#[proc_macro_attribute]
pub fn kernels(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernels::kernels(attribute.into(), item.into()).into()
}

/// Makes a CUDA graph of a function: `#[cuweave::graph] fn name(args) { .. }`.
#[proc_macro_attribute]
pub fn graph(attribute: TokenStream, item: TokenStream) -> TokenStream {
    graph::graph(attribute.into(), item.into()).into()
}
