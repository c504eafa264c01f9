//! The conditions under which a body may be followed by another one in the same kernel.

use crate::analysis::cfg::joins::{dependences, joins};
use crate::analysis::code::{Code, Globals, NONE, Place, Source, Step};
use crate::analysis::effect::{self, Effect};
use crate::analysis::ssa;
use crate::coverage::LEAVE;
use crate::isa::{self, ControlFlow, Hidden, Opcode, Register, Threads, Yields, register};
use crate::rewrite::refusal::Refusal;
use crate::rewrite::uses::names;
use crate::syntax::{Body, Function, Instruction, Operand, Space, Statement};
use std::collections::BTreeSet;

/// The barriers of a body.
#[derive(Default)]
pub(super) struct Barriers {
    /// Their identifiers.
    pub barriers: BTreeSet<u32>,
    /// The identifiers of those that count threads.
    pub counted: BTreeSet<u32>,
    /// True if the body copies to shared memory asynchronously.
    pub copies: bool,
    /// True if threads of the body wait for each other, or if it depends on which threads of a warp run together.
    pub converges: bool,
}

/// Checks that a body may be followed by another one in the same kernel.
pub(super) fn check(function: &Function<'_>, body: &Body<'_>) -> Result<Barriers, Refusal> {
    let mut found = Barriers::default();
    let mut synchronises = false;
    for statement in &body.statements {
        if let Statement::Instruction(instruction) = statement {
            check_instruction(instruction, &mut found)?;
            synchronises |= is_joint(instruction);
        }
    }
    found.converges |= synchronises;
    if synchronises {
        ends(function)?;
    }
    Ok(found)
}

fn check_instruction(instruction: &Instruction<'_>, found: &mut Barriers) -> Result<(), Refusal> {
    let line = instruction.line;
    let beyond = || Err(Refusal::Beyond { opcode: instruction.opcode.to_owned(), line });
    let has = |modifier| instruction.has(modifier);
    let own = matches!(instruction.space(), Some(Space::Shared | Space::Local | Space::Param));
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

/// Returns false for special registers that say something else behind another body, or of memory that is laid out anew.
fn keeps_its_meaning(name: &str) -> bool {
    !matches!(
        register(name),
        Some(
            Register::Gridid
                | Register::Clock
                | Register::ClockHi
                | Register::Clock64
                | Register::Globaltimer
                | Register::GlobaltimerLo
                | Register::GlobaltimerHi
                | Register::DynamicSmemSize
                | Register::TotalSmemSize
                | Register::AggrSmemSize
                | Register::ReservedSmem
                | Register::ReservedSmemCap
                | Register::ReservedSmemEnd
                | Register::CurrentGraphExec
                | Register::PerformanceMonitor
                | Register::Environment
        )
    )
}

/// Notes the identifier of a barrier of the block.
fn barrier(instruction: &Instruction<'_>, found: &mut Barriers) -> Result<(), Refusal> {
    let refuse = || Refusal::Barrier { line: instruction.line };
    if instruction.has("warp") {
        return Ok(());
    }
    if instruction.has("arrive") || instruction.has("cluster") {
        return Err(refuse());
    }
    let operands = &instruction.operands[usize::from(instruction.has("red"))..];
    // `bar.sync a{, b}` and `bar.red.op d, a{, b}, c`
    let most = if instruction.has("red") { 2 } else { 1 };
    match operands.first() {
        Some(Operand::Integer(id)) if *id < 16 => {
            found.barriers.insert(*id as u32);
            if operands.len() > most {
                found.counted.insert(*id as u32);
            }
            Ok(())
        }
        _ => Err(refuse()),
    }
}

/// Returns true for an instruction that waits for other threads of the warp or of the block.
fn is_joint(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.op(), Opcode::Bar | Opcode::Barrier) || instruction.has("sync")
}

/// Checks that no thread ends before others of its block synchronise: they would miss it where it waits at its end.
///
/// A thread that has ended is not waited for. In a fused kernel it waits at the end of the body, and so it must not be
/// needed: wherever it depends on the thread whether it ends, no thread synchronises any more.
fn ends(function: &Function<'_>) -> Result<(), Refusal> {
    let refuse = |line| Err(Refusal::Ends { line });
    let Some(code) = ssa::build(function, &Globals::none()) else { return refuse(function.line) };
    let blocks = code.cfg.blocks.len();
    let ranges = code.ranges();
    let last = |block: usize| -> Option<&Step<'_, '_>> {
        let (first, end) = ranges[block];
        (first < end).then(|| &code.steps[end as usize - 1])
    };
    let leaves = |step: &Step<'_, '_>| {
        step.instruction.is_some_and(|instruction| {
            matches!(isa::row(instruction.op()).flow, ControlFlow::Return | ControlFlow::Exit)
        })
    };
    let successors: Vec<Vec<u32>> = (0..blocks)
        .map(|block| {
            let mut all = code.cfg.blocks[block].successors.clone();
            if all.is_empty() || last(block).is_some_and(leaves) {
                all.push(LEAVE);
            }
            all
        })
        .collect();
    let join = joins(&successors);
    let depends = dependences(&successors, &join);
    let joint: Vec<bool> = (0..blocks)
        .map(|block| {
            let (first, end) = ranges[block];
            let steps = &code.steps[first as usize..end as usize];
            steps.iter().filter_map(|step| step.instruction).any(is_joint)
        })
        .collect();
    let divergent = |block: u32| last(block as usize).is_none_or(|step| diverges(&code, step));
    for block in 0..blocks {
        let Some(end) = last(block).filter(|step| leaves(step)) else { continue };
        let mut work = depends[block].clone();
        if end.guard.is_some() {
            work.push(block as u32);
        }
        let mut seen = BTreeSet::new();
        while let Some(branch) = work.pop() {
            if !seen.insert(branch) {
                continue;
            }
            work.extend(&depends[branch as usize]);
            let reached = || code.cfg.reachable_from(branch).into_iter().zip(&joint);
            if divergent(branch) && reached().any(|(reached, joint)| reached && *joint) {
                return refuse(end.instruction.map_or(function.line, |end| end.line));
            }
        }
    }
    Ok(())
}

/// Returns true if the branch at the end of a step may go different ways in the threads of a block. Only conditions that
/// are computed of parameters and of the indices of the block, on all paths alike, are known not to.
fn diverges(code: &Code<'_, '_>, branch: &Step<'_, '_>) -> bool {
    let Some((predicate, _)) = branch.guard else { return true };
    let mut work = vec![predicate];
    let mut seen = BTreeSet::new();
    while let Some(value) = work.pop() {
        let Some(at) = code.defining(value) else { return true };
        if !seen.insert(at) {
            continue;
        }
        let step = &code.steps[at as usize];
        let uniform = step.instruction.is_some_and(|instruction| {
            let parameter = instruction.space() == Some(Space::Param);
            let yields = effect::yields(instruction);
            step.guard.is_none()
                && (yields == Yields::Computed || yields == Yields::Loaded && parameter)
                && isa::row(instruction.op()).hidden != Hidden::ReadsCarry
        });
        if !uniform || !step.sources.iter().all(is_uniform) {
            return true;
        }
        work.extend(step.sources.iter().filter_map(Source::value));
    }
    false
}

/// Returns true for a source that is the same in all threads of a block, if the value that it names is.
fn is_uniform(source: &Source<'_>) -> bool {
    match source {
        Source::Constant(_) => true,
        Source::Place(place, _) | Source::Memory(place, _) => match place {
            Place::Value(value) | Place::Part(value) => *value != NONE,
            Place::Parameter(_) => true,
            Place::Local(_) | Place::Module(_) | Place::Function | Place::Absolute => false,
        },
        Source::Special(name) => register(name).is_some_and(|register| match register.threads() {
            Threads::BlockSize | Threads::BlockIndex | Threads::GridSize => true,
            Threads::ThreadIndex | Threads::Lane | Threads::Other => false,
        }),
        Source::Other(_) => false,
    }
}
