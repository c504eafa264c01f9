//! Fused chains with setters: an argument that a setter may change is assumed to have any value, but the other
//! arguments of its launch are not.

use cuweave::__private::change_next_rules;
use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/forwarded.ptx")]
unsafe extern "ptx-kernel" {
    fn scaled(x: &mut [f32; n], a: f32, n: u32);
    fn added(x: &[f32; n], y: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn waved(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

/// The number of elements. The last block of 64 threads has threads that access nothing.
const N: u32 = 1000;

#[cuweave::graph]
fn factor(n: u32, a: f32, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    let sum = alloc::<f32>(n);
    added[(n.div_ceil(64), 64)](&x, &x, &mut sum, n);
    scaled[(n.div_ceil(64), 64)](&mut sum, a * 0.5, n);
    waved[(n.div_ceil(64), 64)](&sum, &mut out, n);
}

#[cuweave::graph]
fn called(n: u32, b: f32, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    let half = b / 2.0;
    factor(n, half, &x, &mut out);
}

#[cuweave::arguments]
struct Factor {
    n: u32,
    a: f32,
    x: &[f32; n],
}

#[cuweave::graph]
fn of_record(n: u32, by: Factor<'_>, out: &mut [MaybeUninit<f32>; n]) {
    let sum = alloc::<f32>(n);
    added[(n.div_ceil(64), 64)](&by.x, &by.x, &mut sum, n);
    scaled[(n.div_ceil(64), 64)](&mut sum, by.a, n);
    waved[(n.div_ceil(64), 64)](&sum, &mut out, n);
}

#[cuweave::graph]
fn limited(n: u32, limit: u32, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    let sum = alloc::<f32>(n);
    added[(n.div_ceil(64), 64)](&x, &x, &mut sum, n);
    scaled[(n.div_ceil(64), 64)](&mut sum, 0.5, limit);
    waved[(n.div_ceil(64), 64)](&sum, &mut out, n);
}

fn host() -> Vec<f32> {
    (0..N).map(|i| i as f32 * 0.25 - 40.0).collect()
}

/// Checks that a graph is one kernel. Returns the bytes of its temporaries.
fn planned(report: &Report) -> u64 {
    assert_eq!(report.kernels, 1, "{report}");
    report.planned_bytes
}

/// Returns the results of a kernel for each launch.
fn wanted(device: &Device, a: f32) -> Vec<f32> {
    let (x, mut out) = (device.upload(&host()), device.upload(&vec![0.0_f32; N as usize]));
    change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let graph = factor(&device.ctx, N, a, &x, &mut out).expect("a graph");
    assert_eq!(graph.report().kernels, 3);
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    device.download(&out)
}

macro_rules! follows {
    ($name:ident, |$x:ident, $a:ident| $graph:ident($($argument:expr),*), [$($set:tt)*], $half:expr) => {
        #[test]
        fn $name() {
            let device = device();
            let (of_x, mut out) = (device.upload(&host()), device.upload(&vec![0.0_f32; N as usize]));
            let ($x, $a) = (&of_x, 1.5);
            let graph = $graph(&device.ctx, N, $($argument,)* &mut out).expect("a graph");
            let mut exec = graph.instantiate().expect("an exec");
            assert_eq!(planned(&exec.report()), 0, "{}", exec.report());
            for a in [1.5_f32, -2.25, 0.0, 1e-3] {
                exec.$($set)*(a).expect("the setter");
                exec.launch(&device.stream).expect("a launch");
                exec.synchronize().expect("the launch");
                let found = device.download(&exec.args().out);
                let bits = |of: &[f32]| of.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
                assert_eq!(bits(&found), bits(&wanted(&device, a * $half)), "{a}");
            }
            drop(exec);
            device.nothing_reported();
        }
    };
}
follows!(a_factor_with_a_setter_needs_no_memory, |x, a| factor(a, x), [set_a], 1.0);
follows!(a_factor_of_a_caller_needs_no_memory, |x, a| called(a, x), [set_b], 0.5);
follows!(a_factor_of_a_record_needs_no_memory, |x, a| of_record(Factor::new(N, a, x)), [by().set_a], 2.0);

#[test]
fn a_limit_with_a_setter_goes_through_memory() {
    let device = device();
    let (x, mut out) = (device.upload(&host()), device.upload(&vec![0.0_f32; N as usize]));
    let mut exec = limited(&device.ctx, N, N, &x, &mut out).expect("a graph").instantiate().expect("an exec");
    // `added` stores the elements from the limit on.
    assert!(planned(&exec.report()) > 0, "{}", exec.report());
    let (whole, half) = (wanted(&device, 2.0), wanted(&device, 1.0));
    for limit in [N, 100, 0, 999] {
        exec.set_limit(limit).expect("the setter");
        exec.launch(&device.stream).expect("a launch");
        exec.synchronize().expect("the launch");
        let at = limit as usize;
        assert_eq!(device.download(&exec.args().out), [&half[..at], &whole[at..]].concat(), "{limit}");
    }
    drop(exec);
    device.nothing_reported();
}
