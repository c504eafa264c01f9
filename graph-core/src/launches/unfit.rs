//! Why a batch or a chain has no kernel.

use std::fmt;

use super::residency::Resources;

/// Why no variant of a kernel runs a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// No variant can be made or launched. The text is the reason of the driver or of the rewriting.
    Refused(String),
    /// Each variant would run longer than the plain kernel.
    Slower {
        /// The number of members.
        members: usize,
        /// The resources of the plain kernel.
        alone: Resources,
        /// The number of resident blocks on a multiprocessor that the batch needs.
        needed: u32,
        /// The resources of the variant without a register limit.
        plain: Resources,
        /// The resources of the variant with a register limit, if it was tried.
        limited: Option<Resources>,
        /// The cost of the better variant, in thousandths of the kernel's time.
        cost: u64,
        /// The maximum acceptable cost of the batch.
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
                    "one launch of {members} needs {needed} blocks per multiprocessor and gets {}: \
                     {} registers per thread, the kernel alone {} ({} blocks)",
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

/// Why a chain of launches has no fused kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnfitChain {
    /// The kernel cannot be made or launched.
    Refused(String),
    /// The fused kernel would be slower than its members.
    Slower(String),
}

impl UnfitChain {
    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        let (UnfitChain::Refused(reason) | UnfitChain::Slower(reason)) = self;
        reason
    }
}

/// Displays thousandths as a percentage.
struct Percent(u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} %", self.0 / 10, self.0 % 10)
    }
}
