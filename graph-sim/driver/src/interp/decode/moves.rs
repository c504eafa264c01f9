//! Decoding of moves and conversions: `mov` and `cvt`.

use super::decoder::{Decoder, Result, is_float};
use super::operands::{SpecialValue, special};
use super::rounding::rounding;
use crate::interp::code::*;
use crate::interp::number::{ConvertSpec, RoundingMode, format};
use cuweave_ptx::isa::{self, SpecialRegister as PtxRegister, ThreadRelation};
use cuweave_ptx::{Instruction, Operand, Type};

/// Decodes `mov`.
pub fn mov<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [d, a] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    let ty = i.types().next_back().ok_or_else(String::new)?;
    if ty.size() > 8 {
        return Err(String::new());
    }
    let read = if let Operand::Name(name) = a { counter(name) } else { None };
    if let (Some((counter, upper)), Operand::Name(_) | Operand::Sink) = (read, d) {
        let d = decoder.result(d)?;
        decoder.code.emit(Op::Counter(counter, d));
        if upper {
            decoder.code.emit(Op::Map1(|v| v >> 32, d, d));
        }
        return Ok(());
    }
    match (d, a) {
        // Component by component. Without `.v4`, the vector holds the parts of one value.
        (Operand::Vector(parts), Operand::Name(name)) if i.has("v4") => {
            let from = vector(name).filter(|_| parts.len() == 4 && ty.size() == 4);
            for (to, from) in parts.iter().zip(from.ok_or_else(String::new)?) {
                let (to, from) = (decoder.result(to)?, decoder.init(from));
                decoder.code.emit(Op::Map1(|v| v, to, from));
            }
        }
        (Operand::Vector(parts), a) if !i.has("v2") && !i.has("v4") => unpack(decoder, parts, a, ty)?,
        (d, Operand::Vector(parts)) if !parts.is_empty() => pack(decoder, d, parts, ty)?,
        (d, a) => {
            let (d, a) = (decoder.result(d)?, decoder.value(a, ty)?);
            let f: Map1 = match ty.size() {
                4 => |v| v & 0xffff_ffff,
                2 => |v| v & 0xffff,
                _ => |v| v,
            };
            decoder.code.emit(Op::Map1(f, d, a));
        }
    }
    Ok(())
}

/// Moves the parts of a value to several registers.
fn unpack<'m>(decoder: &mut Decoder<'_, 'm>, parts: &[Operand<'m>], a: &Operand<'m>, ty: Type) -> Result<()> {
    let from = decoder.value(a, ty)?;
    let width = ty.size() * 8 / parts.len().max(1) as u32;
    let mut moved = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let by = decoder.constant(u64::from(width) * at as u64);
        let cut: Map2 = match width {
            8 => |v, by| v >> by & 0xff,
            16 => |v, by| v >> by & 0xffff,
            32 => |v, by| v >> by & 0xffff_ffff,
            _ => return Err(String::new()),
        };
        // Copies the source to a temporary first: one of the parts may be the source register.
        let taken = decoder.temporary();
        decoder.code.emit(Op::Map2(cut, taken, from, by));
        moved.push((decoder.result(part)?, taken));
    }
    for (to, taken) in moved {
        decoder.code.emit(Op::Map1(|v| v, to, taken));
    }
    Ok(())
}

/// Packs several registers into one value.
fn pack<'m>(decoder: &mut Decoder<'_, 'm>, d: &Operand<'m>, parts: &[Operand<'m>], ty: Type) -> Result<()> {
    let d = decoder.result(d)?;
    let width = ty.size() * 8 / parts.len().max(1) as u32;
    let part_type = match width {
        8 => Type::B8,
        16 => Type::B16,
        32 => Type::B32,
        _ => return Err(String::new()),
    };
    let mut sum = decoder.value(&parts[0], part_type)?;
    for (at, part) in parts.iter().enumerate() {
        let part = decoder.value(part, part_type)?;
        let f: Map3 = match (width, at) {
            (8, 0) => |_, v, _| v & 0xff,
            (8, _) => |s, v, by| s | (v & 0xff) << by,
            (16, 0) => |_, v, _| v & 0xffff,
            (16, _) => |s, v, by| s | (v & 0xffff) << by,
            (_, 0) => |_, v, _| v & 0xffff_ffff,
            _ => |s, v, by| s | v << by,
        };
        let by = decoder.constant(u64::from(width) * at as u64);
        let next = if at + 1 == parts.len() { d } else { decoder.temporary() };
        decoder.code.emit(Op::Map3(f, next, sum, part, by));
        sum = next;
    }
    Ok(())
}

/// Decodes `cvt.pack`.
fn cvt_pack<'m>(
    decoder: &mut Decoder<'_, 'm>,
    types: &[Type],
    d: &Operand<'m>,
    operands: &[Operand<'m>],
) -> Result<()> {
    let (to, from) = match types {
        [to, from, ..] => (*to, *from),
        _ => return Err("expected two types".to_owned()),
    };
    let d = decoder.result(d)?;
    if to.size() > 2 || from.size() != 4 || is_float(to) || is_float(from) || !matches!(operands.len(), 2 | 3)
    {
        return Err(String::new());
    }
    let mut rows = [NONE; 3];
    for (row, operand) in rows.iter_mut().zip(operands) {
        *row = decoder.value(operand, from)?;
    }
    if rows[2] == NONE {
        rows[2] = decoder.constant(0);
    }
    // Without a third operand, the result has only two values.
    decoder.code.emit(Op::Pack(to, from, d, rows));
    Ok(())
}

/// Decodes `cvt`.
pub fn cvt<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let types: Vec<Type> = i.types().collect();
    let [d, operands @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    if i.has("pack") {
        return cvt_pack(decoder, &types, d, operands);
    }
    let [to, from] = types.as_slice() else { return Err("expected two types".to_owned()) };
    let (to, from) = (*to, *from);
    let spec = ConvertSpec {
        to,
        from,
        mode: rounding(i),
        integer: i.modifiers().find_map(to_integer),
        flush: i.has("ftz"),
        saturate: i.has("sat"),
        relu: i.has("relu"),
    };
    if i.has("rs") || i.has("scaled") {
        return Err(String::new());
    }
    let d_slot = decoder.result(d)?;
    match (scalar(to), scalar(from), operands) {
        (Some(to), None, [a, b]) => {
            let (a, b) = (decoder.value(a, from)?, decoder.value(b, from)?);
            decoder.code.emit(Op::ConvertPair(Box::new(ConvertSpec { to, ..spec }), d_slot, a, b));
        }
        (Some(to), Some(from), [a]) => {
            // Converts both halves of one operand, the high one first.
            let whole = decoder.value(a, types[1])?;
            let (high, low) = (decoder.temporary(), decoder.temporary());
            let width = decoder.constant(u64::from(from.size()) * 8);
            let mask = decoder.constant((1 << (from.size() * 8)) - 1);
            decoder.code.emit(Op::Map3(|v, by, mask| v >> by & mask, high, whole, width, mask));
            decoder.code.emit(Op::Map2(|v, mask| v & mask, low, whole, mask));
            decoder.code.emit(Op::ConvertPair(Box::new(ConvertSpec { to, from, ..spec }), d_slot, high, low));
        }
        (None, None, [a]) => {
            let a = decoder.value(a, from)?;
            let known = is_float(to) == (format(to).is_some()) && is_float(from) == (format(from).is_some());
            if !known || to.size() > 8 || from.size() > 8 {
                return Err(String::new());
            }
            match fast_conversion(&spec) {
                Some(f) => decoder.code.emit(Op::Map1(f, d_slot, a)),
                None => decoder.code.emit(Op::Convert(Box::new(spec), d_slot, a)),
            }
        }
        _ => return Err(String::new()),
    }
    Ok(())
}

/// Returns the mode of a modifier that rounds to an integer.
fn to_integer(modifier: &str) -> Option<RoundingMode> {
    Some(match modifier {
        "rni" => RoundingMode::Nearest,
        "rzi" => RoundingMode::Zero,
        "rmi" => RoundingMode::Down,
        "rpi" => RoundingMode::Up,
        _ => return None,
    })
}

/// Returns the type of each half of a packed type.
fn scalar(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        Type::E4m3x2 => Some(Type::E4m3),
        Type::E5m2x2 => Some(Type::E5m2),
        _ => None,
    }
}

/// Returns a fast function for the conversions that index arithmetic uses.
fn fast_conversion(spec: &ConvertSpec) -> Option<Map1> {
    if spec.saturate || spec.flush || spec.integer.is_some() || spec.mode != RoundingMode::Nearest {
        return None;
    }
    Some(match (spec.to, spec.from) {
        (Type::U64 | Type::S64, Type::U32) => |v| v & 0xffff_ffff,
        (Type::U64 | Type::S64, Type::S32) => |v| v as i32 as u64,
        (Type::U32 | Type::S32, Type::U64 | Type::S64) => |v| v & 0xffff_ffff,
        (Type::F32, Type::S32) => |v| u64::from((v as i32 as f32).to_bits()),
        (Type::F32, Type::U32) => |v| u64::from((v as u32 as f32).to_bits()),
        (Type::F64, Type::F32) => |v| f64::from(f32::from_bits(v as u32)).to_bits(),
        (Type::F32, Type::F64) => |v| u64::from((f64::from_bits(v) as f32).to_bits()),
        _ => return None,
    })
}

/// Returns the counter of a special register, and true if the register is its upper half.
fn counter(name: &str) -> Option<(Counter, bool)> {
    match special(isa::register(name)?, None, None) {
        SpecialValue::Counter(counter, upper) => Some((counter, upper)),
        SpecialValue::Row(_) => None,
    }
}

/// Returns the components of a special register that is a vector.
fn vector(name: &str) -> Option<[InitialValue; 4]> {
    let register = isa::register(name)?;
    let of_cluster = [
        PtxRegister::Clusterid,
        PtxRegister::Nclusterid,
        PtxRegister::ClusterCtaid,
        PtxRegister::ClusterNctaid,
    ];
    let is_vector = match register.threads() {
        ThreadRelation::ThreadIndex
        | ThreadRelation::BlockSize
        | ThreadRelation::BlockIndex
        | ThreadRelation::GridSize => true,
        ThreadRelation::Lane | ThreadRelation::Other => of_cluster.contains(&register),
    };
    let at = |component| match special(register, Some(component), None) {
        SpecialValue::Row(init) => Some(init),
        SpecialValue::Counter(..) => None,
    };
    if !is_vector || name.contains('.') {
        return None;
    }
    Some([at(0)?, at(1)?, at(2)?, at(3)?])
}
