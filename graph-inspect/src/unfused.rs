//! Report entries for consecutive launches that were not fused into one kernel, with the reasons.

use std::fmt;

use cuweave_core::location::SourceLocation;
use cuweave_core::picture::bytes;
use cuweave_core::picture::folded;

use super::unbatched::{ReportLine, at_line, times};

/// Two consecutive launches that are not one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfusedPair {
    /// The first launch, or the last launch of the first fused kernel.
    pub first: SourceLocation,
    /// The second launch, or the first launch of the second fused kernel.
    pub second: SourceLocation,
    /// The reason why they are not one kernel.
    pub reason: UnfusedReason,
    /// The number of such pairs with the same two lines.
    pub times: usize,
}

/// A reason why two consecutive launches are not one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnfusedReason {
    /// The option `launches` of the graph function forbids it.
    NotAllowed,
    /// Their grids differ: blocks in each dimension.
    Grids([u32; 3], [u32; 3]),
    /// Their blocks differ: threads in each dimension.
    Blocks([u32; 3], [u32; 3]),
    /// A statement that is not a kernel launch is between them.
    Between {
        /// The statement.
        at: SourceLocation,
        /// Its kind: a fill, a copy, a library call.
        kind: &'static str,
    },
    /// The second launch also depends on this statement, which may end after the first launch begins.
    OtherPredecessor(SourceLocation),
    /// This statement also depends on the first launch, and would have to wait for the second one.
    OtherSuccessor(SourceLocation),
    /// The kernel of one launch cannot be part of a fused kernel.
    Kernel {
        /// The launch.
        at: SourceLocation,
        /// The reason.
        reason: String,
    },
    /// A setter may change the grid or the block of this launch.
    Setter(SourceLocation),
    /// The two are ordered only by atomics on a buffer or by module variables that kernels write.
    SharedState,
    /// The fused kernel would be slower: fewer of its blocks fit on a multiprocessor, or it spills registers.
    Slower(String),
    /// One of them may start before its predecessors have ended, and the other may not.
    EarlyStart,
    /// A setter may change the range of a buffer that is passed to a launch.
    Range {
        /// The buffer.
        buffer: SourceLocation,
        /// The launch.
        launch: SourceLocation,
    },
    /// The elements of a buffer that one block of a launch accesses are unknown.
    Unknown {
        /// The buffer.
        buffer: SourceLocation,
        /// The launch.
        launch: SourceLocation,
        /// The reason.
        reason: String,
    },
    /// Blocks access elements of a buffer that other blocks of the other launch write.
    Shared {
        /// The buffer.
        buffer: SourceLocation,
        /// The launch that writes them.
        writes: SourceLocation,
        /// The launch that accesses them.
        other: SourceLocation,
    },
    /// This launch is in a batch, which is expected to be faster.
    Batched(SourceLocation),
    /// This launch runs concurrently with others, and their kernels may take long. Blocks of a fused kernel stay on
    /// their multiprocessors, which would then be loaded unevenly.
    Concurrent(SourceLocation),
    /// The kernel already has this many launches, which is the maximum.
    MaxMembers(usize),
    /// The fused kernel uses the buffers of all its launches at the same time, so the temporaries would need more
    /// memory.
    Memory {
        /// The bytes of the temporaries with all chains fused.
        whole: u64,
        /// The bytes of the temporaries without chains, rounded up to pages.
        most: u64,
    },
    /// The budget cannot hold the buffers of both at the same time.
    Budget,
}

impl UnfusedReason {
    /// Returns the change to the program that would make them one kernel. `None` if no change is known.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            UnfusedReason::NotAllowed => "leave the option `launches` out",
            UnfusedReason::Grids(..) => {
                "give them equal grids, and each block the elements that the same block of the other has"
            }
            UnfusedReason::Blocks(..) => "give them blocks of equal threads",
            UnfusedReason::Between { kind: "fill" | "copy", .. } => {
                "let a kernel of their grid and block do it, block by block"
            }
            UnfusedReason::Setter(_) => "make the grid and the block independent of scalars with setters",
            UnfusedReason::Slower(_) => {
                "limit the registers by the second number of `__launch_bounds__`, or use less shared memory"
            }
            UnfusedReason::Range { .. } => "make the bounds independent of scalars with setters",
            UnfusedReason::Unknown { .. } => {
                "index the buffer by sums and products of the block, the thread and scalars"
            }
            UnfusedReason::Shared { .. } => {
                "let each block access only what the same block of the other launch writes"
            }
            UnfusedReason::Batched(_) => "use `launches = \"fused\"`, which fuses launches and never batches",
            UnfusedReason::Memory { .. } => "write in place, so that fewer temporaries are in use at once",
            UnfusedReason::Budget => "raise the budget",
            UnfusedReason::Between { .. }
            | UnfusedReason::OtherPredecessor(_)
            | UnfusedReason::OtherSuccessor(_)
            | UnfusedReason::Kernel { .. }
            | UnfusedReason::SharedState
            | UnfusedReason::EarlyStart
            | UnfusedReason::Concurrent(_)
            | UnfusedReason::MaxMembers(_) => return None,
        })
    }
}

/// Formats the extents of a grid or block, without trailing ones.
fn extents(extents: [u32; 3]) -> String {
    let count = 3 - extents.iter().rev().take_while(|&&extent| extent == 1).count();
    let list: Vec<String> = extents[..count.max(1)].iter().map(u32::to_string).collect();
    list.join(" x ")
}

impl UnfusedReason {
    fn text(&self, shown: fn(&str) -> String) -> String {
        let named = |at: &SourceLocation| at_line(at, shown);
        match self {
            UnfusedReason::NotAllowed => "the option `launches` does not allow it".to_owned(),
            UnfusedReason::Grids(one, other) => {
                format!("their grids differ: {} and {} blocks", extents(*one), extents(*other))
            }
            UnfusedReason::Blocks(one, other) => {
                format!("their blocks differ: {} and {} threads", extents(*one), extents(*other))
            }
            UnfusedReason::Between { at, kind } => format!("a {kind} is between them: {}", named(at)),
            UnfusedReason::OtherPredecessor(at) => {
                format!("the second also depends on {}, which may end later than the first", named(at))
            }
            UnfusedReason::OtherSuccessor(at) => {
                format!("{} also depends on the first, and would have to wait for the second", named(at))
            }
            UnfusedReason::Kernel { at, reason } => {
                format!("{} cannot be a part of a fused kernel: {reason}", named(at))
            }
            UnfusedReason::Setter(at) => {
                format!("a setter may change the grid or the block of {}", named(at))
            }
            UnfusedReason::SharedState => {
                "only atomics or variables that kernels write order the two".to_owned()
            }
            UnfusedReason::Slower(reason) => reason.clone(),
            UnfusedReason::EarlyStart => "one of them may start early, and the other may not".to_owned(),
            UnfusedReason::Range { buffer, launch } => {
                format!("a setter may change the range of `{}` in {}", shown(&buffer.name), named(launch))
            }
            UnfusedReason::Unknown { buffer, launch, reason } => {
                let (buffer, launch) = (shown(&buffer.name), named(launch));
                format!("the elements of `{buffer}` that a block of {launch} accesses are unknown: {reason}")
            }
            UnfusedReason::Shared { buffer, writes, other } => {
                let (buffer, writes, other) = (shown(&buffer.name), named(writes), named(other));
                format!("blocks of {other} access elements of `{buffer}` that other blocks of {writes} write")
            }
            UnfusedReason::Batched(at) => {
                format!("{} is one launch with others, which is expected to be faster", named(at))
            }
            UnfusedReason::Concurrent(at) => format!(
                "{} runs concurrently with others and may take long: if fused, blocks stay where they are, on some \
                 multiprocessors more than on others",
                named(at)
            ),
            UnfusedReason::MaxMembers(most) => format!("a kernel has at most {most} launches"),
            UnfusedReason::Memory { whole, most } => {
                let (whole, most) = (bytes(*whole), bytes(*most));
                format!(
                    "one kernel needs the buffers of all its launches at once: temporaries would take {whole}, and \
                     {most} at most without it"
                )
            }
            UnfusedReason::Budget => "the budget cannot hold the buffers of both at once".to_owned(),
        }
    }
}

impl UnfusedReason {
    /// Returns the text without details, which all reasons of this variant share.
    pub(super) fn without_details(&self) -> String {
        let words = match self {
            UnfusedReason::Grids(..) => "their grids differ",
            UnfusedReason::Blocks(..) => "their blocks differ",
            UnfusedReason::Between { kind, .. } => return format!("a {kind} is between them"),
            UnfusedReason::OtherPredecessor(_) => {
                "the second also depends on other statements, which may end later than the first"
            }
            UnfusedReason::OtherSuccessor(_) => {
                "other statements also depend on the first, and would have to wait for the second"
            }
            UnfusedReason::Kernel { .. } => "the kernel of one of them cannot be a part of a fused kernel",
            UnfusedReason::Setter(_) => "a setter may change the grid or the block of one of them",
            UnfusedReason::Slower(_) => "one kernel would be slower",
            UnfusedReason::Range { .. } => "a setter may change the range of a buffer",
            UnfusedReason::Unknown { .. } => "the elements of a buffer that a block accesses are unknown",
            UnfusedReason::Shared { .. } => {
                "blocks access elements that other blocks of the other launch write"
            }
            UnfusedReason::Batched(_) => {
                "one of them is one launch with others, which is expected to be faster"
            }
            UnfusedReason::Concurrent(_) => "one of them runs concurrently with others and may take long",
            UnfusedReason::NotAllowed
            | UnfusedReason::SharedState
            | UnfusedReason::EarlyStart
            | UnfusedReason::MaxMembers(_)
            | UnfusedReason::Memory { .. }
            | UnfusedReason::Budget => return self.to_string(),
        };
        words.to_owned()
    }

    /// Returns the rank in the report: first reasons with a help, then those without. Different grids come last,
    /// because such kernels usually do unrelated work.
    pub(super) fn rank(&self) -> u8 {
        match (self, self.help()) {
            (UnfusedReason::Grids(..), _) => 2,
            (_, None) => 1,
            (_, Some(_)) => 0,
        }
    }
}

impl fmt::Display for UnfusedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned))
    }
}

impl fmt::Display for UnfusedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(str::to_owned, self.times))
    }
}

impl UnfusedPair {
    /// Formats the two launches, with both lines after them.
    pub(super) fn pair(&self, shown: fn(&str) -> String) -> String {
        let (one, other) = (&self.first, &self.second);
        format!("`{}` and `{}` (lines {}, {})", shown(&one.name), shown(&other.name), one.line, other.line)
    }

    /// Formats the entry as one that stands for `pairs` pairs.
    fn text(&self, shown: fn(&str) -> String, pairs: usize) -> String {
        let UnfusedPair { first, second, reason, .. } = self;
        let (first, second) = (at_line(first, shown), at_line(second, shown));
        let mut text = format!("{first} and {second}{}: {}", times(pairs), reason.text(shown));
        if let Some(help) = reason.help() {
            text.push_str(&format!("\n    help: {help}"));
        }
        text
    }

    pub(super) fn line(&self) -> ReportLine {
        ReportLine { text: self.text(str::to_owned, 1), folded: self.text(folded, 1), times: self.times }
    }
}
