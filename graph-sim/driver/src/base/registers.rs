//! Register counts of kernels. The simulator does not compile kernels, so the counts are assumed.

use std::sync::{Mutex, PoisonError};

/// The registers per thread of a kernel for which the program sets no count.
pub const DEFAULT_REGISTERS: u32 = 32;
/// The registers of a multiprocessor. A block may use all of them.
pub const REGISTERS_PER_MULTIPROCESSOR: u32 = 65_536;

/// The partitions of a multiprocessor. Each has a quarter of the registers and holds whole warps.
const PARTITIONS: u32 = 4;
/// The granularity of a warp's registers.
const WARP_GRANULARITY: u32 = 256;
/// The bytes of a register that is spilled to local memory.
const BYTES_PER_REGISTER: u32 = 4;

static SETTINGS: Mutex<Vec<(String, u32)>> = Mutex::new(Vec::new());

/// Sets the registers per thread of the kernels whose names begin with `prefix`; 0 removes the setting. If
/// several prefixes match a name, the longest wins.
pub fn assume(prefix: String, registers: u32) {
    let mut said = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    said.retain(|(known, _)| *known != prefix);
    if registers > 0 {
        said.push((prefix, registers));
    }
}

/// The registers of a kernel and its spilled bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The registers of a thread.
    pub used: u32,
    /// The spilled registers of a thread, in bytes of local memory.
    pub spilled: u32,
}

impl Registers {
    /// Returns the registers of a kernel that is limited to `most` registers.
    pub fn for_kernel(kernel: &str, most: Option<u32>) -> Registers {
        let said = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kernel = said.iter().filter(|(prefix, _)| kernel.starts_with(prefix.as_str()));
        let wanted =
            of_kernel.max_by_key(|(prefix, _)| prefix.len()).map_or(DEFAULT_REGISTERS, |said| said.1);
        let used = wanted.min(most.unwrap_or(u32::MAX));
        Registers { used, spilled: (wanted - used).saturating_mul(BYTES_PER_REGISTER) }
    }

    /// Returns the number of blocks of `threads` threads that fit into the registers of a multiprocessor.
    pub fn blocks(self, threads: u32) -> u32 {
        (REGISTERS_PER_MULTIPROCESSOR / PARTITIONS / self.of_warp().max(1)) * PARTITIONS
            / threads.div_ceil(32).max(1)
    }

    fn of_warp(self) -> u32 {
        self.used.saturating_mul(32).next_multiple_of(WARP_GRANULARITY)
    }
}

/// Returns the maximum number of registers per thread at which `blocks` blocks are resident on a multiprocessor.
pub fn max_registers_for(blocks: u32, threads: u32) -> u32 {
    let warps = blocks.saturating_mul(threads.div_ceil(32)).div_ceil(PARTITIONS).max(1);
    REGISTERS_PER_MULTIPROCESSOR / PARTITIONS / warps / WARP_GRANULARITY * WARP_GRANULARITY / 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_spilled() {
        assume("registers_test_".to_owned(), 40);
        assume("registers_test_large".to_owned(), 96);
        assert_eq!(Registers::for_kernel("registers_test_a", None), Registers { used: 40, spilled: 0 });
        assert_eq!(
            Registers::for_kernel("registers_test_larger", Some(64)),
            Registers { used: 64, spilled: 128 }
        );
        assert_eq!(Registers::for_kernel("registers_test_a", Some(64)), Registers { used: 40, spilled: 0 });
        assume("registers_test_".to_owned(), 0);
        assert_eq!(
            Registers::for_kernel("registers_test_a", None),
            Registers { used: DEFAULT_REGISTERS, spilled: 0 }
        );
    }

    /// The values of CUDA's occupancy tables for compute capability 9.0, with blocks of 128 and of 256 threads.
    #[test]
    fn blocks_by_registers() {
        let blocks = |used, threads| Registers { used, spilled: 0 }.blocks(threads);
        for (used, of_128, of_256) in
            [(32, 16, 8), (38, 12, 6), (40, 12, 6), (44, 10, 5), (64, 8, 4), (255, 2, 1)]
        {
            assert_eq!((blocks(used, 128), blocks(used, 256)), (of_128, of_256), "{used}");
        }
        for (most, threads) in [(12, 128), (10, 128), (8, 256), (1, 1024), (5, 96)] {
            let used = max_registers_for(most, threads);
            assert!(blocks(used, threads) >= most && blocks(used + 1, threads) < most, "{most} of {threads}");
        }
    }
}
