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
    /// Memory that is attached to another stream.
    #[error("managed memory that is attached to one stream is used in another one")]
    AttachedElsewhere,
    /// Memory cannot be attached to the legacy or per-thread default stream.
    #[error("managed memory cannot be attached to a default stream")]
    DefaultStream,
    /// The host accesses managed memory of a device that then may not run anything.
    #[error(
        "nothing can be launched while the host accesses managed memory, since the device has no concurrent access: drop the view first"
    )]
    OfHost,
}
