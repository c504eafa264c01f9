//! A launch whose nodes run at the same time where no path orders them.
//!
//! Kernels, copies and fills, which leave the driver's state alone, run on threads of their own. What allocates, frees,
//! records an event or calls the program waits until none of them is under way. The checks are the same: they are made
//! as nodes end, one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{MutexGuard, mpsc};

use super::performance::{Begun, Checked, Performance, Task};
use crate::state::State;
use crate::state::schedule::Ready;

type Guard = MutexGuard<'static, State>;

/// Nodes at the same time, at least: as many as this, though the machine may have fewer cores.
const LEAST: usize = 4;

/// What is left to do of a launch.
struct Agenda {
    events: Ready,
    /// Steps that can begin.
    ready: Vec<usize>,
    /// Steps that have begun, and need the driver's state for themselves, with their nodes.
    exclusive: Vec<(usize, usize)>,
}

impl Agenda {
    fn done(&mut self, event: usize) {
        self.ready.extend(self.events.done(event));
    }

    /// Begins a step that can.
    fn begin(&mut self, state: &State, performance: &mut Performance) -> Option<(usize, Task)> {
        while let Some(event) = self.ready.pop() {
            match performance.begin(state, performance.run.plan.steps[event]) {
                Begun::Task(task) => return Some((event, task)),
                Begun::Exclusive(node) => self.exclusive.push((event, node)),
                Begun::Done => self.done(event),
            }
        }
        None
    }
}

/// Performs a launch.
pub(super) fn perform(mut state: Guard, performance: &mut Performance) -> (Guard, Checked) {
    let (events, mut ready) = Ready::new(&performance.run.plan.before);
    // The last is taken first: the nodes that were made first.
    ready.reverse();
    let mut agenda = Agenda { events, ready, exclusive: Vec::new() };
    loop {
        let result = side_by_side(&state, performance, &mut agenda);
        if result.is_err() {
            return (state, result);
        }
        if agenda.exclusive.is_empty() {
            return (state, Ok(()));
        }
        for (event, node) in std::mem::take(&mut agenda.exclusive) {
            let result;
            (state, result) = performance.exclusive(state, node);
            if result.is_err() {
                return (state, result);
            }
            agenda.done(event);
        }
    }
}

/// Runs what can run beside each other, until there is nothing but what cannot. After a fault nothing new begins.
fn side_by_side(state: &State, performance: &mut Performance, agenda: &mut Agenda) -> Checked {
    let most = std::thread::available_parallelism().map_or(1, usize::from).max(LEAST);
    let (run, users) = (performance.run, performance.users);
    let mut result = Ok(());
    std::thread::scope(|scope| {
        let (give, take) = mpsc::channel();
        let mut under_way = 0;
        loop {
            while under_way < most && result.is_ok() {
                let Some((event, task)) = agenda.begin(state, performance) else { break };
                let give = give.clone();
                scope.spawn(move || {
                    let work = AssertUnwindSafe(|| task.work(state, run, users, true));
                    // Nobody hears of it only if the launch itself has panicked.
                    let _ = give.send((event, catch_unwind(work)));
                });
                under_way += 1;
            }
            if under_way == 0 {
                break;
            }
            let Ok((event, outcome)) = take.recv() else { break };
            under_way -= 1;
            // A fault of the simulator itself is the call's.
            let taken = performance.take_in(state, outcome.unwrap_or_else(|panic| resume_unwind(panic)));
            if result.is_ok() {
                result = taken;
            }
            agenda.done(event);
        }
    });
    result
}
