//! Decoding of control flow: branches, calls, barriers, and collectives of a warp.

use super::decoder::{Decoder, Result};
use crate::interp::code::*;
use cuweave_ptx::{Instruction, Operand, Type};

/// The number of the cluster's barrier. A cluster is one block.
const CLUSTER_BARRIER: u64 = 16;

/// Decodes `bra`.
pub fn branch<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let target = i.operands.first().ok_or("too few operands")?;
    let target = decoder.label(target)?;
    decoder.code.emit(Op::Branch(target));
    Ok(())
}

/// Decodes `brx.idx`.
pub fn branch_table<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [index, list] = i.operands.as_slice() else { return Err("expected two operands".to_owned()) };
    let index = decoder.value(index, Type::U32)?;
    let targets = decoder.label_list(list)?;
    decoder.code.emit(Op::BranchTable(index, targets));
    Ok(())
}

/// Decodes `activemask`.
pub fn active_mask<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let d = i.operands.first().ok_or("too few operands")?;
    let d = decoder.result(d)?;
    decoder.code.emit(Op::ActiveMask(d));
    Ok(())
}

/// Decodes `call`: direct, indirect, or of a function of the device runtime.
pub fn call<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let mut operands = i.operands.as_slice();
    let mut returns = Vec::new();
    if let [Operand::List(list), rest @ ..] = operands {
        for operand in list {
            returns.push(decoder.place(operand)?);
        }
        operands = rest;
    }
    let [Operand::Name(target), rest @ ..] = operands else {
        return Err("expected a function".to_owned());
    };
    let mut arguments = Vec::new();
    if let [Operand::List(list), ..] = rest {
        for operand in list {
            arguments.push(decoder.place(operand)?);
        }
    }
    let callee = match (decoder.register(target), *target) {
        (Ok(slot), _) => Callee::Address(slot),
        (_, "vprintf") if !decoder.defined(target) => Callee::Print,
        (_, "__assertfail") if !decoder.defined(target) => Callee::Assert,
        (_, "malloc") if !decoder.defined(target) => Callee::Malloc,
        (_, "free") if !decoder.defined(target) => Callee::Free,
        (_, "cudaGraphSetConditional") if !decoder.defined(target) => match arguments.len() {
            2 => Callee::SetCondition,
            count => return Err(format!("`cudaGraphSetConditional` with {count} arguments")),
        },
        (_, name) => match decoder.callee(name) {
            Some(number) if decoder.defined(name) => {
                decoder.calls(number);
                Callee::Function(number)
            }
            _ => return Err(format!("function `{name}` has no body in this file")),
        },
    };
    decoder.code.emit(Op::Call(Box::new(CallSite { callee, arguments, returns })));
    Ok(())
}

/// Decodes `bar` and `barrier`.
pub fn barrier<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    if i.has("warp") {
        let mask = i.operands.first().ok_or("too few operands")?;
        let mask = decoder.value(mask, Type::U32)?;
        decoder.code.emit(Op::SyncWarp(mask));
        return Ok(());
    }
    if i.has("cluster") {
        // Arrival and wait are one operation here: a waiting thread has arrived.
        let id = decoder.constant(CLUSTER_BARRIER);
        decoder.code.emit(match i.has("wait") {
            true => Op::Barrier(BlockBarrier { id, count: NONE, wait: true, reduction: None }),
            false => Op::Nop,
        });
        return Ok(());
    }
    if i.has("red") {
        let [d, id, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
        let (count, predicate) = match rest {
            [count, predicate] => (decoder.value(count, Type::U32)?, predicate),
            [predicate] => (NONE, predicate),
            _ => return Err("wrong number of operands".to_owned()),
        };
        let kind = match () {
            () if i.has("popc") => Reduction::Count,
            () if i.has("and") => Reduction::And,
            () if i.has("or") => Reduction::Or,
            () => return Err(String::new()),
        };
        let d = decoder.result(d)?;
        let id = decoder.value(id, Type::U32)?;
        let p = decoder.value(predicate, Type::Pred)?;
        let reduction = Some(PredicateReduction { kind, d, p });
        decoder.code.emit(Op::Barrier(BlockBarrier { id, count, wait: true, reduction }));
        return Ok(());
    }
    let wait = !i.has("arrive");
    let id = match i.operands.first() {
        Some(id) => decoder.value(id, Type::U32)?,
        None => decoder.constant(0),
    };
    let count = match i.operands.get(1) {
        Some(count) => decoder.value(count, Type::U32)?,
        None => NONE,
    };
    decoder.code.emit(Op::Barrier(BlockBarrier { id, count, wait, reduction: None }));
    Ok(())
}

/// Decodes `shfl`.
pub fn shuffle<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [d, a, b, c, rest @ ..] = i.operands.as_slice() else {
        return Err("too few operands".to_owned());
    };
    let (d, p) = match d {
        Operand::Pair(d, p) => (decoder.pair_part(d)?, decoder.pair_part(p)?),
        d => (decoder.result(d)?, NONE),
    };
    let kind = match () {
        () if i.has("up") => Shuffle::Up,
        () if i.has("down") => Shuffle::Down,
        () if i.has("bfly") => Shuffle::Butterfly,
        () if i.has("idx") => Shuffle::Index,
        () => return Err(String::new()),
    };
    let a = decoder.value(a, Type::B32)?;
    let (b, c) = (decoder.value(b, Type::U32)?, decoder.value(c, Type::U32)?);
    let mask = match rest.first() {
        Some(mask) => decoder.value(mask, Type::U32)?,
        None => NONE,
    };
    decoder.code.emit(Op::Shuffle(kind, d, p, [a, b, c], mask));
    Ok(())
}

/// Decodes `vote`.
pub fn vote<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let [d, a, rest @ ..] = i.operands.as_slice() else { return Err("too few operands".to_owned()) };
    let kind = match () {
        () if i.has("all") => Vote::All,
        () if i.has("any") => Vote::Any,
        () if i.has("uni") => Vote::Uniform,
        () if i.has("ballot") => Vote::Ballot,
        () => return Err(String::new()),
    };
    let (d, a) = (decoder.result(d)?, decoder.value(a, Type::Pred)?);
    let mask = match rest.first() {
        Some(mask) => decoder.value(mask, Type::U32)?,
        None => NONE,
    };
    decoder.code.emit(Op::Vote(kind, d, a, mask));
    Ok(())
}

/// Returns the result of a warp collective, and the predicate beside it.
fn lanes_result<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<(Slot, Slot)> {
    match i.operands.first() {
        Some(Operand::Pair(d, p)) => Ok((decoder.pair_part(d)?, decoder.pair_part(p)?)),
        Some(d) => Ok((decoder.result(d)?, NONE)),
        None => Err("too few operands".to_owned()),
    }
}

/// Decodes `elect.sync`.
pub fn elect<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let (d, p) = lanes_result(decoder, i)?;
    let mask = i.operands.get(1).ok_or("too few operands")?;
    let mask = decoder.value(mask, Type::U32)?;
    decoder.code.emit(Op::Elect(d, p, mask));
    Ok(())
}

/// Returns the operand of each lane, the lane mask, and the type.
fn lanes_operands<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<(Slot, Slot, Type)> {
    let [_, a, mask] = i.operands.as_slice() else { return Err("expected three operands".to_owned()) };
    let ty = i.types().next_back().ok_or("no type")?;
    Ok((decoder.value(a, ty)?, decoder.value(mask, Type::U32)?, ty))
}

/// Decodes `match`.
pub fn match_lanes<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let (d, p) = lanes_result(decoder, i)?;
    let (a, mask, ty) = lanes_operands(decoder, i)?;
    let bits = if ty.size() == 8 { u64::MAX } else { 0xffff_ffff };
    decoder.code.emit(Op::Match(i.has("all"), d, p, a, mask, bits));
    Ok(())
}

/// Decodes `redux`.
pub fn reduce_lanes<'m>(decoder: &mut Decoder<'_, 'm>, i: &Instruction<'m>) -> Result<()> {
    let (d, _) = lanes_result(decoder, i)?;
    let (a, mask, ty) = lanes_operands(decoder, i)?;
    let op = i.modifiers().find(|m| ["add", "min", "max", "and", "or", "xor"].contains(m));
    let f: Map2 = match (op.ok_or_else(String::new)?, ty) {
        ("add", Type::U32 | Type::S32) => |a, b| u64::from((a as u32).wrapping_add(b as u32)),
        ("min", Type::U32) => |a, b| u64::from((a as u32).min(b as u32)),
        ("max", Type::U32) => |a, b| u64::from((a as u32).max(b as u32)),
        ("min", Type::S32) => |a, b| (a as i32).min(b as i32) as u32 as u64,
        ("max", Type::S32) => |a, b| (a as i32).max(b as i32) as u32 as u64,
        ("and", Type::B32) => |a, b| a & b & 0xffff_ffff,
        ("or", Type::B32) => |a, b| (a | b) & 0xffff_ffff,
        ("xor", Type::B32) => |a, b| (a ^ b) & 0xffff_ffff,
        _ => return Err(String::new()),
    };
    decoder.code.emit(Op::Reduce(f, d, a, mask));
    Ok(())
}
