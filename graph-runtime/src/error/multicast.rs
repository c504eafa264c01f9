//! The faults of multicast objects.

/// The reason why a multicast object cannot be created or used as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MulticastFault {
    /// A device that does not support multicast objects.
    #[error("device {device} does not support multicast objects")]
    #[non_exhaustive]
    Unsupported {
        /// The ordinal of the device.
        device: usize,
    },
    /// A team without devices.
    #[error("a multicast object needs at least one device")]
    NoDevices,
    /// A device that is listed twice.
    #[error("device {device} is named twice for one multicast object")]
    #[non_exhaustive]
    Repeated {
        /// The ordinal of the device.
        device: usize,
    },
    /// A device for which the object was not created.
    #[error("device {device} is not one of those that the multicast object was created for")]
    #[non_exhaustive]
    NotInTeam {
        /// The ordinal of the device.
        device: usize,
    },
    /// Memory that is read in a stream of another device.
    #[error(
        "memory of device {memory} is not read in a stream of device {device}: give a stream of device {memory}"
    )]
    #[non_exhaustive]
    OtherDevice {
        /// The ordinal of the stream's device.
        device: usize,
        /// The ordinal of the memory's device.
        memory: usize,
    },
    /// A device that was already added. Devices cannot be removed.
    #[error("device {device} was added to the multicast object before")]
    #[non_exhaustive]
    AddedTwice {
        /// The ordinal of the device.
        device: usize,
    },
    /// Some devices were not added. Binding and mapping would wait for them forever.
    #[error("{added} of the {devices} devices of the multicast object were added")]
    #[non_exhaustive]
    Missing {
        /// The number of devices that were added.
        added: usize,
        /// The number of devices for which the object was created.
        devices: usize,
    },
    /// An object, a memory or a part of zero bytes.
    #[error("{what} has 0 bytes")]
    #[non_exhaustive]
    Empty {
        /// The name of the object, memory or part.
        what: &'static str,
    },
    /// A number of bytes that is not a multiple of the granularity.
    #[error("{what} ({bytes} bytes) is not a multiple of the granularity ({granularity} bytes)")]
    #[non_exhaustive]
    Misaligned {
        /// The size, offset or address.
        what: &'static str,
        /// Its value in bytes.
        bytes: u64,
        /// The granularity in bytes.
        granularity: u64,
    },
    /// A part that is not inside of the object or the memory.
    #[error("{bytes} bytes at offset {offset} are out of range for {what} of {size} bytes")]
    #[non_exhaustive]
    Outside {
        /// The object or the memory.
        what: &'static str,
        /// The offset of the part in bytes.
        offset: u64,
        /// The size of the part in bytes.
        bytes: u64,
        /// The size of the whole in bytes.
        size: u64,
    },
    /// Other memory of the device is already bound there.
    #[error(
        "other memory of device {device} is bound to the multicast object within {bytes} bytes from {offset} on"
    )]
    #[non_exhaustive]
    Overlap {
        /// The ordinal of the device.
        device: usize,
        /// The offset in the object.
        offset: u64,
        /// The size of the part in bytes.
        bytes: u64,
    },
    /// A write to bytes where a device has no memory bound.
    #[error("no memory of device {device} is bound to the multicast object at {offset}")]
    #[non_exhaustive]
    Unbound {
        /// The ordinal of the device.
        device: usize,
        /// The first such offset.
        offset: u64,
    },
    /// The system has no resources left for the binding (`CUDA_ERROR_OUT_OF_MEMORY`,
    /// `CUDA_ERROR_MULTICAST_RESOURCE_FULL`).
    #[error("the system has too few resources to bind the memory to the multicast object")]
    NoResources,
    /// System software that multicast needs is not running (`CUDA_ERROR_SYSTEM_NOT_READY`).
    #[error("the system software that multicast objects need is not running")]
    SystemNotReady,
    /// The system's configuration is invalid (`CUDA_ERROR_ILLEGAL_STATE`).
    #[error(
        "the system is in a state that multicast objects do not work in: check its configuration and the driver's \
            daemons"
    )]
    IllegalState,
    /// The members of a team request different operations.
    #[error(
        "the members of the team disagree: one is at `{step}` with {value}, another at `{other}` with {other_value}"
    )]
    #[non_exhaustive]
    Disagree {
        /// The step of one member.
        step: &'static str,
        /// Its number of bytes, or 0.
        value: u64,
        /// The step of another.
        other: &'static str,
        /// Its number of bytes, or 0.
        other_value: u64,
    },
    /// A member of the team was dropped, or its thread panicked, before the others had finished.
    #[error("member {rank} of the team is gone, and the others wait at `{step}`")]
    #[non_exhaustive]
    MemberGone {
        /// The index of the member.
        rank: usize,
        /// The step.
        step: &'static str,
    },
    /// A member of the team did not arrive in time.
    #[error("{arrived} of the {members} members of the team arrived at `{step}` in time")]
    #[non_exhaustive]
    TimedOut {
        /// The step.
        step: &'static str,
        /// The number of members that arrived.
        arrived: usize,
        /// The number of members of the team.
        members: usize,
    },
}
