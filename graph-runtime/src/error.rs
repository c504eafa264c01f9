//! The errors of the runtime, as one enum.

mod calls;
mod certificate;
mod config;
mod convert;
mod devices;
mod execs;
mod failed;
mod managed;
mod multicast;
mod parts;
mod places;
mod plan;
pub(crate) mod program;

pub use crate::cuda::{CommunicatorFault, LibraryError};
pub use calls::CallFault;
pub use certificate::BrokenCertificate;
pub use config::{ConfigFault, ConfigPart};
pub use cuweave_core::compile::BudgetFault;
pub use devices::{DeviceFault, DeviceFeature, Inaccessible};
pub use execs::{LoopFault, OutputFault, ProfileFault, SetterFault};
pub(crate) use failed::{describe, one_line, refused};
pub use managed::ManagedFault;
pub use multicast::MulticastFault;
pub use parts::{
    At, DriverFailure, FailedCall, Fault, KernelFault, MemoryKind, ModuleFailure, OutsideExtent, Quantity,
    Refusal, ShortLaunch, Unfollowed, UnprovedLaunch,
};
pub(crate) use places::{at_attribute, at_buffer, at_function, at_statement, refusals};
pub use plan::PlanFault;

/// The result of every fallible function of cuweave.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the runtime.
///
/// Both `Display` and `Debug` print its text, so that `main` can return it. Errors of driver calls have cudarc's
/// [`DriverError`](cudarc::driver::DriverError) as their [`source`](std::error::Error::source), and `?` converts one in a function that returns
/// [`Result`]:
///
/// ```
/// # use cuweave_runtime as cuweave;
/// # use {cudarc::driver::{CudaContext, CudaSlice}, std::sync::Arc};
/// fn zeros(ctx: &Arc<CudaContext>, len: usize) -> cuweave::Result<CudaSlice<f32>> {
///     Ok(ctx.new_stream()?.alloc_zeros(len)?)
/// }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Faults of the graph function that only the numbers of this build show, each with the code of the compile-time error.
    #[error("{}", parts::lines(.0))]
    Refused(Vec<Refusal>),
    /// No CUDA driver is installed.
    #[error(
        "no CUDA driver is installed: {0} cannot be loaded\n  = help: without a GPU, call `load()` of the crate `cuweave-sim` first"
    )]
    NoDriver(&'static str),
    /// The driver is too old for graphs.
    #[error("the CUDA driver is too old: it has CUDA {}.{}, and 12.4 is needed", found.0, found.1)]
    #[non_exhaustive]
    DriverTooOld {
        /// The CUDA version of the driver.
        found: (u32, u32),
    },
    /// There is no device of that ordinal.
    #[error("there is no CUDA device {ordinal}: the driver has {count} of them{}", devices::simulated())]
    #[non_exhaustive]
    NoDevice {
        /// The requested ordinal.
        ordinal: usize,
        /// The number of devices.
        count: u32,
    },
    /// A call of the driver failed.
    #[error(transparent)]
    Driver(Box<DriverFailure>),
    /// A call failed earlier, in a drop that could not return the error.
    #[error(transparent)]
    Earlier(Box<DriverFailure>),
    /// The certificate of a graph does not hold: a mistake of cuweave. The graph is not launched.
    #[error(transparent)]
    Certificate(Box<BrokenCertificate>),
    /// A length or bound has no value.
    #[error("{what} of {at} {fault}: `{text}`")]
    #[non_exhaustive]
    Size {
        /// The use of the expression.
        what: Quantity,
        /// The buffer, or the node that uses the range.
        at: Box<At>,
        /// The expression.
        text: String,
        /// The reason that it has no value.
        fault: Fault,
    },
    /// A buffer of no elements.
    #[error("{at} has zero length: `{text}`")]
    #[non_exhaustive]
    ZeroLength {
        /// The buffer, or the node that fills or copies nothing.
        at: Box<At>,
        /// The expression of its length.
        text: String,
    },
    /// An argument is shorter than what its declaration says.
    #[error("{at} has {len} elements, and `{text}` = {needed} are declared")]
    #[non_exhaustive]
    TooShort {
        /// The argument.
        at: Box<At>,
        /// Its number of elements.
        len: u64,
        /// The declared length's expression.
        text: String,
        /// Its value.
        needed: u64,
    },
    /// A range does not lie in its buffer.
    #[error("{at} uses `{buffer}[{range}]` = [{lo}..{hi}], which is no range of its {len} elements")]
    #[non_exhaustive]
    Range {
        /// The node.
        at: Box<At>,
        /// The buffer.
        buffer: String,
        /// The range's text.
        range: String,
        /// The first element.
        lo: u64,
        /// One past the last.
        hi: u64,
        /// The buffer's length.
        len: u64,
    },
    /// A part of a part of a buffer does not lie in the outer part.
    #[error(
        "{at}: its part [{range}] = [{lo}..{hi}] is taken of its part [{view}] = [{from}..{to}], and does not lie in that"
    )]
    #[non_exhaustive]
    ViewRange {
        /// The buffer, and the line where the part is taken.
        at: Box<At>,
        /// The part's text, counted from the buffer's first element.
        range: String,
        /// The first element.
        lo: u64,
        /// One past the last.
        hi: u64,
        /// The text of the outer part.
        view: String,
        /// The first element of the outer part.
        from: u64,
        /// One past its last element.
        to: u64,
    },
    /// The device is to decide by a buffer of more than one element.
    #[error(
        "{at}: `{word}` decides by a buffer of one element, and `{buffer}` has {len}; name a part: `&{buffer}[i..i + 1]`"
    )]
    #[non_exhaustive]
    Operand {
        /// The statement.
        at: Box<At>,
        /// Its word.
        word: &'static str,
        /// The buffer.
        buffer: String,
        /// The number of its elements.
        len: u64,
    },
    /// A kernel gets fewer elements than its declaration says it touches.
    #[error(
        "{at}: `{kernel}` touches {extent} elements of its parameter `{parameter}`, and `{buffer}` gives it {len}"
    )]
    #[non_exhaustive]
    Extent {
        /// The node.
        at: Box<At>,
        /// The kernel.
        kernel: String,
        /// Its parameter.
        parameter: String,
        /// The buffer.
        buffer: String,
        /// The elements that the kernel touches.
        extent: u64,
        /// The number of elements that the buffer has.
        len: u64,
    },
    /// A later read relies on a write of a whole range, and the kernel writes only a part of it.
    #[error(
        "{at}: `{kernel}` writes {extent} of the {len} elements of `{buffer}` that it is given, and a later read of `{buffer}` counts on all"
    )]
    #[non_exhaustive]
    PartlyWritten {
        /// The node.
        at: Box<At>,
        /// The kernel.
        kernel: String,
        /// The buffer.
        buffer: String,
        /// The elements that the kernel declares to write.
        extent: u64,
        /// The range's length.
        len: u64,
    },
    /// The threads of a launch do not write all elements of a write-only parameter.
    #[error("{0}")]
    Short(Box<ShortLaunch>),
    /// The threads of a launch access elements outside the declared extent of a parameter.
    #[error("{0}")]
    OutsideExtent(Box<OutsideExtent>),
    /// Nothing proves that a launch writes all elements of a write-only parameter, and their type has invalid bit patterns.
    #[error("{0}")]
    NotProvedWritten(Box<UnprovedLaunch>),
    /// The two ends of a copy differ in length.
    #[error("{at} copies {from} elements of `{source_name}` to {to} of `{target_name}`")]
    #[non_exhaustive]
    CopyLength {
        /// The node.
        at: Box<At>,
        /// The source.
        source_name: String,
        /// The elements of the source.
        from: u64,
        /// The target.
        target_name: String,
        /// The elements of the target.
        to: u64,
    },
    /// The temporaries do not fit into the budget.
    #[error("{at}: {reason}")]
    #[non_exhaustive]
    Budget {
        /// The graph function.
        at: Box<At>,
        /// The reason.
        reason: BudgetFault,
    },
    /// An index into a list of arguments is not below its length.
    #[error("{at}: the index of `{list}` is {index}, but it has {len} elements")]
    #[non_exhaustive]
    Index {
        /// The function.
        at: Box<At>,
        /// The list.
        list: String,
        /// The index.
        index: u64,
        /// The number of its elements.
        len: usize,
    },
    /// A scalar, or the length of a list, is smaller than `#[at_least]` says.
    #[error("{at}: its value or length is {value}, and `#[at_least({least})]` is declared")]
    #[non_exhaustive]
    AtLeast {
        /// The argument.
        at: Box<At>,
        /// The least that it may be.
        least: u64,
        /// Its value, or its number of elements.
        value: u64,
    },
    /// A graph function calls itself, directly or by way of others.
    #[error("{at}: this call has no end: {}", .cycle.join(" -> "))]
    #[non_exhaustive]
    Recursion {
        /// The call.
        at: Box<At>,
        /// The cycle of functions, from the one that is called again.
        cycle: Vec<String>,
    },
    /// Loops and calls make more statements than a graph may have.
    #[error("{at}: loops and calls make more than {most} statements, calls or turns")]
    #[non_exhaustive]
    TooLarge {
        /// The function.
        at: Box<At>,
        /// The most statements of a graph, or turns of its loops.
        most: usize,
    },
    /// An output is declared with another length than it is allocated with.
    #[error("{at} is returned with {declared} elements declared, and it has {actual}")]
    #[non_exhaustive]
    ReturnedLength {
        /// The output.
        at: Box<At>,
        /// The length in the signature.
        declared: u64,
        /// The length of the allocation.
        actual: u64,
    },
    /// A launch configuration that the device or the kernel does not support, or a statement without a value.
    #[error("{at}: {reason}")]
    #[non_exhaustive]
    Config {
        /// The node.
        at: Box<At>,
        /// The reason.
        reason: ConfigFault,
    },
    /// A library call that cannot be part of the graph.
    #[error("{at}: {fault}")]
    #[non_exhaustive]
    Call {
        /// The call.
        at: Box<At>,
        /// The reason.
        fault: CallFault,
    },
    /// An error of a library outside of a graph, such as one that cannot be loaded.
    #[error("{text}")]
    Library {
        /// Its text.
        text: String,
    },
    /// Two arguments share memory, and the graph may write one of them.
    #[error("the arguments {first} and {second} overlap, and the graph may write one of them")]
    #[non_exhaustive]
    Overlap {
        /// One argument.
        first: Box<At>,
        /// The other one.
        second: Box<At>,
    },
    /// A graph function of several devices is given no context.
    #[error("a graph is built for one context at least, and none is given")]
    NoContext,
    /// A fault of a graph over several devices.
    #[error("{0}")]
    Devices(Box<DeviceFault>),
    /// Memory of a context that the graph does not have, or of another than its first where that is asked for.
    #[error("{at} is bound to memory of another context than {}\n  = help: {}", .memory.contexts(), .memory.way())]
    #[non_exhaustive]
    OtherContext {
        /// The argument.
        at: Box<At>,
        /// The kind of the memory.
        memory: MemoryKind,
    },
    /// A buffer whose address is not a multiple of its elements' alignment.
    #[error("{at} lies at an address that is no multiple of its elements' alignment, {align}")]
    #[non_exhaustive]
    Misaligned {
        /// The argument.
        at: Box<At>,
        /// The alignment.
        align: u32,
    },
    /// A kernel that its module does not have, or declares with other parameters.
    #[error("the kernel `{kernel}` of {path} {reason}")]
    #[non_exhaustive]
    Kernel {
        /// The kernel.
        kernel: String,
        /// The module's file.
        path: String,
        /// The reason.
        reason: KernelFault,
    },
    /// A module that the driver cannot load.
    #[error(transparent)]
    Module(Box<ModuleFailure>),
    /// A launch into a stream of another context.
    #[error("`{function}` is launched into a stream of another context than that of its first device")]
    #[non_exhaustive]
    StreamOfOtherContext {
        /// The graph function.
        function: String,
    },
    /// A launch into a stream that is capturing.
    #[error("`{function}` is launched into a stream that is capturing")]
    #[non_exhaustive]
    StreamCapturing {
        /// The graph function.
        function: String,
    },
    /// A buffer whose owning stream is capturing, or that was used in a stream that is.
    #[error("a bound buffer belongs to a stream that is capturing, or was used in one")]
    OwnerCapturing,
    /// A launch that uses a [`Buffer`](crate::Buffer) while `with` or `with_mut` lends it.
    #[error(
        "{at} is lent by `Buffer::with` or `with_mut`, and cannot be used by a launch until that returns"
    )]
    BufferLent {
        /// The argument.
        at: Box<At>,
    },
    /// A [`Buffer`](crate::Buffer) is lent while it is lent already.
    #[error(
        "a buffer is lent already, by `with` or `with_mut` or to the host, and cannot be lent again until that ends"
    )]
    BufferLentTwice,
    /// A [`Buffer`](crate::Buffer) is made, or copied from or to the host, in a stream that is capturing.
    #[error("a buffer is made, copied, attached or moved in a stream that is capturing")]
    BufferCapturing,
    /// A [`Buffer`](crate::Buffer) is copied, moved, lent or attached in a stream of another context than its own.
    #[error("a buffer is copied, moved, lent or attached in a stream of another context than its own")]
    BufferOfOtherContext,
    /// More elements are copied to a [`Buffer`](crate::Buffer) than it has.
    #[error("{needed} elements are copied to a buffer of {len}")]
    BufferTooShort {
        /// The elements of the buffer.
        len: usize,
        /// The elements that are copied.
        needed: usize,
    },
    /// Managed memory that cannot be made or used in this way.
    #[error("{0}")]
    Managed(ManagedFault),
    /// A multicast object that cannot be made or used in this way.
    #[error("{0}")]
    Multicast(MulticastFault),
    /// Managed memory is bound to an argument, and cannot be used in this way.
    #[error("{at}: {fault}")]
    #[non_exhaustive]
    ManagedArgument {
        /// The argument, or the statement that uses it.
        at: Box<At>,
        /// The reason.
        fault: ManagedFault,
    },
    /// A view that a [`Buffer`](crate::Buffer) lends is bound.
    #[error("a view that `Buffer::with` or `with_mut` lends cannot be bound: bind the `Buffer`")]
    LentViewBound,
    /// A launch of a graph whose bound buffers were used in a stream that is capturing, through views of the exec.
    #[error("`{function}` cannot be launched: a view of its buffers was used in a stream that is capturing")]
    #[non_exhaustive]
    UsedInCapture {
        /// The graph function.
        function: String,
    },
    /// An arena pool on a stream that cannot separate launches.
    #[error(
        "there can be no arena pool on this stream: the per-thread default stream is another stream on each thread"
    )]
    PoolStream,
    /// A graph is instantiated in an arena pool of another context.
    #[error(
        "`{function}` is instantiated in an arena pool of another context than the one that it was built for"
    )]
    #[non_exhaustive]
    PoolOfOtherContext {
        /// The graph function.
        function: String,
    },
    /// A member of an arena pool is launched into a stream other than the pool's.
    #[error(
        "`{function}` shares the arena of a pool, and is launched into another stream than the pool's: two streams need two pools"
    )]
    #[non_exhaustive]
    StreamOfOtherPool {
        /// The graph function.
        function: String,
    },
    /// An output that is handed over is not the one that the graph was built for.
    #[error("{at}: {reason}")]
    #[non_exhaustive]
    WrongOutput {
        /// The argument.
        at: Box<At>,
        /// The reason.
        reason: OutputFault,
    },
    /// Launches share a module-level variable, one of them writes it, and nothing orders them.
    #[error(
        "{first} and {second} share `{variable}`, one of them writes it, and nothing orders them as written"
    )]
    #[non_exhaustive]
    HiddenState {
        /// The variable.
        variable: String,
        /// The earlier launch.
        first: Box<At>,
        /// The later one.
        second: Box<At>,
    },
    /// Launches update a buffer by atomics that do not commute, and nothing orders them.
    #[error(
        "{first} and {second} update `{buffer}` by atomics that do not commute, and nothing orders them as written"
    )]
    #[non_exhaustive]
    AtomicOrder {
        /// The buffer.
        buffer: String,
        /// The earlier launch.
        first: Box<At>,
        /// The later one.
        second: Box<At>,
    },
    /// A setter would change something that is fixed when the graph is built.
    #[error("{at} {reason}: build the graph again")]
    #[non_exhaustive]
    BuildAgain {
        /// The argument, or the launch.
        at: Box<At>,
        /// The reason why it cannot change.
        reason: SetterFault,
    },
    /// A communicator of the graph is of no use any more: a rank is gone, it was aborted, or a launch has taken longer than its limit.
    #[error("the communicator of `{function}` {reason}")]
    #[non_exhaustive]
    Communicator {
        /// The graph function.
        function: String,
        /// The reason.
        reason: CommunicatorFault,
    },
    /// A graph that cannot be profiled, or not in this way.
    #[error("`{function}` cannot be profiled: {reason}")]
    #[non_exhaustive]
    Profile {
        /// The graph function.
        function: String,
        /// The reason.
        reason: ProfileFault,
    },
    /// The turns of a loop are asked for by a name that is not that of one loop with a limit.
    #[error("`{function}`: {reason}")]
    #[non_exhaustive]
    Loop {
        /// The graph function.
        function: String,
        /// The reason.
        reason: LoopFault,
    },
    /// A host statement panicked in a launch before this call.
    #[error("{at} panicked in an earlier launch: {message}")]
    #[non_exhaustive]
    HostPanicked {
        /// The host statement.
        at: Box<At>,
        /// The message of the panic.
        message: String,
    },
    /// An event belongs to another context than the graph.
    #[error("{at} is given an event of another context")]
    #[non_exhaustive]
    EventOfOtherContext {
        /// The statement that records it or waits for it.
        at: Box<At>,
    },
    /// A semaphore was imported for another context than the graph's.
    #[error("{at} is given a semaphore of another context")]
    #[non_exhaustive]
    SemaphoreOfOtherContext {
        /// The statement that signals it or waits for it.
        at: Box<At>,
    },
    /// A launch would wait for a value that an earlier launch has waited for, or signal one that is signalled.
    #[error(
        "{at} is due for the value {next} in this launch, which is not ahead of {last}, its value in the launch before"
    )]
    #[non_exhaustive]
    ValueNotAhead {
        /// The statement.
        at: Box<At>,
        /// The value in the last launch.
        last: u64,
        /// The value in this launch.
        next: u64,
    },
    /// The device lacks something that the program uses.
    #[error("this device has no {what}")]
    #[non_exhaustive]
    NotOnThisDevice {
        /// The lacking feature.
        what: DeviceFeature,
    },
    /// A statement stands in a body that the device decides about, and cannot.
    #[error("{at} cannot stand in the body `{body}`, which the device decides about")]
    #[non_exhaustive]
    InBody {
        /// The statement.
        at: Box<At>,
        /// The body, such as `match which: 0 | 1`.
        body: String,
    },
    /// An earlier failure left the graph partly changed.
    #[error("`{function}` cannot be used any more, since an earlier change of it failed half way")]
    #[non_exhaustive]
    Unusable {
        /// The graph function.
        function: String,
    },
    /// The plan cannot be made.
    #[error(transparent)]
    Plan(Box<PlanFault>),
}
