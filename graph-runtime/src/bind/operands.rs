//! The operands and outputs of one graph.

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
use super::output::Slot;
use super::sharing::Sharing;

/// The operands and outputs of a graph, and the events that record their uses.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// One operand for each argument buffer: operand i stands for buffer i.
    pub list: Vec<Operand>,
    /// The owning streams of the operands.
    pub owners: Owners,
    /// The events of pinned memory, with the streams in which they are recorded if these are not of the graph's first context.
    pub pinned: Vec<(Event, Option<Arc<SideStream>>)>,
    /// True if a setter has replaced pinned memory, which launches in flight may still use.
    pub pinned_replaced: bool,
    /// True if the next launch waits for the uses that those events record.
    pub pinned_pending: bool,
    /// The events in which each launch is recorded, besides its own; those of other contexts than the launch's in this owning stream.
    pub recorded: Vec<(Event, Option<usize>)>,
    /// Events of borrowed operands that a setter has replaced, to be recorded at the end, with their owners.
    pub retired: BTreeMap<Event, usize>,
    /// True if views of operands were handed out since the last launch.
    pub touched: AtomicBool,
    /// True if a setter has replaced a borrowed operand whose uses through views only a wait of the host comes after.
    pub uncertain: bool,
    /// The operands that other execs may use between the launches.
    pub sharing: Sharing,
    /// True if a setter has bound a shared buffer that overlapped another operand at that time.
    pub exchanged: bool,
    /// One slot for each output; that of a taken-over buffer is its maker's.
    pub slots: Vec<Arc<Slot>>,
    /// The prefetches and discards of operands, which launches make before the graph.
    pub prologues: Prologues,
    /// The taken-over arguments, so that a launch does not look at each operand.
    taken_over: Vec<(BufferId, Arc<Slot>)>,
}

impl Operands {
    /// Returns the bound operands.
    pub fn new(list: Vec<Operand>, owners: Owners) -> Operands {
        let mut operands = Operands { owners, pinned_pending: true, ..Operands::default() };
        list.iter().for_each(|operand| operands.count(operand, true));
        operands.list = list;
        operands.rebind(0, operands.list.len());
        operands
    }

    /// Collects again what launches look at. Must be called after a change of `count` operands from `first` on.
    pub fn rebind(&mut self, first: usize, count: usize) {
        self.sharing.bind(first, &self.list[first..first + count]);
        let has_slot = |operand: &Operand| operand.slot.is_some();
        if self.taken_over.is_empty() && !self.list[first..first + count].iter().any(has_slot) {
            return;
        }
        let taken = ids(self.list.len()).zip(&self.list);
        self.taken_over =
            taken.filter_map(|(buffer, operand)| Some((buffer, operand.slot.clone()?))).collect();
    }

    /// Returns true if views of operands were handed out since the last launch.
    pub fn is_touched(&self) -> bool {
        self.touched.load(Ordering::Relaxed)
    }

    /// Returns the taken-over arguments.
    pub fn taken_over(&self) -> impl Iterator<Item = (BufferId, &Arc<Slot>)> {
        self.taken_over.iter().map(|(buffer, slot)| (*buffer, slot))
    }

    /// Records a launch that waited for all pending uses and recorded its own.
    pub fn launched(&mut self, driver: &Driver) {
        if std::mem::take(self.touched.get_mut()) {
            self.list.iter().for_each(|operand| operand.launched(driver));
        }
        self.pinned_pending = false;
        self.owners.list.iter_mut().for_each(|owner| owner.pending = false);
    }

    /// Keeps operands that a setter has replaced. Borrowed ones stay borrowed for the lifetime in the type of the exec, and are released at
    /// its drop.
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

    /// Counts a new operand, or a replaced one.
    pub fn count(&mut self, operand: &Operand, comes: bool) {
        if let Some(owner) = operand.owner {
            let owner = &mut self.owners.list[owner];
            owner.pending |= comes;
            if operand.borrowed {
                owner.borrowed = if comes { owner.borrowed + 1 } else { owner.borrowed.saturating_sub(1) };
            }
            if operand.recorded != Event::NONE {
                let elsewhere = operand.device.filter(|&device| device != Device::FIRST).and(operand.owner);
                match self.recorded.iter().position(|&(event, _)| event == operand.recorded) {
                    _ if comes => self.recorded.push((operand.recorded, elsewhere)),
                    Some(at) => drop(self.recorded.swap_remove(at)),
                    None => {}
                }
            }
        } else if operand.read != Event::NONE {
            match self.pinned.iter().position(|&(event, _)| event == operand.read) {
                _ if comes => {
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
