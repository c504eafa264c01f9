//! Matrix instructions. A fragment of `mma` has the layout that PTX defines. PTX leaves the layout of `wmma`
//! fragments open; here the elements are in order, lane after lane.

use super::access::{AccessKind, RegionCache, read, write};
use super::block::Block;
use super::lane_fault::LaneFault;
use super::lanes::Lanes;
use super::warp::Warp;
use super::worker::Worker;
use crate::interp::code::{MatrixFragment, Mma, NONE, Op, Slot};
use crate::interp::fault::FaultKind;
use crate::interp::number::{RoundingMode, format, narrow, widen};
use cuweave_ptx::Type;

/// Returns the number of elements in a register.
fn per_register(ty: Type) -> usize {
    match ty.size() {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}

/// Returns the row and column of the `i`th element of a lane in `a`.
fn place_a(mma: &Mma, lane: usize, i: usize) -> (usize, usize) {
    let (m, k) = (usize::from(mma.shape.m), usize::from(mma.shape.k));
    if mma.warp {
        return ordered(m * k, k, lane, i);
    }
    let per = per_register(mma.a_type);
    let register = i / per;
    let above = m / 8;
    (lane / 4 + 8 * (register % above), lane % 4 * per + i % per + 4 * per * (register / above))
}

fn place_b(mma: &Mma, lane: usize, i: usize) -> (usize, usize) {
    let (k, n) = (usize::from(mma.shape.k), usize::from(mma.shape.n));
    if mma.warp {
        return ordered(k * n, n, lane, i);
    }
    let per = per_register(mma.b_type);
    (lane % 4 * per + i % per + 4 * per * (i / per), lane / 4)
}

fn place_c(mma: &Mma, lane: usize, i: usize) -> (usize, usize) {
    let (m, n) = (usize::from(mma.shape.m), usize::from(mma.shape.n));
    if mma.warp {
        return ordered(m * n, n, lane, i);
    }
    (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2)
}

fn ordered(elements: usize, columns: usize, lane: usize, i: usize) -> (usize, usize) {
    let at = lane * (elements / 32) + i;
    (at / columns, at % columns)
}

/// Returns an element as a number. 32-bit integers are represented exactly.
fn number(bits: u64, ty: Type) -> f64 {
    match ty {
        Type::S8 => f64::from(bits as i8),
        Type::U8 => f64::from(bits as u8),
        Type::S32 => f64::from(bits as i32),
        // The low bits of a tf32 are ignored.
        Type::Tf32 => f64::from(f32::from_bits(bits as u32 & 0xffff_e000)),
        _ => format(ty).map_or(0.0, |format| widen(bits, format)),
    }
}

fn bits(value: f64, ty: Type) -> u64 {
    format(ty).map_or(0, |format| narrow(value, format, RoundingMode::Nearest))
}

fn element(warp: &Warp, base: usize, registers: &[Slot], ty: Type, lane: usize, i: usize) -> u64 {
    let per = per_register(ty);
    let value = warp.rows[base + registers[i / per] as usize][lane];
    let width = 8 * ty.size() as usize;
    value >> (width * (i % per)) & (u64::MAX >> (64 - width))
}

fn set_element(
    warp: &mut Warp,
    base: usize,
    registers: &[Slot],
    ty: Type,
    lane: usize,
    i: usize,
    value: u64,
) {
    let per = per_register(ty);
    let width = 8 * ty.size() as usize;
    let shift = width * (i % per);
    let mask = (u64::MAX >> (64 - width)) << shift;
    let row = &mut warp.rows[base + registers[i / per] as usize][lane];
    *row = *row & !mask | value << shift & mask;
}

/// Executes a matrix instruction. All 32 lanes must take part.
pub fn matrix(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    op: &Op,
    base: usize,
    lanes: u32,
) -> Result<(), LaneFault> {
    match op {
        Op::LoadMatrix { transposed, at, to } => {
            let address = warp.row(base, at.base);
            let mut rows = vec![[0u16; 8]; to.len() * 8];
            for (lane, row) in rows.iter_mut().enumerate() {
                let lane = lane as u32;
                if lanes >> lane & 1 == 0 {
                    continue;
                }
                let own = warp.thread_memory(block, lane);
                let address = RegionCache::generic(at, address[lane as usize]);
                let place = worker
                    .regions
                    .resolve(address, 16, AccessKind::Read, &own)
                    .map_err(|t| t.of_lane(lane))?;
                for (column, value) in row.iter_mut().enumerate() {
                    // SAFETY: 16 bytes at `place` were checked.
                    *value = read(unsafe { place.add(2 * column) }, 2) as u16;
                }
            }
            for (number, &slot) in to.iter().enumerate() {
                let matrix = &rows[number * 8..][..8];
                warp.put(base, slot, lanes, |lane| {
                    let (row, column) = (lane / 4, lane % 4 * 2);
                    let pair = if *transposed {
                        [matrix[column][row], matrix[column + 1][row]]
                    } else {
                        [matrix[row][column], matrix[row][column + 1]]
                    };
                    u64::from(pair[0]) | u64::from(pair[1]) << 16
                });
            }
        }
        Op::StoreMatrix { transposed, at, from } => {
            let address = warp.row(base, at.base);
            for (number, &slot) in from.iter().enumerate() {
                let values = warp.row(base, slot);
                for row in 0..8 {
                    let lane = (number * 8 + row) as u32;
                    let own = warp.thread_memory(block, lane);
                    let address = RegionCache::generic(at, address[lane as usize]);
                    let place = worker
                        .regions
                        .resolve(address, 16, AccessKind::Write, &own)
                        .map_err(|t| t.of_lane(lane))?;
                    for column in 0..8 {
                        let (r, c) = if *transposed { (column, row) } else { (row, column) };
                        let value = values[r * 4 + c / 2] >> (16 * (c % 2));
                        // SAFETY: as above.
                        write(unsafe { place.add(2 * column) }, 2, value);
                    }
                }
            }
        }
        Op::Mma(mma) => multiply(warp, mma, base, lanes)?,
        Op::LoadFragment(loaded) => fragment(warp, worker, block, loaded, base, lanes, true)?,
        Op::StoreFragment(stored) => fragment(warp, worker, block, stored, base, lanes, false)?,
        _ => {}
    }
    Ok(())
}

fn multiply(warp: &mut Warp, mma: &Mma, base: usize, lanes: u32) -> Result<(), LaneFault> {
    if lanes != u32::MAX {
        let what = "a matrix instruction needs all 32 lanes of the warp";
        return Err(LaneFault::new(FaultKind::Barrier, what).of_lane(lanes.trailing_zeros()));
    }
    let (m, n, k) = (usize::from(mma.shape.m), usize::from(mma.shape.n), usize::from(mma.shape.k));
    let (mut a, mut b) = (vec![0.0; m * k], vec![0.0; k * n]);
    for lane in 0..32 {
        for i in 0..m * k / 32 {
            let (row, column) = place_a(mma, lane, i);
            a[row * k + column] = number(element(warp, base, &mma.a, mma.a_type, lane, i), mma.a_type);
        }
        for i in 0..k * n / 32 {
            let (row, column) = place_b(mma, lane, i);
            b[row * n + column] = number(element(warp, base, &mma.b, mma.b_type, lane, i), mma.b_type);
        }
    }
    let (d_type, c_type) = mma.types;
    let mut results = Vec::with_capacity(m * n);
    for lane in 0..32 {
        for i in 0..m * n / 32 {
            let (row, column) = place_c(mma, lane, i);
            let c = element(warp, base, &mma.c, c_type, lane, i);
            let terms = a[row * k..][..k].iter().zip(b.iter().skip(column).step_by(n));
            results.push(if d_type == Type::S32 {
                let sum: i64 = terms.map(|(a, b)| (a * b) as i64).sum::<i64>() + i64::from(c as i32);
                let limits = (i64::from(i32::MIN), i64::from(i32::MAX));
                let sum = if mma.saturate { sum.clamp(limits.0, limits.1) } else { sum };
                u64::from(sum as u32)
            } else if d_type == Type::F64 {
                terms.fold(f64::from_bits(c), |sum, (a, b)| a.mul_add(*b, sum)).to_bits()
            } else {
                let sum: f64 = terms.map(|(a, b)| a * b).sum();
                bits(sum + number(c, c_type), d_type)
            });
        }
    }
    let mut results = results.into_iter();
    for lane in 0..32 {
        for i in 0..m * n / 32 {
            let value = results.next().unwrap_or(0);
            set_element(warp, base, &mma.d, d_type, lane, i, value);
        }
    }
    Ok(())
}

fn fragment(
    warp: &mut Warp,
    worker: &mut Worker,
    block: &mut Block,
    fragment: &MatrixFragment,
    base: usize,
    lanes: u32,
    load: bool,
) -> Result<(), LaneFault> {
    let (m, n, k) =
        (usize::from(fragment.shape.m), usize::from(fragment.shape.n), usize::from(fragment.shape.k));
    let (rows, columns) = match fragment.which {
        b'a' => (m, k),
        b'b' => (k, n),
        _ => (m, n),
    };
    let size = fragment.ty.size();
    let count = rows * columns / 32;
    if fragment.registers.len() * per_register(fragment.ty) < count {
        let what = "a fragment with too few registers";
        return Err(LaneFault::new(FaultKind::Unsupported, what).of_lane(lanes.trailing_zeros()));
    }
    let address = warp.row(base, fragment.at.base);
    for lane in Lanes(lanes) {
        let at = lane as usize;
        let stride = match fragment.stride {
            NONE if fragment.by_columns => rows as u64,
            NONE => columns as u64,
            slot => warp.rows[base + slot as usize][at] & 0xffff_ffff,
        };
        let start = RegionCache::generic(&fragment.at, address[at]);
        for i in 0..count {
            let (row, column) = ordered(rows * columns, columns, at, i);
            let (major, minor) = if fragment.by_columns { (column, row) } else { (row, column) };
            let place = start.wrapping_add((major as u64 * stride + minor as u64) * u64::from(size));
            let own = warp.thread_memory(block, lane);
            let access = if load { AccessKind::Read } else { AccessKind::Write };
            let place = worker.regions.resolve(place, size, access, &own).map_err(|t| t.of_lane(lane))?;
            if load {
                set_element(warp, base, &fragment.registers, fragment.ty, at, i, read(place, size));
            } else {
                write(place, size, element(warp, base, &fragment.registers, fragment.ty, at, i));
            }
        }
    }
    Ok(())
}
