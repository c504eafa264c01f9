//! The control flow graph of a body: basic blocks, edges, dominators and reachability.
//!
//! It contains only blocks reachable from the entry. A branch with unknown or missing targets has an edge to every
//! label. `joins` has the joins of paths, `loops` the natural loops.

pub(crate) mod joins;
pub(crate) mod loops;

use crate::isa::{self, ControlFlow};
use crate::syntax::{Body, Instruction, Names, Operand, Statement};
use std::collections::BTreeMap;

/// A basic block: a maximal run of instructions without a jump into or out of its middle.
#[derive(Clone, Debug, Default)]
pub(crate) struct BasicBlock {
    /// The statement indices of its instructions, in order.
    pub instructions: Vec<u32>,
    pub successors: Vec<u32>,
    pub predecessors: Vec<u32>,
    /// The target of the branch at its end, if any.
    pub taken: Option<u32>,
}

/// The blocks of a body in reverse post-order. Block 0 is the entry. Invariant: a block comes after its dominators.
#[derive(Clone, Debug)]
pub(crate) struct Cfg {
    pub blocks: Vec<BasicBlock>,
    /// The immediate dominator of each block. The entry's is itself.
    pub dominator: Vec<u32>,
    /// The interval of each block in the dominator tree: `a` dominates `b` if and only if `a`'s interval contains
    /// `b`'s.
    intervals: Vec<(u32, u32)>,
}

impl Cfg {
    /// Builds the graph. `guards` holds the known values of guards, by statement; edges that they exclude are
    /// omitted.
    pub fn new(body: &Body<'_>, names: &Names<'_, '_>, guards: &BTreeMap<u32, bool>) -> Cfg {
        let raw = split(body, names, guards);
        let order = reverse_post_order(&raw);
        let mut place = vec![u32::MAX; raw.len()];
        for (at, &block) in order.iter().enumerate() {
            place[block as usize] = at as u32;
        }
        let mut blocks = Vec::with_capacity(order.len());
        for &block in &order {
            let mut block = raw[block as usize].clone();
            for successor in &mut block.successors {
                *successor = place[*successor as usize];
            }
            block.taken = block.taken.map(|taken| place[taken as usize]);
            blocks.push(block);
        }
        for at in 0..blocks.len() {
            for successor in blocks[at].successors.clone() {
                blocks[successor as usize].predecessors.push(at as u32);
            }
        }
        let dominator = dominators(&blocks);
        let intervals = intervals(&dominator);
        Cfg { blocks, dominator, intervals }
    }

    /// Returns true if every path from the entry to `b` goes through `a`. A block dominates itself.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.intervals[a as usize], self.intervals[b as usize]);
        a.0 <= b.0 && b.1 <= a.1
    }

    /// Returns one flag per block: true if a path of at least one edge leads to it from `from`.
    pub fn reachable_from(&self, from: u32) -> Vec<bool> {
        let mut seen = vec![false; self.blocks.len()];
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            for &successor in &self.blocks[block as usize].successors {
                if !seen[successor as usize] {
                    seen[successor as usize] = true;
                    stack.push(successor);
                }
            }
        }
        seen
    }

    /// Returns the dominance frontier of each block.
    pub fn frontiers(&self) -> Vec<Vec<u32>> {
        let mut frontiers = vec![Vec::new(); self.blocks.len()];
        for (at, block) in self.blocks.iter().enumerate() {
            // The entry has the caller as a further predecessor.
            if block.predecessors.len() < 2 && at != 0 {
                continue;
            }
            for &predecessor in &block.predecessors {
                let mut runner = predecessor;
                while at == 0 || runner != self.dominator[at] {
                    let frontier: &mut Vec<u32> = &mut frontiers[runner as usize];
                    if frontier.last() != Some(&(at as u32)) {
                        frontier.push(at as u32);
                    }
                    if runner == 0 {
                        break;
                    }
                    runner = self.dominator[runner as usize];
                }
            }
        }
        frontiers
    }
}

fn flow(instruction: &Instruction<'_>) -> ControlFlow {
    isa::row(instruction.op()).flow
}

/// Splits the statements into blocks in text order. Some may be unreachable.
fn split(body: &Body<'_>, names: &Names<'_, '_>, guards: &BTreeMap<u32, bool>) -> Vec<BasicBlock> {
    let mut at_label = vec![u32::MAX; body.statements.len()];
    let mut blocks = vec![BasicBlock::default()];
    let mut fresh = true;
    // True for each block that falls through.
    let mut falls = Vec::new();
    for (at, statement) in body.statements.iter().enumerate() {
        match statement {
            Statement::Label(_) => {
                if !fresh {
                    falls.push(true);
                    blocks.push(BasicBlock::default());
                    fresh = true;
                }
                at_label[at] = (blocks.len() - 1) as u32;
            }
            Statement::Instruction(instruction) => {
                if let Some(block) = blocks.last_mut() {
                    block.instructions.push(at as u32);
                }
                fresh = false;
                match flow(instruction) {
                    ControlFlow::Next => {}
                    ControlFlow::Branch
                    | ControlFlow::Table
                    | ControlFlow::Return
                    | ControlFlow::Exit
                    | ControlFlow::Trap => {
                        let always = guards.get(&(at as u32)) == Some(&true);
                        falls.push(instruction.guard.is_some() && !always);
                        blocks.push(BasicBlock::default());
                        fresh = true;
                    }
                }
            }
            _ => {}
        }
    }
    falls.push(false);
    connect(body, names, &mut blocks, &at_label, &falls, guards);
    blocks
}

/// Sets the successors of each block. `at_label` holds the block of each label; `falls` is true for blocks that fall
/// through.
fn connect(
    body: &Body<'_>,
    names: &Names<'_, '_>,
    blocks: &mut [BasicBlock],
    at_label: &[u32],
    falls: &[bool],
    guards: &BTreeMap<u32, bool>,
) {
    for at in 0..blocks.len() {
        let mut successors = Vec::new();
        let executed = blocks[at].instructions.last().filter(|&last| guards.get(last) != Some(&false));
        let last = executed.map(|&last| &body.statements[last as usize]);
        if let Some(Statement::Instruction(last)) = last {
            let find = |name: &str| {
                let label = names.label(last.scope, name)?;
                Some(at_label[label]).filter(|&block| block != u32::MAX)
            };
            let targets = match flow(last) {
                ControlFlow::Branch => branch_target(last, find).map(|target| vec![target]),
                ControlFlow::Table => table_targets(body, names, last, find),
                ControlFlow::Next | ControlFlow::Return | ControlFlow::Exit | ControlFlow::Trap => {
                    Some(Vec::new())
                }
            };
            let anywhere = || at_label.iter().copied().filter(|&block| block != u32::MAX).collect();
            successors = targets.unwrap_or_else(anywhere);
            if let (ControlFlow::Branch, [target]) = (flow(last), &successors[..]) {
                blocks[at].taken = Some(*target);
            }
        }
        if falls[at] {
            successors.push(at as u32 + 1);
        }
        successors.sort_unstable();
        successors.dedup();
        blocks[at].successors = successors;
    }
}

/// Returns the target of a branch; `None` if the label does not exist.
fn branch_target(branch: &Instruction<'_>, find: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    match branch.operands.last() {
        Some(Operand::Name(name)) => find(name),
        _ => None,
    }
}

/// Returns the targets of a table branch; `None` if the table or one of its labels does not exist.
fn table_targets(
    body: &Body<'_>,
    names: &Names<'_, '_>,
    branch: &Instruction<'_>,
    find: impl Fn(&str) -> Option<u32>,
) -> Option<Vec<u32>> {
    let Some(Operand::Name(list)) = branch.operands.last() else { return None };
    match &body.statements[names.label(branch.scope, list)?] {
        Statement::Targets(targets) => targets.targets.iter().map(|name| find(name)).collect(),
        _ => None,
    }
}

fn reverse_post_order(blocks: &[BasicBlock]) -> Vec<u32> {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    seen[0] = true;
    let mut stack = vec![(0u32, 0usize)];
    while let Some((block, next)) = stack.last_mut() {
        match blocks[*block as usize].successors.get(*next) {
            Some(&successor) => {
                *next += 1;
                if !seen[successor as usize] {
                    seen[successor as usize] = true;
                    stack.push((successor, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Computes immediate dominators over blocks in reverse post-order: "A Simple, Fast Dominance Algorithm" by Cooper,
/// Harvey and Kennedy.
fn dominators(blocks: &[BasicBlock]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut dominator = vec![NONE; blocks.len()];
    dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..blocks.len() {
            let mut new = NONE;
            for &predecessor in &blocks[at].predecessors {
                if dominator[predecessor as usize] == NONE {
                    continue;
                }
                new = if new == NONE { predecessor } else { meet(&dominator, new, predecessor) };
            }
            if dominator[at] != new {
                dominator[at] = new;
                changed = true;
            }
        }
    }
    dominator
}

fn meet(dominator: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = dominator[a as usize];
        }
        while b > a {
            b = dominator[b as usize];
        }
    }
    a
}

/// Numbers the dominator tree so that every subtree is an interval. A block must come after its dominator.
fn intervals(dominator: &[u32]) -> Vec<(u32, u32)> {
    let mut size = vec![1u32; dominator.len()];
    for at in (1..dominator.len()).rev() {
        size[dominator[at] as usize] += size[at];
    }
    let mut intervals = vec![(0, 0); dominator.len()];
    // The start of the next child's interval, by block.
    let mut next = vec![1u32; dominator.len()];
    intervals[0] = (0, size[0]);
    for at in 1..dominator.len() {
        let parent = dominator[at] as usize;
        let start = intervals[parent].0 + next[parent];
        next[parent] += size[at];
        intervals[at] = (start, start + size[at]);
    }
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    /// Returns a body whose block `i` has the label `L{i}` and jumps to `targets[i]`.
    fn graph(targets: &[Vec<usize>]) -> Cfg {
        let mut text = ".version 8.0\n.target sm_80\n.entry k() { .reg .pred %p; .reg .b32 %r;\n".to_owned();
        for (at, targets) in targets.iter().enumerate() {
            text.push_str(&format!("L{at}: mov.u32 %r, {at};\n"));
            let list: Vec<String> = targets.iter().map(|target| format!("L{target}")).collect();
            if list.is_empty() {
                text.push_str("ret;\n");
            } else {
                text.push_str(&format!("T{at}: .branchtargets {};\n brx.idx %r, T{at};\n", list.join(", ")));
            }
        }
        text.push('}');
        let module = parse(&text).unwrap();
        let body = module.entry("k").unwrap().body.as_ref().unwrap();
        Cfg::new(body, &Names::new(body), &BTreeMap::new())
    }

    #[test]
    fn a_guarded_jump_also_falls_through() {
        let text = ".version 8.0\n.target sm_80\n.entry k() { .reg .pred %p;\n@%p bra L; @%p ret; bra.uni M; \
            M: L: ret; trap; }";
        let module = parse(text).unwrap();
        let body = module.entry("k").unwrap().body.as_ref().unwrap();
        let cfg = Cfg::new(body, &Names::new(body), &BTreeMap::new());
        let successors: Vec<_> = cfg.blocks.iter().map(|block| block.successors.len()).collect();
        assert_eq!(successors, [2, 1, 1, 0]);
    }

    #[test]
    fn dominators_are_those_of_the_definition() {
        // Compares random small graphs with a computation that removes each block in turn.
        let mut seed = 7u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..200 {
            let count = 2 + random(7);
            let targets: Vec<Vec<usize>> =
                (0..count).map(|_| (0..random(3)).map(|_| random(count)).collect()).collect();
            let cfg = graph(&targets);
            let size = cfg.blocks.len();
            for removed in 0..size as u32 {
                let mut seen = vec![false; size];
                let mut stack = if removed == 0 { vec![] } else { vec![0u32] };
                while let Some(block) = stack.pop() {
                    if std::mem::replace(&mut seen[block as usize], true) {
                        continue;
                    }
                    let next = cfg.blocks[block as usize].successors.iter();
                    stack.extend(next.filter(|&&next| next != removed));
                }
                for block in 0..size as u32 {
                    assert_eq!(cfg.dominates(removed, block), !seen[block as usize], "{targets:?}");
                }
            }
        }
    }
}
