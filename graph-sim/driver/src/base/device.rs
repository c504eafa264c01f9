//! The compute capability of the simulated devices and the limits that come with it.

/// The multiprocessors of each device of every capability: an H200's.
pub const MULTIPROCESSORS: i32 = 132;

/// The limits of a compute capability. The numbers are those of the CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Major and minor.
    pub capability: (u32, u32),
    /// Shared memory of a multiprocessor, in bytes.
    pub shared: u32,
    /// The most shared memory of a block, static and dynamic, in bytes: on request where it is more than 48 KiB.
    pub shared_of_block: u32,
    /// Shared memory that the system takes of each block, in bytes.
    pub shared_reserved: u32,
    /// Threads that a multiprocessor holds.
    pub threads: u32,
    /// Blocks that a multiprocessor holds.
    pub blocks: u32,
}

const KIB: u32 = 1 << 10;

impl Device {
    /// The device of a capability; `None` for one that is not known.
    pub const fn of(capability: (u32, u32)) -> Option<Device> {
        let [shared, shared_of_block, threads, blocks] = match capability {
            (5, 0) => [64, 48, 2048, 32],
            (5, 2) => [96, 48, 2048, 32],
            (6, 0) => [64, 48, 2048, 32],
            (6, 1) => [96, 48, 2048, 32],
            (7, 0) => [96, 96, 2048, 32],
            (7, 5) => [64, 64, 1024, 16],
            (8, 0) => [164, 163, 2048, 32],
            (8, 6) => [100, 99, 1536, 16],
            (8, 9) => [100, 99, 1536, 24],
            (9, 0) | (10, 0) | (10, 3) => [228, 227, 2048, 32],
            (12, 0) | (12, 1) => [100, 99, 1536, 24],
            _ => return None,
        };
        Some(Device {
            capability,
            shared: shared * KIB,
            shared_of_block: shared_of_block * KIB,
            shared_reserved: if capability.0 >= 8 { KIB } else { 0 },
            threads,
            blocks,
        })
    }

    /// `10 * major + minor`, as in `sm_90`.
    pub fn number(&self) -> u32 {
        10 * self.capability.0 + self.capability.1
    }

    /// Returns true if the device has programmatic dependent launch.
    pub fn has_programmatic_launch(&self) -> bool {
        self.capability.0 >= 9
    }

    /// Returns true if timeline semaphores of other APIs can be imported.
    pub fn has_timeline_semaphores(&self) -> bool {
        self.capability.0 >= 7
    }

    /// Returns true if memory operations take values of eight bytes.
    pub fn has_wide_memory_operations(&self) -> bool {
        self.capability.0 >= 7
    }

    /// Returns true if blocks can be launched in clusters.
    pub fn has_clusters(&self) -> bool {
        self.capability.0 >= 9
    }

    /// The most bytes of a kernel's parameters, if the code is for `target`, a number as of [`Self::number`]. CUDA 12.1
    /// brought the larger limit, for Volta and newer. The manual of PTX asks for version 8.1, too; the driver (580,
    /// CUDA 13.0) loads older text with more than 4,096 bytes all the same.
    pub fn most_parameters(&self, driver: (u32, u32), target: u32) -> u64 {
        if driver >= (12, 1) && self.number() >= 70 && target >= 70 { 32_764 } else { 4096 }
    }

    /// Returns true if PTX for a target compiles for this device: `name` is the part after `sm_`.
    pub fn takes_target(&self, name: &str) -> bool {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let Ok(number) = digits.parse::<u32>() else { return true };
        match &name[digits.len()..] {
            "" => number <= self.number(),
            // Within its family: devices of one major version that are no older.
            "f" => number <= self.number() && number / 10 == self.number() / 10,
            _ => number == self.number(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Device;

    #[test]
    fn code_for_newer_devices_is_not_taken() {
        let takes = |capability, names: &[&str]| -> Vec<bool> {
            let device = Device::of(capability).unwrap();
            names.iter().map(|name| device.takes_target(name)).collect()
        };
        let names = ["75", "80", "86", "90", "90a", "100", "100a", "100f", "103f"];
        let [no, yes] = [false, true];
        assert_eq!(takes((7, 5), &names), [yes, no, no, no, no, no, no, no, no]);
        assert_eq!(takes((8, 0), &names), [yes, yes, no, no, no, no, no, no, no]);
        assert_eq!(takes((9, 0), &names), [yes, yes, yes, yes, yes, no, no, no, no]);
        assert_eq!(takes((10, 3), &names), [yes, yes, yes, yes, no, yes, no, yes, yes]);
        assert_eq!(Device::of((9, 5)), None);
    }

    #[test]
    fn many_parameters_need_volta_and_cuda_12_1() {
        let most =
            |capability, driver, target| Device::of(capability).unwrap().most_parameters(driver, target);
        assert_eq!(most((9, 0), (13, 0), 70), 32_764);
        assert_eq!(most((9, 0), (12, 0), 70), 4096);
        assert_eq!(most((9, 0), (13, 0), 61), 4096);
        assert_eq!(most((6, 1), (13, 0), 61), 4096);
    }
}
