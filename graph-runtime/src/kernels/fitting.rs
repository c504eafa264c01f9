//! Chooses the variant of a batch's kernel: the plain one, or one with limited registers. The driver reports
//! the resources of each once it is loaded. The cost model then picks one, or rejects the batch.

use cuweave_core::launches::residency::{cost, max_cost, needed};
use cuweave_core::launches::{Resources, Tuning, Unfit};

use crate::cuda::Driver;
use crate::error::Error;

use super::function::FunctionInfo;
use super::limits::max_registers;
use super::variants::{BatchedVariant, VariantRequest};

/// The requirements of a batch.
#[derive(Clone, Debug)]
pub(super) struct BatchRequirements {
    /// The plain variant.
    pub wanted: VariantRequest,
    /// The kernel's own function, whose attributes the variant copies.
    pub own: FunctionInfo,
    /// The number of members.
    pub members: usize,
    /// The number of threads per block.
    pub threads: u32,
    /// The dynamic shared memory per block, in bytes.
    pub shared: u32,
    /// The resources of the unbatched kernel.
    pub alone: Resources,
    /// The number of the batch's blocks per multiprocessor. `None` if a setter may change it.
    pub share: Option<u32>,
}

/// A variant that can run a batch. Its cost is in thousandths of the kernel's time.
#[derive(Clone, Debug)]
pub(super) struct FittedVariant {
    pub variant: BatchedVariant,
    pub cost: u64,
    pub resources: Resources,
}

impl BatchRequirements {
    /// Checks a loaded variant against the requirements, and computes its cost.
    ///
    /// `free` is the number of registers that the variant would use without a limit. `None` if it has no limit.
    pub fn fit(
        &self,
        driver: &Driver,
        tuning: &Tuning,
        variant: BatchedVariant,
        free: Option<u32>,
    ) -> Result<FittedVariant, Unfit> {
        let failed = |failure| Unfit::Refused(Error::from(failure).to_string());
        let info = &variant.info;
        if info.max_threads < self.threads {
            let (most, threads) = (info.max_threads, self.threads);
            return Err(Unfit::Refused(format!(
                "the batched kernel supports blocks of up to {most} threads, not {threads}"
            )));
        }
        driver.copy_attributes(self.own.function, info.function).map_err(failed)?;
        let blocks = driver.blocks_per_sm(info.function, self.threads, self.shared).map_err(failed)?;
        let resources = Resources { blocks, registers: info.registers, local: info.local };
        let cost = cost(tuning, self.alone, resources, free.unwrap_or(info.registers), self.share);
        Ok(FittedVariant { variant, cost, resources })
    }

    /// Returns a variant with so few registers that the missing blocks fit on a multiprocessor. `None` if no
    /// blocks are missing, or registers are not the cause. `registers` is the number of registers per
    /// multiprocessor.
    pub fn limited(&self, fit: &FittedVariant, registers: u32) -> Option<VariantRequest> {
        let needed = needed(self.share, self.alone);
        let lacks = fit.resources.blocks < needed && fit.resources.registers > self.alone.registers;
        let most = max_registers(registers, needed, self.threads);
        (lacks && most > 0).then(|| self.wanted.limited(most))
    }

    /// Returns the cheaper variant, or the reason that the batch is slower than its members.
    pub fn choose(
        &self,
        tuning: &Tuning,
        plain: FittedVariant,
        limited: Option<Result<FittedVariant, Unfit>>,
    ) -> Result<BatchedVariant, Unfit> {
        let limited = limited.and_then(Result::ok);
        let of_limited = limited.as_ref().map(|fit| fit.resources);
        let of_plain = plain.resources;
        let best = match limited {
            Some(limited) if limited.cost < plain.cost => limited,
            _ => plain,
        };
        let most = max_cost(tuning, self.alone, self.share);
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
