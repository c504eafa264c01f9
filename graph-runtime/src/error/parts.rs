//! The types that several errors share: faults of expressions, of launches, of driver calls and of modules.

mod rows;

use std::fmt;

use cuweave_core::codes::Code;
pub use cuweave_core::location::SourceLocation;
pub use cuweave_ptx::coverage::UnknownAccess;
pub use rows::{BadRows, RowsFault};

use crate::cuda;

/// The reason why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The value exceeds 2^64 - 1.
    Overflow,
    /// The value or an intermediate value is negative.
    Negative,
    /// The expression divides by zero.
    DivisionByZero,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Overflow => "overflows 64 bits",
            Fault::Negative => "is negative",
            Fault::DivisionByZero => "divides by zero",
        })
    }
}

/// The quantity that an expression of a graph function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// The length of a buffer.
    Length,
    /// The length of a parameter of a library call.
    ParameterLength,
    /// The size of a buffer in bytes.
    Size,
    /// The number of elements that a kernel accesses through a parameter.
    Extent,
    /// A bound of the range that a statement accesses.
    Bound,
    /// A bound of a loop, or of a part of a buffer.
    OuterBound,
    /// The device of a statement.
    Device,
    /// The number of devices.
    Devices,
    /// The budget.
    Budget,
    /// The maximum width.
    Width,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Length => "the length",
            Quantity::ParameterLength => "the length of a parameter",
            Quantity::Size => "the size",
            Quantity::Extent => "the extent",
            Quantity::Bound => "a bound",
            Quantity::OuterBound => "a bound of a loop or a part",
            Quantity::Device => "the device",
            Quantity::Devices => "the number of devices",
            Quantity::Budget => "the budget",
            Quantity::Width => "the width",
        })
    }
}

/// The kind of memory that an argument is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Device memory.
    Device,
    /// Pinned host memory.
    Pinned,
    /// The allocation of another graph.
    Taken,
}

impl MemoryKind {
    /// Describes the contexts whose memory can be bound.
    pub(super) fn contexts(self) -> &'static str {
        match self {
            MemoryKind::Device | MemoryKind::Pinned => "those that the graph is built for",
            MemoryKind::Taken => "the first one that the graph is built for, which frees what is taken over",
        }
    }

    /// Returns help on how to allocate such memory.
    pub(super) fn allocation_help(self) -> &'static str {
        match self {
            MemoryKind::Device => {
                "allocate it in a stream of one of them, or build the graph for its context, too"
            }
            MemoryKind::Pinned => "allocate it by `alloc_pinned` of one of them",
            MemoryKind::Taken => {
                "build the graph that returns it for that context, or copy it: take it as `&[T; len]`"
            }
        }
    }
}

/// A launch whose threads do not write all elements of a write-only parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShortLaunch {
    /// The node.
    pub at: SourceLocation,
    /// The kernel.
    pub kernel: String,
    /// Its parameter.
    pub parameter: String,
    /// The buffer.
    pub buffer: String,
    /// The number of elements that the kernel declares to write.
    pub extent: u64,
    /// The number of elements that are written.
    pub written: u64,
    /// The first unwritten element.
    pub missing: u64,
    /// The number of threads of the launch.
    pub threads: u64,
    /// The number of threads in a larger grid of the same blocks that would write everything, if known.
    pub needed: Option<u64>,
}

impl fmt::Display for ShortLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShortLaunch { at, kernel, parameter, buffer, extent, written, missing, threads, needed } = self;
        let s = if *threads == 1 { "" } else { "s" };
        write!(
            f,
            "{at}: `{kernel}` leaves elements of `{buffer}` unwritten: a launch of {threads} thread{s} writes \
                {written} of the {extent} elements of its parameter `{parameter}`, and not element {missing}"
        )?;
        needed.map_or(Ok(()), |needed| write!(f, "; {needed} threads are needed"))
    }
}

/// A launch that is not proved to write all elements of a write-only parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{at}: cannot prove that `{kernel}` writes all elements of `{buffer}`, whose type has invalid bit patterns: \
        {reason}"
)]
#[non_exhaustive]
pub struct UnprovedLaunch {
    /// The node.
    pub at: SourceLocation,
    /// The kernel.
    pub kernel: String,
    /// Its parameter.
    pub parameter: String,
    /// The buffer.
    pub buffer: String,
    /// The reason why it is not proved.
    pub reason: UnknownAccess,
}

/// A launch whose threads access elements outside the declared extent of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutsideExtent {
    /// The node.
    pub at: SourceLocation,
    /// The kernel.
    pub kernel: String,
    /// Its parameter.
    pub parameter: String,
    /// The buffer.
    pub buffer: String,
    /// The number of elements that the kernel declares to access.
    pub extent: u64,
    /// One past the last accessed element. If the launch accesses elements before the buffer, the first
    /// accessed element, which is negative.
    pub reaches: i128,
    /// The number of threads of the launch.
    pub threads: u64,
}

impl fmt::Display for OutsideExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutsideExtent { at, kernel, parameter, buffer, extent, reaches, threads } = self;
        let s = if *threads == 1 { "" } else { "s" };
        let of_all = if *extent == 1 { "" } else { "s" };
        let element = if *reaches < 0 { *reaches } else { reaches - 1 };
        write!(
            f,
            "{at}: `{kernel}` accesses element {element} of `{buffer}` in a launch of {threads} thread{s}, \
             and its parameter `{parameter}` is declared to have {extent} element{of_all}"
        )
    }
}

/// The call that failed with a [`DriverFailure`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailedCall {
    /// A call by its name, `cuGraphAddKernelNode`.
    Named(String),
    /// A call that the program made through cudarc; `?` converted its error.
    Cudarc {
        /// The file.
        file: &'static str,
        /// The line.
        line: u32,
    },
    /// A call in a drop, which could not return its error.
    InDrop,
}

impl fmt::Display for FailedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailedCall::Named(name) => write!(f, "`{name}`"),
            FailedCall::Cudarc { file, line } => write!(f, "a call through cudarc ({file}:{line})"),
            FailedCall::InDrop => f.write_str("an earlier call on this context, made in a drop,"),
        }
    }
}

/// A failed call of the CUDA driver.
///
/// Its [`source`](std::error::Error::source) is cudarc's [`DriverError`](cudarc::driver::DriverError), unless
/// the code is newer than CUDA 12.4.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverFailure {
    /// The call.
    pub call: FailedCall,
    /// The node or buffer for which the call was made.
    pub at: Option<Box<SourceLocation>>,
    /// The error code.
    pub code: u32,
    /// The error's name, `CUDA_ERROR_OUT_OF_MEMORY`.
    pub name: String,
    /// The number of bytes that were asked for, if the call ran out of memory and allocates it.
    pub bytes: Option<u64>,
    /// The driver's description of the error and the text of its log.
    pub text: String,
}

impl fmt::Display for DriverFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DriverFailure { call, at, code, name, bytes, text } = self;
        write!(f, "{call}")?;
        if let Some(at) = at {
            write!(f, " for {at}")?;
        }
        write!(f, " failed with {name} ({code})")?;
        if let Some(bytes) = bytes {
            write!(f, " when asked for {bytes} bytes")?;
        }
        if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
    }
}

impl std::error::Error for DriverFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let error: &(dyn std::error::Error + 'static) = cuda::known(self.code)?;
        Some(error)
    }
}

/// A module that the driver cannot load, or a function that is not in its module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleFailure {
    /// The module's file.
    pub path: String,
    /// The failed call, with the log of the driver's compiler.
    pub failure: DriverFailure,
    /// The help, if there is any.
    pub help: String,
}

impl fmt::Display for ModuleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModuleFailure { path, failure, help } = self;
        write!(f, "{path} cannot be loaded: {failure}{help}")
    }
}

impl std::error::Error for ModuleFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.source()
    }
}

/// The reason why a kernel of a module differs from its declaration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelFault {
    /// The module has no kernel of that name.
    #[error("does not exist there")]
    Missing,
    /// The number of parameters differs.
    #[error("has {found} parameters, and {declared} are declared")]
    #[non_exhaustive]
    Parameters {
        /// The kernel's number of parameters.
        found: usize,
        /// The declared number.
        declared: usize,
    },
    /// The size of a parameter differs.
    #[error("has {bytes} bytes in its parameter {index}, and `{name}` is declared with {declared}")]
    #[non_exhaustive]
    ParameterSize {
        /// The index of the parameter, from 0.
        index: usize,
        /// Its name in the declaration.
        name: &'static str,
        /// The kernel's size in bytes.
        bytes: u64,
        /// The declared size in bytes.
        declared: u32,
    },
}

/// The difference between a module variable and its declaration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableFault {
    /// The module has no variable of that name.
    #[error("does not exist there")]
    Missing,
    /// Its size differs.
    #[error("has {bytes} bytes, and {declared} are declared")]
    #[non_exhaustive]
    Size {
        /// The variable's size in bytes.
        bytes: usize,
        /// The declared size in bytes.
        declared: usize,
    },
}

/// A fault of a graph function that depends on values known only at build.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The error code.
    pub code: Code,
    /// The statement, buffer or output.
    pub at: SourceLocation,
    /// The message with its notes and help, as the macro prints it.
    pub text: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.text)
    }
}

/// Returns the texts of refusals, one per line.
pub(super) fn lines(refusals: &[Refusal]) -> String {
    refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns the text of an error about a range of a buffer, or about the value of a size if there is no buffer.
pub(super) fn out_of_range(
    at: &SourceLocation,
    buffer: &str,
    range: &str,
    lo: u64,
    hi: u64,
    value: u64,
) -> String {
    match (buffer, range) {
        ("", "") => format!("{at}: its value is {value}, and it lies in {lo}..={hi}"),
        ("", most) => {
            format!("{at}: its value is {value}, and it lies in {lo}..={hi}, where `{most}` is the largest")
        }
        _ => format!(
            "{at} uses `{buffer}[{range}]` = [{lo}..{hi}], which is out of range for its {value} elements"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_driver_failure_names_call_node_place_and_error() {
        let failure = DriverFailure {
            call: FailedCall::Named("cuGraphAddMemAllocNode".into()),
            at: Some(Box::new(SourceLocation::new("h", "src/main.rs", 12))),
            code: 2,
            name: "CUDA_ERROR_OUT_OF_MEMORY".into(),
            bytes: Some(4096),
            text: "out of memory".into(),
        };
        assert_eq!(
            Error::Driver(Box::new(failure)).to_string(),
            "`cuGraphAddMemAllocNode` for `h` (src/main.rs:12) failed with CUDA_ERROR_OUT_OF_MEMORY (2) \
                when asked for 4096 bytes: out of memory"
        );
    }
}
