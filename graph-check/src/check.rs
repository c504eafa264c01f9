//! Checks a certificate. Each rule in the documentation of the crate has a function.
//!
//! This module has the rules about order; `form`, `memory` and `registers` have the others.

use crate::certificate::{
    Access, Body, Certificate, Effect, NodeWork, Origin, Plan, Source, Span, Statement, StatementKind,
    TouchedBytes,
};
use crate::form;
use crate::order::Order;
use crate::refusal::Refusal;
use crate::spans::{BlockPairs, may_overlap};
use std::collections::BTreeMap;

/// Checks a certificate against the rules in the documentation of the crate.
///
/// # Errors
///
/// Returns the first rule that is violated, and where.
pub fn check(certificate: &Certificate) -> Result<(), Refusal> {
    let Certificate { source, plan } = certificate;
    form::well_formed(source, plan)?;
    let order = Order::new(source, plan)?;
    let mut runs: Vec<Vec<MemberPosition>> = vec![Vec::new(); source.statements.len()];
    for (node, of) in plan.nodes.iter().enumerate() {
        if let NodeWork::Run { members, .. } = &of.work {
            let all = members.iter().enumerate();
            all.for_each(|(position, member)| {
                runs[member.statement].push(MemberPosition { node, lane: member.lane, position })
            });
        }
    }
    for (body, &branch) in source.bodies.iter().zip(&order.branches).skip(1) {
        let runs = &mut runs[body.decided_by];
        if source.statements[body.decided_by].kind == StatementKind::KernelDecision
            && runs.iter().all(|run| run.node != branch)
        {
            runs.push(MemberPosition { node: branch, lane: 0, position: 0 });
        }
    }
    let mut users = vec![Vec::new(); source.memories.len()];
    for (at, statement) in source.statements.iter().enumerate() {
        statement.accesses.iter().for_each(|access| users[access.memory].push(at));
    }
    users.iter_mut().for_each(Vec::dedup);
    let checker = Checker { source, plan, order, runs, users };
    checker.check_statements()?;
    checker.check_bodies()?;
    checker.check_conflicts()?;
    checker.check_user_order()?;
    checker.check_forwards()?;
    checker.check_reads()?;
    checker.check_sharing()?;
    checker.check_lifetimes()?;
    checker.check_nodes()
}

/// The position of a statement in a node.
#[derive(Clone, Copy)]
pub(crate) struct MemberPosition {
    pub node: usize,
    pub lane: usize,
    position: usize,
}

pub(crate) struct Checker<'c> {
    pub source: &'c Source,
    pub plan: &'c Plan,
    pub order: Order<'c>,
    /// For each statement, the nodes that run it.
    pub runs: Vec<Vec<MemberPosition>>,
    /// For each memory, the statements that access it.
    pub users: Vec<Vec<usize>>,
}

/// An access of a statement, with its range in a common address space (see [`Checker::address_space`]).
#[derive(Clone, Copy)]
struct PlacedAccess<'c> {
    statement: usize,
    /// Its index among the accesses of the statement.
    at: usize,
    access: &'c Access,
    lo: u64,
    hi: u64,
}

impl<'c> Checker<'c> {
    pub fn name(&self, statement: usize) -> String {
        let Statement { name, line, .. } = &self.source.statements[statement];
        format!("`{name}` (statement {statement}, line {line})")
    }

    /// Returns true if the user orders the two statements: the innermost function around both is explicit.
    pub fn is_explicit(&self, one: usize, other: usize) -> bool {
        let region = |statement: usize| self.source.statements[statement].region;
        let (mut one, mut other) = (region(one), region(other));
        while one != other {
            // A caller has a lower index than its callees.
            if one > other {
                one = self.source.regions[one].caller;
            } else {
                other = self.source.regions[other].caller;
            }
        }
        self.source.regions[one].explicit
    }

    /// Returns true if a path of pairs in `Source::after` leads from one statement to the other.
    fn user_orders(&self, one: usize, other: usize) -> bool {
        let (mut seen, mut open) = (vec![one], vec![one]);
        while let Some(at) = open.pop() {
            for &(_, next) in self.source.after.iter().filter(|pair| pair.0 == at) {
                if !seen.contains(&next) {
                    seen.push(next);
                    open.push(next);
                }
            }
        }
        one != other && seen.contains(&other)
    }

    /// Returns true if all nodes of the first statement have ended before any node of the second one has an effect.
    fn is_before(&self, one: usize, other: usize) -> bool {
        let others = &self.runs[other];
        self.runs[one].iter().all(|one| others.iter().all(|other| self.order.is_before(one.node, other.node)))
    }

    /// Returns true if the first statement comes before the second one, by edges or within each block of a shared
    /// node.
    pub fn comes_before(&self, one: usize, other: usize) -> bool {
        match (&self.runs[one][..], &self.runs[other][..]) {
            ([one], [other]) if one.node == other.node => {
                one.lane == other.lane && one.position < other.position
            }
            _ => self.is_before(one, other),
        }
    }

    /// Returns true if at most one of the two statements runs, because they are in different arms of a decision.
    fn are_exclusive(&self, one: usize, other: usize) -> bool {
        self.order.are_exclusive(self.source.statements[one].body, self.source.statements[other].body)
    }

    /// Rule `Statements`: each statement is run in its body by the number of nodes that its kind requires.
    fn check_statements(&self) -> Result<(), Refusal> {
        for (at, statement) in self.source.statements.iter().enumerate() {
            let nodes = self.runs[at].len();
            let right = match statement.kind {
                StatementKind::Call => true,
                StatementKind::Decision => nodes > 0,
                // Only the nodes that run bodies, which are one for each decision.
                StatementKind::KernelDecision => {
                    nodes == 1 && matches!(self.plan.nodes[self.runs[at][0].node].work, NodeWork::Branch(_))
                }
                _ => nodes == 1,
            };
            if !right {
                refuse!(Statements, "{nodes} nodes run {}", self.name(at));
            }
            if self.runs[at].iter().any(|run| self.plan.nodes[run.node].body != statement.body) {
                refuse!(Bodies, "a node of {} is in another body", self.name(at));
            }
        }
        Ok(())
    }

    /// Rule `Bodies`: a body runs after its deciding statement. All nodes of a loop iteration have ended before the
    /// next iteration is decided.
    fn check_bodies(&self) -> Result<(), Refusal> {
        for (at, &Body { parent, decided_by, repeats, .. }) in self.source.bodies.iter().enumerate().skip(1) {
            let branch = self.order.branches[at];
            let decision = &self.source.statements[decided_by];
            let by_kernels = decision.kind == StatementKind::KernelDecision;
            let mut deciding = self.runs[decided_by].iter();
            if decision.body != parent
                || !deciding.all(|run| by_kernels || self.order.is_before(run.node, branch))
            {
                refuse!(Bodies, "body {at} may run before {}", self.name(decided_by));
            }
            let statements = self.source.statements.iter().enumerate();
            let mut again =
                statements.filter(|(_, one)| one.kind == StatementKind::LoopDecision && one.body == at);
            let last = again.next().map(|(statement, _)| self.runs[statement][0].node);
            if last.is_some() != (repeats && !by_kernels) || again.next().is_some() {
                refuse!(Bodies, "body {at} is a loop, and is not decided exactly once per iteration");
            }
            let Some(last) = last else { continue };
            let mut others = (0..self.plan.nodes.len()).filter(|&node| self.plan.nodes[node].body == at);
            if let Some(late) = others.find(|&node| node != last && !self.order.is_before(node, last)) {
                let late = &self.plan.nodes[late].name;
                refuse!(Bodies, "`{late}` may run after its iteration is decided");
            }
        }
        Ok(())
    }

    /// Returns the address space of a memory and the start of the memory in it. All memories of the caller share
    /// one space.
    pub fn address_space(&self, memory: usize) -> (usize, u64) {
        match self.source.memories[memory].origin {
            Origin::Operand(address) | Origin::Taken(address) => (usize::MAX, address),
            Origin::Temporary(_) | Origin::State => (memory, 0),
        }
    }

    /// Returns the non-empty accesses by address space.
    fn uses(&self) -> BTreeMap<usize, Vec<PlacedAccess<'c>>> {
        let mut uses: BTreeMap<usize, Vec<PlacedAccess<'_>>> = BTreeMap::new();
        for (statement, of) in self.source.statements.iter().enumerate() {
            for (at, access) in of.accesses.iter().enumerate().filter(|(_, access)| access.lo < access.hi) {
                let (space, base) = self.address_space(access.memory);
                let (lo, hi) = (base.saturating_add(access.lo), base.saturating_add(access.hi));
                uses.entry(space).or_default().push(PlacedAccess { statement, at, access, lo, hi });
            }
        }
        uses
    }

    /// Rule `Conflicts`: conflicting accesses run in program order. Where the user orders statements, either order
    /// is allowed.
    fn check_conflicts(&self) -> Result<(), Refusal> {
        for uses in self.uses().values_mut() {
            uses.sort_by_key(|one| (one.lo, one.statement));
            for (at, one) in uses.iter().enumerate() {
                for other in uses[at + 1..].iter().take_while(|other| other.lo < one.hi) {
                    let (first, second) =
                        if one.statement <= other.statement { (one, other) } else { (other, one) };
                    if first.statement != second.statement && conflict(first.access, second.access) {
                        self.check_pair(first, second)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn check_pair(&self, first: &PlacedAccess<'_>, second: &PlacedAccess<'_>) -> Result<(), Refusal> {
        let (one, other) = (first.statement, second.statement);
        if self.are_exclusive(one, other) {
            return Ok(());
        }
        let either = || self.is_explicit(one, other) || self.user_orders(other, one);
        if !(self.comes_before(one, other) || self.comes_before(other, one) && either()) {
            let memory = &self.source.memories[first.access.memory].name;
            let (one, other) = (self.name(one), self.name(other));
            refuse!(Conflicts, "{one} does not come before {other}, and both use `{memory}`");
        }
        // If both are in one node, different blocks must touch different bytes.
        let (Some(one), Some(other)) = (self.runs[one].first(), self.runs[other].first()) else {
            return Ok(());
        };
        let multi_block = |of: &PlacedAccess<'_>| self.source.statements[of.statement].multi_block;
        if one.node != other.node || !multi_block(first) && !multi_block(second) {
            return Ok(());
        }
        let (Some(mine), Some(theirs)) = (self.touches(*one, first.at), self.touches(*other, second.at))
        else {
            refuse!(Blocks, "the bytes that blocks of {} touch are unknown", self.name(first.statement));
        };
        // The two memories may start at different addresses.
        let start = |of: &PlacedAccess<'_>| i128::from(of.lo) - i128::from(of.access.lo);
        let meet = |mine: &Option<Vec<Span>>, theirs: &Option<Vec<Span>>| {
            let both = mine.as_ref().zip(theirs.as_ref());
            both.is_none_or(|(mine, theirs)| {
                may_overlap(mine, theirs, start(second) - start(first), BlockPairs::Different)
            })
        };
        if meet(&mine.writes, &theirs.writes)
            || meet(&mine.writes, &theirs.reads)
            || meet(&mine.reads, &theirs.writes)
        {
            let memory = &self.source.memories[first.access.memory].name;
            let (one, other) = (self.name(first.statement), self.name(second.statement));
            refuse!(Blocks, "different blocks of {one} and {other} may touch one byte of `{memory}`");
        }
        Ok(())
    }

    fn touches(&self, run: MemberPosition, access: usize) -> Option<&'c TouchedBytes> {
        match &self.plan.nodes[run.node].work {
            NodeWork::Run { members, .. } => members[run.position].touches.get(access),
            _ => None,
        }
    }

    /// Rule `UserOrder`: explicit pairs and fences are respected.
    fn check_user_order(&self) -> Result<(), Refusal> {
        let mut pairs = self.source.after.clone();
        let count = self.source.statements.len();
        for (at, fence) in self.source.statements.iter().enumerate() {
            let inferred = |pair: &(usize, usize)| !self.is_explicit(pair.0, pair.1);
            match fence.kind {
                StatementKind::AfterAll => pairs.extend((0..at).map(|one| (one, at)).filter(inferred)),
                StatementKind::BeforeAll => {
                    pairs.extend((at + 1..count).map(|other| (at, other)).filter(inferred))
                }
                _ => {}
            }
        }
        // Order through a statement without nodes is order between its predecessors and successors.
        for empty in (0..count).filter(|&one| self.runs[one].is_empty()) {
            let before: Vec<usize> = pairs.iter().filter(|pair| pair.1 == empty).map(|pair| pair.0).collect();
            let after: Vec<usize> = pairs.iter().filter(|pair| pair.0 == empty).map(|pair| pair.1).collect();
            pairs.extend(before.iter().flat_map(|&one| after.iter().map(move |&other| (one, other))));
        }
        for (one, other) in pairs {
            if !self.are_exclusive(one, other) && !self.comes_before(one, other) {
                refuse!(UserOrder, "{} does not come before {}", self.name(one), self.name(other));
            }
        }
        Ok(())
    }
}

/// Returns true if the order of two overlapping accesses matters.
fn conflict(one: &Access, other: &Access) -> bool {
    let commute =
        matches!((&one.effect, &other.effect), (Effect::Update(one), Effect::Update(other)) if one == other);
    (one.effect.writes() || other.effect.writes()) && !commute
}
