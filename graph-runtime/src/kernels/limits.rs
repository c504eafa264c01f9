//! Checks launch configurations against the limits of a device and of a loaded function.

use cudarc::driver::CudaContext;
use cuweave_core::launches::Blocks;
use cuweave_core::launches::LaunchShape;

use crate::cuda::{CONCURRENT_MANAGED_ACCESS, Driver};
use crate::error::{ConfigFault, ConfigPart, Error, Result};

use super::declaration::Kernel;
use super::function::FunctionInfo;

#[derive(Clone, Copy, Debug)]
pub struct DeviceLimits {
    threads: u32,
    block: [u32; 3],
    grid: [u32; 3],
    /// The maximum shared memory per block in bytes: by default, and with opt-in.
    shared: [u32; 2],
    /// The maximum number of registers per block.
    registers: u32,
    /// True if blocks can be launched in clusters.
    clusters: bool,
    /// True if cooperative launches are supported: all blocks of a grid run at the same time.
    cooperative: bool,
    multiprocessors: u32,
    /// True if batch memory operations accept 8-byte values.
    wide_memory_operations: bool,
    /// True if host and device may access managed memory at the same time.
    pub shares_memory: bool,
    /// The maximum pitch of copies and fills in bytes.
    pub max_pitch: u64,
}

/// Registers are allocated per warp in steps of 256, on every architecture since 5.0. Source: CUDA's occupancy
/// tables.
const REGISTER_STEP: u64 = 256;
/// The maximum number of registers per thread, on every device.
const MAX_REGISTERS: u32 = 255;
/// The maximum number of blocks per cluster that every device with clusters supports.
const PORTABLE_CLUSTER: u64 = 8;

impl DeviceLimits {
    /// Queries the limits of a device.
    pub(crate) fn query(driver: &Driver, ctx: &CudaContext) -> Result<DeviceLimits> {
        // Values of `CUdevice_attribute`.
        let ask = |attribute| driver.device_attribute(ctx, attribute).map_err(Error::from);
        Ok(DeviceLimits {
            threads: ask(1)?,
            block: [ask(2)?, ask(3)?, ask(4)?],
            grid: [ask(5)?, ask(6)?, ask(7)?],
            shared: [ask(8)?, ask(97)?],
            registers: ask(12)?,
            clusters: ask(120)? != 0,
            cooperative: ask(95)? != 0,
            multiprocessors: ask(16)?,
            // CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
            wide_memory_operations: ask(122)? != 0,
            shares_memory: ask(CONCURRENT_MANAGED_ACCESS)? != 0,
            // CU_DEVICE_ATTRIBUTE_MAX_PITCH
            max_pitch: ask(11)?.into(),
        })
    }

    /// Returns true if batch memory operations accept 8-byte values.
    pub(crate) fn wide_memory_operations(&self) -> bool {
        self.wide_memory_operations
    }

    /// Checks that the device and the loaded function support a configuration.
    pub(crate) fn check(
        &self,
        shape: &LaunchShape,
        kernel: &Kernel,
        info: &FunctionInfo,
    ) -> std::result::Result<(), ConfigFault> {
        self.extents(shape)?;
        self.threads(shape.block, kernel.name, info)?;
        self.shared(shape.shared, kernel.name, info)?;
        self.cluster(shape.grid, kernel.name, info)
    }

    /// Checks that all blocks of a grid can run at the same time. `of_each` is the number of blocks that fit on
    /// a multiprocessor.
    pub(crate) fn resident(
        &self,
        grid: [u32; 3],
        kernel: &'static str,
        of_each: u32,
    ) -> std::result::Result<(), ConfigFault> {
        if !self.cooperative {
            return Err(ConfigFault::NotCooperative { kernel });
        }
        let most = u64::from(of_each) * u64::from(self.multiprocessors);
        let blocks = grid.iter().fold(1u64, |all, &count| all.saturating_mul(count.into()));
        if blocks > most { Err(ConfigFault::NotResident { kernel, grid, max: most }) } else { Ok(()) }
    }

    fn extents(&self, shape: &LaunchShape) -> std::result::Result<(), ConfigFault> {
        for (part, extents, most) in
            [(ConfigPart::Grid, shape.grid, self.grid), (ConfigPart::Block, shape.block, self.block)]
        {
            for (axis, extent, most) in
                [('x', extents[0], most[0]), ('y', extents[1], most[1]), ('z', extents[2], most[2])]
            {
                if extent == 0 {
                    return Err(ConfigFault::ZeroExtent { part, axis });
                }
                if extent > most {
                    return Err(ConfigFault::Extent { part, axis, extent, max: most });
                }
            }
        }
        Ok(())
    }

    fn threads(
        &self,
        block: [u32; 3],
        kernel: &'static str,
        info: &FunctionInfo,
    ) -> std::result::Result<(), ConfigFault> {
        // No overflow: the extents are within the device's limits.
        let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
        if threads > u64::from(self.threads) {
            return Err(ConfigFault::Threads { threads, max: self.threads });
        }
        if let Some(required) = info.required_block.filter(|required| *required != block) {
            return Err(ConfigFault::RequiredBlock { block, kernel, required });
        }
        if registers(threads, info.registers) > u64::from(self.registers) {
            let (each, most) = (info.registers, self.registers);
            return Err(ConfigFault::Registers { threads, each, kernel, max: most });
        }
        if threads > u64::from(info.max_threads) {
            return Err(ConfigFault::ThreadsOfKernel { threads, kernel, max: info.max_threads });
        }
        Ok(())
    }

    fn shared(
        &self,
        shared: u32,
        kernel: &'static str,
        info: &FunctionInfo,
    ) -> std::result::Result<(), ConfigFault> {
        let (own, most) = (info.shared, self.shared[0].max(self.shared[1]));
        if u64::from(own) + u64::from(shared) > u64::from(most) {
            return Err(ConfigFault::SharedMemory { shared, own, kernel, max: most });
        }
        Ok(())
    }

    fn cluster(
        &self,
        grid: [u32; 3],
        kernel: &'static str,
        info: &FunctionInfo,
    ) -> std::result::Result<(), ConfigFault> {
        let Some(cluster) = info.cluster else { return Ok(()) };
        if cluster.contains(&0) {
            return Err(ConfigFault::UnsizedClusters { kernel });
        }
        if !self.clusters {
            return Err(ConfigFault::NoClusters { kernel });
        }
        if Blocks::from_grid(cluster) > Blocks::new(PORTABLE_CLUSTER) {
            return Err(ConfigFault::LargeClusters { kernel, cluster, max: PORTABLE_CLUSTER });
        }
        if grid.iter().zip(cluster).any(|(grid, cluster)| !grid.is_multiple_of(cluster)) {
            return Err(ConfigFault::GridOfClusters { grid, cluster, kernel });
        }
        Ok(())
    }
}

/// Returns the maximum number of registers per thread with which `blocks` blocks fit on a multiprocessor of
/// `registers` registers. Each of its partitions holds whole warps.
pub(crate) fn max_registers(registers: u32, blocks: u32, threads: u32) -> u32 {
    const PARTITIONS: u32 = 4;
    let warps = blocks.saturating_mul(threads.div_ceil(32)).div_ceil(PARTITIONS).max(1);
    let of_warp = u64::from(registers / PARTITIONS / warps) / REGISTER_STEP * REGISTER_STEP;
    u32::try_from(of_warp / 32).unwrap_or(MAX_REGISTERS).min(MAX_REGISTERS)
}

/// Returns the number of registers per block: per warp, rounded up to the allocation step.
fn registers(threads: u64, each: u32) -> u64 {
    threads.div_ceil(32) * (u64::from(each) * 32).next_multiple_of(REGISTER_STEP)
}

#[cfg(test)]
mod tests {
    use super::super::module::Module;
    use super::*;
    use crate::cuda::Function;

    static MODULE: Module = Module::new("none", &[]);
    static KERNEL: Kernel = Kernel::new("k", &MODULE, &[]);

    const HOPPER: DeviceLimits = DeviceLimits {
        threads: 1024,
        block: [1024, 1024, 64],
        grid: [0x7fff_ffff, 65535, 65535],
        shared: [48 << 10, 227 << 10],
        registers: 65536,
        clusters: true,
        cooperative: true,
        multiprocessors: 132,
        shares_memory: true,
        wide_memory_operations: true,
        max_pitch: 0x7fff_ffff,
    };
    const PLAIN: FunctionInfo = FunctionInfo {
        function: Function::NONE,
        max_threads: 1024,
        shared: 0,
        local: 0,
        dynamic_shared: 48 << 10,
        registers: 32,
        required_block: None,
        cluster: None,
    };

    fn check(limits: DeviceLimits, grid: u32, block: u32, shared: u32, info: FunctionInfo) -> Option<String> {
        let shape = LaunchShape { grid: [grid, 1, 1], block: [block, 1, 1], shared };
        limits.check(&shape, &KERNEL, &info).err().map(|fault| fault.to_string())
    }

    #[test]
    fn registers_of_a_block() {
        // 65,536 registers for 1,024 threads are 64 each.
        assert_eq!(check(HOPPER, 1, 1024, 0, FunctionInfo { registers: 64, ..PLAIN }), None);
        let error = check(HOPPER, 1, 1024, 0, FunctionInfo { registers: 65, ..PLAIN }).expect("too many");
        assert!(
            error.contains("65 registers each") && error.contains("65536 registers per block"),
            "{error}"
        );
        // 255 registers per thread are 8,192 per warp after rounding, so eight warps reach the device's limit.
        let most = FunctionInfo { registers: 255, ..PLAIN };
        assert_eq!(check(HOPPER, 1, 256, 0, most), None);
        assert!(check(HOPPER, 1, 257, 0, most).is_some());
    }

    /// From CUDA's occupancy tables, for 65,536 registers per multiprocessor.
    #[test]
    fn registers_for_a_number_of_blocks() {
        for (blocks, threads, most) in
            [(12, 128, 40), (10, 128, 48), (8, 256, 32), (1, 1024, 64), (1, 32, 255), (32, 64, 32)]
        {
            assert_eq!(max_registers(65_536, blocks, threads), most, "{blocks} of {threads}");
        }
        assert_eq!(max_registers(0, 1, 32), 0);
        assert_eq!(max_registers(65_536, u32::MAX, u32::MAX), 0);
    }

    #[test]
    fn shared_memory_is_what_the_device_gives_on_request() {
        let own = FunctionInfo { shared: 1 << 10, ..PLAIN };
        assert_eq!(check(HOPPER, 1, 32, 226 << 10, own), None);
        let error = check(HOPPER, 1, 32, (226 << 10) + 1, own).expect("too much");
        assert!(error.contains("1024 of `k`'s static shared memory, but the device has 232448"), "{error}");
        let error = check(DeviceLimits { shared: [48 << 10, 0], ..HOPPER }, 1, 32, 64 << 10, PLAIN);
        assert!(error.is_some_and(|error| error.contains("49152 bytes per block")));
    }

    #[test]
    fn clusters() {
        let of = |cluster| FunctionInfo { cluster: Some(cluster), ..PLAIN };
        assert_eq!(check(HOPPER, 8, 32, 0, of([4, 1, 1])), None);
        let error = check(HOPPER, 6, 32, 0, of([4, 1, 1])).expect("no multiple");
        assert!(
            error.contains("6 x 1 x 1 blocks is not a multiple of the cluster size 4 x 1 x 1"),
            "{error}"
        );
        let error = check(HOPPER, 8, 32, 0, of([0; 3])).expect("nobody says the size");
        assert!(error.contains("do not support yet"), "{error}");
        let error = check(DeviceLimits { clusters: false, ..HOPPER }, 8, 32, 0, of([4, 1, 1]));
        assert!(error.is_some_and(|error| error.contains("which the device does not support")));
        assert!(check(HOPPER, 16, 32, 0, of([16, 1, 1])).is_some_and(|error| error.contains("only up to 8")));
    }
}
