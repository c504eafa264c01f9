//! Faults of graphs over several devices.

use std::fmt;

use crate::cuda::Simulator;

use super::parts::SourceLocation;

/// A fault of a graph over several devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceFault {
    /// The number of contexts differs from the number of devices that the function declares.
    #[non_exhaustive]
    Contexts {
        /// The graph function.
        at: SourceLocation,
        /// The value of `devices`; 1 if it is not declared.
        declared: u64,
        /// The number of contexts passed.
        given: usize,
    },
    /// A statement is on a device that the graph does not have.
    #[non_exhaustive]
    NoDevice {
        /// The statement.
        at: SourceLocation,
        /// The index of the device, from 0.
        device: u64,
        /// The number of devices of the graph, if it is known.
        devices: Option<usize>,
    },
    /// A statement in a device-side conditional is on another device than the conditional.
    #[non_exhaustive]
    Body {
        /// The statement.
        at: SourceLocation,
        /// Its device.
        device: u32,
        /// The device of the condition.
        decides: u32,
    },
    /// A statement uses memory of another device, which its own device cannot access.
    #[non_exhaustive]
    NoAccess {
        /// The statement.
        at: SourceLocation,
        /// Its device.
        device: u32,
        /// The buffer.
        buffer: SourceLocation,
        /// The device of that memory.
        memory: u32,
        /// The reason.
        reason: Inaccessible,
    },
    /// A kernel takes pinned memory, which its device does not reach at the host's address.
    #[non_exhaustive]
    NotMapped {
        /// The launch.
        at: SourceLocation,
        /// The argument.
        buffer: SourceLocation,
    },
    /// An output is in memory of another device than the first.
    #[non_exhaustive]
    Output {
        /// The allocation.
        at: SourceLocation,
        /// The device of its memory.
        device: u32,
    },
    /// A device that `#[access(..)]` names cannot use the memory of the allocation.
    #[non_exhaustive]
    Access {
        /// The allocation.
        at: SourceLocation,
        /// The device.
        device: u32,
        /// The reason.
        reason: Ungranted,
    },
    /// A setter binds memory of another device than at build.
    #[non_exhaustive]
    Moved {
        /// The argument.
        at: SourceLocation,
        /// The device of the memory at build.
        built: u32,
        /// The device of the new memory.
        device: u32,
    },
    /// A graph over several devices is instantiated in an arena pool, which has memory of only one.
    #[non_exhaustive]
    Pool {
        /// The name of the graph function.
        function: String,
        /// The number of its devices.
        devices: usize,
    },
}

/// The reason why a device cannot access memory of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inaccessible {
    /// The two devices are not peers.
    NoPeers,
    /// The memory was mapped or allocated only for other devices.
    NotShared,
}

/// The reason why a device cannot be given access to an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ungranted {
    /// The graph does not have the device.
    #[non_exhaustive]
    NoDevice {
        /// The number of its devices.
        devices: usize,
    },
    /// The two devices are not peers.
    #[non_exhaustive]
    NoPeers {
        /// The device of the memory.
        memory: u32,
    },
}

/// A feature that a device may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceFeature {
    /// Timeline semaphores of other APIs.
    TimelineSemaphores,
    /// Waits for and writes of 64-bit values.
    WideMemoryOperations,
}

impl fmt::Display for DeviceFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceFeature::TimelineSemaphores => "timeline semaphores of other APIs",
            DeviceFeature::WideMemoryOperations => "waits for values of 64 bits and their writes",
        })
    }
}

impl fmt::Display for DeviceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceFault::Contexts { at, declared, given } => {
                write!(f, "{at} is declared for {}, and {} given", count(*declared, "device"), are(*given))
            }
            DeviceFault::NoDevice { at, device, devices: Some(devices) } => {
                write!(f, "{at} is on device {device}, and the graph has {}", count(*devices, "device"))
            }
            DeviceFault::NoDevice { at, device, devices: None } => {
                write!(f, "{at} is on device {device}, and no graph has as many")
            }
            DeviceFault::Body { at, device, decides } => write!(
                f,
                "{at} is on device {device}, but it is in a body that runs on device {decides}: a body cannot span \
                    devices"
            ),
            DeviceFault::NoAccess { at, device, buffer, memory, reason } => {
                let name = &buffer.name;
                write!(f, "{at} uses `{name}`, which is memory of device {memory}, on device {device}: ")?;
                match reason {
                    Inaccessible::NoPeers => {
                        write!(f, "device {device} has no access to memory of device {memory}")
                    }
                    Inaccessible::NotShared => {
                        write!(f, "`{name}` was allocated without access for device {device}")
                    }
                }?;
                write!(f, "\n  = help: copy it to a buffer of device {device} first")
            }
            DeviceFault::NotMapped { at, buffer } => write!(
                f,
                "{at} takes `{}`, which is pinned memory that its device does not reach at the host's address\n  \
                    = help: copy it to a device buffer first",
                buffer.name
            ),
            DeviceFault::Output { at, device } => write!(
                f,
                "{at} is an output in memory of device {device}: outputs must be in memory of the graph's first device"
            ),
            DeviceFault::Access { at, device, reason: Ungranted::NoDevice { devices } } => write!(
                f,
                "{at} is to be accessible from device {device}, and the graph has {}",
                count(*devices, "device")
            ),
            DeviceFault::Access { at, device, reason: Ungranted::NoPeers { memory } } => write!(
                f,
                "{at} is to be accessible from device {device}, which has no access to memory of device {memory}"
            ),
            DeviceFault::Moved { at, built, device } => write!(
                f,
                "{at} is bound to memory of device {device}, and the graph was built with memory of device {built}"
            ),
            DeviceFault::Pool { function, devices } => {
                write!(f, "`{function}` is a graph of {devices} devices, and a pool has memory of one")
            }
        }
    }
}

fn count(number: impl fmt::Display, of: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {of}{plural}")
}

fn are(given: usize) -> String {
    let verb = if given == 1 { "is" } else { "are" };
    format!("{} {verb}", count(given, "context"))
}

/// Returns a help line on the number of simulated devices. Empty with a real driver.
pub(super) fn no_driver(library: &str) -> String {
    format!(
        "no CUDA driver is installed: {library} cannot be loaded\n  = help: without a GPU, call `load()` of the crate \
         `cuweave-sim` first"
    )
}

pub(super) fn simulator_help() -> &'static str {
    match Simulator::get().is_some() {
        true => {
            "\n  = help: the simulated driver has as many as the environment variable `CUWEAVE_SIM_DEVICES` says"
        }
        false => "",
    }
}
