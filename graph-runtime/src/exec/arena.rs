//! One arena shared by several execs that are launched one after the other on one stream.
//!
//! Launches on one stream complete in order, and no later launch reads what a graph left in its arena. So the members of a
//! pool share the same bytes, and the stream alone separates them. The arena is a range of addresses as large as the
//! device's memory. The part that the largest member needs is mapped. The arena grows in place, so every member keeps its
//! addresses, and a launch does not access the pool.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;

use crate::context;
use crate::cuda::{self, Outcome, Stream};
use crate::error::{Error, Result};
use crate::ranges::Range;
use crate::waits::OwnedEvent;

/// An arena shared by the temporaries of several execs: see
/// [`Graph::instantiate_in`](crate::Graph::instantiate_in).
///
/// Its members are launched on the pool's stream only, so that no two of them run at once: concurrent launches on two
/// streams need two pools. The size of a pool is that of its largest member, in steps of the device's granularity (2 MiB);
/// separate execs need the sum. Outputs are not in the arena: they are allocations of their own.
///
/// The arena has its own range of addresses, as large as the device's memory: it grows in place when a larger member joins,
/// and nothing moves. A clone is the same pool. When the pool and all members have been dropped, a later call frees the
/// memory once their last launches are complete.
#[derive(Clone)]
#[must_use = "the pool's memory is freed when the pool and its members are dropped"]
pub struct ArenaPool {
    shared: Arc<Shared>,
}

impl ArenaPool {
    /// Returns a pool without memory. It grows to the size of its largest member.
    ///
    /// # Errors
    ///
    /// The per-thread default stream, which is a different stream on each thread; no driver, or one that is too old; a
    /// device that cannot map memory to reserved addresses.
    pub fn new(stream: &Arc<CudaStream>) -> Result<ArenaPool> {
        let driver = cuda::driver()?;
        let raw = Stream::of(stream);
        if raw.is_per_thread() {
            return Err(Error::PoolStream);
        }
        context::enter(driver, stream.context())?;
        let range = Range::of_device(driver, stream.context())?;
        let arena = Mutex::new(Arena { range: Some(range), uses: Vec::new(), leaks: false });
        Ok(ArenaPool { shared: Arc::new(Shared { stream: stream.clone(), raw, arena }) })
    }

    /// Returns a pool with an arena of at least `bytes` bytes.
    ///
    /// # Errors
    ///
    /// As [`ArenaPool::new`]; lack of memory.
    pub fn with_capacity(stream: &Arc<CudaStream>, bytes: u64) -> Result<ArenaPool> {
        let pool = ArenaPool::new(stream)?;
        context::enter(cuda::driver()?, stream.context())?;
        pool.shared.reserve(bytes)?;
        Ok(pool)
    }

    /// Returns the stream that the members are launched on.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.shared.stream
    }

    /// Returns the number of bytes of the arena that are mapped.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shared.lock().range.as_ref().map_or(0, Range::bytes)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
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

/// The shared state of a pool.
#[derive(Debug)]
pub(crate) struct Shared {
    pub stream: Arc<CudaStream>,
    pub raw: Stream,
    arena: Mutex<Arena>,
}

/// The memory of a pool.
#[derive(Debug)]
struct Arena {
    /// `None` once the pool is dropped.
    range: Option<Range>,
    /// The last launches of members that were dropped.
    uses: Vec<Arc<OwnedEvent>>,
    /// True if a launch may use the memory for ever.
    leaks: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Arena> {
        self.arena.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grows the arena to at least `bytes` bytes and returns its address. The context must be current.
    pub fn reserve(&self, bytes: u64) -> Outcome<u64> {
        match &mut self.lock().range {
            Some(range) => range.grow(bytes).map(|()| range.start()),
            None => Ok(0),
        }
    }

    /// Records the end of a member: its last launch, or that its completion is unknown.
    pub fn leave(&self, last: Option<&Arc<OwnedEvent>>, leaks: bool) {
        let mut arena = self.lock();
        arena.leaks |= leaks;
        // Launches in one stream complete in order, but members may be dropped in any order.
        arena.uses.extend(last.cloned());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let arena = self.arena.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(range) = arena.range.take() else { return };
        if arena.leaks { range.leak() } else { range.retire(std::mem::take(&mut arena.uses)) }
    }
}
