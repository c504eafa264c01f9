//! The unplaced members of each clique, and the clique's floor.

use super::bounds::OffsetBounds;
use crate::index::{Index, Vector, indices};
use crate::plan::indices::Rank;
use crate::plan::instance::{CliqueIndex, Membership, ProblemTables};

indices! {
    /// Index of a buffer in the list of members of a clique.
    struct Slot;
}

/// The floor of a clique: the lowest offset bound of its unplaced buffers.
#[derive(Clone, Copy, Default)]
pub(super) struct CliqueFloor {
    pub at: u64,
    /// The number of unplaced buffers whose bound is the floor.
    pub alternatives: u32,
    pub best_priority: u32,
    /// True if none of these buffers is deferred.
    pub settled: bool,
    /// True if the floor must be recomputed.
    pub stale: bool,
}

/// The cliques. Invariant: the unplaced members of each come first, and a floor that is not stale belongs to them.
pub(super) struct CliqueTable<'p> {
    cliques_of: &'p Vector<Rank, Vector<Membership, CliqueIndex>>,
    unplaced_bytes: Vector<CliqueIndex, u64>,
    /// The buffers of each clique, each with the index of the clique in the buffer's own list.
    members: Vector<CliqueIndex, Vector<Slot, (Rank, Membership)>>,
    unplaced_count: Vector<CliqueIndex, usize>,
    /// The index of each buffer in the `members` of each of its cliques.
    slots: Vector<Rank, Vector<Membership, Slot>>,
    floors: Vector<CliqueIndex, CliqueFloor>,
}

impl<'p> CliqueTable<'p> {
    pub fn new(instance: &'p ProblemTables<'p>) -> CliqueTable<'p> {
        let problem = instance.problem;
        let count = problem.cliques.len();
        let mut members = Vector::filled(Vector::new(), count);
        let mut slots = Vector::filled(Vector::new(), problem.sizes.len());
        for (b, cliques) in instance.cliques_of.enumerate() {
            for (k, &s) in cliques.enumerate() {
                slots[b].push(members[s].push((b, k)));
            }
        }
        let bytes = |clique: &Vec<Rank>| clique.iter().map(|&b| problem.sizes[b]).sum();
        CliqueTable {
            cliques_of: &instance.cliques_of,
            unplaced_bytes: problem.cliques.iter().map(bytes).collect(),
            unplaced_count: members.iter().map(Vector::len).collect(),
            members,
            slots,
            floors: Vector::filled(CliqueFloor { stale: true, ..CliqueFloor::default() }, count),
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = CliqueIndex> + use<> {
        self.floors.ids()
    }

    /// Returns the number of cliques that contain a buffer.
    #[inline]
    pub fn count_of(&self, b: Rank) -> usize {
        self.cliques_of[b].len()
    }

    #[inline]
    pub fn unplaced_bytes(&self, s: CliqueIndex) -> u64 {
        self.unplaced_bytes[s]
    }

    #[inline]
    pub fn floor(&self, s: CliqueIndex) -> CliqueFloor {
        self.floors[s]
    }

    /// Returns the unplaced members of a clique.
    pub fn unplaced(&self, s: CliqueIndex) -> &[(Rank, Membership)] {
        &self.members[s].as_slice()[..self.unplaced_count[s]]
    }

    /// Recomputes a floor.
    pub fn refresh(&mut self, s: CliqueIndex, bounds: &OffsetBounds, priority: &Vector<Rank, u32>) {
        let members = self.unplaced(s);
        let at = members.iter().map(|&(b, _)| bounds.low(b)).min().unwrap_or(u64::MAX);
        let mut floor =
            CliqueFloor { at, alternatives: 0, best_priority: u32::MAX, settled: true, stale: false };
        for &(b, _) in members {
            if bounds.low(b) == at {
                floor.alternatives += 1;
                floor.best_priority = floor.best_priority.min(priority[b]);
                floor.settled &= !bounds.is_deferred(b);
            }
        }
        self.floors[s] = floor;
    }

    /// Marks the floors at or above `from` that depend on `b` as stale.
    pub fn invalidate_from(&mut self, b: Rank, from: u64) {
        for &s in &self.cliques_of[b] {
            let floor = &mut self.floors[s];
            floor.stale |= floor.at >= from;
        }
    }

    /// Marks the floors that equal the old bound of `b` as stale.
    pub fn invalidate_at(&mut self, b: Rank, bound: u64) {
        for &s in &self.cliques_of[b] {
            let floor = &mut self.floors[s];
            floor.stale |= floor.at == bound;
        }
    }

    /// Makes a buffer at `offset` the first placed member of its cliques.
    pub fn place(&mut self, b: Rank, size: u64, offset: u64) {
        for (k, &s) in self.cliques_of[b].enumerate() {
            self.unplaced_bytes[s] -= size;
            self.floors[s].stale |= self.floors[s].at >= offset;
            self.unplaced_count[s] -= 1;
            let (from, to) = (self.slots[b][k], Slot::new(self.unplaced_count[s]));
            let (other, its) = self.members[s][to];
            self.slots[other][its] = from;
            self.slots[b][k] = to;
            self.members[s].swap(from, to);
        }
    }

    /// Undoes [`place`](Self::place). Buffers must be unplaced in reverse order, so that each is the first placed
    /// member.
    pub fn unplace(&mut self, b: Rank, size: u64) {
        for &s in &self.cliques_of[b] {
            self.unplaced_bytes[s] += size;
            self.unplaced_count[s] += 1;
            self.floors[s].stale = true;
        }
    }
}
