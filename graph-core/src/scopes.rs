//! Conditional bodies of a flat program, and the order across their borders.
//!
//! No edge of a CUDA graph may cross the border of a body. The accesses of a body to outside buffers are therefore
//! *lifted* to the condition and the join that enclose it. Edges are lifted too: the predecessors and successors of
//! a statement in a body become those of the body. After transitive reduction, only edges of the condition and the
//! join cross the border.
//!
//! The arms of one `if` or `match` may be bodies of one node. So the first condition and the last join have the
//! accesses of all arms, and the predecessors and successors of one arm are those of all arms.

use std::collections::{BTreeMap, BTreeSet};

use crate::condition::{Condition, ConditionKeyword};
use crate::index::{Index, Vector, indices};
use crate::ir::{Access, BufferId, DimId, Mode, Origin, Program, StatementId, StatementKind};

indices! {
    /// Index of a conditional body.
    pub struct ScopeId;
}

/// A conditional body.
#[derive(Clone, Debug)]
pub struct ConditionalBody {
    /// The condition before it.
    pub condition: StatementId,
    /// The join after it.
    pub join: StatementId,
    /// The enclosing body.
    pub parent: Option<ScopeId>,
    /// The first arm of its `if` or `match`, perhaps itself.
    pub first: ScopeId,
    /// The last arm of its `if` or `match`, perhaps itself.
    pub last: ScopeId,
    /// The description stored in both the condition and the join.
    pub body: Condition,
}

/// The conditional bodies of a program.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    /// The bodies, in the order of their conditions.
    pub list: Vector<ScopeId, ConditionalBody>,
    /// The innermost body around each statement. A condition or join belongs to the enclosing body. Empty without
    /// bodies.
    of: Vector<StatementId, Option<ScopeId>>,
    /// The body that each condition begins and each join ends.
    borders: BTreeMap<StatementId, ScopeId>,
}

impl Scopes {
    /// Finds the bodies of a program. O(statements).
    pub fn new(program: &Program) -> Scopes {
        let mut scopes = Scopes::default();
        if !program.statements.iter().any(|statement| statement.kind.is_body_border()) {
            return scopes;
        }
        let mut open: Option<ScopeId> = None;
        let mut closed: Option<ScopeId> = None;
        for (id, statement) in program.statements.enumerate() {
            if matches!(statement.kind, StatementKind::Join(_))
                && let Some(scope) = open
            {
                scopes.list[scope].join = id;
                scopes.borders.insert(id, scope);
                open = scopes.list[scope].parent;
                closed = Some(scope);
            }
            scopes.of.push(open);
            if let StatementKind::Condition(body) = statement.kind {
                let own = ScopeId::new(scopes.list.len());
                let first = match closed {
                    Some(before) if body.arm > 0 => scopes.list[before].first,
                    _ => own,
                };
                scopes.list.push(ConditionalBody {
                    condition: id,
                    join: id,
                    parent: open,
                    first,
                    last: own,
                    body,
                });
                scopes.borders.insert(id, own);
                open = Some(own);
            }
        }
        let mut last: BTreeMap<ScopeId, ScopeId> = BTreeMap::new();
        for (id, scope) in scopes.list.enumerate_mut().rev() {
            scope.last = *last.entry(scope.first).or_insert(id);
        }
        scopes
    }

    /// Returns the name of a body: `if flag`, `else of if flag`, `while flag`, `match which: 0 | 1`, `match which: _`.
    pub fn name(&self, program: &Program, scope: ScopeId) -> String {
        let (first, own) = (&self.list[self.list[scope].first], &self.list[scope].body);
        let operand = program.statements[first.condition].accesses.first();
        let operand = operand.map_or("", |operand| &program.buffers[operand.buffer].name);
        let test = || if first.body.test.others { format!("if {operand}") } else { format!("if !{operand}") };
        match own.word {
            ConditionKeyword::While => format!("while {operand}"),
            ConditionKeyword::If if own.arm == 0 => test(),
            ConditionKeyword::If => format!("else of {}", test()),
            ConditionKeyword::Match => format!("match {operand}: {}", own.test),
        }
    }

    /// Returns true if the program has no bodies.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the innermost body that contains a statement.
    pub fn around(&self, statement: StatementId) -> Option<ScopeId> {
        self.of.get(statement).copied().flatten()
    }

    /// Returns the bodies that contain a statement, innermost first.
    pub fn all_around(&self, statement: StatementId) -> impl Iterator<Item = ScopeId> + '_ {
        std::iter::successors(self.around(statement), |&scope| self.list[scope].parent)
    }

    /// Returns the first condition and the last join of the outermost conditional statement around a statement.
    pub fn outermost(&self, statement: StatementId) -> Option<(StatementId, StatementId)> {
        let outermost = &self.list[self.all_around(statement).last().or_else(|| self.bordered(statement))?];
        Some((self.list[outermost.first].condition, self.list[outermost.last].join))
    }

    /// Returns the arms of a conditional statement, given its first arm.
    pub fn arms(&self, first: ScopeId) -> impl Iterator<Item = &ConditionalBody> {
        self.list.iter().filter(move |scope| scope.first == first)
    }

    /// Returns the body that a condition begins or a join ends.
    pub fn bordered(&self, statement: StatementId) -> Option<ScopeId> {
        self.borders.get(&statement).copied()
    }

    /// Returns the first arm of the innermost conditional statement that a statement runs within. The first
    /// condition runs before its conditional statement; the last join runs within it.
    pub fn runs_within(&self, statement: StatementId) -> Option<ScopeId> {
        let own = self.bordered(statement).map(|own| self.list[own].first);
        let around = || self.around(statement).map(|around| self.list[around].first);
        own.filter(|_| self.begun_by(statement).is_none()).or_else(around)
    }

    /// Returns the first arm of the conditional statement that a statement begins.
    pub fn begun_by(&self, statement: StatementId) -> Option<ScopeId> {
        let own = self.bordered(statement)?;
        (self.list[self.list[own].first].condition == statement).then(|| self.list[own].first)
    }

    /// Returns the first arm of the conditional statement that a statement ends.
    pub fn ended_by(&self, statement: StatementId) -> Option<ScopeId> {
        let own = self.bordered(statement)?;
        (self.list[self.list[own].last].join == statement).then(|| self.list[own].first)
    }

    /// Returns true for a memory statement in a body. It has no successors, while the join follows all other
    /// statements there.
    pub fn is_memory(&self, statement: StatementId, is_followed: bool) -> bool {
        !is_followed && self.around(statement).is_some() && self.bordered(statement).is_none()
    }

    /// Lifts an edge to the innermost body that contains both of its statements. A lifted edge ends at the first
    /// condition of an `if` or `match`, and starts at its last join.
    pub fn lifted(&self, from: StatementId, to: StatementId) -> (StatementId, StatementId) {
        if self.is_empty() {
            return (from, to);
        }
        let (before, behind): (Vec<ScopeId>, Vec<ScopeId>) =
            (self.all_around(from).collect(), self.all_around(to).collect());
        let common =
            before.iter().rev().zip(behind.iter().rev()).take_while(|(one, other)| one == other).count();
        let outer = |list: &[ScopeId]| (list.len() > common).then(|| list[list.len() - 1 - common]);
        let (left, entered) = (outer(&before), outer(&behind));
        let all_arms = |inside: Option<ScopeId>, statement: StatementId| {
            Some(&self.list[inside.or_else(|| self.bordered(statement))?])
        };
        let lifted = match (all_arms(left, from), all_arms(entered, to)) {
            (Some(one), Some(other)) if one.first == other.first => (
                left.map_or(from, |scope| self.list[scope].join),
                entered.map_or(to, |scope| self.list[scope].condition),
            ),
            (one, other) => (
                one.map_or(from, |scope| self.list[scope.last].join),
                other.map_or(to, |scope| self.list[scope.first].condition),
            ),
        };
        // An edge between the border of a body and a statement inside is not lifted.
        if lifted.0 == lifted.1 { (from, to) } else { lifted }
    }
}

/// Accesses of bodies, without duplicates.
#[derive(Default)]
struct Lifted {
    list: Vec<Access>,
    known: BTreeSet<(BufferId, DimId, DimId, bool, bool)>,
}

impl Lifted {
    fn add(&mut self, access: Access) {
        let Access { buffer, lo, hi, mode, .. } = access;
        if self.known.insert((buffer, lo, hi, mode.writes(), mode == Mode::Atomic)) {
            self.list.push(access);
        }
    }
}

/// Appends the lifted accesses to a condition and a join.
fn set_lifted(program: &mut Program, around: [StatementId; 2], lifted: &[Access]) {
    for id in around {
        let statement = &mut program.statements[id];
        let own = statement.kind.own_accesses(&statement.accesses);
        statement.accesses = [own, lifted].concat().into();
    }
}

/// Lifts the accesses and the `#[after]` edges of bodies, and orders each body between its condition and its join.
/// Idempotent. O(accesses in bodies × nesting depth).
pub fn lift(program: &mut Program, scopes: &Scopes) {
    if scopes.is_empty() {
        return;
    }
    let mut of_arms: BTreeMap<ScopeId, Lifted> = BTreeMap::new();
    // Inner bodies first, since their conditions and joins are in outer bodies.
    for (own, scope) in scopes.list.enumerate().rev() {
        let inside: Vec<StatementId> =
            (scope.condition.index() + 1..scope.join.index()).map(StatementId::new).collect();
        let lifted = accesses_from_outside(program, scope, &inside);
        set_lifted(program, [scope.condition, scope.join], &lifted.list);
        if scope.body.arms > 1 {
            let all = of_arms.entry(scope.first).or_default();
            lifted.list.into_iter().for_each(|access| all.add(access));
            if own == scope.first {
                set_lifted(program, [scope.condition, scopes.list[scope.last].join], &all.list);
            }
        }
        enclose(program, scope, inside);
        // The kernels before the first arm set the values of all arms.
        if scope.body.arm > 0 {
            let before = scopes
                .list
                .iter()
                .find(|other| other.first == scope.first && other.body.arm + 1 == scope.body.arm);
            if let Some(before) = before {
                follow(program, before.join, scope.condition);
            }
        }
    }
    let afters: Vec<(StatementId, StatementId)> = program
        .statements
        .enumerate()
        .flat_map(|(to, statement)| statement.after.iter().map(move |&from| (from, to)))
        .collect();
    for (before, after) in afters {
        let (from, to) = scopes.lifted(before, after);
        if (from, to) != (before, after) {
            follow(program, from, to);
        }
    }
}

/// Returns the accesses inside a body to buffers from outside, without duplicates. A write becomes a read-write:
/// since the body may not run, old elements may remain. A pitched access becomes one to its whole range.
fn accesses_from_outside(program: &Program, scope: &ConditionalBody, inside: &[StatementId]) -> Lifted {
    let born = |buffer: BufferId| match program.buffers[buffer].origin {
        Origin::Alloc(at) => scope.condition < at && at < scope.join,
        _ => false,
    };
    let mut lifted = Lifted::default();
    for &id in inside {
        let statement = &program.statements[id];
        // The accesses of an inner body are visited with its statements.
        for access in statement.kind.own_accesses(&statement.accesses) {
            let mode = if access.mode == Mode::Write { Mode::ReadWrite } else { access.mode };
            if !born(access.buffer) {
                lifted.add(Access { mode, relied_on: false, rows: None, ..*access });
            }
        }
    }
    lifted
}

/// Orders the statements inside a body after its condition and before its join.
fn enclose(program: &mut Program, scope: &ConditionalBody, inside: Vec<StatementId>) {
    let mut runs = inside;
    runs.retain(|&id| !program.statements[id].kind.is_memory());
    for &id in &runs {
        follow(program, scope.condition, id);
    }
    follow(program, scope.condition, scope.join);
    for id in runs {
        follow(program, id, scope.join);
    }
}

/// Orders a statement after another one.
fn follow(program: &mut Program, from: StatementId, to: StatementId) {
    let after = &mut program.statements[to].after;
    if !after.contains(&from) {
        after.to_mut().push(from);
    }
}

/// Returns the `while` loops whose bodies neither write the operand nor count iterations. `disjoint` returns true
/// for accesses that are proved disjoint.
pub fn endless(
    program: &Program,
    scopes: &Scopes,
    disjoint: impl Fn(&Access, &Access) -> bool,
) -> Vec<StatementId> {
    let loops = scopes
        .list
        .iter()
        .filter(|scope| scope.body.word == ConditionKeyword::While && scope.body.at_most.is_none());
    let endless = loops.filter(|scope| {
        let accesses = &program.statements[scope.condition].accesses;
        let writes = |operand: &Access| {
            // A call may write the operand through a record that contains it. Only the build knows.
            matches!(program.buffers[operand.buffer].origin, Origin::Part(_))
                || accesses.iter().any(|access| {
                    let same = access.buffer == operand.buffer;
                    same && access.mode.writes() && !disjoint(access, operand)
                })
        };
        accesses.first().is_some_and(|operand| !writes(operand))
    });
    endless.map(|scope| scope.condition).collect()
}
