//! Stage 2b: which launches become one, and what else is ordered so that the device is used well.
//!
//! Works on the order of a checked program and on what is known of each launch once its arguments are: the kernel, the
//! grid, what the device takes. The result is more order, never less, so every later stage (lives, frees, plans,
//! bounds, budgets) works on the order that is launched.
//!
//! Invariants of a [`Decision`]:
//! - the members of a batch are launches of one kernel with one block and one amount of shared memory; no path orders
//!   them, and no edge that is added does;
//! - what comes before one member comes before all, what comes after one comes after all: a batch is one node;
//! - the depth of the order does not grow by batches;
//! - the same input gives the same decision.

pub mod batch;
mod blocks;
pub mod cost;
mod lines;
pub mod overlap;
pub mod width;

use std::collections::BTreeMap;

pub use blocks::Blocks;

use crate::ir::{Launches, Program, StatementId};
use crate::reach::{Cycle, Reach};

/// What is known of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel: equal for launches of one kernel.
    pub kernel: u32,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// The values of the scalars that decide how long the kernel's loops run: launches of one kernel with equal grids and
    /// equal work are taken to last equally long.
    pub work: Vec<u64>,
    /// The blocks of this kernel that the device holds at once.
    pub wave: u32,
    /// Whether a setter may change its grid.
    pub grid_changes: bool,
    /// Whether it can be a member of a batch, and of how large a one.
    pub batch: Batching,
    /// Whether the loaded function begins by waiting for all that comes before it.
    pub waits: bool,
    /// Whether each of its threads goes straight to its end, and soon.
    pub brief: bool,
}

impl Launch {
    /// Its blocks.
    pub fn blocks(&self) -> Blocks {
        Blocks::of(self.grid)
    }

    /// Its threads.
    pub fn threads(&self) -> u64 {
        let extents = self.block.iter().chain(&self.grid).map(|&extent| u64::from(extent));
        extents.fold(1, u64::saturating_mul)
    }
}

/// Whether launches of a kernel can be batched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// Not at all.
    Never,
    /// Up to so many in a launch.
    Most {
        /// Of equal grids, over a further dimension of the grid.
        equal: u32,
        /// Of any grids, blocks one behind the other.
        flat: u32,
    },
}

/// One launch that stands for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The launches, rising.
    pub members: Vec<StatementId>,
    /// Along which dimension of the grid they lie; `None` where blocks lie one behind the other.
    pub axis: Option<u8>,
}

/// The batch of each launch that is a member of one.
pub(crate) fn by_member(batches: &[Batch]) -> BTreeMap<StatementId, &Batch> {
    batches.iter().flat_map(|batch| batch.members.iter().map(move |&id| (id, batch))).collect()
}

/// Which changes are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Launches of one kernel become one.
    pub batches: bool,
    /// Kernels start before those in front of them end.
    pub overlap: bool,
    /// Branches are put in line behind others.
    pub width: bool,
}

impl Allowed {
    /// What an option allows.
    pub fn by(option: Option<Launches>) -> Allowed {
        match option {
            None => Allowed { batches: true, overlap: true, width: true },
            Some(Launches::AsWritten) => Allowed::default(),
            Some(Launches::Batched) => Allowed { batches: true, ..Allowed::default() },
            Some(Launches::Overlapped) => Allowed { overlap: true, ..Allowed::default() },
        }
    }
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Batches, by their first members.
    pub batches: Vec<Batch>,
    /// Order that makes each batch one node, and order between branches: beyond the program's.
    pub edges: Vec<(StatementId, StatementId)>,
    /// How many branches were put in line behind others.
    pub lined_up: usize,
}

impl Decision {
    /// The members of the largest batch; 1 where there is none.
    pub fn largest(&self) -> usize {
        self.batches.iter().map(|batch| batch.members.len()).max().unwrap_or(1)
    }
}

/// The order as far as it is decided.
pub(crate) struct Draft<'a> {
    pub launches: &'a [Option<Launch>],
    pub program: &'a Program,
    /// Members of a batch at most.
    pub most: usize,
    /// The order as given.
    pub reach: Reach,
    /// The other way round.
    pub followers: Vec<Vec<StatementId>>,
}

impl<'a> Draft<'a> {
    fn new(
        program: &'a Program,
        edges: &[(StatementId, StatementId)],
        launches: &'a [Option<Launch>],
        most: usize,
    ) -> Result<Draft<'a>, Cycle> {
        let mut preds = vec![Vec::new(); program.statements.len()];
        for &(before, after) in edges {
            preds[after as usize].push(before);
        }
        let reach = Reach::of(&preds)?;
        let mut followers = vec![Vec::new(); program.statements.len()];
        for (after, before) in reach.reduced().iter().enumerate() {
            before.iter().for_each(|&before| followers[before as usize].push(after as StatementId));
        }
        Ok(Draft { launches, program, most, reach, followers })
    }
}

/// The order with one node for each batch: its first member stands for it.
pub(crate) struct Contracted {
    pub of: Vec<StatementId>,
    pub before: Vec<Vec<StatementId>>,
    pub after: Vec<Vec<StatementId>>,
}

impl Contracted {
    pub fn new(reach: &Reach, batches: &[Batch]) -> Contracted {
        let count = reach.len();
        let mut of: Vec<StatementId> = (0..count as StatementId).collect();
        for batch in batches {
            batch.members.iter().for_each(|&member| of[member as usize] = batch.members[0]);
        }
        let mut nodes = Contracted { of, before: vec![Vec::new(); count], after: vec![Vec::new(); count] };
        for statement in 0..count {
            let to = nodes.of[statement];
            for &before in &reach.reduced()[statement] {
                let from = nodes.of[before as usize];
                nodes.before[to as usize].push(from);
                nodes.after[from as usize].push(to);
            }
        }
        for list in nodes.before.iter_mut().chain(&mut nodes.after) {
            list.sort_unstable();
            list.dedup();
        }
        nodes
    }

    /// The only one before it, if that one has none other after it.
    pub fn previous(&self, node: StatementId) -> Option<StatementId> {
        let &[before] = self.before[node as usize].as_slice() else { return None };
        (self.after[before as usize].len() == 1).then_some(before)
    }
}

/// Decides for a program whose order is `edges`; one entry of `launches` a statement, `None` for what is no launch. A batch
/// has at most `most` members.
///
/// # Errors
///
/// The cycle that the edges close.
///
/// # Complexity
///
/// That of the order itself, and what the added edges make: a batch of m behind p launches adds m times p.
pub fn decide(
    program: &Program,
    edges: &[(StatementId, StatementId)],
    launches: &[Option<Launch>],
    allowed: Allowed,
    most: usize,
) -> Result<Decision, Cycle> {
    if !allowed.batches && !allowed.width {
        return Ok(Decision::default());
    }
    let draft = Draft::new(program, edges, launches, most)?;
    let mut decision = Decision::default();
    if allowed.batches {
        decision.batches = lines::widths(&draft, batch::batches(&draft));
        decision.edges = batch::edges(&draft, &decision.batches);
    }
    if allowed.width {
        width::line_up(&draft, &mut decision);
    }
    Ok(decision)
}

/// Numbers for equal things.
pub(crate) struct Classes<K>(BTreeMap<K, u32>);

impl<K: Ord> Classes<K> {
    pub fn new() -> Classes<K> {
        Classes(BTreeMap::new())
    }

    pub fn of(&mut self, thing: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }
}

#[cfg(test)]
mod tests;
