//! Backward walks over the definitions of a value.
//!
//! `condition` and `extent` use them to see through copies, to recognise parameters, and to tell values that depend
//! on the thread index from uniform ones.

use crate::analysis::code::{Referent, Source, SsaFunction, Step};
use crate::analysis::effect::{self, Effect};
use crate::isa::{self, Operation, ThreadRelation, Yields, register, unfollowed};
use crate::syntax::TypeClass;
use std::collections::BTreeSet;

/// Returns the value that a value copies, through moves and conversions between integers.
pub(crate) fn canonical(code: &SsaFunction<'_, '_>, mut value: u32) -> u32 {
    for _ in 0..8 {
        let Some(step) = definition(code, value) else { return value };
        let (Some(instruction), [Source::Place(Referent::Value(from), 0)]) =
            (step.instruction, &step.sources[..])
        else {
            return value;
        };
        let copies = keeps_integers(isa::row(instruction.op()).operation)
            && step.defines.len() == 1
            && step.keeps.is_empty()
            && instruction.types().all(|ty| ty.class() != TypeClass::Float && ty.size() >= 4);
        if !copies {
            return value;
        }
        value = *from;
    }
    value
}

/// Returns true for operations whose result may equal their integer operand.
fn keeps_integers(operation: Operation) -> bool {
    match operation {
        Operation::Move | Operation::Convert => true,
        unfollowed!() => false,
    }
}

/// Returns the step that defines a value.
pub(crate) fn definition<'s, 'm, 'a>(code: &'s SsaFunction<'m, 'a>, value: u32) -> Option<&'s Step<'m, 'a>> {
    let at = *code.definitions.get(value as usize)?;
    code.steps.get(at as usize)
}

/// Returns the special registers that a value is computed from, other than through memory. `None` if they are
/// unknown.
pub(crate) fn thread_registers<'a>(code: &SsaFunction<'_, 'a>, value: u32) -> Option<BTreeSet<&'a str>> {
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
        let followed = step.instruction.is_none_or(|instruction| match effect::yields(instruction) {
            Yields::Computed | Yields::Voted | Yields::Phase | Yields::Nothing | Yields::Unknown => true,
            Yields::Loaded | Yields::Fixed | Yields::Observed | Yields::Exchanged | Yields::Returned => false,
        });
        if !followed {
            continue;
        }
        for source in &step.sources {
            match source {
                Source::Special(name) => {
                    match register(name).map_or(ThreadRelation::Other, |found| found.threads()) {
                        ThreadRelation::BlockSize | ThreadRelation::GridSize => {}
                        ThreadRelation::ThreadIndex
                        | ThreadRelation::BlockIndex
                        | ThreadRelation::Lane
                        | ThreadRelation::Other => {
                            found.insert(*name);
                        }
                    }
                }
                Source::Place(..) => stack.extend(source.value()),
                Source::Memory(..) | Source::Constant(_) | Source::Other(_) => {}
            }
        }
    }
    Some(found)
}

/// Returns the parameter that a step loads as a whole.
pub(crate) fn parameter(code: &SsaFunction<'_, '_>, step: &Step<'_, '_>) -> Option<u32> {
    let instruction = step.instruction?;
    let [Source::Memory(Referent::Parameter(parameter), 0)] = &step.sources[..] else { return None };
    let declared = code.function.parameters.get(*parameter as usize)?;
    let (size, _, _) = effect::sizes(instruction);
    let whole = effect::effect(instruction) == Effect::Load
        && step.guard.is_none()
        && step.defines.len() == 1
        && u64::from(size) == declared.size()
        && size >= 4
        && matches!(declared.class(), TypeClass::Integer | TypeClass::Bits);
    whole.then_some(*parameter)
}
