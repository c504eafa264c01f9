//! One arena for several execs that are launched one after the other on one stream.
//!
//! Launches on a stream are over in their order, and what a graph leaves in its arena nobody reads after it: so the
//! members of a pool lie in the same bytes, and nothing but the stream is needed to keep them apart. The arena is as
//! large as the largest member asks for. It grows in stream order: the old memory is freed behind every launch that
//! used it, and a member whose nodes still speak of it is given the new addresses before its next launch. The lock
//! is held from that look until the launch is in the stream, so no other thread can grow the arena in between.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream};

use crate::runtime::context;
use crate::runtime::cuda::{self, Driver, Failure, Stream, record};
use crate::runtime::error::{Error, Result};
use crate::runtime::waits::{self, OwnedEvent, SideStream};

/// An arena that the temporaries of several execs share: see [`Graph::instantiate_in`](crate::runtime::Graph::instantiate_in).
///
/// Its members are launched on the pool's stream, and only there, so that no two of them run at once: side by side
/// on two streams needs two pools. A pool takes as many bytes as its largest member; each exec of its own takes the
/// sum. Outputs are no part of it: they are allocations of their own, whatever the graph's temporaries lie in.
///
/// A clone is the same pool. The memory is freed, in stream order, when the pool and all members are gone.
#[derive(Clone)]
#[must_use = "the pool's memory is freed when the pool and its members are dropped"]
pub struct ArenaPool {
    shared: Arc<Shared>,
}

impl ArenaPool {
    /// A pool without memory yet: it grows to what its largest member needs.
    ///
    /// A member that is larger than those before moves the arena. The older members notice at their next launch, which
    /// then gives each node that uses a temporary its new address, 0.1 to 0.3 us a node. [`ArenaPool::with_capacity`]
    /// avoids that, as does instantiating the largest graph first.
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

    /// A pool with an arena of at least `bytes` bytes, which members of up to so many bytes do not move.
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

    /// The stream that the members are launched on.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.shared.stream
    }

    /// The size of the arena now, in bytes.
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

/// The part of a pool that its members share.
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
    /// 0 where there is none.
    address: u64,
    bytes: u64,
    /// Records the last launch of a member, or the allocation where there was none since.
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
    /// A failure leaves the arena as it is, or, where the device has no room for both, without memory: the next
    /// launch of a member then asks again for what that one needs.
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
                // Freed memory goes back to the device once the stream has come so far.
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

    /// Frees the memory, if there is any, behind what the stream has been given.
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
            // The free would become a node of what is captured.
            _ => aside(driver, ctx, arena),
        };
        if let Err(failure) = freed {
            record(ctx, failure);
        }
    }
}

/// Frees the memory in a stream that nobody can capture, behind the last launch.
fn aside(
    driver: &'static Driver,
    ctx: &Arc<CudaContext>,
    arena: &mut Arena,
) -> std::result::Result<(), Failure> {
    let side = SideStream::of(driver, ctx)?;
    match &arena.last {
        Some(last) => waits::behind(driver, side.raw(), last.raw())?,
        // The allocation is not known to be made.
        None => driver.synchronize_context()?,
    }
    arena.free(driver, side.raw())
}

/// An exec's part in a pool.
#[derive(Debug)]
pub(crate) struct Member {
    pub shared: Arc<Shared>,
    /// The address of the arena that the exec's nodes hold; 0 while they do not agree.
    pub address: u64,
}
