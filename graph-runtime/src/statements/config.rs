//! Launch configurations: the values in the brackets of `kernel[config](..)`. Each form implements `Config`,
//! which computes the launch shape, for `per_item` within the kernel's block limits.

use cuweave_core::launches::LaunchShape;

use cudarc::driver::LaunchConfig;

use crate::error::{ConfigFault, ConfigPart};

use super::dims::{Dim, ToDim};

/// The limits of a kernel, for `per_item`.
#[derive(Clone, Copy, Debug)]
pub struct BlockLimits {
    /// The maximum number of threads per block of the loaded function.
    pub max_threads: u32,
    /// The block size that the kernel requires, if any.
    pub required: Option<[u32; 3]>,
    /// True if there may be no items.
    pub may_be_empty: bool,
}

/// A type of launch configurations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a launch configuration",
    note = "a configuration is `(grid, block)` or `(grid, block, shared_bytes)` with `u32` or tuples of them, a \
        `LaunchConfig`, or `per_item(n)`"
)]
pub trait Config {
    /// Returns the launch shape, or the reason why the configuration has none.
    fn shape(self, limits: BlockLimits) -> Result<LaunchShape, ConfigFault>;
}

impl Config for LaunchConfig {
    fn shape(self, _: BlockLimits) -> Result<LaunchShape, ConfigFault> {
        let triple = |(x, y, z)| [x, y, z];
        Ok(LaunchShape {
            grid: triple(self.grid_dim),
            block: triple(self.block_dim),
            shared: self.shared_mem_bytes,
        })
    }
}

impl<G: Extents, B: Extents> Config for (G, B) {
    fn shape(self, _: BlockLimits) -> Result<LaunchShape, ConfigFault> {
        Ok(LaunchShape {
            grid: self.0.extents(ConfigPart::Grid)?,
            block: self.1.extents(ConfigPart::Block)?,
            shared: 0,
        })
    }
}

impl<G: Extents, B: Extents, S: SharedBytes> Config for (G, B, S) {
    fn shape(self, _: BlockLimits) -> Result<LaunchShape, ConfigFault> {
        Ok(LaunchShape {
            grid: self.0.extents(ConfigPart::Grid)?,
            block: self.1.extents(ConfigPart::Block)?,
            shared: self.2.shared_bytes()?,
        })
    }
}

/// One, two or three extents of a grid or a block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a grid nor a block",
    note = "a grid or a block is a `u32`, or a tuple of up to three"
)]
pub trait Extents {
    /// Returns the extents in x, y and z.
    fn extents(self, part: ConfigPart) -> Result<[u32; 3], ConfigFault>;
}

/// The dynamic shared memory of a block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the dynamic shared memory of a block, which is a `u32` of bytes"
)]
pub trait SharedBytes {
    /// Returns the size in bytes, or the reason why it cannot be computed.
    fn shared_bytes(self) -> Result<u32, ConfigFault>;
}

impl SharedBytes for u32 {
    fn shared_bytes(self) -> Result<u32, ConfigFault> {
        Ok(self)
    }
}

impl SharedBytes for Dim {
    fn shared_bytes(self) -> Result<u32, ConfigFault> {
        let bytes = value(self, ConfigPart::SharedMemory)?;
        u32::try_from(bytes).map_err(|_| ConfigFault::LargeSharedMemory { bytes })
    }
}

/// Returns the value of a part of a configuration.
fn value(dim: Dim, part: ConfigPart) -> Result<u64, ConfigFault> {
    dim.value().map_err(|fault| ConfigFault::NoValue { part, fault })
}

/// One extent of a grid or a block.
#[diagnostic::on_unimplemented(message = "`{Self}` is not the extent of a grid or a block, which is a `u32`")]
pub trait Extent {
    /// Returns the extent.
    fn extent(self, part: ConfigPart) -> Result<u32, ConfigFault>;
}

impl Extent for u32 {
    fn extent(self, _: ConfigPart) -> Result<u32, ConfigFault> {
        Ok(self)
    }
}

impl Extent for Dim {
    fn extent(self, part: ConfigPart) -> Result<u32, ConfigFault> {
        let extent = value(self, part)?;
        u32::try_from(extent).map_err(|_| ConfigFault::LargeExtent { part, extent })
    }
}

impl Extents for u32 {
    fn extents(self, part: ConfigPart) -> Result<[u32; 3], ConfigFault> {
        Ok([self.extent(part)?, 1, 1])
    }
}

impl Extents for Dim {
    fn extents(self, part: ConfigPart) -> Result<[u32; 3], ConfigFault> {
        Ok([self.extent(part)?, 1, 1])
    }
}

impl<X: Extent> Extents for (X,) {
    fn extents(self, part: ConfigPart) -> Result<[u32; 3], ConfigFault> {
        Ok([self.0.extent(part)?, 1, 1])
    }
}

impl<X: Extent, Y: Extent> Extents for (X, Y) {
    fn extents(self, part: ConfigPart) -> Result<[u32; 3], ConfigFault> {
        Ok([self.0.extent(part)?, self.1.extent(part)?, 1])
    }
}

impl<X: Extent, Y: Extent, Z: Extent> Extents for (X, Y, Z) {
    fn extents(self, part: ConfigPart) -> Result<[u32; 3], ConfigFault> {
        Ok([self.0.extent(part)?, self.1.extent(part)?, self.2.extent(part)?])
    }
}

/// A configuration with at least one thread per item.
#[derive(Clone, Copy, Debug)]
pub struct PerItem(Dim);

/// Returns a configuration with at least one thread for each of `n` items: blocks of 256 threads, or fewer if
/// the kernel does not support 256, or the block size that the kernel requires.
pub fn per_item(n: impl ToDim) -> PerItem {
    PerItem(n.to_dim())
}

impl Config for PerItem {
    fn shape(self, limits: BlockLimits) -> Result<LaunchShape, ConfigFault> {
        let items = value(self.0, ConfigPart::Items)?;
        if items == 0 && !limits.may_be_empty {
            return Err(ConfigFault::NoItems);
        }
        let block = match limits.required {
            Some([x, 1, 1]) => [x.max(1), 1, 1],
            Some(required) => return Err(ConfigFault::PerItem { required }),
            None => [limits.max_threads.clamp(1, 256), 1, 1],
        };
        let blocks = items.div_ceil(u64::from(block[0]));
        let grid = u32::try_from(blocks).map_err(|_| ConfigFault::ManyItems { items, blocks })?;
        Ok(LaunchShape { grid: [grid, 1, 1], block, shared: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::dims::dim;
    use super::*;

    const FREE: BlockLimits = BlockLimits { max_threads: 1024, required: None, may_be_empty: false };

    #[test]
    fn every_form_has_a_shape() {
        let shape = |grid, block| Ok(LaunchShape { grid, block, shared: 0 });
        assert_eq!((4, 128).shape(FREE), shape([4, 1, 1], [128, 1, 1]));
        assert_eq!(((4, 2), (8, 8, 2)).shape(FREE), shape([4, 2, 1], [8, 8, 2]));
        assert_eq!(((4,), dim(9u8) - 1u8).shape(FREE), shape([4, 1, 1], [8, 1, 1]));
        assert_eq!(
            (4, (8, 8), 1024).shape(FREE),
            Ok(LaunchShape { grid: [4, 1, 1], block: [8, 8, 1], shared: 1024 })
        );
        assert_eq!((4, 8, dim(3u8) * 4u8).shape(FREE).map(|shape| shape.shared), Ok(12));
        assert_eq!(LaunchConfig::for_num_elems(2000).shape(FREE), shape([2, 1, 1], [1024, 1, 1]));
        assert_eq!(per_item(257u32).shape(FREE), shape([2, 1, 1], [256, 1, 1]));
        assert_eq!(
            per_item(257u32).shape(BlockLimits { max_threads: 64, ..FREE }),
            shape([5, 1, 1], [64, 1, 1])
        );
        let required = BlockLimits { required: Some([512, 1, 1]), ..FREE };
        assert_eq!(per_item(513u32).shape(required), shape([2, 1, 1], [512, 1, 1]));
    }

    #[test]
    fn what_has_no_shape_is_said() {
        assert!(per_item(0u32).shape(FREE).is_err());
        let empty = per_item(0u32).shape(BlockLimits { may_be_empty: true, ..FREE });
        assert_eq!(empty, Ok(LaunchShape { grid: [0, 1, 1], block: [256, 1, 1], shared: 0 }));
        assert!(per_item(u64::MAX).shape(FREE).is_err());
        assert!(per_item(dim(1u8) - 2u8).shape(FREE).is_err());
        assert!(per_item(5u8).shape(BlockLimits { required: Some([8, 8, 1]), ..FREE }).is_err());
        assert!((dim(1u64 << 32), 1).shape(FREE).is_err());
        assert!((1, 1, dim(1u64 << 32)).shape(FREE).is_err());
        assert!((1, 1, dim(1u8) - 2u8).shape(FREE).is_err());
    }
}
