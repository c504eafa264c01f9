//! Which statements are assumed to begin at the same time, and which launches take turns on their device.
//!
//! A statement is assumed to begin when its predecessors on the previous level end; those on earlier levels are
//! assumed to have ended. Two statements are assumed to end at the same time if they begin at the same time and
//! have equal kernel, grid and work (or are fills or copies of equal size, or calls of one library function). This
//! equivalence relation is computed in topological order by value numbering. The statements of one class are on one
//! level.
//!
//! That assumes that nothing depends on which launch comes first, where a device cannot hold all of them. Another
//! device does depend on it: it can work on the first result while the second launch runs. So launches of one kernel
//! that begin at the same time take *turns* if statements of other devices wait for them separately. The launches of
//! a turn are all waited for by the same such statements, or fit on their device together: none waits for another.
//! Launches of different turns end at different times, and what follows them begins at different times. A turn counts
//! as a level, so a launch may begin after a predecessor on an earlier level. With one device there is one turn.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::Blocks;
use super::launch::Launch;
use super::problem::LaunchProblem;
use crate::ids::KernelId;
use crate::index::{Vector, narrow};
use crate::ir::{Device, StatementId};
use crate::reach::Reach;
use crate::scopes::{ScopeId, Scopes};

/// When statements are assumed to begin.
pub(crate) struct Begins {
    /// The class of each statement's begin. Statements of one class are assumed to begin at the same time.
    pub class: Vector<StatementId, u32>,
    /// The turn of each launch among those of its kernel that begin at the same time. 0 for other statements.
    pub turn: Vector<StatementId, u32>,
}

/// The properties that the members of a batch share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaunchClass {
    body: Option<ScopeId>,
    begin: u32,
    turn: u32,
    kernel: KernelId,
    block: [u32; 3],
    shared: u32,
}

/// The value number of a statement's duration.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum DurationKey<'a> {
    Launch { kernel: KernelId, grid: [u32; 3], block: [u32; 3], shared: u32, work: &'a [u64] },
    Other(u32),
    Nothing,
}

impl Begins {
    /// Computes the classes. Without `turns`, each launch is assumed to have its device to itself.
    ///
    /// # Complexity
    ///
    /// O(n log n) in the statements and their edges, and a row of the order for each launch that takes a turn.
    pub fn new(problem: &LaunchProblem<'_>, reach: &Reach, scopes: &Scopes, turns: bool) -> Begins {
        let count = problem.program.statements.len();
        let (mut starts, mut ends) = (ValueNumbering::new(), ValueNumbering::new());
        let mut begins = Begins { class: Vector::filled(0, count), turn: Vector::filled(0, count) };
        let mut over = Vector::filled(0u32, count);
        // The level of each statement if each turn takes one.
        let mut steps = Vector::filled(0u32, count);
        let (levels, before) = (reach.levels(), reach.reduced());
        let turns = turns.then(|| Turns::new(problem, reach, scopes)).flatten();
        let mut by_level: Vec<StatementId> = reach.topological().iter().copied().collect();
        by_level.sort_by_key(|&id| levels[id]);
        for level in by_level.chunk_by(|&a, &b| levels[a] == levels[b]) {
            for &id in level {
                let last = before[id].iter().filter(|&&before| steps[before].saturating_add(1) >= levels[id]);
                begins.class[id] = starts.of(last.map(|&before| over[before]).collect::<BTreeSet<u32>>());
            }
            if let Some(turns) = &turns {
                turns.take(level, &mut begins);
            }
            for &id in level {
                let step = before[id].iter().map(|&before| steps[before].saturating_add(1)).max();
                steps[id] = step.unwrap_or(0).saturating_add(begins.turn[id]);
                over[id] = ends.of((begins.class[id], begins.turn[id], alike(problem, id)));
            }
        }
        begins
    }

    /// Returns what a launch shares with the members of its batch.
    pub(super) fn launch_class(&self, scopes: &Scopes, id: StatementId, launch: &Launch) -> LaunchClass {
        let &Launch { kernel, block, shared, .. } = launch;
        let (begin, turn) = (self.class[id], self.turn[id]);
        LaunchClass { body: scopes.around(id), begin, turn, kernel, block, shared }
    }
}

fn alike<'a>(problem: &LaunchProblem<'a>, statement: StatementId) -> DurationKey<'a> {
    if let Some(launch) = problem.launch(statement) {
        let &Launch { kernel, grid, block, shared, ref work, .. } = launch;
        return DurationKey::Launch { kernel, grid, block, shared, work };
    }
    if problem.program.statements[statement].kind.is_memory() {
        return DurationKey::Nothing;
    }
    DurationKey::Other(problem.duration_classes.get(statement).copied().unwrap_or_default())
}

/// Gives launches their turns.
struct Turns<'d, 'a> {
    problem: &'d LaunchProblem<'a>,
    reach: &'d Reach,
    scopes: &'d Scopes,
    /// The statements of other devices that take time, as bits by position.
    elsewhere: BTreeMap<Device, Vec<u64>>,
}

impl<'d, 'a> Turns<'d, 'a> {
    /// Returns `None` if all statements are on one device.
    fn new(problem: &'d LaunchProblem<'a>, reach: &'d Reach, scopes: &'d Scopes) -> Option<Turns<'d, 'a>> {
        let statements = &problem.program.statements;
        let devices: BTreeSet<Device> = statements.iter().map(|statement| statement.device).collect();
        let elsewhere = |device: Device| {
            let is_waiting =
                |id: &StatementId| statements[*id].device != device && !statements[*id].kind.is_memory();
            reach.row(reach.topological().iter().filter(|id| is_waiting(id)))
        };
        (devices.len() > 1).then(|| Turns {
            problem,
            reach,
            scopes,
            elsewhere: devices.into_iter().map(|device| (device, elsewhere(device))).collect(),
        })
    }

    /// Sets the turns of the launches of one level, whose classes are known.
    fn take(&self, level: &[StatementId], begins: &mut Begins) {
        let mut groups: BTreeMap<LaunchClass, Vec<StatementId>> = BTreeMap::new();
        for &id in level {
            if let Some(launch) = self.problem.launch(id) {
                groups.entry(begins.launch_class(self.scopes, id, launch)).or_default().push(id);
            }
        }
        for mut group in groups.into_values() {
            group.sort_unstable();
            let wave = group.first().and_then(|&id| self.problem.launch(id)).map_or(0, |launch| launch.wave);
            if group.len() < 2 || self.blocks(&group) <= Blocks::from(wave) {
                continue;
            }
            let (mut turn, mut taken) = (0, Blocks::default());
            for set in self.awaited_together(&group) {
                let blocks = self.blocks(&set);
                if taken > Blocks::default() && taken + blocks > Blocks::from(wave) {
                    (turn, taken) = (turn + 1, Blocks::default());
                }
                taken = taken + blocks;
                set.iter().for_each(|&id| begins.turn[id] = turn);
            }
        }
    }

    fn blocks(&self, ids: &[StatementId]) -> Blocks {
        ids.iter().filter_map(|&id| self.problem.launch(id)).map(Launch::blocks).sum()
    }

    /// Splits launches of one device into sets that the same statements of other devices wait for, in the order of
    /// their first launches.
    fn awaited_together(&self, group: &[StatementId]) -> Vec<Vec<StatementId>> {
        let (mut sets, mut known) = (Vec::<Vec<StatementId>>::new(), BTreeMap::<Vec<u64>, usize>::new());
        for &id in group {
            let device = self.problem.program.statements[id].device;
            let mut waiting = self.elsewhere.get(&device).cloned().unwrap_or_default();
            self.reach.descendant_row(id).and_into(&mut waiting);
            let at = *known.entry(waiting).or_insert(sets.len());
            match sets.get_mut(at) {
                Some(set) => set.push(id),
                None => sets.push(vec![id]),
            }
        }
        sets
    }
}

/// Value numbering: equal keys get equal numbers.
struct ValueNumbering<K>(BTreeMap<K, u32>);

impl<K: Ord> ValueNumbering<K> {
    fn new() -> ValueNumbering<K> {
        ValueNumbering(BTreeMap::new())
    }

    fn of(&mut self, thing: K) -> u32 {
        let next = narrow(self.0.len());
        *self.0.entry(thing).or_insert(next)
    }
}
