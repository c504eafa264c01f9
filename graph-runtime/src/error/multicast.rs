//! The faults of multicast objects.

use cuweave_core::location::SourceLocation;

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
    /// A real device, and the program has not allowed multicast objects of real devices.
    #[error(
        "multicast objects of real devices are not allowed: cuweave has used them only on the simulated driver\n  \
            = help: a program that uses them on hardware first calls `cuweave::multicast::allow_on_hardware()`"
    )]
    NotAllowed,
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
    /// Memory that is unbound while an exec or graph uses it through a mapping.
    #[error(
        "{bytes} bytes from {offset} on of the multicast object are in use by a graph: drop the graph first"
    )]
    #[non_exhaustive]
    InUse {
        /// The offset in the object.
        offset: u64,
        /// The size of the part in bytes.
        bytes: u64,
    },
    /// A copy from or to a part of a mapping, or a view for one.
    #[error(
        "elements of a mapped multicast object are not copied: copy from and to the `Memory` of each device"
    )]
    NotForCopies,
    /// A statement other than a launch or a library call uses elements of a mapping.
    #[error(
        "`{buffer}` is a mapped multicast object, which only kernels can use: the driver does not officially support \
            copies and fills of its addresses\n  = help: copy or fill the `Memory` of each device"
    )]
    #[non_exhaustive]
    NotByKernel {
        /// The argument.
        buffer: String,
    },
    /// A buffer with elements `Multimem<T>` that is not a mapping.
    #[error(
        "`{buffer}` has elements of type `Multimem<_>`, but is not a mapped multicast object: bind a `Mapping`, or a \
            slice of one"
    )]
    #[non_exhaustive]
    NotMapped {
        /// The buffer.
        buffer: String,
    },
    /// One statement uses the same memory by two arguments, and may write it.
    #[error(
        "`{first}` and `{second}` are the same memory, and one of them may be written: one launch cannot take both"
    )]
    #[non_exhaustive]
    SameMemory {
        /// One argument.
        first: String,
        /// The other one.
        second: String,
    },
    /// In explicit order, two statements use the same memory by two arguments, one of them writes it, and nothing
    /// orders them.
    #[error(
        "`{first}` and `{second}` are the same memory, which {earlier} uses too, but nothing orders the two"
    )]
    #[non_exhaustive]
    Unordered {
        /// One argument.
        first: String,
        /// The other one.
        second: String,
        /// The earlier statement.
        earlier: Box<SourceLocation>,
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
