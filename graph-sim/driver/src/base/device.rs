//! The compute capability of the simulated devices and its limits.

/// The number of multiprocessors of a device, for every capability: that of an H200.
pub const MULTIPROCESSORS: i32 = 132;

/// The limits of a compute capability, from the CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Major and minor version.
    pub capability: (u32, u32),
    /// Shared memory of a multiprocessor in bytes.
    pub shared: u32,
    /// The maximum shared memory of a block in bytes, static and dynamic. More than 48 KiB must be requested.
    pub shared_of_block: u32,
    /// Shared memory that the system reserves in each block, in bytes.
    pub shared_reserved: u32,
    /// The maximum number of resident threads of a multiprocessor.
    pub threads: u32,
    /// The maximum number of resident blocks of a multiprocessor.
    pub blocks: u32,
}

const KIB: u32 = 1 << 10;

impl DeviceLimits {
    /// Returns the device of a capability; `None` if the capability is unknown.
    pub const fn from_capability(capability: (u32, u32)) -> Option<DeviceLimits> {
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
        Some(DeviceLimits {
            capability,
            shared: shared * KIB,
            shared_of_block: shared_of_block * KIB,
            shared_reserved: if capability.0 >= 8 { KIB } else { 0 },
            threads,
            blocks,
        })
    }

    /// Returns `10 * major + minor`, as in `sm_90`.
    pub fn number(&self) -> u32 {
        10 * self.capability.0 + self.capability.1
    }

    /// Returns true if the device supports programmatic dependent launch.
    pub fn has_programmatic_launch(&self) -> bool {
        self.capability.0 >= 9
    }

    /// Returns true if timeline semaphores of other APIs can be imported.
    pub fn has_timeline_semaphores(&self) -> bool {
        self.capability.0 >= 7
    }

    /// Returns true if memory operations support 64-bit values.
    pub fn has_wide_memory_operations(&self) -> bool {
        self.capability.0 >= 7
    }

    /// Returns true if the device supports clusters.
    pub fn has_clusters(&self) -> bool {
        self.capability.0 >= 9
    }

    /// Returns the maximum size of a kernel's parameters in bytes. `target` is the target of the code, encoded as
    /// by [`Self::number`]. CUDA 12.1 introduced the larger limit, for Volta and newer. The PTX manual also
    /// requires PTX 8.1, but driver 580 (CUDA 13.0) loads older PTX with more than 4,096 bytes.
    pub fn max_parameter_bytes(&self, driver: (u32, u32), target: u32) -> u64 {
        if driver >= (12, 1) && self.number() >= 70 && target >= 70 { 32_764 } else { 4096 }
    }

    /// Returns true if PTX for a target compiles for this device. `name` is the part after `sm_`.
    pub fn accepts_target(&self, name: &str) -> bool {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let Ok(number) = digits.parse::<u32>() else { return true };
        match &name[digits.len()..] {
            "" => number <= self.number(),
            // A family target: devices of the same major version that are not older.
            "f" => number <= self.number() && number / 10 == self.number() / 10,
            _ => number == self.number(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceLimits;

    #[test]
    fn code_for_newer_devices_is_not_taken() {
        let takes = |capability, names: &[&str]| -> Vec<bool> {
            let device = DeviceLimits::from_capability(capability).unwrap();
            names.iter().map(|name| device.accepts_target(name)).collect()
        };
        let names = ["75", "80", "86", "90", "90a", "100", "100a", "100f", "103f"];
        let [no, yes] = [false, true];
        assert_eq!(takes((7, 5), &names), [yes, no, no, no, no, no, no, no, no]);
        assert_eq!(takes((8, 0), &names), [yes, yes, no, no, no, no, no, no, no]);
        assert_eq!(takes((9, 0), &names), [yes, yes, yes, yes, yes, no, no, no, no]);
        assert_eq!(takes((10, 3), &names), [yes, yes, yes, yes, no, yes, no, yes, yes]);
        assert_eq!(DeviceLimits::from_capability((9, 5)), None);
    }

    #[test]
    fn many_parameters_need_volta_and_cuda_12_1() {
        let most = |capability, driver, target| {
            DeviceLimits::from_capability(capability).unwrap().max_parameter_bytes(driver, target)
        };
        assert_eq!(most((9, 0), (13, 0), 70), 32_764);
        assert_eq!(most((9, 0), (12, 0), 70), 4096);
        assert_eq!(most((9, 0), (13, 0), 61), 4096);
        assert_eq!(most((6, 1), (13, 0), 61), 4096);
    }
}
