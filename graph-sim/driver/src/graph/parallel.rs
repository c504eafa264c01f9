//! Concurrent execution of a scope.
//!
//! Kernels, copies and fills do not change the driver's state, so they run on threads of their own. Nodes that
//! allocate, free, record an event or call the program wait until no other node runs. The checks are the same as
//! in sequential execution: they are made one after the other, as nodes end.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{MutexGuard, mpsc};

use super::execution::{BegunStep, Execution, NodeTask, ReportResult};
use crate::base::config::cores;
use crate::state::State;
use crate::state::schedule::{ReadyList, Schedule};
use crate::work::waits;

type StateGuard = MutexGuard<'static, State>;

/// The minimum number of nodes that may run concurrently, on machines with fewer cores.
const MIN_CONCURRENT_NODES: usize = 4;

/// The remaining steps of a scope.
struct PendingSteps<'a> {
    plan: &'a Schedule,
    events: ReadyList,
    /// Steps that can begin. Used as a stack.
    ready: Vec<usize>,
    /// Steps that need exclusive access to the driver's state, with their nodes.
    exclusive: Vec<(usize, usize)>,
}

impl PendingSteps<'_> {
    fn done(&mut self, event: usize) {
        self.ready.extend(self.events.done(event));
    }

    /// Begins the next ready step. Returns its task, if it has one.
    fn begin(&mut self, state: &State, execution: &mut Execution) -> Option<(usize, NodeTask)> {
        while let Some(event) = self.ready.pop() {
            match execution.begin(state, self.plan.steps[event]) {
                BegunStep::Task(task) => return Some((event, task)),
                BegunStep::Exclusive(node) => self.exclusive.push((event, node)),
                BegunStep::Done => self.done(event),
            }
        }
        None
    }
}

/// Executes the steps of a scope.
pub(super) fn execute(
    mut state: StateGuard,
    execution: &mut Execution,
    plan: &Schedule,
) -> (StateGuard, ReportResult) {
    let (events, mut ready) = ReadyList::new(&plan.before);
    // The list is a stack: nodes added first must come last.
    ready.reverse();
    let mut agenda = PendingSteps { plan, events, ready, exclusive: Vec::new() };
    loop {
        let result = run_concurrently(&state, execution, &mut agenda);
        if result.is_err() {
            return (state, result);
        }
        if agenda.exclusive.is_empty() {
            return (state, Ok(()));
        }
        let waiting = std::mem::take(&mut agenda.exclusive);
        let count = waiting.len();
        for &(event, node) in &waiting {
            if let Some(rendezvous) = execution.rendezvous(plan.steps[event]) {
                let over;
                (state, over) = waits::poll_rendezvous(state, rendezvous);
                if !over {
                    agenda.exclusive.push((event, node));
                    continue;
                }
            }
            let result;
            (state, result) = execution.exclusive(state, node);
            if result.is_err() {
                return (state, result);
            }
            agenda.done(event);
        }
        if agenda.exclusive.len() == count {
            let all_rendezvous: Vec<usize> = waiting.iter().map(|&(event, _)| event).collect();
            let result;
            (state, result) = execution.wait_for_any(state, plan, &all_rendezvous);
            let over = match result {
                Ok(event) => event,
                Err(report) => return (state, Err(report)),
            };
            let at = agenda.exclusive.iter().position(|&(event, _)| event == over);
            let Some((event, node)) = at.map(|at| agenda.exclusive.remove(at)) else { continue };
            let result;
            (state, result) = execution.exclusive(state, node);
            if result.is_err() {
                return (state, result);
            }
            agenda.done(event);
        }
    }
}

/// Runs tasks concurrently until only exclusive nodes are left. After a fault no step begins.
fn run_concurrently(state: &State, execution: &mut Execution, agenda: &mut PendingSteps) -> ReportResult {
    let most = cores().max(MIN_CONCURRENT_NODES);
    let (run, users) = (execution.run, execution.users);
    let mut result = Ok(());
    std::thread::scope(|scope| {
        let (give, take) = mpsc::channel();
        let mut under_way = 0;
        loop {
            while under_way < most && result.is_ok() {
                let Some((event, task)) = agenda.begin(state, execution) else { break };
                let give = give.clone();
                scope.spawn(move || {
                    let work = AssertUnwindSafe(|| task.work(state, run, users, true));
                    // The receiver is gone only if the launch itself has panicked.
                    let _ = give.send((event, catch_unwind(work)));
                });
                under_way += 1;
            }
            if under_way == 0 {
                break;
            }
            let Ok((event, outcome)) = take.recv() else { break };
            under_way -= 1;
            let taken = execution.record_outcome(state, outcome.unwrap_or_else(|panic| resume_unwind(panic)));
            if result.is_ok() {
                result = taken;
            }
            agenda.done(event);
        }
    });
    result
}
