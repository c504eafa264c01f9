//! The faults of buffers.

use super::parts::At;

/// The reason that a [`Buffer`](crate::runtime::Buffer), or memory that is bound, cannot be used in a way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferFault {
    /// A buffer is bound whose owning stream is capturing, or that was used in a stream that is.
    #[error("a bound buffer belongs to a stream that is capturing, or was used in one")]
    OwnerCapturing,
    /// A launch uses a [`Buffer`](crate::runtime::Buffer) while `with` or `with_mut` lends it.
    #[error(
        "{at} is lent by `Buffer::with` or `with_mut`, and cannot be used by a launch until that returns"
    )]
    #[non_exhaustive]
    Lent {
        /// The argument.
        at: Box<At>,
    },
    /// A [`Buffer`](crate::runtime::Buffer) is lent while it is lent already.
    #[error(
        "a buffer is lent already, by `with` or `with_mut` or to the host, and cannot be lent again until that ends"
    )]
    LentTwice,
    /// A view that a [`Buffer`](crate::runtime::Buffer) lends is bound.
    #[error("a view that `Buffer::with` or `with_mut` lends cannot be bound: bind the `Buffer`")]
    LentViewBound,
    /// A [`Buffer`](crate::runtime::Buffer) is made, copied, attached or moved in a stream that is capturing.
    #[error("a buffer is made, copied, attached or moved in a stream that is capturing")]
    Capturing,
    /// A [`Buffer`](crate::runtime::Buffer) is lent to a stream of another context than its own.
    #[error("a buffer is lent to a stream of another context than its own")]
    OtherContext,
    /// More elements are copied to a [`Buffer`](crate::runtime::Buffer) than it has.
    #[error("{needed} elements are copied to a buffer of {len}")]
    #[non_exhaustive]
    TooShort {
        /// The elements of the buffer.
        len: usize,
        /// The elements that are copied.
        needed: usize,
    },
}
