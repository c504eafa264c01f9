//! Reads block and grid sizes once for all parts of a fused kernel.
//!
//! They are equal in all parts, but the assembler does not know it: each part would load them from the constant bank,
//! which takes longer than its arithmetic, and compute the same index again.

use crate::isa::{Opcode, ThreadRelation, component, register};
use crate::syntax::{Function, Instruction, Operand, Statement, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The registers for sizes that more than one part reads, by special register.
pub(super) struct LaunchSizes<'a> {
    registers: BTreeMap<&'a str, String>,
}

impl<'a> LaunchSizes<'a> {
    /// Finds the sizes that the parts read.
    pub fn new<'m>(parts: impl Iterator<Item = &'m Function<'a>>, prefix: &str) -> LaunchSizes<'a>
    where
        'a: 'm,
    {
        let mut readers: BTreeMap<&'a str, BTreeSet<usize>> = BTreeMap::new();
        for (at, function) in parts.enumerate() {
            let statements = function.body.iter().flat_map(|body| &body.statements);
            for statement in statements {
                if let Statement::Instruction(instruction) = statement
                    && let Some(name) = size(instruction)
                {
                    readers.entry(name).or_default().insert(at);
                }
            }
        }
        let shared = readers.into_iter().filter(|(_, readers)| readers.len() > 1);
        let named = |(at, (name, _))| (name, format!("{prefix}s{at}"));
        LaunchSizes { registers: shared.enumerate().map(named).collect() }
    }

    /// Declares and initialises the registers.
    pub fn declare(&self, text: &mut String) {
        for (name, register) in &self.registers {
            let _ = writeln!(text, ".reg .b32 {register};\nmov.u32 {register}, {name};");
        }
    }

    /// Returns the register that replaces a name in an instruction, if the name is one of these sizes.
    pub fn register(&self, instruction: &Instruction<'_>, name: &str) -> Option<&str> {
        let register = self.registers.get(name).filter(|_| size(instruction) == Some(name))?;
        Some(register)
    }
}

/// Returns the size that an instruction moves into a 32-bit register, such as `%ntid.x`.
fn size<'a>(instruction: &Instruction<'a>) -> Option<&'a str> {
    let wide = |ty: Type| ty.size() == 4;
    if instruction.op() != Opcode::Mov || !instruction.types().all(wide) {
        return None;
    }
    let Some(Operand::Name(name)) = instruction.operands.get(1) else { return None };
    let sizes = matches!(register(name)?.threads(), ThreadRelation::BlockSize | ThreadRelation::GridSize);
    (sizes && component(name).is_some_and(|axis| axis < 3)).then_some(*name)
}
