//! Checks the certificates of cuweave's graphs.
//!
//! A [`Certificate`] has two halves. The [source](certificate::Source) describes the program: its statements in
//! source order, and the bytes that each reads and writes. The [plan](certificate::Plan) describes the result: the
//! nodes of a CUDA graph, their edges, and the memory of temporaries. [`check`] accepts a certificate if the plan
//! implements the source. This crate shares no code with the compiler and has no dependencies.
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
//! - *(A1) statements touch only what they declare, and each block of a fused statement touches only its
//!   [touches](certificate::TouchedBytes);*
//! - *(A2) in each block, the kernel of a node runs its members in the listed order, and each member sees the
//!   effects of the previous ones; a thread serves the listed [forwards](certificate::ForwardedRead) from registers
//!   that it has set in place of a write;*
//! - *(A3) the driver respects edges and ports, and a node that [waits](certificate::Node::waits) begins with
//!   `griddepcontrol.wait`;*
//! - *(A4) nothing else uses this memory during the run.*
//!
//! *If a certificate is accepted, then in each run of the graph, conflicting accesses take effect in program order,
//! or in the user's order where the user orders them, and each read sees the value from its writer in the program.*
//!
//! Two accesses conflict if they overlap, at least one of them writes, and they are not atomic updates of the same
//! class. Updates of the same class commute. The theorem does not cover the rounding of commuting float updates,
//! the expansion of loops and calls, the choice of the body that a decision runs, how early memory is allocated and
//! how late it is freed, other graphs that use the same memory, and the inside of library calls.
//!
//! # The argument
//!
//! **Lemma 1 (order).** *If `Order::is_before` holds for two nodes, the first has ended before the second has an
//! effect.* By induction over the edges. Across a full edge, the second node begins after the first has ended. An
//! early edge to a node that waits lets the node begin earlier. But none of its threads passes the wait before the
//! first node has ended, and no thread has an effect before its wait. A node only ends after all of its threads
//! have passed their waits. So everything that ended before the first node of an edge had an effect has also ended
//! before the second node has one. An early edge to a node that does not wait contributes nothing. For two nodes in
//! different bodies, the comparison is between the nodes that run these bodies within the innermost body around
//! both: all of a body runs within the node that runs the body.
//!
//! **Lemma 2 (iterations).** *The nodes of a loop iteration have ended before the next iteration begins.* The
//! driver reads the condition after the body has ended. The rule [`Bodies`](Rule::Bodies) demands more: the
//! statement that decides about the next iteration comes last. A condition that kernels set is read by the node that
//! runs the bodies, before each run of them.
//!
//! **Lemma 3 (conflicts).** *Conflicting accesses of two statements take effect one after the other, in the right
//! order.* By [`Conflicts`](Rule::Conflicts), either Lemma 1 holds for all nodes of both, or they are members of
//! one lane of one node, in this order. In the second case, the effects within each block are in order by A2, and
//! different blocks touch different bytes by [`Blocks`](Rule::Blocks) and A1. If the two are in different arms of a
//! decision, only one of them runs. For two iterations of a loop, see Lemma 2. For statements that overlap only
//! because their temporaries share bytes, see Lemma 4.
//!
//! **Lemma 4 (places).** *From the first access to a temporary in a run of its body to the last one, none of its
//! bytes is written by a statement that does not access the temporary.* A temporary lives within one run of its
//! body: by [`Reads`](Rule::Reads), no statement outside of the body accesses it, and whatever is read was written
//! in the same run. Overlapping temporaries are in the same block, by [`Inside`](Rule::Inside). By
//! [`Sharing`](Rule::Sharing), all uses of one have ended before any use of the other, in each run of the innermost
//! body around both; or they live in different arms of a decision. Blocks whose addresses overlap exist one after
//! the other, by [`Sharing`](Rule::Sharing), and each exists during all of its uses, by
//! [`Lifetimes`](Rule::Lifetimes). No block overlaps an operand.
//!
//! **Lemma 5 (registers).** *A read from a register returns the value that memory would hold.* By
//! [`Registers`](Rule::Registers), the register was set by the last member that may write what is read, or by a
//! later access. By A2, that is the value that memory would hold in this thread. A temporary without memory is
//! accessed in one lane only. A store to other memory is elided only if a later member of the lane stores to the
//! same bytes, and reads between the two are served from a register.
//!
//! **Proof.** Each statement of the program runs equally often in the graph, by [`Statements`](Rule::Statements)
//! and [`Bodies`](Rule::Bodies), with the program's addresses and numbers, by [`Values`](Rule::Values), on a device
//! that can access its memory, by [`Devices`](Rule::Devices). By induction over a run: assume that all reads so far
//! have seen their writers in the program. The next read of a byte comes after the program's last write to it and
//! before the next one, by Lemma 3. Nothing else writes the byte in between, by Lemma 4. By Lemma 5, it does not
//! matter whether a register or memory holds it. By [`Reads`](Rule::Reads), such a writer exists. ∎
//!
//! # Complexity
//!
//! O(nodes × edges / 64) for the order, one bit test for each conflicting pair, and for fused nodes the product of
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
