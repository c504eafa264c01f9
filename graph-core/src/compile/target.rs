//! The interface to the device that a graph is built for.
//!
//! [`Target`] compiles kernels of merged launches and may refuse them. [`LaunchFacts`] keeps the facts about the
//! launches, updated after each refusal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_ptx::coverage::ForwardingPlan;

use crate::ids::KernelId;
use crate::index::Vector;
use crate::ir::{Program, StatementId};
use crate::launches::{
    Batch, Batching, Chain, Change, Fusing, Launch, LeftAlone, NamedKernel, Tuning, Unfit, UnfitChain,
};
use crate::operation::{BatchId, ChainId};

/// A device that compiles and loads the kernels of merged launches, and decides whether they pay off.
pub trait Target {
    /// The loaded kernel of a batch.
    type Batched;
    /// The loaded kernel of a chain.
    type Fused;

    /// Returns the kernel of each batch, or why there is none.
    fn batched(
        &mut self,
        facts: &LaunchFacts,
        batches: &Vector<BatchId, Batch>,
    ) -> Vec<Result<Self::Batched, Unfit>>;

    /// Returns the kernel of each chain, or the kernel that cannot be part of it and why. With `forward`, elements
    /// stay in registers if possible.
    fn fused(
        &mut self,
        facts: &LaunchFacts,
        program: &Program,
        chains: &Vector<ChainId, Chain>,
        forward: bool,
    ) -> Vec<Result<Self::Fused, (KernelId, UnfitChain)>>;

    /// Returns the elements of a fused kernel that stay in registers. `None` if there are none.
    fn in_registers(fused: &Self::Fused) -> Option<&Arc<ForwardingPlan>>;

    /// Returns the name and file of a kernel.
    fn name(&self, kernel: KernelId) -> NamedKernel;
}

/// The facts about the launches of a program. A kernel that the target refuses is not merged again.
#[derive(Debug, Default)]
pub struct LaunchFacts {
    /// The facts about each launch, indexed by statement. `None` if it must stay as written. Empty if all must.
    pub launches: Vector<StatementId, Option<Launch>>,
    /// The device constants.
    pub tuning: Tuning,
    /// The launches that are not batched since each form of the batch would be slower, with the reasons.
    pub slower: BTreeMap<StatementId, Arc<Unfit>>,
    /// The launches that are not fused since the fused kernel would be slower, with the reasons.
    pub slower_fused: BTreeMap<StatementId, String>,
    /// The launches whose chain could be stacked with others but is not, with the reasons.
    pub unstacked: BTreeMap<StatementId, String>,
    /// The kernels launched as written, with the reasons.
    pub left_alone: BTreeSet<LeftAlone>,
}

impl LaunchFacts {
    /// Returns the kernels of the batches. `None` if one is refused; batching of its members is then disabled, and
    /// the launches must be decided again.
    pub(super) fn batched<T: Target>(
        &mut self,
        target: &mut T,
        batches: &Vector<BatchId, Batch>,
    ) -> Option<Vector<BatchId, T::Batched>> {
        let mut kernels = Vector::with_capacity(batches.len());
        for (batch, kernel) in batches.iter().zip(target.batched(self, batches)) {
            match kernel {
                Ok(kernel) => drop(kernels.push(kernel)),
                Err(why) => self.disable_batching(target, batch, why),
            }
        }
        (kernels.len() == batches.len()).then_some(kernels)
    }

    /// Disables batching of the members of a batch. If the kernel cannot be made, disables it for all launches of
    /// that kernel.
    fn disable_batching(&mut self, target: &impl Target, batch: &Batch, why: Unfit) {
        match why {
            Unfit::Refused(why) => {
                let Some(first) = batch.members.first().and_then(|&first| self.launches[first].as_ref())
                else {
                    return;
                };
                let kernel = first.kernel;
                self.left_alone.insert(LeftAlone::one(target.name(kernel), Change::Batching, why));
                for launch in self.launches.iter_mut().flatten().filter(|launch| launch.kernel == kernel) {
                    launch.batch = Batching::Never;
                }
            }
            Unfit::Slower { .. } => {
                let why = Arc::new(why);
                for &member in &batch.members {
                    if let Some(launch) = &mut self.launches[member] {
                        launch.batch = Batching::Never;
                        self.slower.insert(member, why.clone());
                    }
                }
            }
        }
    }

    /// Returns the kernels of the chains. `None` if one is refused; fusing one of its kernels, or stacking it, is
    /// then disabled, and the launches must be decided again.
    pub(super) fn fused<T: Target>(
        &mut self,
        target: &mut T,
        program: &Program,
        chains: &Vector<ChainId, Chain>,
        forward: bool,
    ) -> Option<Vector<ChainId, T::Fused>> {
        let mut kernels = Vector::with_capacity(chains.len());
        let mut refused: BTreeSet<(KernelId, UnfitChain)> = BTreeSet::new();
        for (chain, kernel) in chains.iter().zip(target.fused(self, program, chains, forward)) {
            match kernel {
                Ok(kernel) => drop(kernels.push(kernel)),
                // Without stacking, each chain may still become one kernel.
                Err((_, why)) if chain.stack.is_some() => self.disable_stacking(chain, why.reason()),
                Err(why) => drop(refused.insert(why)),
            }
        }
        for (kernel, why) in refused {
            self.disable_fusing(target.name(kernel), kernel, &why);
        }
        (kernels.len() == chains.len()).then_some(kernels)
    }

    fn disable_stacking(&mut self, chain: &Chain, why: &str) {
        for &member in &chain.members {
            self.unstacked.insert(member, why.to_owned());
            if let Some(launch) = &mut self.launches[member] {
                launch.stack = false;
            }
        }
    }

    fn disable_fusing(&mut self, named: NamedKernel, kernel: KernelId, why: &UnfitChain) {
        self.left_alone.insert(LeftAlone::one(named, Change::Fusing, why.reason()));
        for (statement, launch) in self.launches.enumerate_mut() {
            let Some(launch) = launch.as_mut().filter(|launch| launch.kernel == kernel) else { continue };
            launch.fuse = Fusing::Never;
            if let UnfitChain::Slower(reason) = why {
                self.slower_fused.insert(statement, reason.clone());
            }
        }
    }
}
