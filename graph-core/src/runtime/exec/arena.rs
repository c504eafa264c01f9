//! One arena for several execs that are launched one after the other on one stream.
//!
//! Launches on a stream are over in their order, and what a graph leaves in its arena nobody reads after it: so the
//! members of a pool lie in the same bytes, and nothing but the stream is needed to keep them apart. The arena is a range
//! of addresses as large as the device's memory, of which as much is mapped as the largest member asks for. It grows where
//! it lies, so every member keeps its addresses, and a launch asks nothing of the pool.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;

use crate::runtime::context;
use crate::runtime::cuda::{self, Outcome, Stream};
use crate::runtime::error::{Error, Result};
use crate::runtime::ranges::Range;
use crate::runtime::waits::OwnedEvent;

/// An arena that the temporaries of several execs share: see [`Graph::instantiate_in`](crate::runtime::Graph::instantiate_in).
///
/// Its members are launched on the pool's stream, and only there, so that no two of them run at once: side by side
/// on two streams needs two pools. A pool takes as many bytes as its largest member, in steps of the device's granularity
/// (2 MiB); each exec of its own takes the sum. Outputs are no part of it: they are allocations of their own, whatever the
/// graph's temporaries lie in.
///
/// The arena lies at addresses of its own, as many as the device has memory: it grows in place when a larger member joins,
/// and nothing moves. A clone is the same pool. When the pool and all members are gone, the memory is given back to the
/// device as soon as a later call finds their last launches over.
#[derive(Clone)]
#[must_use = "the pool's memory is freed when the pool and its members are dropped"]
pub struct ArenaPool {
    shared: Arc<Shared>,
}

impl ArenaPool {
    /// Returns a pool without memory: it grows to what its largest member needs.
    ///
    /// # Errors
    ///
    /// The per-thread default stream, which is another stream on each thread; no driver, or one that is too old; a device
    /// that does not map memory into reserved addresses.
    pub fn new(stream: &Arc<CudaStream>) -> Result<ArenaPool> {
        let driver = cuda::driver()?;
        let raw = Stream::of(stream);
        if raw.is_per_thread() {
            let reason = "the per-thread default stream is another stream on each thread";
            return Err(Error::PoolStream { reason });
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

    /// The stream that the members are launched on.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.shared.stream
    }

    /// The bytes of the arena that have memory now.
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
    /// `None` at the end of the pool.
    range: Option<Range>,
    /// The last launches of members that are gone.
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

    /// Notes the end of a member: its last launch, or that nothing tells when that is over.
    pub fn leave(&self, last: Option<&Arc<OwnedEvent>>, leaks: bool) {
        let mut arena = self.lock();
        arena.leaks |= leaks;
        // Launches in one stream are over in their order, but the order in which members go is any.
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
