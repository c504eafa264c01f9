//! The faults of [`lift`](fn@crate::lift) and of lifted graphs.

use std::fmt::Debug;

/// The reason that a graph of other code cannot be captured, lifted or changed in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiftFault {
    /// The legacy default stream, which cannot capture.
    #[error(
        "the legacy default stream cannot capture\n  = help: use a stream of `ctx.new_stream()` for all of the work"
    )]
    DefaultStream,
    /// The capture could not be ended.
    #[error(
        "the capture was broken: {why}\n  = help: run the closure once before the capture, so that libraries are \
        loaded; join the streams that it forks; without event tracking (`ctx.disable_event_tracking()`) cudarc's buffers \
        wait for no event from before the capture"
    )]
    #[non_exhaustive]
    Capture {
        /// The driver's reason.
        why: String,
    },
    /// The closure returned an error.
    #[error("the work that is captured failed: {why}")]
    #[non_exhaustive]
    Closure {
        /// The error's text.
        why: String,
    },
    /// A text that is no PTX.
    #[error("text {index} is no PTX that can be read: {message}")]
    #[non_exhaustive]
    NotPtx {
        /// Its position.
        index: usize,
        /// The reason.
        message: String,
    },
    /// The PTX is not that of the captured kernel.
    #[error("the PTX of `{kernel}` is not that of the captured kernel, which has {difference}")]
    #[non_exhaustive]
    OtherKernel {
        /// The kernel.
        kernel: String,
        /// The difference.
        difference: String,
    },
    /// A conditional node, whose parameters cannot be read.
    #[error("node {node} is a conditional node, whose parameters cannot be read")]
    #[non_exhaustive]
    Conditional {
        /// The number of the node.
        node: usize,
    },
    /// A node of a kind that cannot be copied.
    #[error("node {node} is of kind {kind}, which cannot be added to another graph")]
    #[non_exhaustive]
    Unsupported {
        /// The number of the node.
        node: usize,
        /// Its `CUgraphNodeType`.
        kind: u32,
    },
    /// A child graph, or a kernel whose parameters cannot be read, that may use memory of alloc nodes.
    #[error(
        "node {node} (`{name}`) may use the memory that node {allocated_by} allocates, whose addresses in it cannot be \
        changed\n  = help: allocate before the capture"
    )]
    #[non_exhaustive]
    MemoryOfKept {
        /// The number of the node.
        node: usize,
        /// Its name.
        name: String,
        /// The number of the node that allocates the memory.
        allocated_by: usize,
    },
    /// The captured graph uses memory that is not there.
    #[error("the captured graph cannot be launched: {finding}")]
    #[non_exhaustive]
    Broken {
        /// The finding.
        finding: String,
    },
    /// A graph without work.
    #[error("the captured graph has no nodes")]
    Empty,
    /// No kernel of this name at this position.
    #[error("there is no kernel `{name}` after {nth} others: the captured graph has {count} of this name")]
    #[non_exhaustive]
    NoKernel {
        /// The name.
        name: String,
        /// The position.
        nth: usize,
        /// The number of kernels of the name.
        count: usize,
    },
    /// A kernel that is kept as captured has no setter.
    #[error("the kernel `{name}` {nth} is kept as it was captured: the findings say why")]
    #[non_exhaustive]
    KeptKernel {
        /// The name.
        name: String,
        /// The position.
        nth: usize,
    },
    /// A parameter that is not there, or a pointer.
    #[error(
        "`{kernel}` has no parameter {parameter} that is a value\n  = help: pointers are changed by `set_memory`"
    )]
    #[non_exhaustive]
    NoParameter {
        /// The kernel.
        kernel: String,
        /// The position of the parameter.
        parameter: usize,
    },
    /// A value of another size than the parameter's.
    #[error("parameter {parameter} of `{kernel}` has {bytes} bytes, and the value {given}")]
    #[non_exhaustive]
    ParameterSize {
        /// The kernel.
        kernel: String,
        /// The position of the parameter.
        parameter: usize,
        /// The bytes of the parameter.
        bytes: usize,
        /// The bytes of the value.
        given: usize,
    },
    /// No output at this position with elements of the type.
    #[error("there is no output {nth} with elements of this type: the graph has {count} outputs")]
    #[non_exhaustive]
    NoOutput {
        /// The position.
        nth: usize,
        /// The number of outputs.
        count: usize,
    },
    /// Memory that a kept node may use, too.
    #[error(
        "the allocation {nth} cannot be replaced: node {node} (`{name}`), which is kept, may use its address"
    )]
    #[non_exhaustive]
    MemoryKept {
        /// The position of the allocation.
        nth: usize,
        /// The number of the node.
        node: usize,
        /// Its name.
        name: String,
    },
    /// No memory at this position.
    #[error("there is no allocation {nth}: the lifted graph uses {count}")]
    #[non_exhaustive]
    NoMemory {
        /// The position.
        nth: usize,
        /// The number of allocations.
        count: usize,
    },
}
