//! The width of a graph: `#[graph(width = ..)]`, the builder's `width`, and the default.

use cudarc::driver::CudaSlice;
use cuweave::builder::{Builder, Exec, Handle, Launches};
use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device, ramp};
use cuweave_testkit::random::Random;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

const N: u32 = 32;

/// 40 branches of a copy, a launch and a fill, and a statement after all of them.
#[cuweave::graph(width = 2 * w, launches = "as-written")]
fn branches(w: u32, n: u32, x: &[f32; n], out: &mut [f32; 40 * n]) {
    for i in 0..40 {
        copy(&x, &mut out[i * n..(i + 1) * n]);
        scale[per_item(n)](&mut out[i * n..(i + 1) * n], 2.0, n);
        fill(&mut out[i * n..i * n + 1], 7.0);
    }
    scale[per_item(40 * n)](&mut out, 0.5, 40 * n);
}

/// Sets the options that are given.
fn options(b: &mut Builder<'_>, width: Option<u32>, launches: Option<Launches>) {
    if let Some(width) = width {
        b.width(width);
    }
    if let Some(launches) = launches {
        b.launches(launches);
    }
}

/// The same by a builder.
fn built(device: &Device, width: Option<u32>, launches: Option<Launches>) -> (Exec<'static>, Report, Handle) {
    let mut b = Builder::with_name(&device.ctx, "branches");
    options(&mut b, width, launches);
    let x = b.shared("x", N, device.upload(&ramp(N as usize)));
    let out = b.exclusive("out", 40 * N, device.zeros::<f32>(40 * N as usize));
    for i in 0..40 {
        let own = out.range(i * N, (i + 1) * N);
        b.copy(&x, own.write()).expect("a copy");
        b.launch(scale {}, per_item(N), (own.write(), 2.0, N)).expect("a launch");
        b.fill(out.range(i * N, i * N + 1).write(), 7.0_f32).expect("a fill");
    }
    b.launch(scale {}, per_item(40 * N), (out.write(), 0.5, 40 * N)).expect("a launch");
    let graph = b.build().expect("a graph");
    let report = graph.report();
    (graph.instantiate().expect("an exec"), report, out)
}

fn expected() -> Vec<f32> {
    let mut row = ramp(N as usize);
    row[0] = 3.5;
    row.repeat(40)
}

/// Nodes, edges, width and depth.
fn counts(report: &Report) -> [usize; 4] {
    [report.nodes(), report.edges, report.width, report.depth]
}

/// Branches stay whole and in few lanes: one edge each, and fewer into the join.
#[test]
fn branches_are_put_in_sequence() {
    let device = device();
    let as_written = Some(Launches::AsWritten);
    // 80 edges inside of the branches, one to each branch that is not the first of its lane, and one from each lane.
    for (width, edges, depth) in [(2, 80 + 38 + 2, 61), (6, 80 + 34 + 6, 22), (40, 120, 4), (64, 120, 4)] {
        let wanted = [121, edges, width.min(40), depth];
        let (mut exec, report, out) = built(&device, Some(width as u32), as_written);
        assert_eq!(counts(&report), wanted, "{report}");
        assert_eq!(report.serialized, 40 - width.min(40));
        exec.launch(&device.stream).expect("a launch");
        let out: CudaSlice<f32> = exec.into_args().take(out).expect("an owned slice");
        assert_eq!(device.download(&out), expected());

        let (x, out) = (device.upload(&ramp(N as usize)), device.zeros::<f32>(40 * N as usize));
        let graph = branches(&device.ctx, width as u32 / 2, N, x, out).expect("a graph");
        assert_eq!(counts(&graph.report()), wanted);
        let mut exec = graph.instantiate().expect("an exec");
        exec.launch(&device.stream).expect("a launch");
        assert_eq!(device.download(&exec.into_args().out), expected());
    }
    let (_, report, _) = built(&device, None, as_written);
    assert_eq!((report.width, report.serialized), (40, 0));
}

/// The branches that are put in sequence are listed like those of other lanes.
#[test]
fn the_report_lists_the_branches() {
    let device = device();
    let (_, report, _) = built(&device, Some(3), None);
    let listed: usize = report.serialized_branches.iter().map(|branch| branch.times).sum();
    assert!(report.width <= 3 && report.serialized > 0, "{report}");
    assert_eq!(listed, report.serialized);
}

/// Fills that gain nothing from more branches than take 2 MiB of the driver's memory, on a device that was measured.
#[test]
fn the_default_is_bounded() {
    let device = device();
    let report = |count: u32| {
        let mut b = Builder::new(&device.ctx);
        let out = b.exclusive("out", count, device.zeros::<f32>(count as usize));
        for i in 0..count {
            b.fill(out.range(i, i + 1).write(), 1.0_f32).expect("a fill");
        }
        b.build().expect("a graph").report()
    };
    let measured = device.ctx.compute_capability().is_ok_and(|capability| capability == (9, 0));
    let bound = if measured { 19 } else { 128 };
    let few = report(bound as u32);
    assert_eq!((few.width, few.edges), (bound, 0));
    let many = report(300);
    assert_eq!((many.width, many.edges, many.serialized), (bound, 300 - bound, 300 - bound));
}

/// Each body has its own lanes, and a conditional is one node of the graph around it.
#[test]
fn bodies_have_their_own_lanes() {
    let device = device();
    let mut b = Builder::new(&device.ctx);
    b.width(2_u32).launches(Launches::AsWritten);
    let flags = b.exclusive("flags", 4, device.upload(&[1_u32, 0, 1, 1]));
    let out = b.exclusive("out", 4 * 8, device.zeros::<f32>(32));
    for i in 0..4_u32 {
        let flag = flags.range(i, i + 1);
        b.if_else(
            &flag,
            |b| {
                (0..8)
                    .try_for_each(|k| b.fill(out.range(8 * i + k, 8 * i + k + 1).write(), 1.0_f32).map(drop))
            },
            |b| b.fill(out.range(8 * i, 8 * i + 8).write(), 2.0_f32),
        )
        .expect("a conditional");
    }
    let graph = b.build().expect("a graph");
    // In each first arm 8 fills in two lanes: 6. Four conditionals in two lanes: 2.
    assert_eq!(graph.report().serialized, 4 * 6 + 2);
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    let out: CudaSlice<f32> = exec.into_args().take(out).expect("an owned slice");
    let row = |value| [value; 8];
    assert_eq!(device.download(&out), [row(1.0), row(2.0), row(1.0), row(1.0)].concat());
}

/// Random programs give the same for all widths, also with everything merged that can be.
#[test]
fn random_programs() {
    let device = device();
    for seed in 0..60 {
        let mut results = Vec::new();
        for (width, launches) in [
            (None, Some(Launches::AsWritten)),
            (Some(1), Some(Launches::AsWritten)),
            (Some(1), None),
            (Some(3), None),
            (None, None),
        ] {
            let mut random = Random::new(seed);
            let buffers = random.choose(&[4_u32, 12, 40]);
            let mut b = Builder::new(&device.ctx);
            options(&mut b, width, launches);
            let memory = b.exclusive("x", buffers * N, device.upload(&ramp((buffers * N) as usize)));
            let at = |i: u32| memory.range(i * N, (i + 1) * N);
            for _ in 0..random.choose(&[10, 60, 150]) {
                let (i, j) = (random.below(buffers), random.below(buffers));
                let a = random.choose(&[0.5_f32, 1.0, -1.0]);
                let statement = match random.below(8_u32) {
                    0 => b.fill(at(i).write(), a),
                    1 if i != j => b.copy(at(i).read(), at(j).write()),
                    2 => b.launch(set {}, per_item(N), (at(i).write(), a, N)),
                    3..6 if i != j => b.launch(axpy {}, per_item(N), (a, at(i).read(), at(j).write(), N)),
                    6 => {
                        let t = b.alloc::<f32>(N);
                        b.copy(at(i).read(), t.write()).expect("a copy");
                        b.launch(axpy {}, per_item(N), (a, &t, at(i).write(), N))
                    }
                    _ => b.launch(scale {}, per_item(N), (at(i).write(), a, N)),
                };
                statement.expect("a statement");
            }
            let graph = b.build().expect("a graph");
            let report = graph.report();
            // The alloc and the free of the temporaries may be beside the last node.
            assert!(width.is_none_or(|width| report.width <= width as usize + 1), "{seed}: {report}");
            let mut exec = graph.instantiate().expect("an exec");
            exec.launch(&device.stream).expect("a launch");
            let out: CudaSlice<f32> = exec.into_args().take(memory).expect("an owned slice");
            results.push(device.download(&out).into_iter().map(f32::to_bits).collect::<Vec<_>>());
        }
        assert!(results.iter().all(|result| *result == results[0]), "{seed}");
    }
}
