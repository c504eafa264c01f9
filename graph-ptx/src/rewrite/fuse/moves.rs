//! Replaces loads and stores of a fused kernel by moves between registers.
//!
//! A stored element that stays in a register is combined with a zero that the assembler cannot know, so that it is as
//! opaque to the following bodies as a loaded value. Otherwise the assembler would optimise across bodies: it would
//! contract a product and a sum into one `fma`, which rounds once instead of twice; simplify the reciprocal of a
//! reciprocal; and fold an approximation of a constant, with another rounding than the device's.
//!
//! The zero is the bitwise and of a parameter and the mask of active threads. A parameter alone would be reloaded
//! from the constant bank for each element, which costs several times the element's arithmetic; `activemask` is never
//! rematerialised.

use crate::analysis::effect::{self, Effect};
use crate::coverage::{AccessChange, ForwardingPlan};
use crate::rewrite::edit::Edits;
use crate::syntax::{Instruction, Operand, Type};
use std::fmt::Write;

/// The changed loads and stores of all parts.
pub(super) struct ForwardingMoves<'f> {
    forward: &'f ForwardingPlan,
    prefix: &'f str,
    /// The offset of the zero word among the parameters.
    zero: Option<u32>,
}

impl<'f> ForwardingMoves<'f> {
    /// Prepares the changes of all parts. `zero` is the offset of the zero word among the parameters.
    pub fn new(forward: &'f ForwardingPlan, prefix: &'f str, zero: Option<u32>) -> ForwardingMoves<'f> {
        ForwardingMoves { forward, prefix, zero }
    }

    /// Returns true if there is a barrier before a part.
    pub fn barrier(&self, part: usize) -> bool {
        self.forward.barriers.get(part - 1).is_none_or(|stands| *stands)
    }

    /// Declares the registers.
    pub fn declare(&self, text: &mut String) {
        let prefix = self.prefix;
        for (at, bytes) in self.forward.cells.iter().enumerate() {
            let _ = writeln!(text, ".reg .b{} {prefix}c{at};", bits(*bytes));
        }
        if let Some(zero) = self.zero {
            let _ = writeln!(
                text,
                ".reg .b16 {prefix}z2;\n.reg .b32 {prefix}z4, {prefix}m;\n.reg .b64 {prefix}z8;\n\
                 ld.param.u32 {prefix}z4, [{prefix}table+{zero}];\n\
                 activemask.b32 {prefix}m;\nand.b32 {prefix}z4, {prefix}z4, {prefix}m;\n\
                 cvt.u16.u32 {prefix}z2, {prefix}z4;\ncvt.u64.u32 {prefix}z8, {prefix}z4;"
            );
        }
    }

    /// Zeroes the registers that are first set in a part.
    pub fn begin(&self, part: usize, text: &mut String) {
        for &cell in self.forward.first_set.get(part).into_iter().flatten() {
            let bits = bits(self.forward.cells[cell as usize]);
            let _ = writeln!(text, "mov.b{bits} {}, 0;", self.cell(cell));
        }
    }

    /// Returns the change of an instruction of a part, if any.
    pub fn change(&self, part: usize, instruction: &Instruction<'_>) -> Option<&AccessChange> {
        let changes = self.forward.changes.get(part)?;
        let at = changes.binary_search_by_key(&instruction.span.start, |change| change.at).ok()?;
        Some(&changes[at])
    }

    fn cell(&self, cell: u32) -> String {
        format!("{}c{cell}", self.prefix)
    }

    /// Writes the moves of a changed instruction: in its place, or after it if it stays.
    pub fn apply(&self, instruction: &Instruction<'_>, change: &AccessChange, edits: &mut Edits) {
        let guard = instruction.guard.map_or(String::new(), |guard| {
            format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register)
        });
        let stores = effect::effect(instruction) == Effect::Store;
        let value = instruction.operands.get(usize::from(stores));
        let values = match value {
            Some(Operand::Vector(values)) => values.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        let mut text = String::new();
        for (value, cell) in values.iter().zip(&change.cells) {
            let Some(cell) = cell else { continue };
            let bytes = self.forward.cells[*cell as usize];
            let cell = self.cell(*cell);
            let into_cell = stores || change.stays;
            let Some(line) = moved(value, &cell, bytes, instruction, into_cell) else { continue };
            let _ = write!(text, "{guard}{line} ");
            if stores {
                let (bits, zero) = (bits(bytes), format!("{}z{}", self.prefix, bytes.max(2)));
                let _ = write!(text, "{guard}xor.b{bits} {cell}, {cell}, {zero}; ");
            }
        }
        match change.stays {
            true => edits.insert(instruction.span.end, format!(" {}", text.trim_end())),
            false => edits.replace(instruction.span, text.trim_end()),
        }
    }
}

/// Returns the width of a register that holds an element, in bits.
fn bits(bytes: u32) -> u32 {
    8 * bytes.max(2)
}

/// Returns the move from an operand into a cell, or from a cell into a register. A one-byte cell is zero-extended.
fn moved(
    value: &Operand<'_>,
    cell: &str,
    bytes: u32,
    instruction: &Instruction<'_>,
    into_cell: bool,
) -> Option<String> {
    let bits = bits(bytes);
    let value = match value {
        Operand::Name(name) => (*name).to_owned(),
        Operand::Integer(number) => {
            let low = if bytes == 8 { *number } else { *number & ((1 << (8 * bytes)) - 1) };
            return Some(format!("mov.b{bits} {cell}, {low:#x};"));
        }
        Operand::Single(number) => return Some(format!("mov.b32 {cell}, {number:#x};")),
        Operand::Double(number) => return Some(format!("mov.b64 {cell}, {number:#x};")),
        _ => return None,
    };
    let signed = instruction.types().next_back() == Some(Type::S8);
    Some(match (into_cell, bytes) {
        (true, 1) => format!("and.b16 {cell}, {value}, 0xff;"),
        (true, _) => format!("mov.b{bits} {cell}, {value};"),
        (false, 1) if signed => format!("cvt.s16.s8 {value}, {cell};"),
        (false, _) => format!("mov.b{bits} {value}, {cell};"),
    })
}
