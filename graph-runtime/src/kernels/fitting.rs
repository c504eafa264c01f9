//! The choice of a batch's variant: the plain one, or one with a limit of its registers. The driver tells what both need once they are
//! loaded, and the cost model which of them is used, or that none is.

use std::fmt;

use cuweave_core::launches::residency::{cost, most_of, needed};
use cuweave_core::launches::{Resources, Tuning};

use crate::cuda::Driver;
use crate::error::Error;

use super::function::FunctionInfo;
use super::limits::most_registers;
use super::variants::{Variant, Wanted};

/// A batch's needs.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    /// The plain variant.
    pub wanted: Wanted,
    /// The kernel's function, whose settings the variant takes.
    pub own: FunctionInfo,
    /// The number of members.
    pub members: usize,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block.
    pub shared: u32,
    /// The resources of the kernel alone.
    pub alone: Resources,
    /// The batch's blocks for each multiprocessor; `None` if a setter may change them.
    pub share: Option<u32>,
}

/// A variant that can run a batch, and its cost in thousandths of the kernel's time.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub variant: Variant,
    pub cost: u64,
    pub resources: Resources,
}

/// The reason that no variant of a kernel runs a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
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

impl Needs {
    /// Holds a loaded variant against the needs.
    ///
    /// `free` is the number of registers that it takes without a limit; `None` if it has no limit.
    pub fn fit(
        &self,
        driver: &Driver,
        tuning: &Tuning,
        (variant, free): (Variant, Option<u32>),
    ) -> Result<Fit, Unfit> {
        let failed = |failure| Unfit::Refused(Error::from(failure).to_string());
        let info = &variant.info;
        if info.most_threads < self.threads {
            let (most, threads) = (info.most_threads, self.threads);
            return Err(Unfit::Refused(format!(
                "many launches in one take blocks of {most} threads at most, not of {threads}"
            )));
        }
        driver.copy_attributes(self.own.function, info.function).map_err(failed)?;
        let blocks = driver.blocks_per_sm(info.function, self.threads, self.shared).map_err(failed)?;
        let resources = Resources { blocks, registers: info.registers, local: info.local };
        let cost = cost(tuning, self.alone, (resources, free.unwrap_or(info.registers)), self.share);
        Ok(Fit { variant, cost, resources })
    }

    /// Returns the request for a variant whose registers leave room for the blocks that a variant lacks; `None` if it lacks none, or not for
    /// its registers. `registers` is the number of registers of a multiprocessor.
    pub fn limited(&self, fit: &Fit, registers: u32) -> Option<Wanted> {
        let needed = needed(self.share, self.alone);
        let lacks = fit.resources.blocks < needed && fit.resources.registers > self.alone.registers;
        let most = most_registers(registers, needed, self.threads);
        (lacks && most > 0).then(|| self.wanted.limited(most))
    }

    /// Returns the variant to use: the plain one, or the limited one where that costs less.
    pub fn choose(
        &self,
        tuning: &Tuning,
        plain: Result<Fit, Unfit>,
        limited: Option<Result<Fit, Unfit>>,
    ) -> Result<Variant, Unfit> {
        let plain = plain?;
        let limited = limited.and_then(Result::ok);
        let of_limited = limited.as_ref().map(|fit| fit.resources);
        let of_plain = plain.resources;
        let best = match limited {
            Some(limited) if limited.cost < plain.cost => limited,
            _ => plain,
        };
        let most = most_of(tuning, self.alone, self.share);
        if best.cost <= most {
            return Ok(best.variant);
        }
        Err(Unfit::Slower {
            members: self.members,
            alone: self.alone,
            needed: needed(self.share, self.alone),
            plain: of_plain,
            limited: of_limited,
            cost: best.cost,
            most,
        })
    }
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

/// Thousandths, as a percentage.
struct Percent(u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} %", self.0 / 10, self.0 % 10)
    }
}
