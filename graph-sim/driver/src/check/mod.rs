//! The checks of a graph launch that real drivers do not make.
//!
//! After each node, the checker compares the bytes that the node touched with the accesses of earlier nodes. For
//! each range of bytes it keeps the last plain writer, and the atomic updates and reads since then. It can forget
//! older writers: each was ordered before the last writer, or was reported. It keeps all atomic updates, since
//! these may be unordered among each other. So every conflict of two unordered nodes is found, in every execution
//! order.
//!
//! If programmatic edges let a kernel start before its predecessors have ended, its accesses before and after its
//! wait are distinguished, and the precedence depends on which kernels waited; see `points`.
//!
//! The members of a batched node are actors of their own, unordered with each other.
//!
//! The nodes of a conditional node's bodies lie between its entry and its exit. A body may run several times in a
//! launch; see `iterations`.
//!
//! Buffers that the program described are checked in addition; see `plan`.

mod checker;
mod explain;
mod iterations;
mod order;
mod past_actors;
mod plan;
mod points;
mod users;

pub use checker::Checker;
pub use users::BufferUsers;
