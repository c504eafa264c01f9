//! Programs that rustc must refuse: each would be a use after free or a race if it compiled.
//!
//! A buffer is dropped before the exec that borrows it:
//!
//! ```compile_fail,E0597
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn moves(n: u32, x: &[f32; n], out: &mut [f32; n]) {
//!     copy(&x, &mut out);
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = ctx.new_stream()?;
//!     let mut exec;
//!     {
//!         let (x, mut out) = (stream.alloc_zeros::<f32>(4)?, stream.alloc_zeros::<f32>(4)?);
//!         exec = moves(ctx, 4, &x, &mut out)?.instantiate()?;
//!         exec.launch(&stream)?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A buffer is read while a graph that may write it borrows it:
//!
//! ```compile_fail,E0502
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn clear(n: u32, out: &mut [f32; n]) {
//!     fill(&mut out, 0.0);
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = ctx.new_stream()?;
//!     let mut out = stream.alloc_zeros::<f32>(4)?;
//!     let mut exec = clear(ctx, 4, &mut out)?.instantiate()?;
//!     let seen = stream.clone_dtoh(&out)?;
//!     exec.launch(&stream)?;
//!     Ok(())
//! }
//! ```
//!
//! A graph is launched again while an output of the previous launch is alive:
//!
//! ```compile_fail,E0499
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn make(n: u32) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     fill(&mut h, 0.0);
//!     h
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = ctx.new_stream()?;
//!     let mut exec = make(ctx, 4)?.instantiate()?;
//!     let first = exec.launch(&stream)?;
//!     let second = exec.launch(&stream)?;
//!     drop(first);
//!     Ok(())
//! }
//! ```
//!
//! An output outlives its exec, which frees forgotten outputs:
//!
//! ```compile_fail,E0505
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn make(n: u32) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     fill(&mut h, 0.0);
//!     h
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = ctx.new_stream()?;
//!     let mut exec = make(ctx, 4)?.instantiate()?;
//!     let first = exec.launch(&stream)?;
//!     drop(exec);
//!     drop(first);
//!     Ok(())
//! }
//! ```
//!
//! A graph with memory nodes has two instances:
//!
//! ```compile_fail,E0382
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn make(n: u32) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     fill(&mut h, 0.0);
//!     h
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let graph = make(ctx, 4)?;
//!     let first = graph.instantiate()?;
//!     let second = graph.instantiate()?;
//!     Ok(())
//! }
//! ```
//!
//! It is cloned:
//!
//! ```compile_fail,E0599
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn make(n: u32) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     fill(&mut h, 0.0);
//!     h
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let graph = make(ctx, 4)?;
//!     let other = graph.clone();
//!     Ok(())
//! }
//! ```
//!
//! An output is freed by two graphs:
//!
//! ```compile_fail,E0382
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn make(n: u32) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     fill(&mut h, 0.0);
//!     h
//! }
//! #[cuweave::graph]
//! fn take(n: u32, h: [f32; n], out: &mut [f32; n]) {
//!     copy(&h, &mut out);
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = ctx.new_stream()?;
//!     let (mut a, mut b) = (stream.alloc_zeros::<f32>(4)?, stream.alloc_zeros::<f32>(4)?);
//!     let mut exec = make(ctx, 4)?.instantiate()?;
//!     let mut first = take(ctx, 4, exec.output(), &mut a)?.instantiate()?;
//!     let mut second = take(ctx, 4, exec.output(), &mut b)?.instantiate()?;
//!     let h = exec.launch(&stream)?;
//!     first.launch(&stream, (h,))?;
//!     second.launch(&stream, (h,))?;
//!     Ok(())
//! }
//! ```
//!
//! An exec is shared between threads:
//!
//! ```compile_fail,E0277
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn clear(n: u32, out: &mut [f32; n]) {
//!     fill(&mut out, 0.0);
//! }
//! fn shared<T: Sync>() {}
//! fn main() {
//!     shared::<cuweave::Exec<clear::Args<'static>>>();
//! }
//! ```
//!
//! Bound pinned memory is swapped for other memory:
//!
//! ```compile_fail,E0308
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn down(n: u32, x: &[f32; n], out: &mut Pinned<[f32; n]>) {
//!     copy(&x, &mut out);
//! }
//! fn swap<'a>(mut exec: cuweave::Exec<down::Args<'a>>, mut other: cudarc::driver::PinnedHostSlice<f32>) {
//!     std::mem::swap(exec.args_mut().out, &mut other);
//! }
//! ```
//!
//! The body of a library call keeps the memory of its call:
//!
//! ```compile_fail,E0521
//! use std::sync::Mutex;
//! use cuweave::prelude::*;
//! use cudarc::driver::{CudaView, DriverError};
//! #[cuweave::call]
//! unsafe fn keep(
//!     stream: &CallStream,
//!     kept: &Mutex<Vec<CudaView<'static, f32>>>,
//!     x: &[f32; n],
//!     n: u32,
//! ) -> Result<(), DriverError> {
//!     kept.lock().unwrap().push(x.slice(..));
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! A host value is dropped before the exec whose graph was captured with it:
//!
//! ```compile_fail,E0505
//! use cuweave::prelude::*;
//! use cudarc::driver::DriverError;
//! struct Handle(u32);
//! #[cuweave::call]
//! unsafe fn zero(stream: &CallStream, handle: &Handle, out: &mut [f32; n], n: u32) -> Result<(), DriverError> {
//!     stream.memset_zeros(out)
//! }
//! #[cuweave::graph]
//! fn zeros(n: u32, handle: &Handle, out: &mut [f32; n]) {
//!     zero(&handle, &mut out, n);
//! }
//! fn run(ctx: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = ctx.new_stream()?;
//!     let handle = Handle(1);
//!     let mut out = stream.alloc_zeros::<f32>(4)?;
//!     let mut exec = zeros(ctx, 4, &handle, &mut out)?.instantiate()?;
//!     drop(handle);
//!     exec.launch(&stream)?;
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! The same programs, corrected:
//!
//! ```
//! use cuweave::prelude::*;
//! #[cuweave::graph]
//! fn make(n: u32, x: &[f32; n]) -> [f32; n] {
//!     let h = alloc::<f32>(n);
//!     copy(&x, &mut h);
//!     h
//! }
//! fn moved<T: Send>() {}
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     moved::<cuweave::Exec<make::Args<'static>>>();
//!     moved::<cuweave::Graph<make::Args<'static>>>();
//!     moved::<cuweave::Output<'static, f32>>();
//!     cuweave_sim::load()?;
//!     let ctx = cuweave::context(0)?;
//!     let stream = ctx.new_stream()?;
//!     let x = stream.clone_htod(&[1.0_f32; 4])?;
//!     let mut exec = make(&ctx, 4, &x)?.instantiate()?;
//!     let first = exec.launch(&stream)?;
//!     drop(first);
//!     let second = exec.launch(&stream)?;
//!     assert_eq!(stream.clone_dtoh(&second)?, [1.0; 4]);
//!     Ok(())
//! }
//! ```
