//! Moving bounds and the fast paths of the order: negative intermediate values, ranges that are looked up by their
//! bounds, and parts that are split again.

use cuweave::Error;
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// A bound with a summand that may be negative.
#[cuweave::graph]
fn shifted(n: u32, by: i32, x: &mut [f32; n]) {
    scale[per_item(2)](&mut x[by + 5..by + 7], 2.0, 2);
}

/// The order assumes that no term of a bound is negative. If a term is negative at build time, the bound has no
/// setter, whatever was built before.
#[test]
fn a_bound_that_is_negative_on_the_way_is_that_of_the_build() {
    let device = alone();
    for by in [3, -2, 3, -5, 0, -2] {
        let graph = shifted(&device.ctx, 16, by, device.upload(&[1.0_f32; 16])).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        assert_eq!(exec.set_by(4).is_ok(), by >= 0, "{by}");
        assert!(matches!(exec.set_by(-1), Err(Error::BuildAgain { .. })), "{by}");
        exec.launch(&device.stream).expect("it launches");
        let from = if by >= 0 { 9 } else { (by + 5) as usize };
        let plain: Vec<f32> =
            (0..16).map(|at| if (from..from + 2).contains(&at) { 2.0 } else { 1.0 }).collect();
        assert_eq!(device.download(&exec.args().x), plain, "{by}");
    }
    let refused = shifted(&device.ctx, 16, -6, device.zeros::<f32>(16)).expect_err("it begins before x");
    assert!(matches!(refused, Error::Size { .. }), "{refused}");
}

/// A few ranges that setters move, among so many fixed ranges that these are looked up by their bounds.
#[cuweave::graph]
fn crowded(rows: u32, at: u32, from: u32, seen: &mut [f32; 4], out: &mut [f32; 4 * rows]) {
    let t = alloc::<f32>(4 * rows);
    for i in 0..rows {
        set[per_item(4)](&mut t[4 * i..4 * i + 4], 1.0, 4);
    }
    scale[per_item(4)](&mut t[at..at + 4], 3.0, 4);
    copy(&t[from..from + 4], &mut seen);
    for i in 0..rows {
        scale[per_item(4)](&mut t[4 * i..4 * i + 4], 2.0, 4);
    }
    copy(&t, &mut out);
}

#[test]
fn a_range_moves_among_hundreds() {
    let device = alone();
    let (mut seen, mut out) = (device.zeros::<f32>(4), device.zeros::<f32>(800));
    let graph = crowded(&device.ctx, 200, 796, 0, &mut seen, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    for (seed, (at, from)) in (1..).zip([(796, 0), (0, 2), (398, 397), (2, 796), (4, 8), (796, 796)]) {
        device.schedule(seed);
        exec.set_at(at).expect("it is set");
        exec.set_from(from).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        let once = |one: u32| if (at..at + 4).contains(&one) { 3.0 } else { 1.0 };
        let plain: Vec<f32> = (from..from + 4).map(once).collect();
        assert_eq!(device.download(&exec.args().seen), plain, "{at} and {from}");
        let plain: Vec<f32> = (0..800).map(|one| 2.0 * once(one)).collect();
        assert_eq!(device.download(&exec.args().out), plain, "{at} and {from}");
    }
    drop(exec);
    device.nothing_reported();
}

/// Rows with two parts that are split off one after the other: the parts are disjoint in every iteration.
#[cuweave::graph(launches = "as-written")]
fn rows_of_parts(n: u32, rows: u32, x: &mut [f32; 4 * rows * n]) {
    let (one, rest) = x.split_at_mut(rows * n);
    let (other, rest) = rest.split_at_mut(rows * n);
    let (third, _fourth) = rest.split_at_mut(rows * n);
    for i in 0..rows {
        axpy[per_item(n)](2.0, &one[i * n..(i + 1) * n], &mut other[i * n..(i + 1) * n], n);
    }
    for i in (0..rows).rev() {
        axpy[per_item(n)](3.0, &other[i * n..(i + 1) * n], &mut third[i * n..(i + 1) * n], n);
    }
}

#[test]
fn parts_that_are_split_again_are_disjoint() {
    let device = alone();
    let (n, rows) = (8, 5);
    let ramp = ramp(4 * rows * n);
    let mut x = device.upload(&ramp);
    let graph = rows_of_parts(&device.ctx, n as u32, rows as u32, &mut x).expect("it builds");
    assert_eq!(graph.report().edges, rows, "each row of the third part waits for its row alone");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let (mut expected, part) = (ramp, rows * n);
    for at in 0..part {
        expected[part + at] += 2.0 * expected[at];
        expected[2 * part + at] += 3.0 * expected[part + at];
    }
    assert_eq!(device.download(&x), expected);
}
