//! Computes the live range of each buffer, from the order of the statements. Stage 3 of the compiler.
//!
//! Invariants of [`Liveness`]:
//! - an allocated buffer without users has no live range;
//! - `ends` of a buffer are the maximal elements of its users and of the statements that its `free` is `#[after]`:
//!   exactly the dependencies of the free;
//! - `begins` are the minimal elements of its users and of the statements that are `#[after]` its alloc;
//! - `before(b, c)` holds if every end of `b` strictly precedes every begin of `c`. Only then may `c` reuse bytes
//!   of `b`.

use crate::index::Vector;
use crate::ir::{BufferId, Lifetime, Origin, Program, StatementId};
use crate::reach::{Cycle, Reach};
use crate::scopes::Scopes;

/// The live ranges of the buffers of a program.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The order of the statements. Memory statements are isolated nodes in it.
    pub reach: Reach,
    /// The live range of each buffer. `None` if the graph neither allocates nor frees it.
    pub live_ranges: Vector<BufferId, Option<LiveRange>>,
}

/// The live range of a buffer that the graph allocates or frees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// True if the graph allocates it.
    pub allocated: bool,
    /// True if the graph frees it.
    pub freed: bool,
    /// All statements that access it, ascending.
    pub users: Vec<StatementId>,
    /// The minimal users: those that need an edge from the alloc.
    pub first: Vec<StatementId>,
    /// The statements that the alloc is `#[after]`, without those that another of them follows.
    pub alloc_after: Vec<StatementId>,
    /// The minimal statements after the alloc. For this buffer to reuse bytes of another one, all ends of that one
    /// must precede them.
    pub begins: Vec<StatementId>,
    /// The dependencies of the free.
    pub ends: Vec<StatementId>,
}

impl Liveness {
    /// Returns true if the live range of `b` ends before the live range of `c` begins, in every schedule of the
    /// order. Bytes of taken-over buffers are not reused.
    pub fn before(&self, b: BufferId, c: BufferId) -> bool {
        let (Some(b), Some(c)) = (&self.live_ranges[b], &self.live_ranges[c]) else { return false };
        b.allocated
            && b.freed
            && b.ends.iter().all(|&end| c.begins.iter().all(|&begin| self.reach.precedes(end, begin)))
    }
}

impl Liveness {
    /// Extends each live range that begins or ends in a conditional body to the whole outermost conditional. Memory
    /// nodes are not allowed in bodies.
    pub fn hoist(&mut self, scopes: &Scopes) {
        if scopes.is_empty() {
            return;
        }
        let reach = &self.reach;
        for range in self.live_ranges.iter_mut().flatten() {
            let around = |&id: &StatementId| match scopes.outermost(id) {
                Some((condition, join)) => vec![condition, id, join],
                None => vec![id],
            };
            let all = |list: &[StatementId]| -> Vec<StatementId> { list.iter().flat_map(around).collect() };
            range.users = all(&range.users);
            range.users.sort_unstable();
            range.users.dedup();
            range.first = reach.minimal(&range.users);
            range.begins = reach.minimal(&all(&range.begins));
            range.ends = reach.maximal(&all(&range.ends));
        }
    }
}

/// Computes the live ranges under `edges`: the edges of the program and added ones.
///
/// # Errors
///
/// A cycle that the added edges close.
pub fn place(program: &Program, edges: &[(StatementId, StatementId)]) -> Result<Liveness, Cycle> {
    let mut preds = Vector::filled(Vec::new(), program.statements.len());
    for &(from, to) in edges {
        preds[to].push(from);
    }
    let reach = Reach::new(&preds)?;
    let LiveRangeInputs { mut users, alloc_after, free_after, after_alloc } = LiveRangeInputs::new(program);
    let live_ranges = program
        .buffers
        .enumerate()
        .map(|(buffer, declared)| {
            let users = std::mem::take(&mut users[buffer]);
            let allocated = matches!(declared.origin, Origin::Alloc(_)) && !declared.is_condition();
            let taken = declared.origin == Origin::Taken;
            if !taken && (!allocated || users.is_empty()) {
                return None;
            }
            let first = reach.minimal(&users);
            let begins = match after_alloc[buffer][..] {
                [] => first.clone(),
                ref more => reach.minimal(&[first.as_slice(), more].concat()),
            };
            let ends = match free_after[buffer] {
                [] => reach.maximal(&users),
                more => reach.maximal(&[users.as_slice(), more].concat()),
            };
            Some(LiveRange {
                allocated,
                freed: !program.outputs.contains(&buffer),
                first,
                alloc_after: reach.maximal(alloc_after[buffer]),
                begins,
                ends,
                users,
            })
        })
        .collect();
    Ok(Liveness { reach, live_ranges })
}

/// The statements that determine live ranges.
struct LiveRangeInputs<'p> {
    /// The users of each buffer, ascending.
    users: Vector<BufferId, Vec<StatementId>>,
    /// The statements that each alloc is `#[after]`.
    alloc_after: Vector<BufferId, &'p [StatementId]>,
    /// The statements that each free is `#[after]`.
    free_after: Vector<BufferId, &'p [StatementId]>,
    /// The statements that are `#[after]` each alloc.
    after_alloc: Vector<BufferId, Vec<StatementId>>,
}

impl<'p> LiveRangeInputs<'p> {
    fn new(program: &'p Program) -> LiveRangeInputs<'p> {
        let buffers = program.buffers.len();
        let mut uses = LiveRangeInputs {
            users: Vector::filled(Vec::new(), buffers),
            alloc_after: Vector::filled(&[], buffers),
            free_after: Vector::filled(&[], buffers),
            after_alloc: Vector::filled(Vec::new(), buffers),
        };
        for (id, statement) in program.statements.enumerate() {
            match statement.kind.lifetime() {
                Some(Lifetime::Begins(&buffer)) => uses.alloc_after[buffer] = &statement.after,
                Some(Lifetime::Ends(&buffer)) => uses.free_after[buffer] = &statement.after,
                None => {
                    for &named in statement.after.iter() {
                        let named = program.statements[named].kind.lifetime();
                        if let Some(Lifetime::Begins(&buffer)) = named {
                            uses.after_alloc[buffer].push(id);
                        }
                    }
                }
            }
            for access in statement.accesses.iter() {
                let list = &mut uses.users[access.buffer];
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
        uses
    }
}
