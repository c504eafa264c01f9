//! Calls and returns. Each lane has its own stacks of registers and of local memory.

use super::block::Block;
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::print;
use super::warp::{Flow, Frame, Warp};
use super::worker::Worker;
use crate::interp::code::{CallSite, Callee, Inst, Op, ParameterPlace};
use crate::interp::fault::FaultKind;
use crate::interp::space::CODE;

/// The maximum number of register rows of a warp, summed over its calls.
const MAX_ROWS: usize = 1 << 16;
/// The maximum call depth.
const MAX_CALL_DEPTH: usize = 4096;

/// The first row and the first local byte of a frame.
#[derive(Clone, Copy)]
struct FrameBase {
    rows: u32,
    local: u32,
}

/// Returns from a call. Lanes without a caller end.
pub fn ret(warp: &mut Warp, worker: &Worker, active: u32, mask: u32) {
    let pc = warp.pc[active.trailing_zeros() as usize];
    warp.set_pc(mask & !active, pc + 1);
    let mut ended = 0;
    for lane in Lanes(active) {
        let at = lane as usize;
        let Some(frame) = warp.calls[at].pop() else {
            ended |= 1 << lane;
            continue;
        };
        let program = worker.launch.program;
        let callee = &program.functions[warp.function[at] as usize];
        let from = FrameBase { rows: warp.base[at], local: warp.local.base[at] };
        let to = FrameBase { rows: frame.base, local: frame.local };
        if let Some(Inst { op: Op::Call(call), .. }) = program.code.insts.get(frame.pc as usize) {
            for (result, place) in callee.returns.iter().zip(&call.returns) {
                copy_parameter(warp, at, *result, from, *place, to);
            }
        }
        warp.pc[at] = frame.pc + 1;
        (warp.base[at], warp.local.base[at], warp.function[at]) = (frame.base, frame.local, frame.function);
    }
    if ended != 0 {
        warp.end(ended, ended);
    }
}

/// Copies a parameter from one frame to another.
fn copy_parameter(
    warp: &mut Warp,
    lane: usize,
    from: ParameterPlace,
    FrameBase { rows: from_base, local: from_local }: FrameBase,
    to: ParameterPlace,
    FrameBase { rows: to_base, local: to_local }: FrameBase,
) {
    let local = warp.local.words[lane].as_mut_ptr().cast::<u8>();
    let bytes = warp.local.words[lane].len() * 8;
    let fits = |start: u32, size: u32| (start as usize + size as usize) <= bytes;
    let word = |size: u32| if size >= 8 { 8 } else { size };
    match (from, to) {
        (ParameterPlace::Register(a), ParameterPlace::Register(b)) => {
            warp.rows[(to_base + b) as usize][lane] = warp.rows[(from_base + a) as usize][lane];
        }
        (ParameterPlace::Register(a), ParameterPlace::Frame(at, size)) if fits(to_local + at, word(size)) => {
            let value = warp.rows[(from_base + a) as usize][lane];
            for byte in 0..word(size) {
                // SAFETY: the frame is inside the lane's local memory.
                unsafe { local.add((to_local + at + byte) as usize).write((value >> (8 * byte)) as u8) };
            }
        }
        (ParameterPlace::Frame(at, size), ParameterPlace::Register(b))
            if fits(from_local + at, word(size)) =>
        {
            let mut value = 0;
            for byte in 0..word(size) {
                // SAFETY: as above.
                value |=
                    u64::from(unsafe { local.add((from_local + at + byte) as usize).read() }) << (8 * byte);
            }
            warp.rows[(to_base + b) as usize][lane] = value;
        }
        (ParameterPlace::Frame(a, from_size), ParameterPlace::Frame(b, to_size)) => {
            let size = from_size.min(to_size);
            if fits(from_local + a, size) && fits(to_local + b, size) {
                let (from, to) = ((from_local + a) as usize, (to_local + b) as usize);
                // SAFETY: as above, for both frames. They overlap only if the file is inconsistent.
                unsafe { std::ptr::copy(local.add(from), local.add(to), size as usize) };
            }
        }
        _ => {}
    }
}

/// Calls a function of the module, or one of the device runtime.
pub fn call(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    call: &CallSite,
    base: usize,
    active: u32,
    mask: u32,
) -> Result<Flow, LaneFault> {
    match call.callee {
        Callee::Print | Callee::Assert | Callee::Malloc | Callee::Free | Callee::SetCondition => {
            print::system(warp, worker, block, call, base, active)?;
            return Ok(Flow::Next);
        }
        Callee::Function(_) | Callee::Address(_) => {}
    }
    let program = worker.launch.program;
    let pc = warp.pc[active.trailing_zeros() as usize];
    warp.set_pc(mask & !active, pc + 1);
    for lane in Lanes(active) {
        let at = lane as usize;
        let number = match call.callee {
            Callee::Function(number) => number,
            Callee::Address(slot) => {
                let address = warp.rows[base + slot as usize][at];
                let offset = address.wrapping_sub(CODE);
                let number = u32::try_from(offset / 16).unwrap_or(u32::MAX);
                if !offset.is_multiple_of(16) || number as usize >= program.functions.len() {
                    let what = format!("call of {address:#x}, which is not the address of a function");
                    return Err(LaneFault::new(FaultKind::Code, what).of_lane(lane));
                }
                number
            }
            _ => return Ok(Flow::Next),
        };
        let callee = &program.functions[number as usize];
        if let Some(error) = &callee.error {
            let what = format!("call of `{}`, which cannot be run: {error}", callee.name);
            return Err(LaneFault::new(FaultKind::Unsupported, what).of_lane(lane));
        }
        let caller = &program.functions[warp.function[at] as usize];
        let (old_base, old_local) = (warp.base[at], warp.local.base[at]);
        let new_base = old_base + caller.slots;
        let new_local = (old_local + caller.frame).next_multiple_of(16);
        let rows = (new_base + callee.slots) as usize;
        if rows > MAX_ROWS
            || warp.calls[at].len() >= MAX_CALL_DEPTH
            || new_local + callee.frame > worker.options.stack
        {
            let what = format!(
                "stack overflow: {} calls deep, {new_local} bytes of local memory",
                warp.calls[at].len()
            );
            return Err(LaneFault::new(FaultKind::Stack, what).of_lane(lane));
        }
        if warp.rows.len() < rows {
            warp.rows.resize(rows, [0; 32]);
        }
        warp.calls[at].push(Frame { pc, base: old_base, local: old_local, function: warp.function[at] });
        (warp.base[at], warp.local.base[at], warp.function[at]) = (new_base, new_local, number);
        warp.local.grow(lane, callee.frame);
        warp.enter(worker, block, callee, lane);
        let from = FrameBase { rows: old_base, local: old_local };
        let to = FrameBase { rows: new_base, local: new_local };
        for (argument, place) in call.arguments.iter().zip(&callee.parameters) {
            copy_parameter(warp, at, *argument, from, *place, to);
        }
        warp.pc[at] = callee.start;
    }
    Ok(Flow::Regroup)
}
