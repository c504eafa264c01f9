//! The sequential order of a program's statements, and the order that the user demands.

use std::collections::HashMap;

use cuweave_check::certificate::{Effect, NodeWork, StatementKind};

use super::Machine;
use super::events::EventKind;
use super::memory::RunId;

impl Machine<'_> {
    /// Returns the runs in program order. Where the user orders statements, the order is one that the graph allows.
    pub fn sequence(&self, schedule: &[usize]) -> Vec<RunId> {
        if self.certificate.source.regions.iter().all(|region| !region.explicit) {
            return self.events.sequence.clone();
        }
        let mut sequence = Vec::new();
        for &at in schedule {
            if let EventKind::Effect { run, .. } = self.events.list[at].kind
                && !sequence.contains(&run)
            {
                sequence.push(run);
            }
        }
        sequence
    }

    fn explicit(&self, one: usize, other: usize) -> bool {
        let source = &self.certificate.source;
        let chain = |statement: usize| {
            let mut chain = vec![source.statements[statement].region];
            while chain[chain.len() - 1] != 0 {
                chain.push(source.regions[chain[chain.len() - 1]].caller);
            }
            chain
        };
        let (one, other) = (chain(one), chain(other));
        one.iter()
            .find(|region| other.contains(region))
            .is_some_and(|&region| source.regions[region].explicit)
    }

    /// Returns the instance of `body` around an instance.
    pub fn instance(&self, mut instance: usize, body: usize) -> usize {
        while self.events.instances[instance].0 > body {
            instance = self.events.instances[instance].1;
        }
        instance
    }

    /// Returns true if two runs are in the same run of the innermost body around both.
    fn share_body_run(&self, one: RunId, other: RunId) -> bool {
        let ((_, mut one), (_, mut other)) = (self.events.runs[one], self.events.runs[other]);
        let (mut inside, mut other_inside) = (None, None);
        while self.events.instances[one].0 != self.events.instances[other].0 {
            if self.events.instances[one].0 > self.events.instances[other].0 {
                (inside, one) = (Some(one), self.events.instances[one].1);
            } else {
                (other_inside, other) = (Some(other), self.events.instances[other].1);
            }
        }
        let _ = (inside, other_inside);
        one == other
    }

    /// Collects the pairs that must be ordered. In a program with both kinds of order, conflicts that the program
    /// orders keep its order.
    pub fn user_order(&mut self, sequence: &[RunId]) -> Result<(), String> {
        let source = &self.certificate.source;
        let mut pairs: Vec<(usize, usize)> = source.after.clone();
        for (at, fence) in source.statements.iter().enumerate() {
            let others: Vec<(usize, usize)> = match fence.kind {
                StatementKind::AfterAll => (0..at).map(|one| (one, at)).collect(),
                StatementKind::BeforeAll => {
                    (at + 1..source.statements.len()).map(|other| (at, other)).collect()
                }
                _ => continue,
            };
            pairs.extend(others.into_iter().filter(|&(one, other)| !self.explicit(one, other)));
        }
        let mut by_statement: HashMap<usize, Vec<RunId>> = HashMap::new();
        for &run in sequence {
            by_statement.entry(self.events.runs[run].0).or_default().push(run);
        }
        let none = Vec::new();
        for (one, other) in pairs {
            for &one in by_statement.get(&one).unwrap_or(&none) {
                let others = by_statement.get(&other).unwrap_or(&none).iter();
                let others = others.filter(|&&other| {
                    one != other && self.share_body_run(one, other) && !self.is_ordered_in_block(one, other)
                });
                let found: Vec<(RunId, RunId)> = others.map(|&other| (one, other)).collect();
                self.ordered.extend(found);
            }
        }
        for (at, &one) in sequence.iter().enumerate() {
            for &other in &sequence[..at] {
                let (first, second) = (self.events.runs[one].0, self.events.runs[other].0);
                if first < second
                    && !self.explicit(first, second)
                    && self.share_body_run(one, other)
                    && self.conflicts(first, second)
                {
                    return Err(format!("statements {first} and {second} run in another order"));
                }
            }
        }
        Ok(())
    }

    /// Returns true if both runs are in one lane of a node, the first one first, so that each block orders them.
    fn is_ordered_in_block(&self, one: RunId, other: RunId) -> bool {
        let (one, other) = (self.events.runs[one].0, self.events.runs[other].0);
        self.certificate.plan.nodes.iter().any(|node| {
            let NodeWork::Run { members, .. } = &node.work else { return false };
            let find = |statement: usize| members.iter().position(|member| member.statement == statement);
            let pair = find(one).zip(find(other));
            pair.is_some_and(|(one, other)| one < other && members[one].lane == members[other].lane)
        })
    }

    /// Returns true if two statements have conflicting accesses.
    fn conflicts(&self, one: usize, other: usize) -> bool {
        let range = |access: &cuweave_check::certificate::Access| {
            let (space, base) = self.program_location(access.memory, 0);
            (space, base + i128::from(access.lo), base + i128::from(access.hi))
        };
        let statements = &self.certificate.source.statements;
        statements[one].accesses.iter().any(|a| {
            statements[other].accesses.iter().any(|b| {
                let commute =
                    matches!((&a.effect, &b.effect), (Effect::Update(a), Effect::Update(b)) if a == b);
                let ((space, lo, hi), (other, from, to)) = (range(a), range(b));
                let conflict = (a.effect.writes() || b.effect.writes()) && !commute;
                conflict && space == other && lo < to && from < hi
            })
        })
    }
}
