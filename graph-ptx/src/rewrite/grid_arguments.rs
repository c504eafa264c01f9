//! Passes grid registers to functions as additional parameters.
//!
//! A function has no table, and only its caller knows the current member. Each function that reads a grid register,
//! or calls a function that does, therefore gets the register as an additional parameter. One text of a function then
//! serves all variants of a module, whatever their shape.

use super::edit::Edits;
use super::prologue::AddedNames;
use super::refusal::Refusal;
use super::scan::{GridRegisters, ModuleScan};
use crate::syntax::{Function, Instruction, Module, Operand, Span, StateSpace};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The grid registers that each function needs from its caller, by name. Functions that need none are absent.
pub(super) type PassedRegisters<'a> = BTreeMap<&'a str, GridRegisters>;

/// Returns the grid registers that these functions need; a fixpoint over their calls. They must only call each other.
pub(super) fn passed<'a>(scan: &ModuleScan<'_, 'a>, functions: &[usize]) -> PassedRegisters<'a> {
    let mut passed: PassedRegisters<'a> = BTreeMap::new();
    loop {
        let mut changed = false;
        for &place in functions {
            let uses = scan.uses(place);
            let of_callees = uses.calls.iter().filter_map(|name| passed.get(name));
            let grid = of_callees.fold(uses.grid.0, |grid, callee| grid | callee.0);
            if grid != 0 && passed.get(uses.function.name) != Some(&GridRegisters(grid)) {
                passed.insert(uses.function.name, GridRegisters(grid));
                changed = true;
            }
        }
        if !changed {
            return passed;
        }
    }
}

/// Returns the parameter that passes a grid register.
fn parameter(own: &AddedNames, function: &Function<'_>, register: usize) -> String {
    let name = own.grid(register);
    match in_registers(function) {
        true => format!(".reg .b32 {name}"),
        false => format!(".param .b32 {}", own.argument(register)),
    }
}

/// Returns true if its parameters are registers, as in code without the ABI.
fn in_registers(function: &Function<'_>) -> bool {
    function.parameters.iter().chain(&function.returns).any(|parameter| parameter.space == StateSpace::Reg)
}

/// Adds the parameters to a function or its prototype.
pub(super) fn declare(function: &Function<'_>, grid: GridRegisters, own: &AddedNames, edits: &mut Edits) {
    let more: Vec<String> = grid.registers().map(|register| parameter(own, function, register)).collect();
    let more = more.join(", ");
    let span = function.parameters_span;
    match (span.start == span.end, function.parameters.is_empty()) {
        (true, _) => edits.insert(span.end, format!(" ({more})")),
        (false, true) => edits.insert(span.end - 1, more),
        (false, false) => edits.insert(span.end - 1, format!(", {more}")),
    }
}

/// Returns the prologue of a function, which loads the grid registers from its parameters.
pub(super) fn receive(function: &Function<'_>, grid: GridRegisters, zero: bool, own: &AddedNames) -> String {
    let mut text = String::new();
    if !in_registers(function) {
        for register in grid.registers() {
            let name = own.grid(register);
            let _ =
                write!(text, ".reg .b32 {name};\n\tld.param.b32 {name}, [{}];\n\t", own.argument(register));
        }
    }
    if zero {
        let _ = write!(text, ".reg .b32 {0};\n\tmov.b32 {0}, 0;\n\t", own.grid(GridRegisters::COUNT));
    }
    text
}

/// Adds the arguments to a call.
pub(super) fn call(
    module: &Module<'_>,
    call: &Instruction<'_>,
    callee: &str,
    grid: GridRegisters,
    own: &AddedNames,
    edits: &mut Edits,
) -> Result<(), Refusal> {
    let refuse = || Refusal::Overlap { line: call.line };
    let more: Vec<String> = grid.registers().map(|register| own.grid(register)).collect();
    let more = more.join(", ");
    let named = |operand: &Operand<'_>| matches!(operand, Operand::Name(name) if *name == callee);
    let place = call.operands.iter().position(named).ok_or_else(refuse)?;
    match call.operands.get(place + 1) {
        None => edits.insert(module.span_of(callee).end, format!(", ({more})")),
        Some(Operand::List(list)) if call.operands.len() == place + 2 => {
            let before = module.source(Span { start: call.span.start, end: call.span.end - 1 }).trim_end();
            if !before.ends_with(')') {
                return Err(refuse());
            }
            let at = call.span.start + before.len() as u32 - 1;
            let comma = if list.is_empty() { "" } else { ", " };
            edits.insert(at, format!("{comma}{more}"));
        }
        Some(_) => return Err(refuse()),
    }
    Ok(())
}
