//! Transfer functions of the points-to analysis for arithmetic.
//!
//! Each one maps the abstract values of the operands to that of the result. A result that drops bits of an address
//! reports a leak: the location of the address then counts as exposed.

use crate::analysis::value::Value;
use crate::isa::{self, Arithmetic, Bitwise, Operation};
use crate::syntax::{Instruction, TypeClass};

/// A mask below this drops all bits of an address; the complement of such a mask keeps them.
const LOW_BITS: u64 = 1 << 16;

/// The result of a transfer function.
pub(crate) struct TransferResult {
    pub value: Value,
    /// True if bits of an address flow into a result that does not count as an address.
    pub leaks: bool,
}

fn without_leak(value: Value) -> TransferResult {
    TransferResult { value, leaks: false }
}

/// Evaluates an instruction that computes registers from registers.
pub(crate) fn compute(instruction: &Instruction<'_>, sources: &[Value]) -> TransferResult {
    let ty = instruction.types().next_back();
    let wide = ty.is_none_or(|ty| ty.size() == 8 && ty.class() != TypeClass::Float);
    let derived = || Value::derived(sources);
    without_leak(match (isa::row(instruction.op()).operation, sources) {
        (Operation::Comparison(_), _) => Value::Plain,
        (Operation::Move | Operation::Address, [value]) if wide && instruction.operands.len() == 2 => {
            if unpacks(instruction) {
                derived()
            } else {
                value.clone()
            }
        }
        (Operation::Move, [lower, upper])
            if wide && !instruction.has("v2") && !lower.has_origins() && !upper.has_origins() =>
        {
            upper.upper_half()
        }
        (Operation::Move, [value]) if value.as_constant().is_some() => value.clone(),
        (Operation::Convert, [value]) if value.halves() != 0 && keeps_32_bits(instruction) => {
            value.lower_half()
        }
        (Operation::Convert, [value]) => {
            let all_wide = instruction.types().all(|ty| ty.size() == 8 && ty.class() != TypeClass::Float);
            if all_wide || value.as_constant().is_some() { value.clone() } else { derived() }
        }
        (Operation::Arithmetic(Arithmetic::Add), [a, b]) if wide => a.plus(b, 1),
        (Operation::Arithmetic(Arithmetic::Sub), [a, b]) if wide => a.plus(b, -1),
        (Operation::Arithmetic(Arithmetic::Neg), [a]) if wide => a.times(-1),
        (Operation::Bitwise(Bitwise::Not), [a]) if wide => a.times(-1).plus(&Value::constant(-1), 1),
        (Operation::Arithmetic(Arithmetic::Mul), [a, b]) if instruction.has("lo") && wide => product(a, b),
        (Operation::Arithmetic(Arithmetic::Mad), [a, b, c]) if instruction.has("lo") && wide => {
            product(a, b).plus(c, 1)
        }
        (Operation::Arithmetic(Arithmetic::Mul), [a, b]) if instruction.has("wide") => wide_product(a, b),
        (Operation::Arithmetic(Arithmetic::Mad), [a, b, c])
            if instruction.has("wide") && ty.is_some_and(|ty| ty.size() == 4) =>
        {
            wide_product(a, b).plus(c, 1)
        }
        (Operation::Bitwise(Bitwise::Shl), [a, b]) if wide => match b.as_constant() {
            Some(32) if a.halves() != 0 => a.upper_half(),
            Some(by @ 0..=62) => a.times(1 << by),
            _ => derived(),
        },
        (Operation::Bitwise(Bitwise::InsertField), [upper, lower, at, count])
            if wide
                && at.as_constant() == Some(32)
                && count.as_constant() == Some(32)
                && !lower.has_origins() =>
        {
            upper.upper_half()
        }
        (Operation::Bitwise(Bitwise::And), [a, b]) if wide => return and(a, b),
        (Operation::Bitwise(Bitwise::Or | Bitwise::Xor), [a, b]) if wide => {
            match (a.has_origins(), b.has_origins()) {
                (true, false) => a.moved(),
                (false, true) => b.moved(),
                (false, false) if a.loose_bits() | b.loose_bits() != 0 => a.plus(b, 1).moved(),
                _ => derived(),
            }
        }
        (Operation::Selection(_) | Operation::Arithmetic(Arithmetic::Min | Arithmetic::Max), [a, b, ..])
            if wide =>
        {
            let mut value = a.clone();
            value.join(b);
            value
        }
        (
            Operation::None
            | Operation::Move
            | Operation::Convert
            | Operation::Address
            | Operation::SharedAddress
            | Operation::Arithmetic(_)
            | Operation::Float(_)
            | Operation::Bitwise(_)
            | Operation::Selection(_)
            | Operation::Opaque(_),
            _,
        ) => derived(),
    })
}

/// Returns true if a conversion keeps the lower 32 bits of an integer.
fn keeps_32_bits(instruction: &Instruction<'_>) -> bool {
    instruction.types().all(|ty| ty.size() >= 4 && ty.class() != TypeClass::Float)
}

fn unpacks(instruction: &Instruction<'_>) -> bool {
    instruction.operands.iter().any(|operand| matches!(operand, crate::syntax::Operand::Vector(_)))
}

fn product(a: &Value, b: &Value) -> Value {
    match (a, b.as_constant(), b, a.as_constant()) {
        (value, Some(factor), _, _) | (_, _, value, Some(factor)) => value.times(factor),
        // The offset becomes unknown, and loose bits are no longer tracked.
        _ => Value::derived([a, b]),
    }
}

/// Returns the product of 32-bit factors.
fn wide_product(a: &Value, b: &Value) -> Value {
    match (a.as_constant(), b.as_constant()) {
        (Some(a), Some(b)) => Value::constant(a.wrapping_mul(b)),
        _ => Value::derived([a, b]),
    }
}

fn and(a: &Value, b: &Value) -> TransferResult {
    let (value, mask) = match (a.as_constant(), b.as_constant()) {
        (_, Some(mask)) => (a, mask),
        (Some(mask), _) => (b, mask),
        _ => return without_leak(Value::derived([a, b])),
    };
    if (mask as u64) < LOW_BITS {
        return TransferResult { value: Value::Plain, leaks: value.has_origins() };
    }
    if !(mask as u64) < LOW_BITS {
        without_leak(value.moved())
    } else {
        without_leak(Value::derived([value]))
    }
}
