//! Launches before, between and after library calls are batched in the same way as around other statements. The
//! calls are unchanged.

use cudarc::driver::{DriverError, PushKernelArg};
use cuweave::__private::change_next_rules;
use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave_testkit::device::{Device, alone, simulated_alone};

use crate::library::{Library, forked, scaled, sum, threads};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// out = x, by another library function than `scaled`.
#[cuweave::call]
unsafe fn copied(
    stream: &CallStream,
    library: &Library,
    x: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    n: u32,
) -> Result<(), DriverError> {
    let copy = library.function("copy_to")?;
    unsafe { stream.launch_builder(&copy).arg(x).arg(out).arg(&n).launch(threads(n)) }.map(drop)
}

/// Row i of out is 3 x.
#[cuweave::graph]
fn behind(n: u32, count: u32, library: &Library, x: &[f32; n], out: &mut [f32; count * n]) {
    for i in 0..count {
        scaled(&library, &x, &mut out[i * n..(i + 1) * n], 4.0, n);
        scale[per_item(n)](&mut out[i * n..(i + 1) * n], 0.5, n);
        axpy[per_item(n)](1.0, &x, &mut out[i * n..(i + 1) * n], n);
    }
}

/// Row i of out is x + (1, 2, ..).
#[cuweave::graph]
fn front(n: u32, count: u32, library: &Library, x: &[f32; n], out: &mut [f32; count * n]) {
    for i in 0..count {
        let h = alloc::<f32>(n);
        iota[per_item(n)](&mut h, 1.0, n);
        sum(&library, &x, &h, &mut out[i * n..(i + 1) * n], n);
    }
}

/// Row i of out is 3 x, computed from call to call.
#[cuweave::graph]
fn between(n: u32, count: u32, library: &Library, x: &[f32; n], out: &mut [f32; count * n]) {
    for i in 0..count {
        let h = alloc::<f32>(n);
        sum(&library, &x, &x, &mut h, n);
        scale[per_item(n)](&mut h, 0.5, n);
        axpy[per_item(n)](1.0, &x, &mut h, n);
        sum(&library, &x, &h, &mut out[i * n..(i + 1) * n], n);
    }
}

/// a, b and c are 2 x. The calls are on separate lines, and one of them gets a part of its buffer.
#[cuweave::graph]
fn lines(n: u32, library: &Library, x: &[f32; n], a: &mut [f32; n], b: &mut [f32; n], c: &mut [f32; 2 * n]) {
    scaled(&library, &x, &mut a, 4.0, n);
    scaled(&library, &x, &mut b, 4.0, n);
    scaled(&library, &x, &mut c[n..2 * n], 4.0, n);
    scale[per_item(n)](&mut a, 0.5, n);
    scale[per_item(n)](&mut b, 0.5, n);
    scale[per_item(n)](&mut c[n..2 * n], 0.5, n);
}

/// Rows after calls of two functions, and after calls with `m` elements.
#[cuweave::graph]
fn unequal(
    n: u32,
    m: u32,
    library: &Library,
    x: &[f32; m],
    a: &mut [f32; 2 * n],
    b: &mut [f32; 2 * n],
    c: &mut [f32; 2 * m],
) {
    for i in 0..2 {
        scaled(&library, &x[0..n], &mut a[i * n..(i + 1) * n], 1.0, n);
        copied(&library, &x[0..n], &mut b[i * n..(i + 1) * n], n);
        scaled(&library, &x, &mut c[i * m..(i + 1) * m], 1.0, m);
        scale[per_item(n)](&mut a[i * n..(i + 1) * n], 2.0, n);
        scale[per_item(n)](&mut b[i * n..(i + 1) * n], 2.0, n);
        scale[per_item(n)](&mut c[i * m..i * m + n], 2.0, n);
    }
}

/// Builds, launches twice and drops a graph. Returns its report.
macro_rules! launched {
    ($device:expr, $graph:expr) => {{
        let graph = $graph.expect("it builds");
        let report = graph.report();
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&$device.stream).expect("it launches");
        exec.launch(&$device.stream).expect("it launches again");
        report
    }};
}

/// Returns the number of members of each batch, of kernel nodes, and of calls.
fn shape(report: &Report) -> (Vec<usize>, usize, usize) {
    (report.batches.iter().map(Vec::len).collect(), report.kernels, report.calls)
}

fn ramp(n: u32) -> Vec<f32> {
    (1..=n).map(|i| i as f32).collect()
}

fn rows(device: &Device, count: u32, row: impl Fn(f32) -> f32, out: &cudarc::driver::CudaSlice<f32>, n: u32) {
    let row: Vec<f32> = ramp(n).into_iter().map(row).collect();
    assert_eq!(device.download(out), row.repeat(count as usize));
}

#[test]
fn launches_around_calls_are_batched() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let n = 70;
    let x = device.upload(&ramp(n));
    for count in [2, 8, 16] {
        let many = count as usize;
        let mut out = device.zeros::<f32>((count * n) as usize);
        let report = launched!(device, behind(&device.ctx, n, count, &library, &x, &mut out));
        rows(&device, count, |x| 3.0 * x, &out, n);
        assert_eq!((shape(&report), &report.stacked[..]), ((vec![], 1, many), &[many][..]), "{report}");
        let report = launched!(device, front(&device.ctx, n, count, &library, &x, &mut out));
        rows(&device, count, |x| 2.0 * x, &out, n);
        assert_eq!(shape(&report), (vec![many], 1, many), "{report}");
        // Two batches would join the calls only to fork into as many again.
        change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        let report = launched!(device, between(&device.ctx, n, count, &library, &x, &mut out));
        rows(&device, count, |x| 3.0 * x, &out, n);
        assert_eq!(shape(&report), (Vec::new(), 2 * many, 2 * many), "{report}");
        change_next_rules(|_, _, rules| (rules.allowed.fuse, rules.tuning.between_calls) = (false, 0));
        let report = launched!(device, between(&device.ctx, n, count, &library, &x, &mut out));
        rows(&device, count, |x| 3.0 * x, &out, n);
        assert_eq!(shape(&report), (vec![many; 2], 2, 2 * many), "{report}");
    }
}

#[test]
fn calls_of_one_function_last_equally_long_wherever_they_stand() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let n = 33;
    let x = device.upload(&ramp(n));
    let [mut a, mut b, mut c] = [n, n, 2 * n].map(|len| device.zeros::<f32>(len as usize));
    let report = launched!(device, lines(&device.ctx, n, &library, &x, &mut a, &mut b, &mut c));
    assert_eq!(shape(&report), (vec![3], 1, 3), "{report}");
    rows(&device, 1, |x| 2.0 * x, &a, n);
    rows(&device, 1, |x| 2.0 * x, &b, n);
    let doubled = ramp(n).into_iter().map(|x| 2.0 * x);
    assert_eq!(device.download(&c), vec![0.0; n as usize].into_iter().chain(doubled).collect::<Vec<_>>());
}

/// If one of two calls may take longer, the launches after them do not wait for each other.
#[test]
fn launches_behind_different_calls_are_no_batch() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let (n, m) = (32, 64);
    let x = device.upload(&ramp(m));
    let [mut a, mut b, mut c] = [2 * n, 2 * n, 2 * m].map(|len| device.zeros::<f32>(len as usize));
    let report = launched!(device, unequal(&device.ctx, n, m, &library, &x, &mut a, &mut b, &mut c));
    assert_eq!(shape(&report), (vec![2; 3], 3, 6), "{report}");
    rows(&device, 2, |x| 2.0 * x, &a, n);
    rows(&device, 2, |x| 2.0 * x, &b, n);
    let row = ramp(m).into_iter().map(|x| if x <= 32.0 { 2.0 * x } else { x });
    assert_eq!(device.download(&c), row.clone().chain(row).collect::<Vec<_>>());
}

/// `steps` statements on each of `count` rows, chosen by the digits of `code`, and the sum of the rows.
#[cuweave::graph]
fn random(
    n: u32,
    steps: u32,
    count: u32,
    code: u64,
    library: &Library,
    x: &mut [f32; count * n],
    out: &mut [f32; n],
) {
    for i in 0..count {
        for step in 0..steps {
            match (code >> (step * 3)) % 8 {
                0 | 1 | 2 => scale[per_item(n)](&mut x[i * n..(i + 1) * n], 2.0, n),
                3 | 4 => {
                    let h = alloc::<f32>(n);
                    iota[per_item(n)](&mut h, 1.0, n);
                    axpy[per_item(n)](-1.0, &h, &mut x[i * n..(i + 1) * n], n);
                }
                5 => {
                    let h = alloc::<f32>(n);
                    scaled(&library, &x[i * n..(i + 1) * n], &mut h, 0.5, n);
                    copy(&h, &mut x[i * n..(i + 1) * n]);
                }
                6 => {
                    let h = alloc::<f32>(n);
                    sum(&library, &x[i * n..(i + 1) * n], &x[i * n..(i + 1) * n], &mut h, n);
                    axpy[per_item(n)](-1.0, &h, &mut x[i * n..(i + 1) * n], n);
                }
                _ => {
                    let pos = alloc::<f32>(n);
                    let neg = alloc::<f32>(n);
                    forked(&library, &x[i * n..(i + 1) * n], &mut pos, &mut neg, n);
                    add[per_item(n)](&pos, &neg, &mut x[i * n..(i + 1) * n], n);
                }
            }
        }
    }
    fill(&mut out, 0.0);
    for i in 0..count {
        axpy[per_item(n)](1.0, &x[i * n..(i + 1) * n], &mut out, n);
    }
}

/// Returns an element of a row, in plain Rust.
fn plain(steps: u32, code: u64, at: u32, mut x: f32) -> f32 {
    for step in 0..steps {
        x = match (code >> (step * 3)) % 8 {
            0..=2 => 2.0 * x,
            3 | 4 => x - (at + 1) as f32,
            5 => 0.5 * x,
            6 => -x,
            _ => 2.0 * x,
        };
    }
    x
}

#[test]
fn random_programs_of_batches_and_calls_on_random_schedules() {
    let Some(device) = simulated_alone() else { return };
    let library = Library::new(&device.ctx);
    let mut code = 0x2545_f491_4f6c_dd1d_u64;
    let (mut batched, mut calls) = (0, 0);
    for turn in 0..48u64 {
        code = code.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (n, steps, count) = (8u32, 1 + (turn % 7) as u32, 2 + (turn % 5) as u32);
        let code = code >> 20;
        let start: Vec<f32> = (0..count * n).map(|at| (at / n + at % n) as f32).collect();
        let (mut x, mut out) = (device.upload(&start), device.zeros::<f32>(n as usize));
        cuweave_sim::set_seed(turn).expect("the simulated driver");
        let graph = random(&device.ctx, n, steps, count, code, &library, &mut x, &mut out);
        let graph = graph.expect("it builds");
        let report = graph.report();
        batched += report.launches - report.kernels;
        calls += report.calls;
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected = |at: usize| plain(steps, code, at as u32 % n, start[at]);
        let rows: Vec<f32> = (0..start.len()).map(expected).collect();
        assert_eq!(device.download(&x), rows, "{turn}: {code:#x}");
        let sums = (0..n as usize).map(|at| rows.iter().skip(at).step_by(n as usize).sum::<f32>());
        assert_eq!(device.download(&out), sums.collect::<Vec<_>>(), "{turn}: {code:#x}");
    }
    println!("{batched} launches fewer, {calls} calls");
    assert!(batched > 100 && calls > 100, "{batched} launches fewer, {calls} calls");
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert!(reports.is_empty(), "{reports:?}");
}
