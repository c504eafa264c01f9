//! Device memory of the runtime, in address ranges that are reserved once and grow in place.
//!
//! Memory is mapped before the first node uses it, and growth maps only the new part, so nodes keep their
//! addresses. Unmapping is a host call that does not wait for launches. A range that launches may still use
//! therefore goes into a list, with the events of those launches. A later call of the runtime unmaps it once
//! these events are complete.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaContext;

use super::cuda::{Context, Driver, Failure, Outcome, record};
use super::waits::{self, OwnedEvent};

/// A reserved address range, mapped from its start. Dropping it unmaps the memory.
#[derive(Debug)]
pub(crate) struct ReservedRange {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    device: c_int,
    /// The other devices with access.
    peer_devices: Vec<c_int>,
    start: u64,
    /// The number of reserved bytes; 0 after the range was retired or leaked.
    reserved: u64,
    mapped: u64,
    step: u64,
}

impl ReservedRange {
    /// Reserves addresses for `bytes` bytes. `ctx` must be current.
    pub fn new(driver: &'static Driver, ctx: &Arc<CudaContext>, bytes: u64) -> Outcome<ReservedRange> {
        let device = ctx.cu_device();
        let step = driver.granularity(device)?;
        let reserved = bytes.next_multiple_of(step);
        let start = driver.reserve(reserved)?;
        let (ctx, peer_devices) = (ctx.clone(), Vec::new());
        Ok(ReservedRange { driver, ctx, device, peer_devices, start, reserved, mapped: 0, step })
    }

    /// Reserves an address range as large as the device's memory.
    pub fn with_device_size(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<ReservedRange> {
        ReservedRange::new(driver, ctx, driver.total_memory(ctx.cu_device())?)
    }

    /// Gives other devices access to memory that is mapped after this call.
    pub fn share(&mut self, peer_devices: Vec<c_int>) {
        self.peer_devices = peer_devices;
    }

    /// Returns its first address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the context of its memory.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.ctx
    }

    /// Returns the granularity in which it grows, in bytes.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Returns the number of mapped bytes.
    pub fn bytes(&self) -> u64 {
        self.mapped
    }

    /// Grows the mapped part to at least `bytes` bytes. If the device is out of memory, waits for the
    /// launches that use retired ranges, unmaps these ranges and tries again. Fails if more bytes are
    /// requested than are reserved.
    pub fn grow(&mut self, bytes: u64) -> Outcome<()> {
        if bytes <= self.mapped {
            return Ok(());
        }
        if bytes > self.reserved {
            return Err(Failure::out_of_memory("cuMemCreate"));
        }
        let (at, more) = (self.start + self.mapped, bytes.next_multiple_of(self.step) - self.mapped);
        let map = || self.driver.relaxed(|| self.driver.map(self.device, &self.peer_devices, at, more));
        map().or_else(|failure| {
            if !failure.is_out_of_memory() || !wait_for_retired(self.driver) {
                return Err(failure);
            }
            // Unmapping retired ranges may have made another context current.
            self.driver.enter(Context::from_cudarc(&self.ctx))?;
            map()
        })?;
        self.mapped += more;
        Ok(())
    }

    /// Unmaps the memory when the launches recorded by these events are complete: now or in a later call.
    pub fn retire(self, uses: Vec<Arc<OwnedEvent>>) {
        let mut list = lock();
        list.push(RetiredRange { range: self, uses });
        PENDING.store(list.len(), Ordering::Relaxed);
        drop(list);
        unmap_retired();
    }

    /// Leaks the memory, because it may be in use for an unknown time.
    pub fn leak(mut self) {
        self.reserved = 0;
    }
}

impl Drop for ReservedRange {
    fn drop(&mut self) {
        let ReservedRange { driver, start, reserved, mapped, .. } = *self;
        if reserved == 0 || !waits::enter(driver, &self.ctx) {
            return;
        }
        let unmapped = if mapped == 0 { Ok(()) } else { driver.relaxed(|| driver.unmap(start, mapped)) };
        // Fails if memory is still mapped, so the first failure is the one to report.
        let freed = driver.free_addresses(start, reserved);
        if let Err(failure) = unmapped.and(freed) {
            record(&self.ctx, failure);
        }
    }
}

/// A retired range, and the events of the launches that may still use it.
struct RetiredRange {
    range: ReservedRange,
    uses: Vec<Arc<OwnedEvent>>,
}

impl RetiredRange {
    /// Drops the events of completed launches. Returns true if no event is left.
    fn is_over(&mut self) -> bool {
        let driver = self.range.driver;
        if !waits::enter(driver, &self.range.ctx) {
            return false;
        }
        self.uses.retain(|used| match driver.relaxed(|| driver.is_over(used.raw())) {
            Ok(over) => !over,
            Err(failure) => !failure.ends_the_context(),
        });
        self.uses.is_empty()
    }
}

static RETIRED: Mutex<Vec<RetiredRange>> = Mutex::new(Vec::new());

/// The length of `RETIRED`, readable without its lock.
static PENDING: AtomicUsize = AtomicUsize::new(0);

fn lock() -> std::sync::MutexGuard<'static, Vec<RetiredRange>> {
    RETIRED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unmaps the retired ranges that are no longer in use. May change the current context.
pub(crate) fn unmap_retired() {
    if PENDING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut list = lock();
    let over: Vec<RetiredRange> = list.extract_if(.., RetiredRange::is_over).collect();
    PENDING.store(list.len(), Ordering::Relaxed);
    drop(list);
    // Unmaps outside of the lock.
    drop(over);
}

/// Waits for the launches that use retired ranges and unmaps the ranges. Returns true if there were any.
fn wait_for_retired(driver: &Driver) -> bool {
    if PENDING.load(Ordering::Relaxed) == 0 {
        return false;
    }
    for retired in lock().iter() {
        if waits::enter(driver, &retired.range.ctx) {
            for used in &retired.uses {
                // After a failure the range stays in the list.
                let _ = driver.synchronize_event(used.raw());
            }
        }
    }
    unmap_retired();
    true
}
