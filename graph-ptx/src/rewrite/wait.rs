//! Kernels behind programmatic edges: they wait first (`griddepcontrol.wait`).

use super::edit::Edits;
use super::head::{self, WAIT};
use super::refusal::Refusal;
use super::uses::Scan;
use super::variables;
use crate::isa::{self, Addresses, Yields};
use crate::syntax::{Body, Function, Instruction, Module, Span, Statement};
use std::collections::BTreeSet;

/// A module whose kernels wait.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// The PTX, unchanged if no entry waits.
    pub text: String,
    /// The entries that begin with the wait, in the file's order.
    pub waits: Vec<String>,
    /// The entries that stay as they were written, each with the reason.
    pub kept: Vec<(String, Refusal)>,
}

/// Rewrites the module in place: every entry that may wait runs `griddepcontrol.wait` first, in all threads.
///
/// Such a kernel may start early by the PTX ISA: `griddepcontrol.wait` "causes the executing thread to wait until
/// all prerequisite grids in flight have completed and all the memory operations from the prerequisite grids are
/// performed and made visible to the current grid". What the assembler may move above it is made safe here:
/// `ld.global.nc` and `ldu`, which say that nobody writes the memory while the kernel runs, become plain loads in
/// these entries and in all that they call; constant data that something may set keeps an entry as it is.
///
/// Line numbers stay. Time: linear in the module, and in what each entry calls.
pub fn waiting(module: &Module<'_>) -> Waiting {
    let mut scan = Scan::new(module);
    let mut edits = Edits::default();
    let mut result = Waiting::default();
    let raised = head::raise(module, WAIT, &mut edits);
    let mut functions = BTreeSet::new();
    for entry in module.entries() {
        let may = raised.clone().and_then(|()| may_wait(&mut scan, entry.name));
        match may {
            Ok(closure) => {
                functions.extend(closure);
                result.waits.push(entry.name.to_owned());
                if let Some(body) = &entry.body {
                    edits.insert(first_statement(body), "griddepcontrol.wait; ");
                }
            }
            Err(why) => result.kept.push((entry.name.to_owned(), why)),
        }
    }
    for place in functions {
        coherent_loads(module, scan.uses(place).function, &mut edits, |_| true);
    }
    let all = Span { start: 0, end: module.text.len() as u32 };
    let text =
        if result.waits.is_empty() { Ok(module.text.to_owned()) } else { edits.apply(module.text, all) };
    match text {
        Ok(text) => result.text = text,
        Err(at) => {
            let line = line_of(module, at);
            let waits = std::mem::take(&mut result.waits);
            result.kept.extend(waits.into_iter().map(|name| (name, Refusal::Overlap { line })));
            result.text = module.text.to_owned();
        }
    }
    result
}

/// Returns the functions that an entry runs, if it may wait.
pub(super) fn may_wait(scan: &mut Scan<'_, '_>, entry: &str) -> Result<Vec<usize>, Refusal> {
    let closure = scan.closure(entry)?;
    match closure.iter().find_map(|&place| scan.uses(place).waiting.clone()) {
        Some(why) => Err(why),
        None => variables::constants(scan, &closure).map(|()| closure),
    }
}

/// Returns the place of the first statement of a body that is no declaration. Code that is inserted there runs first, and once,
/// since it stands before every label. Pragmas and locations stay with the statement behind them.
pub(super) fn first_statement(body: &Body<'_>) -> u32 {
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

/// Turns the loads of a function that promise constant memory into plain ones, if they are among those that stay.
pub(super) fn coherent_loads(
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
            coherent_load(module, instruction, edits);
        }
    }
}

fn coherent_load(module: &Module<'_>, instruction: &Instruction<'_>, edits: &mut Edits) {
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
            // Every part but the first has a dot in front.
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

/// Returns the line of a byte, counted from 1.
pub(super) fn line_of(module: &Module<'_>, byte: u32) -> u32 {
    let before = module.text.as_bytes().iter().take(byte as usize);
    before.filter(|&&byte| byte == b'\n').count() as u32 + 1
}
