//! The launches that follow one another and are not one kernel, with the reasons.

use std::fmt;

use super::apart::times;
use crate::runtime::error::At;

/// Two launches, one after another, that are not one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfused {
    /// The first launch: alone, or the last one of a fused kernel.
    pub first: At,
    /// The launch behind it: alone, or the first one of a fused kernel.
    pub second: At,
    /// The reason that they are not one kernel.
    pub reason: WhyUnfused,
    /// The number of such pairs of these lines.
    pub times: usize,
}

/// A reason that two launches, one after another, are not one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyUnfused {
    /// The option `launches` of their function does not allow it.
    NotAllowed,
    /// Their grids differ: blocks in each dimension.
    Grids([u32; 3], [u32; 3]),
    /// Their blocks differ: threads in each dimension.
    Blocks([u32; 3], [u32; 3]),
    /// A statement that is no launch stands between them.
    Between {
        /// The statement.
        at: At,
        /// Its kind: a fill, a copy, a library call.
        kind: &'static str,
    },
    /// The second one also comes after this statement, which may end after the first one begins.
    Before(At),
    /// This statement also comes after the first one, and would wait for the second one.
    Behind(At),
    /// The kernel of one cannot be a part of a fused kernel.
    Kernel {
        /// The launch.
        at: At,
        /// The reason.
        reason: String,
    },
    /// A setter may change the grid or the block of this launch.
    Setter(At),
    /// Atomics on a buffer, or module variables that kernels write, order the two, and nothing else does.
    State,
    /// The fused kernel would be slower: a multiprocessor holds fewer of its blocks, or it spills registers.
    Slower(String),
    /// One of them may start before the launches before it have ended, and the other one may not.
    Starts,
    /// A setter may change the range of a buffer that a launch is given.
    Range {
        /// The buffer.
        buffer: At,
        /// The launch.
        launch: At,
    },
    /// The elements of a buffer that a block of a launch accesses are not known.
    Unknown {
        /// The buffer.
        buffer: At,
        /// The launch.
        launch: At,
        /// The reason.
        reason: String,
    },
    /// Blocks access elements of a buffer that other blocks of the other launch write.
    Shared {
        /// The buffer.
        buffer: At,
        /// The launch that writes them.
        writes: At,
        /// The launch that accesses them.
        other: At,
    },
    /// This launch is one of a batch, which is expected to be faster.
    Batched(At),
    /// The kernel has so many launches, and more are not fused.
    Most(usize),
    /// The fused kernel holds the buffers of all its launches at once, and the temporaries would take more memory.
    Memory {
        /// The bytes of the temporaries with all chains whole.
        whole: u64,
        /// The bytes of the temporaries without chains, in whole pages.
        most: u64,
    },
    /// A budget does not hold the buffers of both at once.
    Budget,
}

impl WhyUnfused {
    /// Returns the change of the program that makes them one kernel; `None` if none is known.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            WhyUnfused::NotAllowed => "leave the option `launches` out",
            WhyUnfused::Grids(..) => {
                "give them equal grids, and each block the elements that the same block of the other has"
            }
            WhyUnfused::Blocks(..) => "give them blocks of equal threads",
            WhyUnfused::Between { kind: "fill" | "copy", .. } => {
                "let a kernel of their grid and block do it, block by block"
            }
            WhyUnfused::Setter(_) => "let no scalar that has a setter reach the grid or the block",
            WhyUnfused::Slower(_) => {
                "limit the registers by the second number of `__launch_bounds__`, or use less shared memory"
            }
            WhyUnfused::Range { .. } => "let no scalar that has a setter reach the bounds",
            WhyUnfused::Unknown { .. } => {
                "index the buffer by sums and products of the block, the thread and scalars"
            }
            WhyUnfused::Shared { .. } => {
                "let each block access only what the same block of the other launch writes"
            }
            WhyUnfused::Batched(_) => "`launches = \"fused\"` fuses launches, and batches none",
            WhyUnfused::Memory { .. } => "write in place, so that fewer temporaries are in use at once",
            WhyUnfused::Budget => "raise the budget",
            WhyUnfused::Between { .. }
            | WhyUnfused::Before(_)
            | WhyUnfused::Behind(_)
            | WhyUnfused::Kernel { .. }
            | WhyUnfused::State
            | WhyUnfused::Starts
            | WhyUnfused::Most(_) => return None,
        })
    }
}

/// Returns the extents of a grid or a block, without the last ones that are 1.
fn extents(extents: [u32; 3]) -> String {
    let count = 3 - extents.iter().rev().take_while(|&&extent| extent == 1).count();
    let list: Vec<String> = extents[..count.max(1)].iter().map(u32::to_string).collect();
    list.join(" x ")
}

impl fmt::Display for WhyUnfused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyUnfused::NotAllowed => write!(f, "the option `launches` does not allow it"),
            WhyUnfused::Grids(one, other) => {
                write!(f, "their grids differ: {} and {} blocks", extents(*one), extents(*other))
            }
            WhyUnfused::Blocks(one, other) => {
                write!(f, "their blocks differ: {} and {} threads", extents(*one), extents(*other))
            }
            WhyUnfused::Between { at, kind } => {
                write!(f, "a {kind} stands between them: {}", Named(at))
            }
            WhyUnfused::Before(at) => {
                write!(f, "the second also comes after {}, which may end later than the first", Named(at))
            }
            WhyUnfused::Behind(at) => {
                write!(f, "{} also comes after the first, and would wait for the second", Named(at))
            }
            WhyUnfused::Kernel { at, reason } => {
                write!(f, "{} cannot be a part of a fused kernel: {reason}", Named(at))
            }
            WhyUnfused::Setter(at) => {
                write!(f, "a setter may change the grid or the block of {}", Named(at))
            }
            WhyUnfused::State => write!(f, "atomics, or variables that kernels write, order the two"),
            WhyUnfused::Slower(reason) => f.write_str(reason),
            WhyUnfused::Starts => write!(f, "one of them may start early, and the other may not"),
            WhyUnfused::Range { buffer, launch } => {
                write!(f, "a setter may change the range of `{}` in {}", buffer.name, Named(launch))
            }
            WhyUnfused::Unknown { buffer, launch, reason } => write!(
                f,
                "the elements of `{}` that a block of {} accesses are not known: {reason}",
                buffer.name,
                Named(launch)
            ),
            WhyUnfused::Shared { buffer, writes, other } => write!(
                f,
                "blocks of {} access elements of `{}` that other blocks of {} write",
                Named(other),
                buffer.name,
                Named(writes)
            ),
            WhyUnfused::Batched(at) => {
                write!(f, "{} is one launch with others, which is expected to be faster", Named(at))
            }
            WhyUnfused::Most(most) => write!(f, "one kernel has {most} launches at most"),
            WhyUnfused::Memory { whole, most } => write!(
                f,
                "one kernel holds the buffers of all its launches at once: temporaries would take {whole} bytes, and {most} at most without it"
            ),
            WhyUnfused::Budget => write!(f, "the budget does not hold the buffers of both at once"),
        }
    }
}

/// A statement with its line.
struct Named<'a>(&'a At);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { name, line, .. } = self.0;
        write!(f, "`{name}` (line {line})")
    }
}

impl fmt::Display for Unfused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfused { first, second, reason, times: count } = self;
        write!(f, "{} and {}{}: {reason}", Named(first), Named(second), times(*count))?;
        reason.help().map_or(Ok(()), |help| write!(f, "\n    help: {help}"))
    }
}
