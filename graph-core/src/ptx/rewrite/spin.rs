//! Loops that end by what other threads write to memory.
//!
//! Launches that wait for each other, or blocks that do, count on which of them run at once; a batch changes that.
//! A loop spins where a way out of it depends, by registers, memory of the thread or branches, on an atomic or on a
//! load that looks again: volatile, relaxed, acquire, or of the same address beside a fence. Shared memory is another
//! matter: its writers are of the same block. The retry of a compare-and-swap is allowed whose comparand was read in
//! the loop: it ends as soon as nobody else succeeds.

use super::super::cfg::Cfg;
use super::super::effect;
use super::super::{Function, Instruction, Names, Operand, Space, Statement};
use super::uses::{Scan, callee, names, vector};
use std::collections::{BTreeSet, HashSet};

/// Loops nest this deep at most; deeper ones count as spinning. Real kernels have ten.
const DEPTH: usize = 32;
/// Rounds until what depends on a source is known; more count as all.
const ROUNDS: usize = 64;

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

/// Whether what it reads may be of another block, and another each time.
fn is_source(instruction: &Instruction<'_>) -> bool {
    if matches!(instruction.space(), Some(Space::Shared | Space::Local | Space::Param)) {
        return false;
    }
    match instruction.mnemonic() {
        "ld" => {
            instruction.modifiers().any(|m| matches!(m, "volatile" | "relaxed" | "acquire" | "mmio" | "cv"))
        }
        "atom" => true,
        "multimem" => instruction.has("ld_reduce"),
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
    let mut work = vec![((0..cfg.blocks.len() as u32).collect::<Vec<u32>>(), 0)];
    while let Some((blocks, depth)) = work.pop() {
        for component in components(&cfg, &blocks) {
            let body = Loop { cfg: &cfg, function, blocks: component };
            if depth >= DEPTH || body.spins(looks_again) {
                return Some(body.line());
            }
            // Without its header a loop falls apart into those inside of it.
            let inner = body.blocks.iter().copied().filter(|&block| block != body.blocks[0]).collect();
            work.push((inner, depth + 1));
        }
    }
    None
}

fn is_fence(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.mnemonic(), "membar" | "fence" | "nanosleep")
}

fn callee_is(instruction: &Instruction<'_>, functions: &HashSet<&str>) -> bool {
    instruction.mnemonic() == "call" && callee(instruction).is_some_and(|name| functions.contains(name))
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
    function: &'m Function<'a>,
    /// The header first.
    blocks: Vec<u32>,
}

impl<'m, 'a> Loop<'_, 'm, 'a> {
    fn block(&self, block: u32) -> impl Iterator<Item = &'m Instruction<'a>> + use<'_, 'm, 'a> {
        let statements = self.function.body.as_ref().map_or(&[][..], |body| &body.statements);
        self.cfg.blocks[block as usize].instructions.iter().filter_map(|&at| match &statements[at as usize] {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    }

    fn instructions(&self) -> impl Iterator<Item = &'m Instruction<'a>> + use<'_, 'm, 'a> {
        self.blocks.iter().flat_map(|&block| self.block(block))
    }

    fn line(&self) -> u32 {
        self.instructions().map(|instruction| instruction.line).min().unwrap_or(self.function.line)
    }

    fn spins(&self, looks_again: &HashSet<&str>) -> bool {
        if self.instructions().any(|instruction| instruction.mnemonic() == "nanosleep") {
            return true;
        }
        let mut sources: Vec<&str> = Vec::new();
        let defined: HashSet<&str> = self.instructions().flat_map(defines).collect();
        let fenced = self.instructions().any(is_fence);
        for instruction in self.instructions() {
            let source = match instruction.mnemonic() {
                "call" => callee_is(instruction, looks_again),
                "atom" if instruction.has("cas") && is_source(instruction) => !self.retries(instruction),
                "ld" if is_same_place(instruction, &defined) => {
                    is_source(instruction) || fenced || instruction.has("cg")
                }
                _ => is_source(instruction),
            };
            if source {
                sources.extend(defines(instruction));
            }
        }
        if sources.is_empty() {
            return false;
        }
        match self.depends(sources) {
            Some(tainted) => self.blocks.iter().any(|&block| self.leaves_by(block, &tainted)),
            None => true,
        }
    }

    /// Whether a compare-and-swap compares with what was read in the loop.
    fn retries(&self, swap: &Instruction<'a>) -> bool {
        let Some(Operand::Name(comparand)) = swap.operands.get(2) else { return false };
        let loads = self.instructions().filter(|instruction| {
            matches!(instruction.mnemonic(), "ld" | "ldu") && instruction.space() != Some(Space::Param)
        });
        let sources = loads.chain([swap]).flat_map(defines).collect();
        self.depends(sources).is_some_and(|read| read.contains(comparand))
    }

    /// The registers, and parameters of calls, that depend on one of the sources within the loop. `None` after too
    /// many rounds.
    fn depends(&self, sources: Vec<&'a str>) -> Option<HashSet<&'a str>> {
        let mut tainted: HashSet<&str> = sources.into_iter().collect();
        let mut memory = false;
        for _ in 0..ROUNDS {
            let before = (tainted.len(), memory);
            let controlled = self.controlled(&tainted);
            for &block in &self.blocks {
                let always = controlled.contains(&block);
                for instruction in self.block(block) {
                    let by_guard = instruction.guard.is_some_and(|guard| tainted.contains(guard.register));
                    let own_memory = matches!(instruction.space(), None | Some(Space::Local | Space::Shared));
                    let reads_memory = memory && own_memory && instruction.mnemonic() == "ld";
                    if always
                        || by_guard
                        || reads_memory
                        || reads(instruction).iter().any(|n| tainted.contains(n))
                    {
                        memory |= own_memory && instruction.mnemonic() == "st";
                        tainted.extend(defines(instruction));
                    }
                }
            }
            if before == (tainted.len(), memory) {
                return Some(tainted);
            }
        }
        None
    }

    /// Blocks of the loop that run or not by a branch on something tainted.
    fn controlled(&self, tainted: &HashSet<&str>) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for &block in &self.blocks {
            if !self.branches_by(block, tainted) {
                continue;
            }
            for &successor in &self.cfg.blocks[block as usize].successors {
                if self.cfg.blocks[successor as usize].predecessors.len() == 1 {
                    let below = self.blocks.iter().filter(|&&other| self.cfg.dominates(successor, other));
                    found.extend(below);
                }
            }
        }
        found
    }

    fn branches_by(&self, block: u32, tainted: &HashSet<&str>) -> bool {
        self.block(block).last().is_some_and(|last| {
            let jumps = matches!(last.mnemonic(), "bra" | "brx" | "ret" | "exit");
            let by_guard = last.guard.is_some_and(|guard| tainted.contains(guard.register));
            jumps && (by_guard || reads(last).iter().any(|name| tainted.contains(name)))
        })
    }

    fn leaves_by(&self, block: u32, tainted: &HashSet<&str>) -> bool {
        let leaves = |block: u32| {
            let outside = |to: &u32| self.blocks.binary_search(to).is_err();
            let ends = self.block(block).last().is_some_and(|last| matches!(last.mnemonic(), "ret" | "exit"));
            ends || self.cfg.blocks[block as usize].successors.iter().any(outside)
        };
        leaves(block) && self.branches_by(block, tainted)
    }
}

/// A load of global memory whose address does not change in the loop.
fn is_same_place(load: &Instruction<'_>, defined: &HashSet<&str>) -> bool {
    let Some(Operand::Address(address)) = load.operands.get(1) else { return false };
    matches!(load.space(), None | Some(Space::Global))
        && address.base.is_none_or(|base| !defined.contains(base))
}

/// The registers that it defines; for a store of parameters and a call, the parameters that it fills.
fn defines<'a>(instruction: &Instruction<'a>) -> Vec<&'a str> {
    let mut found = Vec::new();
    let first = match instruction.mnemonic() {
        "call" => {
            matches!(instruction.operands.first(), Some(Operand::List(_))) && instruction.operands.len() > 1
        }
        "st" => instruction.space() == Some(Space::Param),
        _ => effect::first_operand_is_defined(instruction),
    };
    if let (true, Some(operand)) = (first, instruction.operands.first()) {
        names(operand, &mut |name| found.push(vector(name)));
    }
    found
}

fn reads<'a>(instruction: &Instruction<'a>) -> Vec<&'a str> {
    let mut found = Vec::new();
    let skip = usize::from(!defines(instruction).is_empty());
    for operand in instruction.operands.iter().skip(skip) {
        names(operand, &mut |name| found.push(vector(name)));
    }
    found
}
