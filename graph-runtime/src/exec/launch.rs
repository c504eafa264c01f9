//! Launches an exec, and orders the launch with earlier and later uses of its operands.
//!
//! A launch first waits for all earlier conflicting uses, on the device: of outputs, of buffers in other streams,
//! of shared buffers (the ledger in `bind`), and of module variables (`module_variables`). Then the graph is enqueued
//! and the exec's event recorded. Later uses are ordered after that event; if a driver call for this fails, the host
//! waits. `release` orders uses after the end of the exec in the same way.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaStream;
use cuweave_core::index::Index;
use cuweave_core::ir::BufferId;

use crate::bind::{Generation, HandedOutput, Ledger, OrderFault, Output};
use crate::build::{CollectiveOrder, Definition, check_overlap};
use crate::context;
use crate::cuda::{Driver, Event, Failure, Outcome, RawExec, Stream, nvtx_range, record};
use crate::error::{Error, ManagedFault, OutputFault, PlanFault, Result, at_buffer};
use crate::kernels::LaunchNote;
use crate::ranges;
use crate::waits::{self, HeldStream, SideStream, StreamKey};
use crate::watch;

use super::core::Core;
use super::in_flight::InFlight;
use super::pooled::check_pool;

/// Pinned memory has one event for all its uses. A launch waits for it and records it again; this lock makes
/// the two steps atomic.
static PINNED: Mutex<()> = Mutex::new(());

impl Core {
    /// Checks that the graph can be launched into a stream, and makes the context current.
    pub(super) fn check_stream(&mut self, stream: &CudaStream) -> Result<Stream> {
        let function = || self.definition.program().name.to_string();
        if self.broken {
            return Err(Error::Unusable { function: function() });
        }
        if !Arc::ptr_eq(stream.context(), &self.definition.ctx) && **stream.context() != *self.definition.ctx
        {
            return Err(Error::StreamOfOtherContext { function: function() });
        }
        self.check_hosts()?;
        self.check_cliques()?;
        ranges::unmap_retired();
        context::enter(self.definition.driver, &self.definition.ctx)?;
        let raw = Stream::from_cudarc(stream);
        if self.definition.driver.is_capturing(raw)? {
            return Err(Error::StreamCapturing { function: function() });
        }
        self.ready()?;
        Ok(raw)
    }

    /// See the generated `upload`.
    pub(crate) fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        let raw = self.check_stream(stream)?;
        let uploaded = self.definition.driver.upload(self.built.handle.exec, raw);
        uploaded.map_err(|failure| self.launch_failure(failure))
    }

    /// See the generated `synchronize`.
    pub(crate) fn synchronize(&mut self) -> Result<()> {
        if self.in_flight.last.is_some() {
            context::enter(self.definition.driver, &self.definition.ctx)?;
            self.in_flight.wait_on_host(self.definition.driver)?;
        }
        self.drop_replaced();
        self.check_hosts()?;
        self.check_cliques()
    }

    /// Checks that none of the graph's communicators is aborted.
    fn check_cliques(&self) -> Result<()> {
        let mut communicators = self.in_flight.communicators.iter();
        communicators.try_for_each(|communicator| communicator.check()).map_err(|reason| {
            Error::Communicator { function: self.definition.program().name.to_string(), reason }
        })
    }

    /// Returns the note of the next launch if the graph has collectives.
    fn next_note(&self, stream: &Arc<CudaStream>) -> Option<LaunchNote> {
        let note =
            || LaunchNote { done: self.in_flight.done.clone(), stream: HeldStream::new(stream), held: true };
        (!self.in_flight.communicators.is_empty()).then(note)
    }

    /// Launches into `stream`. `taken` are the outputs for the taken-over arguments.
    pub(crate) fn launch(
        &mut self,
        stream: &Arc<CudaStream>,
        taken: &mut [&mut dyn HandedOutput],
    ) -> Result<()> {
        self.launch_by(stream, taken, |driver, exec, raw| driver.launch(exec, raw))
    }

    /// Launches as [`Core::launch`] does, but through `launch`. If `launch` fails, nothing may be in flight.
    #[inline]
    pub(super) fn launch_by(
        &mut self,
        stream: &Arc<CudaStream>,
        taken: &mut [&mut dyn HandedOutput],
        launch: impl FnOnce(&Driver, RawExec, Stream) -> Outcome<()>,
    ) -> Result<()> {
        let _range = nvtx_range(|| self.definition.program().name.to_string());
        let raw = self.check_stream(stream)?;
        check_pool(self, raw)?;
        self.check_taken(taken)?;
        let counted = self.counting.prepare_next(&self.built, &self.definition)?;
        self.counting.write_values(&mut self.built, &self.definition)?;
        if self.operands.exchanged {
            let lengths = self.definition.planned_lengths();
            check_overlap(self.definition.program(), lengths, &self.operands.list)?;
            self.operands.exchanged = false;
        }
        self.check_changes()?;
        if !self.operands.prologues.is_empty() {
            self.check_prologues(raw)?;
        }
        self.before_launch(stream)?;
        for output in taken.iter_mut() {
            output.prepare(stream)?;
        }
        let hidden = self.hidden.clone();
        let shared = hidden.order(self.definition.driver, stream, &self.in_flight.done)?;
        // Locked until the launch is recorded.
        let ledger = self.operands.shared_buffers.ledger();
        let mut generation =
            ledger.as_ref().map(|ledger| ledger.lock_with(self.operands.shared_buffers.buffers()));
        if let Some(generation) = &mut generation {
            self.order_buffers(generation, stream)?;
        }
        let other =
            if self.definition.limits.iter().all(|limits| limits.shares_memory) || generation.is_some() {
                None
            } else {
                Ledger::known()
            };
        let other = other.as_ref().map(|ledger| ledger.lock());
        if generation.as_ref().or(other.as_ref()).is_some_and(|generation| generation.must_be_idle(stream)) {
            return Err(Error::Managed(ManagedFault::OfHost));
        }
        if !self.operands.prologues.is_empty() {
            self.run_prologues(raw)?;
        }
        let driver = self.definition.driver;
        let launch = || {
            launch(driver, self.built.handle.exec, raw).map_err(|failure| self.launch_failure(failure))?;
            Ok(self.in_flight.record(driver, raw))
        };
        let launched = match self.next_note(stream) {
            None => launch(),
            Some(next) => {
                CollectiveOrder::for_contexts(self.definition.all_contexts()).launch(driver, &next, launch)
            }
        };
        let recorded = launched.inspect_err(|_| self.end_prologues(raw))?;

        // From here on the launch is in flight: later uses must be ordered after it, also after a failure.
        self.counting.commit(counted);
        self.in_flight.lost = recorded.is_err();
        if !self.in_flight.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, stream)) {
            self.in_flight.last = Some(stream.clone());
        }
        if !self.in_flight.communicators.is_empty() && !self.in_flight.lost {
            let InFlight { done, communicators, .. } = &self.in_flight;
            let function = &self.definition.program().name;
            watch::record_launch(done, self.definition.all_contexts(), function, communicators);
        }
        if let Some(shared) = shared {
            shared.note(self.definition.driver, !self.in_flight.lost);
        }
        if let Some(generation) = &mut generation {
            self.operands.shared_buffers.note(generation, stream, !self.in_flight.lost);
        }
        drop((generation, other));
        let ordered = self.order_later_uses(stream, raw, taken);
        Ok(recorded.and(ordered)?)
    }

    /// Returns the error of a failed launch or upload, which allocates the memory of alloc nodes.
    fn launch_failure(&self, failure: Failure) -> Error {
        let memories = self.built.plan.operations.memories.iter();
        let bytes = memories.filter(|memory| memory.node).map(|memory| memory.bytes).sum();
        Error::allocation(failure, None, bytes)
    }

    /// Orders all later uses after the launch in flight. Falls back to a wait on the host if the driver calls fail.
    #[inline]
    fn order_later_uses(
        &mut self,
        stream: &Arc<CudaStream>,
        raw: Stream,
        taken: &mut [&mut dyn HandedOutput],
    ) -> Outcome<()> {
        self.operands.launched(self.definition.driver);
        taken.iter_mut().for_each(|output| output.taken_over(&self.in_flight.done));
        self.operands.slots.iter().for_each(|slot| slot.launched(self.id, stream, &self.in_flight.done));
        self.after_launch(raw).or_else(|failure| {
            self.in_flight
                .wait_on_host(self.definition.driver)
                .and_then(|()| if failure.ends_the_context() { Err(failure) } else { Ok(()) })
        })
    }

    /// Returns the handle of an output of the last launch.
    pub(crate) fn output<T: 'static>(&self, index: usize) -> Result<Output<'_, T>> {
        match self.operands.slots.get(index) {
            Some(slot) => {
                let Definition { flat, dims, .. } = &self.definition;
                let program = flat.checked.program();
                let len = program.buffers[program.outputs[index]].len;
                slot.output(self.id, flat.moves.moves(len).then(|| dims[len]), self)
            }
            None => {
                let function = self.definition.program().name.to_string();
                Err(PlanFault::NoOutput { function, index }.into())
            }
        }
    }

    /// Checks that each taken-over argument gets the output for which the graph was built.
    fn check_taken(&self, taken: &[&mut dyn HandedOutput]) -> Result<()> {
        let mut given = taken.iter();
        for (buffer, slot) in self.operands.taken_over() {
            let at = || at_buffer(self.definition.program(), buffer);
            match given.next() {
                Some(output) if Arc::ptr_eq(output.slot(), slot) => {
                    let needed = self.definition.dims[self.definition.program().buffers[buffer].len];
                    let len = output.elements();
                    if len < needed {
                        return Err(Error::WrongOutput {
                            at: at(),
                            reason: OutputFault::Short { len, needed },
                        });
                    }
                }
                Some(_) => return Err(Error::WrongOutput { at: at(), reason: OutputFault::Another }),
                None => return Err(Error::WrongOutput { at: at(), reason: OutputFault::NotGiven }),
            }
        }
        match given.next() {
            None => Ok(()),
            Some(_) => Err(PlanFault::TooManyOutputs(self.definition.program().name.to_string()).into()),
        }
    }

    /// Makes the launch wait for the launches of other execs that use the same buffers.
    fn order_buffers(&mut self, generation: &mut Generation, stream: &Arc<CudaStream>) -> Result<()> {
        let (driver, program) = (self.definition.driver, self.definition.program());
        let ordered = self.operands.shared_buffers.order(driver, generation, stream, &self.in_flight.done);
        ordered.map_err(|hindrance| match hindrance {
            OrderFault::Lent(buffer) => {
                let at = at_buffer(program, BufferId::new(buffer));
                match self.operands.list[buffer].managed_state() {
                    Some(_) => Error::ManagedArgument { at, fault: ManagedFault::Lent },
                    None => Error::BufferLent { at },
                }
            }
            OrderFault::Managed(buffer, fault) => {
                Error::ManagedArgument { at: at_buffer(program, BufferId::new(buffer)), fault }
            }
            OrderFault::Failure(failure) => Error::from(failure),
        })?;
        Ok(())
    }

    /// Checks that pages can be discarded and moved in stream order.
    fn check_prologues(&self, stream: Stream) -> Result<()> {
        match self.operands.prologues.hindered_by(stream) {
            None => Ok(()),
            Some(argument) => Err(Error::ManagedArgument {
                at: at_buffer(self.definition.program(), BufferId::new(argument)),
                fault: ManagedFault::LegacyStream,
            }),
        }
    }

    /// Discards and moves the pages of operands. Must run after everything that the launch waits for.
    fn run_prologues(&self, stream: Stream) -> Result<()> {
        let driver = self.definition.driver;
        // Waits for uses in other contexts may have changed the current context.
        driver.enter(self.definition.context)?;
        self.operands.prologues.run(driver, stream).inspect_err(|_| self.end_prologues(stream))
    }

    /// Waits on the host for discards and moves without a following launch, because no event records them.
    fn end_prologues(&self, stream: Stream) {
        if !self.operands.prologues.is_empty()
            && let Err(failure) = self.definition.driver.synchronize(stream)
        {
            record(&self.definition.ctx, failure);
        }
    }

    /// Makes the launch wait for all earlier conflicting uses.
    fn before_launch(&self, launched: &Arc<CudaStream>) -> Result<()> {
        let (driver, stream) = (self.definition.driver, Stream::from_cudarc(launched));
        for slot in &self.operands.slots {
            if !self.operands.taken_over().any(|(_, other)| Arc::ptr_eq(slot, other)) {
                slot.prepare(self.id, launched)?;
            }
        }
        let views_returned = self.operands.has_returned_views();
        for owner in self
            .operands
            .owners
            .list
            .iter()
            .filter(|owner| (owner.pending || views_returned) && !owner.is(stream))
        {
            let recorded = owner.within(driver, self.definition.context, || {
                if driver.is_capturing(owner.raw)? {
                    return Ok(false);
                }
                driver.record(owner.event.raw(), owner.raw).map(|()| true)
            });
            if !recorded? {
                // A wait for its event would add the launch to that capture.
                return Err(Error::StreamCapturing { function: self.definition.program().name.to_string() });
            }
            driver.wait(stream, owner.event.raw())?;
        }
        if views_returned {
            let key = StreamKey::new(driver, stream);
            for operand in &self.operands.list {
                operand.order_view_uses(driver, stream, Some(&key), operand.exclusive)?;
            }
            driver.enter(self.definition.context)?;
        } else if !self.operands.pinned_pending || self.operands.pinned.is_empty() {
            return Ok(());
        }
        driver.relaxed(|| {
            let exclusive = self.operands.list.iter().filter(|operand| operand.exclusive && views_returned);
            let events = exclusive.flat_map(|operand| [operand.read, operand.write]);
            let pinned = self.operands.pinned.iter().map(|&(event, _)| event);
            let mut events = events.filter(|&event| event != Event::NONE).chain(pinned);
            events.try_for_each(|event| self.wait_for_use(stream, event))
        })
    }

    /// Makes the launch wait for a recorded use by others. Fails for an event that was recorded in a capture,
    /// because a wait for it would add the launch to that capture. Must be called in `Driver::relaxed`.
    fn wait_for_use(&self, stream: Stream, event: Event) -> Result<()> {
        match self.definition.driver.is_over(event) {
            Ok(true) => Ok(()),
            Ok(false) => Ok(self.definition.driver.wait(stream, event)?),
            Err(failure) if failure.is_captured_event() => {
                Err(Error::UsedInCapture { function: self.definition.program().name.to_string() })
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Records an event of another context in that context's owning stream, which already waits for the launch.
    fn record_elsewhere(&self, event: Event, owner: usize) -> Outcome<()> {
        let (driver, owner) = (self.definition.driver, &self.operands.owners.list[owner]);
        owner.within(driver, self.definition.context, || match driver.is_capturing(owner.raw) {
            Ok(false) => driver.record(event, owner.raw),
            _ => Ok(()),
        })
    }

    /// Records the event of pinned memory of another context in a stream of that context, after it waited for
    /// the launch. Must be called in `Driver::relaxed`.
    fn record_pinned(&self, event: Event, side: &SideStream) -> Outcome<()> {
        let driver = self.definition.driver;
        driver.enter(side.context())?;
        let recorded = waits::order(driver, side.raw(), self.in_flight.done.raw())
            .and_then(|()| waits::order_used(driver, side.raw(), event))
            .and_then(|()| driver.record(event, side.raw()));
        driver.enter(self.definition.context)?;
        recorded
    }

    /// Orders later uses of the operands by others after the launch.
    fn after_launch(&self, stream: Stream) -> Outcome<()> {
        let (driver, done) = (self.definition.driver, self.in_flight.done.raw());
        for owner in self.operands.owners.list.iter().filter(|owner| owner.borrowed > 0 && !owner.is(stream))
        {
            owner.within(driver, self.definition.context, || waits::order(driver, owner.raw, done))?;
        }
        // The launch is already ordered after the uses that these events recorded before.
        self.operands.recorded.iter().try_for_each(|&(event, elsewhere)| match elsewhere {
            None => driver.record(event, stream),
            Some(owner) => self.record_elsewhere(event, owner),
        })?;
        if !self.operands.pinned.is_empty() {
            let _alone = PINNED.lock().unwrap_or_else(PoisonError::into_inner);
            driver.relaxed(|| {
                self.operands.pinned.iter().try_for_each(|(event, side)| match side {
                    None => {
                        waits::order_used(driver, stream, *event)?;
                        driver.record(*event, stream)
                    }
                    Some(side) => self.record_pinned(*event, side),
                })
            })?;
        }
        Ok(())
    }
}
