//! Collective instructions: barriers, shuffles, votes, matches and reductions.
//!
//! An instruction with a lane mask waits until all live lanes of the mask have arrived. An instruction without
//! one is executed by the group that reaches it.

use super::block::{Barrier, Block};
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::{Flow, Warp};
use crate::interp::code::{BlockBarrier, NONE, Op, PredicateReduction, Shuffle, Vote};
use crate::interp::fault::FaultKind;

/// Records the arrival of lanes at a named barrier. They wait there unless the instruction only arrives.
pub fn arrive(
    warp: &mut Warp,
    block: &mut Block,
    base: usize,
    active: u32,
    barrier: &BlockBarrier,
) -> Result<(), LaneFault> {
    let &BlockBarrier { id, count, wait, reduction } = barrier;
    let first = active.trailing_zeros();
    let number = warp.row(base, id)[first as usize];
    if number as usize >= block.barriers.len() {
        return Err(LaneFault::new(
            FaultKind::Barrier,
            format!("barrier {number} does not exist: there are 16"),
        )
        .of_lane(first));
    }
    let whole = block.threads.next_multiple_of(32);
    let expected = match count {
        NONE => block.threads,
        count => {
            let count = warp.row(base, count)[first as usize] as u32;
            // The missing lanes of the last warp count as arrived.
            if count == whole { block.threads } else { count }
        }
    };
    if expected == 0 || expected > block.threads {
        let what = format!("barrier {number} for {expected} threads in a block of {}", block.threads);
        return Err(LaneFault::new(FaultKind::Barrier, what).of_lane(first));
    }
    let barrier = &mut block.barriers[number as usize];
    if barrier.expected == 0 {
        let whole = count == NONE;
        *barrier = Barrier { expected, whole, arrived: 0, all: true, any: false, count: 0 };
    } else if barrier.expected != expected {
        let what = format!("barrier {number} for {expected} threads, where others said {}", barrier.expected);
        return Err(LaneFault::new(FaultKind::Barrier, what).of_lane(first));
    }
    barrier.arrived += active.count_ones();
    if let Some(PredicateReduction { kind, d, p }) = reduction {
        for lane in Lanes(active) {
            let set = warp.rows[base + p as usize][lane as usize] & 1 == 1;
            barrier.all &= set;
            barrier.any |= set;
            barrier.count += u32::from(set);
            warp.barriers.reduce(lane, kind, base as u32 + d);
        }
    }
    if wait {
        warp.ready &= !active;
        warp.barriers.wait(active, number as u8);
    }
    if barrier.arrived >= expected {
        block.complete.push(number as u8);
    }
    Ok(())
}

/// Returns the lanes that execute a collective now; `None` if lanes of `wanted` have not arrived. Sets the
/// program counters of all lanes of the group. The returned lanes continue after the instruction.
pub fn converge(warp: &mut Warp, base: usize, active: u32, mask: u32, wanted: u32) -> Option<u32> {
    let pc = warp.pc[active.trailing_zeros() as usize];
    warp.set_pc(mask & !active, pc + 1);
    let mut here = active;
    for lane in Lanes(warp.at_collective) {
        let at = lane as usize;
        if warp.pc[at] == pc && warp.base[at] as usize == base {
            here |= 1 << lane;
        }
    }
    let absent = wanted & warp.live & !here;
    if absent != 0 {
        warp.at_collective |= active;
        warp.ready &= !active;
        return None;
    }
    warp.at_collective &= !here;
    warp.ready |= here;
    warp.set_pc(here, pc + 1);
    Some(here)
}

/// Executes a collective of the warp once all lanes of its mask have arrived.
pub fn collective(warp: &mut Warp, op: &Op, base: usize, active: u32, mask: u32) -> Result<Flow, LaneFault> {
    let members = match *op {
        Op::SyncWarp(members) | Op::Elect(_, _, members) => members,
        Op::Shuffle(_, _, _, _, members) | Op::Vote(_, _, _, members) => members,
        Op::Match(_, _, _, _, members, _) | Op::Reduce(_, _, _, members) => members,
        _ => {
            let what = "an operation that is not known";
            return Err(LaneFault::new(FaultKind::Unsupported, what).of_lane(active.trailing_zeros()));
        }
    };
    let wanted = match members {
        NONE => active,
        slot => {
            let row = warp.row(base, slot);
            Lanes(active).fold(0, |sum, lane| sum | row[lane as usize] as u32)
        }
    };
    let Some(here) = converge(warp, base, active, mask, wanted) else { return Ok(Flow::Regroup) };
    let mut left = here;
    while left != 0 {
        let first = left.trailing_zeros();
        let group = match members {
            NONE => left,
            slot => {
                let row = warp.row(base, slot);
                let own = row[first as usize] as u32;
                let same = Lanes(left).filter(|&lane| row[lane as usize] as u32 == own);
                same.fold(0, |sum, lane| sum | 1 << lane)
            }
        };
        execute_collective(warp, op, base, group);
        left &= !group;
    }
    Ok(Flow::Regroup)
}

fn execute_collective(warp: &mut Warp, op: &Op, base: usize, group: u32) {
    match *op {
        Op::Shuffle(kind, d, p, [a, b, c], _) => {
            let (a, b, c) = (warp.row(base, a), warp.row(base, b), warp.row(base, c));
            for lane in Lanes(group) {
                let at = lane as usize;
                let (by, control) = (b[at] as u32 & 31, c[at] as u32);
                let (clamp, segment) = (control & 31, control >> 8 & 31);
                let most = lane & segment | clamp & !segment;
                let least = lane & segment;
                let (from, inside) = match kind {
                    Shuffle::Up => (lane.wrapping_sub(by), lane as i32 - by as i32 >= most as i32),
                    Shuffle::Down => (lane + by, lane + by <= most),
                    Shuffle::Butterfly => (lane ^ by, lane ^ by <= most),
                    Shuffle::Index => (least | by & !segment, least | by & !segment <= most),
                };
                let from = if inside { from & 31 } else { lane };
                warp.set(base, d, lane, a[from as usize] & 0xffff_ffff);
                warp.set(base, p, lane, inside.into());
            }
        }
        Op::Vote(kind, d, a, _) => {
            let row = warp.row(base, a);
            let set = Lanes(group)
                .filter(|&lane| row[lane as usize] & 1 == 1)
                .fold(0u32, |sum, lane| sum | 1 << lane);
            let value = match kind {
                Vote::All => u64::from(set == group),
                Vote::Any => u64::from(set != 0),
                Vote::Uniform => u64::from(set == group || set == 0),
                Vote::Ballot => set.into(),
            };
            warp.put(base, d, group, |_| value);
        }
        Op::Match(all, d, p, a, _, bits) => {
            let row = warp.row(base, a);
            for lane in Lanes(group) {
                let own = row[lane as usize] & bits;
                let same = Lanes(group).filter(|&other| row[other as usize] & bits == own);
                let same = same.fold(0u32, |sum, lane| sum | 1 << lane);
                let value = if all && same != group { 0 } else { same };
                warp.set(base, d, lane, value.into());
                warp.set(base, p, lane, u64::from(same == group));
            }
        }
        Op::Reduce(f, d, a, _) => {
            let row = warp.row(base, a);
            let values = Lanes(group).map(|lane| row[lane as usize]);
            let value = values.reduce(f).unwrap_or(0);
            warp.put(base, d, group, |_| value);
        }
        Op::Elect(d, p, _) => {
            let leader = group.trailing_zeros();
            warp.put(base, d, group, |_| leader.into());
            for lane in Lanes(group) {
                warp.set(base, p, lane, u64::from(lane == leader));
            }
        }
        _ => {}
    }
}
