//! A model of how the driver assigns addresses to the allocations of a graph.
//!
//! Derived from measurements on an H200 with driver 580.159 (CUDA 13.0): 1,515 graphs of up to 1,150 kernels and memory nodes,
//! the MiniMalloc traces among them. In 1,300 all addresses follow from these rules; in the others all do up to the first free
//! that may join several chains.
//!
//! - An address is assigned when the alloc node is added, by the edges that exist then, in steps of 512 bytes.
//! - Frees make *chains*. A free joins a chain if a path leads from the latest free of the chain to it; else it begins a new
//!   chain. Which one it joins of several is arbitrary.
//! - A freed block is coalesced at once with adjacent free blocks of the same chain. The coalesced block belongs to the later
//!   free: an alloc that depends on the earlier one alone cannot use it any more. Blocks of different chains are not coalesced.
//! - An alloc takes the lower end of a free block that is large enough and from whose free a path leads to it. In a chain that is the
//!   best fit (of equal blocks, the one unchanged for longest); if no path leads from its free, the block of the earliest free
//!   from which one does. Of several chains with such a block it takes an arbitrary one. The remainder stays in its chain.
//! - Otherwise it takes new addresses behind all others, even if the last block is free.
//!
//! The addresses are determined unless a free or an alloc has several chains to choose from.

use super::indices::BufferIndex;
use crate::bits::{Matrix, has};
use crate::index::{Index, Vector, wide};
use crate::reach::Node;

/// The granularity that the driver rounds sizes up to.
pub(super) const STEP: u64 = 512;

/// A node that is added to the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The alloc node of a buffer.
    Alloc(BufferIndex),
    /// A node of the graph.
    Node(Node),
    /// The free node of a buffer.
    Free(BufferIndex),
}

/// The frees from which paths lead to each alloc, and to each free, as bit rows by buffer. A free reaches itself.
pub(super) struct Paths {
    pub to_alloc: Matrix<BufferIndex>,
    pub to_free: Matrix<BufferIndex>,
}

/// A free block of addresses.
#[derive(Clone, Copy)]
struct Hole {
    from: u64,
    to: u64,
    /// The latest free that it was coalesced from.
    freed: BufferIndex,
    /// The step at which that free was added.
    added: usize,
    /// The step of its last change.
    since: usize,
}

impl Hole {
    fn room(&self) -> u64 {
        self.to - self.from
    }
}

struct FreeChain {
    /// The order in which chains are tried: a guess at an arbitrary choice.
    rank: u64,
    tail: BufferIndex,
    /// The free blocks, by address.
    holes: Vec<Hole>,
}

impl FreeChain {
    /// Adds a freed block, coalesced with adjacent ones. `leads` are the frees from which paths lead to this one.
    fn free(&mut self, hole: Hole, leads: &[u64]) {
        let Hole { mut from, mut to, .. } = hole;
        let at = self.holes.partition_point(|hole| hole.from < from);
        let (mut first, mut last) = (at, at);
        if let Some(hole) = self.holes.get(at)
            && hole.from == to
            && has(leads, hole.freed)
        {
            to = hole.to;
            last += 1;
        }
        if let Some(hole) = at.checked_sub(1).map(|below| self.holes[below])
            && hole.to == from
            && has(leads, hole.freed)
        {
            from = hole.from;
            first -= 1;
        }
        self.tail = hole.freed;
        self.holes.splice(first..last, [Hole { from, to, ..hole }]);
    }

    /// Returns the block that an alloc of `size` bytes takes.
    fn fitting(&self, size: u64, leads: &[u64]) -> Option<usize> {
        let fitting = || (0..).zip(&self.holes).filter(|(_, hole)| hole.room() >= size);
        let led = |hole: &Hole| has(leads, hole.freed);
        let (smallest, hole) = fitting().min_by_key(|(_, hole)| (hole.room(), hole.since))?;
        if led(hole) {
            return Some(smallest);
        }
        fitting().filter(|(_, hole)| led(hole)).min_by_key(|(_, hole)| hole.added).map(|(at, _)| at)
    }

    /// Takes `size` bytes from the lower end of a block, and returns their address.
    fn take(&mut self, at: usize, size: u64, now: usize) -> u64 {
        let from = self.holes[at].from;
        self.holes[at].from += size;
        self.holes[at].since = now;
        if self.holes[at].room() == 0 {
            self.holes.remove(at);
        }
        from
    }
}

/// The addresses that the driver is expected to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// The bytes from the first to the last address: the maximum of two guesses if the driver may choose.
    pub bytes: u64,
    /// True if the driver may choose, so that `bytes` may differ.
    pub arbitrary: bool,
    /// The work of the simulation: the number of free blocks examined.
    pub(super) steps: usize,
}

/// Seeds for guesses at arbitrary choices.
const GUESSES: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];

/// Simulates the driver for nodes added in this order. O(buffers × free blocks).
pub(super) fn packing(emission: &[Emit], sizes: &Vector<BufferIndex, u64>, paths: &Paths) -> Packing {
    let first = packed(emission, sizes, paths, GUESSES[0]);
    if !first.arbitrary {
        return first;
    }
    let second = packed(emission, sizes, paths, GUESSES[1]);
    Packing { bytes: first.bytes.max(second.bytes), arbitrary: true, steps: first.steps + second.steps }
}

fn packed(emission: &[Emit], sizes: &Vector<BufferIndex, u64>, paths: &Paths, guess: u64) -> Packing {
    let mut packing = Packing::default();
    let mut addresses: Vector<BufferIndex, u64> = Vector::filled(0, sizes.len());
    let mut chains: Vec<FreeChain> = Vec::new();
    for (now, emit) in emission.iter().enumerate() {
        match *emit {
            Emit::Node(_) => {}
            Emit::Alloc(c) => {
                let (size, leads) = (sizes[c].next_multiple_of(STEP), paths.to_alloc.row(c));
                packing.steps += chains.iter().map(|chain| 1 + chain.holes.len()).sum::<usize>();
                let mut fitting =
                    chains.iter_mut().filter_map(|chain| Some((chain.fitting(size, leads)?, chain)));
                match fitting.next() {
                    Some((at, chain)) => {
                        packing.arbitrary |= fitting.next().is_some();
                        addresses[c] = chain.take(at, size, now);
                    }
                    None => {
                        addresses[c] = packing.bytes;
                        packing.bytes += size;
                    }
                }
            }
            Emit::Free(b) => {
                let from = addresses[b];
                let to = from + sizes[b].next_multiple_of(STEP);
                let (hole, leads) =
                    (Hole { from, to, freed: b, added: now, since: now }, paths.to_free.row(b));
                let mut led = chains.iter_mut().filter(|chain| has(leads, chain.tail));
                if let Some(chain) = led.next() {
                    packing.arbitrary |= led.next().is_some();
                    chain.free(hole, leads);
                } else {
                    let rank = (wide(b.index()) + 1).wrapping_mul(guess);
                    let at = chains.partition_point(|chain| chain.rank < rank);
                    chains.insert(at, FreeChain { rank, tail: b, holes: vec![hole] });
                }
            }
        }
    }
    packing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of allocs and frees that is made one node at a time, each after the frees that lead to it.
    #[derive(Default)]
    struct Graph {
        emission: Vec<Emit>,
        sizes: Vector<BufferIndex, u64>,
        to_alloc: Vector<BufferIndex, u64>,
        to_free: Vector<BufferIndex, u64>,
    }

    impl Graph {
        fn led(&self, after: &[BufferIndex]) -> u64 {
            after.iter().map(|&b| self.to_free[b]).fold(0, |all, one| all | one)
        }

        fn alloc(&mut self, steps: u64, after: &[BufferIndex]) -> BufferIndex {
            self.to_alloc.push(self.led(after));
            self.to_free.push(0);
            let b = self.sizes.push(steps * STEP);
            self.emission.push(Emit::Alloc(b));
            b
        }

        fn free(&mut self, b: BufferIndex, after: &[BufferIndex]) {
            self.to_free[b] = self.to_alloc[b] | self.led(after) | 1 << b.index();
            self.emission.push(Emit::Free(b));
        }

        /// Adds allocs with another one between each two.
        fn apart<const N: usize>(&mut self, sizes: [u64; N]) -> [BufferIndex; N] {
            sizes.map(|steps| {
                let b = self.alloc(steps, &[]);
                self.alloc(1, &[]);
                b
            })
        }

        /// Returns the packed size in steps of addresses, and true if the driver may choose.
        fn packed(self) -> (u64, bool) {
            let [to_alloc, to_free] =
                [self.to_alloc, self.to_free].map(|rows| Matrix::from_words(1, Vec::from(rows)));
            let paths = Paths { to_alloc, to_free };
            let packing = packing(&self.emission, &self.sizes, &paths);
            (packing.bytes / STEP, packing.arbitrary)
        }
    }

    // The expected packings were measured.

    #[test]
    fn what_is_merged_is_freed_by_the_later_free() {
        let neighbours = || {
            let mut graph = Graph::default();
            let [x, y] = [2, 2].map(|steps| graph.alloc(steps, &[]));
            graph.alloc(2, &[]);
            graph.free(x, &[]);
            (graph, x, y)
        };
        let (mut graph, x, y) = neighbours();
        graph.alloc(2, &[x]);
        graph.free(y, &[x]);
        graph.alloc(4, &[y]);
        assert_eq!(graph.packed(), (10, false), "the alloc comes before the later free");
        let (mut graph, x, y) = neighbours();
        graph.free(y, &[x]);
        graph.alloc(2, &[x]);
        graph.alloc(4, &[y]);
        assert_eq!(graph.packed(), (8, false), "the alloc comes behind the later free");
    }

    #[test]
    fn of_different_chains_nothing_is_merged() {
        let mut graph = Graph::default();
        let [x, y] = [2, 2].map(|steps| graph.alloc(steps, &[]));
        graph.alloc(2, &[]);
        graph.free(x, &[]);
        graph.free(y, &[]);
        graph.alloc(4, &[x, y]);
        graph.alloc(2, &[x, y]);
        assert_eq!(graph.packed(), (10, true));
    }

    #[test]
    fn a_free_joins_one_chain() {
        let mut graph = Graph::default();
        let [a, b, c] = [2, 2, 2].map(|steps| graph.alloc(steps, &[]));
        graph.alloc(2, &[]);
        graph.free(a, &[]);
        graph.free(b, &[]);
        graph.free(c, &[a, b]);
        graph.alloc(6, &[c]);
        assert_eq!(graph.packed(), (14, true));
    }

    #[test]
    fn only_the_latest_free_of_a_chain_is_joined() {
        let mut graph = Graph::default();
        let [y, x, z] = [2, 2, 2].map(|steps| graph.alloc(steps, &[]));
        graph.alloc(2, &[]);
        graph.free(x, &[]);
        graph.free(y, &[x]);
        graph.free(z, &[x]);
        graph.alloc(4, &[y, z]);
        graph.alloc(2, &[y, z]);
        assert_eq!(graph.packed(), (8, false));
    }

    #[test]
    fn the_smallest_hole_gives_its_lower_end() {
        let mut graph = Graph::default();
        let holes = graph.apart([5, 3, 4]);
        let mut last = Vec::new();
        for hole in holes {
            graph.free(hole, &last);
            last = vec![hole];
        }
        // The holes have 3, 4 and 5 bytes: 2 leave 1 of the 3, the 4 and the 5 stay whole.
        for steps in [2, 1, 4, 5] {
            graph.alloc(steps, &last);
        }
        assert_eq!(graph.packed(), (15, false));
    }

    #[test]
    fn where_the_smallest_hole_is_out_of_reach_the_earliest_freed_is_taken() {
        let mut graph = Graph::default();
        let holes = graph.apart([6, 5, 3]);
        graph.free(holes[0], &[]);
        graph.free(holes[1], &[holes[0]]);
        graph.free(holes[2], &[holes[1]]);
        graph.alloc(2, &[holes[1]]);
        // The 5 are whole, and the 6 are not.
        graph.alloc(5, &[holes[1]]);
        graph.alloc(6, &[holes[2]]);
        assert_eq!(graph.packed(), (23, false));
    }

    #[test]
    fn what_is_left_merges_again_and_free_bytes_at_the_end_do_not_grow() {
        let mut graph = Graph::default();
        let x = graph.alloc(8, &[]);
        graph.alloc(1, &[]);
        graph.free(x, &[]);
        let a = graph.alloc(2, &[x]);
        graph.free(a, &[x]);
        graph.alloc(6, &[x]);
        graph.alloc(8, &[a]);
        assert_eq!(graph.packed(), (15, false));
        let mut graph = Graph::default();
        let x = graph.alloc(2, &[]);
        graph.free(x, &[]);
        graph.alloc(4, &[x]);
        graph.alloc(2, &[x]);
        assert_eq!(graph.packed(), (6, false));
    }
}
