//! PTX on the CPU.
//!
//! [`Program::decode`] turns a module into code over numbered register slots; [`run`] executes an entry of it. The
//! rules:
//!
//! - A warp's lanes at the same instruction execute it together: registers are rows of 32 values. Lanes
//!   that diverge run one group after the other, deepest call and lowest address first, in slices, so that every
//!   thread makes progress and groups meet again where they must.
//! - Warps of a block take turns on one thread of the host; blocks are spread over the host's cores, and take turns
//!   too when there are fewer cores than blocks that wait for each other.
//! - Generic addresses: shared, local and parameter memory have windows that no allocation can have ([`SHARED`],
//!   [`LOCAL`], [`PARAM`]); every other address is the [`Memory`]'s. Constant memory is ordinary memory.
//! - Every access is checked for liveness, bounds and alignment before it happens, and for bytes that were never
//!   written. A fault ends the launch; nothing that a kernel does can end the process.
//! - An unknown instruction makes exactly those functions unusable that can reach it by calls.
//!
//! Not simulated: textures and surfaces, `wgmma` and `tcgen05`, tensor maps (`cp.async.bulk.tensor`), multicast, sparse and
//! block-scaled `mma`, `.b128` and vector registers, clusters of more than one block, launches from kernels, `malloc`
//! (always out of memory), the device heap, and weak memory: stores are seen in the order of the host. Asynchronous copies
//! are done when they are started, so a missing wait does not show. Approximations are correctly rounded or nearly so,
//! which is within their documented error, but not the hardware's bits.
//!
//! A launch that depends on grids which have not ended yet runs in two parts: [`run_until_wait`] runs every block up to
//! its wait, and [`run`] continues from there.
//!
//! Conflicts between warps are detected in shared memory and in global memory ([`Options::conflicts`]).

mod code;
mod decode;
mod exec;
mod fault;
mod grid;
mod launch;
mod number;
mod program;
mod space;

pub use exec::{Paused, run, run_until_wait};
pub use fault::{Fault, FaultKind};
pub use grid::Blocks;
pub use launch::{Launch, Options, PreWait, Stats};
pub use program::{Entry, GlobalVariable, Program};
pub use space::{
    ATOMIC, CODE, GRID, INITIALISED, LOCAL, Memory, PAGE, PARAM, PRE_WAIT, READ, Region, SHARED, Setter,
    WRITTEN,
};
