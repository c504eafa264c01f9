//! Definitions and uses of a body by number: registers and parameters of calls.

use super::uses::{names, vector};
use crate::analysis::effect;
use crate::isa::Opcode;
use crate::syntax::{Body, Instruction, Operand, Space, Statement};
use std::collections::HashMap;

/// The definitions and uses of an instruction.
#[derive(Debug)]
pub(super) struct Fact<'m, 'a> {
    pub instruction: &'m Instruction<'a>,
    /// Registers, and the guard among them.
    pub reads: Vec<u32>,
    pub defines: Vec<u32>,
    /// It loads from, or stores to, memory that its block alone sees, or may.
    pub own_memory: bool,
}

/// The definitions and uses of a body, by statement.
#[derive(Debug)]
pub(super) struct Facts<'m, 'a> {
    of: Vec<Option<Fact<'m, 'a>>>,
    numbers: HashMap<&'a str, u32>,
}

impl<'m, 'a> Facts<'m, 'a> {
    pub fn new(body: &'m Body<'a>) -> Self {
        let mut facts = Facts { of: Vec::with_capacity(body.statements.len()), numbers: HashMap::new() };
        for statement in &body.statements {
            let fact = match statement {
                Statement::Instruction(instruction) => Some(facts.fact(instruction)),
                _ => None,
            };
            facts.of.push(fact);
        }
        facts
    }

    /// Returns the facts about a statement that is an instruction.
    pub fn at(&self, statement: u32) -> Option<&Fact<'m, 'a>> {
        self.of.get(statement as usize)?.as_ref()
    }

    /// The number of names.
    pub fn names(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the number of a name.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(vector(name)).copied()
    }

    fn fact(&mut self, instruction: &'m Instruction<'a>) -> Fact<'m, 'a> {
        let defines = self.numbers_of(defines(instruction));
        let mut reads = self.numbers_of(reads(instruction));
        reads.extend(self.numbers_of(instruction.guard.iter().map(|guard| guard.register).collect()));
        let own_memory = matches!(instruction.space(), None | Some(Space::Local | Space::Shared));
        Fact { instruction, reads, defines, own_memory }
    }

    fn numbers_of(&mut self, names: Vec<&'a str>) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(names.len());
        for name in names {
            let next = self.numbers.len() as u32;
            numbers.push(*self.numbers.entry(name).or_insert(next));
        }
        numbers
    }
}

/// The registers that it defines; for a store of parameters and a call, the parameters that it fills.
fn defines<'a>(instruction: &Instruction<'a>) -> Vec<&'a str> {
    let mut found = Vec::new();
    let first = match instruction.op() {
        Opcode::Call => {
            matches!(instruction.operands.first(), Some(Operand::List(_))) && instruction.operands.len() > 1
        }
        Opcode::St => instruction.space() == Some(Space::Param),
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
