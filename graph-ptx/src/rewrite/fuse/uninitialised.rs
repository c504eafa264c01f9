//! Registers that a body may read before it writes them, found by a backward liveness analysis.
//!
//! The fused kernel zeroes them at the beginning of the body. Otherwise they would be live in all preceding bodies.

use crate::analysis::cfg::Cfg;
use crate::analysis::effect;
use crate::rewrite::scan::names;
use crate::syntax::{Body, Instruction, Names, Operand, StateSpace, Statement, Type};
use std::collections::{BTreeMap, BTreeSet};

/// A register: the declaring statement and the number in its range.
type RegisterId = (u32, u64);

/// The registers that the instructions of a block read before they write them, and those that they write.
#[derive(Default)]
struct BlockRegisters {
    read: BTreeSet<RegisterId>,
    written: BTreeSet<RegisterId>,
}

/// Returns instructions that zero the registers of the outermost scope that are live at the beginning of the body.
///
/// # Complexity
///
/// The number of blocks times the number of registers that live across blocks.
pub(super) fn zeroes(body: &Body<'_>) -> String {
    let names_of = Names::new(body);
    let cfg = Cfg::new(body, &names_of, &BTreeMap::new());
    let mut found: BTreeMap<RegisterId, (String, Type)> = BTreeMap::new();
    let mut uses: Vec<BlockRegisters> = Vec::with_capacity(cfg.blocks.len());
    for block in &cfg.blocks {
        let mut of_block = BlockRegisters::default();
        for &at in &block.instructions {
            if let Statement::Instruction(instruction) = &body.statements[at as usize] {
                instruction_uses(instruction, &names_of, &mut of_block, &mut found);
            }
        }
        uses.push(of_block);
    }
    let mut live: Vec<BTreeSet<RegisterId>> = uses.iter().map(|of| of.read.clone()).collect();
    let mut work: Vec<u32> = (0..cfg.blocks.len() as u32).collect();
    while let Some(block) = work.pop() {
        let (into, own) = (live[block as usize].clone(), &cfg.blocks[block as usize].predecessors);
        for &before in own {
            let written = &uses[before as usize].written;
            let known = &mut live[before as usize];
            let count = known.len();
            known.extend(into.iter().filter(|register| !written.contains(register)));
            if known.len() > count {
                work.push(before);
            }
        }
    }
    let mut text = String::new();
    for (name, ty) in live.first().into_iter().flatten().filter_map(|register| found.get(register)) {
        let zero = match (ty, ty.size()) {
            (Type::Pred, _) => format!("mov.pred {name}, 0; "),
            (_, 2) => format!("mov.b16 {name}, 0; "),
            (_, 4) => format!("mov.b32 {name}, 0; "),
            (_, 8) => format!("mov.b64 {name}, 0; "),
            _ => continue,
        };
        text.push_str(&zero);
    }
    text
}

fn instruction_uses(
    instruction: &Instruction<'_>,
    names_of: &Names<'_, '_>,
    uses: &mut BlockRegisters,
    found: &mut BTreeMap<RegisterId, (String, Type)>,
) {
    let mut register = |name: &str| -> Option<RegisterId> {
        let binding = names_of.resolve(instruction.scope, name)?;
        let variable = binding.variable;
        if variable.space != StateSpace::Reg {
            return None;
        }
        let register = (binding.statement, binding.index);
        if binding.scope == 0 && variable.vector == 1 && variable.dimensions.is_empty() {
            found.entry(register).or_insert_with(|| (name.to_owned(), variable.ty));
        }
        Some(register)
    };
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    let defines = effect::first_operand_is_defined(instruction);
    let keeps = instruction.guard.is_some() || effect::updates_first_operand(instruction);
    for (at, operand) in instruction.operands.iter().enumerate() {
        let defined = defines && at == 0;
        names(operand, &mut |name| {
            let Some(register) = register(name) else { return };
            if defined && !matches!(operand, Operand::Address(_)) {
                writes.push(register);
            }
            if !defined || keeps {
                reads.push(register);
            }
        });
    }
    if let Some(guard) = instruction.guard {
        reads.extend(register(guard.register));
    }
    uses.read.extend(reads.into_iter().filter(|register| !uses.written.contains(register)));
    if instruction.guard.is_none() {
        uses.written.extend(writes);
    }
}
