//! Collectives of several devices in graphs: calls of NCCL, captured, and compared between ranks before anything can hang.
//!
//! ```no_run
//! use cuweave::nccl::{Communicator, Reduce, all_reduce};
//! use cuweave::prelude::*;
//!
//! /// The gradients of `d` devices become their mean, on each.
//! #[cuweave::graph(devices = d)]
//! fn mean(d: u32, n: u32, comm: &Communicator, grads: &[&mut [f32; n]]) {
//!     for i in 0..d {
//!         #[on(i)]
//!         all_reduce(&comm, &mut grads[i], Reduce::Avg, n);
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let contexts = [cuweave::context(0)?, cuweave::context(1)?];
//! let streams = [contexts[0].new_stream()?, contexts[1].new_stream()?];
//! let comm = Communicator::of_all(&contexts)?; // before any graph
//! let mut grads = [streams[0].clone_htod(&[1.0_f32; 4])?, streams[1].clone_htod(&[3.0_f32; 4])?];
//! let mut exec = mean(&contexts, 2, 4, &comm, grads.iter_mut().collect::<Vec<_>>())?.instantiate()?;
//! exec.launch(&streams[0])?;
//! exec.synchronize()?;
//! # Ok(())
//! # }
//! ```
//!
//! - A [`Communicator`] has one rank in this process, [`Communicator::new`], and the other processes build the same graph function; or all
//!   ranks, [`Communicator::of_all`], for one graph over all devices. A graph for each device in one process is not among them:
//!   launches of such graphs may wait for each other.
//! - [`all_reduce`](mod@all_reduce), [`all_reduce_to`](mod@all_reduce_to), [`reduce`](mod@reduce), [`broadcast`](mod@broadcast),
//!   [`all_gather`](mod@all_gather), [`reduce_scatter`](mod@reduce_scatter), and [`shift`](mod@shift), a send and a receive as one. Elements are
//!   [`Element`]s, and lengths are checked like those of all arguments.
//! - **Order.** A collective is ordered by what it reads and writes, and behind the collectives that are written before it for the same
//!   device, whatever their communicators. Ranks in one graph have no edges between them.
//! - **Agreement.** When a graph is built, each rank's collectives are compared with those of all others before anything is captured:
//!   operations, counts, types, roots and their order. A difference is an error of the build, on all ranks, that names the first collective
//!   that differs on both sides. `exec.collectives()` lists them, with a digest. So building a graph with collectives is itself collective.
//! - **Launches** of all graphs with collectives on a device follow each other, on whatever streams. All ranks launch them in one order: that is
//!   the program's to see to.
//! - **Errors.** `exec.synchronize()`, and whatever else waits for a launch in cuweave, asks NCCL for errors meanwhile. A communicator with one,
//!   or a launch that takes longer than [`Communicator::set_timeout`] says, is aborted, and the error is
//!   [`Error::Communicator`](crate::Error::Communicator). `stream.synchronize()` of cudarc does not ask.
//! - In the body of an `if`, `while` or `match` on a buffer there are no collectives: each rank's device decides there alone.
//! - In the driver's graph each rank's collective is a child-graph node, with NCCL's own nodes in it.
//! - NCCL is loaded when a communicator is made, and never linked. It reads its own environment: `NCCL_NVLS_ENABLE=0` keeps it from
//!   multicast objects, which cuweave does not touch.

mod agreement;
mod calls;
mod communicator;
mod element;
mod error;
mod library;

pub use calls::{all_gather, all_reduce, all_reduce_to, broadcast, reduce, reduce_scatter, shift};
pub use communicator::{Communicator, UniqueId};
pub use element::{Element, Reduce};
pub use error::Error;
