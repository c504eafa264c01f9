//! An arena for several execs that are launched one after the other on one stream.
//!
//! Launches on a stream run in their order, and the contents of the arena are dead after a launch. So the members of a pool use
//! the same bytes, ordered by the stream alone. The arena is as large as the largest member needs. It grows in stream order: the old
//! memory is freed after every launch that used it, and members with nodes that hold the old address get the new one before their next
//! launch. The pool is locked from this check until the launch is in the stream, so that no other thread grows the arena in between.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream};

use crate::runtime::context;
use crate::runtime::cuda::{self, Driver, Failure, Stream, record};
use crate::runtime::error::{Error, Result};
use crate::runtime::waits::{self, OwnedEvent, SideStream};

/// An arena that the temporaries of several execs share: see [`Graph::instantiate_in`](crate::runtime::Graph::instantiate_in).
///
/// Its members are launched on the pool's stream only, so that no two of them run at once: concurrent members on two streams need two
/// pools. A pool takes as many bytes as its largest member, where execs with memory of their own take the sum. Outputs are separate allocations.
///
/// Clones share the pool. The memory is freed in stream order once the pool and all members are dropped.
#[derive(Clone)]
#[must_use = "the pool's memory is freed when the pool and its members are dropped"]
pub struct ArenaPool {
    shared: Arc<Shared>,
}

impl ArenaPool {
    /// Returns a pool without memory. It grows to the size that its largest member needs.
    ///
    /// A member larger than all before reallocates the arena. The next launch of each older member then sets the address of each node
    /// that uses a temporary, 0.1 to 0.3 us a node. [`ArenaPool::with_capacity`] avoids that, as does instantiating the largest graph
    /// first.
    ///
    /// # Errors
    ///
    /// The per-thread default stream, which is another stream on each thread; no driver, or one that is too old.
    pub fn new(stream: &Arc<CudaStream>) -> Result<ArenaPool> {
        let driver = cuda::driver()?;
        let raw = Stream::of(stream);
        if raw.is_per_thread() {
            let reason = "the per-thread default stream is another stream on each thread";
            return Err(Error::PoolStream { reason });
        }
        let shared = Shared { driver, stream: stream.clone(), raw, arena: Mutex::default() };
        Ok(ArenaPool { shared: Arc::new(shared) })
    }

    /// Returns a pool with an arena of at least `bytes` bytes. Members of up to that size do not reallocate it.
    ///
    /// # Errors
    ///
    /// As [`ArenaPool::new`]; a stream that is capturing; lack of memory.
    pub fn with_capacity(stream: &Arc<CudaStream>, bytes: u64) -> Result<ArenaPool> {
        let pool = ArenaPool::new(stream)?;
        let shared = &pool.shared;
        context::enter(shared.driver, stream.context())?;
        if shared.driver.is_capturing(shared.raw)? {
            return Err(Error::PoolStream { reason: "the stream is capturing" });
        }
        shared.lock().reserve(shared, bytes)?;
        Ok(pool)
    }

    /// Returns the stream that the members are launched on.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.shared.stream
    }

    /// Returns the current size of the arena, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shared.lock().bytes
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
    driver: &'static Driver,
    pub stream: Arc<CudaStream>,
    pub raw: Stream,
    arena: Mutex<Arena>,
}

/// The memory of a pool.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// 0 if there is none.
    address: u64,
    bytes: u64,
    /// Records the last launch of a member, or the allocation if no launch came after it.
    pub last: Option<Arc<OwnedEvent>>,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, Arena> {
        self.arena.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Arena {
    /// Grows the arena to at least `bytes` bytes, and returns its address. The stream may not be capturing.
    ///
    /// On failure the arena is unchanged, or without memory if the device cannot hold both allocations: the next launch of a member
    /// then allocates again.
    pub fn reserve(&mut self, shared: &Shared, bytes: u64) -> std::result::Result<u64, Failure> {
        if bytes <= self.bytes {
            return Ok(self.address);
        }
        let Shared { driver, raw, .. } = *shared;
        let address = match driver.allocate(bytes, raw) {
            Ok(address) => {
                // A failure leaks the old memory; the new one can be used.
                let _ = self.free(driver, raw).map_err(|failure| record(shared.stream.context(), failure));
                address
            }
            Err(failure) if failure.is_out_of_memory() && self.bytes > 0 => {
                self.free(driver, raw)?;
                // The memory is returned to the device once the stream reaches the free.
                driver.synchronize(raw)?;
                driver.allocate(bytes, raw)?
            }
            Err(failure) => return Err(failure),
        };
        (self.address, self.bytes) = (address, bytes);
        self.last = None;
        let made = OwnedEvent::new(driver, shared.stream.context())?;
        driver.record(made.raw(), raw)?;
        self.last = Some(Arc::new(made));
        Ok(address)
    }

    /// Frees the memory, if any, in stream order.
    fn free(&mut self, driver: &Driver, stream: Stream) -> std::result::Result<(), Failure> {
        let (address, bytes) = (std::mem::take(&mut self.address), std::mem::take(&mut self.bytes));
        if bytes == 0 { Ok(()) } else { driver.free(address, stream) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let (driver, raw, ctx) = (self.driver, self.raw, self.stream.context());
        let entered = waits::enter(driver, ctx);
        let arena = self.arena.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !entered || arena.bytes == 0 {
            return;
        }
        let freed = match driver.is_capturing(raw) {
            Ok(false) => arena.free(driver, raw),
            // The free would be captured.
            _ => aside(driver, ctx, arena),
        };
        if let Err(failure) = freed {
            record(ctx, failure);
        }
    }
}

/// Frees the memory after the last launch, in a stream that no one can capture.
fn aside(
    driver: &'static Driver,
    ctx: &Arc<CudaContext>,
    arena: &mut Arena,
) -> std::result::Result<(), Failure> {
    let side = SideStream::of(driver, ctx)?;
    match &arena.last {
        Some(last) => waits::behind(driver, side.raw(), last.raw())?,
        // The allocation may not have completed.
        None => driver.synchronize_context()?,
    }
    arena.free(driver, side.raw())
}

/// The membership of an exec in a pool.
#[derive(Debug)]
pub(crate) struct Member {
    pub shared: Arc<Shared>,
    /// The address of the arena that all nodes of the exec hold; 0 if they differ.
    pub address: u64,
}
