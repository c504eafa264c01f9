//! The loads and stores of a slice as instructions between memory and registers.

use crate::analysis::code::SsaFunction as Body;
use crate::analysis::effect::{self, Effect};
use crate::coverage::MemoryInstruction;
use crate::syntax::{Instruction, Names, Operand, StateSpace, Type, TypeClass};
use std::collections::BTreeMap;

/// Returns the loads and stores at these steps, each with its parameter.
pub(super) fn accesses(
    body: &Body<'_, '_>,
    stores: &BTreeMap<u32, u32>,
    mut note: impl FnMut(u32) -> u32,
) -> Vec<MemoryInstruction> {
    let names = body.function.body.as_ref().map(Names::new);
    let mut all = Vec::with_capacity(stores.len());
    for (&step, &parameter) in stores {
        let Some(instruction) = body.steps[step as usize].instruction else { continue };
        let stores = effect::effect(instruction) == Effect::Store;
        let element = names.as_ref().and_then(|names| element(instruction, names, stores));
        let bytes = effect::sizes(instruction).0;
        all.push(MemoryInstruction {
            note: note(step),
            at: instruction.span.start,
            parameter,
            stores,
            element,
            bytes,
        });
    }
    all
}

/// Returns the size of an element if every element is a constant or a register of that size (16 bits for a byte). A
/// register move can then replace the access. `None` for other forms of instructions.
fn element(instruction: &Instruction<'_>, names: &Names<'_, '_>, stores: bool) -> Option<u32> {
    let known = |modifier: &str| {
        Type::from_name(modifier).is_some()
            || matches!(
                modifier,
                "global"
                    | "weak"
                    | "nc"
                    | "ca"
                    | "cg"
                    | "cs"
                    | "lu"
                    | "cv"
                    | "wb"
                    | "wt"
                    | "v2"
                    | "v4"
                    | "v8"
            )
            || modifier.starts_with("L1::")
            || modifier.starts_with("L2::")
    };
    let (bytes, element, ty) = effect::sizes(instruction);
    let (value, address) = match (stores, &instruction.operands[..]) {
        (true, [address, value]) | (false, [value, address]) => (value, address),
        _ => return None,
    };
    let plain = matches!(element, 1 | 2 | 4 | 8)
        && instruction.modifiers().all(known)
        && instruction.types().count() == 1
        && ty.is_some_and(|ty| matches!(ty.class(), TypeClass::Integer | TypeClass::Bits | TypeClass::Float))
        && matches!(address, Operand::Address(_));
    if !plain {
        return None;
    }
    let fits = |operand: &Operand<'_>| match operand {
        Operand::Name(name) => names.resolve(instruction.scope, name).is_some_and(|binding| {
            let variable = binding.variable;
            let scalar =
                variable.space == StateSpace::Reg && variable.vector == 1 && variable.ty != Type::Pred;
            scalar && variable.ty.size() == element.max(2)
        }),
        Operand::Integer(_) => stores,
        Operand::Single(_) => stores && element == 4,
        Operand::Double(_) => stores && element == 8,
        _ => false,
    };
    let all = match value {
        Operand::Vector(values) => values.len() == (bytes / element) as usize && values.iter().all(fits),
        value => bytes == element && fits(value),
    };
    all.then_some(element)
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Analysis, ParameterKinds};
    use crate::syntax::parse;

    fn elements(body: &str) -> Vec<Option<u32>> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x) {{ .reg .b64 %rd<3>; \
                .reg .f32 %f<5>; \
             .reg .b32 %r<5>; .reg .b16 %s<5>; ld.param.u64 %rd1, [x]; {body} ret; }}"
        );
        let module = parse(&text).unwrap();
        let slice = Analysis::new(&module)
            .slice_accesses("k", ParameterKinds { pointers: &[true], ..ParameterKinds::default() });
        slice.instructions.iter().map(|access| access.element).collect()
    }

    #[test]
    fn registers_hold_elements_of_their_size() {
        assert_eq!(
            elements("ld.global.v2.f32 {%f1, %f2}, [%rd1]; st.global.u16 [%rd1], %s1;"),
            [Some(4), Some(2)]
        );
        assert_eq!(elements("ld.global.u8 %s1, [%rd1]; ld.global.u8 %r1, [%rd1];"), [Some(1), None]);
        // No register has the size of an element.
        assert_eq!(elements("ld.global.v2.f32 {%f1, _}, [%rd1];"), [None]);
    }
}
