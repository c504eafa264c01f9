//! Batches are checked against the blocks that fit on the device. Reports say why launches were not merged, why
//! edges are full, and which branches are in lanes.

use std::sync::{Arc, MutexGuard};

use cudarc::driver::{CudaContext, CudaSlice};
use cuweave::__private::change_next_rules;
use cuweave::builder::{Builder, Handle, Launches};
use cuweave::prelude::*;
use cuweave::report::{FullEdgeReason, Report, UnbatchedReason};
use cuweave_testkit::device::test_lock;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn narrow(x: &mut [f32; n], a: f32, n: u32);
}

/// Sets the registers that the simulated driver assumes, which belong to the whole process. Dropping it restores
/// the driver's own numbers.
struct AssumedRegisters {
    _guard: MutexGuard<'static, ()>,
}

impl Drop for AssumedRegisters {
    fn drop(&mut self) {
        registers(0, 0);
    }
}

/// Returns `None` with a real driver, which assumes no registers.
fn alone() -> Option<(AssumedRegisters, Arc<CudaContext>)> {
    let guard = test_lock();
    let simulated = cuweave_sim::load().expect("a driver").is_simulated();
    simulated.then(|| (AssumedRegisters { _guard: guard }, cuweave::context(0).expect("a device")))
}

/// Sets the registers of the kernel `scale`, and of batches.
fn registers(alone: u32, batched: u32) {
    cuweave_sim::set_registers("scale", alone).expect("a simulated driver");
    cuweave_sim::set_registers("cuweave_batch", batched).expect("a simulated driver");
}

fn buffer(ctx: &Arc<CudaContext>, n: u32) -> CudaSlice<f32> {
    let stream = ctx.new_stream().expect("a stream");
    let buffer = stream.clone_htod(&vec![1.0_f32; n as usize]).expect("memory");
    stream.synchronize().expect("it is written");
    buffer
}

/// Builds `chains` chains of `steps` launches of `blocks` blocks with 128 threads.
fn chains(ctx: &Arc<CudaContext>, chains: u32, steps: u32, blocks: u32) -> Report {
    let n = blocks * 128;
    let mut b = Builder::with_name(ctx, "chains");
    let xs: Vec<Handle> = (0..chains).map(|i| b.exclusive(&format!("x{i}"), n, buffer(ctx, n))).collect();
    for _ in 0..steps {
        for x in &xs {
            b.launch(scale {}, (blocks, 128), (x.write(), 2.0_f32, n)).expect("a launch");
        }
    }
    b.build().expect("it builds").report()
}

/// 16 launches of 64 blocks need 8 blocks per multiprocessor. With 44 registers per thread, 10 blocks fit, which is
/// enough, although 12 blocks of the unbatched kernel would fit.
#[test]
fn a_batch_needs_no_more_blocks_than_it_has() {
    let Some((_guard, ctx)) = alone() else { return };
    registers(38, 44);
    let report = chains(&ctx, 16, 1, 64);
    assert_eq!((report.batches.len(), report.kernels), (1, 1), "{report}");
}

/// A batch that needs 12 blocks per multiprocessor. With 41 registers, only 10 fit. A limit of 40 registers makes
/// room at the cost of 4 bytes of local memory; with 64 registers, the limit would spill 96 bytes.
#[test]
fn the_registers_of_a_batch_are_limited_where_that_costs_less() {
    let Some((_guard, ctx)) = alone() else { return };
    registers(38, 41);
    let report = chains(&ctx, 12, 1, 132);
    assert_eq!((report.batches.len(), report.kernels), (1, 1), "{report}");
    registers(38, 64);
    let report = chains(&ctx, 12, 1, 132);
    assert_eq!((report.batches.len(), report.kernels), (0, 12), "{report}");
    let [entry] = report.unbatched.as_slice() else { panic!("{report}") };
    let [UnbatchedReason::Slower(why)] = entry.reasons.as_slice() else { panic!("{report}") };
    assert_eq!(
        why,
        "one launch of 12 needs 12 blocks per multiprocessor and gets 8: 64 registers per thread, the kernel alone 38 \
         (12 blocks); limited to 40 registers it gets 12 and 96 bytes more of local memory: its blocks are \
         expected to take 106.8 % longer, and one launch to save 10.0 %"
    );
    assert_eq!((entry.nodes, entry.kernel.name.as_str()), (12, "scale"));
    // A batch of the same kernel with fewer blocks is made as well.
    let mut b = Builder::with_name(&ctx, "both");
    for (group, blocks) in [("large", 132), ("small", 4)] {
        let n = blocks * 128;
        let first = b.exclusive(group, n, buffer(&ctx, n));
        let last = b.launch(narrow {}, (2 * blocks, 64), (first.write(), 2.0_f32, n)).expect("a launch");
        for i in 0..12 {
            let x = b.exclusive(&format!("{group}{i}"), n, buffer(&ctx, n));
            b.after(last);
            b.launch(scale {}, (blocks, 128), (x.write(), 2.0_f32, n)).expect("a launch");
        }
    }
    let report = b.build().expect("it builds").report();
    assert_eq!(report.batches.iter().map(Vec::len).collect::<Vec<_>>(), [12], "{report}");
}

#[cuweave::graph]
fn unlike(n: u32, a: &mut [f32; n], b: &mut [f32; n], x: &mut [f32; n], y: &[f32; n]) {
    for _ in 0..22 {
        scale[(n / 128, 128)](&mut a, 2.0, n);
        scale[(n / 64, 64)](&mut b, 2.0, n);
        add[per_item(n)](&a, &y, &mut x, n);
        axpy[per_item(n)](1.0, &x, &mut a, n);
    }
}

/// Returns the lines of a report about launch changes, without line numbers of this file.
fn text(report: &Report) -> String {
    let text = report.to_string();
    let mut lines: Vec<String> = Vec::new();
    for line in text
        .lines()
        .skip_while(|line| !line.starts_with("launches"))
        .filter(|line| !line.starts_with("vouched"))
    {
        let parts: Vec<&str> = line.split("(line ").collect();
        let rest = parts[1..].iter().map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        let line = parts[..1].iter().copied().chain(rest).collect::<Vec<_>>().join("(line ..");
        let pairs: Vec<&str> = line.split("(lines ").collect();
        let rest = pairs[1..].iter().map(|pair| pair.split_once(')').map_or(*pair, |(_, rest)| rest));
        lines.push(pairs[..1].iter().copied().chain(rest).collect::<Vec<_>>().join("(lines ..)"));
    }
    lines.join("\n")
}

#[test]
fn reports_say_why_launches_are_apart_and_edges_full() {
    let Some((_guard, ctx)) = alone() else { return };
    change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let n = 1_024;
    let of = |n| buffer(&ctx, n);
    let graph = unlike(&ctx, n, of(n), of(n), of(n), of(n)).expect("it builds");
    let report = graph.report();
    println!("{report}");
    cuweave_testkit::assert_snapshot!("unlike", text(&report));
    let [entry] = report.unbatched.as_slice() else { panic!("{report}") };
    assert_eq!((entry.nodes, entry.times), (2, 22));
    assert_eq!(entry.reasons, [UnbatchedReason::Blocks]);
    // The report does not explain changes that were not requested.
    let mut b = Builder::with_name(&ctx, "as written");
    b.launches(Launches::AsWritten);
    for i in 0..2 {
        let x = b.exclusive(&format!("x{i}"), n, of(n));
        b.launch(scale {}, (8, 128), (x.write(), 2.0_f32, n)).expect("a launch");
    }
    let report = b.build().expect("it builds").report();
    assert!(
        report.unbatched.is_empty() && report.full_edges.is_empty() && report.assumed_registers.is_empty(),
        "{report}"
    );
}

/// A fork into different kernels, and their join.
#[test]
fn forks_and_joins_have_full_edges() {
    let Some((_guard, ctx)) = alone() else { return };
    change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let n = 1_024_u32;
    let mut b = Builder::with_name(&ctx, "fork");
    let [x, y, z, w] = ["x", "y", "z", "w"].map(|name| b.exclusive(name, n, buffer(&ctx, n)));
    b.launch(scale {}, per_item(n), (x.write(), 2.0_f32, n)).expect("a launch");
    b.launch(copy_to {}, per_item(n), (x.read(), y.write(), n)).expect("a launch");
    b.launch(axpy {}, per_item(n), (1.0_f32, x.read(), z.write(), n)).expect("a launch");
    b.launch(add {}, per_item(n), (y.read(), z.read(), w.write(), n)).expect("a launch");
    b.launch(scale {}, per_item(n), (w.write(), 2.0_f32, n)).expect("a launch");
    let report = b.build().expect("it builds").report();
    println!("{report}");
    cuweave_testkit::assert_snapshot!("fork", text(&report));
    let reasons: Vec<FullEdgeReason> = report.full_edges.iter().map(|edge| edge.reason).collect();
    let [two, three] = [FullEdgeReason::Dependents(2), FullEdgeReason::Dependencies(2)];
    assert_eq!(reasons, [two, two, three, three]);
    assert_eq!(report.unbatched.len(), 0, "the two scalings are ordered");
}

/// Chains that fill the device are rejected, halved or kept, depending on their number and levels.
#[test]
fn chains_are_apart_by_their_levels() {
    let Some((_guard, ctx)) = alone() else { return };
    change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let dropped = chains(&ctx, 4, 3, 16 * 132 / 4);
    let [halved, large, pairs] =
        [(8, 3, 16 * 132 / 8), (4, 3, 16 * 132), (4, 2, 16 * 132 / 4)].map(|(count, steps, blocks)| {
            change_next_rules(|_, _, rules| rules.tuning.chains.stacked = None);
            chains(&ctx, count, steps, blocks)
        });
    cuweave_testkit::assert_snapshot!("chains", [&dropped, &halved, &large, &pairs].map(text).join("\n\n"));
    let kernels = [&dropped, &halved, &large, &pairs].map(|report| report.kernels);
    assert_eq!(kernels, [12, 6, 6, 2]);
}

/// 12 or more branches of short kernels are serialized.
#[test]
fn lanes_are_told_branch_by_branch() {
    let Some((_guard, ctx)) = alone() else { return };
    change_next_rules(|_, _, rules| (rules.allowed.fuse, rules.allowed.batches) = (false, false));
    let report = chains(&ctx, 20, 2, 4);
    println!("{report}");
    cuweave_testkit::assert_snapshot!("lanes", text(&report));
    assert_eq!(report.serialized, 10);
    assert_eq!(report.serialized_branches.iter().map(|lane| lane.times).sum::<usize>(), 10);
    change_next_rules(|_, _, rules| rules.allowed.batches = false);
    assert_eq!(chains(&ctx, 11, 2, 4).serialized, 0);
}

/// The text names the registers that the simulated driver assumes, and marks the counts that depend on them.
#[test]
fn assumed_registers_are_told() {
    let Some((_guard, ctx)) = alone() else { return };
    registers(40, 40);
    let report = chains(&ctx, 3, 1, 4);
    assert_eq!(report.assumed_registers.len(), 1, "{report}");
    let text = report.to_string();
    assert!(text.contains("launches     3 in 1* nodes\n"), "{text}");
    let assumed = "* if a thread has the registers that the simulated driver assumes: 40 of `scale`";
    assert!(text.contains(assumed), "{text}");
}

/// If too few blocks of one kernel for all chains would fit, each chain gets its own kernel, and the report says
/// so.
#[test]
fn chains_whose_kernel_would_hold_fewer_blocks_are_a_kernel_each() {
    let Some((_guard, ctx)) = alone() else { return };
    registers(32, 32);
    let stacked = chains(&ctx, 4, 12, 528);
    assert_eq!((stacked.kernels, stacked.stacked.as_slice()), (1, [4].as_slice()), "{stacked}");
    assert!(stacked.unbatched.is_empty() && stacked.unfused.is_empty(), "{stacked}");
    cuweave_sim::set_registers("cuweave_fused", 64).expect("a simulated driver");
    let report = chains(&ctx, 4, 12, 528);
    cuweave_sim::set_registers("cuweave_fused", 0).expect("a simulated driver");
    assert_eq!((report.kernels, report.stacked.as_slice()), (4, [1; 4].as_slice()), "{report}");
    let reason = "a multiprocessor holds 8 blocks of the fused kernel, but 16 are needed: it takes 64 registers a \
        thread and 0 bytes of shared memory";
    assert_eq!(report.unbatched[0].reasons, [UnbatchedReason::Unstacked(reason.to_owned())], "{report}");
    let text = format!("each of which is one kernel, and not all of them: {reason}");
    assert!(report.to_string().contains(&text), "{report}");
}
