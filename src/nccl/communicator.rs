//! Communicators: the ranks of this process, their agreement with the ranks of others, and their abort.
//!
//! A collective is described while a graph is built, and enqueued after all ranks have agreed (`agreement`).
//! Waits poll for errors. A communicator that fails or exceeds its time limit is aborted on a thread of its own.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use crate::__private::{Collective, CollectiveDifference, CollectiveSequence, LocalRanks, is_simulated};
use crate::CallStream;
use crate::error::{CommunicatorFault, LibraryError};

use super::agreement::{Agreement, PIECE, hash};
use super::error::Error;
use super::library::{Config, Library, RawCommunicator, RawId};

/// The unique name of a communicator. One rank creates it and sends its bytes to all others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UniqueId([u8; 128]);

impl UniqueId {
    /// Creates a name that no other communicator has.
    ///
    /// # Errors
    ///
    /// NCCL cannot be loaded; the errors of NCCL.
    pub fn new() -> Result<UniqueId, Error> {
        let library = Library::get(is_simulated())?;
        let mut id = RawId([0; 128]);
        // SAFETY: the pointer is to a local.
        library.check_status("ncclGetUniqueId", unsafe { (library.ncclGetUniqueId)(&mut id) })?;
        Ok(UniqueId(id.0.map(|byte| byte.to_ne_bytes()[0])))
    }

    /// Returns the bytes to send to the other ranks.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 128] {
        self.0
    }

    /// Returns the name with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 128]) -> UniqueId {
        UniqueId(bytes)
    }

    fn raw(&self) -> RawId {
        RawId(self.0.map(|byte| c_char::from_ne_bytes([byte])))
    }
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UniqueId").finish_non_exhaustive()
    }
}

/// Ranks that run collectives together, each on its own device: one of them in this process, or all.
///
/// A graph function takes it as the host value `comm: &Communicator` and passes it to the calls of this
/// module. Clones are the same communicator. Graphs and execs keep it alive. After the last of them and the
/// last clone are dropped, it is aborted, which never waits for other ranks.
#[derive(Clone)]
pub struct Communicator(Arc<Ranks>);

/// The ranks of this process.
pub(super) struct Ranks {
    library: &'static Library,
    /// A digest of its name.
    key: u64,
    /// The number of ranks in all processes.
    count: u32,
    local: Vec<Rank>,
    /// The time limit of an agreement and of a wait for a launch.
    limit: Mutex<Option<Duration>>,
    /// The reason why it was aborted. `None` if it is alive.
    dead: Mutex<Option<CommunicatorFault>>,
    /// The thread that aborts it.
    ending: Mutex<Option<JoinHandle<()>>>,
    /// Held by the thread that enqueues collectives: NCCL does not allow several threads to do so on one communicator.
    enqueuing: Arc<Mutex<()>>,
    /// The memory and the stream of agreements. `None` if all ranks are in this process.
    exchange: Option<Mutex<Exchange>>,
}

/// A rank of this process.
struct Rank {
    ctx: Arc<CudaContext>,
    rank: u32,
    comm: RawCommunicator,
}

// SAFETY: different threads may use a communicator one after the other. The calls that may run concurrently,
// error queries and the abort, are documented as safe for that.
unsafe impl Send for Rank {}
// SAFETY: as above; only one thread at a time enqueues collectives (`Ranks::alone`).
unsafe impl Sync for Rank {}

/// The buffers through which ranks exchange bytes.
struct Exchange {
    stream: Arc<CudaStream>,
    own: CudaSlice<u8>,
    all: CudaSlice<u8>,
}

impl Communicator {
    /// Joins a communicator of `ranks` ranks as `rank`, on the device of a context. Returns when all ranks have joined.
    ///
    /// A process may have only one rank of it. All ranks must pass the same id.
    ///
    /// # Errors
    ///
    /// A rank that is not less than `ranks`; NCCL cannot be loaded; the errors of NCCL and of the driver.
    pub fn new(ctx: &Arc<CudaContext>, id: UniqueId, rank: u32, ranks: u32) -> Result<Communicator, Error> {
        if rank >= ranks {
            return Err(Error::NoRank { rank, ranks });
        }
        let own = [(ctx.clone(), rank)];
        Communicator::with_ranks(&own, id, ranks)
    }

    /// Creates a communicator with all ranks in this process: one per context, in this order.
    ///
    /// It is for one graph over all of these devices, where each rank's statement runs on its device (`#[on(i)]`).
    ///
    /// # Errors
    ///
    /// No contexts, or two of one device; NCCL cannot be loaded; the errors of NCCL and of the driver.
    pub fn of_all(contexts: &[Arc<CudaContext>]) -> Result<Communicator, Error> {
        let ranks = u32::try_from(contexts.len()).unwrap_or(u32::MAX);
        if contexts.is_empty() {
            return Err(Error::NoRank { rank: 0, ranks });
        }
        for (at, ctx) in contexts.iter().enumerate() {
            if contexts[..at].iter().any(|other| other.ordinal() == ctx.ordinal()) {
                return Err(Error::SameDevice(ctx.ordinal()));
            }
        }
        let own: Vec<_> = contexts.iter().cloned().zip(0..ranks).collect();
        Communicator::with_ranks(&own, UniqueId::new()?, ranks)
    }

    fn with_ranks(own: &[(Arc<CudaContext>, u32)], id: UniqueId, count: u32) -> Result<Communicator, Error> {
        let library = Library::get(is_simulated())?;
        let mut comms: Vec<RawCommunicator> = vec![null_mut(); own.len()];
        let ranks = c_int::try_from(count).unwrap_or(c_int::MAX);
        let mut config = Config::new(library.version);
        // All launches of a communicator, and its exchanges, are already ordered, so NCCL need not order
        // them. An older library does not read this field.
        config.graph_usage = 1;
        // SAFETY: the pointers are to locals that live until the group ends.
        unsafe {
            library.check_status("ncclGroupStart", (library.ncclGroupStart)())?;
            let mut outcome: Result<(), Error> = Ok(());
            for ((ctx, rank), comm) in own.iter().zip(&mut comms) {
                let bound = ctx.bind_to_thread();
                // A rank without its device cannot join. Passing an invalid rank makes NCCL refuse the call,
                // and a group with a refused call does not wait for the others.
                let rank = if bound.is_ok() { c_int::try_from(*rank).unwrap_or(c_int::MAX) } else { ranks };
                outcome = outcome.and(bound.map_err(Error::from));
                let status = (library.ncclCommInitRankConfig)(comm, ranks, id.raw(), rank, &mut config);
                outcome = outcome.and(library.check_status("ncclCommInitRankConfig", status));
            }
            let outcome = outcome.and(library.check_status("ncclGroupEnd", (library.ncclGroupEnd)()));
            if outcome.is_err() {
                for &comm in comms.iter().filter(|comm| !comm.is_null()) {
                    let _ = (library.ncclCommAbort)(comm);
                }
            }
            outcome?;
        }
        let local: Vec<Rank> = own
            .iter()
            .zip(comms)
            .map(|((ctx, rank), comm)| Rank { ctx: ctx.clone(), rank: *rank, comm })
            .collect();
        let mut made = Ranks {
            library,
            key: hash(&id.0),
            count,
            local,
            limit: Mutex::new(Some(Duration::from_secs(300))),
            dead: Mutex::new(None),
            ending: Mutex::new(None),
            enqueuing: Arc::default(),
            exchange: None,
        };
        if made.local.len() < count as usize {
            let stream = own[0].0.new_stream()?;
            let (own, all) = (stream.alloc_zeros(PIECE)?, stream.alloc_zeros(PIECE * count as usize)?);
            stream.synchronize()?;
            made.exchange = Some(Mutex::new(Exchange { stream, own, all }));
        }
        Ok(Communicator(Arc::new(made)))
    }

    /// Returns the number of ranks, in all processes.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.0.count
    }

    /// Returns the first rank of this process, which is 0 for a communicator with all ranks.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.0.local[0].rank
    }

    /// Returns the version of NCCL, 22809 for 2.28.9.
    #[must_use]
    pub fn version(&self) -> i32 {
        self.0.library.version
    }

    /// Sets the time limit for ranks that do not answer, in an agreement and in a wait of the exec for a
    /// launch. After it the communicator is aborted. `None` waits forever; the default is 5 minutes.
    pub fn set_timeout(&self, limit: Option<Duration>) {
        *self.0.limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    /// Aborts the communicator. Launches that wait for other ranks end with invalid results, and all later
    /// launches are errors.
    pub fn abort(&self) {
        self.0.abort(CommunicatorFault::Aborted);
    }

    /// Describes a collective to the graph that is being built.
    pub(super) fn describe(
        &self,
        stream: &CallStream,
        text: String,
        enqueue: impl FnOnce(&CollectiveHandles) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let ordinal = stream.context().ordinal();
        let local = self.0.local.iter().find(|local| local.ctx.cu_ctx() == stream.context().cu_ctx());
        let local = local.ok_or(Error::OtherDevice(ordinal))?;
        let (ranks, comm) = (self.0.clone(), local.comm.expose_provenance());
        let rank = local.rank;
        stream.collective(Collective {
            communicator: self.0.clone(),
            text,
            enqueue: Box::new(move |stream| {
                let raw = CollectiveHandles {
                    library: ranks.library,
                    comm: with_exposed_provenance_mut(comm),
                    stream: stream.cu_stream(),
                    rank,
                    ranks: ranks.count,
                };
                enqueue(&raw).map_err(|error| error.to_string())
            }),
        });
        Ok(())
    }
}

/// The handles for enqueuing a collective.
pub(super) struct CollectiveHandles {
    pub library: &'static Library,
    pub comm: RawCommunicator,
    pub stream: cudarc::driver::sys::CUstream,
    pub rank: u32,
    pub ranks: u32,
}

/// Converts a device address to a pointer.
pub(super) fn pointer(address: u64) -> *const c_void {
    with_exposed_provenance(usize::try_from(address).unwrap_or(usize::MAX))
}

/// Converts a device address to a pointer.
pub(super) fn pointer_mut(address: u64) -> *mut c_void {
    pointer(address).cast_mut()
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own: Vec<u32> = self.0.local.iter().map(|rank| rank.rank).collect();
        f.debug_struct("Communicator").field("ranks", &self.0.count).field("own", &own).finish()
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Ranks {
    /// Aborts all ranks of this process, once. Their kernels end, but NCCL's call may return only after all
    /// graphs with their collectives are destroyed. Therefore another thread makes the call.
    fn abort(&self, reason: CommunicatorFault) {
        let mut dead = self.dead.lock().unwrap_or_else(PoisonError::into_inner);
        if dead.is_some() {
            return;
        }
        *dead = Some(reason);
        let library = self.library;
        let ranks: Vec<(Arc<CudaContext>, usize)> =
            self.local.iter().map(|rank| (rank.ctx.clone(), rank.comm.expose_provenance())).collect();
        let enqueuing = self.enqueuing.clone();
        let abort = move || {
            // Threads that enqueue later see that it is dead. The lock is released, because a build that
            // waits for it may have to destroy graphs.
            drop(try_lock_for(&enqueuing, Duration::from_secs(5)));
            for (ctx, comm) in ranks {
                let _ = ctx.bind_to_thread();
                // SAFETY: created by `ncclCommInitRankConfig` and not used any more.
                let _ = unsafe { (library.ncclCommAbort)(with_exposed_provenance_mut(comm)) };
            }
        };
        // If no thread can be started, the ranks are never aborted.
        let thread = std::thread::Builder::new().name("cuweave-nccl".to_owned()).spawn(abort);
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
    }

    /// Waits for an abort to end after its graphs were destroyed: the driver notifies NCCL a little later, on
    /// its own thread.
    fn wait_for_abort(&self) {
        /// Longer than an abort takes. If a graph is never destroyed, the abort continues after this wait.
        const LIMIT: Duration = Duration::from_secs(5);
        let thread = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let began = Instant::now();
        while !thread.is_finished() && began.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_micros(200));
        }
        if thread.is_finished() {
            let _ = thread.join();
        }
    }

    fn reason(&self) -> Option<CommunicatorFault> {
        self.dead.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the error that NCCL found in the background, if any.
    fn fault(&self) -> Option<CommunicatorFault> {
        for rank in &self.local {
            let mut status = 0;
            // The lock prevents an abort meanwhile.
            let dead = self.dead.lock().unwrap_or_else(PoisonError::into_inner);
            if dead.is_some() {
                return dead.clone();
            }
            // SAFETY: the communicator is alive; the pointer is to a local.
            let asked = unsafe { (self.library.ncclCommGetAsyncError)(rank.comm, &mut status) };
            let found = self
                .library
                .check_status("ncclCommGetAsyncError", asked)
                .and_then(|()| self.library.check_status("ncclCommGetAsyncError", status));
            if let Err(error) = found {
                return Some(CommunicatorFault::Failed { rank: rank.rank, source: LibraryError::new(error) });
            }
        }
        None
    }

    /// Sends a piece of bytes to all ranks and returns the pieces of all ranks.
    pub(super) fn exchange(&self, piece: &[u8]) -> Result<Vec<u8>, Error> {
        let Some(exchange) = &self.exchange else { return Ok(piece.to_vec()) };
        let mut exchange = exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let Exchange { stream, own, all } = &mut *exchange;
        let mut bytes = piece.to_vec();
        bytes.resize(PIECE, 0);
        stream.context().bind_to_thread()?;
        stream.memcpy_htod(&bytes, own)?;
        let ((from, _from), (to, _to)) = (own.device_ptr(stream), all.device_ptr_mut(stream));
        let alone = self.alone();
        if let Some(reason) = self.reason() {
            return Err(Error::Dead(reason));
        }
        // SAFETY: the buffers hold one piece and one piece per rank; the communicator is not destroyed meanwhile.
        let status = unsafe {
            let (from, to) = (pointer(from), pointer_mut(to));
            (self.library.ncclAllGather)(from, to, PIECE, 1, self.local[0].comm, stream.cu_stream())
        };
        drop(alone);
        self.library.check_status("ncclAllGather", status)?;
        drop((_from, _to));
        let over = stream.record_event(None)?;
        let (began, limit) = (Instant::now(), *self.limit.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: the event is alive.
        while unsafe { cudarc::driver::sys::cuEventQuery(over.cu_event()) } == CUresult::CUDA_ERROR_NOT_READY
        {
            if let Some(reason) = self.fault() {
                self.abort(reason.clone());
                return Err(Error::Dead(reason));
            }
            if let Some(limit) = limit.filter(|&limit| began.elapsed() > limit) {
                self.abort(CommunicatorFault::NoAnswer { limit });
                return Err(Error::TimedOut(limit));
            }
            std::thread::yield_now();
        }
        if let Some(reason) = self.fault() {
            self.abort(reason.clone());
            return Err(Error::Dead(reason));
        }
        Ok(stream.clone_dtoh(all)?)
    }
}

/// Locks a mutex, or gives up after `limit`: a thread that waits in NCCL for a rank holds the lock until the abort.
fn try_lock_for(mutex: &Mutex<()>, limit: Duration) -> Option<MutexGuard<'_, ()>> {
    let began = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if began.elapsed() > limit => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(100)),
        }
    }
}

impl LocalRanks for Ranks {
    fn alone(&self) -> MutexGuard<'_, ()> {
        self.enqueuing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ranks(&self) -> usize {
        self.local.len()
    }

    fn key(&self) -> u64 {
        self.key
    }

    fn agree(&self, own: &CollectiveSequence<'_>) -> Result<(), CollectiveDifference> {
        if self.exchange.is_none() { Ok(()) } else { Agreement(&|piece| self.exchange(piece)).compare(own) }
    }

    fn begin(&self) -> Result<(), String> {
        self.check().map_err(|reason| reason.to_string())?;
        // SAFETY: the function has no parameters.
        let status = unsafe { (self.library.ncclGroupStart)() };
        self.library.check_status("ncclGroupStart", status).map_err(|error| error.to_string())
    }

    fn end(&self) -> Result<(), String> {
        // SAFETY: the function has no parameters.
        let status = unsafe { (self.library.ncclGroupEnd)() };
        self.library.check_status("ncclGroupEnd", status).map_err(|error| error.to_string())
    }

    fn check(&self) -> Result<(), CommunicatorFault> {
        if let Some(reason) = self.reason() {
            return Err(reason);
        }
        match self.fault() {
            None => Ok(()),
            Some(reason) => {
                self.abort(reason.clone());
                Err(reason)
            }
        }
    }

    fn waited(&self, time: Duration) {
        if let Some(reason) = self.fault() {
            return self.abort(reason);
        }
        let limit = *self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = limit.filter(|&limit| time > limit) {
            self.abort(CommunicatorFault::LongLaunch { limit });
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.abort(CommunicatorFault::Dropped);
        self.wait_for_abort();
    }
}
