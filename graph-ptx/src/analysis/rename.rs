//! Splits registers with several definitions into one value per definition.
//!
//! Phis are placed on the iterated dominance frontier of the definitions (Cytron et al., 1991), for registers that
//! some block reads before it defines them (semi-pruned form). Renaming walks the dominator tree with an undo log.

use crate::analysis::code::{NONE, Referent, Source, SsaFunction, Step};
use crate::isa::{self, ControlFlow};

/// Splits the registers of a body whose steps still name registers.
pub(crate) fn split_registers(code: &mut SsaFunction<'_, '_>) {
    let registers = code.values as usize;
    let mut definitions = vec![0u32; registers];
    for &argument in code.arguments.iter().filter(|&&argument| argument != NONE) {
        definitions[argument as usize] += 1;
    }
    for step in &code.steps {
        for &register in step.defines.iter().filter(|&&register| register != NONE) {
            definitions[register as usize] += 1;
        }
    }
    let returns = code.function.parameters.len();
    let returned: Vec<u32> = code.arguments[returns..].to_vec();
    // The caller reads a return register, which has a value at each `ret`.
    for &register in returned.iter().filter(|&&register| register != NONE) {
        definitions[register as usize] = definitions[register as usize].max(2);
    }
    if definitions.iter().all(|&count| count < 2) {
        for step in &mut code.steps {
            step.keeps.clear();
        }
        return;
    }
    let split: Vec<bool> = definitions.iter().map(|&count| count > 1).collect();
    let phis = place_phis(code, &split);
    rename(code, &split, &phis, &returned);
}

fn read(step: &Step<'_, '_>) -> impl Iterator<Item = u32> {
    let sources = step.sources.iter().filter_map(Source::value);
    sources
        .chain(step.keeps.iter().copied())
        .chain(step.guard.map(|guard| guard.0))
        .filter(|&value| value != NONE)
}

/// Returns the registers that need a phi, by block.
fn place_phis(code: &SsaFunction<'_, '_>, split: &[bool]) -> Vec<Vec<u32>> {
    let blocks = code.cfg.blocks.len();
    let mut defined_in: Vec<Vec<u32>> = vec![Vec::new(); split.len()];
    let mut crosses = vec![false; split.len()];
    // The block of the last definition of each register, plus one.
    let mut last = vec![0u32; split.len()];
    for step in &code.steps {
        for register in read(step).filter(|&register| split[register as usize]) {
            crosses[register as usize] |= last[register as usize] != step.block + 1;
        }
        for &register in step.defines.iter().filter(|&&register| register != NONE) {
            if split[register as usize] && last[register as usize] != step.block + 1 {
                last[register as usize] = step.block + 1;
                defined_in[register as usize].push(step.block);
            }
        }
    }
    for (at, &argument) in code.arguments.iter().enumerate() {
        if argument != NONE && split[argument as usize] {
            defined_in[argument as usize].push(0);
            crosses[argument as usize] |= at >= code.function.parameters.len();
        }
    }
    let frontiers = code.cfg.frontiers();
    let mut phis = vec![Vec::new(); blocks];
    let mut placed = vec![NONE; blocks];
    for register in 0..split.len() {
        if !split[register] || !crosses[register] {
            continue;
        }
        let mut work = std::mem::take(&mut defined_in[register]);
        while let Some(block) = work.pop() {
            for &frontier in &frontiers[block as usize] {
                if placed[frontier as usize] != register as u32 {
                    placed[frontier as usize] = register as u32;
                    phis[frontier as usize].push(register as u32);
                    work.push(frontier);
                }
            }
        }
    }
    phis
}

/// Returns the steps of each block, preceded by its phis. The phis have neither definitions nor sources yet.
fn with_phis<'m, 'a>(code: &mut SsaFunction<'m, 'a>, phis: &[Vec<u32>]) -> Vec<Vec<Step<'m, 'a>>> {
    let mut by_block: Vec<Vec<Step<'_, '_>>> = phis.iter().map(|_| Vec::new()).collect();
    for (block, registers) in phis.iter().enumerate() {
        let predecessors = code.cfg.blocks[block].predecessors.len();
        // The entry's phi also has the initial value as a source.
        let sources = predecessors + usize::from(block == 0);
        for _ in registers {
            by_block[block].push(Step {
                instruction: None,
                block: block as u32,
                guard: None,
                defines: vec![NONE],
                keeps: Vec::new(),
                sources: vec![Source::Other(""); sources],
                call: None,
            });
        }
    }
    for step in std::mem::take(&mut code.steps) {
        by_block[step.block as usize].push(step);
    }
    by_block
}

/// Renames registers to values in a walk over the dominator tree.
fn rename(code: &mut SsaFunction<'_, '_>, split: &[bool], phis: &[Vec<u32>], returned: &[u32]) {
    let children = dominated(code);
    let mut by_block = with_phis(code, phis);
    let mut renaming = SsaRenaming::new(code, split);
    let mut stack = vec![(0u32, false, 0usize)];
    while let Some((block, left, mark)) = stack.pop() {
        if left {
            renaming.leave(mark);
            continue;
        }
        let mark = renaming.undo.len();
        stack.push((block, true, mark));
        stack.extend(children[block as usize].iter().map(|&child| (child, false, 0)));
        let at = block as usize;
        if block == 0 {
            for (phi, &register) in phis[0].iter().enumerate() {
                let entered = renaming.current[register as usize];
                if let Some(source) = by_block[0][phi].sources.last_mut() {
                    *source = value_or_nothing(entered);
                }
            }
        }
        for (phi, &register) in phis[at].iter().enumerate() {
            by_block[at][phi].defines[0] = renaming.define(register);
        }
        for step in &mut by_block[at][phis[at].len()..] {
            renaming.step(step);
            if step
                .instruction
                .is_some_and(|instruction| isa::row(instruction.op()).flow == ControlFlow::Return)
            {
                let values = returned.iter().map(|&register| renaming.value(register)).collect();
                code.returned.push(values);
            }
        }
        pass_to_successors(code, block, &renaming, phis, &mut by_block);
    }
    code.values = renaming.values;
    code.steps = by_block.into_iter().flatten().collect();
}

/// Returns the blocks that each block immediately dominates.
fn dominated(code: &SsaFunction<'_, '_>) -> Vec<Vec<u32>> {
    let blocks = code.cfg.blocks.len();
    let mut children = vec![Vec::new(); blocks];
    for block in 1..blocks {
        children[code.cfg.dominator[block] as usize].push(block as u32);
    }
    children
}

/// Passes the values at the end of a block to the phis of its successors.
fn pass_to_successors<'a>(
    code: &SsaFunction<'_, '_>,
    block: u32,
    renaming: &SsaRenaming<'_>,
    phis: &[Vec<u32>],
    by_block: &mut [Vec<Step<'_, 'a>>],
) {
    for &successor in &code.cfg.blocks[block as usize].successors {
        let predecessors = &code.cfg.blocks[successor as usize].predecessors;
        let Some(edge) = predecessors.iter().position(|&predecessor| predecessor == block) else {
            continue;
        };
        for (phi, &register) in phis[successor as usize].iter().enumerate() {
            let value = renaming.current[register as usize];
            by_block[successor as usize][phi].sources[edge] = value_or_nothing(value);
        }
    }
}

fn value_or_nothing<'a>(value: u32) -> Source<'a> {
    if value == NONE { Source::Other("") } else { Source::Place(Referent::Value(value), 0) }
}

struct SsaRenaming<'s> {
    split: &'s [bool],
    current: Vec<u32>,
    undo: Vec<(u32, u32)>,
    values: u32,
}

impl<'s> SsaRenaming<'s> {
    /// Returns the state at the entry: split registers are undefined and arguments have the caller's values.
    fn new(code: &SsaFunction<'_, '_>, split: &'s [bool]) -> SsaRenaming<'s> {
        let mut current: Vec<u32> =
            (0..split.len()).map(|at| if split[at] { NONE } else { at as u32 }).collect();
        let parameters = code.function.parameters.len();
        for &argument in code.arguments[..parameters].iter().filter(|argument| **argument != NONE) {
            current[argument as usize] = argument;
        }
        SsaRenaming { split, current, undo: Vec::new(), values: code.values }
    }

    fn value(&self, register: u32) -> u32 {
        if register == NONE { NONE } else { self.current[register as usize] }
    }

    fn define(&mut self, register: u32) -> u32 {
        self.undo.push((register, self.current[register as usize]));
        self.current[register as usize] = self.values;
        self.values += 1;
        self.values - 1
    }

    fn leave(&mut self, mark: usize) {
        for (register, value) in self.undo.drain(mark..).rev() {
            self.current[register as usize] = value;
        }
    }

    fn step(&mut self, step: &mut Step<'_, '_>) {
        for source in &mut step.sources {
            match source {
                Source::Place(Referent::Value(value) | Referent::Part(value), _) => {
                    match self.value(*value) {
                        NONE => *source = Source::Other(""),
                        now => *value = now,
                    }
                }
                Source::Memory(Referent::Value(value) | Referent::Part(value), offset) => {
                    match self.value(*value) {
                        NONE => *source = Source::Memory(Referent::Absolute, *offset),
                        now => *value = now,
                    }
                }
                _ => {}
            }
        }
        if let Some(guard) = &mut step.guard {
            guard.0 = self.value(guard.0);
        }
        for (keep, &register) in step.keeps.iter_mut().zip(&step.defines) {
            *keep = match register {
                NONE => NONE,
                // The register has no other definition, so it had no value before.
                register if !self.split[register as usize] => NONE,
                register => self.current[register as usize],
            };
        }
        for at in 0..step.defines.len() {
            let register = step.defines[at];
            if register != NONE && self.split[register as usize] {
                step.defines[at] = self.define(register);
            }
        }
    }
}
