//! Records and orders the uses of an exec's buffers through views, between its launches.
//!
//! For a buffer that the exec owns or shares in an `Arc`, each stream's uses are recorded in an event of the
//! runtime. A borrowed buffer can be freed by its owner as soon as the exec is forgotten. So its uses are
//! recorded in its own events, for which cudarc waits.
//!
//! cudarc has one event for all reads. So each use of a borrowed buffer is ordered after those that the
//! buffer's events recorded before, and the last one implies all. This is uncertain if guards of several
//! streams were held at once; then the next launch, or the drop of the exec, waits on the host.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, SyncOnDrop};

use crate::cuda::{Context, Driver, Event, Failure, Outcome, Stream, record};
use crate::waits::{self, StreamKey};

use super::operand::{Operand, Owner, Owners};

impl Operand {
    /// Returns true if the buffer's own cudarc events record its uses through views.
    fn records_itself(&self) -> bool {
        self.borrowed && self.read != Event::NONE
    }

    /// Orders a stream after uses through views: after all of them for a write, only after writes for a read.
    pub fn order_view_uses(
        &self,
        driver: &Driver,
        stream: Stream,
        key: Option<&StreamKey>,
        write: bool,
    ) -> Outcome<()> {
        if let Some(slot) = &self.output {
            return slot.order_uses(driver, stream, key, write);
        }
        let uses = self.view_uses.lock();
        if !self.records_itself() {
            return uses.order(driver, stream, key, write);
        }
        if !write {
            // A buffer borrowed for reads has only read-only views.
            return Ok(());
        }
        if !uses.is_by_one() {
            if self.elsewhere != Context::NONE {
                driver.enter(self.elsewhere)?;
            }
            return driver.synchronize_context();
        }
        self.order_events(driver, stream)
    }

    /// Orders a stream after the uses that the buffer's own events record.
    fn order_events(&self, driver: &Driver, stream: Stream) -> Outcome<()> {
        let mut events = [self.read, self.write].into_iter().filter(|&event| event != Event::NONE);
        driver.relaxed(|| events.try_for_each(|event| waits::order_used(driver, stream, event)))
    }

    /// Returns true if only a host wait can be ordered after all uses through views.
    pub fn is_uncertain(&self) -> bool {
        self.records_itself() && !self.view_uses.lock().is_by_one()
    }

    /// Returns true if the buffer has been used through views.
    pub fn has_view_uses(&self) -> bool {
        self.view_uses.lock().is_used()
    }

    /// Drops the uses that a launch has been ordered after. No guard of a use may exist.
    pub fn launched(&self, driver: &Driver) {
        let mut uses = self.view_uses.lock();
        match (self.exclusive, self.records_itself()) {
            (true, _) => uses.renew(),
            (false, true) if uses.is_by_one() => uses.renew(),
            (false, true) => {}
            (false, false) => uses.prune(driver),
        }
    }
}

/// The state of an exec, as its views need it to order their uses.
#[derive(Clone, Copy, Debug)]
pub struct ViewContext<'v> {
    pub(crate) driver: &'static Driver,
    pub(crate) ctx: &'v Arc<CudaContext>,
    pub(crate) operands: &'v [Operand],
    pub(crate) owners: &'v Owners,
    /// The event of the last launch, with its stream.
    pub(crate) done: Option<(Event, Stream)>,
    /// The reason why nothing can wait for the last launch. Views cannot be used then.
    pub(crate) failure: Option<Failure>,
}

/// A buffer of an exec that a view refers to.
#[derive(Clone, Copy)]
pub(crate) struct ViewedOperand<'v> {
    pub operand: &'v Operand,
    pub view_context: ViewContext<'v>,
}

impl fmt::Debug for ViewedOperand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewedOperand").field("operand", &self.operand).finish_non_exhaustive()
    }
}

impl ViewedOperand<'_> {
    /// Orders a use by a stream. `cudarc` returns the guard by which cudarc records it. `None` if the use
    /// cannot be ordered.
    pub fn order_use<'a>(
        &self,
        stream: &CudaStream,
        write: bool,
        cudarc: impl FnOnce(&'a CudaStream) -> SyncOnDrop<'a>,
    ) -> Option<SyncOnDrop<'a>> {
        let reached = self.try_order_use(stream, write, cudarc);
        // The use must not happen without its wait. For `None`, the caller returns an address that no call
        // accepts.
        reached.map_err(|failure| record(self.view_context.ctx, failure)).ok()
    }

    fn try_order_use<'a>(
        &self,
        stream: &CudaStream,
        write: bool,
        cudarc: impl FnOnce(&'a CudaStream) -> SyncOnDrop<'a>,
    ) -> Outcome<SyncOnDrop<'a>> {
        let (driver, operand) = (self.view_context.driver, self.operand);
        let (raw, ctx) = (Stream::from_cudarc(stream), stream.context());
        driver.enter(Context::from_cudarc(ctx))?;
        let captures = driver.is_capturing(raw)?;
        let key = StreamKey::new(driver, raw);
        self.order(raw, (!captures).then_some(&key), write)?;
        driver.enter(Context::from_cudarc(ctx))?;
        if captures {
            // The host has waited already. Captured uses are not recorded here.
            return Ok(SyncOnDrop::Record(None));
        }
        let used = operand.view_uses.lock().entry(driver, key, ctx)?;
        if operand.records_itself() { used.note_by(write, cudarc) } else { Ok(used.note(write)) }
    }

    /// Orders a stream after all uses that conflict with its next use.
    pub fn order(&self, stream: Stream, key: Option<&StreamKey>, write: bool) -> Outcome<()> {
        let ViewContext { driver, owners, done, failure, .. } = self.view_context;
        let operand = self.operand;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Some((done, last)) = done
            && (write || operand.exclusive)
            && (stream != last || stream.is_per_thread())
        {
            waits::order_or_wait(driver, stream, done)?;
        }
        // The owning stream comes after uses from before the binding, and after other graphs that bound a view
        // of the buffer.
        if let Some(owner) = operand.owner.and_then(|owner| owners.list.get(owner)) {
            self.after_owner(owner, stream)?;
        }
        if operand.records_itself() {
            operand.order_events(driver, stream)
        } else {
            operand.view_uses.lock().order(driver, stream, key, write)
        }
    }

    /// Orders a stream of the current context after the owning stream.
    fn after_owner(&self, owner: &Owner, stream: Stream) -> Outcome<()> {
        let driver = self.view_context.driver;
        let current = driver.current_context()?;
        // The handles of the default streams are the same in every context.
        if owner.raw == stream && owner.context() == current {
            return Ok(());
        }
        driver.enter(owner.context())?;
        if driver.is_capturing(owner.raw) != Ok(false) {
            let waited = driver.synchronize_context();
            driver.enter(current)?;
            return waited;
        }
        let recorded = driver.record(owner.event.raw(), owner.raw);
        driver.enter(current)?;
        recorded?;
        waits::order_or_wait(driver, stream, owner.event.raw())
    }
}
