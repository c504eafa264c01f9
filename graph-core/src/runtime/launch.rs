//! Launching, and the order with everything around a launch.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaStream;

use super::core::Core;
use super::driver::{Event, Failure, RawExec, RawGraph, Stream};
use super::error::{Error, Result};
use super::operand::{MemoryKind, Operand};
use super::output::{Handed, Output};
use super::record;
use super::waits::{self, OwnedMemory};

type Outcome<T> = std::result::Result<T, Failure>;

/// Pinned memory has one event for all its uses: to add one is to wait for the others and to record anew, which
/// no other launch may interrupt.
static PINNED: Mutex<()> = Mutex::new(());

impl Core {
    /// A stream that the graph can be launched into, with the context current.
    fn check_stream(&self, stream: &CudaStream) -> Result<Stream> {
        let function = || self.program.name.to_string();
        if self.broken {
            return Err(Error::Unusable { function: function() });
        }
        if !Arc::ptr_eq(stream.context(), &self.ctx) && **stream.context() != *self.ctx {
            return Err(Error::StreamOfOtherContext { function: function() });
        }
        super::context::enter(self.driver, &self.ctx)?;
        let raw = Stream::of(stream);
        if self.driver.is_capturing(raw)? {
            return Err(Error::StreamCapturing { function: function() });
        }
        Ok(raw)
    }

    /// See [`super::Exec::upload`].
    pub(super) fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        let raw = self.check_stream(stream)?;
        Ok(self.driver.upload(self.exec, raw)?)
    }

    /// Launches into `stream`, and hands over what the graph takes.
    pub(super) fn launch(&mut self, stream: &Arc<CudaStream>, taken: &mut [&mut dyn Handed]) -> Result<()> {
        let raw = self.check_stream(stream)?;
        let pool = self.pool.as_ref().map(|member| member.shared.clone());
        let mut arena = match &pool {
            Some(pool) => Some(self.enter_arena(pool, raw)?),
            None => None,
        };
        self.check_taken(taken)?;
        self.before_launch(raw)?;
        for output in taken.iter_mut() {
            output.prepare(stream)?;
        }
        let hidden = self.hidden.clone();
        let shared = hidden.order(self.driver, stream, &self.done)?;
        self.driver.launch(self.exec, raw)?;

        // From here on the launch is in flight: whatever fails, everything stays behind it.
        let recorded = self.record_done(raw);
        self.lost = recorded.is_err();
        self.last = Some(stream.clone());
        if let Some(shared) = shared {
            shared.note(self.driver, !self.lost);
        }
        if let Some(arena) = &mut arena {
            arena.last = Some(self.done.clone());
        }
        drop(arena);
        self.touched.set(false);
        self.pinned_pending = false;
        self.owners.list.iter_mut().for_each(|owner| owner.pending = false);
        self.owned.iter_mut().for_each(OwnedMemory::launched);
        taken.iter_mut().for_each(|output| output.taken_over(&self.done));
        self.slots.iter().for_each(|slot| slot.launched(self.id, stream, &self.done));
        let ordered = self.after_launch(raw).or_else(|failure| {
            self.wait_on_host().and_then(|()| if failure.ends_the_context() { Err(failure) } else { Ok(()) })
        });
        Ok(recorded.and(ordered)?)
    }

    /// Records the launch in its event; where that fails, waits for it.
    fn record_done(&self, stream: Stream) -> Outcome<()> {
        let driver = self.driver;
        let recorded = driver.record(self.done.raw(), stream).or_else(|_| driver.synchronize(stream));
        recorded.or_else(|_| driver.synchronize_context())
    }

    /// Waits on the host for the last launch.
    fn wait_on_host(&self) -> Outcome<()> {
        match &self.last {
            None => Ok(()),
            Some(_) if self.lost => waits::over(self.driver.synchronize_context()),
            Some(last) => waits::on_host(self.driver, self.done.raw(), Some(Stream::of(last))),
        }
    }

    /// The handle of an output of the last launch.
    pub(super) fn output<T: 'static>(&self, index: usize) -> Result<Output<'_, T>> {
        match self.slots.get(index) {
            Some(slot) => slot.output(),
            None => Err(Error::Plan(format!("`{}` has no output {index}", self.program.name))),
        }
    }

    /// Each taken-over argument gets the output that the graph was built for.
    fn check_taken(&self, taken: &[&mut dyn Handed]) -> Result<()> {
        let mut given = taken.iter();
        for (buffer, slot) in self.taken_over() {
            let at = || super::build::at_buffer(self.program, buffer);
            match given.next() {
                Some(output) if Arc::ptr_eq(output.slot(), slot) => {}
                Some(_) => {
                    let reason = "the output that is handed over is not the one that the graph was built for";
                    return Err(Error::WrongOutput { at: at(), reason });
                }
                None => return Err(Error::WrongOutput { at: at(), reason: "no output is handed over" }),
            }
        }
        match given.next() {
            None => Ok(()),
            Some(_) => {
                Err(Error::Plan(format!("`{}` is handed more outputs than it takes", self.program.name)))
            }
        }
    }

    /// Has the launch wait for what comes before it.
    fn before_launch(&self, stream: Stream) -> Result<()> {
        let driver = self.driver;
        for slot in &self.slots {
            if !self.taken_over().any(|(_, other)| Arc::ptr_eq(slot, other)) {
                slot.prepare(self.id, stream)?;
            }
        }
        self.owned.iter().try_for_each(|memory| memory.order(stream))?;
        let touched = self.touched.get();
        for owner in self.owners.list.iter().filter(|owner| (owner.pending || touched) && owner.raw != stream)
        {
            if driver.is_capturing(owner.raw)? {
                // Its event would draw the launch into that capture.
                return Err(Error::StreamCapturing { function: self.program.name.to_string() });
            }
            driver.record(owner.event.raw(), owner.raw)?;
            driver.wait(stream, owner.event.raw())?;
        }
        if !touched && (!self.pinned_pending || self.pinned.is_empty()) {
            return Ok(());
        }
        driver.relaxed(|| {
            let exclusive = self.operands.iter().filter(|operand| operand.exclusive && touched);
            let events = exclusive.flat_map(|operand| [operand.read, operand.write]);
            let mut events = events.filter(|&event| event != Event::NONE).chain(self.pinned.iter().copied());
            events.try_for_each(|event| self.after_use(stream, event))
        })
    }

    /// Has the launch wait for a use that others have recorded. An event that was recorded in a capture would draw the
    /// launch into it. To be called in [`super::driver::Driver::relaxed`].
    fn after_use(&self, stream: Stream, event: Event) -> Result<()> {
        match self.driver.is_over(event) {
            Ok(true) => Ok(()),
            Ok(false) => Ok(self.driver.wait(stream, event)?),
            Err(failure) if failure.is_captured_event() => {
                Err(Error::UsedInCapture { function: self.program.name.to_string() })
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Has what others do with the operands come after the launch.
    fn after_launch(&self, stream: Stream) -> Outcome<()> {
        let (driver, done) = (self.driver, self.done.raw());
        for owner in self.owners.list.iter().filter(|owner| owner.borrowed > 0 && owner.raw != stream) {
            waits::order(driver, owner.raw, done)?;
        }
        // The launch came after the uses that the events recorded before.
        self.recorded.iter().try_for_each(|&event| driver.record(event, stream))?;
        if !self.pinned.is_empty() {
            let _alone = PINNED.lock().unwrap_or_else(PoisonError::into_inner);
            driver.relaxed(|| {
                self.pinned.iter().try_for_each(|&event| {
                    waits::order_used(driver, stream, event)?;
                    driver.record(event, stream)
                })
            })?;
        }
        Ok(())
    }

    /// Everything that is done next with an operand that a view can reach comes after the last launch.
    pub(super) fn settle(&self) {
        self.touched.set(true);
        waits::enter(self.driver, &self.ctx);
        // Whoever looks at pinned memory waits for its event.
        let reached = |operand: &&Operand| operand.exclusive && operand.owner.is_some();
        self.give_back(self.operands.iter().filter(reached));
    }

    /// Orders what follows on these operands behind the last launch, wherever cudarc is told of it. Returns whether it is
    /// known to be: on the device, or by the host.
    pub(super) fn give_back<'o>(&self, operands: impl Iterator<Item = &'o Operand> + Clone) -> bool {
        let Some(last) = &self.last else { return true };
        // The exec's own pinned memory is freed by the host as soon as cudarc is told to.
        let pinned = operands.clone().any(|operand| operand.owner.is_none() && !operand.borrowed);
        let uses = operands.filter_map(|operand| Some((operand.owner?, [operand.read, operand.write])));
        let waited = if pinned { self.wait_on_host() } else { Ok(()) };
        let ordered =
            waited.and_then(|()| self.driver.relaxed(|| self.give_back_uses(Stream::of(last), uses.clone())));
        let ordered = ordered.or_else(|failure| {
            record(&self.ctx, failure);
            self.wait_for_uses(uses)
        });
        ordered.map_err(|failure| record(&self.ctx, failure)).is_ok()
    }

    fn give_back_uses(&self, last: Stream, uses: impl Iterator<Item = (usize, [Event; 2])>) -> Outcome<()> {
        if self.lost {
            self.driver.synchronize_context()?;
        }
        let (driver, done) = (self.driver, self.done.raw());
        let mut capturing = vec![None; self.owners.list.len()];
        for (owner, events) in uses {
            let raw = self.owners.list[owner].raw;
            let captures = match capturing[owner] {
                Some(known) => known,
                None => {
                    // The legacy default stream does not answer while a stream captures that it waits for.
                    let captures = driver.is_capturing(raw) != Ok(false);
                    if captures {
                        driver.synchronize_event(done)?;
                    } else if raw != last {
                        driver.wait(raw, done)?;
                    }
                    *capturing[owner].insert(captures)
                }
            };
            for event in events.into_iter().filter(|&event| event != Event::NONE) {
                waits::order_used(driver, raw, event)?;
                if !captures {
                    driver.record(event, raw)?;
                }
            }
        }
        Ok(())
    }

    /// What cannot be ordered on the device is waited for on the host: the last launch, and the uses that events record.
    fn wait_for_uses(&self, uses: impl Iterator<Item = (usize, [Event; 2])>) -> Outcome<()> {
        let driver = self.driver;
        self.wait_on_host()?;
        let mut events = uses.flat_map(|(_, events)| events).filter(|&event| event != Event::NONE);
        let waited = events.try_for_each(|event| match driver.synchronize_event(event) {
            Err(failure) if !failure.is_captured_event() => Err(failure),
            _ => Ok(()),
        });
        waits::over(waited.or_else(|_| driver.synchronize_context()))
    }

    /// Counts a new operand, or a replaced one.
    pub(super) fn count(&mut self, operand: &Operand, comes: bool) {
        if let Some(output) = operand.output.as_ref().filter(|_| comes) {
            output.bound_by(&self.done, operand.exclusive);
        }
        if let Some(owner) = operand.owner {
            let owner = &mut self.owners.list[owner];
            owner.pending |= comes;
            if operand.borrowed {
                owner.borrowed = if comes { owner.borrowed + 1 } else { owner.borrowed.saturating_sub(1) };
            }
            if operand.recorded != Event::NONE {
                match self.recorded.iter().position(|&event| event == operand.recorded) {
                    _ if comes => self.recorded.push(operand.recorded),
                    Some(at) => drop(self.recorded.swap_remove(at)),
                    None => {}
                }
            }
        } else if operand.read != Event::NONE {
            match self.pinned.iter().position(|&event| event == operand.read) {
                _ if comes => {
                    self.pinned.push(operand.read);
                    self.pinned_pending = true;
                }
                Some(at) => {
                    self.pinned.remove(at);
                    self.pinned_before = true;
                }
                None => {}
            }
        }
    }
}

impl Core {
    /// Orders everything that follows behind the last launch. Returns whether it is: if neither the device nor the host can
    /// wait, memory that the launch may use has to stay.
    fn order_the_end(&self) -> bool {
        let Some(last) = &self.last else { return true };
        let entered = waits::enter(self.driver, &self.ctx);
        // cudarc skips its wait before it frees pinned memory where the context holds an error.
        let pinned = self.operands.iter().any(|operand| operand.kind == MemoryKind::Pinned);
        let pinned = !(pinned || self.pinned_before) || self.wait_on_host().is_ok();
        let retired = self.retired.iter().map(|(&event, &owner)| (owner, [event, Event::NONE]));
        let ordered = entered && self.give_back(self.operands.iter()) && {
            let ordered = self.driver.relaxed(|| self.give_back_uses(Stream::of(last), retired.clone()));
            let ordered = ordered.or_else(|failure| {
                record(&self.ctx, failure);
                self.wait_for_uses(retired)
            });
            ordered.map_err(|failure| record(&self.ctx, failure)).is_ok()
        };
        // A lost launch has been waited for by now, if anything could.
        pinned && (ordered || self.wait_on_host().is_ok())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let over = self.order_the_end();
        self.leaks.store(!over, Ordering::Relaxed);
        if over {
            self.slots.iter().for_each(|slot| slot.retire(self.id));
        }
        let launch = self.last.as_ref().map(|last| (self.done.raw(), Stream::of(last)));
        if let Some(mut memory) = self.owned.take() {
            if over { memory.release(launch) } else { memory.leak() }
        }
        match (&self.last, over) {
            (None, _) => {}
            (Some(_), true) => self.modules.outlive(&self.done),
            (Some(_), false) => self.modules.leak(),
        }
        let exec = std::mem::replace(&mut self.exec, RawExec::NONE);
        if exec != RawExec::NONE
            && let Err(failure) = self.driver.destroy_exec(exec)
        {
            record(&self.ctx, failure);
        }
        self.destroy_graph();
    }
}

impl Core {
    /// Destroys the graph, if there is one.
    pub(super) fn destroy_graph(&mut self) {
        let graph = std::mem::replace(&mut self.graph, RawGraph::NONE);
        if graph != RawGraph::NONE
            && let Err(failure) = self.driver.destroy_graph(graph)
        {
            record(&self.ctx, failure);
        }
    }
}
