//! Setters of scalars that affect range bounds. After a setter, an exec computes the same as a graph built with
//! that value; a refused value changes nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use cuweave::prelude::*;
use cuweave::{ArenaPool, Error};
use cuweave_testkit::device::{Device, alone, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/atomics.ptx")]
unsafe extern "ptx-kernel" {
    fn add_all(totals: &[Atomic<u32>; n], by: u32, n: u32);
    fn max_u32(total: &[Atomic<u32>; 1], by: u32);
}

/// Appends a row to a cache and sums up the rows before it.
#[cuweave::graph]
fn append(d: u32, most: u32, pos: u32, row: &[f32; d], cache: &mut [f32; most * d], out: &mut [f32; d]) {
    copy(&row, &mut cache[pos * d..(pos + 1) * d]);
    scale[per_item(d)](&mut cache[pos * d..(pos + 1) * d], 2.0, d);
    fill(&mut out, 0.0f32);
    axpy[per_item(d)](1.0, &cache[pos * d..(pos + 1) * d], &mut out, d);
    axpy[per_item(d)](1.0, &cache[..d], &mut out, d);
}

fn appended(cache: &mut [f32], pos: usize) -> Vec<f32> {
    for i in 0..4 {
        cache[pos * 4 + i] = 2.0 * i as f32;
    }
    (0..4).map(|i| cache[pos * 4 + i] + cache[i]).collect()
}

#[test]
fn a_range_moves_with_its_setter() {
    let device = alone();
    let (mut cache, mut out) = (device.zeros::<f32>(32), device.zeros::<f32>(4));
    let row = device.upload(&ramp(4));
    let mut plain = vec![0.0_f32; 32];
    let graph = append(&device.ctx, 4, 8, 3, &row, &mut cache, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for pos in [3, 0, 7, 7, 1, 0, 5] {
        exec.set_pos(pos).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        let expected = appended(&mut plain, pos as usize);
        assert_eq!(device.download(&exec.args().out), expected, "at {pos}");
        assert_eq!(device.download(&exec.args().cache), plain, "at {pos}");
    }
}

#[test]
fn a_range_outside_of_its_buffer_is_refused_and_nothing_changes() {
    let device = alone();
    let (mut cache, mut out) = (device.zeros::<f32>(32), device.zeros::<f32>(4));
    let row = device.upload(&ramp(4));
    let mut plain = vec![0.0_f32; 32];
    let graph = append(&device.ctx, 4, 8, 2, &row, &mut cache, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for wrong in [8, 9, 0x3fff_ffff, 0x4000_0000, u32::MAX] {
        let error = exec.set_pos(wrong).expect_err("it is outside");
        let Error::Range { at, buffer, lo, hi, len, .. } = &error else { panic!("{error}") };
        let pos = u64::from(wrong);
        assert_eq!((at.name.as_str(), buffer.as_str()), ("copy", "cache"), "{error}");
        assert_eq!((*lo, *hi, *len), (4 * pos, 4 * pos + 4, 32), "{error}");
        assert!(at.line > 0 && at.file.ends_with("bounds.rs"), "{error}");
        exec.launch(&device.stream).expect("the exec is as it was");
        let expected = appended(&mut plain, 2);
        assert_eq!(device.download(&exec.args().out), expected);
        assert_eq!(device.download(&exec.args().cache), plain);
    }
    exec.set_pos(6).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&exec.args().out), appended(&mut plain, 6));
    assert_eq!(device.download(&exec.args().cache), plain);
}

/// Two ranges that are disjoint at build time but may overlap later.
#[cuweave::graph]
fn two(n: u32, a: u32, b: u32, x: &mut [f32; n]) {
    set[per_item(4)](&mut x[a..a + 4], 1.0, 4);
    scale[per_item(4)](&mut x[b..b + 4], 3.0, 4);
    set[per_item(2)](&mut x[a + 1..a + 3], 7.0, 2);
}

fn two_plain(x: &mut [f32], a: usize, b: usize) {
    x[a..a + 4].fill(1.0);
    x[b..b + 4].iter_mut().for_each(|x| *x *= 3.0);
    x[a + 1..a + 3].fill(7.0);
}

#[test]
fn the_order_holds_for_ranges_that_come_to_overlap() {
    let device = alone();
    for seed in 1..=8 {
        device.schedule(seed);
        let mut x = device.upload(&ramp(16));
        let mut plain = ramp(16);
        let graph = two(&device.ctx, 16, 0, 12, &mut x).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        for (a, b) in [(0, 12), (4, 5), (5, 4), (8, 8), (12, 0), (3, 6)] {
            exec.set_a(a).expect("it is set");
            exec.set_b(b).expect("it is set");
            exec.launch(&device.stream).expect("it launches");
            two_plain(&mut plain, a as usize, b as usize);
            assert_eq!(device.download(&exec.args().x), plain, "{a} and {b}");
        }
    }
    device.nothing_reported();
}

/// Lengths of ranges, copies and fills, and the grids that depend on them.
#[cuweave::graph]
fn lengths(
    n: u32,
    lo: u32,
    hi: u32,
    x: &[f32; n],
    y: &mut [f32; n],
    z: &mut [u64; n],
    p: &mut Pinned<[f32; n]>,
) {
    let len = hi - lo;
    fill(&mut y, 1.0f32);
    copy(&x[lo..hi], &mut y[..hi - lo]);
    fill(&mut z, 5u64);
    fill(&mut z[lo..hi], 0x1_0000_0002u64);
    fill(&mut z[..lo + 1], 0u64);
    axpy[per_item(len)](1.0, &x[lo..hi], &mut y[lo..hi], len);
    copy(&y[lo..], &mut p[lo..]);
}

#[test]
fn lengths_move_with_their_setters() {
    let device = alone();
    let (mut y, mut z) = (device.zeros::<f32>(600), device.zeros::<u64>(600));
    let x = device.upload(&ramp(600));
    #[allow(unsafe_code)]
    // SAFETY: unsafe because the contents are uninitialized; they are written before they are read.
    let mut pinned = unsafe { device.ctx.alloc_pinned::<f32>(600) }.expect("pinned memory");
    pinned.as_mut_slice().expect("it is idle").fill(-1.0);
    let mut host = vec![-1.0_f32; 600];
    let graph = lengths(&device.ctx, 600, 4, 8, &x, &mut y, &mut z, &mut pinned).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for (lo, hi) in [(4, 8), (0, 8), (0, 600), (599, 600), (300, 301), (2, 598)] {
        // Each single setter call must lead to a valid range.
        exec.set_lo(0).expect("it is set");
        exec.set_hi(hi).expect("it is set");
        exec.set_lo(lo).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        let (lo, hi) = (lo as usize, hi as usize);
        let mut plain = vec![1.0_f32; 600];
        (lo..hi).for_each(|i| plain[i - lo] = i as f32);
        (lo..hi).for_each(|i| plain[i] += i as f32);
        assert_eq!(device.download(&exec.args().y), plain, "{lo}..{hi}");
        let mut words = vec![5u64; 600];
        words[lo..hi].fill(0x1_0000_0002);
        words[..lo + 1].fill(0);
        assert_eq!(device.download(&exec.args().z), words, "{lo}..{hi}");
        host[lo..].copy_from_slice(&plain[lo..]);
        device.stream.synchronize().expect("it ends");
        assert_eq!(exec.args().p.as_slice().expect("it is idle"), host, "{lo}..{hi}");
    }
    let before = device.download(&exec.args().y);
    for wrong in [598, 599, u32::MAX] {
        // Beyond the end, or empty.
        let error = exec.set_lo(wrong).expect_err("no range");
        let known = matches!(&error, Error::Range { .. } | Error::Size { .. } | Error::ZeroLength { .. });
        assert!(known, "{error}");
    }
    assert!(matches!(exec.set_hi(601), Err(Error::Range { .. })));
    exec.launch(&device.stream).expect("the exec is as it was");
    assert_eq!(device.download(&exec.args().y), before);
}

/// A temporary whose parts are written one after the other, up to a moving bound.
#[cuweave::graph]
fn halves(n: u32, k: u32, rows: u32, x: &[f32; n], out: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    let (front, back) = t.split_at_mut(k);
    copy(&x[..k], &mut front);
    set[per_item(rows)](&mut back, 5.0, rows);
    copy(&t, &mut out);
}

#[test]
fn what_later_reads_rest_on_is_checked_again() {
    let device = alone();
    let x = device.upload(&ramp(16));
    let mut out = device.zeros::<f32>(16);
    let graph = halves(&device.ctx, 16, 10, 6, &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let launch = |exec: &mut cuweave::Exec<halves::Args<'_>>, k: usize| {
        exec.launch(&device.stream).expect("it launches");
        let mut plain = ramp(16);
        plain[k..].fill(5.0);
        assert_eq!(device.download(&exec.args().out), plain);
    };
    launch(&mut exec, 10);
    // The launch would leave part of the back unwritten, or write beyond it.
    assert!(matches!(exec.set_k(9), Err(Error::PartlyWritten { .. })), "{:?}", exec.set_k(9));
    assert!(matches!(exec.set_k(11), Err(Error::Extent { .. })), "{:?}", exec.set_k(11));
    assert!(matches!(exec.set_rows(5), Err(Error::PartlyWritten { .. })));
    launch(&mut exec, 10);
    assert!(matches!(exec.set_k(17), Err(Error::Range { .. } | Error::ViewRange { .. })));
    launch(&mut exec, 10);
}

/// The same scalar in a bound, a grid, an argument and under another name.
#[cuweave::graph]
fn everywhere(n: u32, at: u32, x: &mut [f32; n]) {
    let twice = at * 2;
    scale[per_item(at + 1)](&mut x[at..twice + 1], at as f32, at + 1);
    for i in 0..3 {
        set[per_item(1)](&mut x[twice + i..twice + i + 1], (at + i) as f32, 1);
    }
    for i in 0..n / n + 1 {
        scale[per_item(2)](&mut x[i + at / 2..i + at / 2 + 2], 10.0, 2);
    }
    scale[per_item(1)](&mut x[at % 3..at % 3 + 1], 100.0, 1);
}

fn everywhere_plain(x: &mut [f32], at: usize) {
    x[at..2 * at + 1].iter_mut().for_each(|x| *x *= at as f32);
    (0..3).for_each(|i| x[2 * at + i] = (at + i) as f32);
    for i in 0..2 {
        x[i + at / 2..i + at / 2 + 2].iter_mut().for_each(|x| *x *= 10.0);
    }
    x[at % 3] *= 100.0;
}

#[test]
fn one_scalar_in_many_places() {
    let device = alone();
    let mut x = device.upload(&ramp(64));
    let graph = everywhere(&device.ctx, 64, 1, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for at in [1, 0, 3, 20, 7, 30, 2, 31, 1] {
        let fits = 2 * at + 3 <= 64;
        assert_eq!(exec.set_at(at).is_ok(), fits, "{at}");
        let contents = ramp(64);
        device.stream.memcpy_htod(&contents, &mut exec.args_mut().x).expect("an upload");
        exec.launch(&device.stream).expect("it launches");
        if fits {
            let mut plain = contents;
            everywhere_plain(&mut plain, at as usize);
            assert_eq!(device.download(&exec.args().x), plain, "{at}");
        }
    }
}

/// A named part of a buffer, and parts of that part, whose ranges move.
#[cuweave::graph]
fn inner(len: u32, at: u32, by: f32, x: &mut [f32; len]) {
    scale[per_item(2)](&mut x[at..at + 2], by, 2);
    scale[per_item(len)](&mut x, 0.5, len);
}

#[cuweave::graph]
fn outer(n: u32, row: u32, at: u32, x: &mut [f32; 8 * n]) {
    inner(n, at, 3.0, &mut x[row * n..(row + 1) * n]);
    for i in 0..2 {
        inner(n, at + i, 5.0, &mut x[(row + i + 1) * n..(row + i + 2) * n]);
    }
}

fn inner_plain(x: &mut [f32], at: usize, by: f32) {
    x[at..at + 2].iter_mut().for_each(|x| *x *= by);
    x.iter_mut().for_each(|x| *x *= 0.5);
}

#[test]
fn a_scalar_reaches_the_ranges_of_callees() {
    let device = alone();
    let mut x = device.zeros::<f32>(48);
    let graph = outer(&device.ctx, 6, 1, 2, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for (row, at) in [(1, 2), (0, 0), (5, 3), (2, 1)] {
        exec.set_row(row).expect("it is set");
        exec.set_at(at).expect("it is set");
        let mut plain = ramp(48);
        device.stream.memcpy_htod(&plain, &mut exec.args_mut().x).expect("an upload");
        exec.launch(&device.stream).expect("it launches");
        let (row, at) = (row as usize, at as usize);
        inner_plain(&mut plain[row * 6..][..6], at, 3.0);
        inner_plain(&mut plain[(row + 1) * 6..][..6], at, 5.0);
        inner_plain(&mut plain[(row + 2) * 6..][..6], at + 1, 5.0);
        assert_eq!(device.download(&exec.args().x), plain, "{row} and {at}");
    }
    // Within the buffer, but outside of the part that was passed to the callee.
    let error = exec.set_at(4).expect_err("behind the row");
    assert!(matches!(&error, Error::ViewRange { at, .. } if at.file.ends_with("bounds.rs")), "{error}");
    let error = exec.set_row(6).expect_err("behind the buffer");
    assert!(matches!(&error, Error::Range { .. }), "{error}");
}

/// Independent launches of one kernel are batched, and their ranges move.
#[cuweave::graph]
fn batched(n: u32, at: u32, x: [&mut [f32; n]; 6]) {
    for i in 0..6 {
        scale[per_item(4)](&mut x[i][at + i..at + i + 4], 2.0, 4);
    }
    for i in 0..6 {
        scale[per_item(n - at)](&mut x[i][at..], 3.0, n - at);
    }
}

#[test]
fn members_of_batches_move() {
    let device = alone();
    let buffers: [_; 6] = std::array::from_fn(|_| device.upload(&ramp(300)));
    let graph = batched(&device.ctx, 300, 8, buffers).expect("it builds");
    let batches = cuweave::__private::operations(&graph).batches.iter().map(|batch| batch.members.len());
    assert_eq!(batches.collect::<Vec<_>>(), [6, 6]);
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut plain: Vec<Vec<f32>> = (0..6).map(|_| ramp(300)).collect();
    for at in [8, 0, 100, 291, 3] {
        exec.set_at(at).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        let at = at as usize;
        for (i, plain) in plain.iter_mut().enumerate() {
            plain[at + i..at + i + 4].iter_mut().for_each(|x| *x *= 2.0);
            plain[at..].iter_mut().for_each(|x| *x *= 3.0);
            assert_eq!(device.download(&exec.args().x[i]), *plain, "{at}");
        }
    }
    assert!(matches!(exec.set_at(292), Err(Error::Range { .. })));
}

/// A bound that is not a polynomial, and one from an expression with a different value each time.
#[cuweave::graph]
fn opaque(n: u32, at: u32, x: &mut [f32; n]) {
    scale[per_item(1)](&mut x[at.min(5) as usize..at.min(5) as usize + 1], 2.0, 1);
    scale[per_item(1)](&mut x[(at * at) as usize..(at * at) as usize + 1], 3.0, 1);
}

#[test]
fn bounds_that_rustc_computes_move() {
    let device = alone();
    let mut x = device.upload(&[1.0_f32; 64]);
    let graph = opaque(&device.ctx, 64, 1, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut plain = vec![1.0_f32; 64];
    for at in [1, 0, 7, 4, 5] {
        exec.set_at(at).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        plain[at.min(5) as usize] *= 2.0;
        plain[(at * at) as usize] *= 3.0;
        assert_eq!(device.download(&exec.args().x), plain, "{at}");
    }
    assert!(matches!(exec.set_at(8), Err(Error::Range { lo: 64, .. })));
}

/// Rebuilding with another value yields the same graph.
#[test]
fn the_order_does_not_depend_on_the_value() {
    let device = alone();
    let built = |device: &Device, a, b| {
        let graph = two(&device.ctx, 16, a, b, device.zeros::<f32>(16)).expect("it builds");
        format!("{:?}", cuweave::__private::operations(&graph))
    };
    let first = built(&device, 0, 12);
    for (a, b) in [(0, 0), (12, 0), (4, 8), (5, 6)] {
        assert_eq!(built(&device, a, b), first);
    }
}

/// A setter does not affect a launch in flight.
#[test]
fn a_launch_in_flight_keeps_its_ranges() {
    let device = alone();
    let row = device.upload(&ramp(4));
    let graph = append(&device.ctx, 4, 8, 0, &row, device.zeros::<f32>(32), device.zeros::<f32>(4));
    let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
    for pos in 0..8 {
        exec.set_pos(pos).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
    }
    let expected: Vec<f32> = (0..32).map(|at| 2.0 * (at % 4) as f32).collect();
    assert_eq!(device.download(&exec.args().cache), expected);
}

/// Explicit order: launches on both sides of a moving bound, which are not ordered with each other.
#[cuweave::graph(order = "explicit")]
fn sides(n: u32, k: u32, x: &mut [f32; n]) {
    let front = scale[per_item(k)](&mut x[..k], 2.0, k);
    let back = scale[per_item(n - k)](&mut x[k..], 3.0, n - k);
    #[after(front, back)]
    scale[per_item(n)](&mut x, 10.0, n);
}

#[test]
fn explicit_order_holds_for_ranges_that_move() {
    let device = alone();
    let mut x = device.upload(&ramp(32));
    let graph = sides(&device.ctx, 32, 16, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut plain = ramp(32);
    for k in [16, 1, 31, 7] {
        device.schedule(u64::from(k));
        exec.set_k(k).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        plain[..k as usize].iter_mut().for_each(|x| *x *= 20.0);
        plain[k as usize..].iter_mut().for_each(|x| *x *= 30.0);
        assert_eq!(device.download(&exec.args().x), plain, "{k}");
    }
    // A grid without blocks; a bound beyond the end.
    assert!(exec.set_k(0).is_err() && exec.set_k(32).is_err() && exec.set_k(33).is_err());
    exec.launch(&device.stream).expect("the exec is as it was");
    drop(exec);
    device.nothing_reported();
}

/// A callee that gets two parts of one buffer, which its caller keeps disjoint.
#[cuweave::graph]
fn pair(a: &[f32; 4], b: &mut [f32; 4]) {
    axpy[per_item(4)](1.0, &a, &mut b, 4);
}

#[cuweave::graph]
fn neighbours(n: u32, k: u32, x: &mut [f32; n]) {
    pair(&x[..k], &mut x[k..]);
}

#[test]
fn the_parts_that_a_callee_is_given_stay_as_long_as_it_declares() {
    let device = alone();
    let mut x = device.upload(&ramp(16));
    let mut plain = ramp(16);
    let graph = neighbours(&device.ctx, 16, 8, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for k in [8, 4, 12] {
        exec.set_k(k).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        (0..4).for_each(|i| plain[k as usize + i] += plain[i]);
        assert_eq!(device.download(&exec.args().x), plain, "{k}");
    }
    for wrong in [3, 13, 17] {
        let error = exec.set_k(wrong).expect_err("too short for the callee");
        assert!(matches!(&error, Error::ViewRange { .. } | Error::Range { .. }), "{error}");
    }
    assert!(matches!(neighbours(&device.ctx, 16, 3, device.zeros::<f32>(16)), Err(Error::Extent { .. })));
}

fn not_13(at: u32) -> u32 {
    assert!(at != 13, "unlucky");
    at
}

static CALLS: AtomicU32 = AtomicU32::new(0);

fn once_more() -> u32 {
    CALLS.fetch_add(1, Ordering::Relaxed)
}

#[cuweave::graph]
fn unlucky(n: u32, at: u32, x: &mut [f32; n]) {
    scale[per_item(1)](&mut x[not_13(at)..not_13(at) + 1], 2.0, 1);
}

#[cuweave::graph]
fn inconstant(n: u32, at: u32, x: &mut [f32; n]) {
    scale[per_item(1)](&mut x[at + once_more()..at + once_more() + 1], 2.0, 1);
}

#[test]
fn expressions_that_panic_or_change_leave_the_exec_as_it_was() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[1.0_f32; 16]), device.upload(&[1.0_f32; 16]));
    let mut exec =
        unlucky(&device.ctx, 16, 2, &mut x).expect("it builds").instantiate().expect("it instantiates");
    assert!(catch_unwind(AssertUnwindSafe(|| exec.set_at(13))).is_err());
    assert_eq!(exec.args().at, 2);
    exec.launch(&device.stream).expect("it launches");
    exec.set_at(12).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let plain: Vec<f32> = (0..16).map(|at| if at == 2 || at == 12 { 2.0 } else { 1.0 }).collect();
    assert_eq!(device.download(&x), plain);

    let graph = inconstant(&device.ctx, 16, 2, &mut y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let error = exec.set_at(3).expect_err("the other summand is another one now");
    assert!(matches!(&error, Error::BuildAgain { at, .. } if at.name == "scale" && at.line > 0), "{error}");
    assert_eq!(exec.args().at, 2);
    exec.launch(&device.stream).expect("the exec is as it was");
    drop(exec);
    assert_eq!(device.download(&y)[2..4], [2.0, 1.0]);
}

/// Atomic updates that do not commute, on ranges that are disjoint at first.
#[cuweave::graph]
fn totals(n: u32, a: u32, b: u32, x: &mut [u32; n]) {
    add_all[per_item(4)](atomic(&mut x[a..a + 4]), 5, 4);
    max_u32[(1, 1)](atomic(&mut x[b..b + 1]), 7);
    add_all[per_item(4)](atomic(&mut x[a..a + 4]), 5, 4);
}

#[test]
fn atomics_that_do_not_commute_are_ordered_for_all_values() {
    let device = alone();
    let mut plain = [0u32; 16];
    let graph = totals(&device.ctx, 16, 0, 12, device.zeros::<u32>(16)).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for (seed, (a, b)) in [(0, 12), (4, 5), (8, 8), (6, 3), (6, 9)].into_iter().enumerate() {
        device.schedule(seed as u64 + 1);
        exec.set_a(a).expect("it is set");
        exec.set_b(b).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        plain[a as usize..][..4].iter_mut().for_each(|x| *x += 5);
        plain[b as usize] = plain[b as usize].max(7);
        plain[a as usize..][..4].iter_mut().for_each(|x| *x += 5);
        assert_eq!(device.download(&exec.args().x), plain, "{a} and {b}");
    }
    drop(exec);
    device.nothing_reported();
}

/// Temporaries with moving parts, in the arena of a pool.
#[cuweave::graph]
fn staged(n: u32, at: u32, x: &[f32; n], out: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    let u = alloc::<f32>(n);
    copy(&x, &mut t);
    scale[per_item(4)](&mut t[at..at + 4], 2.0, 4);
    copy(&t, &mut u);
    fill(&mut u[at + 1..at + 3], -1.0f32);
    copy(&u, &mut out);
}

#[test]
fn parts_of_temporaries_move_in_every_lowering() {
    let device = alone();
    let x = device.upload(&ramp(16));
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    for pooled in [false, true] {
        let graph = staged(&device.ctx, 16, 3, &x, device.zeros::<f32>(16)).expect("it builds");
        let exec = if pooled { graph.instantiate_in(&pool) } else { graph.instantiate() };
        let mut exec = exec.expect("it instantiates");
        for at in [3, 0, 12, 5] {
            exec.set_at(at).expect("it is set");
            exec.launch(&device.stream).expect("it launches");
            let (mut plain, at) = (ramp(16), at as usize);
            plain[at..at + 4].iter_mut().for_each(|x| *x *= 2.0);
            plain[at + 1..at + 3].fill(-1.0);
            assert_eq!(device.download(&exec.args().out), plain, "{at}");
        }
        assert!(matches!(exec.set_at(13), Err(Error::Range { lo: 13, hi: 17, .. })));
    }
}

/// Two parts that cover the whole only for some values; a later iteration reads the whole.
#[cuweave::graph]
fn whole(a: u32, b: u32, steps: u32, by: f32, out: &mut [f32; 12]) {
    let _t = alloc::<f32>(12);
    fill(&mut _t[..a], 1.0f32);
    fill(&mut _t[b..], 2.0f32);
    for i in 0..steps {
        if i == 2 {
            scale[per_item(12)](&mut _t, by, 12);
            copy(&_t, &mut out);
        } else {
            fill(&mut out, 0.0f32);
        }
    }
}

#[test]
fn a_graph_that_is_right_for_one_value_alone_keeps_it() {
    let device = alone();
    let graph = whole(&device.ctx, 8, 4, 3, 1.0, device.zeros::<f32>(12)).expect("it is right for these");
    let mut exec = graph.instantiate().expect("it instantiates");
    for error in [exec.set_a(9), exec.set_b(5)] {
        assert!(matches!(&error, Err(Error::BuildAgain { at, .. }) if at.line > 0), "{error:?}");
    }
    exec.set_by(3.0).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    let plain: Vec<f32> = (0..12).map(|at| if at < 4 { 3.0 } else { 6.0 }).collect();
    assert_eq!(device.download(&exec.args().out), plain);
    let error = whole(&device.ctx, 2, 4, 3, 1.0, device.zeros::<f32>(12)).expect_err("a part is not written");
    assert!(error.to_string().contains("CW101"), "{error}");
}
