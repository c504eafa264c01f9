//! Stage 3: the begins and ends of lives.
//!
//! Invariants of [`Placed`]:
//! - a buffer that nothing uses, and that no other graph handed over, has no life;
//! - `ends` of a buffer are its maximal users and what its `free` is `#[after]`, maximal ones only: the free depends on
//!   exactly these;
//! - `begins` are its minimal users and the statements `#[after]` its alloc, minimal ones only;
//! - `before(b, c)`: every end of `b` strictly precedes every begin of `c`. Only then may `c` lie where `b` lay.

use crate::index::Vector;
use crate::ir::{BufferId, Lifetime, Origin, Program, StatementId};
use crate::reach::{Cycle, Reach};

/// A program with the lives of its buffers.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The order on the statements that are not memory statements (the others are isolated in it).
    pub reach: Reach,
    /// One entry a buffer of the program.
    pub lives: Vector<BufferId, Option<Life>>,
}

/// The life of a buffer that the graph allocates or frees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// True if this graph allocates it.
    pub allocated: bool,
    /// True if this graph frees it.
    pub freed: bool,
    /// All statements that access it, in ascending order.
    pub users: Vec<StatementId>,
    /// The minimal users: the ones that need an edge from the alloc.
    pub first: Vec<StatementId>,
    /// The statements that the user puts before the alloc.
    pub alloc_after: Vec<StatementId>,
    /// The statements that must come after the end of another buffer for this one to take its bytes.
    pub begins: Vec<StatementId>,
    /// The dependencies of the free.
    pub ends: Vec<StatementId>,
}

impl Placed {
    /// Returns true if `b` is over before `c` begins, in every schedule of the order. A taken-over buffer donates no bytes.
    pub fn before(&self, b: BufferId, c: BufferId) -> bool {
        let (Some(b), Some(c)) = (&self.lives[b], &self.lives[c]) else { return false };
        b.allocated
            && b.freed
            && b.ends.iter().all(|&end| c.begins.iter().all(|&begin| self.reach.precedes(end, begin)))
    }
}

/// Finds the lives under `edges`: the program's own, and any that were added since.
///
/// # Errors
///
/// The cycle that added edges close.
pub fn place(program: &Program, edges: &[(StatementId, StatementId)]) -> Result<Placed, Cycle> {
    let mut preds = Vector::filled(Vec::new(), program.statements.len());
    for &(from, to) in edges {
        preds[to].push(from);
    }
    let reach = Reach::of(&preds)?;
    let buffers = program.buffers.len();
    let mut users: Vector<BufferId, Vec<StatementId>> = Vector::filled(Vec::new(), buffers);
    let mut alloc_after: Vector<BufferId, &[StatementId]> = Vector::filled(&[], buffers);
    let mut free_after: Vector<BufferId, &[StatementId]> = Vector::filled(&[], buffers);
    let mut after_alloc: Vector<BufferId, Vec<StatementId>> = Vector::filled(Vec::new(), buffers);
    for (id, statement) in program.statements.enumerate() {
        match statement.kind.lifetime() {
            Some(Lifetime::Begins(&buffer)) => alloc_after[buffer] = &statement.after,
            Some(Lifetime::Ends(&buffer)) => free_after[buffer] = &statement.after,
            None => {
                for &named in statement.after.iter() {
                    let named = program.statements[named].kind.lifetime();
                    if let Some(Lifetime::Begins(&buffer)) = named {
                        after_alloc[buffer].push(id);
                    }
                }
            }
        }
        for access in statement.accesses.iter() {
            let list = &mut users[access.buffer];
            if list.last() != Some(&id) {
                list.push(id);
            }
        }
    }
    let lives = program
        .buffers
        .enumerate()
        .map(|(buffer, declared)| {
            let users = std::mem::take(&mut users[buffer]);
            let allocated = matches!(declared.origin, Origin::Alloc(_));
            let taken = declared.origin == Origin::Taken;
            if !taken && (!allocated || users.is_empty()) {
                return None;
            }
            let first = reach.minimal(&users);
            let begins = reach.minimal(&[first.as_slice(), &after_alloc[buffer]].concat());
            let ends = reach.maximal(&[users.as_slice(), free_after[buffer]].concat());
            Some(Life {
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
    Ok(Placed { reach, lives })
}
