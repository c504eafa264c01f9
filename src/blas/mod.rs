//! Matrix products in graphs: captured calls of cuBLASLt whose workspaces are planned.
//!
//! ```
//! use cuweave::blas::{Blas, Product, gemm, matmul_bias};
//! use cuweave::prelude::*;
//!
//! /// out = gelu(x · w + bias) · v, of row-major matrices.
//! #[cuweave::graph]
//! fn mlp(
//!     rows: u32,
//!     d: u32,
//!     ff: u32,
//!     blas: &Blas,
//!     x: &[f32; rows * d],
//!     w: &[f32; d * ff],
//!     bias: &[f32; ff],
//!     v: &[f32; ff * d],
//!     out: &mut [f32; rows * d],
//! ) {
//!     let h = alloc::<f32>(rows * ff);
//!     matmul_bias(&blas, &x, &w, &bias, &mut h, Product::row_major(rows, ff, d).gelu());
//!     gemm(&blas, &h, &v, &mut out, rows, d, ff);
//! }
//!
//! # fn main() -> cuweave::Result<()> {
//! # cuweave_sim::load().expect("a driver");
//! # let ctx = cuweave::context(0)?;
//! # let stream = ctx.new_stream()?;
//! let blas = Blas::new(&ctx)?; // before any graph
//! let x = stream.clone_htod(&[1.0_f32, 2.0, 3.0, 4.0])?;
//! let w = stream.clone_htod(&[8.0_f32, 0.0, 0.0, 8.0])?;
//! let bias = stream.clone_htod(&[0.0_f32, 4.0])?;
//! let v = stream.clone_htod(&[1.0_f32, 1.0, 0.0, 1.0])?;
//! let mut out = stream.alloc_zeros::<f32>(4)?;
//! let mut exec = mlp(&ctx, 2, 2, 2, &blas, &x, &w, &bias, &v, &mut out)?.instantiate()?;
//! exec.launch(&stream)?;
//! drop(exec);
//! assert_eq!(stream.clone_dtoh(&out)?, [8.0, 28.0, 24.0, 60.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`gemm`](mod@gemm) and [`gemv`](mod@gemv) take row-major matrices without gaps. [`matmul`](mod@matmul)
//!   takes a [`Product`], which has layouts, leading dimensions, batches, α and an activation.
//!   [`matmul_into`](mod@matmul_into) adds to c. [`matmul_bias`](mod@matmul_bias) and
//!   [`matmul_bias_into`](mod@matmul_bias_into) add a bias.
//! - Batches whose operands have constant strides are one product, [`Product::batch_strided`]. For others,
//!   loop over lists of buffers: `matmul(&blas, &a[i], &b[i], &mut c[i], p);`. These products can run
//!   concurrently, each with its own scratch.
//! - Elements are [`Element`]s. a and b have the same type, and c has that type or, for 16-bit elements,
//!   `f32`. Sums are accumulated in `f64` for `f64` and in `f32` for all others.
//! - Lengths, leading dimensions and overlaps are checked when the graph is built. The error names the statement.
//! - cuBLASLt's heuristic chooses the algorithm of each product and its workspace when the graph is built,
//!   before anything is captured, once for each layout. The workspace is scratch of the call. Products that
//!   may run concurrently never share it; ordered products do.
//! - cuBLAS is loaded by [`Blas::new`] and never linked. If it cannot be loaded, and on the simulator,
//!   cuweave's own kernels compute the same. A message on standard error says so once.
//! - An element differs from the exact result by at most (2 ε + (k + 4) · ε′) · S. S is the sum of the
//!   magnitudes of its terms, |α| · Σ |a| · |b| + |β · c| + |bias|; ε is the distance from 1 to the next
//!   number of the type of c, and ε′ the same for the type of the sums. If terms cancel, the error is
//!   therefore relative to the terms, not to the element: cuBLASLt may round to the type of c before it adds
//!   a bias. Partial sums over k are added in the type of the sums, also if c has 16 bits: algorithms that
//!   add them in c are excluded. cuweave's own kernels round once, at the end.
//! - cuBLASLt approximates GELU, which adds at most 10⁻⁸ for `f64` and 2⁻⁹ · S for all others. TF32 adds at
//!   most 2⁻⁹ · S.
//! - A product without terms, for k = 0 or α = 0, is β · c with bias and activation. It reads neither a nor b.
//! - Memory beyond the declared lengths is not accessed. Rows or columns with gaps between them are read in
//!   16-byte vectors only if their length in bytes is a multiple of 16.
//! - [`Blas::handle`] gives your own calls the handle of plain cuBLAS.

mod calls;
mod element;
mod error;
mod handle;
mod kernels;
mod library;
mod lt;
mod product;
mod raw;

pub use calls::{gemm, gemv, matmul, matmul_bias, matmul_bias_into, matmul_into};
#[doc(hidden)]
pub use element::ElementKind;
pub use element::{Element, ResultOf};
pub use error::Error;
pub use handle::Blas;
pub use product::Product;
pub use raw::Handle;
