//! Loops that end by what other threads write to memory.
//!
//! Launches that wait for each other, or blocks that do, count on which of them run at once; a batch changes that.
//! A loop spins where a way out of it depends, by registers, memory of the thread or branches, on an atomic or on a
//! load that looks again: volatile, relaxed, acquire, or of the same address beside a fence. Shared memory is another
//! matter: its writers are of the same block. The retry of a compare-and-swap is allowed whose comparand was read in
//! the loop: it ends as soon as nobody else succeeds.

use super::depend::{Fact, Facts};
use super::uses::{Scan, callee};
use crate::analysis::cfg::Cfg;
use crate::isa::Opcode;
use crate::syntax::{Function, Instruction, Names, Operand, Space, Statement};
use std::collections::HashSet;

/// Loops nest this deep at most; deeper ones count as spinning. Real kernels have ten.
const DEPTH: usize = 16;
/// Rounds until what depends on a source is known; more count as all.
const ROUNDS: usize = 16;
/// Compare-and-swaps of a loop that are looked at; a loop with more counts as spinning.
const SWAPS: usize = 64;

/// The line of the first loop that spins in one of these functions.
pub(super) fn spins(scan: &Scan<'_, '_>, closure: &[usize]) -> Option<u32> {
    let looks_again = looking_again(scan, closure);
    closure.iter().find_map(|&place| function_spins(scan.uses(place).function, &looks_again))
}

/// The functions that have an atomic or a load that looks again, or call one that has.
fn looking_again<'a>(scan: &Scan<'_, 'a>, closure: &[usize]) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    for &place in closure {
        let function = scan.uses(place).function;
        if instructions(function).any(|instruction| is_source(instruction)) {
            found.insert(function.name);
        }
    }
    loop {
        let before = found.len();
        for &place in closure {
            if scan.uses(place).calls.iter().any(|name| found.contains(name)) {
                found.insert(scan.uses(place).function.name);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn instructions<'m, 'a>(function: &'m Function<'a>) -> impl Iterator<Item = &'m Instruction<'a>> {
    function.body.iter().flat_map(|body| &body.statements).filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    })
}

/// True if it may read a write of another block, and a new one each time.
fn is_source(instruction: &Instruction<'_>) -> bool {
    if matches!(instruction.space(), Some(Space::Shared | Space::Local | Space::Param)) {
        return false;
    }
    match instruction.op() {
        Opcode::Ld => {
            instruction.modifiers().any(|m| matches!(m, "volatile" | "relaxed" | "acquire" | "mmio" | "cv"))
        }
        Opcode::Atom => true,
        Opcode::Multimem => instruction.has("ld_reduce"),
        _ => false,
    }
}

fn function_spins(function: &Function<'_>, looks_again: &HashSet<&str>) -> Option<u32> {
    let body = function.body.as_ref()?;
    let may = |instruction: &Instruction<'_>| {
        is_source(instruction)
            || is_fence(instruction)
            || instruction.has("cg")
            || callee_is(instruction, looks_again)
    };
    if !instructions(function).any(may) {
        return None;
    }
    let cfg = Cfg::new(body, &Names::new(body));
    let facts = Facts::new(body);
    let mut work = vec![((0..cfg.blocks.len() as u32).collect::<Vec<u32>>(), 0)];
    while let Some((blocks, depth)) = work.pop() {
        for component in components(&cfg, &blocks) {
            let body = Loop { cfg: &cfg, facts: &facts, blocks: component };
            if depth >= DEPTH || body.spins(looks_again) {
                return Some(body.line().unwrap_or(function.line));
            }
            // Without its header a loop falls apart into those inside of it.
            let inner = body.blocks.iter().copied().filter(|&block| block != body.blocks[0]).collect();
            work.push((inner, depth + 1));
        }
    }
    None
}

/// True if it may read what another block writes.
fn may_look(instruction: &Instruction<'_>) -> bool {
    let own = matches!(instruction.space(), Some(Space::Shared | Space::Local | Space::Param | Space::Const));
    match instruction.op() {
        Opcode::Ld | Opcode::Atom => !own,
        Opcode::Multimem | Opcode::Call => true,
        _ => false,
    }
}

fn is_fence(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.op(), Opcode::Membar | Opcode::Fence | Opcode::Nanosleep)
}

fn callee_is(instruction: &Instruction<'_>, functions: &HashSet<&str>) -> bool {
    instruction.op() == Opcode::Call && callee(instruction).is_some_and(|name| functions.contains(name))
}

/// The cycles among some blocks, strongly connected components of them (Tarjan, "Depth-first search and linear graph
/// algorithms", 1972), each sorted: first its header, the block that the order of the graph reaches first.
fn components(cfg: &Cfg, blocks: &[u32]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let inside: HashSet<u32> = blocks.iter().copied().collect();
    let mut number = vec![NEW; cfg.blocks.len()];
    let mut low = vec![NEW; cfg.blocks.len()];
    let mut on_stack = vec![false; cfg.blocks.len()];
    let (mut stack, mut found, mut count) = (Vec::new(), Vec::new(), 0);
    for &root in blocks {
        if number[root as usize] != NEW {
            continue;
        }
        let mut path = vec![(root, 0usize)];
        while let Some((block, next)) = path.last_mut() {
            let (at, block) = (*block as usize, *block);
            if *next == 0 {
                (number[at], low[at], on_stack[at]) = (count, count, true);
                count += 1;
                stack.push(block);
            }
            let successor = cfg.blocks[at].successors.get(*next).copied();
            *next += 1;
            match successor {
                Some(to) if !inside.contains(&to) => {}
                Some(to) if number[to as usize] == NEW => path.push((to, 0)),
                Some(to) => {
                    if on_stack[to as usize] {
                        low[at] = low[at].min(number[to as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(above, _)) = path.last() {
                        low[above as usize] = low[above as usize].min(low[at]);
                    }
                    if low[at] == number[at] {
                        let mut component = Vec::new();
                        while let Some(member) = stack.pop() {
                            on_stack[member as usize] = false;
                            component.push(member);
                            if member == block {
                                break;
                            }
                        }
                        component.sort_unstable();
                        if component.len() > 1 || cfg.blocks[at].successors.contains(&block) {
                            found.push(component);
                        }
                    }
                }
            }
        }
    }
    found
}

struct Loop<'c, 'm, 'a> {
    cfg: &'c Cfg,
    facts: &'c Facts<'m, 'a>,
    /// The header first.
    blocks: Vec<u32>,
}

impl<'c, 'm, 'a> Loop<'c, 'm, 'a> {
    fn block(&self, block: u32) -> impl DoubleEndedIterator<Item = &'c Fact<'m, 'a>> + use<'c, 'm, 'a> {
        let facts = self.facts;
        self.cfg.blocks[block as usize].instructions.iter().filter_map(move |&at| facts.at(at))
    }

    fn all(&self) -> impl Iterator<Item = &'c Fact<'m, 'a>> {
        self.blocks.iter().flat_map(|&block| self.block(block))
    }

    fn instructions(&self) -> impl Iterator<Item = &'m Instruction<'a>> {
        self.all().map(|fact| fact.instruction)
    }

    fn line(&self) -> Option<u32> {
        self.instructions().map(|instruction| instruction.line).min()
    }

    fn spins(&self, looks_again: &HashSet<&str>) -> bool {
        let sleeps = self.instructions().any(|instruction| instruction.op() == Opcode::Nanosleep);
        if sleeps && self.instructions().any(may_look) {
            return true;
        }
        // Each is followed through the whole loop.
        let swaps =
            self.instructions().filter(|instruction| instruction.has("cas") && is_source(instruction));
        if swaps.count() > SWAPS {
            return true;
        }
        let mut defined = vec![false; self.facts.names()];
        for &name in self.all().flat_map(|fact| &fact.defines) {
            defined[name as usize] = true;
        }
        let fenced = self.instructions().any(is_fence);
        let is_source = |fact: &Fact<'_, '_>| {
            let instruction = fact.instruction;
            match instruction.op() {
                Opcode::Call => callee_is(instruction, looks_again),
                Opcode::Atom if instruction.has("cas") && is_source(instruction) => !self.retries(fact),
                Opcode::Ld if self.is_same_place(instruction, &defined) => {
                    is_source(instruction) || fenced || instruction.has("cg")
                }
                _ => is_source(instruction),
            }
        };
        let sources: Vec<u32> =
            self.all().filter(|&fact| is_source(fact)).flat_map(|fact| &fact.defines).copied().collect();
        if sources.is_empty() {
            return false;
        }
        match self.depends(&sources) {
            Some(tainted) => self.blocks.iter().any(|&block| self.leaves_by(block, &tainted)),
            None => true,
        }
    }

    /// True if a compare-and-swap compares with what was read in the loop.
    fn retries(&self, swap: &Fact<'_, '_>) -> bool {
        let Some(Operand::Name(comparand)) = swap.instruction.operands.get(2) else { return false };
        let loads = self.all().filter(|fact| {
            let load = fact.instruction;
            matches!(load.op(), Opcode::Ld | Opcode::Ldu) && load.space() != Some(Space::Param)
        });
        let mut sources: Vec<u32> = loads.flat_map(|fact| &fact.defines).copied().collect();
        sources.extend(&swap.defines);
        let number = self.facts.number(comparand);
        let read = self.depends(&sources);
        read.zip(number).is_some_and(|(read, number)| read[number as usize])
    }

    /// Returns, by name, if a register or call parameter depends on one of the sources within the loop. `None` after
    /// too many rounds.
    fn depends(&self, sources: &[u32]) -> Option<Vec<bool>> {
        let mut tainted = vec![false; self.facts.names()];
        sources.iter().for_each(|&source| tainted[source as usize] = true);
        let mut memory = false;
        for _ in 0..ROUNDS {
            let mut changed = false;
            let controlled = self.controlled(&tainted);
            for &block in &self.blocks {
                let always = controlled[block as usize];
                for fact in self.block(block) {
                    let op = fact.instruction.op();
                    let reads_memory = memory && fact.own_memory && op == Opcode::Ld;
                    if !(always || reads_memory || is_any(&fact.reads, &tainted)) {
                        continue;
                    }
                    if fact.own_memory && op == Opcode::St {
                        changed |= !std::mem::replace(&mut memory, true);
                    }
                    for &name in &fact.defines {
                        changed |= !std::mem::replace(&mut tainted[name as usize], true);
                    }
                }
            }
            if !changed {
                return Some(tainted);
            }
        }
        None
    }

    /// Returns, by block, if a branch of the loop on a tainted value controls its execution.
    fn controlled(&self, tainted: &[bool]) -> Vec<bool> {
        let mut controlled = vec![false; self.cfg.blocks.len()];
        for &block in self.blocks.iter().filter(|&&block| self.branches_by(block, tainted)) {
            for &successor in &self.cfg.blocks[block as usize].successors {
                if self.cfg.blocks[successor as usize].predecessors.len() == 1 {
                    controlled[successor as usize] = true;
                }
            }
        }
        // A block comes after what dominates it.
        for &block in &self.blocks {
            controlled[block as usize] |= controlled[self.cfg.dominator[block as usize] as usize];
        }
        controlled
    }

    fn branches_by(&self, block: u32, tainted: &[bool]) -> bool {
        self.block(block).next_back().is_some_and(|last| {
            matches!(last.instruction.op(), Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit)
                && is_any(&last.reads, tainted)
        })
    }

    fn leaves_by(&self, block: u32, tainted: &[bool]) -> bool {
        let outside = |to: &u32| self.blocks.binary_search(to).is_err();
        let last = self.block(block).next_back();
        let ends = last.is_some_and(|last| matches!(last.instruction.op(), Opcode::Ret | Opcode::Exit));
        let leaves = ends || self.cfg.blocks[block as usize].successors.iter().any(outside);
        leaves && self.branches_by(block, tainted)
    }

    /// True if it loads from global memory, of an address that does not change in the loop.
    fn is_same_place(&self, load: &Instruction<'_>, defined: &[bool]) -> bool {
        let Some(Operand::Address(address)) = load.operands.get(1) else { return false };
        let base = address.base.and_then(|base| self.facts.number(base));
        matches!(load.space(), None | Some(Space::Global)) && base.is_none_or(|base| !defined[base as usize])
    }
}

fn is_any(names: &[u32], of: &[bool]) -> bool {
    names.iter().any(|&name| of[name as usize])
}
