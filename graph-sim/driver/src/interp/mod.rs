//! A PTX interpreter.
//!
//! [`Program::decode`] turns a module into code over numbered register slots, and [`run`] executes an entry of
//! it.
//!
//! - The lanes of a warp that are at the same instruction execute it together: registers are rows of 32 values.
//!   Groups of diverged lanes run one after the other, deepest call and lowest address first, so that they
//!   reconverge. Each group runs for a time slice, so that every thread makes progress.
//! - The warps of a block get time slices in rotation on one host thread. Blocks are distributed over the cores
//!   of the host. If there are more blocks that wait for each other than cores, the blocks get time slices, too.
//! - Shared, local and parameter memory have windows of generic addresses that no allocation can have
//!   ([`SHARED`], [`LOCAL`], [`PARAM`]). Every other address belongs to the [`GlobalMemory`]. Constant memory is
//!   ordinary memory.
//! - Before each access, liveness, bounds, alignment and initialisation are checked. A fault ends the launch. A
//!   kernel cannot end the process.
//! - An unknown instruction makes only those functions unusable that can reach it by calls.
//!
//! Not simulated: textures and surfaces, `wgmma` and `tcgen05`, tensor maps (`cp.async.bulk.tensor`), multicast to
//! clusters, `multimem` on 8-bit floats, sparse and block-scaled `mma`, `.b128` and vector registers, clusters of more
//! than one block, launches from kernels, `malloc` (always out of memory), the device heap, and weak memory: stores
//! become visible in the order of the host. Asynchronous copies are done when they are issued, so a missing wait is not
//! detected. Approximations are correctly rounded or nearly so, which is within their documented error, but they differ
//! from the hardware in the last bits.
//!
//! A launch whose prerequisite grids have not ended yet runs in two parts: [`run_until_wait`] runs every block up
//! to its wait, and [`run`] continues from there.
//!
//! Conflicts between warps in shared and global memory are detected if [`RunOptions::conflicts`] is set.

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
pub use grid::BlockBox;
pub use launch::{Launch, PreWait, RunOptions, RunOutcome};
pub use program::{Entry, GlobalVariable, Program};
pub use space::{
    ATOMIC, CODE, ConditionSetter, GRID, GlobalMemory, INITIALISED, LOCAL, PAGE, PARAM, PRE_WAIT, READ,
    Region, Replica, SHARED, WRITTEN,
};
