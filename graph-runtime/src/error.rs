//! [`Error`]: all errors of the runtime as one enum. The details of its larger variants are in submodules.

mod calls;
mod certificate;
mod config;
mod convert;
mod devices;
mod diagnostics;
mod driver_failure;
mod execs;
mod lift;
mod managed;
mod multicast;
mod parts;
mod plan;
pub(crate) mod program;
mod verification;

pub use crate::cuda::{CommunicatorFault, LibraryError};
pub use config::{ConfigFault, ConfigPart};
pub use cuweave_core::compile::BudgetFault;
pub use devices::{DeviceFault, DeviceFeature, Inaccessible, Ungranted};
pub(crate) use diagnostics::{at_attribute, at_buffer, at_function, at_statement, refusals};
pub(crate) use driver_failure::{describe, describe_load_failure, load_failure_line};
pub use execs::{BankFault, LoopFault, OutputFault, ProfileFault, SetterFault, SwitchFault};
pub use lift::LiftFault;
pub use managed::{ForeignFault, ManagedFault};
pub use parts::*;
pub use verification::*;
pub use {calls::CallFault, certificate::BrokenCertificate, multicast::MulticastFault, plan::PlanFault};

/// The result of every fallible function of cuweave.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the runtime. `Display` and `Debug` both print its text, so that `main` can return it. The source of an
/// error of a driver call is cudarc's [`DriverError`](cudarc::driver::DriverError), which `?` converts:
/// ```
/// # use {cudarc::driver::{CudaContext, CudaStream}, cuweave_runtime as cuweave, std::sync::Arc};
/// fn stream(ctx: &Arc<CudaContext>) -> cuweave::Result<Arc<CudaStream>> { Ok(ctx.new_stream()?) }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Faults that only the numbers of this build show. Each has the code of the compile-time error.
    #[error("{}", parts::lines(.0))]
    Refused(Vec<Refusal>),
    /// No CUDA driver is installed.
    #[error("{}", devices::no_driver(.0))]
    NoDriver(&'static str),
    /// The driver is too old for graphs.
    #[error("the CUDA driver is too old: it has CUDA {}.{}, and 12.4 is needed", found.0, found.1)]
    #[non_exhaustive]
    DriverTooOld {
        /// The CUDA version of the driver.
        found: (u32, u32),
    },
    /// There is no device with that ordinal.
    #[error("there is no CUDA device {ordinal}: the driver has {count} of them{}", devices::simulator_help())]
    #[non_exhaustive]
    NoDevice {
        /// The requested ordinal.
        ordinal: usize,
        /// The number of devices.
        count: u32,
    },
    /// A driver call failed.
    #[error(transparent)]
    Driver(Box<DriverFailure>),
    /// An earlier call failed in a drop, which could not return the error.
    #[error(transparent)]
    Earlier(Box<DriverFailure>),
    /// The certificate of a graph does not hold: a bug in cuweave. The graph is not launched.
    #[error(transparent)]
    Certificate(Box<BrokenCertificate>),
    /// A graph that cannot be verified, or one that does not compute what its statements do.
    #[error(transparent)]
    Verification(Box<VerificationFault>),
    /// A length or bound has no value.
    #[error("{what} of {at} {fault}: `{text}`")]
    #[non_exhaustive]
    Size {
        /// The use of the expression.
        what: Quantity,
        /// The buffer, or the statement that uses the range.
        at: Box<SourceLocation>,
        /// The expression.
        text: String,
        /// The reason that it has no value.
        fault: Fault,
    },
    /// A buffer has no elements.
    #[error("{at} has zero length: `{text}`")]
    #[non_exhaustive]
    ZeroLength {
        /// The buffer, or the statement that fills or copies nothing.
        at: Box<SourceLocation>,
        /// The expression of its length.
        text: String,
    },
    /// An argument is shorter than its declaration requires.
    #[error("{at} has {len} elements, but `{text}` = {needed} are declared")]
    #[non_exhaustive]
    TooShort {
        /// The argument.
        at: Box<SourceLocation>,
        /// Its number of elements.
        len: u64,
        /// The declared length's expression.
        text: String,
        /// Its value.
        needed: u64,
    },
    /// A range is out of bounds of its buffer, or the value of a size is out of its range.
    #[error("{}", parts::out_of_range(at, buffer, range, *lo, *hi, *len))]
    #[non_exhaustive]
    Range {
        /// The statement, or the argument.
        at: Box<SourceLocation>,
        /// The buffer. Empty for a size.
        buffer: String,
        /// The range's text. For a size, that of `#[at_most(..)]`.
        range: String,
        /// The first element, or the smallest value.
        lo: u64,
        /// One past the last element, or the largest value.
        hi: u64,
        /// The buffer's length, or the value.
        len: u64,
    },
    /// A nested view is out of bounds of its outer view.
    #[error(
        "{at}: the view [{range}] = [{lo}..{hi}] is out of range for the view [{view}] = [{from}..{to}] that it is \
            taken from"
    )]
    #[non_exhaustive]
    ViewRange {
        /// The buffer, and the line where the view is taken.
        at: Box<SourceLocation>,
        /// The text of the nested view's range, relative to the buffer's first element.
        range: String,
        /// The first element.
        lo: u64,
        /// One past the last.
        hi: u64,
        /// The text of the outer view's range.
        view: String,
        /// The first element of the outer view.
        from: u64,
        /// One past its last element.
        to: u64,
    },
    /// A device condition reads a buffer of more than one element.
    #[error(
        "{at}: `{word}` needs a buffer of one element, but `{buffer}` has {len}: write `&{buffer}[i..i + 1]`"
    )]
    #[non_exhaustive]
    Operand {
        /// The statement.
        at: Box<SourceLocation>,
        /// Its keyword.
        word: &'static str,
        /// The buffer.
        buffer: String,
        /// The number of its elements.
        len: u64,
    },
    /// A buffer is shorter than the extent that a kernel declares to access.
    #[error(
        "{at}: `{kernel}` accesses {extent} elements of its parameter `{parameter}`, but `{buffer}` has {len}"
    )]
    #[non_exhaustive]
    Extent {
        /// The node.
        at: Box<SourceLocation>,
        /// The kernel.
        kernel: String,
        /// Its parameter.
        parameter: String,
        /// The buffer.
        buffer: String,
        /// The number of elements that the kernel accesses.
        extent: u64,
        /// The number of elements that the buffer has.
        len: u64,
    },
    /// A later read relies on a write of a whole range, but the kernel writes only a part of it.
    #[error(
        "{at}: `{kernel}` writes {extent} of the {len} elements of `{buffer}`, but a later read of `{buffer}` relies \
            on all of them"
    )]
    #[non_exhaustive]
    PartlyWritten {
        /// The node.
        at: Box<SourceLocation>,
        /// The kernel.
        kernel: String,
        /// The buffer.
        buffer: String,
        /// The number of elements that the kernel declares to write.
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
    /// A write-only parameter is not proved to be fully written, and its type has invalid bit patterns.
    #[error("{0}")]
    NotProvedWritten(Box<UnprovedLaunch>),
    /// The two ends of a copy differ in length.
    #[error("{at} copies {from} elements of `{source_name}` to {to} of `{target_name}`")]
    #[non_exhaustive]
    CopyLength {
        /// The node.
        at: Box<SourceLocation>,
        /// The source.
        source_name: String,
        /// The elements of the source.
        from: u64,
        /// The target.
        target_name: String,
        /// The elements of the target.
        to: u64,
    },
    /// Rows that cannot be copied or filled.
    #[error(transparent)]
    Rows(Box<BadRows>),
    /// The temporaries do not fit into the memory budget.
    #[error("{at}: {reason}")]
    #[non_exhaustive]
    Budget {
        /// The graph function.
        at: Box<SourceLocation>,
        /// The reason.
        reason: BudgetFault,
    },
    /// An index into a list of arguments is out of range.
    #[error("{at}: the index of `{list}` is {index}, but it has {len} elements")]
    #[non_exhaustive]
    Index {
        /// The function.
        at: Box<SourceLocation>,
        /// The list.
        list: String,
        /// The index.
        index: u64,
        /// The number of its elements.
        len: usize,
    },
    /// A scalar, or the length of a list, is smaller than its `#[at_least]` requires.
    #[error("{at}: its value or length is {value}, and `#[at_least({least})]` is declared")]
    #[non_exhaustive]
    AtLeast {
        /// The argument.
        at: Box<SourceLocation>,
        /// The declared minimum.
        least: u64,
        /// Its value, or its number of elements.
        value: u64,
    },
    /// A statement fails with the smallest values of the sizes: these values, and its error.
    #[error("with {0}, the smallest sizes: {1}")]
    SmallestSizes(String, Box<Error>),
    /// A graph function calls itself, directly or indirectly.
    #[error("{at}: this call recurses without end: {}", .cycle.join(" -> "))]
    #[non_exhaustive]
    Recursion {
        /// The call.
        at: Box<SourceLocation>,
        /// The cycle of functions, starting and ending with the one that is called again.
        cycle: Vec<String>,
    },
    /// Loops and calls expand to more statements than a graph may have.
    #[error("{at}: loops and calls expand to more than {most} statements, calls or iterations")]
    #[non_exhaustive]
    TooLarge {
        /// The function.
        at: Box<SourceLocation>,
        /// The maximum number of statements, calls or iterations.
        most: usize,
    },
    /// The declared length of an output differs from the length of its allocation.
    #[error("{at} is declared as an output of {declared} elements, but its allocation has {actual}")]
    #[non_exhaustive]
    ReturnedLength {
        /// The output.
        at: Box<SourceLocation>,
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
        at: Box<SourceLocation>,
        /// The reason.
        reason: ConfigFault,
    },
    /// A library call that cannot be part of the graph.
    #[error("{at}: {fault}")]
    #[non_exhaustive]
    Call {
        /// The call.
        at: Box<SourceLocation>,
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
        first: Box<SourceLocation>,
        /// The other one.
        second: Box<SourceLocation>,
    },
    /// A graph function over several devices was built without any context.
    #[error("a graph needs at least one context, but none was passed")]
    NoContext,
    /// A fault of a graph over several devices.
    #[error("{0}")]
    Devices(Box<DeviceFault>),
    /// Memory of a context that the graph does not use, or not of its first one where that is required.
    #[error("{at} is bound to memory of another context than {}\n  = help: \
        {}", .memory.contexts(), .memory.allocation_help())]
    #[non_exhaustive]
    OtherContext {
        /// The argument.
        at: Box<SourceLocation>,
        /// The kind of the memory.
        memory: MemoryKind,
    },
    /// A buffer whose address is not aligned for its elements.
    #[error("the address of {at} is not aligned to {align} bytes")]
    #[non_exhaustive]
    Misaligned {
        /// The argument.
        at: Box<SourceLocation>,
        /// The alignment.
        align: u32,
    },
    /// A kernel that is missing from its module, or has other parameters there.
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
    /// A buffer whose owning stream is capturing, or that was used in a capturing stream.
    #[error("a bound buffer belongs to a stream that is capturing, or was used in one")]
    OwnerCapturing,
    /// A launch uses a [`Buffer`](crate::Buffer) while a view from `with` or `with_mut` exists.
    #[error("{at} is borrowed by `Buffer::with` or `with_mut`: launches cannot use it until that returns")]
    BufferLent {
        /// The argument.
        at: Box<SourceLocation>,
    },
    /// A view of a [`Buffer`](crate::Buffer) is requested while another one exists.
    #[error("a buffer is borrowed already, by `with`, `with_mut` or the host: wait until that ends")]
    BufferLentTwice,
    /// A [`Buffer`](crate::Buffer) or [`Variable`](crate::Variable) is made, set or copied in a capturing stream.
    #[error("a buffer or a module variable is made, copied, attached or moved in a stream that is capturing")]
    BufferCapturing,
    /// A [`Buffer`](crate::Buffer) that is not [`Managed`](crate::Managed) is used in a stream of another context.
    #[error("a buffer is used in a stream of another context than its own, as only `Managed` can be")]
    BufferOfOtherContext,
    /// More elements are copied to a [`Buffer`](crate::Buffer) than it has.
    #[error("{needed} elements are copied to a buffer of {len}")]
    BufferTooShort {
        /// The elements of the buffer.
        len: usize,
        /// The number of elements to copy.
        needed: usize,
    },
    /// Managed memory cannot be allocated or used in this way.
    #[error("{0}")]
    Managed(ManagedFault),
    /// Memory of another allocator that cannot be bound.
    #[error(transparent)]
    Foreign(Box<ForeignFault>),
    /// A graph of other code that cannot be captured, lifted or changed in this way.
    #[error(transparent)]
    Lift(Box<LiftFault>),
    /// A multicast object cannot be created or used in this way.
    #[error("{0}")]
    Multicast(MulticastFault),
    /// Managed memory is bound to an argument but cannot be used in this way.
    #[error("{at}: {fault}")]
    #[non_exhaustive]
    ManagedArgument {
        /// The argument, or the statement that uses it.
        at: Box<SourceLocation>,
        /// The reason.
        fault: ManagedFault,
    },
    /// An argument of a multicast object, or of its memory, that cannot be used in this way.
    #[error("{at}: {fault}")]
    #[non_exhaustive]
    MulticastArgument {
        /// The argument, or the statement that uses it.
        at: Box<SourceLocation>,
        /// The reason.
        fault: MulticastFault,
    },
    /// A view from [`Buffer::with`](crate::Buffer::with) is bound to an argument.
    #[error("a view from `Buffer::with` or `with_mut` cannot be bound: bind the `Buffer` itself")]
    LentViewBound,
    /// A launch of a graph whose buffers were used in a capturing stream, through views of the exec.
    #[error("`{function}` cannot be launched: a view of its buffers was used in a stream that is capturing")]
    #[non_exhaustive]
    UsedInCapture {
        /// The graph function.
        function: String,
    },
    /// An arena pool was requested for a stream that cannot order launches.
    #[error("an arena pool cannot use the per-thread default stream, which is another one on each thread")]
    PoolStream,
    /// A graph is instantiated in an arena pool of another context.
    #[error("`{function}` is instantiated in an arena pool of another context than its own")]
    #[non_exhaustive]
    PoolOfOtherContext {
        /// The graph function.
        function: String,
    },
    /// A member of an arena pool is launched into another stream than the pool's.
    #[error("{}", execs::other_pool(function))]
    #[non_exhaustive]
    StreamOfOtherPool {
        /// The graph function.
        function: String,
    },
    /// An exec that a [`Bank`](crate::Bank) cannot hold: the graph function, and the reason.
    #[error("`{0}` {1}")]
    Bank(String, BankFault),
    /// An output passed to a launch is not the one that the graph was built for.
    #[error("{at}: {reason}")]
    #[non_exhaustive]
    WrongOutput {
        /// The argument.
        at: Box<SourceLocation>,
        /// The reason.
        reason: OutputFault,
    },
    /// Launches share a module variable, one of them writes it, and nothing orders them.
    #[error("{first} and {second} share `{variable}`, one of them writes it, but nothing orders them")]
    #[non_exhaustive]
    HiddenState {
        /// The variable.
        variable: String,
        /// The earlier launch.
        first: Box<SourceLocation>,
        /// The later one.
        second: Box<SourceLocation>,
    },
    /// Launches update a buffer by atomics that do not commute, and nothing orders them.
    #[error("{first} and {second} update `{buffer}` by atomics that do not commute, but nothing orders them")]
    #[non_exhaustive]
    AtomicOrder {
        /// The buffer.
        buffer: String,
        /// The earlier launch.
        first: Box<SourceLocation>,
        /// The later one.
        second: Box<SourceLocation>,
    },
    /// A setter would change something that is fixed at build.
    #[error("{at} {reason}: build the graph again")]
    #[non_exhaustive]
    BuildAgain {
        /// The argument, or the launch.
        at: Box<SourceLocation>,
        /// The reason why it cannot change.
        reason: SetterFault,
    },
    /// A communicator of the graph is unusable: a rank is gone, it was aborted, or a launch timed out.
    #[error("the communicator of `{function}` {reason}")]
    #[non_exhaustive]
    Communicator {
        /// The graph function.
        function: String,
        /// The reason.
        reason: CommunicatorFault,
    },
    /// A graph that cannot be profiled, at least not in this way.
    #[error("`{function}` cannot be profiled: {reason}")]
    #[non_exhaustive]
    Profile {
        /// The graph function.
        function: String,
        /// The reason.
        reason: ProfileFault,
    },
    /// The iterations of a loop are queried by a name that does not identify one loop with a limit.
    #[error("`{function}`: {reason}")]
    #[non_exhaustive]
    Loop {
        /// The graph function.
        function: String,
        /// The reason.
        reason: LoopFault,
    },
    /// A statement cannot be enabled or disabled: the statement or else the graph function, and the reason.
    #[error("{0} {1}")]
    NotSwitchable(Box<SourceLocation>, SwitchFault),
    /// A host statement panicked in an earlier launch.
    #[error("{at} panicked in an earlier launch: {message}")]
    #[non_exhaustive]
    HostPanicked {
        /// The host statement.
        at: Box<SourceLocation>,
        /// The message of the panic.
        message: String,
    },
    /// An event belongs to another context than the graph's.
    #[error("{at} is given an event of another context")]
    #[non_exhaustive]
    EventOfOtherContext {
        /// The statement that records it or waits for it.
        at: Box<SourceLocation>,
    },
    /// A semaphore was imported for another context than the graph's.
    #[error("{at} is given a semaphore of another context")]
    #[non_exhaustive]
    SemaphoreOfOtherContext {
        /// The statement that signals it or waits for it.
        at: Box<SourceLocation>,
    },
    /// A launch would wait for, or signal, a value that is not ahead of that of an earlier launch.
    #[error(
        "{at} would use the value {next} in this launch, which is not ahead of {last}, its value in the previous launch"
    )]
    #[non_exhaustive]
    ValueNotAhead {
        /// The statement.
        at: Box<SourceLocation>,
        /// The value in the last launch.
        last: u64,
        /// The value in this launch.
        next: u64,
    },
    /// The device lacks a feature that the program uses.
    #[error("this device has no {what}")]
    #[non_exhaustive]
    NotOnThisDevice {
        /// The missing feature.
        what: DeviceFeature,
    },
    /// A statement that the body of a conditional node cannot contain.
    #[error("{at} cannot be in the body `{body}`, which runs as the device decides")]
    #[non_exhaustive]
    InBody {
        /// The statement.
        at: Box<SourceLocation>,
        /// The body, such as `match which: 0 | 1`.
        body: String,
    },
    /// An earlier failure left the graph partially changed.
    #[error("`{function}` can no longer be used: an earlier update of it failed halfway")]
    #[non_exhaustive]
    Unusable {
        /// The graph function.
        function: String,
    },
    /// The graph cannot be planned.
    #[error(transparent)]
    Plan(Box<PlanFault>),
}
