//! Collectives of several devices in graphs: captured calls of NCCL, compared between ranks before anything can hang.
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
//! - A [`Communicator`] has one rank in this process ([`Communicator::new`]), and the other processes build the
//!   same graph function; or it has all ranks ([`Communicator::of_all`]), for one graph over all devices. Several
//!   graphs in one process, each for one device, are not supported: their launches might wait for each other.
//! - The calls are [`all_reduce`](mod@all_reduce), [`all_reduce_to`](mod@all_reduce_to),
//!   [`reduce`](mod@reduce), [`broadcast`](mod@broadcast), [`all_gather`](mod@all_gather),
//!   [`reduce_scatter`](mod@reduce_scatter), and [`shift`](mod@shift), a combined send and receive. Elements
//!   are [`Element`]s. Lengths are checked like those of all arguments.
//! - **Order.** A collective is ordered by its accesses, and after all earlier collectives on the same
//!   device, whatever their communicators. Ranks in one graph have no edges between them.
//! - **Agreement.** When a graph is built, each rank's collectives are compared with the others' before
//!   anything is captured: operations, counts, types, roots and their order. A difference is an error of the
//!   build on all ranks, which shows the first differing collective on both sides. `exec.collectives()` lists
//!   the collectives with a digest. Building a graph with collectives is therefore itself collective.
//! - **Launches** of graphs with collectives on one device run one after the other, on whatever streams. All
//!   ranks must launch them in the same order; this is the program's responsibility.
//! - **Errors.** `exec.synchronize()`, and every other wait of cuweave for a launch, polls NCCL for errors. A
//!   communicator with an error, or a launch that exceeds [`Communicator::set_timeout`], is aborted, and the error
//!   is [`Error::Communicator`](crate::Error::Communicator). cudarc's `stream.synchronize()` does not poll.
//! - The body of an `if`, `while` or `match` on a buffer cannot contain collectives, because each rank's
//!   device decides alone.
//! - In the driver's graph each rank's collective is a child-graph node that contains NCCL's own nodes.
//! - NCCL is loaded when a communicator is created, and never linked. It reads its own environment:
//!   `NCCL_NVLS_ENABLE=0` keeps it from using multicast objects, which cuweave leaves alone.

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
