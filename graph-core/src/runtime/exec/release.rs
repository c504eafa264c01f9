//! Giving operands back behind the last launch, and the end of an exec.

use std::sync::atomic::Ordering;

use crate::runtime::bind::{MemoryKind, Operand};
use crate::runtime::cuda::{Event, Outcome, Stream, record};
use crate::runtime::waits;

use super::core::Core;

impl Core {
    /// Orders the later uses of operands that a view can reach behind the last launch.
    pub(crate) fn settle(&self) {
        self.operands.touched.set(true);
        self.operands
            .list
            .iter()
            .filter_map(|operand| operand.output.as_ref())
            .for_each(|slot| slot.note_views());
        waits::enter(self.definition.driver, &self.definition.ctx);
        // Every access to pinned memory waits for its event.
        let reached = |operand: &&Operand| operand.exclusive && operand.owner.is_some();
        self.give_back(self.operands.list.iter().filter(reached));
    }

    /// Orders the later uses of these operands behind the last launch, in the events that cudarc waits for. Returns true if
    /// they are known to be ordered: on the device, or by a wait of the host.
    pub(crate) fn give_back<'o>(&self, operands: impl Iterator<Item = &'o Operand> + Clone) -> bool {
        let Some(last) = &self.in_flight.last else { return true };
        // The exec's own pinned memory is freed by the host as soon as cudarc is told to.
        let pinned = operands.clone().any(|operand| operand.owner.is_none() && !operand.borrowed);
        let uses = operands.filter_map(|operand| Some((operand.owner?, [operand.read, operand.write])));
        let waited = if pinned { self.in_flight.wait_on_host(self.definition.driver) } else { Ok(()) };
        let ordered = waited.and_then(|()| {
            self.definition.driver.relaxed(|| self.give_back_uses(Stream::of(last), uses.clone()))
        });
        let ordered = ordered.or_else(|failure| {
            record(&self.definition.ctx, failure);
            self.wait_for_uses(uses)
        });
        ordered.map_err(|failure| record(&self.definition.ctx, failure)).is_ok()
    }

    fn give_back_uses(&self, last: Stream, uses: impl Iterator<Item = (usize, [Event; 2])>) -> Outcome<()> {
        if self.in_flight.lost {
            self.definition.driver.synchronize_context()?;
        }
        let (driver, done) = (self.definition.driver, self.in_flight.done.raw());
        let mut capturing = vec![None; self.operands.owners.list.len()];
        for (owner, events) in uses {
            let raw = self.operands.owners.list[owner].raw;
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

    /// Waits on the host for the last launch and the uses that events record, where they cannot be ordered on the device.
    fn wait_for_uses(&self, uses: impl Iterator<Item = (usize, [Event; 2])>) -> Outcome<()> {
        let driver = self.definition.driver;
        self.in_flight.wait_on_host(self.definition.driver)?;
        let mut events = uses.flat_map(|(_, events)| events).filter(|&event| event != Event::NONE);
        let waited = events.try_for_each(|event| match driver.synchronize_event(event) {
            Err(failure) if !failure.is_captured_event() => Err(failure),
            _ => Ok(()),
        });
        waits::over(waited.or_else(|_| driver.synchronize_context()))
    }
}

impl Core {
    /// Orders everything that follows behind the last launch. Returns false if neither the device nor the host can wait: then
    /// memory that the launch may use must stay allocated.
    fn order_the_end(&self) -> bool {
        let Some(last) = &self.in_flight.last else { return true };
        let entered = waits::enter(self.definition.driver, &self.definition.ctx);
        // cudarc skips its wait before it frees pinned memory where the context holds an error.
        let pinned = self.operands.pinned_replaced
            || self.operands.list.iter().any(|operand| operand.kind == MemoryKind::Pinned);
        let pinned = !pinned || self.in_flight.wait_on_host(self.definition.driver).is_ok();
        let retired = self.operands.retired.iter().map(|(&event, &owner)| (owner, [event, Event::NONE]));
        let ordered = entered && self.give_back(self.operands.list.iter()) && {
            let ordered =
                self.definition.driver.relaxed(|| self.give_back_uses(Stream::of(last), retired.clone()));
            let ordered = ordered.or_else(|failure| {
                record(&self.definition.ctx, failure);
                self.wait_for_uses(retired)
            });
            ordered.map_err(|failure| record(&self.definition.ctx, failure)).is_ok()
        };
        // A lost launch has been waited for by now, if anything could.
        pinned && (ordered || self.in_flight.wait_on_host(self.definition.driver).is_ok())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let over = self.order_the_end();
        self.leaks.store(!over, Ordering::Relaxed);
        if over {
            self.operands.slots.iter().for_each(|slot| slot.retire(self.id));
        }
        let launch = self.in_flight.last.as_ref().map(|last| (self.in_flight.done.raw(), Stream::of(last)));
        if let Some(mut memory) = self.temporaries.owned.take() {
            if over { memory.release(launch) } else { memory.leak() }
        }
        match (&self.in_flight.last, over) {
            (None, _) => {}
            (Some(_), true) => self.definition.modules.outlive(&self.in_flight.done),
            (Some(_), false) => self.definition.modules.leak(),
        }
        self.nodes.destroy_exec(&self.definition);
        self.nodes.destroy_graph(&self.definition);
    }
}
