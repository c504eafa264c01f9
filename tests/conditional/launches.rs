//! Launches in bodies of device-side conditionals: batched, fused, overlapped and in lanes. The results must equal
//! those of the launches as written.

use cuweave::prelude::*;
use cuweave::report::{Report, UnbatchedReason};
use cuweave_testkit::device::{alone, simulated, simulated_alone};
use cuweave_testkit::faults::{GRAPH, LOAD, NOT_SUPPORTED};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: u32 = 40;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

/// A graph function in each form that launches can have.
macro_rules! in_every_form {
    ($name:ident $arguments:tt $body:tt) => {
        mod $name {
            use super::*;
            in_every_form!(@ as_written (launches = "as-written") $arguments $body);
            in_every_form!(@ batched (launches = "batched") $arguments $body);
            in_every_form!(@ overlapped (launches = "overlapped") $arguments $body);
            in_every_form!(@ fused (launches = "fused") $arguments $body);
            in_every_form!(@ everything (memory = "owned") $arguments $body);
            in_every_form!(@ in_nodes (memory = "nodes") $arguments $body);
        }
    };
    (@ $name:ident $options:tt $arguments:tt $body:tt) => {
        #[cuweave::graph $options]
        pub fn $name $arguments $body
    };
}

/// Runs all forms on several schedules and returns their reports. `launch` returns the report and the results of a
/// form.
macro_rules! each_form {
    ($name:ident, $device:ident, $expected:expr, |$form:ident| $launch:expr) => {{
        let expected = $expected;
        let mut reports: Vec<Report> = Vec::new();
        macro_rules! one {
            ($which:ident) => {
                for seed in 0..4 {
                    $device.schedule(seed);
                    use $name::$which as $form;
                    let (report, found) = $launch;
                    assert_eq!(found, expected, "{}, schedule {seed}: {report}", stringify!($which));
                    $device.nothing_reported();
                    if seed == 0 {
                        reports.push(report);
                    }
                }
            };
        }
        one!(as_written);
        one!(batched);
        one!(overlapped);
        one!(fused);
        one!(everything);
        one!(in_nodes);
        let reports: [Report; 6] = reports.try_into().expect("six forms");
        reports
    }};
}

in_every_form!(branches(n: u32, rows: u32, x: &mut [u32; rows * n], flag: &mut [u32; 1]) {
    #[at_most(3)]
    while flag {
        for i in 0..8u32 {
            let t = alloc::<u32>(n);
            mixed[per_item(n)](&x[i * n..(i + 1) * n], &mut t, 1, n);
            mix[per_item(n)](&mut t, 2 + i, n);
            mixed[per_item(n)](&t, &mut x[i * n..(i + 1) * n], 3, n);
        }
        count_down[(1, 1)](&mut flag);
    }
});

#[test]
fn branches_in_a_loop_become_a_launch_a_level() {
    let device = alone();
    for turns in [0u32, 1, 2, 5] {
        let value =
            |row: u32| (0..turns.min(3)).fold(7 + row, |x, _| [1, 2 + row, 3].into_iter().fold(x, step));
        let expected: Vec<u32> = (0..8 * N).map(|at| value(at / N)).collect();
        let [written, batched, overlapped, _, everything, in_nodes] =
            each_form!(branches, device, expected, |form| {
                let rows: Vec<u32> = (0..8 * N).map(|at| 7 + at / N).collect();
                let (mut x, mut flag) = (device.upload(&rows), device.upload(&[turns]));
                let graph = form(&device.ctx, N, 8, &mut x, &mut flag).expect("it builds");
                let report = graph.report();
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                (report, device.download(&x))
            });
        assert_eq!((written.kernels, written.batches.len(), written.overlapped), (25, 0, 0), "{written}");
        assert_eq!((batched.kernels, batched.batches.len()), (4, 3), "{batched}");
        assert!(batched.batches.iter().all(|batch| batch.len() == 8), "{batched}");
        assert!(batched.unbatched.is_empty(), "{batched}");
        assert_eq!(overlapped.overlapped, 16, "{overlapped}");
        for report in [everything, in_nodes] {
            assert!(report.kernels <= 4 && report.launches == 25, "{report}");
        }
    }
}

in_every_form!(beside(n: u32, x: &mut [u32; 4 * n], one: &[u32; 1], other: &[u32; 1]) {
    if one {
        mix[per_item(n)](&mut x[..n], 1, n);
        mix[per_item(n)](&mut x[n..2 * n], 2, n);
    }
    if other {
        mix[per_item(n)](&mut x[2 * n..3 * n], 3, n);
        mix[per_item(n)](&mut x[3 * n..], 4, n);
    }
});

/// All four launches start at the same time, but in two bodies: a single node would run all of them or none.
#[test]
fn launches_in_bodies_side_by_side_stay_apart() {
    let device = alone();
    for flags in [[0u32, 0], [0, 1], [1, 0], [1, 1]] {
        let value = |at: u32| if flags[at as usize / 2] > 0 { step(7, 1 + at) } else { 7 };
        let expected: Vec<u32> = (0..4 * N).map(|at| value(at / N)).collect();
        let [_, batched, ..] = each_form!(beside, device, expected, |form| {
            let mut x = device.upload(&[7u32; 4 * N as usize]);
            let [one, other] = flags.map(|flag| device.upload(&[flag]));
            let graph = form(&device.ctx, N, &mut x, &one, &other).expect("it builds");
            let report = graph.report();
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            (report, device.download(&x))
        });
        let members: Vec<usize> = batched.batches.iter().map(|batch| batch.len()).collect();
        assert_eq!(members, [2, 2], "{batched}");
    }
}

in_every_form!(chains_beside(n: u32, x: &mut [u32; 4 * n], one: &[u32; 1], other: &[u32; 1]) {
    if one {
        for i in 0..2u32 {
            mix[per_item(n)](&mut x[i * n..(i + 1) * n], 1 + i, n);
            mix[per_item(n)](&mut x[i * n..(i + 1) * n], 7, n);
        }
    }
    if other {
        for i in 2..4u32 {
            mix[per_item(n)](&mut x[i * n..(i + 1) * n], 1 + i, n);
            mix[per_item(n)](&mut x[i * n..(i + 1) * n], 7, n);
        }
    }
});

/// The same with chains of two launches: each body has its own stack.
#[test]
fn chains_in_bodies_side_by_side_stay_apart() {
    let device = alone();
    for flags in [[0u32, 0], [0, 1], [1, 0], [1, 1]] {
        let value = |at: u32| if flags[at as usize / 2] > 0 { step(step(7, 1 + at), 7) } else { 7 };
        let expected: Vec<u32> = (0..4 * N).map(|at| value(at / N)).collect();
        let [.., everything, _] = each_form!(chains_beside, device, expected, |form| {
            let mut x = device.upload(&[7u32; 4 * N as usize]);
            let [one, other] = flags.map(|flag| device.upload(&[flag]));
            let graph = form(&device.ctx, N, &mut x, &one, &other).expect("it builds");
            let report = graph.report();
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            (report, device.download(&x))
        });
        assert_eq!((everything.kernels, everything.launches), (2, 8), "{everything}");
    }
}

in_every_form!(chain(n: u32, x: &mut [u32; n], y: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        mix[per_item(n)](&mut x, 1, n);
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut t, 2, n);
        mixed[per_item(n)](&t, &mut y, 3, n);
        mix[per_item(n)](&mut y, 4, n);
    } else {
        mix[per_item(n)](&mut y, 5, n);
        mix[per_item(n)](&mut y, 6, n);
    }
    mix[per_item(n)](&mut y, 7, n);
});

#[test]
fn launches_one_after_another_in_an_arm_become_one() {
    let device = alone();
    for flag in [0u32, 1] {
        let x = step(7, 1);
        let y = match flag {
            0 => [5, 6, 7].into_iter().fold(9, step),
            _ => [2, 3, 4, 7].into_iter().fold(x, step),
        };
        let x = if flag == 0 { 7 } else { x };
        let [written, _, overlapped, fused, everything, _] =
            each_form!(chain, device, (vec![x; 40], vec![y; 40]), |form| {
                let (mut x, mut y) = (device.upload(&[7u32; 40]), device.upload(&[9u32; 40]));
                let mut flag = device.upload(&[flag]);
                let graph = form(&device.ctx, N, &mut x, &mut y, &mut flag).expect("it builds");
                let report = graph.report();
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                (report, (device.download(&x), device.download(&y)))
            });
        assert_eq!((written.kernels, written.fused.len()), (7, 0), "{written}");
        for report in [fused, everything] {
            // No chain extends beyond its arm.
            assert_eq!(report.kernels, 3, "{report}");
            let lengths: Vec<usize> = report.fused.iter().map(Vec::len).collect();
            assert_eq!(lengths, [4, 2], "{report}");
        }
        assert_eq!(overlapped.overlapped, 4, "{overlapped}");
    }
}

/// One kernel on disjoint buffers: in two arms, in two other bodies, and outside.
#[cuweave::graph]
fn separate(n: u32, x: &mut [u32; 6 * n], one: &[u32; 1], two: &[u32; 1], three: &[u32; 1]) {
    mix[per_item(n)](&mut x[..n], 1, n);
    if one {
        mix[per_item(n)](&mut x[n..2 * n], 2, n);
    } else {
        mix[per_item(n)](&mut x[2 * n..3 * n], 3, n);
    }
    if two {
        mix[per_item(n)](&mut x[3 * n..4 * n], 4, n);
    }
    match three {
        1 => {
            mix[per_item(n)](&mut x[4 * n..5 * n], 5, n);
            if one {
                mix[per_item(n)](&mut x[5 * n..], 6, n);
            }
        }
        _ => {}
    }
}

#[test]
fn a_batch_crosses_no_border() {
    let device = alone();
    let flags = [[0u32, 1, 1], [1, 0, 0], [1, 1, 1]];
    for (seed, [one, two, three]) in (0..).zip(flags) {
        device.schedule(seed);
        let mut x = device.upload(&[7u32; 6 * N as usize]);
        let [a, b, c] = [one, two, three].map(|flag| device.upload(&[flag]));
        let graph = separate(&device.ctx, N, &mut x, &a, &b, &c).expect("it builds");
        let report = graph.report();
        assert_eq!((report.launches, report.kernels, report.batches.len()), (6, 6, 0), "{report}");
        let reasons = report.unbatched.iter().flat_map(|apart| &apart.reasons);
        assert!(reasons.into_iter().any(|reason| *reason == UnbatchedReason::Bodies), "{report}");
        assert!(report.to_string().contains("different bodies"), "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let runs = [true, one == 1, one == 0, two == 1, three == 1, three == 1 && one == 1];
        let value = |(runs, by)| if runs { step(7, by) } else { 7 };
        let expected: Vec<u32> = runs.into_iter().zip(1..).map(value).collect();
        let found = device.download(&x);
        assert!((0..found.len()).all(|at| found[at] == expected[at / N as usize]), "{found:?}");
        device.nothing_reported();
    }
}

/// The launches after the two conditionals start at different times.
#[cuweave::graph]
fn behind(n: u32, x: &mut [u32; n], y: &mut [u32; n], one: &mut [u32; 1], two: &mut [u32; 1]) {
    while one {
        mix[per_item(n)](&mut x, 1, n);
        count_down[(1, 1)](&mut one);
    }
    while two {
        mix[per_item(n)](&mut y, 2, n);
        count_down[(1, 1)](&mut two);
    }
    mix[per_item(n)](&mut x, 3, n);
    mix[per_item(n)](&mut y, 4, n);
}

#[test]
fn a_launch_waits_for_no_other_loop() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[7u32; 40]), device.upload(&[8u32; 40]));
    let (mut one, mut two) = (device.upload(&[2u32]), device.upload(&[1u32]));
    let graph = behind(&device.ctx, N, &mut x, &mut y, &mut one, &mut two).expect("it builds");
    let report = graph.report();
    assert!(report.batches.is_empty(), "{report}");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x)[0], [1, 1, 3].into_iter().fold(7, step));
    assert_eq!(device.download(&y)[0], [2, 4].into_iter().fold(8, step));
    device.nothing_reported();
}

#[cuweave::graph]
fn settable(
    n: u32,
    by: u32,
    m: u32,
    x: &mut [u32; n],
    y: &mut [u32; n],
    z: &mut [u32; n],
    flag: &mut [u32; 1],
) {
    while flag {
        mix[per_item(n)](&mut x, by, n);
        mix[per_item(n)](&mut y, 1, n);
        mix[per_item(m)](&mut z[..m], by, m);
        mix[per_item(n)](&mut z, 2, n);
        count_down[(1, 1)](&mut flag);
    }
}

#[test]
fn setters_reach_batched_and_fused_launches_in_bodies() {
    let device = alone();
    let [mut x, mut y, mut z] = [7u32, 8, 9].map(|word| device.upload(&vec![word; N as usize]));
    let (mut other, mut flag) = (device.upload(&[10u32; 40]), device.upload(&[1u32]));
    {
        let graph = settable(&device.ctx, N, 3, 5, &mut x, &mut y, &mut z, &mut flag).expect("it builds");
        let report = graph.report();
        assert!(report.kernels < 5 && !(report.batches.is_empty() && report.fused.is_empty()), "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        exec.set_by(4).expect("a value");
        exec.set_m(17).expect("a bound");
        exec.launch(&device.stream).expect("it launches");
        exec.set_x(&mut other).expect("a buffer");
        exec.launch(&device.stream).expect("it launches");
    }
    // The first launch leaves the decision at 0.
    assert_eq!(device.download(&x)[0], step(7, 3));
    assert_eq!(device.download(&other)[0], 10);
    device.nothing_reported();
    let mut flag = device.upload(&[2u32]);
    let [mut x, mut y, mut z] = [7u32, 8, 9].map(|word| device.upload(&vec![word; N as usize]));
    {
        let graph = settable(&device.ctx, N, 3, 5, &mut x, &mut y, &mut z, &mut flag).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.set_by(4).expect("a value");
        exec.set_m(17).expect("a bound");
        exec.set_x(&mut other).expect("a buffer");
        exec.launch(&device.stream).expect("it launches");
    }
    let twice = |x: u32, steps: &[u32]| steps.iter().chain(steps).copied().fold(x, step);
    assert_eq!(device.download(&x)[0], 7);
    assert_eq!(device.download(&other), vec![twice(10, &[4]); 40]);
    assert_eq!(device.download(&y), vec![twice(8, &[1]); 40]);
    let z = device.download(&z);
    assert_eq!((z[0], z[16], z[17]), (twice(9, &[4, 2]), twice(9, &[4, 2]), twice(9, &[2])));
    device.nothing_reported();
}

/// Launches of different blocks, which cannot be batched.
#[cuweave::graph]
fn crowd(n: u32, x: &mut [u32; 32 * n], flag: &mut [u32; 1]) {
    while flag {
        for i in 0..32u32 {
            mix[(2, 32 + i)](&mut x[i * n..(i + 1) * n], i, n);
        }
        count_down[(1, 1)](&mut flag);
    }
}

#[test]
fn many_branches_in_a_body_stand_in_lanes() {
    let device = alone();
    for seed in 0..4 {
        device.schedule(seed);
        let (mut x, mut flag) = (device.upload(&[7u32; 32 * 40]), device.upload(&[2u32]));
        let graph = crowd(&device.ctx, N, &mut x, &mut flag).expect("it builds");
        let report = graph.report();
        assert!(report.serialized > 0 && !report.serialized_branches.is_empty(), "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected: Vec<u32> = (0..32 * N).map(|at| step(step(7, at / N), at / N)).collect();
        assert_eq!(device.download(&x), expected);
        device.nothing_reported();
    }
}

/// Every kind of conditional node, with launches that are merged in each body.
#[cuweave::graph]
fn everything(
    n: u32,
    by: u32,
    x: &mut [u32; 4 * n],
    y: &mut [u32; n],
    which: &[u32; 1],
    turns: &mut [u32; 1],
) {
    while turns {
        let h = alloc::<u32>(4 * n);
        for i in 0..4u32 {
            mixed[per_item(n)](&x[i * n..(i + 1) * n], &mut h[i * n..(i + 1) * n], by, n);
        }
        match which {
            0 => mix[per_item(n)](&mut h[..n], 1, n),
            1 | 5 => {
                mix[per_item(n)](&mut h[..n], 2, n);
                mix[per_item(n)](&mut h[n..2 * n], 2, n);
            }
            2 => {}
            _ => {
                mix[per_item(n)](&mut y, 3, n);
                mix[per_item(n)](&mut y, 4, n);
            }
        }
        if which {
            mix[per_item(n)](&mut y, 5, n);
        } else {
            mix[per_item(n)](&mut y, 6, n);
            mix[per_item(n)](&mut y, 7, n);
        }
        for i in 0..4u32 {
            mixed[per_item(n)](&h[i * n..(i + 1) * n], &mut x[i * n..(i + 1) * n], 8, n);
        }
        count_down[(1, 1)](&mut turns);
    }
}

/// Returns the elements of `x` and `y` after a launch.
fn meaning(by: u32, which: u32, turns: u32) -> ([u32; 4], u32) {
    let (mut x, mut y) = ([7u32; 4], 9);
    for _ in 0..turns {
        let mut h = x.map(|x| step(x, by));
        match which {
            0 => h[0] = step(h[0], 1),
            1 | 5 => h[..2].iter_mut().for_each(|h| *h = step(*h, 2)),
            2 => {}
            _ => y = step(step(y, 3), 4),
        }
        y = if which == 0 { step(step(y, 6), 7) } else { step(y, 5) };
        x = h.map(|h| step(h, 8));
    }
    (x, y)
}

#[test]
#[ignore = "run by the test below, with each version"]
fn has_the_nodes_of_its_version() {
    let device = alone();
    let version = std::env::var("CUWEAVE_SIM_VERSION").unwrap_or_default();
    // The loop, the arms of the `match`, and the arms of the `if`.
    let nodes = match version.as_str() {
        "12.4" => 1 + 3 + 2,
        "12.8" | "12.9" => 1 + 1 + 2,
        _ => 1 + 1 + 1,
    };
    for which in [0u32, 1, 2, 3, 5, u32::MAX] {
        for seed in 0..3 {
            device.schedule(seed);
            let (mut x, mut y) = (device.upload(&[7u32; 4 * 40]), device.upload(&[9u32; 40]));
            let (which_arm, mut turns) = (device.upload(&[which]), device.upload(&[2u32]));
            let graph =
                everything(&device.ctx, N, 3, &mut x, &mut y, &which_arm, &mut turns).expect("it builds");
            let report = graph.report();
            // A setter kernel for each statement, and one at the end of the loop body.
            assert_eq!((report.conditions, report.setters), (nodes, 4), "{version}: {report}");
            assert!(report.batches.len() >= 2, "{report}");
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            let (of_x, of_y) = meaning(3, which, 2);
            assert_eq!(device.download(&y), vec![of_y; 40], "{version}, {which}");
            let found = device.download(&x);
            assert!((0..found.len()).all(|at| found[at] == of_x[at / 40]), "{version}, {which}: {found:?}");
            device.nothing_reported();
        }
    }
}

#[test]
fn the_version_of_the_driver_decides_about_nodes() {
    if simulated().is_some() {
        for version in ["12.4", "12.8", "12.9", "13.0"] {
            let settings = [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_VERSION", version)];
            apart("launches::has_the_nodes_of_its_version", &settings);
        }
    }
}

/// Lets each call fail once: either the graph is built with the launches as written, or the error names the call.
/// If a setter fails, the exec is unchanged or broken, but never has wrong values.
#[test]
fn every_call_around_bodies_with_batches_may_fail() {
    let Some(device) = simulated_alone() else { return };
    let others =
        ["cuGraphConditionalHandleCreate", "cuGraphAddNode_v2", "cuGraphAddDependencies_v2", "cuGraphLaunch"];
    let mut as_written = 0;
    for call in GRAPH.iter().chain(LOAD).copied().chain(others) {
        for nth in 1..200 {
            let before = device.live();
            let (mut x, mut y) = (device.upload(&[7u32; 4 * 40]), device.upload(&[9u32; 40]));
            let (which, mut turns) = (device.upload(&[5u32]), device.upload(&[2u32]));
            cuweave_sim::inject_fault(call, nth, NOT_SUPPORTED).expect("the simulated driver");
            let ran = (|| {
                let graph = everything(&device.ctx, N, 3, &mut x, &mut y, &which, &mut turns)?;
                let mut exec = graph.instantiate()?;
                exec.set_by(4)?;
                let report = exec.report();
                exec.launch(&device.stream)?;
                exec.synchronize()?;
                Ok::<_, cuweave::Error>(report)
            })();
            let left = cuweave_sim::clear_faults().expect("the simulated driver");
            // The context keeps an error that was not returned to anyone.
            let _ = device.ctx.check_err();
            match &ran {
                Ok(report) => {
                    as_written += usize::from(report.batches.is_empty());
                    let (of_x, of_y) = meaning(4, 5, 2);
                    let found = (device.download(&x), device.download(&y));
                    assert!((0..160).all(|at| found.0[at] == of_x[at / 40]), "{call} {nth}: {found:?}");
                    assert_eq!(found.1, vec![of_y; 40], "{call} {nth}");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(call.trim_end_matches("_v2")), "{call} {nth}: {text}");
                }
            }
            drop((x, y, which, turns));
            assert_eq!(device.live().map(|live| live.graphs), before.map(|live| live.graphs), "{call} {nth}");
            if left > 0 {
                break;
            }
        }
    }
    assert!(as_written > 0);
    device.nothing_reported();
}
