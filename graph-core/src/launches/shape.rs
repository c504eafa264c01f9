//! The configuration of a launch.

/// A configuration: blocks, threads of a block, dynamic shared memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared: u32,
}

impl LaunchShape {
    /// Returns the number of threads of all blocks.
    #[must_use]
    pub fn threads(&self) -> u64 {
        let counts = self.grid.iter().chain(&self.block);
        counts.fold(1u64, |all, &count| all.saturating_mul(u64::from(count)))
    }
}

impl std::fmt::Display for LaunchShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LaunchShape { grid: [gx, gy, gz], block: [bx, by, bz], shared } = self;
        write!(f, "({gx} x {gy} x {gz}, {bx} x {by} x {bz}, {shared} B)")
    }
}
