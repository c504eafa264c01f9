//! Rewrites the body of a batched entry: it reads parameters from the member's record and grid registers from the
//! prologue.

use super::edit::Edits;
use super::grid_arguments::{self, PassedRegisters};
use super::prologue::AddedNames;
use super::refusal::Refusal;
use super::scan::{GridRegisters, Special, callee, names, special};
use super::table::BatchTable;
use crate::analysis::effect::{self, Effect};
use crate::isa::{self, BatchValue, Operation, register};
use crate::syntax::{Body, Function, Instruction, Module, Names, Operand, Span, Statement, Type};

/// The values that the prologue must define.
#[derive(Debug, Default)]
pub(super) struct PrologueNeeds {
    /// The grid registers.
    pub grid: GridRegisters,
    /// True if the fourth component of a grid vector is used.
    pub zero: bool,
    /// The offsets in the record whose addresses are used.
    pub addresses: Vec<i64>,
}

/// Rewrites a body.
pub(super) struct Rewriting<'e, 'm, 'a> {
    pub module: &'m Module<'a>,
    pub function: &'m Function<'a>,
    pub own: &'e AddedNames,
    /// The table with the parameters of a variant. `None` for a function, which keeps its own parameters.
    pub table: Option<&'e BatchTable>,
    /// The grid registers that functions receive as arguments.
    pub passed: &'e PassedRegisters<'a>,
    pub edits: &'e mut Edits,
    pub wanted: PrologueNeeds,
}

impl<'a> Rewriting<'_, '_, 'a> {
    /// Rewrites the whole body.
    pub fn body(&mut self, body: &Body<'a>) -> Result<(), Refusal> {
        let names_of = Names::new(body);
        for statement in &body.statements {
            match statement {
                Statement::Instruction(instruction) => {
                    let mut found = false;
                    for operand in &instruction.operands {
                        names(operand, &mut |name| found |= self.concerns(name));
                    }
                    if found {
                        self.instruction(instruction, &names_of)?;
                    }
                    if effect::effect(instruction) == Effect::Call {
                        self.call(instruction)?;
                    }
                }
                Statement::Location(location) if location.inlined.is_some() => {
                    // The debug section that describes the inlined function is not copied.
                    let text = self.module.source(location.span);
                    if let Some(comma) = text.find(',') {
                        let start = location.span.start + comma as u32;
                        self.edits.replace(Span { start, end: location.span.end }, "");
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns true if a name may have to be replaced.
    fn concerns(&self, name: &str) -> bool {
        let grid = register(name).is_some_and(|register| register.in_batch() == BatchValue::Grid);
        grid || (self.table.is_some() && self.function.parameter(name).is_some())
    }

    fn instruction(
        &mut self,
        instruction: &Instruction<'a>,
        names_of: &Names<'_, 'a>,
    ) -> Result<(), Refusal> {
        for (at, operand) in instruction.operands.iter().enumerate() {
            let mut inner = Vec::new();
            names(operand, &mut |name| inner.push(name));
            for name in inner {
                if !self.concerns(name) || names_of.resolve(instruction.scope, name).is_some() {
                    continue;
                }
                match (self.function.parameter(name), self.table) {
                    (Some(parameter), Some(table)) => {
                        let place = table.parameters[parameter].offset;
                        self.parameter(instruction, operand, at, name, place)?;
                    }
                    (Some(_), None) => {}
                    (None, _) => self.register(instruction, operand, name)?,
                }
            }
        }
        Ok(())
    }

    fn parameter(
        &mut self,
        instruction: &Instruction<'a>,
        operand: &Operand<'a>,
        at: usize,
        name: &'a str,
        place: u32,
    ) -> Result<(), Refusal> {
        let refuse = Refusal::Parameter { name: name.to_owned(), line: instruction.line };
        let span = self.module.span_of(name);
        let of_parameters = instruction.modifiers().any(|m| m == "param" || m.starts_with("param::"));
        let index = self.function.parameter(name);
        let element = index.map_or(1, |index| i64::from(self.function.parameters[index].ty.size()));
        let loads = effect::effect(instruction) == Effect::Load;
        let operation = isa::row(instruction.op()).operation;
        let moves = operation == Operation::Move || operation == Operation::Address;
        match operand {
            Operand::Address(address) if loads && of_parameters && address.base == Some(name) => {
                let records = self.table.map_or(0, |table| table.records);
                let from = format!("{}+{}", self.own.record(), u64::from(place) + u64::from(records));
                self.edits.replace(span, from);
            }
            Operand::Address(address) if of_parameters && address.base == Some(name) => {
                let register = self.address(i64::from(place));
                self.edits.replace(span, register);
            }
            Operand::Name(_) if moves && at == 1 && takes_address(instruction) => {
                let register = self.address(i64::from(place));
                self.edits.replace(span, register);
            }
            Operand::Offset { offset, elements, .. }
                if moves && at == 1 && instruction.operands.len() == 2 && takes_address(instruction) =>
            {
                let offset = if *elements { offset.wrapping_mul(element) } else { *offset };
                let register = self.address(i64::from(place).wrapping_add(offset));
                self.edits.replace(Span { start: span.start, end: instruction.span.end - 1 }, register);
            }
            _ => return Err(refuse),
        }
        Ok(())
    }

    /// Returns the register with the address of an offset in the record.
    fn address(&mut self, offset: i64) -> String {
        let known = self.wanted.addresses.iter().position(|&other| other == offset);
        let number = known.unwrap_or_else(|| {
            self.wanted.addresses.push(offset);
            self.wanted.addresses.len() - 1
        });
        self.own.address(number)
    }

    /// Rewrites a read of a grid register, which is only supported in `mov` and `cvt`.
    fn register(
        &mut self,
        instruction: &Instruction<'a>,
        operand: &Operand<'a>,
        name: &str,
    ) -> Result<(), Refusal> {
        let refuse = Refusal::Special { register: name.to_owned(), line: instruction.line };
        let span = self.module.span_of(name);
        let word = instruction.types().next_back().is_some_and(|ty| ty.size() == 4);
        let operation = isa::row(instruction.op()).operation;
        let moves = operation == Operation::Move && word;
        match (special(name), operand) {
            (Special::Grid(register), Operand::Name(_)) if moves || operation == Operation::Convert => {
                let from = self.want(register);
                self.edits.replace(span, from);
            }
            (Special::Vector(registers), Operand::Name(_)) if moves && instruction.has("v4") => {
                let components: Vec<String> = GridRegisters(registers)
                    .registers()
                    .chain([GridRegisters::COUNT])
                    .map(|register| self.want(register))
                    .collect();
                match instruction.operands.first() {
                    Some(Operand::Vector(into)) if into.len() == components.len() => {
                        let moves = self.moves(instruction, into, &components).ok_or(refuse)?;
                        self.edits.replace(instruction.span, moves);
                    }
                    _ => self.edits.replace(span, format!("{{{}}}", components.join(", "))),
                }
            }
            _ => return Err(refuse),
        }
        Ok(())
    }

    /// Splits a move of a vector into one move per kept component, with the guard of the original.
    fn moves(&self, whole: &Instruction<'a>, into: &[Operand<'a>], from: &[String]) -> Option<String> {
        let opcode = self.module.span_of(whole.opcode);
        let guard = self.module.source(Span { start: whole.span.start, end: opcode.start });
        let mut moves = Vec::new();
        for (into, from) in into.iter().zip(from) {
            match into {
                Operand::Name(into) => moves.push(format!("{guard}mov.b32 {into}, {from};")),
                Operand::Sink => {}
                _ => return None,
            }
        }
        Some(moves.join(" "))
    }

    fn call(&mut self, call: &Instruction<'a>) -> Result<(), Refusal> {
        let Some(callee) = callee(call) else { return Ok(()) };
        let Some(&grid) = self.passed.get(callee) else { return Ok(()) };
        self.wanted.grid.0 |= grid.0;
        grid_arguments::call(self.module, call, callee, grid, self.own, self.edits)
    }

    fn want(&mut self, register: usize) -> String {
        if register == GridRegisters::COUNT {
            self.wanted.zero = true;
        } else {
            self.wanted.grid.0 |= 1 << register;
        }
        self.own.grid(register)
    }
}

/// Matches `mov.b64 %rd1, parameter` and `cvta.param.u64 %rd1, parameter`.
fn takes_address(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.types().next_back(), Some(Type::B64 | Type::U64 | Type::S64))
}
