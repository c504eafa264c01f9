//! The checks of a graph launch that no real driver makes.
//!
//! After each node, the bytes that it touched are compared with the accesses of earlier nodes. For each range of bytes the
//! checker keeps the last plain writer, and the atomics and readers since. An earlier writer was ordered before that
//! writer, or was reported already. Atomics may be unordered among each other, so all are kept. So a conflict of two nodes
//! that no path orders is found in every execution order.
//!
//! If programmatic edges let a kernel start before others have ended, its accesses before and after its wait are
//! distinguished, and the precedence depends on which kernels waited; see `points`.
//!
//! Each member of a batched node is checked by itself, as an actor beside the others:
//! no path orders them.
//!
//! Bodies of conditional nodes are nodes among the others, between the entry and the exit of theirs. A body may run several
//! times in a launch; see `turns`.
//!
//! Buffers that the program described are checked in addition; see `plan`.

mod checker;
mod explain;
mod order;
mod past;
mod plan;
mod points;
mod turns;
mod users;

pub use checker::Checker;
pub use users::Users;
