//! Makes kernels start with `griddepcontrol.wait`, so that they can follow programmatic edges.
//!
//! [`waiting`] rewrites a module in place and lists the entries that it had to leave as written, with the reasons.

use super::edit::Edits;
use super::head::{self, WAIT};
use super::refusal::Refusal;
use super::scan::ModuleScan;
use crate::isa::{self, Addresses, Yields};
use crate::syntax::{Body, Function, Instruction, Module, Span, Statement};
use std::collections::BTreeSet;

/// A module whose kernels wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingModule {
    /// The PTX, unchanged if no entry waits.
    pub text: String,
    /// The entries that begin with the wait, in file order.
    pub waits: Vec<String>,
    /// The entries that stay as written, each with the reason.
    pub unchanged: Vec<(String, Refusal)>,
}

/// Rewrites a module in place: every entry that may wait runs `griddepcontrol.wait` first, in all threads.
///
/// By the PTX ISA such a kernel may start early: `griddepcontrol.wait` "causes the executing thread to wait until all
/// prerequisite grids in flight have completed and all the memory operations from the prerequisite grids are
/// performed and made visible to the current grid". Instructions that the assembler may move above the wait are made
/// safe. `ld.global.nc` and `ldu` promise that nobody writes the memory while the kernel runs; they become plain
/// loads in these entries and their callees. An entry that uses constant data which something may set stays as
/// written.
///
/// Line numbers do not change.
///
/// # Complexity
///
/// Linear in the module, and in each entry with its callees.
pub fn waiting(module: &Module<'_>) -> WaitingModule {
    let mut scan = ModuleScan::new(module);
    let mut edits = Edits::default();
    let mut result = WaitingModule::default();
    let raised = head::raise(module, WAIT, &mut edits);
    let mut functions = BTreeSet::new();
    for entry in module.entries() {
        let may = raised.clone().and_then(|()| may_wait(&mut scan, entry.name));
        match may {
            Ok(closure) => {
                functions.extend(closure);
                result.waits.push(entry.name.to_owned());
                if let Some(body) = &entry.body {
                    edits.insert(first_statement_position(body), "griddepcontrol.wait; ");
                }
            }
            Err(why) => result.unchanged.push((entry.name.to_owned(), why)),
        }
    }
    for place in functions {
        replace_constant_loads(module, scan.uses(place).function, &mut edits, |_| true);
    }
    let all = Span { start: 0, end: module.text.len() as u32 };
    let text =
        if result.waits.is_empty() { Ok(module.text.to_owned()) } else { edits.apply(module.text, all) };
    match text {
        Ok(text) => result.text = text,
        Err(at) => {
            let line = line_of(module, at);
            let waits = std::mem::take(&mut result.waits);
            result.unchanged.extend(waits.into_iter().map(|name| (name, Refusal::Overlap { line })));
            result.text = module.text.to_owned();
        }
    }
    result
}

/// Returns the functions that an entry runs, or the reason that it may not wait.
pub(super) fn may_wait(scan: &mut ModuleScan<'_, '_>, entry: &str) -> Result<Vec<usize>, Refusal> {
    let closure = scan.closure(entry)?;
    match closure.iter().find_map(|&place| scan.uses(place).waiting.clone()) {
        Some(why) => Err(why),
        None => Ok(closure),
    }
}

/// Returns the position of the first statement of a body after its declarations. Code inserted there runs first and
/// once, because it precedes every label. Pragmas and locations stay with the following statement.
pub(super) fn first_statement_position(body: &Body<'_>) -> u32 {
    for statement in &body.statements {
        return match statement {
            Statement::Variable(..) => continue,
            Statement::Instruction(instruction) => instruction.span.start,
            Statement::Label(label) => label.span.start,
            Statement::Location(location) => location.span.start,
            Statement::Targets(targets) => targets.span.start,
            Statement::Prototype(prototype) => prototype.span.start,
            Statement::Directive(directive) => directive.span.start,
            Statement::Open(scope) => body.scopes[*scope as usize].span.start,
            Statement::Close(_) => break,
        };
    }
    body.span.end.saturating_sub(1)
}

/// Replaces the loads of a function that promise constant memory by plain loads, for instructions that `stays`
/// accepts.
pub(super) fn replace_constant_loads(
    module: &Module<'_>,
    function: &Function<'_>,
    edits: &mut Edits,
    stays: impl Fn(&Instruction<'_>) -> bool,
) {
    let Some(body) = &function.body else { return };
    for statement in &body.statements {
        if let Statement::Instruction(instruction) = statement
            && stays(instruction)
        {
            replace_constant_load(module, instruction, edits);
        }
    }
}

fn replace_constant_load(module: &Module<'_>, instruction: &Instruction<'_>, edits: &mut Edits) {
    let row = isa::row(instruction.op());
    if row.addresses != Addresses::Load {
        return;
    }
    let start = module.span_of(instruction.opcode).start;
    match row.yields {
        Yields::Fixed => {
            let end = start + instruction.mnemonic().len() as u32;
            edits.replace(Span { start, end }, "ld");
        }
        Yields::Loaded => {
            let mut at = start;
            for (nth, part) in instruction.opcode.split('.').enumerate() {
                let word = part.len()
                    - part
                        .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':')
                        .len();
                if nth > 0 && &part[..word] == "nc" {
                    edits.replace(Span { start: at - 1, end: at + 2 }, "");
                }
                at += part.len() as u32 + 1;
            }
        }
        Yields::Nothing
        | Yields::Computed
        | Yields::Observed
        | Yields::Exchanged
        | Yields::Voted
        | Yields::Phase
        | Yields::Returned
        | Yields::Unknown => {}
    }
}

/// Returns the line of a byte, 1-based.
pub(super) fn line_of(module: &Module<'_>, byte: u32) -> u32 {
    let before = module.text.as_bytes().iter().take(byte as usize);
    before.filter(|&&byte| byte == b'\n').count() as u32 + 1
}
