//! What the compiler asks of the device that a graph is built for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cuweave_ptx::coverage::Forward;

use crate::ids::KernelId;
use crate::index::Vector;
use crate::ir::{Program, StatementId};
use crate::launches::{
    Batch, Batching, Chain, Change, Fusing, Launch, LeftAlone, NamedKernel, Tuning, Unfit, UnfitChain,
};
use crate::operation::{BatchId, ChainId};

/// A device: compiles and loads the kernels of merged launches, and says whether they are worth it.
pub trait Target {
    /// The loaded kernel of a batch.
    type Batched;
    /// The loaded kernel of a chain.
    type Fused;

    /// Returns the kernel of each batch, or the reason that it has none.
    fn batched(
        &mut self,
        facts: &LaunchFacts,
        batches: &Vector<BatchId, Batch>,
    ) -> Vec<Result<Self::Batched, Unfit>>;

    /// Returns the kernel of each chain; or the kernel that cannot be a part of it, and why. With `forward` elements stay in
    /// registers where they can.
    fn fused(
        &mut self,
        facts: &LaunchFacts,
        program: &Program,
        chains: &Vector<ChainId, Chain>,
        forward: bool,
    ) -> Vec<Result<Self::Fused, (KernelId, UnfitChain)>>;

    /// Returns the elements of a fused kernel that stay in registers, if any do.
    fn in_registers(fused: &Self::Fused) -> Option<&Arc<Forward>>;

    /// Returns the name and the file of a kernel.
    fn name(&self, kernel: KernelId) -> NamedKernel;
}

/// The properties of the launches of a program. A kernel that the target refuses is not merged again.
#[derive(Debug, Default)]
pub struct LaunchFacts {
    /// An entry for each statement; `None` if the launch must stay as written. Empty if all must.
    pub launches: Vector<StatementId, Option<Launch>>,
    /// The constants of the device.
    pub tuning: Tuning,
    /// The launches that are in no batch because each form of it would be slower, with the reasons.
    pub slower: BTreeMap<StatementId, Arc<Unfit>>,
    /// The launches that are in no chain because the fused kernel would be slower, with the reasons.
    pub slower_fused: BTreeMap<StatementId, String>,
    /// The launches whose chain is not stacked with others though it could be, with the reasons.
    pub unstacked: BTreeMap<StatementId, String>,
    /// The kernels that are launched as written, with the reasons.
    pub left_alone: BTreeSet<LeftAlone>,
}

impl LaunchFacts {
    /// Returns the kernels of batches; `None` if one cannot be used. Batching of its members is disabled then, and the
    /// decision must be made again.
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

    /// Disables batching of a batch's members. A kernel that cannot be made disables it for all launches of that kernel.
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

    /// Returns the kernels of chains; `None` if one cannot be used. Fusing of one of its parts is disabled then, or its
    /// stacking, and the decision must be made again.
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
                // Each chain may be one kernel all the same.
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
