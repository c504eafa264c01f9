//! Outputs: allocations that leave a graph.
//!
//! An allocation of a graph lives from a launch until it is freed, and the graph cannot be launched again before.
//! Its [`Slot`] says what has become of it, and is shared by the graph that makes it, the [`Output`] that holds
//! it, and the graph that takes it over. Its states:
//! - idle: nothing lives;
//! - live: launched. Whoever holds the `Output` frees it by dropping it; if that is forgotten, the graph that
//!   made it frees it before its next launch, or at its own end;
//! - after either end, the next launch waits for the free, or for the launch of the graph that took it over.

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{
    CudaContext, CudaEvent, CudaSlice, CudaStream, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice,
    SyncOnDrop, sys,
};

use super::driver::{self, Driver, Event, Failure, Lent, Made, Stream};
use super::error::{At, Error, Result};
use super::operand::home;

/// One output of one graph.
#[derive(Debug)]
pub struct Slot {
    driver: &'static Driver,
    ctx: Arc<CudaContext>,
    address: u64,
    len: u64,
    /// `size_of` its element.
    element: u64,
    /// The type of its element.
    element_type: TypeId,
    at: Box<At>,
    /// Records the free, for the next launch to wait for.
    freed: Arc<CudaEvent>,
    /// The graph that makes it.
    maker: u64,
    /// Whether that graph is gone.
    retired: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Live>,
    /// The buffer that the handle lends, kept from launch to launch.
    buffer: Option<Buffer>,
    /// What the next launch waits for.
    wait: Option<Arc<CudaEvent>>,
}

/// An allocation that lives.
#[derive(Debug)]
struct Live {
    /// The graph whose launch it came from last: the one that may free it when its handle is forgotten.
    holder: u64,
    /// Where it is freed.
    home: Arc<CudaStream>,
    /// Whether it has its handle.
    handed: bool,
}

struct Buffer {
    /// The stream that owns it.
    stream: Stream,
    /// A [`Made`] of the output's element type.
    made: Box<dyn Any + Send>,
    /// In which its uses are recorded.
    uses: [Event; 2],
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("live", &self.live).field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl State {
    /// The events of the uses of what lives.
    fn uses(&self) -> impl Iterator<Item = Event> + use<> {
        let handed = self.live.as_ref().is_some_and(|live| live.handed);
        let uses = self.buffer.as_ref().filter(|_| handed).map(|buffer| buffer.uses);
        uses.into_iter().flatten().filter(|&event| event != Event::NONE)
    }
}

impl Slot {
    /// A slot in which nothing lives.
    pub(super) fn new(
        driver: &'static Driver,
        ctx: &Arc<CudaContext>,
        address: u64,
        (len, element, element_type): (u64, u64, TypeId),
        at: Box<At>,
        maker: u64,
    ) -> Result<Slot> {
        let freed = ctx.new_event(None).map_err(|error| Error::from(Failure::of("cuEventCreate", error)))?;
        let (freed, retired) = (Arc::new(freed), AtomicBool::new(false));
        Ok(Slot {
            driver,
            ctx: ctx.clone(),
            address,
            len,
            element,
            element_type,
            at,
            freed,
            maker,
            retired,
            state: Mutex::default(),
        })
    }

    /// Where the allocation lies whenever it lives.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// `size_of` its element.
    pub(super) fn element(&self) -> u64 {
        self.element
    }

    /// Its context.
    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.ctx
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the graph that makes it is gone.
    pub(super) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
    }

    /// The graph `holder` is gone: what it holds and nobody else does is freed.
    pub(super) fn retire(&self, holder: u64) {
        if self.maker == holder {
            self.retired.store(true, Ordering::Relaxed);
        }
        if self.holder() == Some(holder)
            && let Err(failure) = self.free()
        {
            super::record(&self.ctx, failure);
        }
    }

    fn holder(&self) -> Option<u64> {
        self.state().live.as_ref().map(|live| live.holder)
    }

    /// Before `holder` launches on `stream`: frees what was forgotten, and waits for what ended the last life.
    pub(super) fn prepare(&self, holder: u64, stream: Stream) -> Result<()> {
        match self.holder() {
            None => {}
            // Its handle borrows the exec that is being launched: that it lives means that it was forgotten.
            Some(other) if other == holder => {
                self.free().map_err(|failure| Error::driver(failure, Some(self.at.clone())))?
            }
            Some(_) => {
                let reason = "this output of the launch before still lives: another graph took it over and handed it on";
                return Err(Error::WrongOutput { at: self.at.clone(), reason });
            }
        }
        match &self.state().wait {
            Some(event) => Ok(self.driver.wait(stream, Event::of(event))?),
            None => Ok(()),
        }
    }

    /// Frees the allocation, behind its uses, if it lives.
    fn free(&self) -> std::result::Result<(), Failure> {
        let mut state = self.state();
        let Some(live) = &state.live else { return Ok(()) };
        let raw = Stream::of(&live.home);
        for event in state.uses() {
            self.driver.wait(raw, event)?;
        }
        self.driver.free(self.address, raw)?;
        state.live = None;
        state.wait = Some(self.freed.clone());
        self.driver.record(Event::of(&self.freed), raw).or_else(|_| self.driver.synchronize(raw))
    }

    /// After `holder` was launched on `stream`.
    pub(super) fn launched(&self, holder: u64, stream: &Arc<CudaStream>) {
        let mut state = self.state();
        state.live = Some(Live { holder, home: home(stream), handed: false });
        state.wait = None;
    }

    /// The handle of what a launch made; `done` records the launch. There is one handle a launch.
    pub(super) fn output<'e, T: 'static>(self: &'e Arc<Slot>, done: &CudaEvent) -> Result<Output<'e, T>> {
        if TypeId::of::<T>() != self.element_type {
            return Err(Error::Plan(format!("{} has elements of another type", self.at)));
        }
        let mut state = self.state();
        let state = &mut *state;
        let live = match &mut state.live {
            Some(live) if !live.handed => live,
            _ => {
                return Err(Error::WrongOutput {
                    at: self.at.clone(),
                    reason: "this output has its handle already",
                });
            }
        };
        let raw = Stream::of(&live.home);
        // A per-thread stream has the legacy stream as its home, which has to be told of the launch.
        self.driver.wait(raw, Event::of(done))?;
        if state.buffer.as_ref().is_none_or(|buffer| buffer.stream != raw || !buffer.made.is::<Made<T>>()) {
            let mut made = Made::<T>::new(&live.home, self.address, self.len)?;
            let uses = events(&mut made, &live.home);
            state.buffer = Some(Buffer { stream: raw, made: Box::new(made), uses });
        }
        let made = state
            .buffer
            .as_mut()
            .and_then(|buffer| Some((buffer.uses, buffer.made.downcast_mut::<Made<T>>()?)));
        let Some(([_, write], made)) = made else {
            return Err(Error::Plan(format!("{} is of another type", self.at)));
        };
        // Recorded whether or not cudarc tracks now: it may begin to.
        if write != Event::NONE {
            self.driver.record(write, raw)?;
        }
        live.handed = true;
        Ok(Output { buffer: made.lend(), slot: self, taken: false, exec: PhantomData })
    }
}

/// The events in which cudarc records the reads and the writes of a buffer.
fn events<T>(buffer: &mut CudaSlice<T>, stream: &CudaStream) -> [Event; 2] {
    let (_, guard) = buffer.device_ptr_mut(stream);
    let write = driver::guarded(&guard);
    std::mem::forget(guard);
    let (_, guard) = buffer.device_ptr(stream);
    let read = driver::guarded(&guard);
    std::mem::forget(guard);
    [read, write]
}

/// An allocation that a launch made and that left the graph: a device buffer.
///
/// It borrows the exec that made it: while it lives, that exec cannot be launched again. Dropped, it is freed in
/// stream order after its uses.
#[derive(Debug)]
pub struct Output<'e, T> {
    /// The slot's, whose buffer stays as it is until the next launch.
    buffer: Lent<T>,
    slot: &'e Arc<Slot>,
    /// Taken over by a graph, which frees it.
    taken: bool,
    /// Borrowed mutably; not `Sync`, since the buffer's events hold one use each.
    exec: PhantomData<(&'e mut (), std::cell::Cell<()>)>,
}

impl<T> Output<'_, T> {
    /// What a graph that takes this output over is built from.
    pub fn description(&self) -> OutputDescription<T> {
        OutputDescription { slot: self.slot.clone(), element: PhantomData }
    }

    /// A mutable view of the elements.
    pub fn as_view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.buffer.as_view_mut()
    }
}

impl<T> Deref for Output<'_, T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.buffer
    }
}

impl<T> DeviceSlice<T> for Output<'_, T> {
    fn len(&self) -> usize {
        self.buffer.len()
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.buffer.stream()
    }
}

impl<T> DevicePtr<T> for Output<'_, T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        self.buffer.device_ptr(stream)
    }
}

impl<T> DevicePtrMut<T> for Output<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        self.buffer.device_ptr_mut(stream)
    }
}

impl<T> Drop for Output<'_, T> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let ctx = &self.slot.ctx;
        ctx.record_err(ctx.bind_to_thread());
        if let Err(failure) = self.slot.free() {
            // It lives on, and its exec frees it before the next launch.
            super::record(ctx, failure);
        }
    }
}

/// What is known of a graph's output before it is made: enough to build the graph that takes it over.
pub struct OutputDescription<T> {
    slot: Arc<Slot>,
    element: PhantomData<fn() -> T>,
}

impl<T> OutputDescription<T> {
    pub(super) fn of(slot: &Arc<Slot>) -> OutputDescription<T> {
        OutputDescription { slot: slot.clone(), element: PhantomData }
    }

    pub(super) fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    /// The output's length, in elements.
    pub fn len(&self) -> u64 {
        self.slot.len
    }

    /// Whether it has no elements, which none has.
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
            .field("len", &self.slot.len)
            .finish()
    }
}

/// An output that is handed to a launch.
pub trait Handed {
    /// Its slot.
    #[doc(hidden)]
    fn slot(&self) -> &Arc<Slot>;

    /// The launch that takes it over, on `stream`, waits for its uses.
    #[doc(hidden)]
    fn prepare(&mut self, stream: &Arc<CudaStream>) -> Result<()>;

    /// It was taken over by a launch that `done` records.
    #[doc(hidden)]
    fn taken_over(&mut self, done: &Arc<CudaEvent>);
}

impl<T> Handed for Output<'_, T> {
    fn slot(&self) -> &Arc<Slot> {
        self.slot
    }

    fn prepare(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        let slot = self.slot;
        let state = slot.state();
        let Some(live) = &state.live else {
            return Err(Error::WrongOutput {
                at: slot.at.clone(),
                reason: "this output does not live any more",
            });
        };
        let (from, to) = (Stream::of(&live.home), Stream::of(stream));
        for event in state.uses() {
            slot.driver.wait(to, event)?;
        }
        if from != to {
            slot.driver.record(Event::of(&slot.freed), from)?;
            slot.driver.wait(to, Event::of(&slot.freed))?;
        }
        Ok(())
    }

    fn taken_over(&mut self, done: &Arc<CudaEvent>) {
        let mut state = self.slot.state();
        state.live = None;
        state.wait = Some(done.clone());
        drop(state);
        self.taken = true;
    }
}

/// The outputs that a launch is handed: a tuple of them.
pub trait HandedOver {
    /// Shows them, in order.
    #[doc(hidden)]
    fn with(&mut self, what: &mut dyn FnMut(&mut [&mut dyn Handed]) -> Result<()>) -> Result<()>;
}

impl HandedOver for () {
    fn with(&mut self, what: &mut dyn FnMut(&mut [&mut dyn Handed]) -> Result<()>) -> Result<()> {
        what(&mut [])
    }
}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*;)*) => {$(
        impl<$first: Handed, $($rest: Handed),*> HandedOver for ($first, $($rest,)*) {
            #[allow(non_snake_case)]
            fn with(&mut self, what: &mut dyn FnMut(&mut [&mut dyn Handed]) -> Result<()>) -> Result<()> {
                let ($first, $($rest,)*) = self;
                what(&mut [$first, $($rest),*])
            }
        }
    )*};
}
tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}
