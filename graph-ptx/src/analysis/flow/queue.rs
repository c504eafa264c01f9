//! The worklist of the points-to analysis.

use crate::analysis::code::StepId;
use std::collections::VecDeque;

/// The steps to evaluate in FIFO order, each at most once.
#[derive(Default)]
pub(super) struct StepQueue {
    steps: VecDeque<StepId>,
    /// True for each queued step, by instance and step.
    queued: Vec<Vec<bool>>,
}

impl StepQueue {
    /// Adds all steps of the next instance.
    pub fn add_instance(&mut self, steps: usize) {
        let instance = self.queued.len() as u32;
        self.queued.push(vec![true; steps]);
        self.steps.extend((0..steps as u32).map(|step| StepId { instance, step }));
    }

    pub fn push(&mut self, at: StepId) {
        if !std::mem::replace(&mut self.queued[at.instance as usize][at.step as usize], true) {
            self.steps.push_back(at);
        }
    }

    pub fn pop(&mut self) -> Option<StepId> {
        let at = self.steps.pop_front()?;
        self.queued[at.instance as usize][at.step as usize] = false;
        Some(at)
    }
}
