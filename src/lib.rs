//! CUDA graphs written as Rust functions: ordered, checked and planned while your crate compiles.
//!
//! A kernel is declared once, a graph is a function that launches kernels, and its calls build a graph that is launched
//! as often as you like:
//!
//! ```
//! use cuweave::prelude::*;
//!
//! #[cuweave::kernels("examples/kernels/nn.ptx")]
//! unsafe extern "ptx-kernel" {
//!     /// y = w · x, one thread per row.
//!     fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
//!     fn relu(x: &mut [f32; n], n: u32);
//!     fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
//! }
//!
//! /// out = x + relu(w · x)
//! #[cuweave::graph]
//! fn residual(n: u32, w: &[f32; n * n], x: &[f32; n], out: &mut [f32; n]) {
//!     let h = alloc::<f32>(n);
//!     matvec[per_item(n)](&w, &x, &mut h, n);
//!     relu[per_item(n)](&mut h, n);
//!     add[per_item(n)](&x, &h, &mut out, n);
//! } // h is freed here, by a free node that the compiler places
//!
//! fn main() -> cuweave::Result<()> {
//! #   cuweave_sim::load().expect("a driver");
//!     let n = 64;
//!     let ctx = cuweave::context(0)?;
//!     let stream = ctx.new_stream()?;
//!     let w = stream.clone_htod(&vec![0.5_f32; 64 * 64])?;
//!     let x = stream.clone_htod(&vec![1.0_f32; 64])?;
//!     let mut out = stream.alloc_zeros::<f32>(64)?;
//!
//!     let graph = residual(&ctx, n, &w, &x, &mut out)?; // one cuGraphAdd* call per node
//!     let mut exec = graph.instantiate()?; // consumes the graph: one instantiation, no clone
//!     exec.launch(&stream)?;
//!     drop(exec);
//!     assert_eq!(stream.clone_dtoh(&out)?, vec![33.0; 64]);
//!     Ok(())
//! }
//! ```
//!
//! # Kernels
//!
//! [`#[kernels]`](macro@kernels) declares the kernels of a PTX file. The types of the parameters say what a kernel
//! does: a scalar stands by value, `&[T; len]` is read, `&mut [T; len]` read and written, `&mut [MaybeUninit<T>; len]`
//! written in all its elements before any is read, `&[Atomic<T>; len]` updated by atomics. `len` is an expression over
//! the kernel's own integers. The declaration is checked against the PTX while the crate compiles; the block's `unsafe`
//! vouches for what cannot be proved, and [`Report::vouched_for`](report::Report::vouched_for) lists it.
//!
//! Each kernel is an item, which `use`, paths and globs name. `nn::matvec::load(&ctx)` keeps the module of its block
//! loaded, so that graphs of it are built faster.
//!
//! # Graph functions
//!
//! [`#[graph]`](macro@graph) makes a function that builds a graph. In its body stand launches, `alloc`, `fill`, `copy`,
//! `free`, blocks, calls of other graph functions, `let` of scalars, loops, `if` and `match` on scalars, and `if`, `while` and
//! `match` on buffers; the [`prelude`] documents the words. Program order is the meaning: the graph keeps only the order that the accesses need.
//! `order = "explicit"` takes it from `#[after(..)]` alone, and proves that it suffices.
//!
//! A launch is `kernel[config](args);`. The configuration is `(grid, block)` or `(grid, block, shared_bytes)`, of `u32`
//! or tuples, a [`LaunchConfig`](prelude::LaunchConfig), or [`per_item(n)`](prelude::per_item).
//!
//! Mistakes are errors while the crate compiles, each with a code: reads of memory that nothing has written, uses after
//! a free, aliasing borrows, races. [`codes`] has a page for each.
//!
//! # Programs of parts
//!
//! Loops over ranges of scalars, `if` and `match` are decided when the graph is built. A call of a graph function is
//! replaced by its statements, which are ordered, batched and planned with the others:
//!
//! ```
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/nn.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
//! #     fn relu(x: &mut [f32; n], n: u32);
//! #     fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
//! # }
//! /// out = x + relu(w · x)
//! #[cuweave::graph]
//! fn layer(n: u32, w: &[f32; n * n], x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
//!     let h = alloc::<f32>(n);
//!     matvec[per_item(n)](&w, &x, &mut h, n);
//!     relu[per_item(n)](&mut h, n);
//!     add[per_item(n)](&x, &h, &mut out, n);
//! }
//!
//! /// As many layers as there are matrices in `w`.
//! #[cuweave::graph]
//! fn network(layers: u32, n: u32, rectified: bool, w: &[f32; layers * n * n], x: &[f32; n]) -> [f32; n] {
//!     let size = n * n; // a scalar
//!     let h = alloc::<f32>(n);
//!     let next = alloc::<f32>(n);
//!     copy(&x, &mut h);
//!     for i in 0..layers {
//!         layer(n, &w[i * size..(i + 1) * size], &h, &mut next);
//!         swap(&mut h, &mut next); // the names change places: no node
//!     }
//!     if rectified {
//!         relu[per_item(n)](&mut h, n);
//!     }
//!     h
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let stream = ctx.new_stream()?;
//! let w = stream.clone_htod(&[1.0_f32, 0.0, 0.0, 1.0].repeat(3))?; // three identities
//! let x = stream.clone_htod(&[-1.0_f32, 2.0])?;
//! let mut exec = network(&ctx, 3, 2, true, &w, &x)?.instantiate()?;
//! let y = exec.launch(&stream)?;
//! assert_eq!(stream.clone_dtoh(&y)?, [0.0, 16.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - An argument is lent by `&b` or `&mut b`, as to a kernel; the bare name of an allocation hands it over to a parameter
//!   `[T; len]`. A parameter `&mut [MaybeUninit<T>; len]` takes memory that nothing has written: the function writes it
//!   before it reads it, and in all on every path. An allocation that a function returns is its caller's, under a name
//!   that a `let` gives or that it had before: `x = layer(d, &x);`.
//! - `memory` and `budget` of the outermost function hold for all; `order` and `launches` hold for the statements of their
//!   own function. A function that calls itself, also by way of others, is an error: levels are a list of records, which loops
//!   walk down and up (`examples/10_multigrid.rs`).
//! - Loops count up or down: `for i in (0..n).rev()`, `for layer in layers.iter().rev()`. A `let` names scalars, fields, parts
//!   of arguments and launch configurations, also several: `let grid = ((n.div_ceil(16), rows), (16, 16));`,
//!   `let (fine, coarse) = (levels[i], levels[i + 1]);`.
//! - `swap(&mut a, &mut b);` and `a = b;` rename whole allocations of one length; `b` cannot be used after `a = b;` until
//!   it is assigned.
//! - While the crate compiles, a loop over scalars is checked without turns, with its first two, and with the last where a
//!   condition tells it, and a choice with all of its arms. The build checks the graph whole, so that a fault of another
//!   turn is an error there.
//! - A setter of a scalar reaches through calls, and so does the reason that there is none.
//!
//! # Conditions on the device
//!
//! `if`, `while` and `match` on a buffer `[u32; 1]` are conditional nodes: the device decides in each launch, with no host in
//! between. A kernel of the graph writes the buffer; `!flag` is the opposite. `examples/12_conjugate_gradient.rs` iterates to a
//! tolerance:
//!
//! ```
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("tests/kernels/decide.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn mix(x: &mut [u32; n], by: u32, n: u32);
//! #     fn count_down(x: &mut [u32; 1]);
//! # }
//! #[cuweave::graph]
//! fn turns(n: u32, x: &mut [u32; n], go: &mut [u32; 1], which: &[u32; 1]) {
//!     #[at_most(1000)]
//!     while go {
//!         match which {
//!             0 | 1 => mix[per_item(n)](&mut x, 1, n),
//!             _ => mix[per_item(n)](&mut x, 2, n),
//!         }
//!         count_down[(1, 1)](&mut go);
//!     }
//! }
//! ```
//!
//! - A body is ordered and planned like the rest; outside, its statement is one step. Arms exclude each other, so their
//!   temporaries share memory; those of a loop hold nothing at the begin of a turn. What the body uses from outside is in use in
//!   all of the loop.
//! - Written behind an `if` or a `match` is what all of its arms write; behind a `while`, nothing more than before. The value of a
//!   `match` is one of up to 8 literals, or `_`, which is the last arm.
//! - A `while` writes its operand in its body, or has a limit, `#[at_most(n)]`, or both. The exec returns the turns of a loop with a
//!   limit in the last launch, and whether the limit ended it: `exec.turns_solve()?.limit_hit()` for one that is labelled, as in
//!   `'solve: while go { .. }`, and `exec.turns("layer[2].solve")?` in called functions: see [`LoopTurns`]. Such a graph takes 2 MiB more.
//! - Names from outside keep their buffers in a body: no `swap`, `a = b`, `free` or handing over of them. Launches, fills, copies on
//!   the device, library calls, graph functions and further conditions stand in it; launches are not batched there.
//! - The buffer is an argument, an allocation or a part of one, or an element of a list, `flags[i]`. A field of a record is borrowed
//!   in an `if` and a `match`, `if &state.done { .. }`, since a bare one is a scalar there that the build chooses by; `while state.active`
//!   needs no `&`. A setter of the buffer is an error; setters of what bodies use work as elsewhere. Functions of explicit order hold no
//!   conditions.
//! - A [`builder::Builder`] has [`if_`](builder::Builder::if_), [`if_else`](builder::Builder::if_else),
//!   [`while_`](builder::Builder::while_), [`while_at_most`](builder::Builder::while_at_most) and
//!   [`match_`](builder::Builder::match_), whose bodies are closures.
//!
//! `examples/12_conjugate_gradient.rs` solves to a tolerance by a `while`, `examples/15_early_exit.rs` decodes with an early exit by an `if`.
//!   the device, library calls, graph functions and further conditions stand in it. Its launches are batched, fused and overlapped
//!   with each other, and with none outside.
//! - The buffer is an argument, an allocation or a part of one, and no field of a record, which is a scalar there. A setter of it is
//!   an error; setters of what bodies use work as elsewhere. Functions of explicit order hold no conditions.
//!
//! # Host statements and events
//!
//! `host(&a, &mut b, |a, b| ..)` runs a function on the host in the middle of each launch, on pinned memory: see [`prelude::host`].
//! `record(&event)` and `wait(&event)` let other streams meet the middle of a launch: see [`prelude::wait`]. Both are ordered as
//! statements of the device are. `examples/14_thermostat.rs` regulates a simulation.
//!
//! # Setters
//!
//! An exec has a setter for each argument. That of a scalar also moves the ranges that the scalar reaches: the addresses and
//! lengths of copies, fills and arguments, and the grids that depend on it.
//!
//! ```
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/nn.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn relu(x: &mut [f32; n], n: u32);
//! # }
//! /// Row `pos` of the cache becomes what is positive of `x`.
//! #[cuweave::graph]
//! fn keep(d: u32, rows: u32, pos: u32, x: &[f32; d], cache: &mut [f32; rows * d]) {
//!     copy(&x, &mut cache[pos * d..(pos + 1) * d]);
//!     relu[per_item(d)](&mut cache[pos * d..(pos + 1) * d], d);
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let stream = ctx.new_stream()?;
//! let x = stream.clone_htod(&[-1.0_f32, 2.0])?;
//! let cache = stream.alloc_zeros::<f32>(3 * 2)?;
//! let mut exec = keep(&ctx, 2, 3, 0, &x, cache)?.instantiate()?;
//! for pos in [2, 0] {
//!     exec.set_pos(pos)?;
//!     exec.launch(&stream)?;
//! }
//! assert_eq!(stream.clone_dtoh(&exec.args().cache)?, [0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
//! assert!(matches!(exec.set_pos(3), Err(cuweave::Error::Range { lo: 6, hi: 8, len: 6, .. })));
//! # Ok(())
//! # }
//! ```
//!
//! - The order of the graph holds for every value: ranges that some values make overlap are ordered, however far apart they
//!   are when the graph is built. Ranges, extents and what launches write are checked anew at each set; after an error the
//!   exec is as it was. A launch in flight keeps its values.
//! - A scalar that a length, a loop, an `if`, a `match` or the budget depends on has no setter, in a callee either: rustc
//!   says at the call of `set_n` what depends on `n`.
//! - Two errors say to build again, [`Error::BuildAgain`]: where members of a batch would get different configurations, and
//!   where a range is proved right for the first value alone.
//!
//! # Records
//!
//! A record is a struct of buffers with its own integers, from which their lengths are computed: a layer with its weights
//! and its cache. A slice of records, or of buffers, is as long as it is when the graph is built.
//!
//! ```
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/nn.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
//! #     fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
//! # }
//! #[cuweave::arguments] // adds the lifetime, and `Layer::new`
//! struct Layer {
//!     d: u32,
//!     w: &[f32; d * d],
//!     bias: &[f32; d],
//!     last: &mut [f32; d],
//! }
//!
//! #[cuweave::graph]
//! fn layer(n: u32, layer: Layer<'_>, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
//!     let h = alloc::<f32>(n);
//!     matvec[per_item(n)](&layer.w, &x, &mut h, layer.d);
//!     add[per_item(n)](&h, &layer.bias, &mut out, n);
//!     copy(&h, &mut layer.last);
//! }
//!
//! #[cuweave::graph]
//! fn network(n: u32, x: &[f32; n], layers: &[Layer<'_>]) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     copy(&x, &mut h);
//!     for one in &layers {
//!         let next = alloc::<f32>(n);
//!         layer(n, one, &h, &mut next);
//!         h = next;
//!     }
//!     h
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let stream = ctx.new_stream()?;
//! let w = stream.clone_htod(&[1.0_f32, 0.0, 0.0, 1.0])?;
//! let bias = stream.clone_htod(&[1.0_f32, 2.0])?;
//! let x = stream.clone_htod(&[0.0_f32, 0.0])?;
//! let layers = (0..3).map(|_| Ok(Layer::new(2, &w, &bias, stream.alloc_zeros(2)?)));
//! let layers: Vec<Layer<'_>> = layers.collect::<cuweave::Result<_>>()?;
//! let mut exec = network(&ctx, 2, &x, layers)?.instantiate()?;
//! assert_eq!(stream.clone_dtoh(&exec.launch(&stream)?)?, [3.0, 6.0]);
//! let other = stream.clone_htod(&[5.0_f32, 5.0])?;
//! exec.layers(1)?.set_bias(other)?; // one field of one element
//! assert_eq!(stream.clone_dtoh(&exec.launch(&stream)?)?, [7.0, 9.0]);
//! assert_eq!(stream.clone_dtoh(&exec.args().layers[2].last)?, [6.0, 7.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - Fields are scalars, `&[T; len]`, `&mut [T; len]`, arrays and slices of these, and records, alone, in arrays
//!   and in slices. A record is bound by value, a slice as a `Vec`; `into_args()` gives them back.
//! - `&layer.w`, `&mut layer.last` and `atomic(&mut layer.last)` are buffers, and so are ranges of them; a bare `layer.d`
//!   is a scalar, also in conditions and lengths. A record, a slice or an array goes to a graph function by its name,
//!   one that is a field as `record(layer.inner)` or `&layer.inner`.
//! - `for layer in &layers`, `for (i, layer) in layers.iter().enumerate()`, or by index: `layers[i]`, `layers.len()`.
//!   An index that is not below the length is an error of the build. `#[at_least(1)]` on a slice or a scalar says that
//!   a loop over it has a turn, which the build checks.
//! - While the crate compiles, parts with different indices count as different buffers. The build knows the
//!   indices: it orders what conflicts, and refuses a launch that borrows one buffer twice in conflict.
//! - `exec.layers(i)?.set_w(..)`, `exec.layer().inner().set_w(..)`: a setter for each field. A scalar that a length, a loop
//!   or a choice depends on cannot be set.
//!
//! # Graphs that are known only when the program runs
//!
//! A [`Builder`](builder::Builder) has the statements as calls, for frameworks and for graphs that a description says. It checks what
//! the macro checks, and makes the same graph.
//!
//! # Library calls
//!
//! [`#[call]`](macro@call) declares a function whose body enqueues work in a stream: a call of cuBLAS or of a library of your
//! own. A graph function calls it like a graph function. When the graph is built, the body runs once and its work is captured
//! into the graph, where the accesses that its parameters declare order it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use cuweave::cudarc::driver::{CudaFunction, DevicePtr, DevicePtrMut, DriverError, PushKernelArg};
//! use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/nn.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn relu(x: &mut [f32; n], n: u32);
//! # }
//!
//! /// A library's handle: it is made before any graph.
//! struct Library {
//!     add: CudaFunction,
//! }
//!
//! impl Library {
//!     /// The floats that a sum of `n` needs for itself.
//!     fn workspace(&self, n: u32) -> u32 {
//!         n
//!     }
//! }
//!
//! /// out = a + b + b
//! #[cuweave::call]
//! unsafe fn sum(
//!     stream: &CallStream,                                // all work goes there
//!     library: &Library,                                  // a host value
//!     a: &[f32; n],                                       // read: a `CudaView` in the body
//!     b: &[f32; n],
//!     out: &mut [MaybeUninit<f32>; n],                    // written: a `CudaViewMut`
//!     workspace: [f32; library.workspace(n)],             // memory of this call alone
//!     n: u32,
//! ) -> Result<(), DriverError> {
//!     let threads = LaunchConfig::for_num_elems(n);
//!     unsafe {
//!         stream.launch_builder(&library.add).arg(a).arg(b).arg(&mut *workspace).arg(&n).launch(threads)?;
//!         // A library of C takes addresses, and the raw stream: `stream.cu_stream()`.
//!         let (part, _guard) = workspace.device_ptr(stream);
//!         let (b, _guard) = b.device_ptr(stream);
//!         let (out, _guard) = out.device_ptr_mut(stream);
//!         stream.launch_builder(&library.add).arg(&part).arg(&b).arg(&out).arg(&n).launch(threads)?;
//!     }
//!     Ok(())
//! }
//!
//! #[cuweave::graph]
//! fn network(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
//!     let h = alloc::<f32>(n);
//!     sum(&library, &x, &x, &mut h, n); // neither the stream nor the workspace
//!     relu[per_item(n)](&mut h, n);
//!     sum(&library, &h, &x, &mut out, n);
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let stream = ctx.new_stream()?;
//! # let ptx = cuweave::cudarc::nvrtc::Ptx::from_src(include_str!("../examples/kernels/nn.ptx"));
//! # let add = ctx.load_module(ptx)?.load_function("add")?;
//! let library = Arc::new(Library { add });
//! let x = stream.clone_htod(&[-1.0_f32, 2.0])?;
//! let mut out = stream.alloc_zeros::<f32>(2)?;
//! let mut exec = network(&ctx, 2, library, &x, &mut out)?.instantiate()?;
//! exec.launch(&stream)?;
//! assert_eq!(exec.report().calls, 2);
//! drop(exec);
//! assert_eq!(stream.clone_dtoh(&out)?, [-2.0, 10.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - The `unsafe` is your word that the body only enqueues work in `stream`, that it touches no device memory but its parameters,
//!   and does with them what their types say. What can be seen is an error of the build with the name and the line of the call
//!   ([`error::CallFault`]): an error of the body, a panic, a wait on the host, an allocation, a stream that is not joined.
//! - `&[T; len]` is read, `&mut [T; len]` read and written, `&mut [MaybeUninit<T>; len]` all written; scalars stand by value. The
//!   body is given views of cudarc without events, which its libraries take (`DevicePtr`, `DevicePtrMut`, `DeviceSlice`).
//! - `workspace: [T; len]` is a temporary, aligned to 256 bytes: calls that may run at the same time never share it, and calls in
//!   order do. A length of 0 gives no memory, and a null address. A cuBLAS handle is given it by `cublasSetWorkspace`, after
//!   each `cublasSetStream`.
//! - A host value `&T` is bound to a `&T` or an `Arc<T>`, and passed to calls and host statements alone. Handles, plans and heuristics are made before
//!   the graph. One whose own device memory the work uses is passed as an `Arc`, so that a forgotten exec keeps it. A
//!   resource, `&mut T`, is given to one call after the other, in the order of the program.
//! - The body may run again until the graph is instantiated, and at the same time in builds on other threads.
//! - Nothing that a call was captured with can be set: [`Error::BuildAgain`].
//! - Type parameters are those of elements and scalars, and of expressions of lengths: the buffers at the call say them.
//!
//! Products of matrices are calls of the module `blas`, behind the feature of that name. `docs/library-calls.md` brings in cuFFT;
//! `docs/devices.md` puts the work of several devices into one graph.
//!
//! # Graphs and execs
//!
//! The function returns a [`Graph`], bound to its arguments: [`bind`] lists the types that each takes.
//! [`Graph::instantiate`] returns the generated type `residual::Exec`, in whose documentation all methods stand:
//! `launch`; the setters, which update only the nodes that use an argument; `args()` and `args_mut()`, views of
//! the bound buffers; `into_args()`, which gives them back; `report()` and `dot()`. An exec owns or borrows every
//! buffer that it uses, and waits for its last launch before it gives one back: no order of drops leads to a use after
//! free.
//!
//! ```
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/nn.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn relu(x: &mut [f32; n], n: u32);
//! # }
//! #[cuweave::graph]
//! fn rectified(n: u32, x: &[f32; n]) -> [f32; n] {
//!     let y = alloc::<f32>(n);
//!     copy(&x, &mut y);
//!     relu[((n.div_ceil(128), 1), 128, 0)](&mut y, n);
//!     y // leaves the graph: `launch` returns it
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let stream = ctx.new_stream()?;
//! let x = stream.clone_htod(&[-1.0_f32, 2.0])?;
//! let mut exec = rectified(&ctx, 2, x)?.instantiate()?; // `x` by value: the exec owns it
//! let y = exec.launch(&stream)?; // borrows the exec, and is freed when it is dropped
//! assert_eq!(stream.clone_dtoh(&y)?, [0.0, 2.0]);
//! drop(y);
//! exec.set_x(stream.clone_htod(&[3.0_f32, -4.0])?)?;
//! assert_eq!(stream.clone_dtoh(&exec.launch(&stream)?)?, [3.0, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Memory that host and device share
//!
//! [`Managed`] memory binds like a [`Buffer`], and to host statements; the host reaches it by [`Managed::host`] and [`Managed::host_mut`].
//! `#[advise(..)]`, `#[prefetch(..)]` and `#[discard]` on its arguments guide the driver; `docs/unified-memory.md` of the repository
//! describes them.
//!
//! [`multicast`] has memory of several devices that one write reaches.
//!
//! # Shared buffers
//!
//! A [`Buffer`] is device memory that any number of execs bind, to be read or written: a cache that one graph fills and
//! another extends, weights that are trained and evaluated. Each launch comes after all earlier ones that conflict with
//! it, on whatever streams and threads. On one stream that asks nothing of the driver.
//!
//! ```
//! use cuweave::Buffer;
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/rebind.ptx")]
//! # unsafe extern "ptx-kernel" {
//! #     fn append(cache: &mut [f32; rows * n], x: &[f32; n], pos: u32, rows: u32, n: u32);
//! #     fn mean(cache: &[f32; rows * n], out: &mut [MaybeUninit<f32>; n], pos: u32, rows: u32, n: u32);
//! # }
//!
//! #[cuweave::graph]
//! fn prefill(n: u32, rows: u32, tokens: u32, prompt: &[f32; tokens * n], cache: &mut [f32; rows * n]) {
//!     copy(&prompt, &mut cache[..tokens * n]);
//! }
//!
//! /// Row `pos` of the cache becomes x, and out the mean of all rows so far.
//! #[cuweave::graph]
//! fn decode(n: u32, rows: u32, pos: u32, x: &[f32; n], cache: &mut [f32; rows * n], out: &mut [f32; n]) {
//!     append[per_item(n)](&mut cache, &x, pos, rows, n);
//!     mean[per_item(n)](&cache, &mut out, pos, rows, n);
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let [stream, other] = [ctx.new_stream()?, ctx.new_stream()?];
//! let cache = Buffer::<f32>::zeros(&stream, 8 * 2)?;
//! let out = Buffer::<f32>::zeros(&stream, 2)?;
//! let prompt = Buffer::from_host(&stream, &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let x = Buffer::from_host(&stream, &[8.0_f32, 9.0])?;
//! let mut prefill = prefill(&ctx, 2, 8, 2, &prompt, &cache)?.instantiate()?;
//! let mut decode = decode(&ctx, 2, 8, 2, &x, &cache, &out)?.instantiate()?;
//! prefill.launch(&stream)?;
//! decode.launch(&other)?; // waits for the prefill
//! assert_eq!(out.to_host(&stream)?, [4.0, 5.0]);
//! x.copy_from_host(&stream, &[0.0, 5.0])?; // the host picks what comes next
//! decode.set_pos(3)?;
//! decode.launch(&other)?;
//! assert_eq!(out.to_host(&stream)?, [3.0, 5.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Memory
//!
//! Temporaries share bytes where the graph's order allows it, and no order is added for that unless a `budget` asks for
//! it. `memory = "arena"`, `"nodes"` or `"owned"` says who allocates. Execs that are launched on one stream can share
//! one arena, an [`ArenaPool`]. [`Report::plan`](report::Report::plan) has the bytes and their lower bound,
//! [`Graph::memory_svg`] draws them, and [`memory`] asks the device's graph pool.
//!
//! `exec.profile(&stream, 20)?` measures the time of each statement: a [`profile::Profile`] is a table, a picture and a trace.
//!
//! # Errors
//!
//! Everything that can fail returns [`Result`]. An [`Error`] names the buffer or the statement with its file and line,
//! prints as its text by `Debug` too, so that `main` can return it, and has the driver's error as its
//! [`source`](std::error::Error::source). `?` takes cudarc's errors as well.
//!
//! # Without a GPU
//!
//! The crate `cuweave-sim` is a CUDA driver that runs PTX on the CPU and reports races, uses after free and reads of
//! memory that nothing has written: call `cuweave_sim::load()` first in a test.
//!
//! # Features
//!
//! - `half`: `f16` and `bf16` of the crate `half` (2.x) as elements and scalars, `&[half::f16; n]` in kernels and graphs
//!   alike; `f16` is its earlier name;
//! - `blas`: products of matrices by cuBLASLt, in the module `blas`;
//! - `cuda-version-from-build-system` and `fallback-latest`, both on: the CUDA version of cudarc's bindings. No CUDA toolkit is
//!   needed to build.

#![deny(missing_debug_implementations)]

// The calls of `blas` are declared by the crate's own attribute.
#[cfg(feature = "blas")]
extern crate self as cuweave;

pub use cudarc;
#[doc(inline)]
pub use cuweave_core::runtime::{
    AnyBits, ArenaPool, Buffer, CallStream, Error, Exec, Flag, Graph, GraphFn, Loaded, LoopTurns, Managed,
    Output, Pinned, Result, Semaphore, SemaphoreHandle, context,
};
pub use cuweave_macros::{arguments, call, graph, kernels};

#[cfg(feature = "blas")]
pub mod blas;
#[cfg(doctest)]
mod borrows;
pub mod codes;
pub mod guide;
pub mod multicast;
#[cfg(doctest)]
mod pages;
pub mod prelude;

pub mod bind {
    //! The arguments of graphs: the traits of types that bind, and the types that they are bound as.
    //!
    //! | declared | takes | is bound as |
    //! |---|---|---|
    //! | `&[T; len]` | [`BindShared`] | [`Shared`] |
    //! | `&mut [T; len]` | [`BindMut`] | [`Exclusive`] |
    //! | `&Pinned<[T; len]>` | [`BindPinned`] | [`SharedPinned`] |
    //! | `&mut Pinned<[T; len]>` | [`BindPinnedMut`] | [`ExclusivePinned`] |
    //! | `&mut [MaybeUninit<T>; len]` | [`BindMut`] | [`Exclusive`] |
    //! | `[T; len]` | [`BindTaken`] | [`Taken`] |
    //!
    //! `&[T; len]` and `&mut [T; len]` take a [`Buffer`](crate::Buffer) or [`Managed`](crate::Managed) memory by reference or by value.

    #[doc(inline)]
    pub use cuweave_core::runtime::{
        BindHost, BindKept, BindMut, BindPinned, BindPinnedMut, BindResource, BindShared, BindTaken,
        BoundBuffer, DeviceView, DeviceViewMut, Exclusive, ExclusivePinned, FlagValue, Host, PinnedViewMut,
        Resource, Shared, SharedPinned, Taken,
    };
}

pub mod builder;

/// The parts of [`Managed`] memory.
pub mod managed {
    #[doc(inline)]
    pub use cuweave_core::runtime::{Attach, Attributes, HostView, HostViewMut, Location, ManagedFault};
}

/// The parts of an [`Output`], an allocation that leaves a graph.
pub mod output {
    #[doc(inline)]
    pub use cuweave_core::runtime::{OutputBuffer, OutputDescription, OutputView, OutputViewMut};
}

/// The machine code of kernels, kept on disk from one process to the next.
pub mod code {
    #[doc(inline)]
    pub use cuweave_core::runtime::{CodeCache, set_code_cache};
}

/// The types of reports: [`Graph::report`], [`Graph::times`] and [`Graph::budget_curve`].
pub mod report {
    #[doc(inline)]
    pub use cuweave_core::runtime::{
        Apart, AssumedRegisters, Budget, BudgetStep, BuildTimes, Change, CurvePoint, DeclaredPart, Forwarded,
        FullEdge, InLane, LeftAlone, LeftUnwritten, NamedKernel, Plan, Repeated, Report, VouchedFor,
        WhyApart, WhyFull,
    };
}

/// Profiles: the time of each statement of a graph, by `exec.profile(&stream, launches)`.
///
/// A [`Profile`](profile::Profile) is printed as a table, and drawn as an SVG and as a Chrome trace. `docs/profiling.md` of the
/// repository says how its times are measured.
pub mod profile {
    #[doc(inline)]
    pub use cuweave_core::runtime::{Profile, ProfileEntry as Entry, ProfileMember as Member, Times, Turns};
}

/// The device's graph pool: the memory behind the alloc nodes of all graphs.
pub mod memory {
    #[doc(inline)]
    pub use cuweave_core::runtime::{GraphPool, graph_pool, reset_graph_pool_high, trim_graph_pool};
}

/// The parts of an [`Error`].
pub mod error {
    #[doc(inline)]
    pub use cuweave_core::runtime::{
        At, CallFault, DeviceFault, DriverFailure, FailedCall, Fault, Inaccessible, ModuleFailure, Refusal,
        ShortLaunch,
    };
}

#[doc(hidden)]
pub mod __private;
