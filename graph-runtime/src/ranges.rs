//! Device memory that the runtime owns, in ranges of addresses that are reserved once and grow in place.
//!
//! Memory is mapped before the first node names it, and growth maps the new part only, so nodes keep their addresses.
//! Unmapping is a host call that does not wait for launches. So a range that launches may still use is kept in a list with
//! the events of those launches, and is unmapped when a later call of the runtime finds them complete.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaContext;

use super::cuda::{Context, Driver, Failure, Outcome, record};
use super::waits::{self, OwnedEvent};

/// A reserved range of addresses, mapped from its start. Its drop unmaps the memory.
#[derive(Debug)]
pub(crate) struct Range {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    device: c_int,
    /// The other devices that have access.
    others: Vec<c_int>,
    start: u64,
    /// The number of reserved bytes; 0 once the range is retired or leaked.
    reserved: u64,
    mapped: u64,
    step: u64,
}

impl Range {
    /// Reserves addresses for up to `bytes` bytes in a context, which must be current.
    pub fn new(driver: &'static Driver, ctx: &Arc<CudaContext>, bytes: u64) -> Outcome<Range> {
        let device = ctx.cu_device();
        let step = driver.granularity(device)?;
        let reserved = bytes.next_multiple_of(step);
        let start = driver.reserve(reserved)?;
        let (ctx, others) = (ctx.clone(), Vec::new());
        Ok(Range { driver, ctx, device, others, start, reserved, mapped: 0, step })
    }

    /// Reserves as many bytes of addresses as the device has memory.
    pub fn of_device(driver: &'static Driver, ctx: &Arc<CudaContext>) -> Outcome<Range> {
        Range::new(driver, ctx, driver.total_memory(ctx.cu_device())?)
    }

    /// Gives other devices access to the memory that is mapped from now on.
    pub fn share(&mut self, others: Vec<c_int>) {
        self.others = others;
    }

    /// Returns its first address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the number of mapped bytes.
    pub fn bytes(&self) -> u64 {
        self.mapped
    }

    /// Maps memory until at least `bytes` bytes are mapped. If the device has no memory left, retired ranges are unmapped
    /// first, which waits for their launches. A request of more bytes than are reserved exceeds the memory of the device.
    pub fn grow(&mut self, bytes: u64) -> Outcome<()> {
        if bytes <= self.mapped {
            return Ok(());
        }
        if bytes > self.reserved {
            return Err(Failure::out_of_memory("cuMemCreate"));
        }
        let (at, more) = (self.start + self.mapped, bytes.next_multiple_of(self.step) - self.mapped);
        let map = || self.driver.relaxed(|| self.driver.map(self.device, &self.others, at, more));
        map().or_else(|failure| {
            if !failure.is_out_of_memory() || !settle(self.driver) {
                return Err(failure);
            }
            // The retired ranges may include those of other contexts.
            self.driver.enter(Context::of(&self.ctx))?;
            map()
        })?;
        self.mapped += more;
        Ok(())
    }

    /// Unmaps the memory once the launches recorded by these events are complete: now, or in a later call.
    pub fn retire(self, uses: Vec<Arc<OwnedEvent>>) {
        let mut list = lock();
        list.push(Retired { range: self, uses });
        PENDING.store(list.len(), Ordering::Relaxed);
        drop(list);
        collect();
    }

    /// Leaks the memory, because it may be in use for an unknown time.
    pub fn leak(mut self) {
        self.reserved = 0;
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        let Range { driver, start, reserved, mapped, .. } = *self;
        if reserved == 0 || !waits::enter(driver, &self.ctx) {
            return;
        }
        let unmapped = if mapped == 0 { Ok(()) } else { driver.relaxed(|| driver.unmap(start, mapped)) };
        // The call fails if memory is still mapped.
        let freed = driver.free_addresses(start, reserved);
        if let Err(failure) = unmapped.and(freed) {
            record(&self.ctx, failure);
        }
    }
}

/// A retired range, and the events of the launches that may still use it.
struct Retired {
    range: Range,
    uses: Vec<Arc<OwnedEvent>>,
}

impl Retired {
    /// Drops the events of completed launches. Returns true if none is left.
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

static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

/// The length of the list, readable without its lock.
static PENDING: AtomicUsize = AtomicUsize::new(0);

fn lock() -> std::sync::MutexGuard<'static, Vec<Retired>> {
    RETIRED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unmaps the ranges in the list that are not in use any more. May change the current context.
pub(crate) fn collect() {
    if PENDING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut list = lock();
    let over: Vec<Retired> = list.extract_if(.., Retired::is_over).collect();
    PENDING.store(list.len(), Ordering::Relaxed);
    drop(list);
    // The lock is released before unmapping.
    drop(over);
}

/// Waits for the launches that use the ranges in the list, and unmaps the ranges. Returns true if there were any.
fn settle(driver: &Driver) -> bool {
    if PENDING.load(Ordering::Relaxed) == 0 {
        return false;
    }
    for retired in lock().iter() {
        if waits::enter(driver, &retired.range.ctx) {
            for used in &retired.uses {
                // On failure the range stays in the list.
                let _ = driver.synchronize_event(used.raw());
            }
        }
    }
    collect();
    true
}
