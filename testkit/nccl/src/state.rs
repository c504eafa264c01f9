//! The communicators that live, the works of collectives, and where ranks meet.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::compute::What;

/// `ncclInvalidArgument`.
pub const INVALID: u32 = 4;
/// `ncclRemoteError`.
const REMOTE: u32 = 6;

/// A rank of a communicator.
#[derive(Debug)]
pub struct Comm {
    id: u64,
    rank: u32,
    ranks: u32,
    pub aborted: bool,
    pub error: u32,
    /// The number of collectives that it has come to.
    met: u64,
}

/// A collective of one rank: enqueued once, or run by each launch of a graph.
pub struct Work {
    comm: usize,
    pub what: What,
    pub rank: u32,
    pub ranks: u32,
    given: UnsafeCell<Vec<u8>>,
    result: UnsafeCell<Vec<u8>>,
    /// The number of its meeting, and when it came there, while it waits.
    waits: Mutex<Option<(u64, Instant)>>,
}

// SAFETY: the bytes are touched by copies of the driver, and by the library while its lock is held between these copies.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

impl Work {
    pub fn given(&self) -> *mut u8 {
        // SAFETY: nobody holds a reference to the bytes.
        unsafe { (*self.given.get()).as_mut_ptr() }
    }

    pub fn result(&self) -> *const u8 {
        // SAFETY: as above.
        unsafe { (*self.result.get()).as_ptr() }
    }
}

/// A meeting of all ranks of a communicator.
#[derive(Default)]
struct Meeting {
    given: BTreeMap<u32, (What, Vec<u8>)>,
    taken: u32,
}

#[derive(Default)]
pub struct State {
    comms: BTreeMap<usize, Comm>,
    made: usize,
    pub ids: u64,
    joined: BTreeMap<u64, u32>,
    meetings: BTreeMap<(u64, u64), Meeting>,
    works: Vec<Arc<Work>>,
    lines: Vec<String>,
    pub counts: BTreeMap<String, u32>,
    pub fault: Option<(String, u32, u32)>,
    pub patience: Duration,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Calls `work` with the state.
pub fn alone<T>(work: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    work(state.get_or_insert_with(|| State { patience: Duration::from_secs(20), ..State::default() }))
}

/// Counts a call of a function, which fails if the test asked for it, and else does `work`.
pub fn call(name: &str, work: impl FnOnce(&mut State) -> u32) -> u32 {
    alone(|state| {
        let count = state.counts.entry(name.to_owned()).or_default();
        *count += 1;
        match &state.fault {
            Some((fails, nth, status)) if fails == name && nth == count => *status,
            _ => work(state),
        }
    })
}

impl State {
    pub fn join(&mut self, id: u64, rank: u32, ranks: u32) -> usize {
        self.made += 0x10;
        *self.joined.entry(id).or_default() += 1;
        let comm = Comm { id, rank, ranks, aborted: false, error: 0, met: 0 };
        self.comms.insert(self.made, comm);
        self.made
    }

    pub fn joined(&self, id: u64) -> u32 {
        self.joined.get(&id).copied().unwrap_or(0)
    }

    pub fn comm(&mut self, comm: usize) -> Option<&mut Comm> {
        if !self.comms.contains_key(&comm) {
            self.lines.push(format!("violation {comm:#x} is no communicator"));
        }
        self.comms.get_mut(&comm)
    }

    /// Ends a communicator: its works end, too.
    pub fn abort(&mut self, comm: usize) {
        if self.comm(comm).is_some() {
            self.comms.remove(&comm);
        }
    }

    pub fn live(&self) -> usize {
        self.comms.len()
    }

    pub fn break_all(&mut self, status: u32) {
        self.comms.values_mut().for_each(|comm| comm.error = status);
    }

    pub fn work(&mut self, comm: usize, what: What) -> Option<Arc<Work>> {
        let &mut Comm { rank, ranks, .. } = self.comm(comm)?;
        let (given, result) = (what.given(ranks), what.taken(ranks, rank));
        Some(Arc::new(Work {
            comm,
            what,
            rank,
            ranks,
            given: UnsafeCell::new(vec![0; given]),
            result: UnsafeCell::new(vec![0; result]),
            waits: Mutex::new(None),
        }))
    }

    pub fn keep(&mut self, work: Arc<Work>) {
        self.works.push(work);
    }

    /// Brings a rank to its next meeting, once.
    pub fn arrive(&mut self, work: &Work) {
        let mut waits = work.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(comm) = self.comms.get_mut(&work.comm).filter(|_| waits.is_none()) else { return };
        let number = comm.met;
        comm.met += 1;
        *waits = Some((number, Instant::now()));
        // SAFETY: the copy of the bytes is over.
        let given = unsafe { (*work.given.get()).clone() };
        let meeting = self.meetings.entry((comm.id, number)).or_default();
        meeting.given.insert(work.rank, (work.what, given));
    }

    /// Returns true if a rank has its result, or gets none any more.
    pub fn met(&mut self, work: &Work) -> bool {
        self.arrive(work);
        let mut waits = work.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(comm), Some((number, since))) = (self.comms.get_mut(&work.comm), *waits) else {
            *waits = None;
            return true;
        };
        if comm.error != 0 || since.elapsed() > self.patience {
            if comm.error == 0 {
                comm.error = REMOTE;
            }
            *waits = None;
            return true;
        }
        let key = (comm.id, number);
        let Some(meeting) = self.meetings.get_mut(&key) else { return false };
        let fits = meeting.given.values().all(|(what, _)| what.fits(&work.what));
        if meeting.given.len() < work.ranks as usize || !fits {
            return false;
        }
        let given: Vec<Vec<u8>> = meeting.given.values().map(|(_, given)| given.clone()).collect();
        let result = work.what.result(&given, work.rank);
        // SAFETY: the copy from the bytes has not begun.
        let own = unsafe { &mut *work.result.get() };
        let count = own.len();
        own.copy_from_slice(&result[..count]);
        meeting.taken += 1;
        if meeting.taken == work.ranks {
            self.meetings.remove(&key);
        }
        *waits = None;
        true
    }

    pub fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        let counts = std::mem::take(&mut self.counts);
        lines.extend(counts.iter().map(|(name, count)| format!("count {name} {count}")));
        lines
    }
}
