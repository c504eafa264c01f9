//! [`Location`]: where managed memory can be, and the checks of locations that advice and prefetches name.

use std::ffi::c_int;

use crate::cuda::{
    CONCURRENT_MANAGED_ACCESS, Driver, MemLocation, attribute_of, device_count, may_have_node,
};
use crate::error::{Error, ManagedFault, Result};

/// A location of managed memory, or a processor that accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Location {
    /// The device with this CUDA ordinal.
    Device(u32),
    /// The host.
    Host,
    /// The NUMA node of the host with this number.
    HostNuma(u32),
    /// The host's NUMA node that is closest to the calling thread's CPU.
    HostNumaCurrent,
}

/// Returns the ordinals of the system's devices without concurrent access.
pub(crate) fn without_concurrent_access(driver: &Driver) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for ordinal in 0..device_count()? {
        let device = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        if attribute_of(driver, device, CONCURRENT_MANAGED_ACCESS)? == 0 {
            found.push(cuweave_core::index::size(ordinal));
        }
    }
    Ok(found)
}

/// Values of `CUmemLocationType`.
const DEVICE: u32 = 1;
const HOST: u32 = 2;
const HOST_NUMA: u32 = 3;
const HOST_NUMA_CURRENT: u32 = 4;

impl Location {
    /// Returns the location for the driver. Checks that a device exists and has concurrent access, or that a
    /// NUMA node exists.
    pub(crate) fn checked(self, driver: &Driver) -> Result<MemLocation> {
        let number = |number: u32| c_int::try_from(number).unwrap_or(c_int::MAX);
        Ok(match self {
            Location::Device(ordinal) => {
                let count = device_count()?;
                if ordinal >= count {
                    return Err(Error::NoDevice { ordinal: cuweave_core::index::size(ordinal), count });
                }
                let device = number(ordinal);
                if attribute_of(driver, device, CONCURRENT_MANAGED_ACCESS)? == 0 {
                    let device = cuweave_core::index::size(ordinal);
                    return Err(Error::Managed(ManagedFault::NoConcurrentAccess { device }));
                }
                MemLocation::new(DEVICE, device)
            }
            Location::Host => MemLocation::new(HOST, 0),
            Location::HostNuma(node) if !may_have_node(node) => {
                return Err(Error::Managed(ManagedFault::NoNode { node }));
            }
            Location::HostNuma(node) => MemLocation::new(HOST_NUMA, number(node)),
            Location::HostNumaCurrent => MemLocation::new(HOST_NUMA_CURRENT, 0),
        })
    }

    /// Like [`Location::checked`], but accepts only processors: a device or the host.
    pub(crate) fn processor(self, driver: &Driver) -> Result<MemLocation> {
        match self {
            Location::Device(_) | Location::Host => self.checked(driver),
            Location::HostNuma(_) | Location::HostNumaCurrent => {
                Err(Error::Managed(ManagedFault::NotAProcessor { location: self.to_string() }))
            }
        }
    }

    /// Converts a location of the driver. `None` if the driver has none.
    pub(crate) fn from_driver(location: MemLocation) -> Option<Location> {
        let id = || u32::try_from(location.id()).ok();
        match location.kind() {
            DEVICE => Some(Location::Device(id()?)),
            HOST => Some(Location::Host),
            HOST_NUMA => Some(Location::HostNuma(id()?)),
            HOST_NUMA_CURRENT => Some(Location::HostNumaCurrent),
            _ => None,
        }
    }

    /// Converts a processor's number from `CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY`.
    pub(crate) fn from_processor_id(id: c_int) -> Location {
        u32::try_from(id).map_or(Location::Host, Location::Device)
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Location::Device(ordinal) => write!(f, "device {ordinal}"),
            Location::Host => f.write_str("the host"),
            Location::HostNuma(node) => write!(f, "NUMA node {node} of the host"),
            Location::HostNumaCurrent => f.write_str("the current NUMA node of the host"),
        }
    }
}
