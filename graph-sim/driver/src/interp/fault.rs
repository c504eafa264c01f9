//! Faults of kernels: kind, place and message.

use std::fmt;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access that no live allocation holds.
    Bounds,
    /// An access whose address is not a multiple of its size.
    Misaligned,
    /// A read of bytes never written.
    Uninitialised,
    /// More instructions than a thread may execute.
    Limit,
    /// A barrier, or a warp's collective, that not all threads reach.
    Barrier,
    /// `trap`, and a failed `assert`.
    Trap,
    /// More local memory than a thread may use.
    Stack,
    /// More shared memory than a block may use.
    Shared,
    /// A jump or call to an address without code.
    Code,
    /// An instruction or launch that cannot be simulated.
    Unsupported,
    /// Two threads touch the same bytes, one of them writing, and nothing orders them.
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
    /// The line of the instruction in the PTX; 0 where there is none.
    pub line: u32,
    /// File and line of the source, where the PTX has `.loc`.
    pub source: Option<(String, u32)>,
    /// The address of an access, else 0.
    pub address: u64,
    /// The bytes of an access, else 0.
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
