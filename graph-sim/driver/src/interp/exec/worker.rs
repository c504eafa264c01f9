//! The state of one host thread of a launch.

use super::access::RegionCache;
use super::access_log::{AccessLog, PageCache};
use crate::base::device::MULTIPROCESSORS;
use crate::interp::code::{InitialValue, SpecialRegister};
use crate::interp::fault::Fault;
use crate::interp::grid::{coordinates, volume};
use crate::interp::launch::{Launch, PreWait, RunOptions};
use crate::interp::space::{GRID, GlobalMemory};
use std::sync::atomic::AtomicBool;

/// The bytes of shared memory reserved for CUDA's own code, in addition to the program's.
pub const RESERVED_SHARED_BYTES: u32 = 1024;
/// A host thread that runs blocks.
pub struct Worker<'a> {
    pub launch: &'a Launch<'a>,
    pub options: &'a RunOptions,
    pub memory: &'a dyn GlobalMemory,
    pub regions: RegionCache<'a>,
    /// The shared memory of a block in bytes.
    pub shared: u32,
    /// The size in bytes of the shared memory reserved for CUDA's own code, with padding. It follows the
    /// program's.
    pub reserved: u32,
    pub instructions: u64,
    pub conflicts: Vec<Fault>,
    /// The access records of global memory; `None` if conflicts are not checked.
    pub watch: Option<&'a AccessLog>,
    pub pages: PageCache,
    /// True if a thread of this worker has passed `griddepcontrol.wait`.
    pub waited: bool,
    pub pre_wait: Vec<PreWait>,
    /// True if the prerequisite grids have not ended yet.
    pub until_wait: bool,
    /// True if a thread of the launch has passed `griddepcontrol.wait`.
    pub passed: &'a AtomicBool,
    pub ended: &'a AtomicBool,
}

impl Worker<'_> {
    /// Returns the initial value of a register row for one thread of block `id`, the `number`th block that runs.
    pub fn initial(&self, init: InitialValue, id: [u32; 3], number: u64, thread: u32, local: u32) -> u64 {
        let launch = self.launch;
        let entry = &launch.program.entries[launch.entry];
        let lane = thread % 32;
        let axis = |sizes: &[u32; 3], at: u8| sizes.get(usize::from(at)).copied().unwrap_or(0).into();
        match init {
            InitialValue::Const(value) => value,
            InitialValue::Global(number, offset) => {
                launch.variables.get(number as usize).copied().unwrap_or(0).wrapping_add(offset as u64)
            }
            InitialValue::Shared(number, offset) => {
                let start = entry.shared.get(number as usize).copied().flatten().unwrap_or(u32::MAX);
                u64::from(start.wrapping_add(offset as u32))
            }
            InitialValue::Local(offset) => u64::from(local.wrapping_add(offset as u32)),
            InitialValue::SpecialRegister(special) => match special {
                SpecialRegister::Thread(at) => axis(&coordinates(thread.into(), launch.block), at),
                SpecialRegister::Block(at) => axis(&id, at),
                SpecialRegister::ThreadCount(at) => axis(&launch.block, at),
                SpecialRegister::BlockCount(at) => axis(&launch.grid, at),
                SpecialRegister::Lane => lane.into(),
                SpecialRegister::Warp => u64::from(thread / 32),
                SpecialRegister::WarpCount => u64::from(volume(launch.block).div_ceil(32) as u32),
                SpecialRegister::Mask(0) => 1 << lane,
                SpecialRegister::Mask(1) => (2 << lane) - 1,
                SpecialRegister::Mask(2) => (1 << lane) - 1,
                SpecialRegister::Mask(3) => u64::from(u32::MAX << lane),
                SpecialRegister::Mask(_) => u64::from((u64::from(u32::MAX) << (lane + 1)) as u32),
                SpecialRegister::DynamicShared => launch.dynamic_shared.into(),
                SpecialRegister::TotalShared => self.shared.into(),
                SpecialRegister::Reserved(end) => {
                    u64::from(self.shared.next_multiple_of(16) + if end { RESERVED_SHARED_BYTES } else { 0 })
                }
                SpecialRegister::Workspace(half) if self.options.cooperative => {
                    GRID >> (32 * half) & 0xffff_ffff
                }
                SpecialRegister::Workspace(_) => 0,
                SpecialRegister::Multiprocessor => number % u64::from(MULTIPROCESSORS.unsigned_abs()),
                SpecialRegister::Grid => 1,
            },
        }
    }
}
