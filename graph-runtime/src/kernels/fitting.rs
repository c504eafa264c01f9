//! The choice of a batch's variant: the plain one, or one with a limit of its registers. The driver tells what both need once they are
//! loaded, and the cost model which of them is used, or that none is.

use cuweave_core::launches::residency::{cost, most_of, needed};
use cuweave_core::launches::{Resources, Tuning, Unfit};

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

impl Needs {
    /// Holds a loaded variant against the needs.
    ///
    /// `free` is the number of registers that it takes without a limit; `None` if it has no limit.
    pub fn fit(
        &self,
        driver: &Driver,
        tuning: &Tuning,
        variant: Variant,
        free: Option<u32>,
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
        let cost = cost(tuning, self.alone, resources, free.unwrap_or(info.registers), self.share);
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
        plain: Fit,
        limited: Option<Result<Fit, Unfit>>,
    ) -> Result<Variant, Unfit> {
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
