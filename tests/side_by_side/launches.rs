//! Launches give the same results whether they are batched, overlapped, both, or as written. Setters, queries and
//! reports refer to the launches as written.

use cuweave::Graph;
use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp, simulated};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// A graph function in each form of launches.
macro_rules! in_every_form {
    ($name:ident $arguments:tt $body:tt) => {
        mod $name {
            use super::*;
            in_every_form!(@ as_written "as-written" $arguments $body);
            in_every_form!(@ batched "batched" $arguments $body);
            in_every_form!(@ overlapped "overlapped" $arguments $body);
            #[cuweave::graph]
            pub fn everything $arguments $body
        }
    };
    (@ $name:ident $launches:literal $arguments:tt $body:tt) => {
        #[cuweave::graph(launches = $launches)]
        pub fn $name $arguments $body
    };
}

/// The results of a form, and its report.
macro_rules! each_form {
    ($name:ident, |$form:ident| $run:expr) => {{
        let as_written = {
            use $name::as_written as $form;
            $run
        };
        let batched = {
            use $name::batched as $form;
            $run
        };
        let overlapped = {
            use $name::overlapped as $form;
            $run
        };
        let everything = {
            use $name::everything as $form;
            $run
        };
        assert_eq!(batched.0, as_written.0, "{}", batched.1);
        assert_eq!(overlapped.0, as_written.0, "{}", overlapped.1);
        assert_eq!(everything.0, as_written.0, "{}", everything.1);
        (as_written.0, [as_written.1, batched.1, overlapped.1, everything.1])
    }};
}

in_every_form!(branches(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    for _ in 0..8 {
        let t = alloc::<f32>(n);
        add[per_item(n)](&x, &x, &mut t, n);
        scale[per_item(n)](&mut t, 0.5, n);
        axpy[per_item(n)](1.0, &x, &mut t, n);
        axpy[per_item(n)](1.0, &t, &mut out, n);
    }
});

#[test]
fn branches_become_a_launch_a_level() {
    let device = device();
    let x = device.upload(&ramp(300));
    let (out, [written, batched, overlapped, everything]) = each_form!(branches, |form| {
        let mut out = device.zeros::<f32>(300);
        let mut exec = form(&device.ctx, 300, &x, &mut out).and_then(Graph::instantiate).expect("it builds");
        exec.launch(&device.stream).expect("it is launched");
        let report = exec.report();
        drop(exec);
        (device.download(&out), report)
    });
    assert_eq!(out, ramp(300).iter().map(|x| 16.0 * x).collect::<Vec<_>>());
    assert_eq!(
        (written.launches, written.kernels, written.batches.len(), written.overlapped),
        (32, 32, 0, 0)
    );
    // Three levels of eight, and eight sequential sums.
    assert_eq!((batched.launches, batched.kernels, batched.overlapped), (32, 11, 0), "{batched}");
    assert!(batched.batches.iter().all(|members| members.len() == 8), "{batched}");
    assert_eq!(batched.depth, written.depth);
    // Two edges in each branch, and the edge into the first sum; the other sums come after two kernels each. With
    // batches, every node except the first comes after a single one. Requires compute capability 9.0.
    let early = if overlapped.overlapped == 0 { 0 } else { 17 };
    assert_eq!((overlapped.kernels, overlapped.overlapped), (32, early), "{overlapped}");
    // The first branch with its sum, the other branches, and the other sums.
    assert_eq!((everything.kernels, everything.batches.len()), (3, 0), "{everything}");
    assert_eq!(everything.fused.iter().map(Vec::len).collect::<Vec<_>>(), [4, 21, 7], "{everything}");
    assert_eq!((everything.stacked.as_slice(), everything.depth), ([1, 7, 1].as_slice(), 2), "{everything}");
}

in_every_form!(unequal(n: u32, x: &mut [f32; 6 * n]) {
    let (a, rest) = x.split_at_mut(n);
    let (b, c) = rest.split_at_mut(2 * n);
    scale[per_item(n)](&mut a, 2.0, n);
    scale[per_item(2 * n)](&mut b, 3.0, 2 * n);
    scale[per_item(3 * n)](&mut c, 4.0, 3 * n);
});

#[test]
fn launches_of_unequal_grids_become_one() {
    let device = device();
    let (out, [_, batched, ..]) = each_form!(unequal, |form| {
        let mut x = device.upload(&ramp(6 * 700));
        let mut exec = form(&device.ctx, 700, &mut x).and_then(Graph::instantiate).expect("it builds");
        exec.launch(&device.stream).expect("it is launched");
        let report = exec.report();
        drop(exec);
        (device.download(&x), report)
    });
    let factor = |at: usize| [2.0, 3.0, 3.0, 4.0, 4.0, 4.0][at / 700];
    assert_eq!(out, ramp(6 * 700).iter().enumerate().map(|(at, x)| factor(at) * x).collect::<Vec<_>>());
    assert_eq!((batched.kernels, batched.batches.len()), (1, 1), "{batched}");
}

in_every_form!(setters(n: u32, a: f32, many: u32, x: &[f32; n], y: &[f32; n], out: &mut [f32; 4 * n]) {
    let (p, rest) = out.split_at_mut(n);
    let (q, rest) = rest.split_at_mut(n);
    let (r, s) = rest.split_at_mut(n);
    axpy[per_item(n)](a, &x, &mut p, n);
    axpy[per_item(n)](2.0, &y, &mut q, n);
    axpy[(many, 256)](3.0, &x, &mut r, n);
    axpy[per_item(n)](a, &y, &mut s, n);
});

#[test]
fn a_setter_changes_a_member() {
    let device = device();
    let n = 500;
    let (x, y, z) = (device.upload(&ramp(n)), device.upload(&vec![1.0; n]), device.upload(&vec![7.0; n]));
    let (out, [_, batched, ..]) = each_form!(setters, |form| {
        let mut out = device.zeros::<f32>(4 * n);
        let graph = form(&device.ctx, n as u32, 1.0, 2, &x, &y, &mut out).expect("it builds");
        let mut exec = graph.instantiate().expect("it is instantiated");
        exec.launch(&device.stream).expect("it is launched");
        exec.set_a(10.0).expect("a scalar of two members");
        exec.launch(&device.stream).expect("it is launched");
        exec.set_y(&z).expect("a buffer of two members");
        exec.launch(&device.stream).expect("it is launched");
        exec.set_many(4).expect("the grid of one member");
        exec.launch(&device.stream).expect("it is launched");
        let report = exec.report();
        drop(exec);
        (device.download(&out), report)
    });
    let all = |value: f32| vec![value; n];
    let times = |factor: f32| ramp(n).iter().map(|x| factor * x).collect::<Vec<_>>();
    // Four launches, each with the values that were set before it.
    let expected =
        [times(31.0), all(2.0 * (1.0 + 1.0 + 7.0 + 7.0)), times(12.0), all(1.0 + 10.0 + 70.0 + 70.0)];
    assert_eq!(out, expected.concat());
    assert_eq!((batched.kernels, batched.batches.len()), (1, 1), "{batched}");
}

in_every_form!(long(n: u32, x: &mut [f32; n]) {
    for _ in 0..40 {
        scale[per_item(n)](&mut x, 1.5, n);
    }
});

#[test]
fn a_chain_starts_early() {
    let device = device();
    let (_, [.., overlapped, _]) = each_form!(long, |form| {
        let mut x = device.upload(&ramp(40));
        let mut exec = form(&device.ctx, 40, &mut x).and_then(Graph::instantiate).expect("it builds");
        (0..3).for_each(|_| exec.launch(&device.stream).expect("it is launched"));
        let report = exec.report();
        drop(exec);
        (device.download(&x), report)
    });
    assert!([0, 39].contains(&overlapped.overlapped), "{overlapped}");
}

/// Eight branches with a temporary of 1,024 bytes each, in 2,048 bytes: two run at a time.
#[cuweave::graph(budget = 2048)]
fn tight(x: &[f32; 256], out: &mut [f32; 256]) {
    for _ in 0..8 {
        let t = alloc::<f32>(256);
        add[per_item(256)](&x, &x, &mut t, 256);
        scale[per_item(256)](&mut t, 0.5, 256);
        axpy[per_item(256)](1.0, &t, &mut out, 256);
    }
}

/// The same, with room for all.
#[cuweave::graph(budget = 8192)]
fn wide(x: &[f32; 256], out: &mut [f32; 256]) {
    for _ in 0..8 {
        let t = alloc::<f32>(256);
        add[per_item(256)](&x, &x, &mut t, 256);
        scale[per_item(256)](&mut t, 0.5, 256);
        axpy[per_item(256)](1.0, &t, &mut out, 256);
    }
}

#[test]
fn a_budget_comes_before_batches() {
    let device = device();
    let x = device.upload(&ramp(256));
    let expected: Vec<f32> = ramp(256).iter().map(|x| 8.0 * x).collect();
    let mut out = device.zeros::<f32>(256);
    let mut exec = tight(&device.ctx, &x, &mut out).and_then(Graph::instantiate).expect("it fits as written");
    exec.launch(&device.stream).expect("it is launched");
    let report = exec.report();
    drop(exec);
    assert_eq!(device.download(&out), expected);
    assert!(
        report.planned_bytes <= 2048 && report.batches.iter().all(|members| members.len() <= 2),
        "{report}"
    );

    cuweave::__private::change_next_rules(|_, _, rules| rules.tuning.chains.stacked = None);
    let mut out = device.zeros::<f32>(256);
    let mut exec = wide(&device.ctx, &x, &mut out).and_then(Graph::instantiate).expect("it fits");
    exec.launch(&device.stream).expect("it is launched");
    let report = exec.report();
    drop(exec);
    assert_eq!(device.download(&out), expected);
    assert!(report.planned_bytes <= 8192 && report.batches.len() == 2, "{report}");
}

/// Three launches that become one, with consecutive blocks. The grid of the first one can be set.
#[cuweave::graph(launches = "batched")]
fn parts(n: u32, many: u32, out: &mut [f32; 3 * n]) {
    let h = alloc::<f32>(3 * n);
    let (p, rest) = h.split_at_mut(n);
    let (q, r) = rest.split_at_mut(n);
    iota[(many, 256)](&mut p, 0.0, n);
    iota[per_item(n)](&mut q, 1.0, n);
    iota[per_item(n)](&mut r, 2.0, n);
    copy(&h, &mut out);
}

/// Returns the line of the nth launch of `parts`.
fn line_of(launch: usize) -> usize {
    let text = include_str!("launches.rs");
    let mut launches = text.lines().zip(1..).filter(|(line, _)| line.starts_with("    iota["));
    launches.nth(launch).expect("there are three").1
}

/// Launches `parts`, with the memory of the nth launch shifted by `bytes` and the grid of the first launch set to
/// `many`. Returns the reports.
fn reports_with(launch: usize, bytes: u64, many: Option<u32>) -> Option<Vec<cuweave_sim::Report>> {
    let device = simulated()?;
    let mut out = device.zeros::<f32>(3 * 200);
    cuweave::__private::change_next_plan(move |program, operations| {
        let mut launches = program.statements.enumerate().filter(|(_, statement)| &*statement.name == "iota");
        let (statement, _) = launches.nth(launch).expect("there are three");
        let access = operations.targets.first_of[statement];
        operations.targets.list[access].offset = bytes;
    });
    let mut exec =
        parts(&device.ctx, 200, 1, &mut out).expect("it builds").instantiate().expect("it instantiates");
    assert_eq!(exec.report().kernels, 1, "{}", exec.report());
    many.into_iter().for_each(|many| exec.set_many(many).expect("the grid of one member"));
    let launched = exec.launch(&device.stream).is_ok() && device.stream.synchronize().is_ok();
    assert!(!launched);
    std::mem::forget(exec);
    let reports = cuweave_sim::take_reports().expect("reports");
    println!("{reports:#?}");
    Some(reports)
}

/// Returns the name of a launch of `parts` in reports.
fn member(launch: usize) -> String {
    format!("`iota` (tests/side_by_side/launches.rs:{}, one of 3 launches in one)", line_of(launch))
}

#[test]
fn members_that_write_the_same_bytes_are_named() {
    apart("launches::with_members_that_write_the_same_bytes", &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_members_that_write_the_same_bytes() {
    // The second launch overwrites the last hundred numbers of the first.
    let Some(reports) = reports_with(1, 400, None) else { return };
    let races: Vec<_> = reports.iter().filter(|report| report.kind == "race").collect();
    assert_eq!(races.len(), 1);
    assert!(races[0].error != 0 && races[0].text.contains(&member(0)) && races[0].text.contains(&member(1)));
    assert!(reports.iter().all(|report| !report.text.contains(&member(2))));
}

#[test]
fn a_member_that_faults_is_named_after_a_grid_was_set() {
    apart("launches::with_a_member_that_faults", &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_a_member_that_faults() {
    // The block that belonged to the last launch now belongs to the first.
    let Some(reports) = reports_with(1, 1 << 40, Some(3)) else { return };
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, "illegal-address");
    assert!(reports[0].text.contains(&member(1)) && reports[0].text.contains("block (3, 0, 0)"));
}

/// Changed launch rules affect only the nodes of the next build, and no results.
#[test]
fn changed_rules_give_the_same_results() {
    let device = device();
    let x = device.upload(&ramp(300));
    let run = || {
        let mut out = device.zeros::<f32>(300);
        let mut exec = branches::everything(&device.ctx, 300, &x, &mut out)
            .and_then(Graph::instantiate)
            .expect("it builds");
        exec.launch(&device.stream).expect("it is launched");
        let report = exec.report();
        drop(exec);
        (device.download(&out), report.kernels, report.overlapped)
    };
    let (out, kernels, overlapped) = run();
    assert_eq!(kernels, 3);
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let apart = run();
    assert_eq!((&apart.0, apart.1), (&out, 11));
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.batches = false);
    let unbatched = run();
    assert_eq!(unbatched.0, out);
    assert_eq!(unbatched.1, 9, "each chain is one kernel");
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.overlap = false);
    assert_eq!(run(), (out.clone(), 3, 0));
    // An order that contradicts the program.
    cuweave::__private::change_next_rules(|checked, _, rules| {
        rules.added.extend(checked.edges().first().map(|&(from, to)| (to, from)));
    });
    let mut untouched = device.zeros::<f32>(300);
    assert!(branches::everything(&device.ctx, 300, &x, &mut untouched).is_err());
    assert_eq!(run(), (out, kernels, overlapped));
}

in_every_form!(projected(n: u32, x: &[f32; 8 * n], kept: &mut [f32; n]) {
    let z = alloc::<f32>(8 * n);
    let q = alloc::<f32>(8 * n);
    let k = alloc::<f32>(n);
    let v = alloc::<f32>(n);
    copy_to[per_item(8 * n)](&x, &mut z, 8 * n);
    add[per_item(8 * n)](&z, &x, &mut q, 8 * n);
    add[per_item(n)](&z[..n], &x[..n], &mut k, n);
    add[per_item(n)](&z[n..2 * n], &x[..n], &mut v, n);
    axpy[per_item(n)](1.0, &q[7 * n..], &mut k, n);
    axpy[per_item(n)](1.0, &k, &mut kept, n);
    axpy[per_item(n)](1.0, &v, &mut kept, n);
});

/// The successor of the shortest of three launches also comes after the successor of the longest.
#[test]
fn launches_that_delay_nothing_become_one() {
    let device = device();
    let x = device.upload(&ramp(8 * 300));
    let (kept, [_, batched, overlapped, everything]) = each_form!(projected, |form| {
        let mut kept = device.zeros::<f32>(300);
        let graph = form(&device.ctx, 300, &x, &mut kept).expect("it builds");
        let report = graph.report();
        let mut exec = graph.instantiate().expect("an exec");
        exec.launch(&device.stream).expect("it is launched");
        drop(exec);
        (device.download(&kept), report)
    });
    let x = ramp(8 * 300);
    let wanted = |i: usize| (2.0 * x[i] + 2.0 * x[2_100 + i]) + (x[300 + i] + x[i]);
    assert_eq!(kept, (0..300).map(wanted).collect::<Vec<_>>());
    for report in [batched, everything] {
        assert_eq!(report.batches.iter().map(Vec::len).collect::<Vec<_>>(), [3], "{report}");
        assert!(report.unbatched.is_empty(), "{report}");
    }
    assert!(overlapped.batches.is_empty(), "{overlapped}");
}

in_every_form!(in_front_of_a_join(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    let c = alloc::<f32>(n);
    let d = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut a, n);
    iota[per_item(n)](&mut b, 1.0, n);
    add[per_item(n)](&a, &x, &mut c, n);
    add[per_item(n)](&b, &x, &mut d, n);
    add[per_item(n)](&c, &d, &mut out, n);
});

/// Nothing is known about when their inputs are ready, and their join waits for both.
#[test]
fn launches_in_front_of_a_join_become_one() {
    let device = device();
    let x = device.upload(&ramp(300));
    let (out, [_, batched, _, everything]) = each_form!(in_front_of_a_join, |form| {
        let mut out = device.zeros::<f32>(300);
        let graph = form(&device.ctx, 300, &x, &mut out).expect("it builds");
        let report = graph.report();
        let mut exec = graph.instantiate().expect("an exec");
        exec.launch(&device.stream).expect("it is launched");
        drop(exec);
        (device.download(&out), report)
    });
    let x = ramp(300);
    let wanted = |i: usize| (x[i] + x[i]) + (1.0 + i as f32 + x[i]);
    assert_eq!(out, (0..300).map(wanted).collect::<Vec<_>>());
    for report in [batched, everything] {
        assert_eq!(report.batches.iter().map(Vec::len).collect::<Vec<_>>(), [2], "{report}");
    }
}

in_every_form!(side_by_side(n: u32, parts: &mut [f32; 4 * n]) {
    for i in 0..4 {
        for _ in 0..8 {
            scale[per_item(n)](&mut parts[i * n..(i + 1) * n], 0.5, n);
        }
    }
});

/// Parallel chains, all in one kernel.
#[test]
fn long_chains_are_one_kernel() {
    let device = device();
    let (parts, [written, batched, _, everything]) = each_form!(side_by_side, |form| {
        let mut parts = device.upload(&ramp(4 * 300));
        let graph = form(&device.ctx, 300, &mut parts).expect("it builds");
        let report = graph.report();
        let mut exec = graph.instantiate().expect("an exec");
        exec.launch(&device.stream).expect("it is launched");
        drop(exec);
        (device.download(&parts), report)
    });
    assert_eq!(parts, ramp(4 * 300).iter().map(|x| x / 256.0).collect::<Vec<_>>());
    assert_eq!((written.kernels, batched.kernels, batched.batches.len()), (32, 8, 8), "{batched}");
    assert_eq!((everything.kernels, everything.batches.len()), (1, 0), "{everything}");
    assert_eq!((everything.launches, everything.stacked.as_slice()), (32, [4].as_slice()), "{everything}");
}
