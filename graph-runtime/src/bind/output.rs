//! Outputs: allocations that leave a graph.
//!
//! An allocation exists from a launch until it is freed, and its graph cannot be launched again before that.
//! Its [`OutputSlot`] holds the state. The slot is shared by the graph that makes the output, the [`Output`], and the
//! graph that consumes it. The states are:
//! - idle: there is no allocation;
//! - live: launched. The drop of the `Output` frees it. If the `Output` is forgotten, the graph that made it
//!   frees it before its next launch or when it is dropped;
//! - ended: the next launch waits for the free, or for the launch of the graph that consumed it.
//!
//! A graph that consumes an allocation may return it. Its launch gives the same slot to a new `Output`, and the graph
//! becomes its holder: the one that frees a forgotten allocation. The maker cannot be launched before the end.

use std::any::{Any, TypeId};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, SyncOnDrop};
use cuweave_core::index::wide;

use crate::cuda::{BorrowedBuffer, Context, Driver, Outcome, Stream, UnownedBuffer, record};
use crate::error::{Error, OutputFault, PlanFault, Result, SourceLocation};
use crate::waits::{self, HeldStream, OwnedEvent, SideStream, StreamKey, lasting_stream};

use super::loops::{IterationCounts, LoopIterations};
use super::uses::StreamUses;

/// One output of a graph.
#[derive(Debug)]
pub struct OutputSlot {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    address: u64,
    elements: OutputShape,
    /// The driver's handles of the other devices with access.
    access: Vec<c_int>,
    at: Box<SourceLocation>,
    /// Records the free, for which the next launch waits.
    freed: Arc<OwnedEvent>,
    /// The id of the graph that makes the output.
    maker: u64,
    /// True if that graph was dropped.
    retired: AtomicBool,
    state: Mutex<OutputState>,
}

/// The shape of an output.
#[derive(Debug)]
pub(crate) struct OutputShape {
    pub len: u64,
    /// The size of an element in bytes.
    pub size: u64,
    pub type_id: TypeId,
}

#[derive(Default)]
struct OutputState {
    live: Option<LiveAllocation>,
    /// The uses of the live allocation.
    uses: StreamUses,
    /// The cudarc buffer of the allocation. Kept across launches.
    buffer: Option<CudarcBuffer>,
    /// The last launches of the graphs that have bound the allocation. True for those that write it.
    graphs: Vec<(Arc<OwnedEvent>, bool)>,
    /// The event that the next launch waits for, and the stream in which it was recorded, if known.
    wait: Option<(Arc<OwnedEvent>, Option<HeldStream>)>,
    /// True if that event could not record the free.
    lost: bool,
}

#[derive(Debug)]
struct LiveAllocation {
    /// The id of the graph that made it or passed it on last. That graph may free the allocation if the handle is
    /// forgotten.
    holder: u64,
    /// The stream in which it is freed, unless that stream is capturing.
    home: Arc<CudaStream>,
    /// The stream of the launch.
    raw: Stream,
    /// The key of `raw`, computed on demand. `home` keeps that stream alive, except for the per-thread default
    /// stream.
    key: OnceLock<StreamKey>,
    /// Records the launch.
    done: Arc<OwnedEvent>,
    /// True if the handle has been returned to the user.
    handed: bool,
}

struct CudarcBuffer {
    /// The stream that owns it.
    stream: Stream,
    /// Its length in elements, which differs from that of the allocation if a size moves it.
    len: u64,
    /// A [`UnownedBuffer`] of the output's element type.
    made: Box<dyn Any + Send>,
}

impl std::fmt::Debug for OutputState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("live", &self.live).field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl LiveAllocation {
    /// Returns the key of the launch's stream.
    fn key(&self, driver: &Driver) -> &StreamKey {
        self.key.get_or_init(|| StreamKey::new(driver, self.raw))
    }
}

impl OutputState {
    /// Orders a stream after the launch that made the live allocation, unless `launched` says that it is
    /// already, and after all uses that conflict with a new one.
    fn order(
        &self,
        driver: &Driver,
        stream: Stream,
        key: Option<&StreamKey>,
        write: bool,
        launched: bool,
    ) -> Outcome<()> {
        if let Some(live) = &self.live
            && !launched
            && !key.is_some_and(|key| key.raw == live.raw && key.is(live.key(driver)))
        {
            waits::order_or_wait(driver, stream, live.done.raw())?;
        }
        self.uses.order(driver, stream, key, write)?;
        for (done, _) in self.graphs.iter().filter(|(_, wrote)| write || *wrote) {
            waits::order_or_wait(driver, stream, done.raw())?;
        }
        Ok(())
    }
}

impl OutputSlot {
    /// Returns an idle slot. `access` holds the driver's handles of the other devices with access. The context must
    /// be current.
    pub(crate) fn new(
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        address: u64,
        elements: OutputShape,
        access: Vec<c_int>,
        at: Box<SourceLocation>,
        maker: u64,
    ) -> Result<OutputSlot> {
        let (freed, retired) = (Arc::new(OwnedEvent::new(driver, ctx)?), AtomicBool::new(false));
        Ok(OutputSlot {
            driver,
            ctx: ctx.clone(),
            address,
            elements,
            access,
            at,
            freed,
            maker,
            retired,
            state: Mutex::default(),
        })
    }

    /// Returns the address of the allocation. It is the same in each launch.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns the size of an element in bytes.
    pub(crate) fn element(&self) -> u64 {
        self.elements.size
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.ctx
    }

    /// Returns true if a device other than its own has access, by the driver's handle of the device.
    pub(crate) fn is_accessible_from(&self, device: c_int) -> bool {
        self.access.contains(&device)
    }

    fn state(&self) -> MutexGuard<'_, OutputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the graph that makes the output was dropped, and no other graph has passed the output on.
    pub(crate) fn is_retired(&self) -> bool {
        let is_held = |live: &LiveAllocation| live.holder != self.maker;
        self.retired.load(Ordering::Relaxed) && !self.state().live.as_ref().is_some_and(is_held)
    }

    /// Frees the allocation if the graph `holder` holds it. Must be called when that graph is dropped.
    pub(crate) fn retire(&self, holder: u64) {
        if self.maker == holder {
            self.retired.store(true, Ordering::Relaxed);
        }
        if let Err(failure) = self.free_if(|live| live.holder == holder) {
            record(&self.ctx, failure);
        }
    }

    /// Prepares a launch of the maker on `stream`: frees a forgotten allocation, and makes the stream wait for
    /// the end of the previous allocation.
    pub(crate) fn prepare(&self, maker: u64, stream: &CudaStream) -> Result<()> {
        // A handle of the maker borrows the exec that is being launched, so it was forgotten. An allocation that was
        // passed on has no handle if nobody asked for it.
        let freed = self.free_if(|live| live.holder == maker || !live.handed);
        freed.map_err(|failure| Error::driver(failure, Some(self.at.clone())))?;
        let mut state = self.state();
        if state.live.is_some() {
            let reason = OutputFault::StillLives;
            return Err(Error::WrongOutput { at: self.at.clone(), reason });
        }
        if state.lost {
            self.driver.synchronize_context()?;
            state.lost = false;
        }
        match &state.wait {
            Some((event, recorded))
                if !recorded.as_ref().is_some_and(|recorded| recorded.is_here(stream)) =>
            {
                Ok(self.driver.wait(Stream::from_cudarc(stream), event.raw())?)
            }
            _ => Ok(()),
        }
    }

    /// Frees the allocation of the last launch without returning a handle, if the graph `holder` holds it.
    pub(crate) fn discard(&self, holder: u64) -> Result<()> {
        let freed = self.free_if(|live| live.holder == holder);
        freed.map_err(|failure| Error::driver(failure, Some(self.at.clone())))
    }

    /// Frees the live allocation, if there is one and `ended` returns true for it, after its launch and its uses.
    fn free_if(&self, ended: impl Fn(&LiveAllocation) -> bool) -> Outcome<()> {
        let mut state = self.state();
        let Some(live) = state.live.as_ref().filter(|live| ended(live)) else { return Ok(()) };
        let (driver, home) = (self.driver, Stream::from_cudarc(&live.home));
        let side;
        let (stream, held) = match driver.is_capturing(home) {
            Ok(false) => (home, Some(HeldStream::new(&live.home))),
            // A capturing stream would capture the free.
            _ => {
                side = SideStream::shared(driver, &self.ctx)?;
                (side.raw(), None)
            }
        };
        state.order(driver, stream, None, true, live.raw == stream)?;
        driver.enter(Context::from_cudarc(&self.ctx))?;
        driver.free(self.address, stream)?;
        state.live = None;
        state.wait = Some((self.freed.clone(), held));
        let recorded = driver.record(self.freed.raw(), stream);
        let known =
            recorded.or_else(|_| driver.synchronize(stream)).or_else(|_| driver.synchronize_context());
        state.lost = known.is_err();
        known
    }

    /// Records a launch of `holder` in `stream`. `done` is its event.
    pub(crate) fn launched(&self, holder: u64, stream: &Arc<CudaStream>, done: &Arc<OwnedEvent>) {
        let (raw, key) = (Stream::from_cudarc(stream), OnceLock::new());
        if raw.is_per_thread() {
            // On another thread the handle denotes another stream, so compute the key here.
            let _ = key.set(StreamKey::new(self.driver, raw));
        }
        let mut state = self.state();
        state.live = Some(LiveAllocation {
            holder,
            home: lasting_stream(stream),
            raw,
            key,
            done: done.clone(),
            handed: false,
        });
        state.wait = None;
        state.graphs.clear();
        state.uses.renew();
    }

    /// Returns the handle of the allocation that the last launch of `holder` made or passed on. Each launch has one
    /// handle.
    pub(crate) fn output<'e, T: 'static>(
        self: &'e Arc<OutputSlot>,
        holder: u64,
        len: Option<u64>,
        loops: &'e dyn IterationCounts,
    ) -> Result<Output<'e, T>> {
        let len = len.unwrap_or(self.elements.len);
        if TypeId::of::<T>() != self.elements.type_id {
            return Err(PlanFault::OtherElements(self.at.clone()).into());
        }
        let mut state = self.state();
        let state = &mut *state;
        let live = match &mut state.live {
            Some(live) if live.holder == holder && !live.handed => live,
            live => {
                let lives = live.as_ref().is_some_and(|live| live.holder == holder);
                let reason = if lives { OutputFault::HasHandle } else { OutputFault::Freed };
                return Err(Error::WrongOutput { at: self.at.clone(), reason });
            }
        };
        let raw = Stream::from_cudarc(&live.home);
        if state.buffer.as_ref().is_none_or(|buffer| {
            (buffer.stream, buffer.len) != (raw, len) || !buffer.made.is::<UnownedBuffer<T>>()
        }) {
            let made = UnownedBuffer::<T>::new(&live.home, self.address, len)?;
            state.buffer = Some(CudarcBuffer { stream: raw, len, made: Box::new(made) });
        }
        let made = state.buffer.as_mut().and_then(|buffer| buffer.made.downcast_mut::<UnownedBuffer<T>>());
        let Some(made) = made else {
            return Err(PlanFault::OtherType(self.at.clone()).into());
        };
        live.handed = true;
        let lent = OutputBuffer { buffer: made.lend(), slot: self };
        Ok(Output { lent, taken: false, loops, exec: PhantomData })
    }
}

impl OutputSlot {
    /// Orders a user's stream after the launch and all conflicting uses. The guard records the use, and may
    /// live as long as the handle. `None` if that failed.
    pub(crate) fn order_use<'a>(&self, stream: &CudaStream, write: bool) -> Option<SyncOnDrop<'a>> {
        let reached = self.try_order_use(stream, write);
        // The use must not happen without its wait. For `None`, the caller returns an address that no call
        // accepts.
        reached.map_err(|failure| record(&self.ctx, failure)).ok()
    }

    fn try_order_use<'a>(&self, stream: &CudaStream, write: bool) -> Outcome<SyncOnDrop<'a>> {
        let (driver, raw, ctx) = (self.driver, Stream::from_cudarc(stream), stream.context());
        driver.enter(Context::from_cudarc(ctx))?;
        let mut state = self.state();
        if driver.is_capturing(raw)? {
            // The host waits. Captured uses are not recorded here.
            state.order(driver, raw, None, write, false)?;
            return Ok(SyncOnDrop::Record(None));
        }
        let key = StreamKey::new(driver, raw);
        let used = state.uses.entry(driver, key, ctx)?;
        state.order(driver, raw, Some(&key), write, used.has_waited())?;
        // Waiting for a use in another context may have changed the current one.
        driver.enter(Context::from_cudarc(ctx))?;
        used.set_waited();
        Ok(used.note(write))
    }

    /// Orders a graph's stream after the conflicting uses by the user's streams.
    pub(crate) fn order_uses(
        &self,
        driver: &Driver,
        stream: Stream,
        key: Option<&StreamKey>,
        write: bool,
    ) -> Outcome<()> {
        self.state().uses.order(driver, stream, key, write)
    }

    /// Adds a graph that has bound the allocation: conflicting uses are ordered after its last launch, which
    /// `done` records.
    pub(crate) fn bound_by(&self, done: &Arc<OwnedEvent>, exclusive: bool) {
        const PRUNE_AT: usize = 16;
        let driver = self.driver;
        let mut state = self.state();
        if let Some((_, wrote)) = state.graphs.iter_mut().find(|(other, _)| Arc::ptr_eq(other, done)) {
            *wrote |= exclusive;
            return;
        }
        if state.graphs.len() >= PRUNE_AT {
            // Nobody else has the event, so its graph was dropped and is not launched again.
            let ended = |done: &Arc<OwnedEvent>| {
                Arc::strong_count(done) == 1 && driver.is_over(done.raw()) == Ok(true)
            };
            driver.relaxed(|| state.graphs.retain(|(done, _)| !ended(done)));
        }
        state.graphs.push((done.clone(), exclusive));
    }

    /// Orders the owning stream after the launch and the uses. Graphs that bind the output are ordered after
    /// that stream.
    pub(crate) fn bind(&self, owner: Stream, exclusive: bool) -> Outcome<()> {
        let state = self.state();
        let launched = state.live.as_ref().is_some_and(|live| live.raw == owner);
        state.order(self.driver, owner, None, exclusive, launched)
    }
}

/// An allocation that a launch has made and that has left the graph: a device buffer.
///
/// It borrows the exec that returned it, so that exec cannot be launched again meanwhile. [`Output::iterations`] gives
/// what the exec could tell about the launch. When dropped, it is freed in stream order, after its uses in all
/// streams.
///
/// A graph that takes an output over may return it: `h: [f32; n]` and `-> [f32; n]`. The new output is the same memory,
/// so the exec that made it cannot be launched again before the new output has ended either. Such a launch fails with
/// [`OutputFault::StillLives`].
///
/// cudarc's copies and fills accept it and its views ([`Output::slice`]). A kernel that cudarc launches takes
/// its address:
///
/// ```
/// # use cuweave_runtime as cuweave;
/// # use std::sync::Arc;
/// # use cudarc::driver::{CudaFunction, CudaStream, LaunchConfig};
/// use cudarc::driver::{DevicePtr, PushKernelArg};
///
/// # fn launch(
/// #     output: &cuweave::Output<'_, f32>, stream: &Arc<CudaStream>, function: &CudaFunction, shape: LaunchConfig,
/// # ) -> cuweave::Result<()> {
/// let (address, _use) = output.device_ptr(stream);
/// unsafe { stream.launch_builder(function).arg(&address).launch(shape)? };
/// # Ok(())
/// # }
/// ```
///
/// The address is 0 if neither the stream nor the host can wait for the earlier uses. The failure is then
/// recorded in the context (`CudaContext::check_err`). If the stream is capturing, the host waits for the
/// earlier uses, and the captured work may only run while the output exists.
#[must_use = "an output is freed where it is dropped"]
pub struct Output<'e, T> {
    pub(crate) lent: OutputBuffer<'e, T>,
    /// True if a graph has consumed the output. That graph then frees it.
    taken: bool,
    /// The exec, which users cannot call while it is borrowed.
    loops: &'e dyn IterationCounts,
    /// The mutable borrow of the exec. Not `Sync`.
    exec: PhantomData<(&'e mut (), std::cell::Cell<()>)>,
}

/// The elements of an [`Output`] as a device buffer for cudarc.
pub struct OutputBuffer<'e, T> {
    /// The buffer of the slot. It does not change before the next launch.
    pub(crate) buffer: BorrowedBuffer<T>,
    pub(crate) slot: &'e Arc<OutputSlot>,
}

impl<'e, T> std::ops::Deref for Output<'e, T> {
    type Target = OutputBuffer<'e, T>;

    fn deref(&self) -> &OutputBuffer<'e, T> {
        &self.lent
    }
}

impl<T> Output<'_, T> {
    /// Returns the description from which a graph that consumes this output is built.
    #[must_use]
    pub fn description(&self) -> OutputDescription<T> {
        OutputDescription { slot: self.slot.clone(), element: PhantomData }
    }

    /// Waits on the host for the launch that made the output, and returns the iterations of a loop with
    /// `#[at_most(n)]` in that launch. Same as `exec.iterations(name)`, which cannot be called while the output
    /// borrows the exec.
    ///
    /// # Errors
    ///
    /// A name that does not identify one loop with a limit; a panic of a host statement that no call has
    /// returned yet; a failure of the driver.
    pub fn iterations(&self, name: &str) -> Result<LoopIterations> {
        self.loops.iterations(name)
    }
}

impl<T> Drop for Output<'_, T> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let slot = self.slot;
        waits::enter(slot.driver, &slot.ctx);
        if let Err(failure) = slot.free_if(|_| true) {
            // The allocation stays live, and its exec frees it before the next launch.
            record(&slot.ctx, failure);
        }
    }
}

/// The description of an output before its launch, from which a graph that consumes the output is built.
pub struct OutputDescription<T> {
    slot: Arc<OutputSlot>,
    element: PhantomData<fn() -> T>,
}

impl<T> OutputDescription<T> {
    pub(crate) fn from_slot(slot: &Arc<OutputSlot>) -> OutputDescription<T> {
        OutputDescription { slot: slot.clone(), element: PhantomData }
    }

    pub(crate) fn slot(&self) -> &Arc<OutputSlot> {
        &self.slot
    }

    /// Returns the length in elements.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.slot.elements.len
    }

    /// Returns false: every output has elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Clone for OutputDescription<T> {
    fn clone(&self) -> Self {
        OutputDescription { slot: self.slot.clone(), element: PhantomData }
    }
}

impl<T> std::fmt::Debug for OutputDescription<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputDescription")
            .field("address", &self.slot.address)
            .field("len", &self.slot.elements.len)
            .finish()
    }
}

/// An output that a launch consumes.
pub trait HandedOutput {
    /// Returns the slot.
    #[doc(hidden)]
    fn slot(&self) -> &Arc<OutputSlot>;

    /// Returns the length in elements.
    #[doc(hidden)]
    fn elements(&self) -> u64;

    /// Makes `stream`, in which the consuming launch will run, wait for the output's uses.
    #[doc(hidden)]
    fn prepare(&mut self, stream: &Arc<CudaStream>) -> Result<()>;

    /// Records that the launch with event `done` has consumed the output.
    #[doc(hidden)]
    fn taken_over(&mut self, done: &Arc<OwnedEvent>);
}

impl<T> HandedOutput for Output<'_, T> {
    fn slot(&self) -> &Arc<OutputSlot> {
        self.slot
    }

    fn elements(&self) -> u64 {
        wide(self.lent.buffer.len())
    }

    fn prepare(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        let slot = self.slot;
        let state = slot.state();
        if state.live.is_none() {
            return Err(Error::WrongOutput { at: slot.at.clone(), reason: OutputFault::Freed });
        }
        let raw = Stream::from_cudarc(stream);
        let key = StreamKey::new(slot.driver, raw);
        Ok(state.order(slot.driver, raw, Some(&key), true, false)?)
    }

    fn taken_over(&mut self, done: &Arc<OwnedEvent>) {
        let mut state = self.slot.state();
        state.live = None;
        state.wait = Some((done.clone(), None));
        drop(state);
        self.taken = true;
    }
}
