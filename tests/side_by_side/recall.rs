//! Repeated builds of one function. Results of an earlier build are reused only where the user's expressions return
//! the same values as then.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// Doubles x in the iterations before `k`, triples it in the others, and does both in iteration `last`.
#[cuweave::graph]
fn turns(n: u32, count: u32, k: u32, last: u32, x: &mut [f32; n]) {
    for i in 0..count {
        if i < k {
            scale[per_item(n)](&mut x, 2.0, n);
        } else {
            scale[per_item(n)](&mut x, 3.0, n);
        }
        if i == last {
            scale[per_item(n)](&mut x, 3.0, n);
        }
    }
}

/// The values of these builds agree up to iterations in the middle, and for some of them completely.
#[test]
fn an_answer_in_the_middle_tells_builds_apart() {
    let device = device();
    for (count, k, last) in
        [(4, 2, 9), (4, 3, 9), (4, 2, 3), (4, 2, 9), (5, 2, 9), (4, 3, 9), (0, 2, 9), (4, 0, 0), (4, 2, 3)]
    {
        let mut x = device.upload(&[1.0_f32; 8]);
        let graph = turns(&device.ctx, 8, count, k, last, &mut x).expect("it builds");
        let thrice = count.saturating_sub(k) + u32::from(last < count);
        assert_eq!(graph.report().launches as u32, count.min(k) + thrice, "{count} {k} {last}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected = 2_f32.powi(count.min(k) as i32) * 3_f32.powi(thrice as i32);
        assert_eq!(device.download(&x), [expected; 8], "{count} {k} {last}");
    }
}

/// Scales rows of x. The row of each iteration is a user expression: a hexadecimal digit of `rows`. The choice
/// fixes `rows` at build time, so the rows are compared as numbers.
#[cuweave::graph(launches = "as-written")]
fn picked(n: u32, rows: u32, x: &mut [f32; 4 * n]) {
    for i in 0..3 {
        let row = rows >> (4 * i) & 15;
        if rows > 0 {
            scale[per_item(n)](&mut x[row * n..(row + 1) * n], 2.0, n);
        }
    }
}

/// Launches on rows have edges where rows are equal, and no edges come from an earlier build with other rows.
#[test]
fn bounds_of_expressions_tell_builds_apart() {
    let device = device();
    for (rows, edges) in [(0x210, 0), (0x110, 1), (0x333, 2), (0x210, 0), (0x010, 1), (0x333, 2)] {
        let mut x = device.upload(&[1.0_f32; 32]);
        let graph = picked(&device.ctx, 8, rows, &mut x).expect("it builds");
        assert_eq!(graph.report().edges, edges, "{rows:#x}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let values = device.download(&x);
        for row in 0..4 {
            let times = (0..3).filter(|i| rows >> (4 * i) & 15 == row as u32).count();
            assert_eq!(values[8 * row], 2_f32.powi(times as i32), "{rows:#x}, row {row}");
        }
    }
    // A row outside of x is refused, also between valid builds.
    let mut x = device.zeros::<f32>(32);
    for rows in [0x210, 0x410, 0x210] {
        assert_eq!(picked(&device.ctx, 8, rows, &mut x).is_ok(), rows < 0x400, "{rows:#x}");
    }
}

/// Like `picked`, with a setter for `rows`.
#[cuweave::graph(launches = "as-written")]
fn moved(n: u32, rows: u32, x: &mut [f32; 4 * n]) {
    for i in 0..3 {
        let row = rows >> (4 * i) & 15;
        scale[per_item(n)](&mut x[row * n..(row + 1) * n], 2.0, n);
    }
}

/// Builds with different rows share the order, but nothing that depends on the rows. A setter sets rows that no
/// build had.
#[test]
fn bounds_that_move_are_those_of_the_build() {
    let device = device();
    for rows in [0x210, 0x110, 0x333, 0x210, 0x010, 0x333] {
        let graph = moved(&device.ctx, 8, rows, device.upload(&[1.0_f32; 32])).expect("it builds");
        assert_eq!(graph.report().edges, 2, "{rows:#x}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        exec.set_rows(0x132).expect("it is set");
        exec.launch(&device.stream).expect("it launches");
        assert!(matches!(exec.set_rows(0x410), Err(cuweave::Error::Range { lo: 32, hi: 40, .. })));
        let values = device.download(&exec.args().x);
        for row in 0..4 {
            let times = (0..3).flat_map(|i| [rows >> (4 * i) & 15, 0x132 >> (4 * i) & 15]);
            let times = times.filter(|&other| other == row as u32).count();
            assert_eq!(values[8 * row], 2_f32.powi(times as i32), "{rows:#x}, row {row}");
        }
    }
}

/// Every launch adds x to its row of y.
#[cuweave::graph(launches = "as-written")]
fn many(n: u32, count: u32, x: &[f32; n], y: &mut [f32; n * count]) {
    for _ in 0..2 {
        for i in 0..count {
            axpy[per_item(n)](1.0, &x, &mut y[i * n..(i + 1) * n], n);
        }
    }
}

/// Many rows of one buffer are looked up in the index, and each is ordered only after the same row.
#[test]
fn hundreds_of_rows_are_ordered_one_by_one() {
    let device = device();
    let x = device.upload(&[1.0_f32; 4]);
    for count in [3_u32, 400, 3, 400] {
        let mut y = device.zeros::<f32>(4 * count as usize);
        let graph = many(&device.ctx, 4, count, &x, &mut y).expect("it builds");
        let report = graph.report();
        assert_eq!((report.launches, report.edges), (2 * count as usize, count as usize));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert!(device.download(&y).iter().all(|&value| value == 2.0));
    }
}
