//! Teams: one thread per device, which form a multicast object together. The members synchronise at each step,
//! by a condition variable with a timeout, so that no member blocks in the driver for one that is gone.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cudarc::driver::CudaContext;

use crate::error::{MulticastFault, Result};

use super::checks::fault;
use super::object::Object;

/// A step, and a number on which all members must agree.
type StepValue = (&'static str, u64);

#[derive(Default)]
struct TeamState {
    /// The step and number that each member has passed. `None` for members that have not reached the step.
    said: Vec<Option<StepValue>>,
    /// The number of completed steps.
    round: u64,
    /// The fault of the last step, if any.
    verdict: Option<MulticastFault>,
    /// The fault that ended the team. Each later step returns it.
    ended: Option<MulticastFault>,
    /// The rank of a dropped member.
    gone: Option<usize>,
    /// The object that the first member has created, or its error.
    made: Option<Result<Arc<Object>>>,
}

struct TeamShared {
    contexts: Vec<Arc<CudaContext>>,
    timeout: Duration,
    state: Mutex<TeamState>,
    changed: Condvar,
}

impl TeamShared {
    fn state(&self) -> MutexGuard<'_, TeamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A member of a team: the thread that acts for one device. Created by [`team`].
///
/// At each step the other members wait for it, up to the team's timeout. If it is dropped, also by a panic,
/// they stop waiting and get [`MulticastFault::MemberGone`].
#[must_use = "the other members fail when this is dropped"]
pub struct Member {
    shared: Arc<TeamShared>,
    rank: usize,
}

/// Returns the members of a team, one for each context. Move each one to its own thread. If a member does not
/// reach a step within `timeout`, all get an error.
///
/// # Errors
///
/// [`MulticastFault::NoDevices`], [`MulticastFault::Repeated`].
pub fn team(contexts: &[Arc<CudaContext>], timeout: Duration) -> Result<Vec<Member>> {
    if contexts.is_empty() {
        return fault(MulticastFault::NoDevices);
    }
    for (at, ctx) in contexts.iter().enumerate() {
        if contexts.iter().take(at).any(|other| other.cu_device() == ctx.cu_device()) {
            return fault(MulticastFault::Repeated { device: ctx.ordinal() });
        }
    }
    let state = Mutex::new(TeamState { said: vec![None; contexts.len()], ..TeamState::default() });
    let shared =
        Arc::new(TeamShared { contexts: contexts.to_vec(), timeout, state, changed: Condvar::new() });
    Ok((0..contexts.len()).map(|rank| Member { shared: shared.clone(), rank }).collect())
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Member {
    /// Returns the index of the member's context among those passed to [`team`].
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the context of the member's device. It is always `Some`: a team has a context for each member.
    pub fn context(&self) -> Option<&Arc<CudaContext>> {
        self.shared.contexts.get(self.rank)
    }

    /// Waits until all members have reached a step with this name.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::MemberGone`] if a member was dropped, [`MulticastFault::TimedOut`] if one did not
    /// arrive in time, [`MulticastFault::Disagree`] if one reached another step. The first two end the team:
    /// every later step returns them.
    pub fn agree(&self, step: &'static str) -> Result<()> {
        self.agree_on(step, 0)
    }

    /// Waits until all members have reached a step with the same number.
    pub(super) fn agree_on(&self, step: &'static str, value: u64) -> Result<()> {
        let TeamShared { state: _, changed, timeout, .. } = &*self.shared;
        let mut state = self.shared.state();
        if let Some(ended) = &state.ended {
            return fault(ended.clone());
        }
        let round = state.round;
        if let Some(said) = state.said.get_mut(self.rank) {
            *said = Some((step, value));
        }
        if state.said.iter().all(Option::is_some) {
            state.close();
            changed.notify_all();
        } else {
            let waits =
                |state: &mut TeamState| state.round == round && state.ended.is_none() && state.gone.is_none();
            let waited = changed.wait_timeout_while(state, *timeout, waits);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.round != round {
            return state.verdict.clone().map_or(Ok(()), fault);
        }
        let (arrived, members) = (state.said.iter().flatten().count(), state.said.len());
        let found = match state.gone {
            Some(rank) => MulticastFault::MemberGone { rank, step },
            None => MulticastFault::TimedOut { step, arrived, members },
        };
        let ended = state.ended.get_or_insert(found).clone();
        drop(state);
        changed.notify_all();
        fault(ended)
    }

    /// Creates the object in the first member's thread, and returns it to all members.
    pub(super) fn create(&self, bytes: u64) -> Result<Arc<Object>> {
        self.agree_on("create", bytes)?;
        if self.rank == 0 {
            let made = Object::new(&self.shared.contexts, bytes).map(Arc::new);
            self.shared.state().made = Some(made);
        }
        self.agree("created")?;
        let made = self.shared.state().made.clone();
        // All members must have cloned it before the first may create another.
        self.agree("taken")?;
        made.unwrap_or_else(|| fault(MulticastFault::MemberGone { rank: 0, step: "created" }))
    }
}

impl TeamState {
    /// Completes a step that all members have reached.
    fn close(&mut self) {
        let said: Vec<StepValue> = self.said.iter().flatten().copied().collect();
        let first = said.first().copied().unwrap_or(("", 0));
        let other = said.iter().find(|&&said| said != first);
        self.verdict = other.map(|&(other, other_value)| MulticastFault::Disagree {
            step: first.0,
            value: first.1,
            other,
            other_value,
        });
        self.said.fill(None);
        self.round = self.round.wrapping_add(1);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.shared.state().gone.get_or_insert(self.rank);
        self.shared.changed.notify_all();
    }
}
