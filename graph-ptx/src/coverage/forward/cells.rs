//! The cells of a buffer, and the changes of its loads and stores.
//!
//! Input: the accesses of one buffer by all members. An access gets cells if only its own thread writes them. A load
//! becomes moves if accesses of earlier members define all its cells in all its threads; a store is elided if nothing
//! reads its result.

use super::entry::{AccessChange, ChainAccess};
use super::places::{Relation, ThreadAddresses, relation};
use crate::coverage::sites::ThreadAccess;
use std::collections::BTreeMap;

/// The key of a cell: the family of its address, its offset in bytes for the thread with index 0, and its size.
type Key = (u32, i128, u32);

/// The registers for the cells of all buffers.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// The size of each register in bytes.
    pub bytes: Vec<u32>,
}

/// The decisions for one buffer.
pub(super) struct BufferDecision {
    /// The change of each access, if any.
    pub changes: Vec<Option<AccessChange>>,
    /// True if nothing accesses the buffer after the changes.
    pub elided: bool,
}

/// The accesses of a buffer.
struct BufferAccesses<'b, 'm> {
    entries: &'b [&'b ChainAccess<'m>],
    block: [u32; 3],
    loops: &'b dyn Fn(usize) -> bool,
    /// The cells of each access; `None` if registers cannot hold them.
    cells: Vec<Option<Vec<Key>>>,
}

impl Cells {
    /// Decides the accesses of one buffer, in member order.
    pub fn buffer(
        &mut self,
        entries: &[&ChainAccess<'_>],
        block: [u32; 3],
        loops: &dyn Fn(usize) -> bool,
        ends: bool,
    ) -> BufferDecision {
        let mut buffer = BufferAccesses { entries, block, loops, cells: Vec::new() };
        buffer.cells = entries.iter().map(|entry| buffer.cells_of(entry)).collect();
        buffer.settle();
        let moves = buffer.moves();
        let idle = |at: usize| entries[at].is_idle();
        let loads_go = (0..entries.len()).all(|at| entries[at].stores || moves[at] || idle(at));
        let elided = ends && loads_go && entries.iter().all(|entry| !entry.fixed);
        let is_elided: Vec<bool> = (0..entries.len())
            .map(|at| match entries[at].stores {
                true => !entries[at].fixed && (elided || buffer.is_lost(at, &moves)),
                false => moves[at],
            })
            .collect();
        let wanted = buffer.wanted(&moves);
        let mut registers: BTreeMap<Key, u32> = BTreeMap::new();
        let mut register = |key: &Key| {
            *registers.entry(*key).or_insert_with(|| {
                self.bytes.push(key.2);
                (self.bytes.len() - 1) as u32
            })
        };
        let changes = (0..entries.len()).map(|at| {
            let entry = entries[at];
            let keys = buffer.cells[at].as_deref().unwrap_or_default();
            let is_wanted =
                |key: &&Key| moves[at] || wanted.get(key).is_some_and(|last| entry.member <= *last);
            let cells: Vec<Option<u32>> =
                keys.iter().map(|key| Some(key).filter(is_wanted).map(&mut register)).collect();
            let changed = is_elided[at] || cells.iter().any(Option::is_some);
            let ChainAccess { at: first, parameter, stores, .. } = *entry;
            let change = AccessChange { at: first, parameter, stores, stays: !is_elided[at], cells };
            (changed && entry.site.is_some()).then_some(change)
        });
        BufferDecision { changes: changes.collect(), elided }
    }
}

/// Returns true if two accesses of one thread at this distance in bytes share a byte.
fn meets(place: &ThreadAddresses, other: &ChainAccess<'_>, distance: i128) -> bool {
    other.place.is_none_or(|other| distance < place.bytes && distance + other.bytes > 0)
}

impl BufferAccesses<'_, '_> {
    /// Returns the cells of an access, one per element. `None` if something writes them in a way that registers
    /// cannot follow.
    fn cells_of(&self, entry: &ChainAccess<'_>) -> Option<Vec<Key>> {
        if entry.fixed {
            return None;
        }
        let (place, element) = (entry.place?, entry.element?);
        let size = i128::from(element);
        let count = place.bytes / size;
        for other in self.entries.iter().filter(|other| other.stores && !other.is_idle()) {
            match relation(Some(&place), other.place.as_ref(), self.block) {
                Relation::Apart => {}
                Relation::Any => return None,
                Relation::SameThread(distance) => {
                    if !meets(&place, other, distance) {
                        continue;
                    }
                    // The elements of the two accesses must coincide or be disjoint.
                    if other.element != Some(element) || distance % size != 0 {
                        return None;
                    }
                }
            }
        }
        Some((0..count).map(|nth| (place.family, place.constant + nth * size, element)).collect())
    }

    /// Removes the cells of accesses that a store without cells overwrites, to a fixpoint: registers cannot follow
    /// such a store.
    fn settle(&mut self) {
        loop {
            let lost = |at: usize| {
                let place = self.entries[at].place.filter(|_| self.cells[at].is_some());
                let Some(place) = place else { return false };
                self.entries.iter().zip(&self.cells).any(|(other, cells)| {
                    let unfollowed = other.stores && cells.is_none() && !other.is_idle();
                    unfollowed
                        && match relation(Some(&place), other.place.as_ref(), self.block) {
                            Relation::Apart => false,
                            Relation::Any => true,
                            Relation::SameThread(distance) => meets(&place, other, distance),
                        }
                })
            };
            let lost: Vec<usize> = (0..self.entries.len()).filter(|&at| lost(at)).collect();
            if lost.is_empty() {
                return;
            }
            lost.into_iter().for_each(|at| self.cells[at] = None);
        }
    }

    /// Returns the loads that become moves.
    fn moves(&self) -> Vec<bool> {
        let mut moves = vec![false; self.entries.len()];
        let mut held: BTreeMap<Key, Vec<ThreadAccess>> = BTreeMap::new();
        let mut at = 0;
        while at < self.entries.len() {
            let member = self.entries[at].member;
            let end = (at..self.entries.len())
                .find(|&other| self.entries[other].member != member)
                .unwrap_or(self.entries.len());
            for load in (at..end).filter(|&load| !self.entries[load].stores) {
                let Some(keys) = &self.cells[load] else { continue };
                let touched = self.entries[load].touched;
                let holds = |key: &Key| {
                    held.get(key).is_some_and(|sure| touched.iter().all(|one| one.is_within(sure)))
                };
                moves[load] = !touched.is_empty() && keys.iter().all(holds);
            }
            for access in at..end {
                for key in self.cells[access].iter().flatten() {
                    let sure = self.entries[access].touched.iter().filter(|touched| touched.is_definite);
                    let held = held.entry(*key).or_default();
                    for one in sure {
                        if !one.is_within(held) {
                            held.push(one.clone());
                        }
                    }
                }
            }
            at = end;
        }
        moves
    }

    /// Returns the last member that reads each register.
    fn wanted(&self, moves: &[bool]) -> BTreeMap<Key, usize> {
        let mut wanted = BTreeMap::new();
        for (at, keys) in self.cells.iter().enumerate().filter(|(at, _)| moves[*at]) {
            for key in keys.iter().flatten() {
                wanted.insert(*key, self.entries[at].member);
            }
        }
        wanted
    }

    /// Returns true if nothing reads the result of a store before a later store overwrites it.
    fn is_lost(&self, at: usize, moves: &[bool]) -> bool {
        let entry = self.entries[at];
        let Some(place) = &entry.place else { return false };
        let reads = |other: usize| {
            let load = self.entries[other];
            if load.stores || moves[other] || load.is_idle() || load.member < entry.member {
                return false;
            }
            let before = load.member == entry.member && load.at < entry.at && load.site.is_some();
            if before && !(self.loops)(entry.member) {
                return false;
            }
            match relation(Some(place), load.place.as_ref(), self.block) {
                Relation::Apart => false,
                Relation::Any => true,
                Relation::SameThread(distance) => meets(place, load, distance),
            }
        };
        if (0..self.entries.len()).any(reads) {
            return false;
        }
        let overwrites = |other: &&ChainAccess<'_>| {
            other.stores
                && other.member > entry.member
                && other.place.is_some_and(|other| {
                    let first = other.constant <= place.constant;
                    let last = place.constant + place.bytes <= other.constant + other.bytes;
                    other.family == place.family && first && last
                })
        };
        let sure = self.entries.iter().copied().filter(|other| overwrites(other));
        let sure: Vec<ThreadAccess> = sure
            .flat_map(|other| other.touched.iter().filter(|touched| touched.is_definite).cloned())
            .collect();
        !entry.touched.is_empty() && entry.touched.iter().all(|one| one.is_within(&sure))
    }
}
