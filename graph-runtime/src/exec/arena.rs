//! One arena shared by several execs that are launched one after the other on one stream.
//!
//! Launches on one stream complete in order, and no launch reads what an earlier graph left in its arena. The members
//! of a pool can therefore share the same bytes: the stream alone separates them. The arena reserves an address range
//! as large as the device's memory and maps the part that the largest member needs. It grows in place, so every member
//! keeps its addresses, and a launch does not access the pool. The range itself is in `ranges`.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;

use crate::context;
use crate::cuda::{self, Outcome, Stream};
use crate::error::{Error, Result};
use crate::ranges::ReservedRange;
use crate::waits::OwnedEvent;

/// An arena shared by the temporaries of several execs: see
/// [`Graph::instantiate_in`](crate::Graph::instantiate_in).
///
/// Its members are launched on the pool's stream only, so no two of them run at once. Concurrent launches on two
/// streams need two pools. A pool is as large as its largest member, rounded up to the device's granularity (2
/// MiB); separate execs need the sum. Outputs are not in the arena: they are separate allocations.
///
/// The arena has its own address range, as large as the device's memory. It grows in place when a larger
/// member joins, and nothing moves. A clone is the same pool. After the pool and all members have been
/// dropped, a later call frees the memory once their last launches are complete.
#[derive(Clone)]
#[must_use = "the pool's memory is freed when the pool and its members are dropped"]
pub struct ArenaPool {
    shared: Arc<SharedArena>,
}

impl ArenaPool {
    /// Returns a pool without memory. It grows to the size of its largest member.
    ///
    /// # Errors
    ///
    /// The per-thread default stream, which is a different stream on each thread; a driver that is missing or
    /// too old; a device that cannot map memory to reserved addresses.
    pub fn new(stream: &Arc<CudaStream>) -> Result<ArenaPool> {
        ArenaPool::with_limit(stream, None)
    }

    /// Returns the pool of a bank of at most `max_bytes` bytes. Its members are instantiated when the bank has made
    /// room for them, or when they are used.
    pub(crate) fn of_bank(stream: &Arc<CudaStream>, max_bytes: u64) -> Result<ArenaPool> {
        ArenaPool::with_limit(stream, Some(max_bytes))
    }

    fn with_limit(stream: &Arc<CudaStream>, max_bytes: Option<u64>) -> Result<ArenaPool> {
        let driver = cuda::driver()?;
        let raw = Stream::from_cudarc(stream);
        if raw.is_per_thread() {
            return Err(Error::PoolStream);
        }
        context::enter(driver, stream.context())?;
        let range = ReservedRange::with_device_size(driver, stream.context())?;
        let max_bytes = max_bytes.map(AtomicU64::new);
        let arena = Mutex::new(Arena { range: Some(range), uses: Vec::new(), leaks: false });
        Ok(ArenaPool { shared: Arc::new(SharedArena { stream: stream.clone(), raw, max_bytes, arena }) })
    }

    /// Returns a pool with an arena of at least `bytes` bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`ArenaPool::new`]; out of memory.
    pub fn with_capacity(stream: &Arc<CudaStream>, bytes: u64) -> Result<ArenaPool> {
        let pool = ArenaPool::new(stream)?;
        context::enter(cuda::driver()?, stream.context())?;
        pool.shared.reserve(bytes).map_err(|failure| Error::allocation(failure, None, bytes))?;
        Ok(pool)
    }

    /// Returns the stream on which the members are launched.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.shared.stream
    }

    /// Returns the number of mapped bytes of the arena.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shared.lock().range.as_ref().map_or(0, ReservedRange::bytes)
    }

    pub(crate) fn shared(&self) -> &Arc<SharedArena> {
        &self.shared
    }
}

impl fmt::Debug for ArenaPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaPool")
            .field("stream", &self.stream().cu_stream())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// The state that all clones of a pool share.
#[derive(Debug)]
pub(crate) struct SharedArena {
    pub stream: Arc<CudaStream>,
    pub raw: Stream,
    /// The limit of the bank whose pool it is. `None` for other pools.
    max_bytes: Option<AtomicU64>,
    arena: Mutex<Arena>,
}

/// The memory of a pool.
#[derive(Debug)]
struct Arena {
    /// `None` after the pool is dropped.
    range: Option<ReservedRange>,
    /// The events of the last launches of dropped members.
    uses: Vec<Arc<OwnedEvent>>,
    /// True if a launch may use the memory forever.
    leaks: bool,
}

impl SharedArena {
    fn lock(&self) -> MutexGuard<'_, Arena> {
        self.arena.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the limit of the bank whose pool it is. `None` for other pools.
    pub fn max_bytes(&self) -> Option<u64> {
        self.max_bytes.as_ref().map(|bytes| bytes.load(Ordering::Relaxed))
    }

    /// Changes the limit of a bank.
    pub fn set_max_bytes(&self, bytes: u64) {
        if let Some(limit) = &self.max_bytes {
            limit.store(bytes, Ordering::Relaxed);
        }
    }

    /// Grows the arena to at least `bytes` bytes and returns its address. The context must be current.
    pub fn reserve(&self, bytes: u64) -> Outcome<u64> {
        match &mut self.lock().range {
            Some(range) => range.grow(bytes).map(|()| range.start()),
            None => Ok(0),
        }
    }

    /// Returns the granularity in which the arena grows, in bytes.
    pub fn step(&self) -> u64 {
        self.lock().range.as_ref().map_or(1, ReservedRange::step)
    }

    /// Records that a member left: its last launch, and `leaks` if the completion of that launch is unknown.
    pub fn leave(&self, last: Option<&Arc<OwnedEvent>>, leaks: bool) {
        let mut arena = self.lock();
        arena.leaks |= leaks;
        // A bank has many members one after the other, so the events of completed launches are dropped.
        arena.uses.retain(|used| !used.is_over());
        // Launches in one stream complete in order, but members may be dropped in any order.
        arena.uses.extend(last.cloned());
    }
}

impl Drop for SharedArena {
    fn drop(&mut self) {
        let arena = self.arena.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(range) = arena.range.take() else { return };
        if arena.leaks { range.leak() } else { range.retire(std::mem::take(&mut arena.uses)) }
    }
}
