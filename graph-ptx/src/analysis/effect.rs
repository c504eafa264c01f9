//! What each instruction does to memory: the one table that decides it.
//!
//! An instruction that is not listed may read and write through every address that it has, and may keep every
//! register that it is given.

use crate::syntax::{Instruction, Operand, Space, Type};

/// What is done through an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The address is only looked at.
    Nothing,
    Read,
    Write,
    /// Read and written in one.
    Atomic,
    /// Not known: anything.
    Unknown,
}

/// An address operand, in the order of the operands, and what is done through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub how: How,
    /// Generic where absent.
    pub space: Option<Space>,
    /// Bytes, where they are known.
    pub size: Option<u32>,
}

/// What kind of instruction it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// From registers to registers.
    Compute,
    /// `ld`, also of parameters and local memory.
    Load,
    /// `st`.
    Store,
    /// Anything else that has addresses: see [`touches`].
    Memory,
    /// Textures and surfaces: addresses are handles. Whether it writes.
    Texture(bool),
    Call,
    /// Jumps, barriers, hints.
    Control,
    Alloca,
    Unknown,
}

/// Of an instruction.
pub(crate) fn effect(instruction: &Instruction<'_>) -> Effect {
    match instruction.mnemonic() {
        "mov" | "add" | "sub" | "mad" | "mul" | "mul24" | "mad24" | "shl" | "shr" | "and" | "or" | "xor"
        | "not" | "neg" | "cvt" | "cvta" | "setp" | "set" | "selp" | "slct" | "fma" | "abs" | "min"
        | "max" | "div" | "rem" | "sad" | "addc" | "subc" | "madc" | "add3" | "bfe" | "bfi" | "bfind"
        | "bmsk" | "brev" | "popc" | "clz" | "cnot" | "fns" | "lop3" | "shf" | "prmt" | "szext"
        | "copysign" | "testp" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
        | "dp4a" | "dp2a" | "shfl" | "vote" | "match" | "activemask" | "redux" | "elect" | "mma" | "vadd"
        | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" | "vadd2" | "vsub2"
        | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4"
        | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" | "isspacep" | "mapa" | "getctarank" | "movmatrix"
        | "istypep" | "txq" | "suq" | "stacksave" => Effect::Compute,
        "wmma" if instruction.has("mma") => Effect::Compute,
        "ld" | "ldu" => Effect::Load,
        "st" if !instruction.has("async") && !instruction.has("bulk") => Effect::Store,
        "st" | "atom" | "red" | "cp" | "prefetch" | "prefetchu" | "applypriority" | "discard"
        | "createpolicy" | "ldmatrix" | "stmatrix" | "wmma" | "multimem" | "mbarrier" | "tensormap" => {
            Effect::Memory
        }
        "fence" if instruction.has("tensormap::generic") => Effect::Memory,
        "wgmma" | "tcgen05" | "clusterlaunchcontrol" => Effect::Memory,
        "tex" | "tld4" | "suld" => Effect::Texture(false),
        "sust" | "sured" => Effect::Texture(true),
        "call" => Effect::Call,
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "bar" | "barrier" | "membar" | "fence"
        | "nanosleep" | "pmevent" | "setmaxnreg" | "griddepcontrol" | "stackrestore" => Effect::Control,
        "alloca" => Effect::Alloca,
        _ => Effect::Unknown,
    }
}

/// Whether the first operand is what the instruction defines.
pub(crate) fn first_operand_is_defined(instruction: &Instruction<'_>) -> bool {
    let written = matches!(
        instruction.operands.first(),
        Some(Operand::Name(_) | Operand::Pair(..) | Operand::Vector(_) | Operand::Sink)
    );
    written
        && match instruction.mnemonic() {
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" | "setmaxnreg"
            | "stackrestore" | "membar" | "fence" | "griddepcontrol" => false,
            "bar" | "barrier" => instruction.has("red"),
            "tcgen05" => instruction.has("ld"),
            _ => true,
        }
}

/// Whether the first operand also counts as read: accumulators, and what is not known.
pub(crate) fn updates_first_operand(instruction: &Instruction<'_>) -> bool {
    instruction.mnemonic() == "wgmma" || matches!(effect(instruction), Effect::Unknown)
}

/// Whether it may make writes of other threads visible: before such an instruction a thread has seen only its own.
pub(crate) fn synchronises(instruction: &Instruction<'_>) -> bool {
    match instruction.mnemonic() {
        "bar" | "barrier" | "membar" | "fence" | "atom" | "mbarrier" | "call" | "griddepcontrol" => true,
        "ld" => instruction.modifiers().any(|m| matches!(m, "volatile" | "relaxed" | "acquire" | "mmio")),
        "cp" => instruction.modifiers().any(|m| m.starts_with("wait")),
        _ => matches!(effect(instruction), Effect::Unknown),
    }
}

/// The size of what a load or store moves in all, and of one element.
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

/// What is done through the `nth` address of an instruction that is no call and no texture access.
pub(crate) fn touch(instruction: &Instruction<'_>, nth: usize) -> Touch {
    let space = instruction.space();
    let known = |how| Touch { how, space, size: None };
    let shared = |how| Touch { how, space: Some(Space::Shared), size: None };
    let (size, _, _) = sizes(instruction);
    match (instruction.mnemonic(), nth) {
        ("ld" | "ldu", 0) => Touch { how: How::Read, space, size: Some(size) },
        // Those that release go to global memory, all others to shared.
        ("st", _) if instruction.has("async") && instruction.has("release") => known(How::Write),
        ("red", _) if instruction.has("async") && instruction.has("release") => known(How::Atomic),
        ("st", _) if instruction.has("async") || instruction.has("bulk") => shared(How::Write),
        ("st", 0) => Touch { how: How::Write, space, size: Some(size) },
        ("red", _) if instruction.has("async") => shared(How::Write),
        // What is exchanged and not looked at is only written; it counts as read all the same.
        ("atom" | "red", 0) => Touch { how: How::Atomic, space, size: Some(size) },
        ("prefetch" | "prefetchu" | "applypriority" | "createpolicy", _) => known(How::Nothing),
        // What was there is lost.
        ("discard", _) => known(How::Write),
        ("ldmatrix", _) => shared(How::Read),
        ("stmatrix", _) => shared(How::Write),
        ("wmma", 0) if instruction.has("load") => known(How::Read),
        ("wmma", 0) if instruction.has("store") => known(How::Write),
        ("multimem", 0) if instruction.has("ld_reduce") => known(How::Read),
        ("multimem", 0) if instruction.has("st") => known(How::Write),
        ("multimem", 0) if instruction.has("red") => known(How::Atomic),
        ("mbarrier" | "wgmma" | "tcgen05" | "clusterlaunchcontrol", _) => shared(How::Write),
        ("tensormap", 0) if instruction.has("replace") => known(How::Write),
        ("tensormap", 0) => Touch { how: How::Write, space: Some(Space::Global), size: None },
        ("tensormap", 1) => shared(How::Read),
        ("fence", _) => known(How::Read),
        ("cp", _) => copy(instruction, nth),
        _ => known(How::Unknown),
    }
}

/// What is done to global memory that no address of the instruction tells: a tensor map has the address.
pub(crate) fn through_tensor_map(instruction: &Instruction<'_>) -> Option<How> {
    let is = |modifier| instruction.has(modifier);
    if instruction.mnemonic() != "cp" || !is("tensor") || is("prefetch") {
        return None;
    }
    match instruction.modifiers().find_map(Space::from_name) {
        Some(Space::Global) if is("reduce") => Some(How::Atomic),
        Some(Space::Global) => Some(How::Write),
        _ => Some(How::Read),
    }
}

/// The copies that run on their own: `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk` and their tensor forms.
fn copy(instruction: &Instruction<'_>, nth: usize) -> Touch {
    let touch = |how, space| Touch { how, space, size: None };
    let has = |modifier| instruction.has(modifier);
    if has("mbarrier") || has("commit_group") || has("wait_group") || has("wait_all") {
        return touch(How::Write, Some(Space::Shared));
    }
    // A tensor map is read; what it describes is not an address that is seen here.
    let tensor = has("tensor");
    if has("prefetch") {
        return touch(if tensor { How::Read } else { How::Nothing }, None);
    }
    if !has("async") {
        return touch(How::Unknown, None);
    }
    let spaces: Vec<Space> = instruction.modifiers().filter_map(Space::from_name).collect();
    match (nth, &spaces[..]) {
        (0 | 1, [_, _]) if tensor && spaces[nth] == Space::Global => touch(How::Read, None),
        (0, [Space::Global, _]) if has("reduce") => touch(How::Atomic, Some(Space::Global)),
        (0, [to, _]) => touch(How::Write, Some(*to)),
        (1, [_, from]) => touch(How::Read, Some(*from)),
        (2, [_, _]) => touch(How::Write, Some(Space::Shared)),
        _ => touch(How::Unknown, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Statement, parse};

    fn touches(text: &str) -> Vec<(How, Option<Space>)> {
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
        use How::{Atomic, Nothing, Read, Write};
        use Space::{Global, Shared};
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
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4]",
                vec![(Write, Some(Shared)), (Read, None), (Write, Some(Shared))],
            ),
            (
                "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, %r3}], [%r4]",
                vec![(Read, None), (Read, Some(Shared))],
            ),
            ("atom.global.add.u32 %r1, [%rd1], 1", vec![(Atomic, Some(Global))]),
            ("red.add.f32 [%rd1], %f1", vec![(Atomic, None)]),
            ("prefetch.global.L2 [%rd1]", vec![(Nothing, Some(Global))]),
            ("made.up [%rd1]", vec![(How::Unknown, None)]),
        ] {
            assert_eq!(touches(text), expected, "{text}");
        }
    }
}
