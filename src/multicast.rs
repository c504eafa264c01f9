//! Multicast objects: memory of several devices under one address, so that one write reaches all of them
//! (`cuMulticast*`).
//!
//! The types enforce the order of steps: devices are added to a [`Forming`]; a [`Complete`] can be bound to
//! memory and mapped; a [`Binding`] and a [`Mapping`] keep the object alive and can be dropped in any order.
//! The driver blocks in a bind or a map until all devices were added. Only `Complete` has these methods, so
//! no program waits for a device that nobody adds. Sizes and offsets are checked before the driver gets them.
//! All are in bytes. Errors are [`Error::Multicast`](crate::Error::Multicast) with a [`MulticastFault`].
//!
//! ```standalone_crate
//! use cuweave::multicast::{Forming, Memory};
//!
//! # fn main() -> cuweave::Result<()> {
//! # // SAFETY: no other thread runs. The simulated driver reads its settings when it is loaded.
//! # unsafe { std::env::set_var("CUWEAVE_SIM_DEVICES", "2") };
//! # let driver = cuweave_sim::load().expect("a driver");
//! # if !driver.is_simulated() { return Ok(()); }
//! const MIB: u64 = 1 << 20;
//! let contexts = [cuweave::context(0)?, cuweave::context(1)?];
//! let streams = [contexts[0].new_stream()?, contexts[1].new_stream()?];
//! let memory = [Memory::zeros(&streams[0], 2 * MIB)?, Memory::zeros(&streams[1], 2 * MIB)?];
//!
//! let mut forming = Forming::new(&contexts, 2 * MIB)?;
//! forming.add(&contexts[0])?;
//! forming.add(&contexts[1])?;
//! let object = forming.complete()?; // an error unless both were added
//! let bindings = [object.bind(0, &memory[0], 0, 2 * MIB)?, object.bind(0, &memory[1], 0, 2 * MIB)?];
//! let all = object.map()?;
//! all.write(&streams[0], 64, &[1.0_f32, 2.0])?; // one write, to both
//! assert_eq!(memory[0].read::<f32>(&streams[0], 64, 2)?, [1.0, 2.0]);
//! assert_eq!(memory[1].read::<f32>(&streams[1], 64, 2)?, [1.0, 2.0]);
//! drop((object, bindings, all)); // in any order
//! # Ok(())
//! # }
//! ```
//!
//! Nothing can be bound to an object before all of its devices were added:
//!
//! ```compile_fail,E0599
//! # use cuweave::multicast::{Binding, Forming, Memory};
//! fn bind(forming: &Forming, memory: &std::sync::Arc<Memory>) -> cuweave::Result<Binding> {
//!     forming.bind(0, memory, 0, 2 << 20)
//! }
//! ```
//!
//! nor can it be mapped:
//!
//! ```compile_fail,E0599
//! # use cuweave::multicast::{Forming, Mapping};
//! fn map(forming: &Forming) -> cuweave::Result<Mapping> {
//!     forming.map()
//! }
//! ```
//!
//! No device can be added to a complete object, because `complete` consumes the forming one:
//!
//! ```compile_fail,E0382
//! # use cuweave::multicast::Forming;
//! # use std::sync::Arc;
//! fn late(mut forming: Forming, ctx: &Arc<cuweave::cudarc::driver::CudaContext>) -> cuweave::Result<()> {
//!     let object = forming.complete()?;
//!     forming.add(ctx)
//! }
//! ```
//!
//! Memory can be unbound only once:
//!
//! ```compile_fail,E0382
//! # use cuweave::multicast::Binding;
//! fn twice(binding: Binding) -> cuweave::Result<()> {
//!     binding.unbind()?;
//!     binding.unbind()?;
//!     Ok(())
//! }
//! ```
//!
//! # Teams
//!
//! If each device has its own thread, [`team`] gives one [`Member`] to each. [`Forming::join`] makes one
//! object for all, and [`Forming::complete`] waits until all members have added their devices. If a member is
//! dropped or its thread panics, the others get an error ([`MulticastFault::MemberGone`]), and the same if a
//! member does not arrive in time ([`MulticastFault::TimedOut`]): nobody hangs.
//!
//! # Graphs
//!
//! Graph functions take `&memory` as `&[T; len]` or `&mut [T; len]`, and `&mapping` as `&[Multimem<T>; len]` or
//! `&mut [Multimem<T>; len]`; [`Memory::slice`] and [`Mapping::slice`] give parts of them. Only kernels use
//! [`Multimem`] elements, by `multimem` instructions. [`all_reduce`](fn@all_reduce) is a graph function that sums
//! the memory of all devices. [The reference](crate::reference::multicast) has an example, also with a kernel of
//! your own. Uses of the memory and of the mapping are ordered, in one graph, between graphs, and with copies.
//!
//! An ordinary argument does not take a mapping:
//!
//! ```compile_fail,E0277
//! # use cuweave::multicast::Mapping;
//! # use cuweave::prelude::*;
//! # #[cuweave::kernels("examples/kernels/multicast.ptx")]
//! # unsafe extern "ptx-kernel" { fn raise(x: &mut [f32; n], by: f32, n: u32); }
//! #[cuweave::graph]
//! fn raised(n: u32, x: &mut [f32; n]) {
//!     raise[per_item(n)](&mut x, 1.0, n);
//! }
//! # fn build(ctx: &std::sync::Arc<cuweave::cudarc::driver::CudaContext>, all: &Mapping) -> cuweave::Result<()> {
//! raised(ctx, 8, all)?;
//! # Ok(())
//! # }
//! ```
//!
//! and one with elements `Multimem` takes no other memory:
//!
//! ```compile_fail,E0277
//! # use cuweave::multicast::Memory;
//! # use cuweave::prelude::*;
//! # use std::sync::Arc;
//! # #[cuweave::kernels("examples/kernels/multicast.ptx")]
//! # unsafe extern "ptx-kernel" { fn reduce(all: &mut [Multimem<f32>; n], n: u32); }
//! #[cuweave::graph]
//! fn reduced(n: u32, all: &mut [Multimem<f32>; n]) {
//!     reduce[per_item(n)](&mut all, n);
//! }
//! # fn build(ctx: &Arc<cuweave::cudarc::driver::CudaContext>, memory: &Arc<Memory>) -> cuweave::Result<()> {
//! reduced(ctx, 8, memory)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! - Objects belong to one process and are not exported to others. Pool memory cannot be bound.
//! - The driver does not officially support a memcpy to a multicast address. [`Mapping::write`] is one and works on
//!   the simulator; write to each [`Memory`] instead.
//! - All of this was run only on the simulator, never on hardware, where it is an error
//!   ([`MulticastFault::NotAllowed`]) without [`allow_on_hardware`]. It first queries
//!   `CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED` of every device, and makes no other call if that is 0
//!   ([`MulticastFault::Unsupported`]). Real devices need an NVLink switch that is configured for multicast.
//! - The simulator has multicast objects with two or more devices of compute capability 9.0 or higher, unless
//!   `CUWEAVE_SIM_MULTICAST` is `0`.

mod calls;

pub use calls::all_reduce;
#[cfg(feature = "half")]
pub use calls::{all_reduce_bf16, all_reduce_f16};
#[doc(inline)]
pub use cuweave_runtime::MulticastFault;
#[doc(inline)]
pub use cuweave_runtime::multicast::{
    Binding, Complete, Forming, Granularity, Mapping, Member, Memory, MemoryElement, Multimem,
    MultimemElement, allow_on_hardware, granularity, is_supported, team,
};
