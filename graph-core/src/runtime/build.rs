//! From bound arguments to a graph: evaluate, check, plan, add.
//!
//! Everything that bad input can bring is found before the driver is given a node. On an error all that was
//! created is destroyed again by its owner's drop, and the caller's buffers are as they were.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::CudaContext;

use crate::compile::{BackError, Wishes};
use crate::ir::{BufferId, DimId, Memory, Mode, Origin, Program, StatementId};
use crate::launches::Allowed;
use crate::layout::LayoutError;
use crate::operation::Operations;
use crate::table::{Decoded, Op};

use super::core::Core;
use super::dims::{Dim, Dims, compute};
use super::driver::{self, Driver, Word};
use super::error::{At, Error, Result};
use super::evaluate::{Evaluation, Open, Recorded};
use super::facts::{self, Changing, Facts};
use super::graph::{Graph, GraphFn, Token};
use super::limits::Limits;
use super::modules::Modules;
use super::operand::{MemoryKind, Operand, Owners, Visitor};
use super::report::BuildTimes;
use super::variants::{self, Variant};
use super::{context, hidden, hook, plans};

/// Builds a graph function's graph.
pub fn build<A: GraphFn>(ctx: &Arc<CudaContext>, mut args: A) -> Result<Graph<A>> {
    let began = Instant::now();
    let driver = driver::driver()?;
    context::enter(driver, ctx)?;
    driver::mark_log(driver);
    let table = A::table(Token)
        .get()
        .ok_or_else(|| Error::Plan("the graph function is of another version of cuweave".to_owned()))?;
    let program = &table.program;

    let mut dims = Dims::default();
    args.dims(&mut dims, Token);
    // The user's expressions may have made another context current.
    driver.enter(driver::Context::of(ctx))?;
    let (leaves, returned) = dims.into_parts();
    let dims = values(table, &leaves)?;
    for (buffer, declared, actual) in returned {
        let (declared, actual) = (dims[declared as usize], dims[actual as usize]);
        if declared != actual {
            return Err(Error::ReturnedLength { at: at_buffer(program, buffer), declared, actual });
        }
    }
    if !plans::known(program, &dims) {
        zero_lengths(program, &dims)?;
        ranges(program, &dims)?;
        views(program, &dims)?;
    }

    let mut owners = Owners::default();
    let mut visitor = Visitor::new(ctx, &mut owners);
    args.operands(&mut visitor, Token);
    let operands = visitor.finish()?;
    check_operands(program, &dims, 0, &operands)?;
    check_overlap(program, &dims, &operands)?;

    let limits = Limits::of(driver, ctx)?;
    let evaluate = |early| evaluate(table, &args, &dims, &limits, Modules::new(driver, ctx.clone(), early));
    let allowed = Allowed::by(program.options.launches);
    let early = variants::early(driver, ctx, allowed);
    let (mut modules, records, words, open) = match early {
        Err(_) => evaluate(early)?,
        // A kernel that begins with the wait may take fewer threads than the kernel as it is written.
        Ok(()) => {
            evaluate(early).or_else(|error| evaluate(Err(format!("with the wait in front, {error}"))))?
        }
    };

    driver.enter(driver::Context::of(ctx))?;
    let evaluated = Instant::now();
    let known = (records.as_slice(), words.as_slice());
    let mut planned = plan(table, (driver, ctx), &dims, known, &mut modules, (None, allowed))?;
    hook::apply(program, &mut planned.operations)?;
    let mut core =
        Core::new(table, driver, ctx, dims, limits, modules, (records, words), operands, owners, planned)?;
    core.fixed_kinds();
    core.note_open(&[], open);
    let planned = Instant::now();
    core.add_nodes().or_else(|error| core.as_written(error, Core::add_nodes))?;
    core.times = BuildTimes {
        evaluated: evaluated - began,
        planned: planned - evaluated,
        allocated: core.times.allocated,
        added: planned.elapsed().saturating_sub(core.times.allocated),
    };
    Ok(Graph::new(core, args))
}

/// A record for each statement, the values of parameters, and the modules of the kernels.
fn evaluate<A: GraphFn>(
    table: &'static Decoded,
    args: &A,
    dims: &[u64],
    limits: &Limits,
    mut modules: Modules,
) -> Result<(Modules, Vec<Recorded>, Vec<Word>, Open)> {
    let program = &table.program;
    let room = (program.statements.len(), Vec::new());
    let mut evaluation = Evaluation::new(program, dims, limits, &mut modules, room);
    for ((statement, declared), &step) in (0..).zip(program.statements.iter()).zip(&table.steps) {
        if declared.kind.is_memory() {
            evaluation.nothing();
        } else {
            evaluation.one(statement, |evaluation| args.evaluate(step, evaluation, Token))?;
        }
    }
    let (records, words, open) = evaluation.into_parts();
    Ok((modules, records, words, open))
}

/// What is to be added, with the variants of its batches.
#[derive(Debug)]
pub(super) struct Planned {
    pub operations: Arc<Operations>,
    /// One for each batch.
    pub variants: Vec<Variant>,
    /// What stays as it is written, and why: sorted.
    pub left_alone: Vec<String>,
}

/// Decides how many launches there are, and plans. Everything that may refuse a batch refuses it before the plan that is
/// used is made.
pub(super) fn plan(
    table: &'static Decoded,
    (driver, ctx): (&'static Driver, &Arc<CudaContext>),
    dims: &[u64],
    (records, words): (&[Recorded], &[Word]),
    modules: &mut Modules,
    (memory, allowed): (Option<Memory>, Allowed),
) -> Result<Planned> {
    let program = &table.program;
    let changing = Changing::of(table);
    let gathered = facts::gather((driver, ctx), (records, words), &changing, modules, allowed);
    let (mut facts, allowed) = match gathered {
        Ok(facts) => (facts, allowed),
        // Launches as they are written need none.
        Err(error) => (Facts::unknown(&error), Allowed::default()),
    };
    let by_atomics = program.statements.iter().flat_map(|statement| statement.accesses.iter());
    let shared = modules.share_state() || by_atomics.into_iter().any(|access| access.mode == Mode::Atomic);
    let edges = if shared { hidden::edges(program, dims, records)? } else { Vec::new() };
    let tuning = facts.tuning.clone();
    let mut wishes = Wishes { memory, edges, allowed, launches: Vec::new(), tuning };
    loop {
        wishes.launches.clone_from(&facts.launches);
        let operations =
            plans::operations(program, dims, &wishes).map_err(|error| plan_error(program, error))?;
        if let Some(variants) = facts.variants((driver, modules), &operations.batches) {
            let left_alone = facts.left_alone.into_iter().collect();
            return Ok(Planned { operations, variants, left_alone });
        }
    }
}

/// The place of a buffer's declaration.
pub(super) fn at_buffer(program: &Program, buffer: BufferId) -> Box<At> {
    let declared = &program.buffers[buffer as usize];
    Box::new(At { name: declared.name.to_string(), file: program.file.to_string(), line: declared.line })
}

/// The place of a statement.
pub(super) fn at_statement(program: &Program, statement: StatementId) -> Box<At> {
    let statement = &program.statements[statement as usize];
    Box::new(At { name: statement.name.to_string(), file: program.file.to_string(), line: statement.line })
}

/// The values of lengths and bounds; one without a value is told with what it belongs to.
fn values(table: &Decoded, leaves: &[Dim]) -> Result<Vec<u64>> {
    let program = &table.program;
    let mut stack = Vec::new();
    let value = |(id, code): (usize, &Vec<Op>)| {
        let dim = compute(code, leaves, &mut stack).ok_or_else(|| {
            Error::Plan(format!("`{}` has no way to compute `{}`", program.name, program.dims[id]))
        })?;
        dim.value().map_err(|fault| {
            let text = program.dims[id].to_string();
            let (what, at) = user_of(program, id as DimId);
            Error::Size { what, at, text, fault }
        })
    };
    table.dims.iter().enumerate().map(value).collect()
}

/// The first buffer or node that a length or bound belongs to.
fn user_of(program: &Program, dim: DimId) -> (&'static str, Box<At>) {
    if let Some(buffer) = program.buffers.iter().position(|buffer| buffer.len == dim) {
        return ("the length", at_buffer(program, buffer as BufferId));
    }
    let uses = |statement: &crate::ir::Statement| {
        statement.accesses.iter().any(|access| access.lo == dim || access.hi == dim)
    };
    match program.statements.iter().position(uses) {
        Some(statement) => ("a bound", at_statement(program, statement as StatementId)),
        None => (
            "the budget",
            Box::new(At { name: program.name.to_string(), file: program.file.to_string(), line: 0 }),
        ),
    }
}

fn zero_lengths(program: &Program, dims: &[u64]) -> Result<()> {
    match program.buffers.iter().position(|buffer| dims[buffer.len as usize] == 0) {
        None => Ok(()),
        Some(buffer) => {
            let text = program.dims[program.buffers[buffer].len as usize].to_string();
            Err(Error::ZeroLength { at: at_buffer(program, buffer as BufferId), text })
        }
    }
}

/// Every range lies in its buffer; the order between statements rests on that.
fn ranges(program: &Program, dims: &[u64]) -> Result<()> {
    for (statement, declared) in program.statements.iter().enumerate() {
        for access in declared.accesses.iter() {
            let (lo, hi) = (dims[access.lo as usize], dims[access.hi as usize]);
            let buffer = &program.buffers[access.buffer as usize];
            let len = dims[buffer.len as usize];
            if lo > hi || hi > len {
                let text = |id: DimId| &program.dims[id as usize];
                return Err(Error::Range {
                    at: at_statement(program, statement as StatementId),
                    buffer: buffer.name.to_string(),
                    range: format!("{}..{}", text(access.lo), text(access.hi)),
                    lo,
                    hi,
                    len,
                });
            }
        }
    }
    Ok(())
}

/// Every part of a part of a buffer lies in it.
fn views(program: &Program, dims: &[u64]) -> Result<()> {
    for view in program.views.iter() {
        let value = |id: DimId| dims[id as usize];
        let text =
            |lo: DimId, hi: DimId| format!("{}..{}", program.dims[lo as usize], program.dims[hi as usize]);
        let (lo, hi, from, to) = (value(view.lo), value(view.hi), value(view.of.0), value(view.of.1));
        if lo < from || lo > hi || hi > to {
            let declared = at_buffer(program, view.buffer);
            return Err(Error::ViewRange {
                at: Box::new(At { line: view.line, ..(*declared).clone() }),
                range: text(view.lo, view.hi),
                lo,
                hi,
                view: text(view.of.0, view.of.1),
                from,
                to,
            });
        }
    }
    Ok(())
}

/// Checks operands that stand for the buffers from `first` on against their declarations.
pub(super) fn check_operands(
    program: &Program,
    dims: &[u64],
    first: usize,
    operands: &[Operand],
) -> Result<()> {
    let declared =
        program.buffers.iter().filter(|buffer| !matches!(buffer.origin, Origin::Alloc(_))).skip(first);
    let mut count = 0;
    for ((at, buffer), operand) in (first..).zip(declared).zip(operands) {
        count += 1;
        let at = || at_buffer(program, at as BufferId);
        let kind = match buffer.origin {
            Origin::Device { .. } => MemoryKind::Device,
            Origin::Pinned { .. } => MemoryKind::Pinned,
            Origin::Taken | Origin::Alloc(_) => MemoryKind::Taken,
        };
        if kind != operand.kind || u64::from(buffer.element) != operand.element {
            return Err(Error::Plan(format!("{} is bound to another kind of memory than declared", at())));
        }
        if !operand.same_context {
            return Err(Error::OtherContext { at: at() });
        }
        let needed = dims[buffer.len as usize];
        if operand.len < needed {
            let text = program.dims[buffer.len as usize].to_string();
            return Err(Error::TooShort { at: at(), len: operand.len, text, needed });
        }
        let align = u64::from(buffer.align.max(1));
        if !operand.address.is_multiple_of(align) {
            return Err(Error::Misaligned { at: at(), align: buffer.align });
        }
        if operand.slot.as_ref().is_some_and(|slot| slot.element() != operand.element) {
            return Err(Error::WrongOutput { at: at(), reason: "this output has elements of another type" });
        }
        if operand.slot.as_ref().is_some_and(|slot| slot.is_retired()) {
            return Err(Error::WrongOutput { at: at(), reason: "the graph that makes this output is gone" });
        }
    }
    if count == operands.len() {
        Ok(())
    } else {
        Err(Error::Plan(format!("`{}` binds too many buffers", program.name)))
    }
}

/// Whether the graph may write an argument.
fn writes(program: &Program, buffer: usize) -> bool {
    matches!(
        program.buffers[buffer].origin,
        Origin::Device { mutable: true } | Origin::Pinned { mutable: true } | Origin::Taken
    )
}

/// No two arguments share memory that the graph may write through one of them.
fn check_overlap(program: &Program, dims: &[u64], operands: &[Operand]) -> Result<()> {
    let end = |at: usize| {
        let bytes = dims[program.buffers[at].len as usize].saturating_mul(operands[at].element);
        operands[at].address.saturating_add(bytes)
    };
    let mut order: Vec<usize> = (0..operands.len()).collect();
    order.sort_by_key(|&at| (operands[at].address, at));
    // Which of those before reaches furthest: of all, and of those that are written.
    let mut furthest: [Option<usize>; 2] = [None; 2];
    for at in order {
        let written = writes(program, at);
        let rival = if written { furthest[0] } else { furthest[1] };
        if let Some(other) = rival.filter(|&other| end(other) > operands[at].address) {
            let (first, second) = (other.min(at), other.max(at));
            return Err(Error::Overlap {
                first: at_buffer(program, first as BufferId),
                second: at_buffer(program, second as BufferId),
            });
        }
        for (slot, counts) in furthest.iter_mut().zip([true, written]) {
            if counts && slot.is_none_or(|other| end(at) > end(other)) {
                *slot = Some(at);
            }
        }
    }
    Ok(())
}

/// Whether operands put in place of those from `first` on share memory with others, one of them written.
pub(super) fn check_new_overlap(
    program: &Program,
    dims: &[u64],
    first: usize,
    new: &[Operand],
    operands: &[Operand],
) -> Result<()> {
    let bytes = |at: usize, operand: &Operand| {
        let bytes = dims[program.buffers[at].len as usize].saturating_mul(operand.element);
        (operand.address, operand.address.saturating_add(bytes))
    };
    let operand =
        |at: usize| if (first..first + new.len()).contains(&at) { &new[at - first] } else { &operands[at] };
    for at in first..first + new.len() {
        let (lo, hi) = bytes(at, operand(at));
        let written = writes(program, at);
        for other in 0..operands.len() {
            let (start, end) = bytes(other, operand(other));
            if other != at && lo < end && start < hi && (written || writes(program, other)) {
                let (first, second) = (other.min(at), other.max(at));
                return Err(Error::Overlap {
                    first: at_buffer(program, first as BufferId),
                    second: at_buffer(program, second as BufferId),
                });
            }
        }
    }
    Ok(())
}

pub(super) fn plan_error(program: &Program, error: BackError) -> Error {
    match error {
        BackError::Layout(LayoutError::Overflow { buffer, len, element }) => {
            let at = program.buffers.iter().position(|declared| declared.name == buffer.as_str());
            let at = at_buffer(program, at.unwrap_or(0) as BufferId);
            let text = format!("{len} * {element} bytes");
            Error::Size { what: "the size", at, text, fault: super::dims::Fault::Overflow }
        }
        BackError::BelowFloor { .. } | BackError::OverBudget { .. } => {
            let at = At { name: program.name.to_string(), file: program.file.to_string(), line: 0 };
            Error::Budget { at: Box::new(at), reason: error.to_string() }
        }
        other => Error::Plan(format!("`{}` ({}): {other}", program.name, program.file)),
    }
}

/// Operations that a hook has changed can still be added: what each names exists and stands before it.
pub(super) fn check_changed(program: &Program, operations: &Operations) -> Result<()> {
    use crate::operation::What;
    let fault = |at: usize| Error::Plan(format!("operation {at} of the changed plan cannot be added"));
    for (at, operation) in operations.list.iter().enumerate() {
        let memory = match operation.what {
            What::Alloc { memory } | What::Free { memory } => Some(memory),
            _ => None,
        };
        let sourced = !matches!(operation.what, What::Kernel | What::Fill | What::Copy)
            || !operation.sources.is_empty();
        let known = operation.sources.iter().all(|&source| (source as usize) < program.statements.len());
        let after = operation.after.iter().all(|&before| (before as usize) < at);
        if !(sourced
            && known
            && after
            && memory.is_none_or(|memory| (memory as usize) < operations.memories.len()))
        {
            return Err(fault(at));
        }
    }
    if operations.places.len() == program.buffers.len() { Ok(()) } else { Err(fault(0)) }
}
