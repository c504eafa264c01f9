//! Decoding of arithmetic: integers of every width, and floats with their modifiers.

use super::decoder::{Decoder, Result, is_float};
use super::operation::{Alu, Binary, Ternary, Unary};
use super::rounding::{conversion, float_spec};
use crate::interp::code::*;
use crate::interp::number::{FloatOp, RoundingMode};
use cuweave_ptx::{Instruction, Operand, Type};

/// Expands to a function pointer that applies a closure at the width and signedness of a type.
macro_rules! widths {
    ($ty:expr, |$($x:ident),+| $body:expr) => {
        match $ty {
            Type::U16 | Type::B16 => Some(|$($x: u64),+| { $(let $x = $x as u16;)+ ($body) as u16 as u64 }),
            Type::S16 => Some(|$($x: u64),+| { $(let $x = $x as i16;)+ ($body) as i16 as u64 }),
            Type::U32 | Type::B32 => Some(|$($x: u64),+| { $(let $x = $x as u32;)+ ($body) as u32 as u64 }),
            Type::S32 => Some(|$($x: u64),+| { $(let $x = $x as i32;)+ ($body) as i32 as u64 }),
            Type::U64 | Type::B64 => Some(|$($x: u64),+| $body as u64),
            Type::S64 => Some(|$($x: u64),+| { $(let $x = $x as i64;)+ ($body) as u64 }),
            _ => None,
        }
    };
}

fn pairs(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    let one = |shift: u32| f(a >> shift & 0xffff, b >> shift & 0xffff) & 0xffff;
    one(16) << 16 | one(0)
}

pub fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn shift_left(value: u64, by: u64, width: u64) -> u64 {
    if by as u32 as u64 >= width { 0 } else { value << (by as u32) & (u64::MAX >> (64 - width)) }
}

fn shift_right(value: u64, by: u64, width: u64) -> u64 {
    if by as u32 as u64 >= width { 0 } else { (value & u64::MAX >> (64 - width)) >> (by as u32) }
}

fn binary_integer(op: Binary, ty: Type) -> Option<Map2> {
    match op {
        Binary::Add => widths!(ty, |a, b| a.wrapping_add(b)),
        Binary::Sub => widths!(ty, |a, b| a.wrapping_sub(b)),
        Binary::Mul => widths!(ty, |a, b| a.wrapping_mul(b)),
        // A division by zero gives all ones, as the hardware's routine does.
        Binary::Div => widths!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) }),
        Binary::Rem => widths!(ty, |a, b| if b == 0 { a } else { a.wrapping_rem(b) }),
        Binary::Min => widths!(ty, |a, b| a.min(b)),
        Binary::Max => widths!(ty, |a, b| a.max(b)),
        Binary::And => Some(|a, b| a & b),
        Binary::Or => Some(|a, b| a | b),
        Binary::Xor => Some(|a, b| a ^ b),
        Binary::Shl => shift_left_of(ty),
        Binary::Shr => shift_right_of(ty),
        Binary::Mul24 => None,
    }
}

fn shift_left_of(ty: Type) -> Option<Map2> {
    Some(match ty {
        Type::B16 => |a, b| shift_left(a, b, 16),
        Type::B32 => |a, b| shift_left(a, b, 32),
        Type::B64 => |a, b| shift_left(a, b, 64),
        _ => return None,
    })
}

fn shift_right_of(ty: Type) -> Option<Map2> {
    Some(match ty {
        Type::B16 | Type::U16 => |a, b| shift_right(a, b, 16),
        Type::B32 | Type::U32 => |a, b| shift_right(a, b, 32),
        Type::B64 | Type::U64 => |a, b| shift_right(a, b, 64),
        Type::S16 => |a, b| (a as i16 >> (b as u32).min(15)) as u64,
        Type::S32 => |a, b| (a as i32 >> (b as u32).min(31)) as u32 as u64,
        Type::S64 => |a, b| (a as i64 >> (b as u32).min(63)) as u64,
        _ => return None,
    })
}

fn high(ty: Type) -> Option<Map2> {
    Some(match ty {
        Type::U16 => |a, b| ((a & 0xffff) * (b & 0xffff)) >> 16,
        Type::S16 => |a, b| ((a as i16 as i32 * b as i16 as i32) >> 16) as u64,
        Type::U32 => |a, b| ((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32,
        Type::S32 => |a, b| ((a as i32 as i64 * b as i32 as i64) >> 32) as u32 as u64,
        Type::U64 => |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64,
        Type::S64 => |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64,
        _ => return None,
    })
}

fn wide(ty: Type) -> Option<Map2> {
    Some(match ty {
        Type::U16 => |a, b| (a & 0xffff) * (b & 0xffff),
        Type::S16 => |a, b| (a as i16 as i32 * b as i16 as i32) as u32 as u64,
        Type::U32 => |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff),
        Type::S32 => |a, b| (a as i32 as i64 * b as i32 as i64) as u64,
        _ => return None,
    })
}

fn unary(op: Unary, ty: Type) -> Option<Map1> {
    match op {
        Unary::Neg => widths!(ty, |a| a.wrapping_mul(!0)),
        Unary::Abs => match ty {
            Type::S16 => Some(|a| (a as i16).wrapping_abs() as u64),
            Type::S32 => Some(|a| (a as i32).wrapping_abs() as u32 as u64),
            Type::S64 => Some(|a| (a as i64).wrapping_abs() as u64),
            _ => None,
        },
        Unary::Not if ty == Type::Pred => Some(|a| a ^ 1),
        Unary::Not => of_bits(ty, |a| !a & 0xffff, |a| !a & 0xffff_ffff, |a| !a),
        Unary::Cnot => {
            of_bits(ty, |a| u64::from(a & 0xffff == 0), |a| u64::from(a as u32 == 0), |a| u64::from(a == 0))
        }
        Unary::Popc if ty != Type::B16 => {
            of_bits(ty, |a| a, |a| (a as u32).count_ones().into(), |a| a.count_ones().into())
        }
        Unary::Clz if ty != Type::B16 => {
            of_bits(ty, |a| a, |a| (a as u32).leading_zeros().into(), |a| a.leading_zeros().into())
        }
        Unary::Brev if ty != Type::B16 => {
            of_bits(ty, |a| a, |a| (a as u32).reverse_bits().into(), |a| a.reverse_bits())
        }
        Unary::Bfind => match ty {
            Type::U32 => Some(|a| find(u64::from(a as u32))),
            Type::U64 => Some(find),
            Type::S32 => Some(|a| find(u64::from(if (a as i32) < 0 { !(a as u32) } else { a as u32 }))),
            Type::S64 => Some(|a| find(if (a as i64) < 0 { !a } else { a })),
            _ => None,
        },
        Unary::Popc | Unary::Clz | Unary::Brev => None,
    }
}

fn of_bits(ty: Type, short: Map1, word: Map1, long: Map1) -> Option<Map1> {
    match ty {
        Type::B16 => Some(short),
        Type::B32 => Some(word),
        Type::B64 => Some(long),
        _ => None,
    }
}

fn find(value: u64) -> u64 {
    if value == 0 { 0xffff_ffff } else { u64::from(63 - value.leading_zeros()) }
}

fn extract(value: u64, position: u64, length: u64, width: u32, signed: bool) -> u64 {
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    let value = value & (u64::MAX >> (64 - width));
    let last = (position + length).saturating_sub(1).min(width - 1);
    let negative = signed && length > 0 && value >> last & 1 == 1;
    let taken = if position >= width || length == 0 {
        0
    } else {
        let kept = length.min(width - position);
        value >> position & (u64::MAX >> (64 - kept))
    };
    if !negative {
        return taken;
    }
    let kept = if position >= width { 0 } else { length.min(width - position) };
    let fill = if kept >= 64 { 0 } else { u64::MAX << kept };
    (taken | fill) & (u64::MAX >> (64 - width))
}

fn insert(a: u64, b: u64, position: u64, length: u64, width: u32) -> u64 {
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    if position >= width || length == 0 {
        return b;
    }
    let mask = (u64::MAX >> (64 - length.min(width - position))) << position;
    b & !mask | a << position & mask
}

fn fast_float(op: FloatOp, ty: Type, flush: bool) -> Option<Op2> {
    Some(match (op, ty, flush) {
        (FloatOp::Add, Type::F32, false) => Op2::Two(|a, b| bits(single(a) + single(b))),
        (FloatOp::Sub, Type::F32, false) => Op2::Two(|a, b| bits(single(a) - single(b))),
        (FloatOp::Mul, Type::F32, false) => Op2::Two(|a, b| bits(single(a) * single(b))),
        (FloatOp::Div, Type::F32, false) => Op2::Two(|a, b| bits(single(a) / single(b))),
        (FloatOp::Fma, Type::F32, false) => {
            Op2::Three(|a, b, c| bits(single(a).mul_add(single(b), single(c))))
        }
        (FloatOp::Add, Type::F32, true) => {
            Op2::Two(|a, b| bits(flushed(flushed(single(a)) + flushed(single(b)))))
        }
        (FloatOp::Sub, Type::F32, true) => {
            Op2::Two(|a, b| bits(flushed(flushed(single(a)) - flushed(single(b)))))
        }
        (FloatOp::Mul, Type::F32, true) => {
            Op2::Two(|a, b| bits(flushed(flushed(single(a)) * flushed(single(b)))))
        }
        (FloatOp::Fma, Type::F32, true) => Op2::Three(|a, b, c| {
            bits(flushed(flushed(single(a)).mul_add(flushed(single(b)), flushed(single(c)))))
        }),
        (FloatOp::Add, Type::F64, _) => Op2::Two(|a, b| (double(a) + double(b)).to_bits()),
        (FloatOp::Sub, Type::F64, _) => Op2::Two(|a, b| (double(a) - double(b)).to_bits()),
        (FloatOp::Mul, Type::F64, _) => Op2::Two(|a, b| (double(a) * double(b)).to_bits()),
        (FloatOp::Div, Type::F64, _) => Op2::Two(|a, b| (double(a) / double(b)).to_bits()),
        (FloatOp::Fma, Type::F64, _) => {
            Op2::Three(|a, b, c| double(a).mul_add(double(b), double(c)).to_bits())
        }
        _ => return None,
    })
}

enum Op2 {
    Two(Map2),
    Three(Map3),
}

pub fn alu<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>, op: Alu) -> Result<()> {
    let Some(ty) = i.types().next_back() else { return Err(String::new()) };
    if op.is_of_one_size() && !i.has("wide") && i.types().count() == 1 {
        decoder.check_sizes(i, ty)?;
    }
    if is_float(ty) && !op.is_logic() {
        let op = op.float().ok_or_else(String::new)?;
        return float(decoder, i, op, ty);
    }
    let [d, a, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    match op {
        Alu::WithCarry(op) => return extended(decoder, i, op, ty, true),
        Alu::Binary(op @ (Binary::Add | Binary::Sub)) if i.has("cc") => {
            return extended(decoder, i, op, ty, false);
        }
        Alu::Ternary(Ternary::Mad) if i.has("cc") => return extended(decoder, i, Binary::Add, ty, false),
        Alu::Unary(_) | Alu::Binary(_) | Alu::Ternary(_) | Alu::Float(_) => {}
    }
    let d = decoder.result(d)?;
    let a = decoder.value(a, ty)?;
    let [b, more @ ..] = rest else {
        let Alu::Unary(op) = op else { return Err(String::new()) };
        return one(decoder, i, op, ty, d, a);
    };
    let b = decoder.value(b, if op.counts_bits() { Type::U32 } else { ty })?;
    if more.is_empty() {
        let Alu::Binary(op) = op else { return Err(String::new()) };
        let f = two(i, op, ty).ok_or_else(String::new)?;
        decoder.code.emit(Op::Map2(f, d, a, b));
        return Ok(());
    }
    let Alu::Ternary(op) = op else { return Err(String::new()) };
    many(decoder, i, op, ty, d, [a, b], more)
}

fn one<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    op: Unary,
    ty: Type,
    d: Slot,
    a: Slot,
) -> Result<()> {
    let f = unary(op, ty).ok_or_else(String::new)?;
    if op != Unary::Bfind || !i.has("shiftamt") {
        decoder.code.emit(Op::Map1(f, d, a));
        return Ok(());
    }
    let found = decoder.temporary();
    decoder.code.emit(Op::Map1(f, found, a));
    let back: Map1 = match ty.size() {
        4 => |p| if p == 0xffff_ffff { p } else { 31 - p },
        _ => |p| if p == 0xffff_ffff { p } else { 63 - p },
    };
    decoder.code.emit(Op::Map1(back, d, found));
    Ok(())
}

fn many<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    op: Ternary,
    ty: Type,
    d: Slot,
    [a, b]: [Slot; 2],
    more: &[Operand<'m>],
) -> Result<()> {
    let [third, last @ ..] = more else { return Err(String::new()) };
    let third_type = match op {
        Ternary::Mad | Ternary::Mad24 | Ternary::Sad => ty,
        Ternary::Bfe | Ternary::Bfi | Ternary::Fns => Type::U32,
    };
    let c = decoder.value(third, third_type)?;
    match (op, last) {
        (Ternary::Mad, []) => mad(decoder, i, ty, d, [a, b, c], third)?,
        (Ternary::Mad24, []) if i.has("lo") => {
            let f: Map3 = match ty {
                Type::U32 => |a, b, c| ((a & 0xff_ffff) * (b & 0xff_ffff)).wrapping_add(c) & 0xffff_ffff,
                _ => |a, b, c| {
                    let product = ((a as i32) << 8 >> 8).wrapping_mul((b as i32) << 8 >> 8);
                    product.wrapping_add(c as i32) as u32 as u64
                },
            };
            decoder.code.emit(Op::Map3(f, d, a, b, c));
        }
        (Ternary::Sad, []) => {
            let f: Option<Map3> = widths!(ty, |a, b, c| {
                if a > b { c.wrapping_add(a.wrapping_sub(b)) } else { c.wrapping_add(b.wrapping_sub(a)) }
            });
            decoder.code.emit(Op::Map3(f.ok_or_else(String::new)?, d, a, b, c));
        }
        (Ternary::Bfe, []) => {
            let f: Map3 = match ty {
                Type::U32 => |a, p, l| extract(a, p, l, 32, false),
                Type::S32 => |a, p, l| extract(a, p, l, 32, true),
                Type::U64 => |a, p, l| extract(a, p, l, 64, false),
                Type::S64 => |a, p, l| extract(a, p, l, 64, true),
                _ => return Err(String::new()),
            };
            decoder.code.emit(Op::Map3(f, d, a, b, c));
        }
        (Ternary::Bfi, [length]) => {
            let length = decoder.value(length, Type::U32)?;
            let field = decoder.temporary();
            decoder.code.emit(Op::Map2(|p, l| (p & 0xff) << 8 | l & 0xff, field, c, length));
            let f: Map3 = match ty {
                Type::B32 => |a, b, f| insert(a & 0xffff_ffff, b & 0xffff_ffff, f >> 8, f, 32),
                Type::B64 => |a, b, f| insert(a, b, f >> 8, f, 64),
                _ => return Err(String::new()),
            };
            decoder.code.emit(Op::Map3(f, d, a, b, field));
        }
        (Ternary::Fns, []) => decoder.code.emit(Op::Map3(find_nth, d, a, b, c)),
        (Ternary::Mad | Ternary::Mad24 | Ternary::Sad | Ternary::Bfe | Ternary::Bfi | Ternary::Fns, _) => {
            return Err(String::new());
        }
    }
    Ok(())
}

/// Decodes an integer `mad`. `third` is the operand `c`.
fn mad<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    ty: Type,
    d: Slot,
    [a, b, c]: [Slot; 3],
    third: &Operand<'m>,
) -> Result<()> {
    let f: Option<Map3> = match ty {
        _ if i.has("sat") && ty == Type::S32 && i.has("hi") => Some(|a, b, c| {
            let high = ((a as i32 as i64 * b as i32 as i64) >> 32) as i32;
            high.saturating_add(c as i32) as u32 as u64
        }),
        _ if i.has("sat") => None,
        _ if i.has("wide") => match ty {
            Type::U16 => Some(|a, b, c| ((a & 0xffff) * (b & 0xffff)).wrapping_add(c) & 0xffff_ffff),
            Type::S16 => {
                Some(|a, b, c| (a as i16 as i32 * b as i16 as i32).wrapping_add(c as i32) as u32 as u64)
            }
            Type::U32 => Some(|a, b, c| ((a & 0xffff_ffff) * (b & 0xffff_ffff)).wrapping_add(c)),
            Type::S32 => Some(|a, b, c| (a as i32 as i64 * b as i32 as i64).wrapping_add(c as i64) as u64),
            _ => None,
        },
        _ if i.has("hi") => {
            let f = high(ty).ok_or_else(String::new)?;
            let product = decoder.temporary();
            decoder.code.emit(Op::Map2(f, product, a, b));
            let add = binary_integer(Binary::Add, ty).ok_or_else(String::new)?;
            decoder.code.emit(Op::Map2(add, d, product, c));
            return Ok(());
        }
        _ => widths!(ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    };
    let c = if i.has("wide") {
        let twice = if ty.size() == 2 { Type::S32 } else { Type::S64 };
        decoder.value(third, twice)?
    } else {
        c
    };
    decoder.code.emit(Op::Map3(f.ok_or_else(String::new)?, d, a, b, c));
    Ok(())
}

fn float<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>, op: FloatOp, ty: Type) -> Result<()> {
    let [d, operands @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    let d = decoder.result(d)?;
    // Mixed precision: `fma.rn.f32.f16` reads halves.
    let mut types = i.types();
    let first = types.next().unwrap_or(ty);
    if first != ty {
        return mixed(decoder, i, op, first, ty, d);
    }
    let mut rows = [NONE; 3];
    for (row, operand) in rows.iter_mut().zip(operands) {
        *row = decoder.value(operand, ty)?;
    }
    let arity = match op {
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div | FloatOp::Min | FloatOp::Max => 2,
        FloatOp::Fma => 3,
        _ => 1,
    };
    if operands.len() == 3 && matches!(op, FloatOp::Min | FloatOp::Max) {
        let part = decoder.temporary();
        let spec = float_spec(i, op, ty);
        decoder.code.emit(Op::Float(Box::new(spec), part, rows));
        decoder.code.emit(Op::Float(Box::new(spec), d, [part, rows[2], NONE]));
        return Ok(());
    }
    if operands.len() != arity {
        return Err("wrong number of operands".to_owned());
    }
    let spec = float_spec(i, op, ty);
    let plain = spec.mode == RoundingMode::Nearest && !spec.saturate && !spec.relu;
    match fast_float(op, ty, spec.flush).filter(|_| plain) {
        Some(Op2::Two(f)) => decoder.code.emit(Op::Map2(f, d, rows[0], rows[1])),
        Some(Op2::Three(f)) => decoder.code.emit(Op::Map3(f, d, rows[0], rows[1], rows[2])),
        None => decoder.code.emit(Op::Float(Box::new(spec), d, rows)),
    }
    Ok(())
}

/// Decodes `add`, `sub` and `fma` with half operands, but single results and addends.
fn mixed<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    op: FloatOp,
    to: Type,
    from: Type,
    d: Slot,
) -> Result<()> {
    let mut rows = [NONE; 3];
    if i.operands.len() < 3 {
        return Err("too few operands".to_owned());
    }
    let last = i.operands.len() - 2;
    for (at, operand) in i.operands[1..].iter().take(3).enumerate() {
        let single = at == last;
        let value = decoder.value(operand, if single { to } else { from })?;
        rows[at] = value;
        if !single {
            rows[at] = decoder.temporary();
            let spec = conversion(to, from);
            decoder.code.emit(Op::Convert(Box::new(spec), rows[at], value));
        }
    }
    let spec = float_spec(i, op, to);
    decoder.code.emit(Op::Float(Box::new(spec), d, rows));
    Ok(())
}

/// Decodes extended-precision `addc`, `subc` and `madc`, and the `.cc` forms, which write the carry.
fn extended<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    op: Binary,
    ty: Type,
    reads_carry: bool,
) -> Result<()> {
    let [d, a, b, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    let d = decoder.result(d)?;
    let (mut a, mut b) = (decoder.value(a, ty)?, decoder.value(b, ty)?);
    let wide_type = ty.size() == 8;
    if let Some(c) = rest.first() {
        let f = if i.has("hi") { high(ty) } else { binary_integer(Binary::Mul, ty) };
        let product = decoder.temporary();
        decoder.code.emit(Op::Map2(f.ok_or_else(String::new)?, product, a, b));
        a = product;
        b = decoder.value(c, ty)?;
    }
    let subtract = op == Binary::Sub;
    let carry = decoder.carry();
    let carry_in = if reads_carry { carry } else { decoder.constant(0) };
    let out = decoder.temporary();
    let (value, flag): (Map3, Map3) = match (subtract, wide_type) {
        (false, false) => (
            |a, b, c| u64::from((a as u32).wrapping_add(b as u32).wrapping_add(c as u32)),
            |a, b, c| ((a & 0xffff_ffff) + (b & 0xffff_ffff) + c) >> 32,
        ),
        (false, true) => (
            |a, b, c| a.wrapping_add(b).wrapping_add(c),
            |a, b, c| ((u128::from(a) + u128::from(b) + u128::from(c)) >> 64) as u64,
        ),
        (true, false) => (
            |a, b, c| u64::from((a as u32).wrapping_sub(b as u32).wrapping_sub(c as u32)),
            |a, b, c| u64::from((a & 0xffff_ffff) < (b & 0xffff_ffff) + c),
        ),
        (true, true) => (
            |a, b, c| a.wrapping_sub(b).wrapping_sub(c),
            |a, b, c| u64::from(u128::from(a) < u128::from(b) + u128::from(c)),
        ),
    };
    if i.has("cc") {
        decoder.code.emit(Op::Map3(flag, out, a, b, carry_in));
    }
    decoder.code.emit(Op::Map3(value, d, a, b, carry_in));
    if i.has("cc") {
        decoder.code.emit(Op::Map1(|c| c, carry, out));
    }
    Ok(())
}

/// Returns the function of an instruction of two sources with its modifiers.
fn two(i: &Instruction<'_>, op: Binary, ty: Type) -> Option<Map2> {
    match op {
        Binary::Mul if i.has("wide") => wide(ty),
        Binary::Mul if i.has("hi") => high(ty),
        Binary::Mul24 if ty == Type::U32 && i.has("lo") => {
            Some(|a, b| ((a & 0xff_ffff) * (b & 0xff_ffff)) & 0xffff_ffff)
        }
        Binary::Mul24 if i.has("lo") => {
            Some(|a, b| ((a as i32) << 8 >> 8).wrapping_mul((b as i32) << 8 >> 8) as u32 as u64)
        }
        Binary::Add if i.has("sat") && ty == Type::S32 => {
            Some(|a, b| (a as i32).saturating_add(b as i32) as u32 as u64)
        }
        Binary::Sub if i.has("sat") && ty == Type::S32 => {
            Some(|a, b| (a as i32).saturating_sub(b as i32) as u32 as u64)
        }
        Binary::Add | Binary::Min | Binary::Max if matches!(ty, Type::U16x2 | Type::S16x2) => packed(op, ty),
        Binary::Add
        | Binary::Sub
        | Binary::Div
        | Binary::Rem
        | Binary::Min
        | Binary::Max
        | Binary::And
        | Binary::Or
        | Binary::Xor
            if i.has("sat") =>
        {
            None
        }
        Binary::Min if i.has("relu") && ty == Type::S32 => {
            Some(|a, b| (a as i32).min(b as i32).max(0) as u64)
        }
        Binary::Max if i.has("relu") && ty == Type::S32 => {
            Some(|a, b| (a as i32).max(b as i32).max(0) as u64)
        }
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Mul24
        | Binary::Div
        | Binary::Rem
        | Binary::Min
        | Binary::Max
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr => binary_integer(op, ty),
    }
}

fn packed(op: Binary, ty: Type) -> Option<Map2> {
    Some(match (op, ty) {
        (Binary::Add, _) => |a, b| pairs(a, b, |a, b| a.wrapping_add(b)),
        (Binary::Min, Type::U16x2) => |a, b| pairs(a, b, |a, b| a.min(b)),
        (Binary::Max, Type::U16x2) => |a, b| pairs(a, b, |a, b| a.max(b)),
        (Binary::Min, Type::S16x2) => |a, b| pairs(a, b, |a, b| (a as i16).min(b as i16) as u64),
        (Binary::Max, Type::S16x2) => |a, b| pairs(a, b, |a, b| (a as i16).max(b as i16) as u64),
        _ => return None,
    })
}

/// `fns`: returns the position of the nth set bit, counted from a base.
fn find_nth(mask: u64, base: u64, offset: u64) -> u64 {
    let (mask, base, offset) = (mask as u32, base as u32 & 31, offset as i32);
    let set = |at: i64| (0..32).contains(&at) && mask >> at & 1 == 1;
    if offset == 0 {
        return if set(base.into()) { base.into() } else { 0xffff_ffff };
    }
    let step = i64::from(offset.signum());
    let mut left = offset.unsigned_abs();
    let mut at = i64::from(base);
    while (0..32).contains(&at) {
        if set(at) {
            left -= 1;
            if left == 0 {
                return at as u64;
            }
        }
        at += step;
    }
    0xffff_ffff
}
