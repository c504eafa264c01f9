//! Checks that a body can be followed by another body in the same kernel.
//!
//! It rejects instructions whose effect reaches beyond the block or the body, special registers whose value would
//! change, and barriers that cannot be told apart. `early_exits` checks threads that exit early.

use super::early_exits::{self, is_counted, is_joint};
use crate::analysis::effect::{self, Effect};
use crate::isa::{Opcode, SpecialRegister, register};
use crate::rewrite::refusal::Refusal;
use crate::rewrite::scan::names;
use crate::syntax::{Body, Function, Instruction, Operand, StateSpace, Statement};
use std::collections::BTreeSet;

/// The barriers of a body.
#[derive(Default)]
pub(super) struct BodyBarriers {
    /// Their identifiers.
    pub barriers: BTreeSet<u32>,
    /// The identifiers of barriers with a thread count.
    pub counted: BTreeSet<u32>,
    /// True if the body copies to shared memory asynchronously.
    pub copies: bool,
    /// True if threads of the body wait for each other, or if it depends on which threads of a warp run together.
    pub converges: bool,
}

/// Checks that a body with blocks of this size can be followed by another body in the same kernel.
pub(super) fn check(
    function: &Function<'_>,
    body: &Body<'_>,
    block: [u32; 3],
) -> Result<BodyBarriers, Refusal> {
    let mut found = BodyBarriers::default();
    let mut synchronises = false;
    for statement in &body.statements {
        if let Statement::Instruction(instruction) = statement {
            check_instruction(instruction, &mut found)?;
            synchronises |= is_joint(instruction);
        }
    }
    found.converges |= synchronises;
    if synchronises {
        early_exits::check(function, block)?;
    }
    Ok(found)
}

fn check_instruction(instruction: &Instruction<'_>, found: &mut BodyBarriers) -> Result<(), Refusal> {
    let line = instruction.line;
    let beyond = || Err(Refusal::Beyond { opcode: instruction.opcode.to_owned(), line });
    let has = |modifier| instruction.has(modifier);
    let own = matches!(instruction.space(), Some(StateSpace::Shared | StateSpace::Local | StateSpace::Param));
    match instruction.op() {
        Opcode::Bar | Opcode::Barrier => barrier(instruction, found)?,
        Opcode::Activemask | Opcode::Vote | Opcode::Shfl | Opcode::Match => found.converges = true,
        Opcode::Membar | Opcode::Fence if has("cta") && !has("proxy") => {}
        Opcode::Atom | Opcode::Red if own && !has("async") && !has("shared::cluster") => {}
        Opcode::Ld | Opcode::St => {
            let ordered = |m: &str| {
                matches!(m, "volatile" | "relaxed" | "acquire" | "release" | "mmio" | "async" | "bulk")
                    || m == "shared::cluster"
            };
            if instruction.modifiers().any(|m| ordered(m) && !(own && m == "volatile")) {
                return beyond();
            }
        }
        Opcode::Cp => {
            let plain =
                !instruction.modifiers().any(|m| matches!(m, "bulk" | "tensor" | "reduce" | "mbarrier"));
            if !plain || !has("async") {
                return beyond();
            }
            found.copies = true;
        }
        Opcode::Call => return Err(Refusal::Calls { line }),
        Opcode::Membar
        | Opcode::Fence
        | Opcode::Atom
        | Opcode::Red
        | Opcode::Multimem
        | Opcode::Mbarrier
        | Opcode::Tensormap
        | Opcode::Discard
        | Opcode::Wgmma
        | Opcode::Tcgen05
        | Opcode::Clusterlaunchcontrol
        | Opcode::Mapa
        | Opcode::Getctarank
        | Opcode::Setmaxnreg
        | Opcode::Alloca
        | Opcode::Stacksave
        | Opcode::Stackrestore
        | Opcode::Griddepcontrol
        | Opcode::Brkpt
        | Opcode::Unknown => return beyond(),
        _ => {}
    }
    if matches!(effect::effect(instruction), Effect::Unknown | Effect::Texture(_)) {
        return beyond();
    }
    for operand in &instruction.operands {
        let mut refused = None;
        names(operand, &mut |name| {
            if !keeps_its_meaning(name) {
                refused = Some(Refusal::Special { register: name.to_owned(), line });
            }
        });
        refused.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Returns false for special registers whose value differs after another body or with another layout of shared
/// memory.
fn keeps_its_meaning(name: &str) -> bool {
    !matches!(
        register(name),
        Some(
            SpecialRegister::Gridid
                | SpecialRegister::Clock
                | SpecialRegister::ClockHi
                | SpecialRegister::Clock64
                | SpecialRegister::Globaltimer
                | SpecialRegister::GlobaltimerLo
                | SpecialRegister::GlobaltimerHi
                | SpecialRegister::DynamicSmemSize
                | SpecialRegister::TotalSmemSize
                | SpecialRegister::AggrSmemSize
                | SpecialRegister::ReservedSmem
                | SpecialRegister::ReservedSmemCap
                | SpecialRegister::ReservedSmemEnd
                | SpecialRegister::CurrentGraphExec
                | SpecialRegister::PerformanceMonitor
                | SpecialRegister::Environment
        )
    )
}

/// Records the identifier of a block barrier.
fn barrier(instruction: &Instruction<'_>, found: &mut BodyBarriers) -> Result<(), Refusal> {
    let refuse = || Refusal::Barrier { line: instruction.line };
    if instruction.has("warp") {
        return Ok(());
    }
    if instruction.has("arrive") || instruction.has("cluster") {
        return Err(refuse());
    }
    let operands = &instruction.operands[usize::from(instruction.has("red"))..];
    match operands.first() {
        Some(Operand::Integer(id)) if *id < 16 => {
            found.barriers.insert(*id as u32);
            if is_counted(instruction) {
                found.counted.insert(*id as u32);
            }
            Ok(())
        }
        _ => Err(refuse()),
    }
}
