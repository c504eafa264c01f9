//! Launching, and the order with everything around a launch.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaStream;

use super::core::Core;
use super::driver::{Event, Failure, RawExec, RawGraph, Stream};
use super::error::{Error, Result};
use super::operand::{Operand, home};
use super::output::{Handed, Output};

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
        self.driver.launch(self.exec, raw)?;

        // From here on the launch is in flight: whatever fails, everything stays behind it.
        let done = Event::of(&self.done);
        let recorded = self.driver.record(done, raw).or_else(|_| self.driver.synchronize(raw));
        self.last = Some(stream.clone());
        if let Some(arena) = &mut arena {
            arena.last = Some(self.done.clone());
        }
        drop(arena);
        self.touched.set(false);
        self.pinned_pending = false;
        self.owners.list.iter_mut().for_each(|owner| owner.pending = false);
        taken.iter_mut().for_each(|output| output.taken_over(&self.done));
        self.slots.iter().for_each(|slot| slot.launched(self.id, stream));
        let ordered = self.after_launch(raw, done).or_else(|_| self.driver.synchronize(raw));
        Ok(recorded.and(ordered)?)
    }

    /// The handle of an output of the last launch.
    pub(super) fn output<T: 'static>(&self, index: usize) -> Result<Output<'_, T>> {
        match self.slots.get(index) {
            Some(slot) => slot.output(&self.done),
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

    /// What the launch waits for.
    fn before_launch(&self, stream: Stream) -> Result<()> {
        let driver = self.driver;
        for slot in &self.slots {
            if !self.taken_over().any(|(_, other)| Arc::ptr_eq(slot, other)) {
                slot.prepare(self.id, stream)?;
            }
        }
        let touched = self.touched.get();
        for owner in self.owners.list.iter().filter(|owner| (owner.pending || touched) && owner.raw != stream)
        {
            if driver.is_capturing(owner.raw)? {
                // Its event would draw the launch into that capture.
                return Err(Error::StreamCapturing { function: self.program.name.to_string() });
            }
            let event = Event::of(&owner.event);
            driver.record(event, owner.raw)?;
            driver.wait(stream, event)?;
        }
        if touched {
            for operand in self.operands.iter().filter(|operand| operand.exclusive) {
                for event in [operand.read, operand.write] {
                    if event != Event::NONE {
                        driver.wait(stream, event)?;
                    }
                }
            }
        }
        if touched || self.pinned_pending {
            for &event in &self.pinned {
                driver.wait(stream, event)?;
            }
        }
        Ok(())
    }

    /// What waits for the launch.
    fn after_launch(&self, stream: Stream, done: Event) -> std::result::Result<(), Failure> {
        for owner in self.owners.list.iter().filter(|owner| owner.borrowed > 0) {
            if owner.raw == stream {
                continue;
            }
            // A stream that is capturing cannot wait: then the host does.
            match self.driver.is_capturing(owner.raw) {
                Ok(false) => self.driver.wait(owner.raw, done)?,
                _ => self.driver.synchronize_event(done)?,
            }
        }
        if !self.pinned.is_empty() {
            let _alone = PINNED.lock().unwrap_or_else(PoisonError::into_inner);
            for &event in &self.pinned {
                self.driver.wait(stream, event)?;
                self.driver.record(event, stream)?;
            }
        }
        Ok(())
    }

    /// Everything that is done next with an operand that a view can reach comes after the last launch.
    pub(super) fn settle(&self) {
        self.touched.set(true);
        self.give_back(self.operands.iter().filter(|operand| operand.exclusive));
    }

    /// Orders what follows on these operands, wherever cudarc is told of it, behind the last launch.
    pub(super) fn give_back<'o>(&self, operands: impl Iterator<Item = &'o Operand>) {
        let uses = operands.filter_map(|operand| Some((operand.owner?, [operand.read, operand.write])));
        self.give_back_uses(uses);
    }

    fn give_back_uses(&self, uses: impl Iterator<Item = (usize, [Event; 2])>) {
        let Some(last) = &self.last else { return };
        self.ctx.record_err(self.ctx.bind_to_thread());
        if let Err(failure) = self.try_give_back(Stream::of(last), uses) {
            // What cannot be ordered on the device is waited for on the host.
            super::record(&self.ctx, failure);
            if let Err(failure) = self.driver.synchronize_event(Event::of(&self.done)) {
                super::record(&self.ctx, failure);
            }
        }
    }

    fn try_give_back(
        &self,
        last: Stream,
        uses: impl Iterator<Item = (usize, [Event; 2])>,
    ) -> std::result::Result<(), Failure> {
        let driver = self.driver;
        let mut waits = vec![false; self.owners.list.len()];
        for (owner, events) in uses {
            let raw = self.owners.list[owner].raw;
            if !std::mem::replace(&mut waits[owner], true) && (raw != last || raw.is_per_thread()) {
                driver.wait(raw, Event::of(&self.done))?;
            }
            for event in events.into_iter().filter(|&event| event != Event::NONE) {
                driver.wait(raw, event)?;
                driver.record(event, raw)?;
            }
        }
        Ok(())
    }

    /// Counts a new operand, or a replaced one.
    pub(super) fn count(&mut self, operand: &Operand, comes: bool) {
        if let Some(owner) = operand.owner {
            let owner = &mut self.owners.list[owner];
            owner.pending |= comes;
            if operand.borrowed {
                owner.borrowed = if comes { owner.borrowed + 1 } else { owner.borrowed.saturating_sub(1) };
            }
        } else if operand.read != Event::NONE {
            match self.pinned.iter().position(|&event| event == operand.read) {
                _ if comes => {
                    self.pinned.push(operand.read);
                    self.pinned_pending = true;
                }
                Some(at) => {
                    self.pinned.remove(at);
                }
                None => {}
            }
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.ctx.record_err(self.ctx.bind_to_thread());
        self.give_back(self.operands.iter());
        self.give_back_uses(self.retired.iter().map(|(&event, &owner)| (owner, [event, Event::NONE])));
        self.slots.iter().for_each(|slot| slot.retire(self.id));
        if let Some(last) = &self.last {
            if !self.owned.is_empty() && Stream::of(&home(last)) != Stream::LEGACY {
                // Memory of the exec's own is freed on the legacy stream.
                if let Err(failure) = self.driver.wait(Stream::LEGACY, Event::of(&self.done)) {
                    super::record(&self.ctx, failure);
                    self.ctx.record_err(self.done.synchronize());
                }
            }
            self.modules.outlive(&self.done);
        }
        let exec = std::mem::replace(&mut self.exec, RawExec::NONE);
        if exec != RawExec::NONE
            && let Err(failure) = self.driver.destroy_exec(exec)
        {
            super::record(&self.ctx, failure);
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
            super::record(&self.ctx, failure);
        }
    }
}
