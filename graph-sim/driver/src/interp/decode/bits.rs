//! Decoding of bit operations: selection, permutation, masks, three-operand logic and dot products.

use super::compare::combine;
use super::decoder::{Decoder, Result};
use super::operation::BitOp;
use crate::interp::code::*;
use cuweave_ptx::{Instruction, Operand, Type};

fn permute(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (a & 0xffff_ffff) | b << 32;
    let mut result = 0;
    for at in 0..4 {
        let pick = selector >> (4 * at) & 0xf;
        let mut byte = bytes >> (8 * (pick & 7)) & 0xff;
        if pick & 8 != 0 {
            byte = if byte & 0x80 != 0 { 0xff } else { 0 };
        }
        result |= byte << (8 * at);
    }
    result
}

/// Returns the function of a `prmt` mode. It selects by the two low bits of `c`.
fn permute_mode(mode: &str) -> Option<Map3> {
    const F4E: [u64; 4] = [0x3210, 0x4321, 0x5432, 0x6543];
    const B4E: [u64; 4] = [0x5670, 0x6701, 0x7012, 0x0123];
    const RC8: [u64; 4] = [0x0000, 0x1111, 0x2222, 0x3333];
    const ECL: [u64; 4] = [0x3210, 0x3211, 0x3222, 0x3333];
    const ECR: [u64; 4] = [0x0000, 0x1110, 0x2210, 0x3210];
    const RC16: [u64; 4] = [0x1010, 0x3232, 0x1010, 0x3232];
    Some(match mode {
        "f4e" => |a, b, c| permute(a, b, F4E[c as usize & 3]),
        "b4e" => |a, b, c| permute(a, b, B4E[c as usize & 3]),
        "rc8" => |a, b, c| permute(a, b, RC8[c as usize & 3]),
        "ecl" => |a, b, c| permute(a, b, ECL[c as usize & 3]),
        "ecr" => |a, b, c| permute(a, b, ECR[c as usize & 3]),
        "rc16" => |a, b, c| permute(a, b, RC16[c as usize & 3]),
        _ => return None,
    })
}

fn funnel(left: bool, clamp: bool) -> Map3 {
    fn both(a: u64, b: u64) -> u64 {
        b << 32 | a & 0xffff_ffff
    }
    match (left, clamp) {
        (true, true) => |a, b, c| both(a, b) << (c as u32).min(32) >> 32 & 0xffff_ffff,
        (true, false) => |a, b, c| both(a, b) << (c & 31) >> 32 & 0xffff_ffff,
        (false, true) => |a, b, c| both(a, b) >> (c as u32).min(32) & 0xffff_ffff,
        (false, false) => |a, b, c| both(a, b) >> (c & 31) & 0xffff_ffff,
    }
}

/// Returns the dot product of bytes for the signedness of `a` and `b`.
fn dot4(a_signed: bool, b_signed: bool) -> Map3 {
    fn byte(value: u64, at: u32, signed: bool) -> i32 {
        let byte = (value >> (8 * at)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    }
    fn dot(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool) -> u64 {
        let sum = (0..4).map(|at| byte(a, at, a_signed).wrapping_mul(byte(b, at, b_signed)));
        sum.fold(c as i32, i32::wrapping_add) as u32 as u64
    }
    match (a_signed, b_signed) {
        (false, false) => |a, b, c| dot(a, b, c, false, false),
        (false, true) => |a, b, c| dot(a, b, c, false, true),
        (true, false) => |a, b, c| dot(a, b, c, true, false),
        (true, true) => |a, b, c| dot(a, b, c, true, true),
    }
}

/// Returns the dot product of two 16-bit halves with two bytes.
fn dot2(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool, high: bool) -> u64 {
    let b = if high { b >> 16 } else { b };
    let one = |at: u32| {
        let x = (a >> (16 * at)) as u16;
        let y = (b >> (8 * at)) as u8;
        let x = if a_signed { i32::from(x as i16) } else { i32::from(x) };
        let y = if b_signed { i32::from(y as i8) } else { i32::from(y) };
        x.wrapping_mul(y)
    };
    (c as i32).wrapping_add(one(0)).wrapping_add(one(1)) as u32 as u64
}

/// Returns the function of `dp2a` for the signedness of its operands; `high` selects the high halves.
fn dot2_of(a: bool, b: bool, high: bool) -> Map3 {
    match (a, b, high) {
        (false, false, false) => |a, b, c| dot2(a, b, c, false, false, false),
        (false, false, true) => |a, b, c| dot2(a, b, c, false, false, true),
        (false, true, false) => |a, b, c| dot2(a, b, c, false, true, false),
        (false, true, true) => |a, b, c| dot2(a, b, c, false, true, true),
        (true, false, false) => |a, b, c| dot2(a, b, c, true, false, false),
        (true, false, true) => |a, b, c| dot2(a, b, c, true, false, true),
        (true, true, false) => |a, b, c| dot2(a, b, c, true, true, false),
        (true, true, true) => |a, b, c| dot2(a, b, c, true, true, true),
    }
}

/// Returns the function of `szext`.
fn extend(signed: bool, wraps: bool) -> Map2 {
    match (signed, wraps) {
        (true, true) => |a, n| sign_extend(a, n & 31),
        (true, false) => |a, n| sign_extend(a, (n & 0xffff_ffff).min(32)),
        (false, true) => |a, n| a & ((1 << (n & 31)) - 1),
        (false, false) => |a, n| a & ((1u64 << (n & 0xffff_ffff).min(32)) - 1),
    }
}

/// Returns the function of `bmsk`.
fn mask(wraps: bool) -> Map2 {
    if wraps {
        |p, n| ((1u64 << (n & 31)) - 1) << (p & 31) & 0xffff_ffff
    } else {
        |p, n| {
            let (p, n) = ((p & 0xffff_ffff).min(32), (n & 0xffff_ffff).min(32));
            ((1u64 << n) - 1) << p & 0xffff_ffff
        }
    }
}

pub fn bits<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>, op: BitOp) -> Result<()> {
    let types: Vec<Type> = i.types().collect();
    let ty = *types.last().ok_or_else(String::new)?;
    let [d, a, b, rest @ ..] = i.operands.as_slice() else {
        return Err("too few operands".to_owned());
    };
    let first_type = if op == BitOp::SelectBySign { types[0] } else { ty };
    let d = match d {
        Operand::Pair(value, _) => decoder.pair_part(value)?,
        d => decoder.result(d)?,
    };
    let narrow = matches!(op, BitOp::Extend | BitOp::Mask);
    let a = decoder.value(a, first_type)?;
    let b = decoder.value(b, if narrow { Type::U32 } else { first_type })?;
    match (op, rest) {
        (BitOp::Select, [p]) => {
            let p = decoder.value(p, Type::Pred)?;
            decoder.code.emit(Op::Map3(|a, b, p| if p & 1 != 0 { a } else { b }, d, a, b, p));
        }
        (BitOp::SelectBySign, [c]) => {
            let c = decoder.value(c, ty)?;
            let f: Map3 = match ty {
                Type::S32 => |a, b, c| if c as i32 >= 0 { a } else { b },
                _ => |a, b, c| if f32::from_bits(c as u32) >= 0.0 { a } else { b },
            };
            decoder.code.emit(Op::Map3(f, d, a, b, c));
        }
        (BitOp::Permute, [c]) => {
            let c = decoder.value(c, Type::B32)?;
            let f = i.modifiers().find_map(permute_mode).unwrap_or(permute);
            decoder.code.emit(Op::Map3(f, d, a, b, c));
        }
        (BitOp::Logic, [c, Operand::Integer(table), ..]) => {
            let c = decoder.value(c, ty)?;
            logic(decoder, i, *table as u8, d, [a, b, c])?
        }
        (BitOp::Funnel, [c]) => {
            let c = decoder.value(c, Type::U32)?;
            decoder.code.emit(Op::Map3(funnel(i.has("l"), i.has("clamp")), d, a, b, c));
        }
        (BitOp::Dot4, [c]) => {
            let c = decoder.value(c, Type::S32)?;
            let [a_type, b_type] = types.as_slice() else { return Err("expected two types".to_owned()) };
            decoder.code.emit(Op::Map3(dot4(*a_type == Type::S32, *b_type == Type::S32), d, a, b, c));
        }
        (BitOp::Dot2, [c]) => {
            let c = decoder.value(c, Type::S32)?;
            let [a_type, b_type] = types.as_slice() else { return Err("expected two types".to_owned()) };
            let f = dot2_of(*a_type == Type::S32, *b_type == Type::S32, i.has("hi"));
            decoder.code.emit(Op::Map3(f, d, a, b, c));
        }
        (BitOp::Copysign, []) => {
            let f: Map2 = match ty {
                Type::F64 => |a, b| b & !(1 << 63) | a & 1 << 63,
                _ => |a, b| b & 0x7fff_ffff | a & 0x8000_0000,
            };
            decoder.code.emit(Op::Map2(f, d, a, b));
        }
        (BitOp::Extend, []) => {
            decoder.code.emit(Op::Map2(extend(ty == Type::S32, i.has("wrap")), d, a, b));
        }
        (BitOp::Mask, []) => {
            decoder.code.emit(Op::Map2(mask(i.has("wrap")), d, a, b));
        }
        (
            BitOp::Select
            | BitOp::SelectBySign
            | BitOp::Permute
            | BitOp::Logic
            | BitOp::Funnel
            | BitOp::Dot4
            | BitOp::Dot2
            | BitOp::Copysign
            | BitOp::Extend
            | BitOp::Mask,
            _,
        ) => return Err(String::new()),
    }
    Ok(())
}

/// Decodes `lop3`. It may also combine a predicate with the test that its result is not 0.
fn logic<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    table: u8,
    d: Slot,
    sources: [Slot; 3],
) -> Result<()> {
    let combined = i.modifiers().find_map(combine);
    decoder.code.emit(Op::Lop3(table, d, sources));
    if let ([Operand::Pair(_, p), _, _, _, _, q], Some(f)) = (i.operands.as_slice(), combined) {
        let (p, q) = (decoder.pair_part(p)?, decoder.value(q, Type::Pred)?);
        let set = decoder.temporary();
        decoder.code.emit(Op::Map1(|v| u64::from(v as u32 != 0), set, d));
        decoder.code.emit(Op::Map2(f, p, set, q));
    }
    Ok(())
}

/// Decodes `testp`.
pub fn testp<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let ty = i.types().next_back().ok_or_else(String::new)?;
    let [d, a] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    macro_rules! test {
        ($read:expr) => {
            match i.modifiers().next() {
                Some("finite") => |v| u64::from($read(v).is_finite()),
                Some("infinite") => |v| u64::from($read(v).is_infinite()),
                Some("number") => |v| u64::from(!$read(v).is_nan()),
                Some("notanumber") => |v| u64::from($read(v).is_nan()),
                Some("normal") => |v| u64::from($read(v).is_normal()),
                Some("subnormal") => |v| u64::from($read(v).is_subnormal()),
                _ => return Err(String::new()),
            }
        };
    }
    let f: Map1 = match ty {
        Type::F32 => test!(|v: u64| f32::from_bits(v as u32)),
        Type::F64 => test!(f64::from_bits),
        _ => return Err(String::new()),
    };
    let (d, a) = (decoder.result(d)?, decoder.value(a, ty)?);
    decoder.code.emit(Op::Map1(f, d, a));
    Ok(())
}

fn sign_extend(value: u64, bits: u64) -> u64 {
    match bits {
        0 => 0,
        32.. => value & 0xffff_ffff,
        bits => ((value as u32) << (32 - bits)).cast_signed().wrapping_shr(32 - bits as u32) as u32 as u64,
    }
}
