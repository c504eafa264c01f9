//! Threads that form one object, one a device.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cudarc::driver::CudaContext;

use crate::error::{MulticastFault, Result};

use super::object::{Object, fault};

/// A step, and a number that all members must give alike.
type Said = (&'static str, u64);

#[derive(Default)]
struct State {
    /// The members that arrived at the current step.
    said: Vec<Option<Said>>,
    /// The number of steps that are over.
    round: u64,
    /// The outcome of the last step.
    verdict: Option<MulticastFault>,
    /// The fault that ended the team, which each later step returns.
    ended: Option<MulticastFault>,
    /// A member that was dropped.
    gone: Option<usize>,
    /// The object that the first member made, or its error.
    made: Option<Result<Arc<Object>>>,
}

struct Shared {
    contexts: Vec<Arc<CudaContext>>,
    patience: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A member of a team: the thread that stands for one device. Made by [`team`].
///
/// The others wait for it at each step, for as long as the team's patience lasts. When it is dropped, also by a panic, they stop
/// waiting, and get [`MulticastFault::MemberGone`].
#[must_use = "the other members fail when this is dropped"]
pub struct Member {
    shared: Arc<Shared>,
    rank: usize,
}

/// Returns the members of a team, one for each context. Each is given to a thread of its own. A step that not all members reach
/// within `patience` is an error of all.
///
/// # Errors
///
/// [`MulticastFault::NoDevices`], [`MulticastFault::Repeated`].
pub fn team(contexts: &[Arc<CudaContext>], patience: Duration) -> Result<Vec<Member>> {
    if contexts.is_empty() {
        return fault(MulticastFault::NoDevices);
    }
    for (at, ctx) in contexts.iter().enumerate() {
        if contexts.iter().take(at).any(|other| other.cu_device() == ctx.cu_device()) {
            return fault(MulticastFault::Repeated { device: ctx.ordinal() });
        }
    }
    let state = Mutex::new(State { said: vec![None; contexts.len()], ..State::default() });
    let shared = Arc::new(Shared { contexts: contexts.to_vec(), patience, state, changed: Condvar::new() });
    Ok((0..contexts.len()).map(|rank| Member { shared: shared.clone(), rank }).collect())
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Member {
    /// Returns its number, which counts the contexts that the team was made of.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the context of its device.
    ///
    /// A team has a context for each member, so this is `None` for none of them.
    pub fn context(&self) -> Option<&Arc<CudaContext>> {
        self.shared.contexts.get(self.rank)
    }

    /// Waits until all members have come to a step of this name.
    ///
    /// # Errors
    ///
    /// [`MulticastFault::MemberGone`] if a member is dropped, [`MulticastFault::TimedOut`] if one does not come in time, and
    /// [`MulticastFault::Disagree`] if one comes to another step. The first two end the team: every later step returns them.
    pub fn agree(&self, step: &'static str) -> Result<()> {
        self.agree_on(step, 0)
    }

    /// Waits until all members have come to a step with the same number.
    pub(super) fn agree_on(&self, step: &'static str, value: u64) -> Result<()> {
        let Shared { state: _, changed, patience, .. } = &*self.shared;
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
                |state: &mut State| state.round == round && state.ended.is_none() && state.gone.is_none();
            let waited = changed.wait_timeout_while(state, *patience, waits);
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

    /// Has the first member make the object, and returns it to all.
    pub(super) fn create(&self, bytes: u64) -> Result<Arc<Object>> {
        self.agree_on("create", bytes)?;
        if self.rank == 0 {
            let made = Object::new(&self.shared.contexts, bytes).map(Arc::new);
            self.shared.state().made = Some(made);
        }
        self.agree("created")?;
        let made = self.shared.state().made.clone();
        // All have it before the first may make another.
        self.agree("taken")?;
        made.unwrap_or_else(|| fault(MulticastFault::MemberGone { rank: 0, step: "created" }))
    }
}

impl State {
    /// Ends a step that all members have come to.
    fn close(&mut self) {
        let said: Vec<Said> = self.said.iter().flatten().copied().collect();
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
