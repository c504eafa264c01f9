//! Failing calls of the driver while sizes become 0 or cease to be 0, and schedules around disabled nodes.

use cuweave::Buffer;
use cuweave::prelude::*;
use cuweave_testkit::device::{ramp, simulated_alone};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

const LEN: usize = 48;

/// The fill, the launches and the copy of `n` elements stand between statements over all of y.
#[cuweave::graph]
fn steps(
    #[at_least(0)]
    #[at_most(40)]
    n: u32,
    a: f32,
    x: &[f32; 48],
    y: &mut [f32; 48],
) {
    let h = alloc::<f32>(48);
    fill(&mut h, 1.0);
    fill(&mut h[..n], 2.0);
    axpy[per_item(48)](a, &h, &mut y, 48);
    copy(&x[..n], &mut h[..n]);
    scale[per_item(n)](&mut h[..n], a, n);
    axpy[per_item(48)](1.0, &h, &mut y, 48);
}

/// Returns what a launch adds to an element of y.
fn added(n: usize, a: f32, at: usize) -> f32 {
    if at < n { 2.0 * a + a * ramp(LEN)[at] } else { a + 1.0 }
}

const CALLS: [&str; 4] = [
    "cuGraphNodeSetEnabled",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphExecMemcpyNodeSetParams",
    "cuGraphExecMemsetNodeSetParams",
];

#[test]
fn an_edit_that_fails_leaves_nodes_as_they_were() {
    let Some(device) = simulated_alone() else { return };
    let x = device.upload(&ramp(LEN));
    let y = Buffer::<f32>::zeros(&device.stream, LEN).expect("a buffer");
    let mut exec = steps(&device.ctx, 0, 2.0, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0f32; LEN];
    let mut run = |exec: &mut steps::Exec<'_>, n: usize, a: f32, text: &str| {
        exec.launch(&device.stream).expect("it runs");
        expected.iter_mut().enumerate().for_each(|(at, y)| *y += added(n, a, at));
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{text}");
    };
    run(&mut exec, 0, 2.0, "the first value");
    let (mut n, mut a) = (0, 2.0);
    for call in CALLS {
        let mut failed = 0;
        for (nth, next) in (1..5).flat_map(|nth| [(nth, 9), (nth, 0), (nth, 30)]) {
            cuweave_sim::inject_fault(call, nth, 2).expect("the simulated driver");
            let edited = exec.edit(|edit| {
                edit.set_n(next)?;
                edit.set_a(a + 1.0)
            });
            let left = cuweave_sim::clear_faults().expect("the simulated driver");
            assert_eq!(edited.is_err(), left == 0, "{call}: a failure is told");
            failed += 1 - left;
            match edited {
                Ok(()) => (n, a) = (next as usize, a + 1.0),
                Err(error) => assert!(error.to_string().contains("OUT_OF_MEMORY"), "{error}"),
            }
            run(&mut exec, n, a, call);
        }
        assert!(failed > 0, "{call} was not called");
    }
    device.nothing_reported();
}

#[test]
fn no_schedule_runs_statements_before_what_precedes_a_disabled_node() {
    let Some(device) = simulated_alone() else { return };
    let x = device.upload(&ramp(LEN));
    for seed in 0..20 {
        device.schedule(seed);
        let y = Buffer::<f32>::zeros(&device.stream, LEN).expect("a buffer");
        let mut exec = steps(&device.ctx, 0, 2.0, &x, &y).expect("it builds").instantiate().expect("an exec");
        let mut expected = vec![0.0f32; LEN];
        for n in [0usize, 40, 0, 7] {
            exec.set_n(n as u32).expect("it is set");
            exec.launch(&device.stream).expect("it runs");
            expected.iter_mut().enumerate().for_each(|(at, y)| *y += added(n, 2.0, at));
            assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{seed}: {n}");
        }
    }
    device.nothing_reported();
}
