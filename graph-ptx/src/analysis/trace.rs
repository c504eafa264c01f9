//! Following a value back through the steps that define it.

use crate::analysis::code::{Code, NONE, Place, Source, Step};
use crate::analysis::effect;
use crate::isa::{Opcode, Register, register};
use crate::syntax::{Class, Instruction};
use std::collections::BTreeSet;

/// Follows a value through moves and conversions between integers.
pub(crate) fn canonical(code: &Code<'_, '_>, mut value: u32) -> u32 {
    for _ in 0..8 {
        let Some(step) = definition(code, value) else { return value };
        let (Some(instruction), [Source::Place(Place::Value(from), 0)]) =
            (step.instruction, &step.sources[..])
        else {
            return value;
        };
        let copies = matches!(instruction.op(), Opcode::Mov | Opcode::Cvt)
            && step.defines.len() == 1
            && step.keeps.is_empty()
            && instruction.types().all(|ty| ty.class() != Class::Float && ty.size() >= 4);
        if !copies {
            return value;
        }
        value = *from;
    }
    value
}

/// Returns the step that defines a value.
pub(crate) fn definition<'s, 'm, 'a>(code: &'s Code<'m, 'a>, value: u32) -> Option<&'s Step<'m, 'a>> {
    let at = *code.definitions.get(value as usize)?;
    code.steps.get(at as usize)
}

/// The special registers that a value is computed from, not through memory. `None` where that is not found out.
pub(crate) fn thread_place<'a>(code: &Code<'_, 'a>, value: u32) -> Option<BTreeSet<&'a str>> {
    let mut found = BTreeSet::new();
    let (mut stack, mut seen) = (vec![value], BTreeSet::new());
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        if seen.len() > 64 {
            return None;
        }
        let Some(step) = definition(code, value) else { continue };
        if let Some(Opcode::Ld | Opcode::Ldu | Opcode::Atom | Opcode::Tex | Opcode::Shfl | Opcode::Call) =
            step.instruction.map(Instruction::op)
        {
            continue;
        }
        for source in &step.sources {
            match source {
                // Sizes are the same for every thread.
                Source::Special(name)
                    if matches!(register(name), Some(Register::Ntid | Register::Nctaid)) => {}
                Source::Special(name) => {
                    found.insert(*name);
                }
                Source::Place(Place::Value(value), _) if *value != NONE => stack.push(*value),
                _ => {}
            }
        }
    }
    Some(found)
}

/// The parameter that a value is loaded from, whole.
pub(crate) fn parameter(code: &Code<'_, '_>, step: &Step<'_, '_>) -> Option<u32> {
    let instruction = step.instruction?;
    let [Source::Memory(Place::Parameter(parameter), 0)] = &step.sources[..] else { return None };
    let declared = code.function.parameters.get(*parameter as usize)?;
    let (size, _, _) = effect::sizes(instruction);
    let whole = instruction.op() == Opcode::Ld
        && step.guard.is_none()
        && step.defines.len() == 1
        && u64::from(size) == declared.size()
        && size >= 4
        && matches!(declared.class(), Class::Integer | Class::Bits);
    whole.then_some(*parameter)
}
