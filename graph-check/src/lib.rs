//! Checks the certificates of cuweave's graphs.
//!
//! A [`Certificate`] has two halves. The [source](certificate::Source) says what a program means: its statements in the
//! order in which they are written, and the bytes that each reads and writes. The [plan](certificate::Plan) says what
//! was made of it: the nodes of a CUDA graph, their edges, and the places of temporaries. [`check`] accepts a
//! certificate if the plan does what the source means. This crate shares no line with the compiler, and depends on
//! nothing.
//!
//! ```
//! let text = std::fs::read_to_string("tests/certificates/pingpong.txt").unwrap();
//! let certificate: cuweave_check::Certificate = text.parse().unwrap();
//! assert_eq!(cuweave_check::check(&certificate), Ok(()));
//! ```
//!
//! # The theorem
//!
//! *Assume that*
//!
//! - *(A1) statements touch only what they declare, fused ones in each block only their
//!   [touches](certificate::Touches);*
//! - *(A2) the kernel of a node runs its members in each block in the listed order, and the effects of one are seen by
//!   the next one; a thread serves the listed [forwards](certificate::Forward) from registers that it has set where it
//!   would have written;*
//! - *(A3) the driver keeps edges and ports, and a node that [waits](certificate::Node::waits) begins with
//!   `griddepcontrol.wait`;*
//! - *(A4) nothing else uses this memory meanwhile.*
//!
//! *If a certificate is accepted, then in each run of the graph the accesses that conflict have their effects in the
//! order of the program, or of the user where the order is the user's, and each read sees what the program's writer has
//! written.*
//!
//! Two accesses conflict if they have a byte in common, one of them writes, and they are not atomic updates of one
//! class. Updates of one class commute. Outside of the theorem are the results of commuting updates of floats, the
//! expansion of loops and calls, the value for which each body of a decision runs, how early memory is allocated and how
//! late it is freed, other graphs that use the same memory, and what is inside of library calls.
//!
//! # The argument
//!
//! **Lemma 1 (order).** *If `Order::before` holds of two nodes, the first one has ended before the second one has an
//! effect.* By induction along the edges. A full edge begins its second node when the first one has ended. An early
//! edge to a node that waits lets it begin earlier, but none of its threads passes the wait before the first node has
//! ended, and none has an effect before. A node ends when all its threads have passed their waits. So what has ended
//! before the first node of an edge had an effect has ended before the second node has one. An early edge to a node
//! that does not wait contributes nothing. Of two nodes in different bodies, those are compared that run these bodies
//! in the innermost body around both: all of a body is within the node that runs it.
//!
//! **Lemma 2 (turns).** *Nodes of one turn of a loop have ended before the next turn begins.* The driver looks at the
//! condition when the body has ended. The rule [`Bodies`](Rule::Bodies) asks for more: the statement that decides again
//! comes last.
//!
//! **Lemma 3 (conflicts).** *Conflicting accesses of two statements have their effects one after the other, in the
//! right order.* By [`Conflicts`](Rule::Conflicts) either Lemma 1 holds of all nodes of both, or they are members of
//! one lane of one node, in this order. Then in each block the effects are in order, by A2, and by
//! [`Blocks`](Rule::Blocks) different blocks touch different bytes, by A1. In the arms of one decision only one of both
//! runs. Of two turns of a loop, Lemma 2. Statements that have a byte in common only because their temporaries share
//! bytes are in Lemma 4.
//!
//! **Lemma 4 (places).** *No byte of a temporary is written by a statement that does not access the temporary, from its
//! first access in a run of its body to its last one.* A temporary lives within one run of its body: by
//! [`Reads`](Rule::Reads) no statement outside of it accesses it, and what is read was written in the same run.
//! Temporaries with common bytes are in one block, by [`Inside`](Rule::Inside), and by [`Sharing`](Rule::Sharing) all
//! uses of one have ended before any of the other, in each run of the innermost body around both; or they live in arms
//! of one decision. Blocks that have addresses in common are there one after the other, by [`Sharing`](Rule::Sharing),
//! and each is there for all of its uses, by [`Lifetimes`](Rule::Lifetimes). No block has a byte of an operand.
//!
//! **Lemma 5 (registers).** *A read from a register gives the value that memory would have.* By
//! [`Registers`](Rule::Registers) the register was set by the last member that may write what is read, or by a later
//! access, and by A2 that is the value which memory would hold in this thread. A temporary without memory is accessed
//! in one lane alone. What a member leaves out of other memory is stored by a later member of the lane, and what reads
//! it before that is served from a register.
//!
//! **Proof.** Each statement that runs in the program runs in the graph as often, by [`Statements`](Rule::Statements)
//! and [`Bodies`](Rule::Bodies), with the addresses and numbers of the program, by [`Values`](Rule::Values), on a
//! device that reaches its memory, by [`Devices`](Rule::Devices). By induction over a run: let all reads so far have
//! seen the program's writers. The next read of a byte comes after the program's last writer of it and before the next
//! one, by Lemma 3, nothing else writes it between, by Lemma 4, and by Lemma 5 it does not matter where it is held. By
//! [`Reads`](Rule::Reads) there is such a writer. ∎
//!
//! # Complexity
//!
//! O(nodes × edges / 64) for the order, a test of a bit for each conflicting pair, and for fused nodes the product of
//! the numbers of touches.
#![forbid(unsafe_code)]

#[macro_use]
mod refusal;

pub mod certificate;
mod check;
mod form;
mod memory;
mod order;
mod registers;
mod spans;
mod text;

pub use certificate::Certificate;
pub use check::check;
pub use refusal::{Refusal, Rule};
pub use text::ParseError;
