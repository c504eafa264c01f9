//! Fused chains and memory. A chain needs the buffers of all its members at the same time. So it may only be as
//! long as fits into the plan without it, rounded up to a page.

use cuweave::__private::change_next_rules;
use cuweave::builder::{Builder, Launches};
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/fused.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn mixed(a: &[u32; n], b: &[u32; n], out: &mut [MaybeUninit<u32>; n], n: u32);
    }

    #[cuweave::kernels("tests/kernels/forwarded.ptx")]
    unsafe extern "ptx-kernel" {
        fn scaled(x: &mut [f32; n], a: f32, n: u32);
        fn added(x: &[f32; n], y: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
        fn waved(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    }

    /// In each iteration, `sum` goes through memory, since a setter may change `limit`. The other temporaries stay
    /// in registers if all of their launches are in one kernel.
    #[cuweave::graph]
    pub fn turns(n: u32, turns: u32, limit: u32, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
        let h = alloc::<f32>(n);
        waved[(n.div_ceil(64), 64)](&x, &mut h, n);
        for _ in 0..turns {
            let wave = alloc::<f32>(n);
            let sum = alloc::<f32>(n);
            let again = alloc::<f32>(n);
            let next = alloc::<f32>(n);
            waved[(n.div_ceil(64), 64)](&h, &mut wave, n);
            added[(n.div_ceil(64), 64)](&wave, &x, &mut sum, n);
            scaled[(n.div_ceil(64), 64)](&mut sum, 0.5, limit);
            waved[(n.div_ceil(64), 64)](&sum, &mut again, n);
            added[(n.div_ceil(64), 64)](&again, &h, &mut next, n);
            h = next;
        }
        waved[(n.div_ceil(64), 64)](&h, &mut out, n);
    }
}

/// Builds a chain of `steps` launches, each into a temporary of `n` elements, launches it, and returns its report.
/// Elements may stay in registers only if `forward`.
fn through(device: &Device, steps: u32, n: u32, launches: Option<Launches>, forward: bool) -> Report {
    let host: Vec<u32> = (0..n).collect();
    let (mut x, mut out) = (device.upload(&host), device.upload(&vec![0_u32; n as usize]));
    let mut b = Builder::new(&device.ctx);
    if let Some(launches) = launches {
        b.launches(launches);
    }
    let len = u64::from(n);
    let (x, last) = (b.exclusive("x", len, &mut x), b.exclusive("out", len, &mut out));
    let mut from = x;
    for step in 1..=steps {
        let to = if step == steps { last } else { b.alloc::<u32>(len) };
        let config = (n.div_ceil(64), 64);
        b.launch(kernels::mixed {}, config, (from.read(), x.read(), to.write(), n)).expect("a launch");
        from = to;
    }
    change_next_rules(move |_, _, rules| rules.allowed.forward &= forward);
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    exec.report()
}

fn planned(report: &Report) -> u64 {
    report.plan.as_ref().expect("temporaries").planned
}

#[test]
fn long_chains_over_large_buffers_take_no_more_memory_than_without_them() {
    let device = device();
    // 1 MiB per temporary.
    let n = 1 << 18;
    let written = through(&device, 12, n, Some(Launches::AsWritten), true);
    let fused = through(&device, 12, n, None, false);
    assert_eq!(planned(&written), 2 << 20);
    assert_eq!(planned(&fused), planned(&written), "{fused}");
    // The first two launches need two temporaries at once, and so do the last two.
    assert!(fused.kernels < written.kernels, "{fused}");
}

#[test]
fn chains_whose_elements_stay_in_registers_need_no_memory() {
    let device = device();
    let fused = through(&device, 12, 1 << 18, None, true);
    assert_eq!((fused.kernels, fused.planned_bytes), (1, 0), "{fused}");
    assert_eq!(fused.forwarded[0].elided.len(), 11, "{fused}");
    device.nothing_reported();
}

/// The plan has no temporaries, so any budget is large enough. As written, the launches need two temporaries.
#[test]
fn a_budget_counts_no_buffers_that_stay_in_registers() {
    let device = device();
    for budget in [0, 1, 4096] {
        let host: Vec<u32> = (0..64).collect();
        let (mut x, mut out) = (device.upload(&host), device.upload(&[0_u32; 64]));
        let mut b = Builder::new(&device.ctx);
        b.budget(budget);
        let (x, last) = (b.exclusive("x", 64_u64, &mut x), b.exclusive("out", 64_u64, &mut out));
        let (h, g) = (b.alloc::<u32>(64_u64), b.alloc::<u32>(64_u64));
        for (from, to) in [(x, h), (h, g), (g, last)] {
            b.launch(kernels::mixed {}, (1, 64), (from.read(), x.read(), to.write(), 64_u32))
                .expect("a launch");
        }
        let mut exec =
            b.build().expect("the plan without a budget is within it").instantiate().expect("an exec");
        exec.launch(&device.stream).expect("a launch");
        let verification = exec.verify(&device.stream).expect("a verification");
        assert!(verification.is_equal(), "{verification}");
        let report = exec.report();
        assert_eq!((report.kernels, report.planned_bytes), (1, 0), "{report}");
        let budgeted = report.budget.expect("a budget");
        assert_eq!((budgeted.bytes, budgeted.edges.len()), (budget, 0));
    }
    device.nothing_reported();
}

#[test]
fn small_buffers_are_fused_whatever_they_take() {
    let device = device();
    let fused = through(&device, 12, 1 << 10, None, false);
    assert_eq!(fused.kernels, 1, "{fused}");
}

/// Builds [`kernels::turns`] and launches it with each limit. Returns its report and the results.
fn turned(device: &Device, (n, turns): (u32, u32), fuse: bool, limits: &[u32]) -> (Report, Vec<Vec<f32>>) {
    let host: Vec<f32> = (0..n).map(|i| i as f32 * 1e-4 - 10.0).collect();
    let (x, mut out) = (device.upload(&host), device.upload(&vec![0.0_f32; n as usize]));
    change_next_rules(move |_, _, rules| rules.allowed.fuse &= fuse);
    let graph = kernels::turns(&device.ctx, n, turns, n, &x, &mut out).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    let results = limits.iter().map(|&limit| {
        exec.set_limit(limit).expect("the setter");
        exec.launch(&device.stream).expect("a launch");
        exec.synchronize().expect("the launch");
        device.download(&exec.args().out)
    });
    let results = results.collect();
    (exec.report(), results)
}

/// Pieces of a chain only need memory for buffers that go through memory or that another piece reads.
#[test]
fn chains_that_are_cut_for_memory_keep_the_rest_in_registers() {
    let device = device();
    // The last block has threads without elements, whose accesses depend on the limit.
    let n = (1 << 18) - 10;
    for (turns, kernels) in [(4, 1), (6, 2), (8, 4)] {
        let (written, _) = turned(&device, (n, turns), false, &[]);
        let (fused, _) = turned(&device, (n, turns), true, &[]);
        assert_eq!((planned(&written), written.kernels), (3 << 20, 5 * turns as usize + 2));
        assert!(planned(&fused) <= 4 << 20 && fused.kernels == kernels, "{fused}");
    }
    let limits = [n, n / 2 + 5];
    let (_, wanted) = turned(&device, (n, 5), false, &limits);
    let (fused, found) = turned(&device, (n, 5), true, &limits);
    assert_eq!((fused.kernels, planned(&fused)), (2, 4 << 20), "{fused}");
    assert_eq!(found, wanted);
    // If all blocks are full, nothing goes through memory.
    let limits = [1 << 14, 1000];
    let (_, wanted) = turned(&device, (1 << 14, 3), false, &limits);
    let (fused, found) = turned(&device, (1 << 14, 3), true, &limits);
    assert_eq!((fused.kernels, fused.planned_bytes), (1, 0), "{fused}");
    assert_eq!(found, wanted);
    device.nothing_reported();
}
