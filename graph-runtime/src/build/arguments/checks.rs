//! Checks lengths, ranges and operands against the flat program. All faults of a user's input are found here,
//! before the first node is added to the driver's graph.
//!
//! [`check_lengths`] checks the program itself, [`check_operands`] and [`check_overlap`] the memory that is
//! bound to its arguments. [`check_moved_ranges`] and [`check_new_overlap`] repeat the part that a setter can
//! invalidate.

use std::collections::BTreeSet;

use cuweave_core::flattened::Flattened;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{
    Access, BufferId, DimId, Origin, Program, Rows, Statement, StatementId, StatementKind, View,
};
use cuweave_core::settable_bounds::SetterEffects;

use crate::bind::{Operand, Prologue, RangedHint};
use crate::cuda::{Context, Driver};
use crate::error::{
    BadRows, DeviceFault, Error, ManagedFault, MemoryKind, OutputFault, PlanFault, Quantity, Result,
    RowsFault, SourceLocation, at_attribute, at_buffer, at_statement,
};
use crate::statements::RowNumbers;

use super::devices::Contexts;

/// Checks that every buffer has elements and every range lies inside its buffer or view.
pub(crate) fn check_lengths(program: &Program, dims: &Vector<DimId, u64>) -> Result<()> {
    zero_lengths(program, dims)?;
    ranges(program, dims)?;
    operands(program, dims)?;
    views(program, dims)
}

/// Checks that device conditions read exactly one element. The macro cannot check it: it does not know the
/// lengths of record fields.
fn operands(program: &Program, dims: &Vector<DimId, u64>) -> Result<()> {
    for (id, statement) in program.statements.enumerate() {
        let StatementKind::Condition(body) = statement.kind else { continue };
        let Some(operand) = statement.accesses.first().filter(|_| body.own_accesses() > 0) else { continue };
        let len = dims[operand.hi].saturating_sub(dims[operand.lo]);
        if len != 1 {
            let buffer = program.buffers[operand.buffer].name.to_string();
            return Err(Error::Operand {
                at: at_statement(program, id),
                word: body.word.name(),
                buffer,
                len,
            });
        }
    }
    Ok(())
}

/// Returns the first buffer, statement or attribute that uses `dim`, with the quantity that `dim` is there.
pub(crate) fn first_user(program: &Program, dim: DimId) -> (Quantity, Box<SourceLocation>) {
    if let Some(buffer) = program.buffers.position(|buffer| buffer.len == dim) {
        return (Quantity::Length, at_buffer(program, buffer));
    }
    let rows = |access: &Access| access.rows.is_some_and(|rows| rows.dims().contains(&dim));
    let used = |access: &Access| access.lo == dim || access.hi == dim || rows(access);
    let uses = |statement: &Statement| statement.accesses.iter().any(used);
    if let Some(statement) = program.statements.position(|statement| statement.on == Some(dim)) {
        return (Quantity::Device, at_statement(program, statement));
    }
    if let Some(grant) = program.grants.iter().find(|grant| grant.on == Some(dim)) {
        return (Quantity::Device, at_buffer(program, grant.buffer));
    }
    match program.statements.position(uses) {
        Some(statement) => (Quantity::Bound, at_statement(program, statement)),
        None => (
            match Some(dim) {
                dim if program.options.budget == dim => Quantity::Budget,
                dim if program.options.width == dim => Quantity::Width,
                dim if program.options.devices == dim => Quantity::Devices,
                _ => Quantity::OuterBound,
            },
            at_attribute(program),
        ),
    }
}

fn zero_lengths(program: &Program, dims: &Vector<DimId, u64>) -> Result<()> {
    match program.buffers.position(|buffer| dims[buffer.len] == 0) {
        None => Ok(()),
        Some(buffer) => {
            let text = program.dims[program.buffers[buffer].len].to_string();
            Err(Error::ZeroLength { at: at_buffer(program, buffer), text })
        }
    }
}

/// Checks that every range lies inside its buffer. The inferred order relies on it.
fn ranges(program: &Program, dims: &Vector<DimId, u64>) -> Result<()> {
    for (statement, declared) in program.statements.enumerate() {
        (0..declared.accesses.len()).try_for_each(|access| range(program, dims, statement, access))?;
    }
    Ok(())
}

/// Repeats the checks for lengths, accesses and views that a setter has changed. The memory of a buffer was planned
/// for its length at the largest values of sizes. `may_be_empty` holds the buffers that may have no elements.
pub(crate) fn check_moved_ranges(
    moved: &SetterEffects,
    flat: &Flattened,
    dims: &Vector<DimId, u64>,
    may_be_empty: &BTreeSet<BufferId>,
) -> Result<()> {
    let program = flat.checked.program();
    for &buffer in &moved.buffers {
        let dim = program.buffers[buffer].len;
        let (len, planned) = (dims[dim], flat.sizes[dim]);
        let text = || program.dims[dim].to_string();
        if len == 0 && !may_be_empty.contains(&buffer) {
            return Err(Error::ZeroLength { at: at_buffer(program, buffer), text: text() });
        }
        if len > planned {
            let (at, buffer) = (at_buffer(program, buffer), program.buffers[buffer].name.to_string());
            return Err(Error::Range { at, buffer, range: text(), lo: 0, hi: len, len: planned });
        }
    }
    let mut accesses = moved.accesses.iter().chain(&moved.unmoved);
    accesses.try_for_each(|&(statement, access)| range(program, dims, statement, access))?;
    moved.views().iter().try_for_each(|&at| view(program, dims, &program.views[at]))
}

/// Checks that the range of an access lies inside its buffer.
fn range(program: &Program, dims: &Vector<DimId, u64>, statement: StatementId, access: usize) -> Result<()> {
    let access = &program.statements[statement].accesses[access];
    let (lo, hi, len) = (dims[access.lo], dims[access.hi], dims[program.buffers[access.buffer].len]);
    if let Some(rows) = &access.rows {
        check_rows(program, dims, statement, access, rows)?;
    }
    if lo <= hi && hi <= len {
        return Ok(());
    }
    let text = |id: DimId| &program.dims[id];
    Err(Error::Range {
        at: at_statement(program, statement),
        buffer: program.buffers[access.buffer].name.to_string(),
        range: format!("{}..{}", text(access.lo), text(access.hi)),
        lo,
        hi,
        len,
    })
}

/// Checks that rows have elements and do not overlap one another. The inferred order relies on it.
fn check_rows(
    program: &Program,
    dims: &Vector<DimId, u64>,
    statement: StatementId,
    access: &Access,
    rows: &Rows,
) -> Result<()> {
    let RowNumbers { count, width, pitch, planes, height } = RowNumbers::new(*rows, dims);
    let (at, text) = (|| at_statement(program, statement), || program.rows_text(access, rows));
    if count == 0 || width == 0 || planes == 0 {
        return Err(Error::ZeroLength { at: at(), text: text() });
    }
    let reason = if width > pitch {
        RowsFault::Pitch { width, pitch }
    } else if count > height {
        RowsFault::Height { count, height }
    } else {
        return Ok(());
    };
    Err(Error::Rows(Box::new(BadRows { at: at(), text: text(), reason })))
}

/// Checks that every nested view lies inside its outer view.
fn views(program: &Program, dims: &Vector<DimId, u64>) -> Result<()> {
    program.views.iter().try_for_each(|one| view(program, dims, one))
}

/// Checks that a nested view lies inside its outer view.
fn view(program: &Program, dims: &Vector<DimId, u64>, view: &View) -> Result<()> {
    let value = |id: DimId| dims[id];
    let (lo, hi, from, to) = (value(view.lo), value(view.hi), value(view.of.0), value(view.of.1));
    if from <= lo && lo <= hi && hi <= to {
        return Ok(());
    }
    let text = |lo: DimId, hi: DimId| format!("{}..{}", program.dims[lo], program.dims[hi]);
    let declared = at_buffer(program, view.buffer);
    // The view may have been taken in another file than the buffer's.
    let uses = |access: &Access| (access.buffer, access.lo, access.hi) == (view.buffer, view.lo, view.hi);
    let user = program.statements.position(|statement| statement.accesses.iter().any(uses));
    let of_user = || user.map_or(declared.file.clone(), |user| at_statement(program, user).file);
    let file = view.file.map_or_else(of_user, str::to_owned);
    Err(Error::ViewRange {
        at: Box::new(SourceLocation::new(declared.name, file, view.line).with_column(view.column)),
        range: text(view.lo, view.hi),
        lo,
        hi,
        view: text(view.of.0, view.of.1),
        from,
        to,
    })
}

/// Checks operands against the declarations of the buffers from `first` on: memory kind, element size, context,
/// length, alignment and, for outputs of other graphs, their slot.
pub(crate) fn check_operands(
    program: &Program,
    dims: &Vector<DimId, u64>,
    first: usize,
    operands: &[Operand],
) -> Result<()> {
    let declared =
        program.buffers.iter().filter(|buffer| !matches!(buffer.origin, Origin::Alloc(_))).skip(first);
    let mut count = 0;
    for ((at, buffer), operand) in (first..).zip(declared).zip(operands) {
        count += 1;
        let at = || at_buffer(program, BufferId::new(at));
        let kind = match buffer.origin {
            Origin::Device { .. } => MemoryKind::Device,
            Origin::Pinned { .. } => MemoryKind::Pinned,
            Origin::Taken | Origin::Alloc(_) | Origin::Part(_) => MemoryKind::Taken,
        };
        if kind != operand.kind || u64::from(buffer.element) != operand.element {
            return Err(PlanFault::OtherMemory(at()).into());
        }
        if operand.device.is_none() {
            return Err(Error::OtherContext { at: at(), memory: kind });
        }
        let needed = dims[buffer.len];
        if operand.len < needed {
            let text = program.dims[buffer.len].to_string();
            return Err(Error::TooShort { at: at(), len: operand.len, text, needed });
        }
        let align = u64::from(buffer.align.max(1));
        if !operand.address.is_multiple_of(align) {
            return Err(Error::Misaligned { at: at(), align: buffer.align });
        }
        if let Some(reached) = &operand.reached {
            let bytes = needed.saturating_mul(operand.element);
            reached.check_bound(bytes).map_err(|fault| at_argument(fault, at()))?;
        }
        if operand.slot.as_ref().is_some_and(|slot| slot.element() != operand.element) {
            return Err(Error::WrongOutput { at: at(), reason: OutputFault::OtherElements });
        }
        if operand.slot.as_ref().is_some_and(|slot| slot.is_retired()) {
            return Err(Error::WrongOutput { at: at(), reason: OutputFault::GraphGone });
        }
    }
    if count == operands.len() {
        Ok(())
    } else {
        Err(PlanFault::TooManyBuffers(program.name.to_string()).into())
    }
}

/// Adds its argument to a fault of a multicast object.
fn at_argument(error: Error, at: Box<SourceLocation>) -> Error {
    match error {
        Error::Multicast(fault) => Error::MulticastArgument { at, fault },
        error => error,
    }
}

/// Checks that the operands of host statements are pinned memory, or managed memory that host and device may
/// access at the same time. `operands` are bound to the buffers from `first` on.
pub(crate) fn check_host_statements(program: &Program, first: usize, operands: &[Operand]) -> Result<()> {
    for (id, statement) in program.statements.enumerate() {
        if !matches!(statement.kind, StatementKind::Host(_)) {
            continue;
        }
        for access in statement.accesses.iter() {
            let buffer = &program.buffers[access.buffer];
            let operand = access.buffer.index().checked_sub(first).and_then(|at| operands.get(at));
            let fault = match (buffer.origin, operand) {
                (Origin::Pinned { .. }, _) | (Origin::Device { .. }, None) => continue,
                (Origin::Device { .. }, Some(operand)) => match operand.managed_state() {
                    Some(managed_state) => match managed_state.without_concurrent_access.first() {
                        None => continue,
                        Some(&device) => ManagedFault::NotConcurrent { device },
                    },
                    None => ManagedFault::NotForHost { buffer: buffer.name.to_string() },
                },
                _ => ManagedFault::NotForHost { buffer: buffer.name.to_string() },
            };
            return Err(Error::ManagedArgument { at: at_statement(program, id), fault });
        }
    }
    Ok(())
}

/// Checks that kernels reach the pinned memory that they take at its host address, as on all devices with unified
/// addressing. `operands` are bound to the buffers from `first` on.
pub(crate) fn check_pinned_launches(
    driver: &Driver,
    context: Context,
    program: &Program,
    first: usize,
    operands: &[Operand],
) -> Result<()> {
    for (at, operand) in (first..).zip(operands).filter(|(_, operand)| operand.kind == MemoryKind::Pinned) {
        driver.enter(context)?;
        if driver.device_pointer(operand.address) == Ok(operand.address) {
            continue;
        }
        let buffer = BufferId::new(at);
        let takes = |statement: &Statement| {
            let launches = matches!(statement.kind, StatementKind::Launch(_));
            launches && statement.accesses.iter().any(|access| access.buffer == buffer)
        };
        if let Some((id, _)) = program.statements.enumerate().find(|(_, statement)| takes(statement)) {
            let (at, buffer) = (*at_statement(program, id), *at_buffer(program, buffer));
            return Err(Error::Devices(Box::new(DeviceFault::NotMapped { at, buffer })));
        }
    }
    Ok(())
}

/// Applies hints of operands, each with the index of its buffer. Returns what each launch runs before the
/// graph.
pub(crate) fn apply_hints<'o>(
    program: &Program,
    dims: &Vector<DimId, u64>,
    driver: &'static Driver,
    contexts: &Contexts,
    hinted: impl IntoIterator<Item = (usize, &'o Operand, &'o [RangedHint])>,
) -> Result<Vec<Prologue>> {
    let hinted = hinted.into_iter().filter(|(_, _, hints)| !hints.is_empty());
    let apply = |(at, operand, hints): (usize, &Operand, &[RangedHint])| {
        let id = BufferId::new(at);
        let len = dims[program.buffers[id].len];
        operand.apply_hints(hints, driver, contexts, at, len).map_err(|error| match error {
            Error::Managed(fault) => Error::ManagedArgument { at: at_buffer(program, id), fault },
            error => error,
        })
    };
    hinted.map(apply).collect()
}

/// Returns true if the program may write a buffer.
fn is_written(program: &Program, buffer: BufferId) -> bool {
    program.buffers[buffer].origin.is_writable()
}

/// Checks that no two arguments overlap if the graph may write one of them. O(n log n).
pub(crate) fn check_overlap(
    program: &Program,
    dims: &Vector<DimId, u64>,
    operands: &[Operand],
) -> Result<()> {
    let end = |at: usize| {
        let bytes = dims[program.buffers[BufferId::new(at)].len].saturating_mul(operands[at].element);
        operands[at].address.saturating_add(bytes)
    };
    let mut order: Vec<usize> = (0..operands.len()).collect();
    order.sort_by_key(|&at| (operands[at].address, at));
    // The earlier operands with the greatest end address: among all, and among the written ones.
    let mut furthest: [Option<usize>; 2] = [None; 2];
    for at in order {
        let written = is_written(program, BufferId::new(at));
        let rival = if written { furthest[0] } else { furthest[1] };
        if let Some(other) = rival.filter(|&other| end(other) > operands[at].address) {
            let (first, second) = (other.min(at), other.max(at));
            return Err(Error::Overlap {
                first: at_buffer(program, BufferId::new(first)),
                second: at_buffer(program, BufferId::new(second)),
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

/// Checks new operands of the buffers from `first` on: they may overlap another operand only if the graph
/// writes neither.
pub(crate) fn check_new_overlap(
    program: &Program,
    dims: &Vector<DimId, u64>,
    first: usize,
    new: &[Operand],
    operands: &[Operand],
) -> Result<()> {
    let bytes = |at: usize, operand: &Operand| {
        let bytes = dims[program.buffers[BufferId::new(at)].len].saturating_mul(operand.element);
        (operand.address, operand.address.saturating_add(bytes))
    };
    let operand =
        |at: usize| if (first..first + new.len()).contains(&at) { &new[at - first] } else { &operands[at] };
    for at in first..first + new.len() {
        let (lo, hi) = bytes(at, operand(at));
        let written = is_written(program, BufferId::new(at));
        for other in 0..operands.len() {
            let (start, end) = bytes(other, operand(other));
            if other != at && lo < end && start < hi && (written || is_written(program, BufferId::new(other)))
            {
                let (first, second) = (other.min(at), other.max(at));
                return Err(Error::Overlap {
                    first: at_buffer(program, BufferId::new(first)),
                    second: at_buffer(program, BufferId::new(second)),
                });
            }
        }
    }
    Ok(())
}
