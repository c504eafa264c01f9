//! The reasons that a batch has no kernel.

use std::fmt;

use super::residency::Resources;

/// The reason that no variant of a kernel runs a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// None can be made or launched: the driver's reason, or that of the rewriting.
    Refused(String),
    /// Each would run longer than the kernel alone.
    Slower {
        /// The number of members.
        members: usize,
        /// The resources of the kernel alone.
        alone: Resources,
        /// The blocks that a multiprocessor must hold.
        needed: u32,
        /// Those of the plain variant.
        plain: Resources,
        /// Those of the variant with a limit of its registers, if it was tried.
        limited: Option<Resources>,
        /// The cost of the better one of both, in thousandths of the kernel's time.
        cost: u64,
        /// The maximum cost of a batch.
        most: u64,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Refused(why) => write!(f, "{why}"),
            Unfit::Slower { members, alone, needed, plain, limited, cost, most } => {
                write!(
                    f,
                    "one launch of {members} needs {needed} blocks a multiprocessor and gets {}: {} registers a thread, the kernel alone {} ({} blocks)",
                    plain.blocks, plain.registers, alone.registers, alone.blocks
                )?;
                let more = |form: &Resources| form.local.saturating_sub(alone.local);
                if more(plain) > 0 {
                    write!(f, ", and {} bytes more of local memory", more(plain))?;
                }
                if let Some(limited) = limited {
                    write!(
                        f,
                        "; limited to {} registers it gets {} and {} bytes more of local memory",
                        limited.registers,
                        limited.blocks,
                        more(limited)
                    )?;
                }
                write!(
                    f,
                    ": its blocks are expected to take {} longer, and one launch to save {}",
                    Percent(*cost),
                    Percent(*most)
                )
            }
        }
    }
}

/// The reason that a chain of launches has no fused kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnfitChain {
    /// It cannot be made, or launched.
    Refused(String),
    /// It would be slower than its parts.
    Slower(String),
}

impl UnfitChain {
    /// Returns the reason as text.
    #[must_use]
    pub fn reason(&self) -> &str {
        let (UnfitChain::Refused(reason) | UnfitChain::Slower(reason)) = self;
        reason
    }
}

/// Thousandths, as a percentage.
struct Percent(u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} %", self.0 / 10, self.0 % 10)
    }
}
