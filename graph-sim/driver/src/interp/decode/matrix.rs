//! Decoding of matrix instructions: `ldmatrix`, `stmatrix`, `mma` and `wmma`.

use super::decoder::{Decoder, Result};
use crate::interp::code::*;
use cuweave_ptx::{Instruction, Operand, Type};

/// Parses a shape such as `m16n8k16`.
fn shape(i: &Instruction) -> Option<MatrixShape> {
    i.modifiers().find_map(|word| {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(MatrixShape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    })
}

/// Returns true if a shape of `mma` is simulated, or of `wmma.mma` if `warp` is true.
fn is_known(shape: &MatrixShape, a_type: Type, warp: bool) -> bool {
    let key = (shape.m, shape.n, shape.k);
    match a_type {
        _ if warp => match a_type {
            Type::F16 | Type::Bf16 | Type::S8 | Type::U8 => {
                matches!(key, (16, 16, 16) | (32, 8, 16) | (8, 32, 16))
            }
            Type::Tf32 => key == (16, 16, 8),
            Type::F64 => key == (8, 8, 4),
            _ => false,
        },
        Type::F16 | Type::Bf16 => matches!(key, (16, 8, 8) | (16, 8, 16)),
        Type::Tf32 => matches!(key, (16, 8, 4) | (16, 8, 8)),
        Type::S8 | Type::U8 => matches!(key, (8, 8, 16) | (16, 8, 16) | (16, 8, 32)),
        Type::E4m3 | Type::E5m2 => matches!(key, (16, 8, 32) | (16, 8, 16)),
        Type::F64 => matches!(key, (8, 8, 4) | (16, 8, 4) | (16, 8, 8) | (16, 8, 16)),
        _ => false,
    }
}

fn register_rows(decoder: &mut Decoder<'_, '_>, operand: &Operand, ty: Type) -> Result<Box<[Slot]>> {
    match operand {
        Operand::Vector(parts) => parts.iter().map(|part| decoder.value(part, ty)).collect(),
        one => Ok(Box::new([decoder.value(one, ty)?])),
    }
}

/// Decodes `ldmatrix` if `loads` is true, and `stmatrix` otherwise.
pub fn rows<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>, loads: bool) -> Result<()> {
    if !i.has("m8n8") || !i.has("b16") {
        return Err(String::new());
    }
    let [first, second] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    let space = if i.space().is_some() { Space::Shared } else { Space::Generic };
    let transposed = i.has("trans");
    let registers = [first, second]
        .into_iter()
        .find_map(|o| if let Operand::Vector(v) = o { Some(v.len()) } else { None });
    if !matches!(registers, None | Some(1 | 2 | 4)) {
        return Err("1, 2 or 4 registers are possible".to_owned());
    }
    if loads {
        let (to, at) = (register_rows(decoder, first, Type::B32)?, decoder.address(second, space)?);
        decoder.code.emit(Op::LoadMatrix { transposed, at, to });
    } else {
        let (at, from) = (decoder.address(first, space)?, register_rows(decoder, second, Type::B32)?);
        decoder.code.emit(Op::StoreMatrix { transposed, at, from });
    }
    Ok(())
}

/// Decodes `wmma.mma` if `warp` is true, and `mma` otherwise.
pub fn mma<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>, warp: bool) -> Result<()> {
    let shape = shape(i).ok_or_else(String::new)?;
    if i.has("sp") || i.has("sp::ordered_metadata") || i.has("kind::f8f6f4") || i.has("block_scale") {
        return Err(String::new());
    }
    let types: Vec<Type> = i.types().collect();
    let (d_type, a_type, b_type, c_type) = match types.as_slice() {
        [d, a, b, c] => (*d, *a, *b, *c),
        // `wmma.mma` of halves names only the types of the results.
        [d, c] if warp => (*d, Type::F16, Type::F16, *c),
        _ => return Err(String::new()),
    };
    let [d, a, b, c] = i.operands.as_slice() else { return Err("expected four operands".to_owned()) };
    let by = (i.modifiers().any(|m| m == "row"), i.modifiers().any(|m| m == "col"));
    if !is_known(&shape, a_type, warp) || (!warp && by != (true, true)) {
        return Err(String::new());
    }
    let mma = Mma {
        shape,
        a_type,
        b_type,
        types: (d_type, c_type),
        saturate: i.has("satfinite"),
        d: register_rows(decoder, d, d_type)?,
        a: register_rows(decoder, a, a_type)?,
        b: register_rows(decoder, b, b_type)?,
        c: register_rows(decoder, c, c_type)?,
        warp,
    };
    let (m, n, k) = (usize::from(shape.m), usize::from(shape.n), usize::from(shape.k));
    let registers = |elements: usize, ty: Type| {
        let per = match ty.size() {
            1 => 4,
            2 => 2,
            _ => 1,
        };
        elements.div_ceil(32).div_ceil(per)
    };
    // A fragment of `wmma` may hold its values twice, so it may have more registers than needed.
    let enough = |row: &[Slot], elements, ty| {
        row.len() >= registers(elements, ty) && (warp || row.len() == registers(elements, ty))
    };
    if !enough(&mma.a, m * k, a_type)
        || !enough(&mma.b, k * n, b_type)
        || !enough(&mma.c, m * n, c_type)
        || !enough(&mma.d, m * n, d_type)
    {
        return Err("wrong number of registers".to_owned());
    }
    decoder.code.emit(Op::Mma(Box::new(mma)));
    Ok(())
}

/// Decodes `wmma.load` and `wmma.store`.
pub fn fragment<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let shape = shape(i).ok_or_else(String::new)?;
    let ty = i.types().next_back().ok_or_else(String::new)?;
    let load = i.has("load");
    let which = match () {
        () if i.has("a") => b'a',
        () if i.has("b") => b'b',
        () if i.has("c") || i.has("d") => b'c',
        () => return Err(String::new()),
    };
    if !matches!(
        ty,
        Type::F16 | Type::Bf16 | Type::F32 | Type::Tf32 | Type::F64 | Type::S8 | Type::U8 | Type::S32
    ) {
        return Err(String::new());
    }
    let [first, second, rest @ ..] = i.operands.as_slice() else {
        return Err("too few operands".to_owned());
    };
    let space = if i.has("shared") || i.has("shared::cta") { Space::Shared } else { Space::Generic };
    let (registers, address) = if load { (first, second) } else { (second, first) };
    let registers = register_rows(decoder, registers, ty)?;
    let at = decoder.address(address, space)?;
    let stride = match rest.first() {
        Some(stride) => decoder.value(stride, Type::U32)?,
        None => NONE,
    };
    let by_columns = i.has("col");
    let fragment = Box::new(MatrixFragment { which, shape, by_columns, ty, at, stride, registers });
    decoder.code.emit(if load { Op::LoadFragment(fragment) } else { Op::StoreFragment(fragment) });
    Ok(())
}
