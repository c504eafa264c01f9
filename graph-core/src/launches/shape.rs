//! The launch configuration.

/// A launch configuration: grid, block, and dynamic shared memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
}

impl LaunchShape {
    /// Returns the number of threads in all blocks.
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
