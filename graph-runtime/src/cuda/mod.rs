//! The calls and handles of the CUDA driver. Only this module calls the driver, and only it contains `unsafe`.
//! It imports no other module of the crate.
//!
//! Entry points are resolved by `cuGetProcAddress_v2`, once per process, so that a symbol that the driver lacks
//! is an error instead of a panic. They return plain numbers, because a newer driver may return errors that no
//! enum of the bindings has. Handles are plain numbers too. Structures are zeroed and have the sizes of the
//! bindings.
//!
//! The runtime upholds two rules for every call: a handle is used only while its owner lives, and an address
//! belongs to a live allocation of its operand or graph.
//!
//! - `entry`: the entry points, and the driver's version, error texts and log; `failure`, `handles`: their
//!   types;
//! - `functions`, `link`, `streams`, `mappings`, `peers`, `graphs`: the calls by subject; `params`: the
//!   parameters of nodes; `read`: the parameters of nodes that were added;
//! - `capture`: stream captures; `buffers`: conversions from and to cudarc's types; `aside`: buffers dropped
//!   while their stream is capturing; `runtime_context`: the runtime's own cudarc context object; `collective`:
//!   descriptions of collectives; `any_bits`: element types without invalid bits; `pointer`: element types of
//!   tables of pointers;
//! - `children`: replacements of child graphs; `lifted`: graphs of other code;
//! - `managed`: managed memory and its elements on the host;
//! - `multicast`: multicast objects, physical memory, and mappings of both;
//! - `host`: the user's functions that host nodes call; `sync`: values and semaphores that nodes wait for and
//!   write;
//! - `nvtx`: ranges for profilers;
//! - `simulator`: the calls that only the simulated driver has.
#![allow(unsafe_code)]

mod any_bits;
mod aside;
mod buffers;
mod capture;
mod children;
mod collective;
mod entry;
mod failure;
mod functions;
mod graphs;
mod handles;
mod host;
mod lifted;
mod link;
mod managed;
mod mappings;
mod multicast;
#[cfg(feature = "nvtx")]
mod nvtx;
mod params;
mod peers;
mod pointer;
mod read;
mod runtime_context;
mod simulator;
mod streams;
mod sync;

pub use any_bits::{AnyBits, Bits, FilledValue, NotAnyBits, any_bits, value_bytes};
pub use aside::OwnedBuffer;
pub use buffers::{
    BorrowedBuffer, DropOrLeak, PinnedViewMut, UnownedBuffer, guard_event, held, pinned_parts,
};
pub use capture::{
    CallBuffer, CallNodes, CallStream, CaptureInfo, CaptureStatus, CaptureStream, NodeKind, between_captures,
    drop_outside_captures, during_capture, during_foreign_capture,
};
pub use children::GraphShape;
pub use collective::{
    Collective, CollectiveDifference, CollectiveSequence, CommunicatorFault, Interleaving, LibraryError,
    LocalRanks,
};
pub use entry::{Driver, Unavailable, driver, error_name, log_since_mark, mark_log, version};
pub use failure::{
    CAPTURE_UNJOINED, Failure, INVALID_IMAGE, INVALID_PTX, NO_BINARY_FOR_GPU, NO_DEVICE, OUT_OF_MEMORY,
    Outcome, UNSUPPORTED_PTX_VERSION, code_of, known, record,
};
pub use graphs::ConditionalKind;
pub use handles::{Context, Event, Function, Node, RawExec, RawGraph, RawModule, RawSemaphore, Stream};
pub use host::{ElementRange, HostCall, HostFaults, HostMemory, HostWork, host_work};
pub use lifted::{CapturedKind, KernelValues};
pub use managed::{
    AddressRange, Association, CONCURRENT_MANAGED_ACCESS, MANAGED_MEMORY, ManagedMemory, MemAdvice,
    attribute_of, device_count, host_elements, host_elements_mut, initialize, may_have_node, page_size,
    synchronize_devices_without_concurrent_access, whole_pages,
};
pub use multicast::{BindFailure, MULTICAST_SUPPORTED, MappedRange, PhysicalHandle};
#[cfg(feature = "nvtx")]
pub use nvtx::nvtx_range;
pub use params::{
    CopyEnd, CopyPitch, KernelLaunch, MemLocation, Memcpy, Memset, Mirror, ObjectProperties, Packed,
    ParameterValues, Scratch, Word, WordCount, address_word, number, pattern, push_value, write_value,
};
pub use peers::PointerPlace;
pub use pointer::{Condition, Ptr, PtrMut};
pub use read::KernelNode;
pub use runtime_context::RuntimeContext;
pub use simulator::{BatchMember, HostAccess, PlannedBuffer, Simulator};
pub use sync::{FlagMemory, OwnedSemaphore, SemaphoreHandle, SemaphoreOperation, ValueOperation, Width};

/// Begins no range: without the feature `nvtx` there are none.
#[cfg(not(feature = "nvtx"))]
#[inline]
pub fn nvtx_range(_: impl FnOnce() -> String) -> Option<std::convert::Infallible> {
    None
}
