//! The attribute macros of `cuweave`: `#[kernels]`, `#[graph]`, `#[call]` and `#[arguments]`. Users find
//! them in that crate.
//!
//! Tokens are lowered to the IR of `cuweave-core` (`graph::lower`), which orders and checks it. Diagnostics
//! are reported at their source spans. The checked program is emitted as a static table, together with the
//! code that evaluates the user's expressions.

#![deny(unsafe_code)]

mod dims;
mod expanded_names;
mod expression_limit;
mod graph;
mod implicit_prelude;
mod kernel_file;
mod kernels;
mod parameters;
mod prelude_words;
mod proof;
mod record;
mod report;
mod substitution;
#[cfg(test)]
mod tests;
mod variables;

use proc_macro::TokenStream;

/// Declares the kernels of a PTX file: `#[cuweave::kernels("path")] unsafe extern "ptx-kernel" { fn ..; }`.
///
/// The path is relative to the crate's manifest, or `concat!(env!("OUT_DIR"), "/file.ptx")`. A path that
/// ends in `.cu` refers to the PTX that the build script makes from it with `cuweave_build::ptx`. Cubins
/// and fat binaries are accepted, but nothing can be proved about them.
///
/// The declaration is checked against the PTX while the crate compiles: names (CW301), numbers and kinds of
/// parameters (CW302, CW303), reads and writes through each buffer (CW304, CW305), static shared memory
/// (CW306), and the extents of the accesses (CW308). A declaration that the PTX refutes is an error that
/// names the instruction and its line. The elements that a kernel writes depend on the launch, so the build
/// checks each launch against the kernel's backward slice. If the PTX leaves them unknown, element types
/// with invalid bit patterns are rejected (CW309). The documentation of each kernel's item lists the proved
/// facts. The `report()` of a graph lists what is assumed on the word of the block's `unsafe`.
///
/// Each kernel is an item with the declared visibility. The block adds no other names. The item has one
/// function, `load`: `nn::matvec::load(&ctx)` loads the module of the block and keeps it loaded, so that
/// graphs need not load it.
///
/// `#[link_name = "_Z4axpyIfEvT_PKS0_PS0_j"]` on a function gives the kernel's name in the file if it
/// differs, for example for an instance of a C++ template.
///
/// For the types of parameters, with examples, see the
/// [reference](../cuweave/reference/kernels/index.html).
#[proc_macro_attribute]
pub fn kernels(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expression_limit::run(kernels::kernels, attribute.into(), item.into()).into()
}

/// Turns a struct into a record of arguments: `#[cuweave::arguments] struct Layer { d: u32, q: &[f32; d *
/// d], .. }`.
///
/// The struct is written without a lifetime and becomes `Layer<'a>`. Its fields hold bound buffers:
/// `Shared<'a, T>` for `&[T; len]`, `Exclusive<'a, T>` for `&mut [T; len]`. `Layer::new(..)` takes the
/// fields in their order; for a buffer it accepts anything that binds to it.
///
/// A field is one of:
///
/// - a scalar: any type without a lifetime, by value;
/// - a buffer, `&[T; len]` or `&mut [T; len]`, where `len` is an expression over the record's own scalars;
/// - an array or a slice of buffers: `[&[T; len]; N]`, or `&[&mut [T; len]]`, which is bound as a `Vec`;
/// - a record, `Inner<'_>`, an array `[Inner<'_>; N]`, or a slice `&[Inner<'_>]`, which is bound as a
///   `Vec`.
///
/// The attribute also defines `LayerViews` and `LayerViewsMut`, which an exec's `args()` and `args_mut()`
/// return in the record's place, and `LayerSetters`, which `exec.layers(i)?` returns. The latter has a
/// setter `set_q` for each buffer and for each scalar that no length of the record depends on, and a method
/// named like the field for each record and list.
///
/// For examples, see the [reference](../cuweave/reference/structure/index.html#records-and-lists).
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expression_limit::run(record::arguments, attribute.into(), item.into()).into()
}

/// Declares a library call: `#[cuweave::call] unsafe fn name(stream: &CallStream, ..) -> Result<(), E> { .. }`.
///
/// The work that the body enqueues in its stream becomes a part of every graph whose function calls it. The
/// call is written `name(..)`, without the stream and the scratch. For an example, see the
/// [reference](../cuweave/reference/calls/index.html).
///
/// The first parameter is `stream: &CallStream`. It is followed by any of these, in any order:
///
/// - a buffer: `a: &[T; len]` is read, `x: &mut [T; len]` is read and written, every element of `out: &mut
///   [MaybeUninit<T>; len]` is written. The body receives a `&CudaView` or a `&mut CudaViewMut` of that
///   length;
/// - `scratch: [T; len]`: temporary memory for this call alone, aligned to 256 bytes. The body receives a
///   `&mut CudaViewMut`. With length 0, its address is null;
/// - `host: &H` or `resource: &mut H`: a host value. Its type is a path without lifetimes;
/// - a scalar, by value.
///
/// Lengths are expressions over the scalars and the host values. There may be type parameters, `unsafe fn
/// sum<T: Element>(.., a: &[T; n], ..)`, which the buffers and scalars of a call determine. The body
/// returns nothing, or a `Result<(), E>` whose error can be printed.
///
/// With `#[cuweave::call(less_scratch)]` the body looks at the length of its scratch, and may get less than is
/// declared. If sizes reach a call, its scratch is planned for powers of two and the largest values; without this
/// option a value that declares more is an error of the setter.
///
/// # Safety
///
/// With `unsafe` you guarantee that the body only enqueues work in its stream, or in streams that it forks
/// from it and joins again, and that this work touches no device memory except the parameters', as
/// declared.
#[proc_macro_attribute]
pub fn call(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expression_limit::run(graph::call, attribute.into(), item.into()).into()
}

/// Turns a function into a CUDA graph: `#[cuweave::graph] fn name(args) { .. }`.
///
/// The function may be in a module or in another function, but not in an `impl`: the attribute adds a
/// module of the same name with its types. Lint levels (`#[allow(..)]`) and doc comments are allowed on its
/// statements. `#[cfg(..)]` is allowed only on the whole function.
///
/// In a launch `kernel[config](args);`, `config` is `(grid, block)` or `(grid, block, shared_bytes)`, a
/// `LaunchConfig` of cudarc, or `per_item(n)`. Grid and block are a `u32` or a tuple of up to three.
///
/// A call of another graph function, `name(args);` or `let h = name(args);`, is inlined when the graph is
/// built. Loops over scalar ranges, and `if` and `match` on scalars, are resolved then, too. A loop with
/// literal bounds is unrolled while the crate compiles.
///
/// Arguments are scalars, buffers, pinned host memory, outputs taken over from other graphs, arrays and
/// slices of buffers, and records of [`macro@arguments`], alone, in arrays or in slices. `#[at_least(1)]`
/// on a scalar or a slice states that loops over it have at least one iteration; the build checks it. For
/// each record, array and slice an exec has a method with the argument's name: `exec.layers(i)?` returns
/// the setters of an element. If every exec has a method of that name, `_` is appended.
///
/// The module `name` contains the types. `name::Exec`, which `Graph::instantiate` returns, has `launch`,
/// the setters and all other methods. `name::Args`, `name::Views` and `name::ViewsMut` have a field per
/// argument. rustc reports an argument that no statement uses as an unused variable; `_name` or
/// `#[allow(unused_variables)]` silences it.
///
/// `#[cuweave::graph(..)]` takes these options, each at most once:
///
/// - `order = "inferred"` (default): the order follows from what statements read and write. `"explicit"`:
///   only `#[after]` orders, and is proved to suffice;
/// - `memory = "arena"` (default): one alloc node and one free node for all temporaries. `"nodes"`: two
///   nodes for each temporary. `"owned"`: no memory nodes, the exec keeps an ordinary allocation;
/// - `check`: the certificate of each graph is checked when it is built;
/// - `budget = expr`: the maximum bytes of the temporaries. If they need more, order is added;
/// - `width = expr`: the maximum number of nodes side by side, on each device. Beyond it, branches are put in
///   sequence: the driver takes some 107 KiB of device memory for each. By default the width stays below the
///   number from which more gain less than 1 % of the time: 19 for small short kernels, and at most 128;
/// - `launches = "as-written"`: one node per launch, and full edges. `"batched"`: unordered launches of one
///   kernel become one launch. `"overlapped"`: kernels start before their predecessors end (compute
///   capability 9.0 and newer). `"fused"`: consecutive kernels with the same grid and block become one
///   where their blocks are proved independent, and values that only one thread stores and loads stay in
///   registers. By default all of these apply, and many small branches are serialized into lanes. The
///   results are bit for bit the same;
/// - `devices = expr`: the function takes `&[Arc<CudaContext>]`, one context per device, instead of a
///   single context. `#[on(expr)]` on a statement, a block, a loop, an `if` or a `match` places it on a
///   device, counted from 0. Without it, everything is on device 0. Inside a called function, devices are
///   counted from the device of the call. Each device has memory for the temporaries allocated on it.
///   Kernels and fills may use memory of peer devices, copies memory of all devices. `#[access(expr, ..)]` on
///   an `alloc` lets more devices use its memory, for an output that other graphs use there.
///
/// Every form is shown with an example in the reference: [graph functions and what binds to their
/// arguments](../cuweave/reference/graphs/index.html),
/// [statements](../cuweave/reference/statements/index.html), [loops, choices, calls,
/// records](../cuweave/reference/structure/index.html), [decisions of the
/// device](../cuweave/reference/device/index.html), [setters](../cuweave/reference/execs/index.html),
/// [grammar](../cuweave/reference/grammar/index.html).
///
/// Generated code refers to the crate as `::cuweave`. If `Cargo.toml` renames it, add `extern crate other
/// as cuweave;` at the root of the crate.
#[proc_macro_attribute]
pub fn graph(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expression_limit::run(graph::graph, attribute.into(), item.into()).into()
}
