//! Sums of two products that the assembler may fuse either way.
//!
//! `mul` and `add` without a rounding modifier may become one `fma`, which rounds once and not twice. Of a sum of one
//! product and something else the assembler makes the same in every form of a kernel (`benches/results/contraction.md`);
//! of a sum of two products it fuses one, and nothing says that it is the same one where the code around it differs.

use crate::analysis::effect::first_operand_is_defined;
use crate::analysis::mentions::names;
use crate::isa::Opcode;
use crate::syntax::{Class, Function, Instruction, Operand, Space, Statement, Type};
use std::collections::HashSet;

/// The maximum number of passes over a body; beyond it every value counts as a product.
const MOST_PASSES: usize = 16;

/// Registers of a body that may hold such a product, by name. Registers of one name in several scopes are taken for one.
#[derive(Default)]
struct Products<'a> {
    of: HashSet<&'a str>,
    /// A product was stored, or passed by a call, where loads of local memory and of parameters may find it.
    stored: bool,
}

/// The line of the first sum or difference of two products, none of the three with a rounding modifier.
///
/// Time: linear in the body.
pub(super) fn sum_of_products(function: &Function<'_>) -> Option<u32> {
    let body = function.body.as_ref()?;
    let instructions = || {
        body.statements.iter().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    };
    if function.entry
        && !instructions().any(|instruction| instruction.op() == Opcode::Mul && is_bare(instruction))
    {
        return None;
    }
    let mut products = Products { stored: !function.entry, ..Products::default() };
    let settled = (0..MOST_PASSES).any(|_| {
        let before = (products.of.len(), products.stored);
        instructions().for_each(|instruction| products.step(instruction));
        before == (products.of.len(), products.stored)
    });
    let of_products = |sum: &Instruction<'_>| {
        let terms = sum.operands.iter().skip(1);
        !settled || terms.filter(|term| products.has(term)).count() > 1
    };
    let is_sum = |instruction: &Instruction<'_>| {
        matches!(instruction.op(), Opcode::Add | Opcode::Sub) && is_bare(instruction)
    };
    instructions().find(|instruction| is_sum(instruction) && of_products(instruction)).map(|sum| sum.line)
}

/// True if it is of floats and has no rounding modifier.
fn is_bare(instruction: &Instruction<'_>) -> bool {
    let float = |ty: Type| ty.class() == Class::Float || ty.name().contains("f16");
    (instruction.types().any(float) || instruction.has("f32x2"))
        && !["rn", "rz", "rm", "rp", "rna"].iter().any(|modifier| instruction.has(modifier))
}

impl<'a> Products<'a> {
    /// Notes what an instruction makes of products.
    fn step(&mut self, instruction: &Instruction<'a>) {
        let memory = || matches!(instruction.space(), Some(Space::Local | Space::Param) | None);
        let carries = match instruction.op() {
            Opcode::Mul => is_bare(instruction),
            // Instructions that keep a product, but for its sign.
            Opcode::Mov
            | Opcode::Neg
            | Opcode::Abs
            | Opcode::Selp
            | Opcode::Slct
            | Opcode::Copysign
            | Opcode::Prmt
            | Opcode::Shfl => self.any(instruction),
            Opcode::Ld if memory() => self.stored,
            Opcode::Call => {
                self.stored = true;
                true
            }
            Opcode::St if memory() => {
                self.stored |= self.any(instruction);
                false
            }
            _ => false,
        };
        if !carries {
            return;
        }
        let mut define = |name| {
            self.of.insert(name);
        };
        match instruction.operands.first() {
            Some(first @ Operand::List(_)) => names(first, &mut define),
            Some(first) if first_operand_is_defined(instruction) => names(first, &mut define),
            _ => {}
        }
    }

    fn has(&self, operand: &Operand<'a>) -> bool {
        let mut found = false;
        names(operand, &mut |name| found |= self.of.contains(name));
        found
    }

    fn any(&self, instruction: &Instruction<'a>) -> bool {
        instruction
            .operands
            .iter()
            .skip(usize::from(instruction.op() != Opcode::St))
            .any(|operand| self.has(operand))
    }
}
