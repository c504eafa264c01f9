//! Decoding of memory instructions: loads, stores, atomics, addresses, asynchronous copies, fences and `mbarrier`
//! objects.

use super::decoder::{Decoder, Result, is_float};
use super::rounding::float_spec;
use crate::interp::code::*;
use crate::interp::number::FloatOp;
use crate::interp::space::{CODE, LOCAL, PARAM, SHARED};
use cuweave_ptx::{Instruction, Operand, StateSpace as PtxSpace, Type};

/// Returns the state spaces that a copy writes and reads.
fn spaces_of_copy(i: &Instruction) -> (Space, Space) {
    let shared = |modifier: &&str| modifier.starts_with("shared");
    let to_shared = i.modifiers().find(|m| m.starts_with("shared") || *m == "global");
    let to_shared = to_shared.as_ref().is_some_and(shared);
    let spaces = if to_shared { (Space::Shared, Space::Generic) } else { (Space::Generic, Space::Shared) };
    let both_shared = i.modifiers().filter(|m| m.starts_with("shared")).count() == 2;
    if both_shared { (Space::Shared, Space::Shared) } else { spaces }
}

fn space(i: &Instruction) -> Result<Space> {
    Ok(match i.space() {
        Some(PtxSpace::Shared) => Space::Shared,
        Some(PtxSpace::Local) => Space::Local,
        Some(PtxSpace::Global | PtxSpace::Const | PtxSpace::Param) | None => Space::Generic,
        Some(_) => return Err(String::new()),
    })
}

/// Returns the new value of an integer atomic as a function of the old value and the operands.
fn atomic(op: &str, ty: Type) -> Option<Map3> {
    macro_rules! of {
        ($to:ty, $bits:ty) => {
            Some(match op {
                "add" => |o, b, _| (o as $to).wrapping_add(b as $to) as $bits as u64,
                "min" => |o, b, _| (o as $to).min(b as $to) as $bits as u64,
                "max" => |o, b, _| (o as $to).max(b as $to) as $bits as u64,
                "and" => |o, b, _| (o & b) as $bits as u64,
                "or" => |o, b, _| (o | b) as $bits as u64,
                "xor" => |o, b, _| (o ^ b) as $bits as u64,
                "exch" => |_, b, _| b as $bits as u64,
                "cas" => |o, b, c| if o as $bits == b as $bits { c as $bits as u64 } else { o },
                "inc" => |o, b, _| if o as $bits >= b as $bits { 0 } else { (o as $bits + 1) as u64 },
                "dec" => |o, b, _| {
                    let (o, b) = (o as $bits, b as $bits);
                    if o == 0 || o > b { b as u64 } else { (o - 1) as u64 }
                },
                _ => return None,
            })
        };
    }
    match ty {
        Type::B16 | Type::U16 => of!(u16, u16),
        Type::S16 => of!(i16, u16),
        Type::B32 | Type::U32 => of!(u32, u32),
        Type::S32 => of!(i32, u32),
        Type::B64 | Type::U64 => of!(u64, u64),
        Type::S64 => of!(i64, u64),
        Type::F32 | Type::F16x2 | Type::Bf16x2 if matches!(op, "exch") => of!(u32, u32),
        Type::F64 if matches!(op, "exch") => of!(u64, u64),
        _ => None,
    }
}

const ATOMICS: [&str; 10] = ["and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"];

/// Decodes `mapa`.
pub fn mapa<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    // A cluster is one block, so the address maps to itself.
    let [d, a, _] = i.operands.as_slice() else { return Err("expected three operands".to_owned()) };
    let (d, a) = (decoder.result(d)?, decoder.value(a, Type::U64)?);
    decoder.code.emit(Op::Map1(|v| v, d, a));
    Ok(())
}

/// Decodes `createpolicy`. Cache policies have no effect here.
pub fn createpolicy<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let d = i.operands.first().ok_or_else(String::new)?;
    let (d, zero) = (decoder.result(d)?, decoder.constant(0));
    decoder.code.emit(Op::Map1(|v| v, d, zero));
    Ok(())
}

fn element(i: &Instruction<'_>) -> Result<Type> {
    let ty = i.types().next_back().ok_or("no type")?;
    if ty.size() > 8 || ty == Type::Pred { Err(String::new()) } else { Ok(ty) }
}

/// Returns the registers of a loaded scalar or vector.
pub(super) fn results(decoder: &mut Decoder<'_, '_>, operand: &Operand) -> Result<Box<[Slot]>> {
    match operand {
        Operand::Vector(parts) if !parts.len().is_power_of_two() || parts.len() > 8 => {
            Err(format!("a vector of {}", parts.len()))
        }
        Operand::Vector(parts) => parts
            .iter()
            .map(|part| if *part == Operand::Sink { Ok(NONE) } else { decoder.result(part) })
            .collect(),
        one => Ok(Box::new([decoder.result(one)?])),
    }
}

/// Returns the registers of a stored scalar or vector.
pub(super) fn values(decoder: &mut Decoder<'_, '_>, operand: &Operand, ty: Type) -> Result<Box<[Slot]>> {
    match operand {
        Operand::Vector(parts) if !parts.len().is_power_of_two() || parts.len() > 8 => {
            Err(format!("a vector of {}", parts.len()))
        }
        Operand::Vector(parts) => parts.iter().map(|part| decoder.value(part, ty)).collect(),
        one => Ok(Box::new([decoder.value(one, ty)?])),
    }
}

/// Returns the address of an access. Parameters of calls and of a `.func` are in the frame.
fn target<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    operand: &Operand,
) -> Result<AddressOperand> {
    let Operand::Address(address) = operand else { return Err("expected an address".to_owned()) };
    let mut space = space(i)?;
    if i.space() == Some(PtxSpace::Param) && address.base.is_some_and(|name| decoder.in_frame(name)) {
        space = Space::Local;
    }
    let strong = ["volatile", "relaxed", "acquire", "release", "mmio"].iter().any(|word| i.has(word));
    Ok(AddressOperand { strong, ..decoder.at(address, space)? })
}

/// Decodes a load.
pub fn load<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let ty = element(i)?;
    let [d, address, ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    let to = results(decoder, d)?;
    if let (Some(PtxSpace::Param), Operand::Address(place)) = (i.space(), address)
        && let Some((start, size)) = place.base.and_then(|name| decoder.entry_parameter(name))
    {
        let offset = place.offset;
        let bytes = i64::from(ty.size()) * to.len() as i64;
        if offset < 0 || offset.checked_add(bytes).is_none_or(|end| end > size as i64) {
            return Err(format!("{bytes} bytes at offset {offset} of a parameter of {size}"));
        }
        decoder.code.emit(Op::LoadParameter(ty, start as u32 + offset as u32, to));
        return Ok(());
    }
    let at = target(decoder, i, address)?;
    decoder.code.emit(Op::Load(ElementAccess { ty, at, slots: to }));
    Ok(())
}

/// Decodes a store.
pub fn store<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let ty = element(i)?;
    let [address, value, ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    if i.has("async") || i.has("bulk") {
        return Err(String::new());
    }
    let at = target(decoder, i, address)?;
    let from = values(decoder, value, ty)?;
    decoder.code.emit(Op::Store(ElementAccess { ty, at, slots: from }));
    Ok(())
}

/// Decodes an atomic, whose first operand is its result, or a reduction, which has no result.
pub fn atom<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>, has_result: bool) -> Result<()> {
    let ty = element(i)?;
    let op = i.modifiers().find(|m| ATOMICS.contains(m)).ok_or_else(String::new)?;
    if i.has("async") {
        return Err(String::new());
    }
    let (result, operands) = match i.operands.split_first() {
        _ if !has_result => (None, i.operands.as_slice()),
        Some((first, rest)) => (Some(first), rest),
        None => return Err("too few operands".to_owned()),
    };
    let [address, b, rest @ ..] = operands else { return Err("too few operands".to_owned()) };
    let at = decoder.address(address, space(i)?)?;
    let update = update(i, op, ty)?;
    let b = values(decoder, b, ty)?;
    let d = match result {
        Some(result) => results(decoder, result)?,
        None => vec![NONE; b.len()].into(),
    };
    let c = match rest.first() {
        Some(c) if op == "cas" => decoder.value(c, ty)?,
        _ => NONE,
    };
    if d.len() != b.len() {
        return Err("vectors of different lengths".to_owned());
    }
    for (number, (&d, &b)) in d.iter().zip(&b).enumerate() {
        let at =
            AddressOperand { offset: at.offset.wrapping_add(number as i64 * i64::from(ty.size())), ..at };
        decoder.code.emit(Op::Atomic(Atomic { update, ty, at, d, operands: [b, c] }));
    }
    Ok(())
}

/// Returns the update that an atomic or a reduction applies to memory.
pub(super) fn update(i: &Instruction<'_>, op: &str, ty: Type) -> Result<AtomicFunction> {
    Ok(match atomic(op, ty) {
        Some(f) => AtomicFunction::Map(f),
        None if is_float(ty) => {
            let op = match op {
                "add" => FloatOp::Add,
                "min" => FloatOp::Min,
                "max" => FloatOp::Max,
                _ => return Err(String::new()),
            };
            AtomicFunction::Float(float_spec(i, op, ty))
        }
        None => return Err(String::new()),
    })
}

/// Decodes `cvta`.
pub fn cvta<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [d, a] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    let (d, a) = (decoder.result(d)?, decoder.value(a, Type::U64)?);
    let window = match i.space() {
        Some(PtxSpace::Shared) => SHARED,
        Some(PtxSpace::Local) => LOCAL,
        _ => {
            decoder.code.emit(Op::Map1(|v| v, d, a));
            return Ok(());
        }
    };
    let way = if i.has("to") { WindowOp::FromGeneric } else { WindowOp::ToGeneric };
    decoder.code.emit(Op::Window(way, window, d, a));
    Ok(())
}

/// Decodes `isspacep`.
pub fn isspacep<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [p, a] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    let (p, a) = (decoder.result(p)?, decoder.value(a, Type::U64)?);
    let (way, window) = match i.space() {
        Some(PtxSpace::Shared) => (WindowOp::Contains, SHARED),
        Some(PtxSpace::Local) => (WindowOp::Contains, LOCAL),
        Some(PtxSpace::Param) => (WindowOp::Contains, PARAM),
        Some(PtxSpace::Global) => (WindowOp::IsGlobal, 0),
        // Constant memory is ordinary memory here, so no address is in its window.
        Some(PtxSpace::Const) => (WindowOp::Contains, CODE),
        _ => return Err(String::new()),
    };
    decoder.code.emit(Op::Window(way, window, p, a));
    Ok(())
}

/// Decodes `cp.async`. The copy is done when it is issued, which is one of the permitted orders.
pub fn copy<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let waits = ["commit_group", "wait_group", "wait_all", "prefetch"];
    if i.has("tensor") || i.has("multicast::cluster") {
        return Err(String::new());
    }
    if waits.iter().any(|word| i.has(word)) {
        decoder.code.emit(Op::Nop);
        return Ok(());
    }
    if i.has("mbarrier") {
        return copy_arrives(decoder, i);
    }
    let mut operands = i.operands.as_slice();
    if i.has("L2::cache_hint") {
        operands = &operands[..operands.len().saturating_sub(1)];
    }
    let [to, from, bytes, rest @ ..] = operands else { return Err("too few operands".to_owned()) };
    let spaces = spaces_of_copy(i);
    let (to, from) = (decoder.address(to, spaces.0)?, decoder.address(from, spaces.1)?);
    let bytes = decoder.value(bytes, Type::U32)?;
    if i.has("bulk") {
        return bulk_copy(decoder, i, [to, from], bytes, rest.first());
    }
    let read = match rest.first() {
        Some(operand)
            if decoder.declared(operand) == Some(Type::Pred) || matches!(operand, Operand::Not(_)) =>
        {
            // `ignore-src`: nothing is read if the predicate is true.
            let p = decoder.value(operand, Type::Pred)?;
            let read = decoder.temporary();
            decoder.code.emit(Op::Map2(|p, bytes| if p & 1 != 0 { 0 } else { bytes }, read, p, bytes));
            read
        }
        Some(operand) => decoder.value(operand, Type::U32)?,
        None => bytes,
    };
    decoder.code.emit(Op::Copy(AsyncCopy { to, from, bytes, read }));
    Ok(())
}

/// Decodes `cp.async.mbarrier.arrive`: an arrival after the copies issued before.
fn copy_arrives<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [bar] = i.operands.as_slice() else { return Err("expected one operand".to_owned()) };
    let at = decoder.address(bar, space(i)?)?;
    // With `.noinc`, the arrival counts as one of the expected ones. Without it, the pending count is incremented
    // first, which cancels the arrival.
    if i.has("noinc") {
        let (state, one) = (decoder.temporary(), decoder.constant(1));
        let op = MbarrierOp::Arrive { drop: false };
        decoder.code.emit(Op::Mbarrier(Mbarrier { op, at, d: state, value: one }));
    } else {
        decoder.code.emit(Op::Nop);
    }
    Ok(())
}

/// Decodes `cp.async.bulk` and `cp.reduce.async.bulk`.
fn bulk_copy<'m>(
    decoder: &mut Decoder<'_, 'm>,
    i: &Instruction<'m>,
    [to, from]: [AddressOperand; 2],
    bytes: Slot,
    bar: Option<&Operand<'m>>,
) -> Result<()> {
    let barrier = match bar {
        Some(bar) => Some(decoder.address(bar, Space::Shared)?),
        None => None,
    };
    let reduction = match i.has("reduce") {
        true => {
            let ty = element(i)?;
            let op = i.modifiers().find(|m| ATOMICS.contains(m)).ok_or_else(String::new)?;
            Some(ElementUpdate { update: update(i, op, ty)?, ty })
        }
        false => None,
    };
    decoder.code.emit(Op::BulkCopy(Box::new(BulkCopy { to, from, bytes, barrier, reduction })));
    Ok(())
}

/// Decodes `mbarrier` instructions.
pub fn mbarrier<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let space = space(i)?;
    if i.has("pending_count") {
        let [d, state] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
        let (d, state) = (decoder.result(d)?, decoder.value(state, Type::B64)?);
        let at = AddressOperand { space, base: state, offset: 0, strong: true };
        decoder.code.emit(Op::Mbarrier(Mbarrier { op: MbarrierOp::Pending, at, d, value: state }));
        return Ok(());
    }
    let first_is_address = matches!(i.operands.first(), Some(Operand::Address(_)));
    let (d, rest) = if first_is_address {
        (decoder.temporary(), i.operands.as_slice())
    } else {
        let (first, rest) = i.operands.split_first().ok_or("too few operands")?;
        (decoder.result(first)?, rest)
    };
    let [address, rest @ ..] = rest else { return Err("too few operands".to_owned()) };
    let at = decoder.address(address, space)?;
    let first = match rest.first() {
        Some(operand) => decoder.value(operand, Type::B64)?,
        None => decoder.constant(1),
    };
    let op = match i.modifiers().next() {
        Some("init") => MbarrierOp::Init,
        Some("inval") => {
            decoder.code.emit(Op::Mbarrier(Mbarrier { op: MbarrierOp::Invalidate, at, d, value: NONE }));
            return Ok(());
        }
        Some("arrive") if i.has("expect_tx") => MbarrierOp::ArriveExpect,
        Some("arrive") => MbarrierOp::Arrive { drop: false },
        Some("arrive_drop") if !i.has("expect_tx") => MbarrierOp::Arrive { drop: true },
        Some("expect_tx") => MbarrierOp::Expect,
        Some("complete_tx") => MbarrierOp::Complete,
        Some("test_wait" | "try_wait") if i.has("parity") => MbarrierOp::TestParity,
        Some("test_wait" | "try_wait") => MbarrierOp::Test,
        _ => return Err(String::new()),
    };
    decoder.code.emit(Op::Mbarrier(Mbarrier { op, at, d, value: first }));
    Ok(())
}
