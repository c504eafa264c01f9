//! A stand-in for NCCL, for tests on the simulated driver. It exports the functions that cuweave calls, with their
//! C signatures.
//!
//! Ranks are threads, devices of one thread, or processes (`apart.rs`). A collective copies the rank's input to the
//! host, waits for the other ranks, and copies the result back. If the stream captures, the two copies and the wait
//! become nodes. Ranks that disagree wait for each other, as in NCCL, up to the limit of `ncclTestPatience`; then
//! the communicator has an error. The library counts the live communicators and fails where a test requests it.
//! Functions named `ncclTest..` are for tests.
//!
//! Like NCCL 2.28, it keeps a stream for each capture, identified by the capture's number (`order.rs`). The last
//! abort among a communicator's ranks in this process waits until the graphs with its collectives are destroyed.
//! The environment variable `CUWEAVE_TEST_NCCL` sets another version.

#![allow(non_snake_case, unsafe_code)]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "C has no unsafe functions")]
#![allow(missing_docs, reason = "the functions are those of the manual of NCCL")]

mod apart;
mod compute;
mod config;
mod driver;
mod order;
mod state;

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cuweave_testkit::stand_in::{LineCallback, pass};

use compute::{Collective, bytes_of};
use state::{INVALID, State, alone, call};

/// `ncclSystemError`.
const SYSTEM: u32 = 2;
/// `ncclUnhandledCudaError`.
const CUDA: u32 = 1;

/// A collective that is enqueued when its group ends.
struct QueuedCollective {
    comm: usize,
    what: Collective,
    from: u64,
    to: u64,
    stream: u64,
}

#[derive(Default)]
struct Group {
    depth: u32,
    /// The status of the first call that failed.
    failed: u32,
    inits: Vec<(usize, u64, u32, u32)>,
    queued: Vec<QueuedCollective>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetVersion(version: *mut c_int) -> u32 {
    // SAFETY: the caller's pointer.
    unsafe { *version = config::version() as c_int };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(status: u32) -> *const c_char {
    let text = match status {
        0 => c"no error",
        1 => c"unhandled cuda error",
        2 => c"unhandled system error",
        3 => c"internal error",
        4 => c"invalid argument",
        5 => c"invalid usage",
        6 => c"remote process exited or there was a network error",
        7 => c"NCCL operation in progress",
        _ => c"unknown result code",
    };
    text.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetUniqueId(id: *mut u64) -> u32 {
    call("ncclGetUniqueId", |state| {
        state.ids += 1;
        // SAFETY: the caller's pointer to 128 bytes.
        unsafe { id.write_unaligned(u64::from(std::process::id()) << 32 | state.ids) };
        0
    })
}

/// `ncclUniqueId`, which is passed by value.
#[repr(C)]
pub struct Id([u64; 16]);

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommInitRankConfig(
    comm: *mut usize,
    ranks: c_int,
    id: Id,
    rank: c_int,
    config: *const u8,
) -> u32 {
    // SAFETY: the caller's configuration.
    let config = unsafe { config::read(config) };
    let order = order::Order::new(config.as_ref().is_ok_and(|config| config.mixing));
    let status = call("ncclCommInitRankConfig", |state| {
        if let Err(text) = &config {
            state.violation(text);
        }
        if config.is_err() || rank < 0 || rank >= ranks {
            return INVALID;
        }
        let made = state.join(id.0[0], rank as u32, ranks as u32, order);
        // SAFETY: the caller's pointer, which is valid until the group ends.
        unsafe { *comm = made };
        0
    });
    if status != 0 {
        return failed(status);
    }
    // SAFETY: as above.
    let made = unsafe { *comm };
    GROUP.with_borrow_mut(|group| group.inits.push((made, id.0[0], rank as u32, ranks as u32)));
    if GROUP.with_borrow(|group| group.depth == 0) { end() } else { 0 }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommAbort(comm: usize) -> u32 {
    let all = alone(|state| state.stop(comm));
    let began = Instant::now();
    while alone(|state| state.graphs(&all)) > 0 {
        if began.elapsed() > Duration::from_secs(20) {
            alone(|state| state.violation("an abort waits for graphs that are not destroyed"));
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for comm in all {
        if let Some(comm) = alone(|state| state.remove(comm)) {
            comm.order.end();
        }
    }
    call("ncclCommAbort", |_| 0)
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommGetAsyncError(comm: usize, error: *mut u32) -> u32 {
    call("ncclCommGetAsyncError", |state| match state.comm(comm) {
        Some(comm) => {
            // SAFETY: the caller's pointer.
            unsafe { *error = comm.error };
            0
        }
        None => INVALID,
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupStart() -> u32 {
    let status = call("ncclGroupStart", |_| 0);
    if status == 0 {
        GROUP.with_borrow_mut(|group| group.depth += 1);
    }
    status
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupEnd() -> u32 {
    let depth = GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.saturating_sub(1);
        group.depth
    });
    let status = call("ncclGroupEnd", |_| 0);
    if status != 0 {
        GROUP.with_borrow_mut(|group| *group = Group::default());
        return status;
    }
    if depth == 0 { end() } else { 0 }
}

/// Records that a call in a group has failed. Then the group enqueues nothing.
fn failed(status: u32) -> u32 {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 && group.failed == 0 {
            group.failed = status;
        }
    });
    status
}

/// Enqueues what a group has collected.
fn end() -> u32 {
    let group = GROUP.take();
    if group.failed != 0 {
        return group.failed;
    }
    let began = Instant::now();
    for &(_, id, _, ranks) in &group.inits {
        while alone(|state| state.joined(id, ranks)) < ranks {
            if began.elapsed() > Duration::from_secs(20) {
                return SYSTEM;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let comms: BTreeSet<usize> = group.queued.iter().map(|queued| queued.comm).collect();
    let orders: Vec<_> = comms.iter().filter_map(|&comm| alone(|state| state.order(comm))).collect();
    for order in &orders {
        if order.busy.swap(true, Ordering::SeqCst) {
            alone(|state| state.violation("two threads use a communicator at a time"));
        }
    }
    let entered = driver::context();
    let done = run(group.queued);
    let _ = driver::enter(entered);
    orders.iter().for_each(|order| order.busy.store(false, Ordering::SeqCst));
    done.err().unwrap_or(0)
}

fn run(queued: Vec<QueuedCollective>) -> Result<(), u32> {
    let (mut works, mut group_works) = (Vec::new(), BTreeMap::new());
    for QueuedCollective { comm, what, from, to, stream } in queued {
        let work = alone(|state| state.work(comm, what)).ok_or(INVALID)?;
        if let Entry::Vacant(turn) = group_works.entry(comm) {
            let order = alone(|state| state.order(comm)).ok_or(INVALID)?;
            turn.insert(order.begin(stream).map_err(|_| CUDA)?);
        }
        works.push((work, from, to, stream));
    }
    // If one thread has several ranks, all of them contribute before any of them waits.
    for (work, from, _, stream) in &works {
        driver::to_host(work.given(), *from, work.what.given(work.ranks), *stream).map_err(|_| CUDA)?;
        if group_works.get(&work.comm).is_some_and(Option::is_none) {
            alone(|state| state.arrive(work));
        }
    }
    for (work, _, to, stream) in &works {
        let taken = work.what.taken(work.ranks, work.rank);
        driver::meet(*stream, poll, Arc::as_ptr(work) as *mut c_void).map_err(|_| CUDA)?;
        driver::to_device(*to, work.result(), taken, *stream).map_err(|_| CUDA)?;
        alone(|state| state.keep(work.clone()));
    }
    group_works.into_values().flatten().try_for_each(order::GroupWork::end).map_err(|_| CUDA)
}

/// Returns 1 once all ranks have arrived.
extern "C" fn poll(work: *mut c_void) -> u32 {
    // SAFETY: a work lives as long as the library.
    let work = unsafe { &*work.cast::<state::Work>() };
    u32::from(alone(|state| state.met(work)))
}

fn queue(name: &str, comm: usize, what: Collective, from: u64, to: u64, stream: u64) -> u32 {
    let status = call(name, |state| match state.comm(comm) {
        Some(comm) if comm.aborted => 5,
        Some(_) if bytes_of(what.element).is_none() => 4,
        Some(_) => 0,
        None => INVALID,
    });
    if status != 0 {
        return failed(status);
    }
    GROUP.with_borrow_mut(|group| group.queued.push(QueuedCollective { comm, what, from, to, stream }));
    if GROUP.with_borrow(|group| group.depth == 0) { end() } else { 0 }
}

macro_rules! collectives {
    ($($name:ident($($operand:ident: $ty:ty),*) $what:literal $op:expr, $root:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            from: u64,
            to: u64,
            count: usize,
            element: u32,
            $($operand: $ty,)*
            comm: usize,
            stream: u64,
        ) -> u32 {
            queue(stringify!($name), comm, Collective::new($what, count, element, $op, $root), from, to, stream)
        }
    )*};
}
collectives! {
    ncclAllReduce(op: u32) "all_reduce" op, 0;
    ncclReduce(op: u32, root: c_int) "reduce" op, root as u32;
    ncclBroadcast(root: c_int) "broadcast" 0, root as u32;
    ncclAllGather() "all_gather" 0, 0;
    ncclReduceScatter(op: u32) "reduce_scatter" op, 0;
}

/// A send. Together with the next receive of the group it is one exchange, since all ranks do both.
#[unsafe(no_mangle)]
pub extern "C" fn ncclSend(
    from: u64,
    count: usize,
    element: u32,
    peer: c_int,
    comm: usize,
    stream: u64,
) -> u32 {
    queue("ncclSend", comm, Collective::new("exchange", count, element, 0, peer as u32), from, 0, stream)
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclRecv(
    to: u64,
    count: usize,
    element: u32,
    peer: c_int,
    comm: usize,
    stream: u64,
) -> u32 {
    let status = call("ncclRecv", |_| 0);
    if status != 0 {
        return failed(status);
    }
    let status = GROUP.with_borrow_mut(|group| {
        let sent = group.queued.iter_mut().rev().find(|sent| sent.comm == comm && sent.to == 0);
        match sent {
            Some(sent)
                if sent.what.count == count && sent.what.element == element && sent.stream == stream =>
            {
                sent.to = to;
                sent.what.op = peer as u32;
                0
            }
            _ => 5,
        }
    });
    if status == 0 { 0 } else { failed(status) }
}

/// Lets the `nth` next call of a function fail with a status. 0 requests no failure.
#[unsafe(no_mangle)]
pub extern "C" fn ncclTestFail(name: *const c_char, nth: u32, status: u32) {
    // SAFETY: the test's text.
    alone(|state| unsafe { state.calls.fail(name, nth, status) });
}

/// Sets the time in milliseconds after which a missing rank is an error of the communicator.
#[unsafe(no_mangle)]
pub extern "C" fn ncclTestPatience(milliseconds: u64) {
    alone(|state| state.patience = Duration::from_millis(milliseconds));
}

/// Lets ranks wait for missing ranks until the abort, as NCCL does. Their devices look busy once the limit of
/// `ncclTestPatience` is over.
#[unsafe(no_mangle)]
pub extern "C" fn ncclTestHang(hangs: u32) {
    alone(|state| state.hangs = hangs != 0);
}

/// Sets an asynchronous error on all communicators.
#[unsafe(no_mangle)]
pub extern "C" fn ncclTestBreak(status: u32) {
    alone(|state| state.break_all(status));
}

/// Returns the number of live communicators.
#[unsafe(no_mangle)]
pub extern "C" fn ncclTestLive() -> u64 {
    alone(|state| state.live() as u64)
}

/// Passes on the violations since the last call, then the number of calls of each function.
#[unsafe(no_mangle)]
pub extern "C" fn ncclTestTake(hear: LineCallback, data: *mut c_void) {
    pass(&alone(State::take), hear, data);
}
