//! The attributes of `cuweave`: `#[kernels]`, `#[graph]`, `#[call]` and `#[arguments]`. Documented there.
//!
//! Tokens are lowered to the IR of `cuweave-core`, which orders and checks it. Diagnostics are reported at their places
//! in the source, and the checked program is printed as a static table with the code that evaluates it.

#![deny(unsafe_code)]

mod dims;
mod graph;
mod image;
mod kernels;
mod known;
mod meaning;
mod parameters;
mod prelude;
mod proof;
mod record;
mod report;
mod stack;
#[cfg(test)]
mod tests;
mod words;

use proc_macro::TokenStream;

/// Declares the kernels of a PTX file: `#[cuweave::kernels("path")] unsafe extern "ptx-kernel" { fn ..; }`.
///
/// The path is relative to the crate's manifest, or `concat!(env!("OUT_DIR"), "/file.ptx")`. A path that ends in `.cu`
/// stands for the PTX that the build script makes of it with `cuweave_build::ptx`. Cubins and fat binaries are taken as
/// they are: nothing can be proved about them.
///
/// The declaration is checked against the PTX while the crate compiles: names (CW301), numbers and kinds of parameters
/// (CW302, CW303), reads and writes through each buffer (CW304, CW305), static shared memory (CW306), and the extents
/// of the accesses (CW308). A declaration that the PTX refutes is an error that names the instruction and its line. The
/// elements that a kernel writes depend on the launch: the build checks each launch against an outline of the kernel;
/// if the PTX leaves them unknown, element types with invalid bit patterns are refused (CW309). The documentation of
/// each kernel's item lists the proved facts; the `report()` of a graph lists what only the block's `unsafe` vouches
/// for.
///
/// Each kernel is an item with its declared visibility; nothing else of the block has a name. It has one function,
/// `load`: `nn::matvec::load(&ctx)` loads the module of the block and keeps it, so that graphs need not load it.
///
/// `#[link_name = "_Z4axpyIfEvT_PKS0_PS0_j"]` on a function names the kernel in the file, where that is another name:
/// that of an instance of a C++ template, say.
///
/// The types of parameters, with examples: [reference](../cuweave/reference/kernels/index.html).
#[proc_macro_attribute]
pub fn kernels(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stack::run(kernels::kernels, attribute.into(), item.into()).into()
}

/// Makes a record of arguments of a struct: `#[cuweave::arguments] struct Layer { d: u32, q: &[f32; d * d], .. }`.
///
/// The struct is written without a lifetime and becomes `Layer<'a>`, whose fields hold bound buffers: `Shared<'a, T>` for
/// `&[T; len]`, `Exclusive<'a, T>` for `&mut [T; len]`. `Layer::new(..)` takes the fields in their order, buffers by
/// whatever binds to them.
///
/// A field is one of:
///
/// - a scalar: any type by value without a lifetime;
/// - a buffer, `&[T; len]` or `&mut [T; len]`; `len` is an expression over the record's own scalars;
/// - an array or a slice of buffers: `[&[T; len]; N]`, or `&[&mut [T; len]]`, which is bound as a `Vec`;
/// - a record, `Inner<'_>`, an array `[Inner<'_>; N]`, or a slice `&[Inner<'_>]`, which is bound as a `Vec`.
///
/// Beside the struct stand `LayerViews` and `LayerViewsMut`, which `args()` and `args_mut()` of an exec have in its place, and
/// `LayerSetters`, which `exec.layers(i)?` returns: a setter `set_q` for each buffer and for each scalar that no length of the
/// record depends on, and a function named as the field for each record and list.
///
/// Examples: [reference](../cuweave/reference/structure/index.html#records-and-lists).
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stack::run(record::arguments, attribute.into(), item.into()).into()
}

/// Declares a library call: `#[cuweave::call] unsafe fn name(stream: &CallStream, ..) -> Result<(), E> { .. }`.
///
/// The work that the body gives to its stream becomes a part of the graphs whose functions call it, as `name(..)` without the
/// stream and the scratch. The [reference](../cuweave/reference/calls/index.html) has an example.
///
/// The first parameter is `stream: &CallStream`; then, in any order:
///
/// - `a: &[T; len]` is read, `x: &mut [T; len]` read and written, `out: &mut [MaybeUninit<T>; len]` written in all its elements;
///   the body is given a `&CudaView` or a `&mut CudaViewMut` of that length;
/// - `scratch: [T; len]` is memory of this call alone, aligned to 256 bytes: a `&mut CudaViewMut`. Of no elements, its address is null;
/// - `host: &H` or `resource: &mut H`, of a type that is named by a path without lifetimes, is a value of the host;
/// - a scalar stands by value.
///
/// Lengths are expressions over the scalars and the host values. Type parameters may stand wherever types do,
/// `unsafe fn sum<T: Element>(.., a: &[T; n], ..)`: the buffers and the scalars at the call say them. The body returns nothing, or a `Result<(), E>` whose error can be
/// printed.
///
/// # Safety
///
/// With `unsafe` you vouch that the body only enqueues work in its stream, or in streams that it forks and joins, and that the work
/// touches no device memory but the parameters', as they are declared.
#[proc_macro_attribute]
pub fn call(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stack::run(graph::call, attribute.into(), item.into()).into()
}

/// Makes a CUDA graph of a function: `#[cuweave::graph] fn name(args) { .. }`.
///
/// It is allowed in a module or in a function, not in an `impl`: it adds a module of the same name with its types. Lint
/// levels (`#[allow(..)]`) and doc comments are allowed on its statements; `#[cfg(..)]` is allowed on the whole
/// function only.
///
/// In a launch `kernel[config](args);`, `config` is `(grid, block)` or `(grid, block, shared_bytes)` with a `u32` or a
/// tuple of up to three for each of the first two, a `LaunchConfig` of cudarc, or `per_item(n)`.
///
/// A call of another graph function, `name(args);` or `let h = name(args);`, is replaced by its statements when the graph is
/// built. Loops over ranges of scalars, `if` and `match` on scalars are decided then, too; a loop with literal bounds is
/// unrolled while the crate compiles.
///
/// Arguments are scalars, buffers, pinned host memory, taken-over outputs, arrays and slices of buffers, and records of
/// [`macro@arguments`]: alone, in arrays and in slices. `#[at_least(1)]` on a scalar or a slice says that loops over it have a
/// turn at least; the build checks it. An exec has a function named as the argument for each record, array and slice:
/// `exec.layers(i)?` returns the setters of an element. Where the exec has a method of that name, the function's ends with `_`.
///
/// The module `name` has the types: `name::Exec`, which `Graph::instantiate` returns, with `launch`, the setters and
/// all other methods; `name::Args`, `name::Views` and `name::ViewsMut`, with a field for each argument. An argument that no
/// statement uses is an unused variable for rustc: `_name` or `#[allow(unused_variables)]` silences it.
///
/// `#[cuweave::graph(..)]` takes, each once:
///
/// - `order = "inferred"`, the default, from what statements read and write; `"explicit"`: from `#[after]` alone, which is
///   proved to suffice;
/// - `memory = "arena"`, the default: one alloc node and one free node for all temporaries; `"nodes"`: two for each;
///   `"owned"`: no memory nodes, the exec keeps a plain allocation;
/// - `check`: the certificate of each graph is checked when it is built;
/// - `budget = expr`: the most bytes of the temporaries; order is added if they need more;
/// - `launches = "as-written"`: one node for each launch, and full edges. `"batched"`: launches of one kernel that nothing orders
///   become one; `"overlapped"`: kernels start before their predecessors end (compute capability 9.0 and more); `"fused"`:
///   kernels of one grid and block, one after another, become one where their blocks are proved to keep to themselves, and
///   what one thread alone stores and loads stays in registers. The default is all of these, and many small branches are
///   serialized into lanes. The result is the same bit for bit;
/// - `devices = expr`: the function takes `&[Arc<CudaContext>]`, a context for each of so many devices, in place of one. `#[on(expr)]`
///   on a statement, a block, a loop, an `if` or a `match` puts it on a device, counted from 0; without it all is on device 0. The devices
///   of a function that is called are counted from that of the call. Each device has memory for the temporaries that are allocated on
///   it; kernels and fills may use memory of devices that are peers, copies that of all.
///
/// Every form with an example: [graph functions and what binds to their arguments](../cuweave/reference/graphs/index.html), [statements](../cuweave/reference/statements/index.html),
/// [loops, choices, calls, records](../cuweave/reference/structure/index.html), [decisions of the device](../cuweave/reference/device/index.html), [setters](../cuweave/reference/execs/index.html), [grammar](../cuweave/reference/grammar/index.html).
///
/// Generated code names the crate `::cuweave`. If `Cargo.toml` renames it, add `extern crate other as cuweave;` at the
/// root of the crate.
#[proc_macro_attribute]
pub fn graph(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stack::run(graph::graph, attribute.into(), item.into()).into()
}
