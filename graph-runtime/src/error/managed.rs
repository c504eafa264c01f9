//! The faults of managed memory.

/// The reason that managed memory cannot be made or used in a way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedFault {
    /// An allocation of no bytes.
    #[error("managed memory of 0 bytes cannot be allocated")]
    Empty,
    /// An allocation that no address space holds.
    #[error("managed memory of {len} elements of {element} bytes is larger than the address space")]
    #[non_exhaustive]
    TooLarge {
        /// The number of elements.
        len: usize,
        /// The size of an element in bytes.
        element: usize,
    },
    /// A device that does not allocate managed memory.
    #[error("device {device} does not support managed memory")]
    #[non_exhaustive]
    Unsupported {
        /// The ordinal of the device.
        device: usize,
    },
    /// Memory that is attached to the host, and a device without concurrent access.
    #[error(
        "managed memory that is attached to the host is not accessible from device {device}, which has no concurrent access: `attach` it to the stream"
    )]
    #[non_exhaustive]
    AttachedToHost {
        /// The ordinal of the device.
        device: usize,
    },
    /// A host statement is given memory that the host cannot access.
    #[error(
        "`{buffer}` is memory of the device alone, and the host statement cannot reach it: bind a `Managed`"
    )]
    #[non_exhaustive]
    NotForHost {
        /// The buffer.
        buffer: String,
    },
    /// A host statement is given managed memory of a device without concurrent access.
    #[error(
        "the host statement cannot use managed memory in a launch: device {device} has no concurrent access"
    )]
    #[non_exhaustive]
    NotConcurrent {
        /// The ordinal of the device.
        device: usize,
    },
    /// A device that has no concurrent access to managed memory.
    #[error(
        "device {device} has no concurrent access to managed memory, which advice, prefetches and discards need"
    )]
    #[non_exhaustive]
    NoConcurrentAccess {
        /// The ordinal of the device.
        device: usize,
    },
    /// A NUMA node that does not exist.
    #[error("the host has no NUMA node {node}")]
    #[non_exhaustive]
    NoNode {
        /// The number of the node.
        node: u32,
    },
    /// A location that accesses no memory.
    #[error("{location} accesses no memory: `accessed_by` takes a device or the host")]
    #[non_exhaustive]
    NotAProcessor {
        /// The location.
        location: String,
    },
    /// A range without elements.
    #[error("the range of managed memory is empty")]
    EmptyRange,
    /// A range that does not lie in the memory.
    #[error("the range does not lie in the {len} elements of managed memory")]
    #[non_exhaustive]
    OutOfRange {
        /// The number of elements.
        len: usize,
    },
    /// A discard, and a driver that has none.
    #[error("the contents of managed memory cannot be discarded: that needs a driver of CUDA 13.0")]
    NoDiscard,
    /// A discard in the legacy default stream.
    #[error("the contents of managed memory cannot be discarded in the legacy default stream")]
    LegacyStream,
    /// A setter binds memory that was allocated for another device than the memory before, and a copy or a fill of the graph uses it.
    #[error(
        "memory that was allocated for device {device} cannot take the place of memory of device {built}: copies and fills of a graph keep the devices of their memory\n  = help: bind memory that was allocated for device {built}, or build the graph again"
    )]
    #[non_exhaustive]
    OfOtherDevice {
        /// The ordinal of the device that the memory was allocated for.
        device: usize,
        /// That of the memory before.
        built: usize,
    },
    /// `#[advise]` or `#[prefetch]` names a device that the graph does not have.
    #[error(
        "it has `#[advise]` or `#[prefetch]` for device {device} of the graph, counted from 0, and the graph has {devices}"
    )]
    #[non_exhaustive]
    NotOfGraph {
        /// The index of the device.
        device: u32,
        /// The number of devices of the graph.
        devices: usize,
    },
    /// An argument with `#[advise]`, `#[prefetch]` or `#[discard]` is bound to other memory.
    #[error(
        "it has `#[advise]`, `#[prefetch]` or `#[discard]`, and is bound to memory that is not managed: bind a `Managed`"
    )]
    NotManaged,
    /// Memory that is attached to another stream.
    #[error("managed memory that is attached to one stream is used in another one")]
    AttachedElsewhere,
    /// A launch uses memory that is lent.
    #[error(
        "managed memory that is lent, to the host or by `with`, cannot be used by a launch until the view is dropped"
    )]
    Lent,
    /// Memory cannot be attached to the legacy or per-thread default stream.
    #[error("managed memory cannot be attached to a default stream")]
    DefaultStream,
    /// The host accesses managed memory of a device that then may not run anything.
    #[error(
        "nothing can be launched while the host accesses managed memory, since the device has no concurrent access: drop the view first"
    )]
    OfHost,
}
