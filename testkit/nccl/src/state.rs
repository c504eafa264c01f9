//! The live communicators, their collectives, and the meetings of ranks.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cuweave_testkit::stand_in::CallCounts;

use crate::apart;
use crate::compute::Collective;
use crate::driver;
use crate::order::Order;

/// `ncclInvalidArgument`.
pub const INVALID: u32 = 4;
/// `ncclRemoteError`.
const REMOTE: u32 = 6;

/// A rank of a communicator.
pub struct Comm {
    id: u64,
    rank: u32,
    ranks: u32,
    pub aborted: bool,
    pub error: u32,
    /// Its context. If ranks are missing at a collective, the context's work looks unfinished until the abort.
    context: u64,
    held: bool,
    /// The number of collectives that the rank has reached.
    met: u64,
    pub order: Arc<Order>,
}

/// A collective of one rank. It is enqueued once, or run by each launch of a graph.
pub struct Work {
    pub comm: usize,
    pub what: Collective,
    pub rank: u32,
    pub ranks: u32,
    given: UnsafeCell<Vec<u8>>,
    result: UnsafeCell<Vec<u8>>,
    /// While it waits: the number of its meeting, and the time of arrival.
    waits: Mutex<Option<(u64, Instant)>>,
}

// SAFETY: the bytes are accessed by the driver's copies, and between these copies by the library while it holds its
// lock.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

impl Work {
    pub fn given(&self) -> *mut u8 {
        // SAFETY: no reference to the bytes exists.
        unsafe { (*self.given.get()).as_mut_ptr() }
    }

    pub fn result(&self) -> *const u8 {
        // SAFETY: as above.
        unsafe { (*self.result.get()).as_ptr() }
    }
}

/// A meeting of all ranks of a communicator, for one collective.
#[derive(Default)]
struct Rendezvous {
    given: BTreeMap<u32, (Collective, Vec<u8>)>,
    taken: u32,
}

#[derive(Default)]
pub struct State {
    comms: BTreeMap<usize, Comm>,
    made: usize,
    pub ids: u64,
    joined: BTreeMap<u64, u32>,
    meetings: BTreeMap<(u64, u64), Rendezvous>,
    works: Vec<Arc<Work>>,
    lines: Vec<String>,
    pub calls: CallCounts,
    pub patience: Duration,
    /// True if a missing rank is not an error: the others wait for it until the abort.
    pub hangs: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Calls `work` with the locked state.
pub fn alone<T>(work: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    work(state.get_or_insert_with(|| State { patience: Duration::from_secs(20), ..State::default() }))
}

/// Counts a call of a function. Fails if a test has requested it, and otherwise calls `work`.
pub fn call(name: &str, work: impl FnOnce(&mut State) -> u32) -> u32 {
    alone(|state| match state.calls.enter(name) {
        Some(status) => status,
        None => work(state),
    })
}

impl State {
    pub fn join(&mut self, id: u64, rank: u32, ranks: u32, order: Arc<Order>) -> usize {
        self.made += 0x10;
        *self.joined.entry(id).or_default() += 1;
        apart::join(id, rank);
        let comm = Comm {
            id,
            rank,
            ranks,
            aborted: false,
            error: 0,
            context: driver::context(),
            held: false,
            met: 0,
            order,
        };
        self.comms.insert(self.made, comm);
        self.made
    }

    /// Returns the number of ranks that have joined.
    pub fn joined(&self, id: u64, ranks: u32) -> u32 {
        match apart::folder() {
            Some(_) => apart::joined(id, ranks),
            None => self.joined.get(&id).copied().unwrap_or(0),
        }
    }

    pub fn comm(&mut self, comm: usize) -> Option<&mut Comm> {
        match self.comms.get(&comm) {
            None => self.violation(&format!("{comm:#x} is no communicator")),
            Some(known) if known.aborted => self.violation(&format!("{comm:#x} is aborted")),
            Some(_) => {}
        }
        self.comms.get_mut(&comm)
    }

    pub fn order(&mut self, comm: usize) -> Option<Arc<Order>> {
        self.comm(comm).map(|comm| comm.order.clone())
    }

    /// Records a violation: something that a program must not do.
    pub fn violation(&mut self, text: &str) {
        self.lines.push(format!("violation {text}"));
    }

    /// Aborts the works of a communicator. If all ranks of this process are aborted now, returns them, so that they
    /// can be destroyed.
    pub fn stop(&mut self, comm: usize) -> Vec<usize> {
        let Some(known) = self.comm(comm) else { return Vec::new() };
        known.aborted = true;
        if std::mem::take(&mut known.held) {
            driver::hold(known.context, false);
        }
        let id = known.id;
        let own = || self.comms.iter().filter(|(_, comm)| comm.id == id);
        if own().all(|(_, comm)| comm.aborted) { own().map(|(&at, _)| at).collect() } else { Vec::new() }
    }

    /// Returns the number of captures of these communicators whose graphs are alive.
    pub fn graphs(&self, comms: &[usize]) -> usize {
        comms.iter().filter_map(|comm| self.comms.get(comm)).map(|comm| comm.order.graphs()).sum()
    }

    pub fn remove(&mut self, comm: usize) -> Option<Comm> {
        self.comms.remove(&comm)
    }

    pub fn live(&self) -> usize {
        self.comms.len()
    }

    pub fn break_all(&mut self, status: u32) {
        self.comms.values_mut().for_each(|comm| comm.error = status);
    }

    pub fn work(&mut self, comm: usize, what: Collective) -> Option<Arc<Work>> {
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

    /// Brings a rank to its next meeting. Further calls have no effect.
    pub fn arrive(&mut self, work: &Work) {
        let mut waits = work.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(comm) = self.comms.get_mut(&work.comm).filter(|_| waits.is_none()) else { return };
        let number = comm.met;
        comm.met += 1;
        *waits = Some((number, Instant::now()));
        // SAFETY: the copy to these bytes has finished.
        let given = unsafe { (*work.given.get()).clone() };
        let key = (comm.id, number);
        if apart::folder().is_some() {
            return apart::give(key, work.rank, &work.what, &given);
        }
        self.meetings.entry(key).or_default().given.insert(work.rank, (work.what, given));
    }

    /// Returns true if a rank has its result, or will never get one.
    pub fn met(&mut self, work: &Work) -> bool {
        self.arrive(work);
        let mut waits = work.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(comm), Some((number, since))) = (self.comms.get_mut(&work.comm), *waits) else {
            *waits = None;
            return true;
        };
        if comm.aborted || comm.error != 0 || since.elapsed() > self.patience {
            if comm.error == 0 && !comm.aborted {
                match self.hangs {
                    true => {
                        comm.held = true;
                        driver::hold(comm.context, true);
                    }
                    false => comm.error = REMOTE,
                }
            }
            *waits = None;
            return true;
        }
        let key = (comm.id, number);
        let of_others;
        let given = match apart::folder() {
            Some(_) => {
                of_others = apart::given(key, work.ranks);
                &of_others
            }
            None => match self.meetings.get(&key) {
                Some(meeting) => &meeting.given,
                None => return false,
            },
        };
        let fits = given.values().all(|(what, _)| what.fits(&work.what));
        if given.len() < work.ranks as usize || !fits {
            return false;
        }
        let given: Vec<Vec<u8>> = given.values().map(|(_, given)| given.clone()).collect();
        let result = work.what.result(&given, work.rank);
        // SAFETY: the copy from these bytes has not begun.
        let own = unsafe { &mut *work.result.get() };
        let count = own.len();
        own.copy_from_slice(&result[..count]);
        if let Some(meeting) = self.meetings.get_mut(&key) {
            meeting.taken += 1;
            if meeting.taken == work.ranks {
                self.meetings.remove(&key);
            }
        }
        *waits = None;
        true
    }

    pub fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(self.calls.take());
        lines
    }
}
