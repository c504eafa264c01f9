//! The attributes of `cuweave`: `#[kernels]` and `#[graph]`. Documented there.
//!
//! Tokens are lowered to the IR of `cuweave-core`, which orders and checks it. Diagnostics are reported at their places in the
//! source, and the checked program is printed as a static table with the code that evaluates it.

mod dims;
mod graph;
mod image;
mod kernels;
mod parameters;
mod proof;
mod report;
#[cfg(test)]
mod tests;
mod words;

use proc_macro::TokenStream;

/// Declares the kernels of a PTX file: `#[cuweave::kernels("path")] unsafe extern "ptx-kernel" { fn ..; }`.
///
/// The path is relative to the crate's manifest, or `concat!(env!("OUT_DIR"), "/file.ptx")`. A path that ends in `.cu`
/// stands for the PTX that the build script makes of it with `cuweave_build::ptx`. Cubins and fat binaries are taken as
/// they are: nothing of them can be proved.
///
/// The declaration is held against the PTX while the crate compiles: names (CW301), numbers and kinds of parameters
/// (CW302, CW303), what is read and written through each buffer (CW304, CW305), static shared memory (CW306), and how
/// far (CW308). Which elements a kernel writes is kept for the build, which holds each launch to it; where the PTX does not
/// tell, elements with invalid bits are refused (CW309). What is refuted is an error with the instruction and its line.
/// What is proved, and what is only vouched for by the block's `unsafe`, stands in the documentation of each kernel's
/// item, and what is vouched for in the `report()` of a graph that launches it.
///
/// Each kernel is an item with the visibility that it is declared with, and nothing else of the block has a name. It has one
/// function, `load`: `nn::matvec::load(&ctx)` loads the module of the block and keeps it, so that graphs need not load it.
#[proc_macro_attribute]
pub fn kernels(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernels::kernels(attribute.into(), item.into()).into()
}

/// Makes a CUDA graph of a function: `#[cuweave::graph] fn name(args) { .. }`.
///
/// It stands where an item may stand: in a module or in a function, not in an `impl`, since it brings a module of its own
/// name with its types. The levels of lints (`#[allow(..)]`) and doc comments may stand on its statements; `#[cfg(..)]`
/// stands on the whole function.
///
/// In a launch `kernel[config](args);`, `config` is `(grid, block)` or `(grid, block, shared_bytes)` with a `u32` or a tuple of up
/// to three for each of the first two, a `LaunchConfig` of cudarc, or `per_item(n)`.
///
/// The module `name` has the types: `name::Exec`, which `Graph::instantiate` returns, with `launch`, the setters and all other
/// methods; `name::Args`, `name::Views` and `name::ViewsMut`, with a field an argument. An argument that no statement uses is an
/// unused variable for rustc: `_name` or `#[allow(unused_variables)]` silences it.
///
/// `#[cuweave::graph(..)]` takes, each once:
///
/// - `order = "inferred"`, the default, from what statements read and write; `"explicit"`: from `#[after]` alone, which is
///   proved to suffice;
/// - `memory = "arena"`, the default: one alloc node and one free node for all temporaries; `"nodes"`: two for each;
///   `"owned"`: no memory nodes, the exec keeps a plain allocation;
/// - `budget = expr`: the bytes that the temporaries may take at most; order is added where they need more;
/// - `launches = "as-written"`: one node a launch, and full edges. `"batched"`: launches of one kernel that nothing orders
///   become one; `"overlapped"`: kernels start before those in front of them end (compute capability 9.0 and more). Where
///   it is not said, both, and many small branches are serialized into lanes. The result is the same bit for bit.
///
/// Generated code names the crate `::cuweave`. Where `Cargo.toml` gives it another name, `extern crate other as cuweave;`
/// at the root of the crate brings that back.
#[proc_macro_attribute]
pub fn graph(attribute: TokenStream, item: TokenStream) -> TokenStream {
    graph::graph(attribute.into(), item.into()).into()
}
