//! The faults of managed memory, and of memory of other allocators.

use super::parts::Fault;

/// The reason why managed memory cannot be allocated or used as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedFault {
    /// An allocation of zero bytes.
    #[error("managed memory of 0 bytes cannot be allocated")]
    Empty,
    /// An allocation that is larger than the address space.
    #[error("managed memory of {len} elements of {element} bytes is larger than the address space")]
    #[non_exhaustive]
    TooLarge {
        /// The number of elements.
        len: usize,
        /// The size of an element in bytes.
        element: usize,
    },
    /// A device without support for managed memory.
    #[error("device {device} does not support managed memory")]
    #[non_exhaustive]
    Unsupported {
        /// The ordinal of the device.
        device: usize,
    },
    /// Memory that is attached to the host, on a device without concurrent access.
    #[error(
        "managed memory that is attached to the host is not accessible from device {device}, which has no concurrent \
            access: `attach` it to the stream"
    )]
    #[non_exhaustive]
    AttachedToHost {
        /// The ordinal of the device.
        device: usize,
    },
    /// Memory that the host cannot access, as an argument of a host statement.
    #[error(
        "`{buffer}` is memory of the device alone, and the host statement cannot reach it: bind a `Managed`"
    )]
    #[non_exhaustive]
    NotForHost {
        /// The buffer.
        buffer: String,
    },
    /// Managed memory of a device without concurrent access, as an argument of a host statement.
    #[error(
        "the host statement cannot use managed memory in a launch: device {device} has no concurrent access"
    )]
    #[non_exhaustive]
    NotConcurrent {
        /// The ordinal of the device.
        device: usize,
    },
    /// A device without concurrent access to managed memory.
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
    /// A location that cannot access memory.
    #[error("{location} accesses no memory: `accessed_by` takes a device or the host")]
    #[non_exhaustive]
    NotAProcessor {
        /// The location.
        location: String,
    },
    /// A range without elements.
    #[error("the range of managed memory is empty")]
    EmptyRange,
    /// A range that is out of bounds.
    #[error("the range is out of bounds for the {len} elements of managed memory")]
    #[non_exhaustive]
    OutOfRange {
        /// The number of elements.
        len: usize,
    },
    /// A discard with a driver that does not support it.
    #[error("the contents of managed memory cannot be discarded: that needs a driver of CUDA 13.0")]
    NoDiscard,
    /// A discard in the legacy default stream.
    #[error("the contents of managed memory cannot be discarded in the legacy default stream")]
    LegacyStream,
    /// A setter binds memory that was allocated for another device, and a copy or a fill of the graph uses it.
    #[error(
        "memory that was allocated for device {device} cannot take the place of memory of device {built}: copies and \
            fills of a graph keep the devices of their memory\n  = help: bind memory that was allocated for device {built}, or build the graph again"
    )]
    #[non_exhaustive]
    OfOtherDevice {
        /// The ordinal of the device of the new memory.
        device: usize,
        /// The ordinal of the device of the replaced memory.
        built: usize,
    },
    /// `#[advise]` or `#[prefetch]` names a device that the graph does not have.
    #[error(
        "it has `#[advise]` or `#[prefetch]` for device {device} of the graph, counted from 0, and the graph has \
            {devices}"
    )]
    #[non_exhaustive]
    NotOfGraph {
        /// The index of the device.
        device: u32,
        /// The number of devices of the graph.
        devices: usize,
    },
    /// The range of `#[advise]` or `#[prefetch]` is not within its argument.
    #[error("its `#[advise]` or `#[prefetch]` names the elements {from}..{to}, and it has {len}")]
    #[non_exhaustive]
    HintRange {
        /// The first element.
        from: u64,
        /// The element after the last one.
        to: u64,
        /// The number of elements of the argument.
        len: u64,
    },
    /// A bound of the range of `#[advise]` or `#[prefetch]` has no value.
    #[error("a bound of its `#[advise]` or `#[prefetch]` {fault}")]
    #[non_exhaustive]
    HintBound {
        /// The reason.
        fault: Fault,
    },
    /// An argument with `#[advise]`, `#[prefetch]` or `#[discard]` is bound to other memory.
    #[error(
        "it has `#[advise]`, `#[prefetch]` or `#[discard]`, and is bound to memory that is not managed: bind a \
            `Managed`"
    )]
    NotManaged,
    /// Memory that is attached to another stream.
    #[error("managed memory that is attached to one stream is used in another one")]
    AttachedElsewhere,
    /// A launch uses memory that is lent, or writes memory that the host reads.
    #[error(
        "managed memory that is lent, to the host or by `with`, cannot be used by a launch until the view is dropped"
    )]
    Lent,
    /// Memory cannot be attached to the legacy or per-thread default stream.
    #[error("managed memory cannot be attached to a default stream")]
    DefaultStream,
    /// The host is accessing managed memory of a device without concurrent access, which may not run anything
    /// meanwhile.
    #[error(
        "nothing can be launched while the host accesses managed memory, since the device has no concurrent access: \
            drop the view first"
    )]
    OfHost,
}

/// The reason why memory of another allocator cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignFault {
    /// No elements, or elements without bytes.
    #[error("memory of 0 bytes cannot be bound")]
    Empty,
    /// An address that is no multiple of the element's alignment.
    #[error("the address {address:#x} is no multiple of {align}, the alignment of an element")]
    #[non_exhaustive]
    Misaligned {
        /// The address.
        address: u64,
        /// The alignment in bytes.
        align: u64,
    },
    /// An address that the driver does not know.
    #[error("the address {address:#x} is in no memory that the driver knows")]
    #[non_exhaustive]
    Unknown {
        /// The address.
        address: u64,
    },
    /// A tensor of a device that is not CUDA's.
    #[error("the tensor is on a device of DLPack's kind {kind}, and CUDA's is 2")]
    #[non_exhaustive]
    OfOtherDevice {
        /// The kind of device.
        kind: i32,
    },
    /// A tensor of other elements.
    #[error(
        "the tensor has elements of code {}, {} bits and {} lanes, and the argument of code {}, {} bits and {}",
        found.0, found.1, found.2, wanted.0, wanted.1, wanted.2
    )]
    #[non_exhaustive]
    OtherElements {
        /// The code, the bits and the lanes of the tensor's elements.
        found: (u8, u8, u16),
        /// Those of the elements as declared.
        wanted: (u8, u8, u16),
    },
    /// A tensor whose elements are not in order without gaps.
    #[error(
        "the elements of the tensor of shape {shape:?} with strides {strides:?} are not in order without gaps"
    )]
    #[non_exhaustive]
    Gaps {
        /// The length of each dimension.
        shape: Vec<i64>,
        /// The elements from one to the next along each dimension.
        strides: Vec<i64>,
    },
    /// Memory of the host.
    #[error("the address {address:#x} is in memory of the host: bind pinned memory of cudarc")]
    #[non_exhaustive]
    OfHost {
        /// The address.
        address: u64,
    },
    /// Elements beyond the end of an allocation.
    #[error(
        "{bytes} bytes from {address:#x} on end after their allocation, which has {allocated} bytes from {base:#x} on"
    )]
    #[non_exhaustive]
    PastEnd {
        /// The address of the first element.
        address: u64,
        /// The bytes of all elements.
        bytes: u64,
        /// The address of the allocation.
        base: u64,
        /// The bytes of the allocation.
        allocated: u64,
    },
}
