//! The execution order of two accesses of a kernel, across calls.
//!
//! Each access is a path of calls that ends in a step. Where two paths part, dominance and reachability in one
//! function decide the order. `access` uses it to prove that a load precedes every store that can reach it.

use crate::analysis::code::{SsaFunction, StepId};
use crate::analysis::effect;
use crate::analysis::flow::Flow;
use crate::isa::{self, ControlFlow};
use std::collections::BTreeMap;

/// The queries, with cached results.
pub(crate) struct Order<'f, 'c, 'm, 'a> {
    pub flow: &'f Flow<'c, 'm, 'a>,
    /// The blocks reachable from a block, by instance and block.
    pub reached: BTreeMap<(u32, u32), Vec<bool>>,
    /// One flag per step of an instance: true if a thread may have synchronised with others before it.
    pub waited: BTreeMap<u32, Vec<bool>>,
}

impl<'m, 'a> Order<'_, '_, 'm, 'a> {
    fn code(&self, instance: u32) -> &SsaFunction<'m, 'a> {
        &self.flow.instances[instance as usize].code
    }

    /// Returns the blocks reachable from the block of the step.
    fn reached(&mut self, StepId { instance, step }: StepId) -> &[bool] {
        let block = self.code(instance).steps[step as usize].block;
        if !self.reached.contains_key(&(instance, block)) {
            let reached = self.code(instance).cfg.reachable_from(block);
            self.reached.insert((instance, block), reached);
        }
        &self.reached[&(instance, block)]
    }

    /// Returns true if no thread can have stored before the load. This holds if the load precedes the store on every
    /// path to the store. It also holds if the store cannot reach the load and no thread that has stored can
    /// synchronise with this one before its load.
    pub fn precedes_all_stores(&mut self, load: &[StepId], store: &[StepId]) -> bool {
        let Some(apart) = (0..load.len()).find(|&at| store.get(at) != Some(&load[at])) else {
            return true;
        };
        let Some(&StepId { step: stored, .. }) = store.get(apart) else { return false };
        let StepId { instance, step: loaded } = load[apart];
        let code = self.code(instance);
        let (at, other) = (&code.steps[loaded as usize], &code.steps[stored as usize]);
        let unguarded = at.guard.is_none() || at.guard == other.guard;
        let before = match at.block == other.block {
            true => loaded < stored,
            false => code.cfg.dominates(at.block, other.block),
        };
        let (at_block, same_block) = (at.block as usize, at.block == other.block);
        if before && unguarded && load[apart + 1..].iter().all(|&inner| self.is_always_done(inner)) {
            return true;
        }
        let comes_to =
            (same_block && stored < loaded) || self.reached(StepId { instance, step: stored })[at_block];
        // A loop around one of the calls may execute all of it again.
        let again = load[..apart].iter().any(|&call| {
            let block = self.code(call.instance).steps[call.step as usize].block as usize;
            self.reached(call)[block]
        });
        if comes_to || again {
            return false;
        }
        let waits = load.iter().any(|&at| self.may_have_waited(at));
        !(waits && store.iter().any(|&at| self.waits_after(at)))
    }

    /// Returns true if every path through the step's function executes the step.
    fn is_always_done(&self, StepId { instance, step }: StepId) -> bool {
        let code = self.code(instance);
        let step = &code.steps[step as usize];
        let mut ends = (0..code.cfg.blocks.len() as u32)
            .filter(|&block| code.cfg.blocks[block as usize].successors.is_empty());
        let leaves_early = code.steps.iter().any(|other| {
            let leaves = other.instruction.is_some_and(|other| match isa::row(other.op()).flow {
                ControlFlow::Return | ControlFlow::Exit => true,
                ControlFlow::Next | ControlFlow::Branch | ControlFlow::Table | ControlFlow::Trap => false,
            });
            leaves && other.guard.is_some() && !code.cfg.dominates(step.block, other.block)
        });
        step.guard.is_none() && !leaves_early && ends.all(|end| code.cfg.dominates(step.block, end))
    }

    /// Returns true if the thread may have synchronised with others before the step.
    fn may_have_waited(&mut self, StepId { instance, step }: StepId) -> bool {
        if !self.waited.contains_key(&instance) {
            let waited = after_waiting(self.code(instance));
            self.waited.insert(instance, waited);
        }
        self.waited[&instance].get(step as usize).copied().unwrap_or(true)
    }

    /// Returns true if an instruction that may synchronise can follow the step.
    fn waits_after(&mut self, at: StepId) -> bool {
        let reached = self.reached(at).to_vec();
        let StepId { instance, step } = at;
        let code = self.code(instance);
        let block = code.steps[step as usize].block;
        code.steps.iter().enumerate().any(|(at, other)| {
            let follows = reached[other.block as usize] || (other.block == block && at > step as usize);
            follows && other.instruction.is_some_and(effect::synchronises)
        })
    }
}

/// Returns one flag per step: true if an instruction before it may have synchronised with other threads.
fn after_waiting(code: &SsaFunction<'_, '_>) -> Vec<bool> {
    let mut waited = vec![false; code.cfg.blocks.len()];
    let waits = |at: usize| code.steps[at].instruction.is_some_and(effect::synchronises);
    let mut looked = vec![false; code.cfg.blocks.len()];
    for at in (0..code.steps.len()).filter(|&at| waits(at)) {
        if std::mem::replace(&mut looked[code.steps[at].block as usize], true) {
            continue;
        }
        for (block, reached) in code.cfg.reachable_from(code.steps[at].block).into_iter().enumerate() {
            waited[block] |= reached;
        }
    }
    let mut after = Vec::with_capacity(code.steps.len());
    let (mut block, mut here) = (u32::MAX, false);
    for (at, step) in code.steps.iter().enumerate() {
        if step.block != block {
            (block, here) = (step.block, waited[step.block as usize]);
        }
        after.push(here);
        here |= waits(at);
    }
    after
}
