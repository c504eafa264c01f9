//! Faults of kernels: their kind, location and message.

use std::fmt;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside every live allocation.
    Bounds,
    /// An access whose address is not a multiple of its size.
    Misaligned,
    /// A read of unwritten bytes.
    Uninitialised,
    /// More instructions than the limit per thread.
    Limit,
    /// A barrier or a warp collective that not all threads reach.
    Barrier,
    /// `trap`, or a failed `assert`.
    Trap,
    /// More local memory than the limit per thread.
    Stack,
    /// More shared memory than a block may use.
    Shared,
    /// A jump or call to an address without code.
    Code,
    /// An instruction or a launch that cannot be simulated.
    Unsupported,
    /// Two threads touch the same bytes unordered, and one of them writes.
    Conflict,
}

/// A fault of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The function that was executing.
    pub function: Box<str>,
    /// The block.
    pub block: [u32; 3],
    /// The thread of the block.
    pub thread: [u32; 3],
    /// The line of the instruction in the PTX; 0 if there is none.
    pub line: u32,
    /// The source file and line, if the PTX has `.loc`.
    pub source: Option<(String, u32)>,
    /// The address of the access; 0 if the fault is not an access.
    pub address: u64,
    /// The size of the access in bytes; 0 if the fault is not an access.
    pub size: u32,
    /// The message.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(
            f,
            "{} in `{}`, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})",
            self.message, self.function
        )?;
        if self.line != 0 {
            write!(f, ", PTX line {}", self.line)?;
        }
        match &self.source {
            Some((file, line)) => write!(f, " ({file}:{line})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
