//! The multicast object itself: its devices, its granularity, and its bound ranges.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::CudaContext;

use crate::bind::ledger::TrackedBuffer;
use crate::context;
use crate::cuda::{self, Driver, MULTICAST_SUPPORTED, ObjectProperties, PhysicalHandle};
use crate::error::{MulticastFault, Result};

use super::checks::{check_aligned, fault};
use super::memory::Memory;

/// The granularity of multicast objects, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Granularity {
    /// Sizes and offsets must be multiples of it.
    pub minimum: u64,
    /// Multiples of it give the best performance.
    pub recommended: u64,
}

/// A range of an object to which memory of a device is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoundRange {
    pub device: c_int,
    pub offset: u64,
    pub bytes: u64,
}

impl BoundRange {
    /// Returns true if the range overlaps these bytes of the object.
    pub fn overlaps(&self, offset: u64, bytes: u64) -> bool {
        self.offset < offset.saturating_add(bytes) && offset < self.offset.saturating_add(self.bytes)
    }
}

/// An entry of an object's list of bindings.
#[derive(Debug)]
pub(super) struct BoundEntry {
    pub part: BoundRange,
    /// The uses of the memory.
    pub tracked: Arc<TrackedBuffer>,
    /// The binding. Gone while its drop waits for the lock of the list.
    pub binding: Weak<BoundMemory>,
}

/// Bound memory. Unbound when dropped.
#[derive(Debug)]
pub(crate) struct BoundMemory {
    pub(super) object: Arc<Object>,
    pub(super) memory: Arc<Memory>,
    pub(super) part: BoundRange,
    /// The offset of the bound part in the memory, in bytes.
    pub(super) at: u64,
    pub(super) ended: AtomicBool,
}

/// A multicast object. Released when dropped.
#[derive(Debug)]
pub(super) struct Object {
    pub raw: PhysicalHandle,
    pub contexts: Vec<Arc<CudaContext>>,
    pub bytes: u64,
    pub granularity: Granularity,
    added: Mutex<Vec<c_int>>,
    bound: Mutex<Vec<BoundEntry>>,
}

/// True if the program allows multicast objects of real devices.
static ALLOWED_ON_HARDWARE: AtomicBool = AtomicBool::new(false);

/// Allows multicast objects of real devices, for the rest of the process. Without this call they are errors
/// ([`MulticastFault::NotAllowed`]); the simulated driver needs no call.
///
/// cuweave has used multicast objects only on the simulated driver, never on hardware. There the driver waits
/// without end where a device is missing, and an object takes resources that all processes of the system share.
pub fn allow_on_hardware() {
    ALLOWED_ON_HARDWARE.store(true, Ordering::Relaxed);
}

/// Returns true if a device supports multicast objects.
///
/// # Errors
///
/// No driver is installed, or a driver call failed.
pub fn is_supported(ctx: &Arc<CudaContext>) -> Result<bool> {
    let driver = cuda::driver()?;
    context::enter(driver, ctx)?;
    Ok(driver.device_attribute(ctx, MULTICAST_SUPPORTED)? != 0)
}

/// Checks the devices of an object, before any other driver call.
fn check_devices(contexts: &[Arc<CudaContext>]) -> Result<u32> {
    if contexts.is_empty() {
        return fault(MulticastFault::NoDevices);
    }
    for (at, ctx) in contexts.iter().enumerate() {
        if contexts.iter().take(at).any(|other| other.cu_device() == ctx.cu_device()) {
            return fault(MulticastFault::Repeated { device: ctx.ordinal() });
        }
        if !is_supported(ctx)? {
            return fault(MulticastFault::Unsupported { device: ctx.ordinal() });
        }
    }
    if !context::is_simulated() && !ALLOWED_ON_HARDWARE.load(Ordering::Relaxed) {
        return fault(MulticastFault::NotAllowed);
    }
    Ok(u32::try_from(contexts.len()).unwrap_or(u32::MAX))
}

fn ask(driver: &Driver, devices: u32, bytes: u64) -> Result<Granularity> {
    if bytes == 0 {
        return fault(MulticastFault::Empty { what: "the multicast object" });
    }
    let (minimum, recommended) = driver.multicast_granularity(ObjectProperties::new(devices, bytes))?;
    Ok(Granularity { minimum, recommended })
}

/// Returns the granularity of objects of `bytes` bytes for the devices of these contexts.
///
/// # Errors
///
/// [`MulticastFault::Unsupported`] if a device does not support multicast objects, and
/// [`MulticastFault::NotAllowed`] for real devices without [`allow_on_hardware`]; the driver is not called
/// further then. [`MulticastFault::NoDevices`], [`MulticastFault::Repeated`], [`MulticastFault::Empty`]; a
/// failed driver call.
pub fn granularity(contexts: &[Arc<CudaContext>], bytes: u64) -> Result<Granularity> {
    let devices = check_devices(contexts)?;
    ask(cuda::driver()?, devices, bytes)
}

impl Object {
    /// Creates an object for the devices of these contexts. None is added yet.
    pub fn new(contexts: &[Arc<CudaContext>], bytes: u64) -> Result<Object> {
        let devices = check_devices(contexts)?;
        let driver = cuda::driver()?;
        let granularity = ask(driver, devices, bytes)?;
        check_aligned("the size of the multicast object", bytes, granularity.minimum)?;
        let Some(first) = contexts.first() else { return fault(MulticastFault::NoDevices) };
        let raw = PhysicalHandle::object(driver, first, ObjectProperties::new(devices, bytes))?;
        let (added, bound) = (Mutex::default(), Mutex::default());
        Ok(Object { raw, contexts: contexts.to_vec(), bytes, granularity, added, bound })
    }

    /// Adds a device. It stays until the object is released.
    pub fn add(&self, ctx: &CudaContext) -> Result<()> {
        let (number, device) = (ctx.cu_device(), ctx.ordinal());
        self.check_member(ctx)?;
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        if added.contains(&number) {
            return fault(MulticastFault::AddedTwice { device });
        }
        self.raw.add_device(number)?;
        added.push(number);
        Ok(())
    }

    /// Checks that the object was created for the device of a context.
    pub fn check_member(&self, ctx: &CudaContext) -> Result<()> {
        match self.contexts.iter().any(|own| own.cu_device() == ctx.cu_device()) {
            true => Ok(()),
            false => fault(MulticastFault::NotInTeam { device: ctx.ordinal() }),
        }
    }

    /// Checks that all devices were added.
    pub fn check_complete(&self) -> Result<()> {
        let added = self.added.lock().unwrap_or_else(PoisonError::into_inner).len();
        let devices = self.contexts.len();
        if added == devices { Ok(()) } else { fault(MulticastFault::Missing { added, devices }) }
    }

    /// Locks the list of bindings: nothing can be bound or unbound while the guard exists.
    pub fn bound(&self) -> MutexGuard<'_, Vec<BoundEntry>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that each device has memory bound to every byte of a range.
    pub fn check_bound<'b>(
        &self,
        bound: impl Iterator<Item = &'b BoundRange> + Clone,
        offset: u64,
        bytes: u64,
    ) -> Result<()> {
        let end = offset.saturating_add(bytes);
        for ctx in &self.contexts {
            let mut at = offset;
            let holds = |part: &&BoundRange, at: u64| {
                part.device == ctx.cu_device()
                    && (part.offset..part.offset.saturating_add(part.bytes)).contains(&at)
            };
            while at < end {
                let Some(part) = bound.clone().find(|part| holds(part, at)) else {
                    return fault(MulticastFault::Unbound { device: ctx.ordinal(), offset: at });
                };
                at = part.offset.saturating_add(part.bytes);
            }
        }
        Ok(())
    }
}
