//! Facts about values at a step, collected from the comparisons that dominate it.
//!
//! Input: an [`SsaFunction`] and a step. Output: upper bounds of values over the kernel's parameters ([`Fact`]).
//! [`Conditions`] walks up the dominator tree and adds the facts of every branch that leads to the step on one side
//! only. A phi has a bound if all its sources have it on their edges.

use crate::analysis::cfg::Cfg;
use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::analysis::trace::{canonical, definition, parameter, thread_registers};
use crate::isa::{self, Arithmetic, Bitwise, Comparison, ControlFlow, Operation, unfollowed};
use crate::poly::Poly;
use crate::syntax::{Instruction, TypeClass};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of blocks visited up the dominator tree.
const MAX_BLOCKS: usize = 128;
/// The maximum number of nested joins of paths through which a predicate is followed.
const MAX_JOINS: usize = 3;
/// The maximum number of values visited for one comparison.
const MAX_VALUES: usize = 64;

/// An upper bound of a value, as an expression over the kernel's parameters.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// The value in canonical form; [`NONE`] for the number 0.
    pub value: u32,
    pub below: Poly,
    /// True if the value is a phi whose bound follows from the bounds of its sources.
    pub joined: bool,
    /// True if some launch reaches the bound.
    pub tight: bool,
}

/// The facts at a kernel's blocks, computed on demand.
pub(crate) struct Conditions<'s, 'm, 'a> {
    code: &'s SsaFunction<'m, 'a>,
    /// The first and last step of each block.
    blocks: Vec<(u32, u32)>,
    at_block: BTreeMap<u32, (Vec<Fact>, bool)>,
}

impl<'s, 'm, 'a> Conditions<'s, 'm, 'a> {
    pub fn new(code: &'s SsaFunction<'m, 'a>) -> Self {
        let mut blocks = vec![(u32::MAX, 0); code.cfg.blocks.len()];
        for (at, step) in code.steps.iter().enumerate() {
            let range = &mut blocks[step.block as usize];
            *range = (range.0.min(at as u32), at as u32);
        }
        Conditions { code, blocks, at_block: BTreeMap::new() }
    }

    /// Returns the facts that hold at a step. The flag is true if no other comparison on the path involves the thread
    /// index.
    pub fn at(&mut self, step: u32) -> (Vec<Fact>, bool) {
        let block = self.code.steps[step as usize].block;
        if !self.at_block.contains_key(&block) {
            let found = self.block(block);
            self.at_block.insert(block, found);
        }
        let (mut facts, mut plain) = self.at_block[&block].clone();
        if let Some((guard, negated)) = self.code.steps[step as usize].guard {
            self.holds(guard, !negated, &mut facts, &mut plain);
        }
        (facts, plain)
    }

    fn block(&self, block: u32) -> (Vec<Fact>, bool) {
        let (mut facts, mut plain) = self.dominating(block);
        // A phi is bounded if each of its sources is bounded on its incoming edge.
        let mut joined = Vec::new();
        let mut at = block;
        for _ in 0..MAX_BLOCKS {
            self.phis(at, &mut joined);
            if at == 0 {
                break;
            }
            at = self.code.cfg.dominator[at as usize];
        }
        plain &= at == 0;
        facts.extend(joined);
        (facts, plain)
    }

    /// Returns the facts of dominating branches that lead to the block on one side only.
    fn dominating(&self, block: u32) -> (Vec<Fact>, bool) {
        let mut facts = Vec::new();
        let mut plain = true;
        let mut at = block;
        for _ in 0..MAX_BLOCKS {
            if at == 0 {
                return (facts, plain);
            }
            if let [predecessor] = self.code.cfg.blocks[at as usize].predecessors[..] {
                self.edge(predecessor, at, &mut facts, &mut plain);
            }
            at = self.code.cfg.dominator[at as usize];
        }
        (facts, false)
    }

    fn edge(&self, from: u32, to: u32, facts: &mut Vec<Fact>, plain: &mut bool) {
        let Some((guard, taken)) = branch(self.code, &self.code.cfg, self.blocks[from as usize].1, from, to)
        else {
            *plain &= self.code.cfg.blocks[from as usize].successors.len() == 1;
            return;
        };
        self.holds(guard, taken, facts, plain);
    }

    fn phis(&self, block: u32, facts: &mut Vec<Fact>) {
        let (first, last) = self.blocks[block as usize];
        let predecessors = &self.code.cfg.blocks[block as usize].predecessors;
        if predecessors.len() < 2 || predecessors.len() > 4 || first == u32::MAX {
            return;
        }
        let phis: Vec<&Step<'_, '_>> = self.code.steps[first as usize..=last as usize]
            .iter()
            .take_while(|step| step.instruction.is_none())
            .take(MAX_VALUES)
            .collect();
        if phis.is_empty() {
            return;
        }
        let on_edges: Vec<Vec<Fact>> = predecessors
            .iter()
            .map(|&predecessor| {
                let (mut facts, mut plain) = self.dominating(predecessor);
                self.edge(predecessor, block, &mut facts, &mut plain);
                facts
            })
            .collect();
        for phi in phis {
            let bounds = |edge: usize| -> Vec<&Poly> {
                let Some(Source::Place(Referent::Value(value), 0)) = phi.sources.get(edge) else {
                    return Vec::new();
                };
                let value = canonical(self.code, *value);
                on_edges[edge].iter().filter(|fact| fact.value == value).map(|fact| &fact.below).collect()
            };
            let common: Vec<Poly> = bounds(0)
                .into_iter()
                .filter(|bound| (1..predecessors.len()).all(|edge| bounds(edge).contains(bound)))
                .cloned()
                .collect();
            // A loop that starts at a constant may exit before it reaches its bound.
            let tight = !common.is_empty();
            let common = if tight { common } else { self.bounds_from_a_constant(phi, &on_edges) };
            facts.extend(common.into_iter().map(|below| Fact {
                value: phi.defines[0],
                below,
                joined: true,
                tight,
            }));
        }
    }

    /// Returns bounds of a phi with a constant on one of its two edges: the bounds on the other edge that are proved
    /// to exceed the constant.
    fn bounds_from_a_constant(&self, phi: &Step<'_, '_>, on_edges: &[Vec<Fact>]) -> Vec<Poly> {
        let [Source::Place(Referent::Value(a), 0), Source::Place(Referent::Value(b), 0)] = phi.sources[..]
        else {
            return Vec::new();
        };
        let constant = |value: u32| {
            let step = definition(self.code, canonical(self.code, value))?;
            match (isa::row(step.instruction?.op()).operation, &step.sources[..]) {
                (Operation::Move, [Source::Constant(first)]) if step.guard.is_none() => Some(*first),
                _ => None,
            }
        };
        let (first, value) = match (constant(a), constant(b)) {
            (Some(first), None) => ((first, 0), (b, 1)),
            (None, Some(first)) => ((first, 1), (a, 0)),
            _ => return Vec::new(),
        };
        let next = canonical(self.code, value.0);
        let is_above = |below: &&Poly| {
            let difference = below.minus(&Poly::constant(first.0.into()));
            on_edges[first.1].iter().filter(|fact| fact.value == NONE).any(|fact| {
                difference
                    .as_ref()
                    .and_then(|difference| difference.minus(&fact.below))
                    .is_some_and(|rest| rest.at_least_zero())
            })
        };
        let bounds = on_edges[value.1].iter().filter(|fact| fact.value == next).map(|fact| &fact.below);
        if first.0 < 0 { Vec::new() } else { bounds.filter(is_above).cloned().collect() }
    }

    /// Adds the facts that follow from the value of a predicate. Clears `plain` if the predicate constrains the
    /// thread index by more than an upper bound of one value.
    fn holds(&self, predicate: u32, truth: bool, facts: &mut Vec<Fact>, plain: &mut bool) {
        let mut stack = vec![(predicate, truth)];
        for _ in 0..MAX_VALUES {
            let Some((predicate, truth)) = stack.pop() else { return };
            let Some((step, instruction)) = definition(self.code, predicate)
                .and_then(|step| step.instruction.map(|instruction| (step, instruction)))
            else {
                *plain &= self.is_uniform(predicate, MAX_JOINS);
                continue;
            };
            let inputs: Vec<u32> = step
                .sources
                .iter()
                .filter_map(|source| match source {
                    Source::Place(Referent::Value(value), 0) => Some(*value),
                    _ => None,
                })
                .collect();
            let depends_on_thread = || {
                let read = step.sources.iter().filter(|source| matches!(source, Source::Place(..)));
                self.depends_on_thread(&read.filter_map(Source::value).collect::<Vec<u32>>())
            };
            match isa::row(instruction.op()).operation {
                Operation::Bitwise(Bitwise::Or) if !truth && inputs.len() == 2 => {
                    stack.extend(inputs.iter().map(|&input| (input, false)));
                }
                Operation::Bitwise(Bitwise::And) if truth && inputs.len() == 2 => {
                    stack.extend(inputs.iter().map(|&input| (input, true)));
                }
                Operation::Bitwise(Bitwise::Not) if inputs.len() == 1 => stack.push((inputs[0], !truth)),
                Operation::Comparison(Comparison::ToPredicate)
                    if step.guard.is_none() && step.sources.len() == 2 =>
                {
                    // The second destination of a comparison is its complement.
                    let truth = truth ^ (step.defines.get(1) == Some(&predicate));
                    *plain &= self.compared(instruction, step, truth, facts) || !depends_on_thread();
                }
                // The operands of other operations are unconstrained.
                Operation::Move | Operation::Convert | unfollowed!() => *plain &= !depends_on_thread(),
            }
        }
        *plain = false;
    }

    /// Returns true if no thread index decides a predicate. At a join of paths this holds if no thread index decides
    /// the joined values or the branches between the join and its dominator.
    fn is_uniform(&self, predicate: u32, joins: usize) -> bool {
        let Some(step) = definition(self.code, predicate).filter(|_| joins > 0) else { return false };
        if self.depends_on_thread(&[predicate]) {
            return false;
        }
        if step.instruction.is_some() {
            return true;
        }
        let blocks = &self.code.cfg.blocks;
        let head = self.code.cfg.dominator[step.block as usize];
        let mut between = BTreeSet::from([head]);
        let mut stack = blocks[step.block as usize].predecessors.clone();
        while let Some(block) = stack.pop() {
            if between.insert(block) {
                stack.extend(&blocks[block as usize].predecessors);
            }
        }
        step.block != 0
            && between.len() <= MAX_BLOCKS
            && between.iter().filter(|&&block| blocks[block as usize].successors.len() > 1).all(|&block| {
                let last = self.code.steps.get(self.blocks[block as usize].1 as usize);
                let guard = last.filter(|step| step.block == block).and_then(|step| step.guard);
                guard.is_some_and(|(guard, _)| self.is_uniform(guard, joins - 1))
            })
    }

    /// Returns true if the comparison bounds a value from above, or from below by a constant.
    fn compared(
        &self,
        instruction: &Instruction<'_>,
        step: &Step<'_, '_>,
        truth: bool,
        facts: &mut Vec<Fact>,
    ) -> bool {
        if instruction.types().any(|ty| ty.class() == TypeClass::Float) {
            return false;
        }
        let comparison = instruction.modifiers().next().unwrap_or_default();
        let (a, b) = (&step.sources[0], &step.sources[1]);
        // Normalises each comparison to `smaller < larger`; `<=` adds 1.
        let (smaller, larger, equal) = match (comparison, truth) {
            ("lt" | "lo", true) | ("ge" | "hs", false) => (a, b, false),
            ("le" | "ls", true) | ("gt" | "hi", false) => (a, b, true),
            ("gt" | "hi", true) | ("le" | "ls", false) => (b, a, false),
            ("ge" | "hs", true) | ("lt" | "lo", false) => (b, a, true),
            // A test against 0 only excludes the smallest index, so that the upper bound still holds.
            ("ne", true) | ("eq", false) => {
                if let (Some(below), Source::Constant(0)) = (self.uniform(a, 0), b) {
                    facts.push(Fact { value: NONE, below, joined: false, tight: true });
                }
                return matches!((a, b), (Source::Place(Referent::Value(value), 0), Source::Constant(0))
                    if self.is_index(*value));
            }
            _ => return false,
        };
        if let Source::Place(Referent::Value(value), 0) = smaller
            && let Some(bound) = self.uniform(larger, 0)
            && let Some(below) = bound.plus(&Poly::constant(i128::from(equal)))
        {
            let value = canonical(self.code, *value);
            match self.uniform(smaller, 0) {
                None => facts.push(Fact { value, below, joined: false, tight: true }),
                Some(least) => {
                    let below = below.minus(&least);
                    facts.extend(below.map(|below| Fact { value: NONE, below, joined: false, tight: true }));
                }
            }
            return true;
        }
        if let (Source::Constant(least), Some(bound)) = (smaller, self.uniform(larger, 0))
            && let Some(below) = bound.minus(&Poly::constant(i128::from(*least) - i128::from(equal)))
        {
            facts.push(Fact { value: NONE, below, joined: false, tight: true });
        }
        matches!(smaller, Source::Constant(_))
    }

    /// Returns true if a value is a whole thread index, not a component of one.
    fn is_index(&self, value: u32) -> bool {
        let step = definition(self.code, canonical(self.code, value));
        let Some(instruction) = step.and_then(|step| step.instruction) else { return false };
        match isa::row(instruction.op()).operation {
            Operation::Move | Operation::Arithmetic(Arithmetic::Mad) => true,
            Operation::Convert | unfollowed!() => false,
        }
    }

    /// Returns a value as an expression over parameters only.
    fn uniform(&self, source: &Source<'_>, depth: u32) -> Option<Poly> {
        let value = match source {
            Source::Constant(value) => return Some(Poly::constant(i128::from(*value))),
            Source::Place(Referent::Value(value), 0) if depth < 8 => canonical(self.code, *value),
            _ => return None,
        };
        let step = definition(self.code, value)?;
        if let Some(parameter) = parameter(self.code, step) {
            return Some(Poly::variable(parameter));
        }
        let instruction = step.instruction?;
        if step.guard.is_some()
            || instruction.types().any(|ty| ty.class() == TypeClass::Float || ty.size() < 4)
        {
            return None;
        }
        let one = |at: usize| self.uniform(step.sources.get(at)?, depth + 1);
        let of = |count| step.sources.len() == count;
        let low = instruction.has("lo");
        match isa::row(instruction.op()).operation {
            Operation::Arithmetic(Arithmetic::Add) if of(2) => one(0)?.plus(&one(1)?),
            Operation::Arithmetic(Arithmetic::Sub) if of(2) => one(0)?.minus(&one(1)?),
            Operation::Arithmetic(Arithmetic::Mul) if of(2) && (low || instruction.has("wide")) => {
                one(0)?.times(&one(1)?)
            }
            Operation::Arithmetic(Arithmetic::Mad) if of(3) && low => one(0)?.times(&one(1)?)?.plus(&one(2)?),
            Operation::Move | Operation::Convert | unfollowed!() => None,
        }
    }

    /// Returns true if one of the values is computed from a thread index other than through a load.
    fn depends_on_thread(&self, values: &[u32]) -> bool {
        values.iter().any(|&value| thread_registers(self.code, value).is_none_or(|place| !place.is_empty()))
    }
}

/// Returns the predicate that decides the edge between two blocks, and its value on that edge.
fn branch(code: &SsaFunction<'_, '_>, cfg: &Cfg, last: u32, from: u32, to: u32) -> Option<(u32, bool)> {
    let step = code.steps.get(last as usize).filter(|step| step.block == from)?;
    let (guard, negated) = step.guard?;
    let block = &cfg.blocks[from as usize];
    if guard == NONE || block.successors.len() > 2 {
        return None;
    }
    let taken = match isa::row(step.instruction?.op()).flow {
        ControlFlow::Branch if block.successors.len() == 2 => block.taken == Some(to),
        ControlFlow::Return | ControlFlow::Exit | ControlFlow::Trap => false,
        ControlFlow::Branch | ControlFlow::Table | ControlFlow::Next => return None,
    };
    Some((guard, taken != negated))
}
