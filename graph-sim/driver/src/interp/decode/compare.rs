//! Decoding of comparisons: `setp` and `set`.

use super::decoder::{Decoder, Result};
use crate::interp::code::*;
use crate::interp::number::{format, widen};
use cuweave_ptx::{Instruction, Operand, Type};

/// Returns the comparison of a type. Ordered comparisons with a NaN are false; those with a trailing `u` are
/// true.
// `!(a < b)` differs from `a >= b` for unordered values. `geu` and the other unordered comparisons need the
// former.
#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn compare(op: &str, ty: Type) -> Option<Map2> {
    macro_rules! integers {
        ($to:ty) => {
            Some(match op {
                "eq" => |a, b| u64::from(a as $to == b as $to),
                "ne" => |a, b| u64::from(a as $to != b as $to),
                "lt" | "lo" => |a, b| u64::from((a as $to) < b as $to),
                "le" | "ls" => |a, b| u64::from(a as $to <= b as $to),
                "gt" | "hi" => |a, b| u64::from(a as $to > b as $to),
                "ge" | "hs" => |a, b| u64::from(a as $to >= b as $to),
                _ => return None,
            })
        };
    }
    macro_rules! floats {
        ($read:expr) => {
            Some(match op {
                "eq" => |a, b| u64::from($read(a) == $read(b)),
                "ne" => |a, b| u64::from($read(a) < $read(b) || $read(a) > $read(b)),
                "lt" => |a, b| u64::from($read(a) < $read(b)),
                "le" => |a, b| u64::from($read(a) <= $read(b)),
                "gt" => |a, b| u64::from($read(a) > $read(b)),
                "ge" => |a, b| u64::from($read(a) >= $read(b)),
                "equ" => |a, b| u64::from(!($read(a) < $read(b) || $read(a) > $read(b))),
                "neu" => |a, b| u64::from($read(a) != $read(b)),
                "ltu" => |a, b| u64::from(!($read(a) >= $read(b))),
                "leu" => |a, b| u64::from(!($read(a) > $read(b))),
                "gtu" => |a, b| u64::from(!($read(a) <= $read(b))),
                "geu" => |a, b| u64::from(!($read(a) < $read(b))),
                "num" => |a, b| u64::from(!$read(a).is_nan() && !$read(b).is_nan()),
                "nan" => |a, b| u64::from($read(a).is_nan() || $read(b).is_nan()),
                _ => return None,
            })
        };
    }
    match ty {
        Type::U16 | Type::B16 => integers!(u16),
        Type::S16 => integers!(i16),
        Type::U32 | Type::B32 => integers!(u32),
        Type::S32 => integers!(i32),
        Type::U64 | Type::B64 => integers!(u64),
        Type::S64 => integers!(i64),
        Type::F32 => floats!(|x: u64| f32::from_bits(x as u32)),
        Type::F64 => floats!(f64::from_bits),
        Type::F16 => floats!(half),
        Type::Bf16 => floats!(|x: u64| f32::from_bits((x as u32) << 16)),
        _ => None,
    }
}

fn half(bits: u64) -> f64 {
    format(Type::F16).map_or(0.0, |half| widen(bits, half))
}

/// Flushes a subnormal single to zero.
fn flush_single(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
    "num", "nan",
];

/// Returns the Boolean operation that combines a comparison with a predicate.
pub fn combine(op: &str) -> Option<Map2> {
    Some(match op {
        "and" => |a, b| a & b,
        "or" => |a, b| a | b,
        "xor" => |a, b| a ^ b,
        _ => return None,
    })
}

/// Emits a comparison and returns the row of its result.
fn comparison<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    ty: Type,
    a: &Operand,
    b: &Operand,
) -> Result<Slot> {
    let op = i.modifiers().find(|m| COMPARISONS.contains(m)).ok_or_else(String::new)?;
    let (mut a, mut b) = (decoder.value(a, ty)?, decoder.value(b, ty)?);
    if i.has("ftz") && ty == Type::F32 {
        for row in [&mut a, &mut b] {
            let flushed = decoder.temporary();
            decoder.code.emit(Op::Map1(flush_single, flushed, *row));
            *row = flushed;
        }
    }
    let result = decoder.temporary();
    decoder.code.emit(Op::Map2(compare(op, ty).ok_or_else(String::new)?, result, a, b));
    Ok(result)
}

/// Decodes `setp`.
pub fn setp<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let ty = i.types().next_back().ok_or_else(String::new)?;
    let [d, a, b, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    let (first, second) = match d {
        Operand::Pair(p, q) => (decoder.pair_part(p)?, Some(decoder.pair_part(q)?)),
        d => (decoder.result(d)?, None),
    };
    if packed_scalar(ty).is_some() {
        return setp_packed(decoder, i, ty, first, second, a, b);
    }
    let combined = i.modifiers().find_map(combine);
    let with = match rest {
        [] => None,
        [c] => Some(decoder.value(c, Type::Pred)?),
        _ => return Err("too many operands".to_owned()),
    };
    let result = comparison(decoder, i, ty, a, b)?;
    match (combined, with) {
        (Some(f), Some(with)) => {
            // The first result may be the combined operand.
            let held = decoder.temporary();
            decoder.code.emit(Op::Map2(f, held, result, with));
            if let Some(second) = second {
                let not = decoder.temporary();
                decoder.code.emit(Op::Map1(|p| p ^ 1, not, result));
                decoder.code.emit(Op::Map2(f, second, not, with));
            }
            decoder.code.emit(Op::Map1(|p| p, first, held));
        }
        (None, None) => {
            if let Some(second) = second {
                decoder.code.emit(Op::Map1(|p| p ^ 1, second, result));
            }
            // Fast path: a comparison without a combination writes its result directly.
            match (decoder.code.last(), second) {
                (Some(Op::Map2(_, d, ..)), None) => *d = first,
                _ => decoder.code.emit(Op::Map1(|p| p, first, result)),
            }
        }
        _ => return Err("a combination without its operand".to_owned()),
    }
    Ok(())
}

/// Decodes `setp` of a pair of halves. It has two results, that of the low half first.
fn setp_packed<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    ty: Type,
    first: Slot,
    second: Option<Slot>,
    a: &Operand,
    b: &Operand,
) -> Result<()> {
    let op = i.modifiers().find(|m| COMPARISONS.contains(m)).ok_or_else(String::new)?;
    let f = packed_scalar(ty).and_then(|scalar| compare(op, scalar)).ok_or_else(String::new)?;
    let (a, b) = (decoder.value(a, ty)?, decoder.value(b, ty)?);
    let cut: [Map1; 2] = [|v| v & 0xffff, |v| v >> 16 & 0xffff];
    let mut found = Vec::new();
    for cut in cut {
        let (x, y, p) = (decoder.temporary(), decoder.temporary(), decoder.temporary());
        decoder.code.emit(Op::Map1(cut, x, a));
        decoder.code.emit(Op::Map1(cut, y, b));
        decoder.code.emit(Op::Map2(f, p, x, y));
        found.push(p);
    }
    decoder.code.emit(Op::Map1(|p| p, first, found[0]));
    if let Some(second) = second {
        decoder.code.emit(Op::Map1(|p| p, second, found[1]));
    }
    Ok(())
}

/// Decodes `set`, whose result is a number.
pub fn set<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let types: Vec<Type> = i.types().collect();
    let [to, from] = types.as_slice() else { return Err("expected two types".to_owned()) };
    let [d, a, b, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    let d = decoder.result(d)?;
    if packed_scalar(*from).is_some() {
        let (low, high) = (decoder.temporary(), decoder.temporary());
        setp_packed(decoder, i, *from, low, Some(high), a, b)?;
        let f: Map2 = match to {
            Type::F16x2 => |l, h| (l * 0x3c00) | ((h * 0x3c00) << 16),
            Type::Bf16x2 => |l, h| (l * 0x3f80) | ((h * 0x3f80) << 16),
            _ => |l, h| (l * 0xffff) | ((h * 0xffff) << 16),
        };
        decoder.code.emit(Op::Map2(f, d, low, high));
        return Ok(());
    }
    let mut result = comparison(decoder, i, *from, a, b)?;
    if let [c] = rest {
        let f = i.modifiers().find_map(combine).ok_or_else(String::new)?;
        let with = decoder.value(c, Type::Pred)?;
        let held = decoder.temporary();
        decoder.code.emit(Op::Map2(f, held, result, with));
        result = held;
    }
    let f: Map1 = match to {
        Type::F32 => |p| (p & 1) * 0x3f80_0000,
        Type::F16 => |p| (p & 1) * 0x3c00,
        Type::Bf16 => |p| (p & 1) * 0x3f80,
        Type::U16 | Type::S16 => |p| (p & 1) * 0xffff,
        _ => |p| (p & 1) * 0xffff_ffff,
    };
    decoder.code.emit(Op::Map1(f, d, result));
    Ok(())
}

fn packed_scalar(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}
