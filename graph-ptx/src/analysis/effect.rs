//! The effect of an instruction on memory, from its row in the opcode table ([`isa`]) and its modifiers.
//!
//! An unknown instruction may read and write through every address operand, and may store every register operand.

use crate::isa::{self, Addresses, Defines, SpaceSource, Synchronises, Yields};
use crate::syntax::{Instruction, Operand, StateSpace, Type};

/// The kind of access through an address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// The address is not dereferenced.
    Nothing,
    Read,
    Write,
    /// An atomic read and write.
    Atomic,
    /// Unknown: any access.
    Unknown,
}

/// An access through an address operand, numbered in operand order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperandAccess {
    pub how: AccessKind,
    /// Generic if absent.
    pub space: Option<StateSpace>,
    /// The size in bytes, if known.
    pub size: Option<u32>,
}

/// The class of an instruction with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Computes registers from registers.
    Compute,
    /// `ld`, including loads of parameters and of local memory.
    Load,
    /// `st`.
    Store,
    /// Any other instruction with addresses: see [`touch`].
    Memory,
    /// A texture or surface access, whose address is a handle. True for a write.
    Texture(bool),
    Call,
    /// Jumps, barriers and hints.
    Control,
    Alloca,
    Unknown,
}

/// Returns the effect of an instruction.
pub(crate) fn effect(instruction: &Instruction<'_>) -> Effect {
    match isa::row(instruction.op()).effect {
        isa::EffectClass::Compute => Effect::Compute,
        isa::EffectClass::Load => Effect::Load,
        isa::EffectClass::Store if instruction.has("async") || instruction.has("bulk") => Effect::Memory,
        isa::EffectClass::Store => Effect::Store,
        isa::EffectClass::Memory => Effect::Memory,
        isa::EffectClass::Wmma if instruction.has("mma") => Effect::Compute,
        isa::EffectClass::Wmma => Effect::Memory,
        isa::EffectClass::Fence if instruction.has("tensormap::generic") => Effect::Memory,
        isa::EffectClass::Fence | isa::EffectClass::Control => Effect::Control,
        isa::EffectClass::TextureRead => Effect::Texture(false),
        isa::EffectClass::TextureWrite => Effect::Texture(true),
        isa::EffectClass::Call => Effect::Call,
        isa::EffectClass::Alloca => Effect::Alloca,
        isa::EffectClass::Unknown => Effect::Unknown,
    }
}

/// Returns true if the instruction defines its first operand.
pub(crate) fn first_operand_is_defined(instruction: &Instruction<'_>) -> bool {
    let written = matches!(
        instruction.operands.first(),
        Some(Operand::Name(_) | Operand::Pair(..) | Operand::Vector(_) | Operand::Sink)
    );
    written
        && match isa::row(instruction.op()).defines {
            Defines::First | Defines::Accumulates => true,
            Defines::FirstIf(modifier) => instruction.has(modifier),
            Defines::Never => false,
        }
}

/// Returns true if the instruction also reads its first operand: an accumulator, or any operand of an unknown
/// instruction.
pub(crate) fn updates_first_operand(instruction: &Instruction<'_>) -> bool {
    match isa::row(instruction.op()).defines {
        Defines::Accumulates => true,
        Defines::First | Defines::FirstIf(_) | Defines::Never => false,
    }
}

/// Returns the source of the values that an instruction defines.
pub(crate) fn yields(instruction: &Instruction<'_>) -> Yields {
    match effect(instruction) {
        // `wmma.mma` shares its row with the loads of fragments.
        Effect::Compute if isa::row(instruction.op()).effect == isa::EffectClass::Wmma => Yields::Computed,
        Effect::Compute
        | Effect::Load
        | Effect::Store
        | Effect::Memory
        | Effect::Texture(_)
        | Effect::Call
        | Effect::Control
        | Effect::Alloca
        | Effect::Unknown => isa::row(instruction.op()).yields,
    }
}

/// Returns true if the instruction may make writes of other threads visible. Before the first such instruction a
/// thread only sees its own writes.
pub(crate) fn synchronises(instruction: &Instruction<'_>) -> bool {
    match isa::row(instruction.op()).synchronises {
        Synchronises::Always | Synchronises::Fence => true,
        Synchronises::IfOrdered => {
            instruction.modifiers().any(|m| matches!(m, "volatile" | "relaxed" | "acquire" | "mmio"))
        }
        Synchronises::IfWaits => instruction.modifiers().any(|m| m.starts_with("wait")),
        Synchronises::Never => false,
    }
}

/// Returns the total size of a load or store in bytes, the size of one element, and the element type.
pub(crate) fn sizes(instruction: &Instruction<'_>) -> (u32, u32, Option<Type>) {
    let ty = instruction.types().next_back();
    let element = ty.map_or(8, Type::size);
    let mut count = 1;
    for modifier in instruction.modifiers() {
        match modifier {
            "v2" => count = 2,
            "v4" => count = 4,
            "v8" => count = 8,
            _ => {}
        }
    }
    (element * count, element, ty)
}

/// Returns the access through the `nth` address of an instruction that is neither a call nor a texture access.
pub(crate) fn touch(instruction: &Instruction<'_>, nth: usize) -> OperandAccess {
    let row = isa::row(instruction.op());
    let has = |modifier| instruction.has(modifier);
    let asynchronous = row.space == SpaceSource::NamedUnlessAsync && (has("async") || has("bulk"));
    let to_shared = asynchronous && !(has("async") && has("release"));
    let space = match row.space {
        SpaceSource::Shared => Some(StateSpace::Shared),
        SpaceSource::NamedUnlessAsync if to_shared => Some(StateSpace::Shared),
        SpaceSource::Named | SpaceSource::NamedUnlessAsync | SpaceSource::ByForm | SpaceSource::None => {
            instruction.space()
        }
    };
    let any_size = |how| OperandAccess { how, space, size: None };
    let sized = |how| OperandAccess { how, space, size: Some(sizes(instruction).0) };
    match row.addresses {
        Addresses::Load if nth == 0 => sized(AccessKind::Read),
        Addresses::Store if asynchronous => any_size(AccessKind::Write),
        Addresses::Store if nth == 0 => sized(AccessKind::Write),
        Addresses::Update if to_shared => any_size(AccessKind::Write),
        Addresses::Update if asynchronous => any_size(AccessKind::Atomic),
        // An exchange with an unused result only writes, but is also counted as a read.
        Addresses::Update if nth == 0 => sized(AccessKind::Atomic),
        Addresses::Hint => any_size(AccessKind::Nothing),
        Addresses::Read => any_size(AccessKind::Read),
        Addresses::Write => any_size(AccessKind::Write),
        Addresses::Wmma if nth == 0 && has("load") => any_size(AccessKind::Read),
        Addresses::Wmma if nth == 0 && has("store") => any_size(AccessKind::Write),
        Addresses::Multimem if nth == 0 && has("ld_reduce") => multimem(instruction, space, AccessKind::Read),
        Addresses::Multimem if nth == 0 && has("st") => multimem(instruction, space, AccessKind::Write),
        Addresses::Multimem if nth == 0 && has("red") => multimem(instruction, space, AccessKind::Atomic),
        Addresses::Tensormap if nth == 0 && has("replace") => any_size(AccessKind::Write),
        Addresses::Tensormap if nth == 0 => {
            OperandAccess { how: AccessKind::Write, space: Some(StateSpace::Global), size: None }
        }
        Addresses::Tensormap if nth == 1 => {
            OperandAccess { how: AccessKind::Read, space: Some(StateSpace::Shared), size: None }
        }
        Addresses::Copy => copy(instruction, nth),
        Addresses::Load
        | Addresses::Store
        | Addresses::Update
        | Addresses::Wmma
        | Addresses::Multimem
        | Addresses::Tensormap
        | Addresses::None
        | Addresses::Unknown => {
            OperandAccess { how: AccessKind::Unknown, space: instruction.space(), size: None }
        }
    }
}

/// Returns an access by `multimem`. The size is unknown for types that are not in the table, such as `.e4m3x4`.
fn multimem(instruction: &Instruction<'_>, space: Option<StateSpace>, how: AccessKind) -> OperandAccess {
    let (size, _, ty) = sizes(instruction);
    OperandAccess { how, space, size: ty.map(|_| size) }
}

/// Returns the access to global memory through a tensor map, which holds the address.
pub(crate) fn through_tensor_map(instruction: &Instruction<'_>) -> Option<AccessKind> {
    let is = |modifier| instruction.has(modifier);
    if isa::row(instruction.op()).addresses != Addresses::Copy || !is("tensor") || is("prefetch") {
        return None;
    }
    match instruction.modifiers().find_map(StateSpace::from_name) {
        Some(StateSpace::Global) if is("reduce") => Some(AccessKind::Atomic),
        Some(StateSpace::Global) => Some(AccessKind::Write),
        _ => Some(AccessKind::Read),
    }
}

/// Returns an access of an asynchronous copy: `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk` or a tensor form.
fn copy(instruction: &Instruction<'_>, nth: usize) -> OperandAccess {
    let touch = |how, space| OperandAccess { how, space, size: None };
    let has = |modifier| instruction.has(modifier);
    if has("mbarrier") || has("commit_group") || has("wait_group") || has("wait_all") {
        return touch(AccessKind::Write, Some(StateSpace::Shared));
    }
    // The tensor map is read. The address that it holds is not an operand.
    let tensor = has("tensor");
    if has("prefetch") {
        return touch(if tensor { AccessKind::Read } else { AccessKind::Nothing }, None);
    }
    if !has("async") {
        return touch(AccessKind::Unknown, None);
    }
    let spaces: Vec<StateSpace> = instruction.modifiers().filter_map(StateSpace::from_name).collect();
    match (nth, &spaces[..]) {
        (0 | 1, [_, _]) if tensor && spaces[nth] == StateSpace::Global => touch(AccessKind::Read, None),
        (0, [StateSpace::Global, _]) if has("reduce") => touch(AccessKind::Atomic, Some(StateSpace::Global)),
        (0, [to, _]) => touch(AccessKind::Write, Some(*to)),
        (1, [_, from]) => touch(AccessKind::Read, Some(*from)),
        (2, [_, _]) => touch(AccessKind::Write, Some(StateSpace::Shared)),
        _ => touch(AccessKind::Unknown, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Statement, parse};

    fn touches(text: &str) -> Vec<(AccessKind, Option<StateSpace>)> {
        let text = format!(".version 8.0\n.target sm_90\n.entry k() {{ {text}; }}");
        let module = parse(&text).unwrap();
        let body = module.entry("k").unwrap().body.as_ref().unwrap();
        let Statement::Instruction(instruction) = &body.statements[0] else { panic!("no instruction") };
        let addresses = instruction
            .operands
            .iter()
            .filter(|operand| matches!(operand, Operand::Address(_) | Operand::Tensor(..)));
        (0..addresses.count()).map(|nth| touch(instruction, nth)).map(|t| (t.how, t.space)).collect()
    }

    #[test]
    fn copies_have_a_side_that_is_written() {
        use AccessKind::{Atomic, Nothing, Read, Write};
        use StateSpace::{Global, Shared};
        for (text, expected) in [
            (
                "cp.async.cg.shared.global [%r1], [%rd1], 16",
                vec![(Write, Some(Shared)), (Read, Some(Global))],
            ),
            (
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3]",
                vec![(Write, Some(Shared)), (Read, Some(Global)), (Write, Some(Shared))],
            ),
            (
                "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2",
                vec![(Write, Some(Global)), (Read, Some(Shared))],
            ),
            (
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], %r2",
                vec![(Atomic, Some(Global)), (Read, Some(Shared))],
            ),
            ("cp.async.bulk.prefetch.L2.global [%rd1], %r2", vec![(Nothing, None)]),
            (
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, \
                    %r3}], [%r4]",
                vec![(Write, Some(Shared)), (Read, None), (Write, Some(Shared))],
            ),
            (
                "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r3}], [%r4]",
                vec![(Read, None), (Read, Some(Shared))],
            ),
            ("atom.global.add.u32 %r1, [%rd1], 1", vec![(Atomic, Some(Global))]),
            ("red.add.f32 [%rd1], %f1", vec![(Atomic, None)]),
            ("multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1]", vec![(Read, Some(Global))]),
            ("multimem.ld_reduce.add.acc::f32.v2.f16x2 {%r1, %r2}, [%rd1]", vec![(Read, None)]),
            ("multimem.st.weak.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}", vec![(Write, None)]),
            ("multimem.red.global.add.u64 [%rd1], %rd2", vec![(Atomic, Some(Global))]),
            ("prefetch.global.L2 [%rd1]", vec![(Nothing, Some(Global))]),
            ("made.up [%rd1]", vec![(AccessKind::Unknown, None)]),
        ] {
            assert_eq!(touches(text), expected, "{text}");
        }
    }
}
