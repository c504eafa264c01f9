//! The operands and outputs of one graph. Collects what a launch needs, so that a launch need not visit each
//! operand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuweave_core::ids::Device;
use cuweave_core::index::ids;
use cuweave_core::ir::BufferId;

use crate::cuda::{Driver, Event};
use crate::waits::SideStream;

use super::hints::Prologues;
use super::operand::{Operand, Owners};
use super::output::OutputSlot;
use super::shared_buffers::SharedBuffers;

/// The operands and outputs of a graph, and the events that record their uses.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// One operand for each argument buffer, by the buffer's index.
    pub list: Vec<Operand>,
    /// The owning streams of the operands.
    pub owners: Owners,
    /// The events of pinned memory. Each has the stream in which it is recorded, if that is not in the graph's
    /// first context.
    pub pinned: Vec<(Event, Option<Arc<SideStream>>)>,
    /// True if a setter has replaced pinned memory that launches in flight may still use.
    pub pinned_replaced: bool,
    /// True if the next launch must wait for the uses that those events record.
    pub pinned_pending: bool,
    /// The events that are recorded after each launch, besides the exec's own. For other contexts, with the
    /// index of the owning stream to record them in.
    pub recorded: Vec<(Event, Option<usize>)>,
    /// The events of borrowed operands that a setter has replaced, by owner. They are recorded when the exec
    /// ends.
    pub retired: BTreeMap<Event, usize>,
    /// True if the exec has returned views of operands since the last launch.
    pub views_returned: AtomicBool,
    /// True if a setter has replaced a borrowed operand with uses that only a host wait can be ordered after.
    pub uncertain: bool,
    /// The operands that other execs may use between launches.
    pub shared_buffers: SharedBuffers,
    /// True if a setter has bound a shared buffer that overlapped another operand at that time.
    pub exchanged: bool,
    /// One slot for each output. A consumed buffer that is returned has the slot of the graph that made it.
    pub slots: Vec<Arc<OutputSlot>>,
    /// The prefetches and discards that precede each launch.
    pub prologues: Prologues,
    /// The consumed arguments.
    taken_over: Vec<(BufferId, Arc<OutputSlot>)>,
}

impl Operands {
    /// Returns the operands of a new graph.
    pub fn new(list: Vec<Operand>, owners: Owners) -> Operands {
        let mut operands = Operands { owners, pinned_pending: true, ..Operands::default() };
        list.iter().for_each(|operand| operands.count(operand, true));
        operands.list = list;
        operands.rebind(0, operands.list.len());
        operands
    }

    /// Updates what launches need. Must be called after a change of `count` operands, starting at `first`. Returns the
    /// slots of consumed arguments that the new operands replace.
    pub fn rebind(&mut self, first: usize, count: usize) -> Vec<Arc<OutputSlot>> {
        self.shared_buffers.bind(first, &self.list[first..first + count]);
        let has_slot = |operand: &Operand| operand.slot.is_some();
        if self.taken_over.is_empty() && !self.list[first..first + count].iter().any(has_slot) {
            return Vec::new();
        }
        let taken = ids(self.list.len()).zip(&self.list);
        let taken: Vec<(BufferId, Arc<OutputSlot>)> =
            taken.filter_map(|(buffer, operand)| Some((buffer, operand.slot.clone()?))).collect();
        let old = std::mem::replace(&mut self.taken_over, taken);
        let mut replaced = Vec::new();
        for ((_, old), (_, new)) in old.into_iter().zip(&self.taken_over) {
            if !Arc::ptr_eq(&old, new) {
                self.slots
                    .iter_mut()
                    .filter(|slot| Arc::ptr_eq(slot, &old))
                    .for_each(|slot| *slot = new.clone());
                replaced.push(old);
            }
        }
        replaced
    }

    /// Returns true if the exec has returned views of operands since the last launch.
    pub fn has_returned_views(&self) -> bool {
        self.views_returned.load(Ordering::Relaxed)
    }

    /// Returns the consumed arguments.
    pub fn taken_over(&self) -> impl Iterator<Item = (BufferId, &Arc<OutputSlot>)> {
        self.taken_over.iter().map(|(buffer, slot)| (*buffer, slot))
    }

    /// Updates the state after a launch that has waited for all pending uses and recorded its own.
    pub fn launched(&mut self, driver: &Driver) {
        if std::mem::take(self.views_returned.get_mut()) {
            self.list.iter().for_each(|operand| operand.launched(driver));
        }
        self.pinned_pending = false;
        self.owners.list.iter_mut().for_each(|owner| owner.pending = false);
    }

    /// Keeps the events of operands that a setter has replaced. Borrowed operands stay borrowed for the
    /// lifetime in the exec's type, and are released when it is dropped.
    pub fn replaced(&mut self, old: &[Operand]) {
        old.iter().for_each(|operand| self.count(operand, false));
        self.uncertain |= old.iter().any(Operand::is_uncertain);
        for operand in old.iter().filter(|operand| operand.borrowed) {
            if let Some(owner) = operand.owner {
                let events = [operand.read, operand.write].into_iter().filter(|&event| event != Event::NONE);
                self.retired.extend(events.map(|event| (event, owner)));
            }
        }
    }

    /// Updates the collected data for an operand that is added, if `added` is true, or removed.
    pub fn count(&mut self, operand: &Operand, added: bool) {
        if let Some(owner) = operand.owner {
            let owner = &mut self.owners.list[owner];
            owner.pending |= added;
            if operand.borrowed {
                owner.borrowed = if added { owner.borrowed + 1 } else { owner.borrowed.saturating_sub(1) };
            }
            if operand.recorded != Event::NONE {
                let elsewhere = operand.device.filter(|&device| device != Device::FIRST).and(operand.owner);
                match self.recorded.iter().position(|&(event, _)| event == operand.recorded) {
                    _ if added => self.recorded.push((operand.recorded, elsewhere)),
                    Some(at) => drop(self.recorded.swap_remove(at)),
                    None => {}
                }
            }
        } else if operand.read != Event::NONE {
            match self.pinned.iter().position(|&(event, _)| event == operand.read) {
                _ if added => {
                    self.pinned.push((operand.read, operand.side.clone()));
                    self.pinned_pending = true;
                }
                Some(at) => {
                    self.pinned.remove(at);
                    self.pinned_replaced = true;
                }
                None => {}
            }
        }
    }
}
