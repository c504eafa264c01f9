//! Waits: memory operations, semaphores, and rendezvous that the program polls.
//!
//! A wait releases the lock while it polls, so that other threads can end it. It fails with a `deadlock` report
//! after the timeout.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use crate::base::callback;
use crate::base::config::config;
use crate::base::log;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::memory::{self, ATOMIC, AllocationKind, READ, Touched};
use crate::state::operation::{MemoryOperation, MemoryOperationKind, Operation};
use crate::state::{self, State};

/// The poll function of a rendezvous and its argument.
#[derive(Clone, Copy)]
pub struct Rendezvous {
    /// Returns 0 until the rendezvous is over.
    pub function: unsafe extern "C" fn(*mut c_void) -> u32,
    pub data: usize,
}

type StateGuard = std::sync::MutexGuard<'static, State>;
type ReportResult = std::result::Result<(), Report>;

/// Runs memory operations, or signals of semaphores and waits for them.
pub fn run(
    mut state: StateGuard,
    op: &Operation,
    name: &str,
    touched: &mut Touched,
) -> (StateGuard, ReportResult) {
    let mut result = Ok(());
    match op {
        Operation::MemoryOperations(operations) => {
            for operation in operations {
                (state, result) = memory_operation(state, operation, name, touched);
                if result.is_err() {
                    break;
                }
            }
        }
        Operation::SignalSemaphores(signals) => {
            for &(semaphore, value) in signals {
                if let Some(semaphore) = state.semaphores.get_mut(semaphore)
                    && !semaphore.signal(value)
                {
                    let text = match semaphore.counts {
                        true => format!(
                            "node {name} signals a timeline semaphore with {value}, but its value is already {}",
                            semaphore.value
                        ),
                        false => format!("node {name} signals a semaphore that is already signalled"),
                    };
                    result = Err(report("semaphore", Status::LAUNCH_FAILED, name, text));
                }
            }
        }
        Operation::WaitSemaphores(waits) => {
            for &(semaphore, value) in waits {
                let ready = |state: &mut State| {
                    state.semaphores.get_mut(semaphore).is_none_or(|semaphore| semaphore.take(value))
                };
                let ended;
                (state, ended) = poll_until(state, ready);
                if !ended {
                    let text = match state.semaphores.get(semaphore) {
                        Some(semaphore) if semaphore.counts => {
                            format!("a timeline to reach {value}, which is at {}", semaphore.value)
                        }
                        _ => "a semaphore to be signalled".to_owned(),
                    };
                    result = Err(deadlock(&state, name, &text));
                    break;
                }
            }
        }
        _ => {}
    }
    (state, result)
}

/// Checks that memory operations use memory that drivers accept: not memory of pools or graphs, and not managed
/// memory. Driver 580 refuses to launch a graph with other nodes.
pub fn check(state: &State, op: &Operation) -> Result {
    let Operation::MemoryOperations(operations) = op else { return Ok(()) };
    for operation in operations {
        let kind = state.memory.find(operation.address).map(|found| found.kind);
        let what = match kind {
            Some(AllocationKind::Device | AllocationKind::Pinned | AllocationKind::Registered) => continue,
            Some(AllocationKind::Managed | AllocationKind::ManagedVariable) => "managed memory",
            Some(_) => "stream-ordered memory, or memory that is not a device allocation",
            None => "no live allocation",
        };
        let what = format!("a batch memory operation at {:#x}, in {what}", operation.address);
        return Err(log::log_error(Status::INVALID_VALUE, what));
    }
    Ok(())
}

fn memory_operation(
    state: StateGuard,
    operation: &MemoryOperation,
    name: &str,
    touched: &mut Touched,
) -> (StateGuard, ReportResult) {
    let MemoryOperation { work, bytes, address, value } = *operation;
    let place = |state: &State| state.memory.resolve_device(address, bytes);
    let Ok(found) = place(&state) else {
        let text =
            format!("node {name} waits for a value, or writes one, at {address:#x}, in no live allocation");
        return (state, Err(report("illegal-address", Status::ILLEGAL_ADDRESS, name, text)));
    };
    // The value is meant to change during the wait. In host memory only the host itself could race, and its
    // accesses are unknown.
    let on_host = state.memory.find(address).is_some_and(|found| found.on_host());
    if !on_host {
        touched.push((
            address,
            address + bytes,
            if work == MemoryOperationKind::Write { ATOMIC } else { READ },
        ));
    }
    if work == MemoryOperationKind::Write {
        memory::store(&found, bytes, value);
        return (state, Ok(()));
    }
    if config().initialised && !memory::is_written(&found, bytes) {
        let text = format!("node {name} waits for a value at {address:#x}, which nothing has written");
        return (state, Err(report("uninitialised-read", Status::LAUNCH_FAILED, name, text)));
    }
    drop(found);
    // The memory may be freed while the lock is released.
    let ready = |state: &mut State| match place(state) {
        Ok(found) => operation.ends(memory::load(&found, bytes)),
        Err(_) => true,
    };
    let (state, ended) = poll_until(state, ready);
    let result = match place(&state) {
        Err(_) => {
            let text = format!("node {name} waits for a value at {address:#x}, which was freed meanwhile");
            Err(report("illegal-address", Status::ILLEGAL_ADDRESS, name, text))
        }
        Ok(_) if ended => Ok(()),
        Ok(found) => {
            let (place, now) = (state.memory.find(address), memory::load(&found, bytes));
            let place = place.map_or_else(|| "memory".to_owned(), |found| found.describe_at(address));
            Err(deadlock(&state, name, &format!("the value {value} in {place}, which is {now}")))
        }
    };
    (state, result)
}

/// Polls a rendezvous without holding the lock.
pub fn poll_rendezvous(state: StateGuard, rendezvous: Rendezvous) -> (StateGuard, bool) {
    drop(state);
    // SAFETY: the program passed the function to be called with this argument.
    let over =
        callback::call_program(|| unsafe { (rendezvous.function)(rendezvous.data as *mut c_void) }) != 0;
    (state::state(), over)
}

/// Waits for a rendezvous. Returns a `deadlock` report after the timeout.
pub fn wait_for_rendezvous(
    state: StateGuard,
    rendezvous: Rendezvous,
    name: &str,
) -> (StateGuard, ReportResult) {
    wait_for_any(state, &[(rendezvous, ())], |()| name.to_owned())
}

/// Waits until one of several rendezvous is over and returns its value. Returns a `deadlock` report after the
/// timeout. `name` returns the name of the node with a value.
pub fn wait_for_any<T: Copy>(
    mut state: StateGuard,
    all_rendezvous: &[(Rendezvous, T)],
    name: impl Fn(T) -> String,
) -> (StateGuard, std::result::Result<T, Report>) {
    let began = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        for &(rendezvous, of) in all_rendezvous {
            let over;
            (state, over) = poll_rendezvous(state, rendezvous);
            if over {
                return (state, Ok(of));
            }
        }
        if all_rendezvous.is_empty()
            || began.elapsed() >= Duration::from_millis(state.options.wait_timeout_ms)
        {
            let name = all_rendezvous.first().map_or_else(String::new, |&(_, of)| name(of));
            let report = deadlock(&state, &name, "a rendezvous");
            return (state, Err(report));
        }
        drop(state);
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
        state = state::state();
    }
}

/// Polls `ready` until it returns true, or until the timeout. Returns false after the timeout.
pub fn poll_until(mut state: StateGuard, mut ready: impl FnMut(&mut State) -> bool) -> (StateGuard, bool) {
    let began = Instant::now();
    let mut pause = Duration::from_micros(20);
    while !ready(&mut state) {
        if began.elapsed() >= Duration::from_millis(state.options.wait_timeout_ms) {
            return (state, false);
        }
        drop(state);
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
        state = state::state();
    }
    (state, true)
}

fn deadlock(state: &State, name: &str, what: &str) -> Report {
    let text = format!(
        "node {name} waits for {what}, and the wait did not end within {} ms: nothing ends it, or the operation that \
         would is enqueued after this one, while the simulator executes work as it is enqueued",
        state.options.wait_timeout_ms
    );
    report("deadlock", Status::LAUNCH_TIMEOUT, name, text)
}

fn report(kind: &'static str, status: Status, name: &str, text: String) -> Report {
    Report { kind, status, nodes: vec![name.to_owned()], text }
}
