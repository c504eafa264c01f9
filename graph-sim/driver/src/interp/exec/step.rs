//! Execution of one instruction by a group of lanes.

use super::access::{AccessKind, RegionCache, read, update, write};
use super::block::Block;
use super::conflict::{WarpAccess, WatchedKind};
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::{ALL_LANES, Flow, Warp};
use super::worker::Worker;
use super::{async_copy, call, collective, matrix, multimem};
use crate::interp::code::{
    Atomic, AtomicFunction, Counter, ElementAccess, Inst, NONE, Op, Slot, Space, WindowOp,
};
use crate::interp::fault::FaultKind;
use crate::interp::number::{convert, extend, float, pack_saturated};
use cuweave_ptx::Type;
use std::time::Instant;

/// Executes an operation that uses only registers. Returns false for all other operations.
#[inline]
pub fn simple(warp: &mut Warp, op: &Op, base: usize, mask: u32) -> bool {
    match *op {
        Op::Map1(f, d, a) => {
            let a = warp.row(base, a);
            warp.put(base, d, mask, |lane| f(a[lane]));
        }
        Op::Map2(f, d, a, b) => {
            let (a, b) = (warp.row(base, a), warp.row(base, b));
            warp.put(base, d, mask, |lane| f(a[lane], b[lane]));
        }
        Op::Map3(f, d, a, b, c) => {
            let (a, b, c) = (warp.row(base, a), warp.row(base, b), warp.row(base, c));
            warp.put(base, d, mask, |lane| f(a[lane], b[lane], c[lane]));
        }
        Op::Lop3(table, d, [a, b, c]) => {
            let (a, b, c) = (warp.row(base, a), warp.row(base, b), warp.row(base, c));
            warp.put(base, d, mask, |lane| lop3(table, a[lane], b[lane], c[lane]));
        }
        Op::Float(ref spec, d, [a, b, c]) => {
            let a = warp.row(base, a);
            let b = if b == NONE { a } else { warp.row(base, b) };
            let c = if c == NONE { a } else { warp.row(base, c) };
            warp.put(base, d, mask, |lane| float(spec, a[lane], b[lane], c[lane]));
        }
        Op::Convert(ref spec, d, a) => {
            let a = warp.row(base, a);
            warp.put(base, d, mask, |lane| convert(spec, a[lane]));
        }
        Op::ConvertPair(ref spec, d, a, b) => {
            let (a, b) = (warp.row(base, a), warp.row(base, b));
            let width = spec.to.size() * 8;
            warp.put(base, d, mask, |lane| convert(spec, a[lane]) << width | convert(spec, b[lane]));
        }
        Op::Pack(to, from, d, [a, b, c]) => {
            let (a, b, c) = (warp.row(base, a), warp.row(base, b), warp.row(base, c));
            warp.put(base, d, mask, |lane| pack_saturated(a[lane], b[lane], c[lane], to, from));
        }
        Op::Window(way, window, d, a) => {
            let a = warp.row(base, a);
            let inside = |address: u64| address & !(u64::MAX >> 16) == window;
            warp.put(base, d, mask, |lane| match way {
                WindowOp::ToGeneric => window + (a[lane] & 0xffff_ffff),
                WindowOp::FromGeneric => a[lane] & 0xffff_ffff,
                WindowOp::Contains => inside(a[lane]).into(),
                WindowOp::IsGlobal => u64::from(a[lane] >> 52 != 0xf),
            });
        }
        Op::Nop => {}
        _ => return false,
    }
    true
}

/// Executes any other operation. `mask` is the group, and `active` its lanes whose guard is true. The program
/// counters of the lanes are at the instruction.
pub fn step(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    inst: &Inst,
    base: usize,
    active: u32,
    mask: u32,
) -> Result<Flow, LaneFault> {
    match &inst.op {
        Op::Branch(target) => return Ok(Flow::Jump(*target)),
        Op::BranchTable(index, targets) => {
            branch_table(warp, base, active, mask, *index, targets)?;
            return Ok(Flow::Regroup);
        }
        Op::Exit => {
            warp.end(active, mask);
            return Ok(Flow::Regroup);
        }
        Op::Return => {
            call::ret(warp, worker, active, mask);
            return Ok(Flow::Regroup);
        }
        Op::Trap => {
            let what = "the kernel executed `trap`";
            return Err(LaneFault::new(FaultKind::Trap, what).of_lane(active.trailing_zeros()));
        }
        Op::Call(call) => return call::call(warp, worker, block, call, base, active, mask),
        Op::LoadParameter(ty, offset, to) => {
            load_parameter(warp, worker.launch.parameters, base, active, *ty, *offset, to);
        }
        Op::Load(from) => load(warp, worker, block, inst, base, active, from)?,
        Op::Store(to) => store(warp, worker, block, inst, base, active, to)?,
        Op::Atomic(how) => atomic(warp, worker, block, inst, base, active, how)?,
        Op::Multimem(access) => multimem::multimem(warp, worker, block, inst, base, active, access)?,
        Op::Counter(Counter::Clock, d) => {
            let ticks = worker.instructions;
            let executed = warp.executed;
            warp.put(base, *d, active, |lane| ticks + executed[lane]);
        }
        Op::Counter(Counter::Time, d) => {
            let time = nanoseconds();
            warp.put(base, *d, active, |_| time);
        }
        Op::Yield => {
            warp.yields = true;
            warp.set_pc(mask, warp.pc[active.trailing_zeros() as usize] + 1);
            return Ok(Flow::Regroup);
        }
        Op::GridWait if block.pre_wait => {
            warp.set_pc(mask, warp.pc[active.trailing_zeros() as usize] + 1);
            warp.ready &= !active;
            warp.at_grid_wait |= active;
            return Ok(Flow::Regroup);
        }
        Op::GridWait => worker.waited |= worker.options.dependent,
        Op::Fence => {
            block.note_sync(worker, Space::Generic);
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        }
        Op::ActiveMask(d) => warp.put(base, *d, active, |_| active.into()),
        Op::Barrier(barrier) => {
            warp.set_pc(mask, warp.pc[active.trailing_zeros() as usize] + 1);
            collective::arrive(warp, block, base, active, barrier)?;
            return Ok(Flow::Regroup);
        }
        Op::Copy(copy) => async_copy::copy(warp, worker, block, base, active, copy)?,
        Op::BulkCopy(copy) => async_copy::bulk_copy(warp, worker, block, base, active, copy)?,
        Op::Mbarrier(mbarrier) => {
            async_copy::mbarrier(warp, worker, block, base, active, mbarrier)?;
            if warp.yields {
                warp.set_pc(mask, warp.pc[active.trailing_zeros() as usize] + 1);
                return Ok(Flow::Regroup);
            }
        }
        Op::LoadMatrix { .. }
        | Op::StoreMatrix { .. }
        | Op::Mma(_)
        | Op::LoadFragment(_)
        | Op::StoreFragment(_) => {
            match collective::converge(warp, base, active, mask, ALL_LANES) {
                Some(all) => matrix::matrix(warp, worker, block, &inst.op, base, all)?,
                None => return Ok(Flow::Regroup),
            }
            return Ok(Flow::Regroup);
        }
        op => return collective::collective(warp, op, base, active, mask),
    }
    Ok(Flow::Next)
}

/// Jumps each lane to the target of its index.
fn branch_table(
    warp: &mut Warp,
    base: usize,
    active: u32,
    mask: u32,
    index: Slot,
    targets: &[u32],
) -> Result<(), LaneFault> {
    let index = warp.row(base, index);
    warp.set_pc(mask & !active, warp.pc[active.trailing_zeros() as usize] + 1);
    for lane in Lanes(active) {
        let Some(&target) = targets.get(index[lane as usize] as u32 as usize) else {
            let what =
                format!("branch to number {} of {} labels", index[lane as usize] as u32, targets.len());
            return Err(LaneFault::new(FaultKind::Code, what).of_lane(lane));
        };
        warp.pc[lane as usize] = target;
    }
    Ok(())
}

/// Executes a load from the parameters of the kernel.
fn load_parameter(
    warp: &mut Warp,
    bytes: &[u8],
    base: usize,
    active: u32,
    ty: Type,
    offset: u32,
    to: &[Slot],
) {
    for (number, &slot) in to.iter().enumerate().filter(|(_, slot)| **slot != NONE) {
        let start = offset as usize + number * ty.size() as usize;
        let mut value = [0; 8];
        let size = ty.size() as usize;
        if let Some(part) = bytes.get(start..start + size) {
            value[..size].copy_from_slice(part);
        }
        let value = extend(u64::from_le_bytes(value), ty);
        warp.put(base, slot, active, |_| value);
    }
}

/// Returns a pointer to the bytes of a lane's access at a generic address, after the checks.
#[inline]
fn checked_place(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    lane: u32,
    address: u64,
    bytes: u32,
    access: AccessKind,
) -> Result<*mut u8, LaneFault> {
    let own = warp.thread_memory(block, lane);
    worker.regions.resolve(address, bytes, access, &own).map_err(|lane_fault| lane_fault.of_lane(lane))
}

/// Executes a load.
#[inline]
fn load(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    inst: &Inst,
    base: usize,
    active: u32,
    load: &ElementAccess,
) -> Result<(), LaneFault> {
    let ElementAccess { ty, at, slots: to } = load;
    let ty = *ty;
    let address = warp.row(base, at.base);
    let size = ty.size();
    let bytes = size * to.len() as u32;
    let plain = matches!(&**to, [one] if *one != NONE);
    for lane in Lanes(active) {
        let address = RegionCache::generic(at, address[lane as usize]);
        let place = checked_place(warp, worker, block, lane, address, bytes, AccessKind::Read)?;
        if plain {
            warp.rows[base + to[0] as usize][lane as usize] = extend(read(place, size), ty);
            continue;
        }
        for (number, &slot) in to.iter().enumerate() {
            // SAFETY: all elements of the access were checked.
            let part = unsafe { place.add(number * size as usize) };
            warp.set(base, slot, lane, extend(read(part, size), ty));
        }
    }
    let touched = WarpAccess { inst, at, address: &address, lanes: active, bytes };
    if block.pre_wait {
        worker.note_pre_wait(block, &touched);
    }
    if at.strong {
        block.note_sync(worker, at.space);
    } else {
        worker.watch(block, warp, &touched, WatchedKind::Read);
    }
    Ok(())
}

/// Executes a store.
#[inline]
fn store(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    inst: &Inst,
    base: usize,
    active: u32,
    store: &ElementAccess,
) -> Result<(), LaneFault> {
    let ElementAccess { ty, at, slots: from } = store;
    let address = warp.row(base, at.base);
    let size = ty.size();
    let bytes = size * from.len() as u32;
    // A write of the value that is already there conflicts with nothing.
    let mut changed = 0;
    let watched = at.space != Space::Local && worker.watch.is_some();
    if at.strong {
        block.note_sync(worker, at.space);
    }
    for lane in Lanes(active) {
        let address = RegionCache::generic(at, address[lane as usize]);
        let place = checked_place(warp, worker, block, lane, address, bytes, AccessKind::Write)?;
        for (number, &slot) in from.iter().enumerate() {
            let value = warp.rows[base + slot as usize][lane as usize];
            // SAFETY: all elements of the access were checked.
            let part = unsafe { place.add(number * size as usize) };
            if watched && read(part, size) != value & (u64::MAX >> (64 - 8 * size)) {
                changed |= 1 << lane;
            }
            write(part, size, value);
        }
    }
    let touched = WarpAccess { inst, at, address: &address, lanes: active, bytes };
    if block.pre_wait {
        worker.note_pre_wait(block, &touched);
    }
    let how = if at.strong { WatchedKind::Strong } else { WatchedKind::Write };
    worker.watch(block, warp, &WarpAccess { lanes: changed, ..touched }, how);
    Ok(())
}

/// Executes an atomic update, one lane after the other.
#[inline]
fn atomic(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    inst: &Inst,
    base: usize,
    active: u32,
    atomic: &Atomic,
) -> Result<(), LaneFault> {
    let &Atomic { update: ref how, ty, ref at, d, operands: [b, c] } = atomic;
    // Before the update as a release, and after it as an acquire.
    block.note_sync(worker, at.space);
    let address = warp.row(base, at.base);
    let b = warp.row(base, b);
    let c = if c == NONE { b } else { warp.row(base, c) };
    let size = ty.size();
    for lane in Lanes(active) {
        let address = RegionCache::generic(at, address[lane as usize]);
        let place = checked_place(warp, worker, block, lane, address, size, AccessKind::Atomic)?;
        let (b, c) = (b[lane as usize], c[lane as usize]);
        let old = match how {
            AtomicFunction::Map(f) => update(place, size, |old| f(old, b, c)),
            AtomicFunction::Float(spec) => update(place, size, |old| float(spec, old, b, 0)),
        };
        warp.set(base, d, lane, extend(old, ty));
    }
    let touched = WarpAccess { inst, at, address: &address, lanes: active, bytes: size };
    if block.pre_wait {
        worker.note_pre_wait(block, &touched);
    }
    worker.watch(block, warp, &touched, WatchedKind::Strong);
    block.note_sync(worker, at.space);
    Ok(())
}

fn lop3(table: u8, a: u64, b: u64, c: u64) -> u64 {
    let mut result = 0;
    for at in 0..8u32 {
        if table >> at & 1 == 1 {
            let pick = |value: u64, bit: u32| if at >> bit & 1 == 1 { value } else { !value };
            result |= pick(a, 2) & pick(b, 1) & pick(c, 0);
        }
    }
    result & 0xffff_ffff
}

/// Returns the nanoseconds since the first call.
fn nanoseconds() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
