//! Multicast objects: memory of several devices under one address, which one write reaches (`cuMulticast*`).
//!
//! An object is made in an order that types keep: [`Forming`], to which devices are added; [`Complete`], to which memory is bound and
//! which is mapped; [`Binding`] and [`Mapping`], which keep it alive, and end in any order. The driver blocks in a bind or a map until
//! all devices were added: these are methods of `Complete` alone, so no program waits for a device that nobody adds. Sizes and offsets
//! are checked before the driver sees them. All are in bytes; errors are [`Error::Multicast`](crate::Error::Multicast) with a
//! [`MulticastFault`].
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
//! Nothing can be bound to an object that has not all of its devices:
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
//! No device can be added to a complete object, since `complete` takes the forming one:
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
//! Memory is unbound once:
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
//! Where each device has a thread of its own, [`team`] gives one [`Member`] to each. [`Forming::join`] makes one object for all, and
//! [`Forming::complete`] waits until all members have added their device. A member that is dropped, or whose thread panics, is an error of the others
//! ([`MulticastFault::MemberGone`]), and so is one that does not come in time ([`MulticastFault::TimedOut`]): nobody hangs.
//!
//! # Limits
//!
//! - Objects are of one process: they are not exported to others. Memory of pools is not bound, and no graph binds a [`Mapping`]. Kernels of the
//!   caller's use [`Mapping::address`] by `multimem` instructions, which the simulated driver does not run.
//! - All of this was run on the simulated driver alone, never on hardware. It asks `CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED` of every
//!   device first, and calls nothing else where that is 0 ([`MulticastFault::Unsupported`]). Devices of hardware need an NVLink switch
//!   that is configured for multicast.
//! - The simulated driver has multicast objects with two or more devices of compute capability 9.0 or higher, unless `CUWEAVE_SIM_MULTICAST` is `0`.

#[doc(inline)]
pub use cuweave_runtime::MulticastFault;
#[doc(inline)]
pub use cuweave_runtime::multicast::{
    Binding, Complete, Forming, Granularity, Mapping, Member, Memory, granularity, is_supported, team,
};
