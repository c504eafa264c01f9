//! Profiles: the entries for all kinds of graphs, the outputs, and that profiling does not change the exec.

use cuweave::ArenaPool;
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::profile::{Entry, Profile};
use cuweave_testkit::device::{Device, alone, simulated_alone};
use cuweave_testkit::faults::{CURRENT, GRAPH, LOAD, NOT_SUPPORTED, ORDER};
use serde_json::Value;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn spin(out: &mut [MaybeUninit<u32>; 1], iters: u32);
}

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: usize = 300;

fn names(profile: &Profile) -> Vec<(&str, &str)> {
    profile.entries.iter().map(|entry| (entry.name.as_str(), entry.node)).collect()
}

fn entry<'p>(profile: &'p Profile, name: &str) -> &'p Entry {
    let found = profile.entries.iter().find(|entry| entry.name == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {:?}", names(profile)))
}

/// Checks the invariants of every profile, and its three outputs.
fn check(device: &Device, profile: &Profile, launches: u32) {
    assert_eq!(profile.launches, launches);
    assert_eq!(profile.simulated, device.simulated);
    let text = profile.to_string();
    assert_eq!(text.contains("simulated: times mean nothing"), device.simulated, "{text}");
    let mut sum = 0.0;
    for (at, entry) in profile.entries.iter().enumerate() {
        assert_eq!(entry.launches, launches);
        assert!(0.0 <= entry.time.min && entry.time.min <= entry.time.mean + 1e-9, "{entry:?}");
        assert!(entry.time.mean <= entry.time.max + 1e-9, "{entry:?}");
        assert!(entry.after.iter().all(|&before| before < at && profile.entries[before].body == entry.body));
        let ends = entry
            .after
            .iter()
            .map(|&before| profile.entries[before].start + profile.entries[before].time.mean);
        assert!(ends.fold(0.0, f64::max) <= entry.start + 1e-6, "{entry:?}");
        assert!(entry.body.is_none_or(|body| profile.entries[body].node == "condition"));
        assert!(entry.body.is_none_or(|body| profile.entries[body].critical || !entry.critical));
        assert_eq!(entry.bandwidth().is_some(), entry.bytes > 0 && entry.time.mean > 0.0 && entry.runs > 0.0);
        sum += if entry.body.is_none() { entry.time.mean } else { 0.0 };
    }
    assert!((profile.sum() - sum).abs() < 1e-6);
    assert!(profile.critical_path() <= profile.sum() + 1e-6);
    let longest = profile.entries.iter().filter(|entry| entry.body.is_none());
    let longest = longest.map(|entry| entry.start + entry.time.mean).fold(0.0, f64::max);
    assert!((profile.critical_path() - longest).abs() < 1e-6, "{text}");
    assert!(profile.total.min <= profile.total.max);

    let trace: Value = serde_json::from_str(&profile.chrome_trace()).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let slices: Vec<&Value> =
        events.iter().filter(|event| event["ph"] == "X" && event["cat"] != "member").collect();
    assert_eq!(slices.len(), 2 * profile.entries.len());
    for (slice, entry) in slices.iter().zip(&profile.entries) {
        assert_eq!(slice["name"], entry.name.as_str());
        assert_eq!(slice["args"]["critical"], entry.critical);
        assert!((slice["dur"].as_f64().expect("a time") - entry.time.mean).abs() < 1e-3);
    }
    let members = events.iter().filter(|event| event["cat"] == "member").count();
    assert_eq!(members, 2 * profile.entries.iter().map(|entry| entry.members.len()).sum::<usize>());
    assert_eq!(trace["otherData"]["simulated"], device.simulated);

    let svg = profile.svg();
    let picture = roxmltree::Document::parse(&svg).expect("XML");
    let shown: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    assert_eq!(shown.contains(&"simulated: times mean nothing"), device.simulated);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    if let Ok(folder) = std::env::var("CUWEAVE_PICTURES") {
        let file = |kind: &str| format!("{folder}/{}.{kind}", profile.at.name);
        std::fs::write(file("svg"), &svg).expect("a picture");
        std::fs::write(file("json"), profile.chrome_trace()).expect("a trace");
        std::fs::write(file("txt"), &text).expect("a text");
    }
}

#[cuweave::graph]
fn step(n: u32, iters: u32, x: &mut [f32; n], out: &mut [u32; 1]) {
    let h = alloc::<f32>(n);
    let double = alloc::<f32>(2 * n);
    fill(&mut double, 1.0);
    copy(&x, &mut h);
    let grow = scale[per_item(n)](&mut h, 2.0, n);
    let slow = spin[(1, 32)](&mut out, iters);
    let last = add[per_item(n)](&h, &double[..n], &mut x, n);
}

/// Every node has an entry with its place, kind, bytes and order, and the exec continues unchanged.
#[test]
fn every_node_has_an_entry() {
    let device = alone();
    let (mut x, mut out) = (device.upload(&[1.0f32; N]), device.zeros::<u32>(1));
    let iters = device.scaled(100_000, 40_000);
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let graph = step(&device.ctx, N as u32, iters, &mut x, &mut out).expect("a graph");
    let before = graph.dot();
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    let profile = exec.profile(&device.stream, 3).expect("a profile");
    exec.launch(&device.stream).expect("a launch");
    assert_eq!(exec.dot(), before);
    drop(exec);
    check(&device, &profile, 3);
    // One launch before, three of each graph, one after: each computes x = 2 x + 1.
    assert_eq!(device.download(&x), [(1 << 9) as f32 - 1.0; N]);
    device.nothing_reported();

    let kinds = |node: &str| profile.entries.iter().filter(|entry| entry.node == node).count();
    assert_eq!((kinds("kernel"), kinds("fill"), kinds("copy")), (3, 1, 1), "{profile}");
    assert!(kinds("alloc") > 0 && kinds("alloc") == kinds("free"));
    let slow = entry(&profile, "slow");
    assert_eq!((slow.statement, slow.kernel.as_deref(), slow.bytes), ("launch", Some("spin"), 4));
    let at = slow.at.as_ref().expect("a place");
    assert!(at.file.ends_with("tests/in_turn/profile.rs") && at.line == line!() - 30, "{at}");
    assert_eq!(entry(&profile, "fill").bytes, 2 * 4 * N as u64);
    assert_eq!(entry(&profile, "copy").bytes, 2 * 4 * N as u64);
    assert_eq!(entry(&profile, "grow").bytes, 2 * 4 * N as u64);
    // The extents are those of the declaration, and `double` is longer.
    assert_eq!(entry(&profile, "last").bytes, 3 * 4 * N as u64);
    assert_eq!(profile.slowest()[0].name, "slow", "{profile}");
    let text = profile.to_string();
    let first = text.lines().skip_while(|line| !line.trim_start().starts_with("time")).nth(1);
    assert!(slow.critical && first.expect("a row").contains("slow"), "{text}");
}

#[cuweave::graph]
fn block(n: u32, x: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let twice = copy_to[per_item(n)](&x, &mut h, n);
    let back = copy_to[per_item(n)](&h, &mut x, n);
}

#[cuweave::graph]
fn layers(n: u32, count: u32, x: &mut [f32; n]) {
    for _ in 0..count {
        block(n, &mut x);
    }
}

/// Paths name the iteration. The table and the picture have one row for all iterations.
#[test]
fn iterations_of_loops_are_one_row() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; N]);
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let mut exec =
        layers(&device.ctx, N as u32, 22, &mut x).expect("a graph").instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 1).expect("a profile");
    check(&device, &profile, 1);
    assert!(entry(&profile, "block[21].twice").critical);
    let text = profile.to_string();
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("block[..]")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows.iter().all(|row| row.contains("  22  ")), "{text}");
    assert!(profile.svg().contains("block[..].twice × 22"));
    drop(exec);
    device.nothing_reported();
}

#[cuweave::graph]
fn branches(n: u32, x: &mut [f32; 3 * n]) {
    let (one, rest) = x.split_at_mut(n);
    let (two, three) = rest.split_at_mut(n);
    let first = scale[per_item(n)](&mut one, 2.0, n);
    let second = scale[per_item(n)](&mut two, 2.0, n);
    let third = scale[per_item(n)](&mut three, 2.0, n);
}

/// A batch is one entry. The times of its members are estimated from their bytes.
#[test]
fn members_of_a_batch_are_estimates() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; 3 * N]);
    let mut exec = branches(&device.ctx, N as u32, &mut x).expect("a graph").instantiate().expect("an exec");
    assert_eq!(exec.report().batches.len(), 1, "{}", exec.report());
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    check(&device, &profile, 2);
    let [batch] = profile.entries.as_slice() else { panic!("{profile}") };
    let members: Vec<&str> = batch.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(members, ["first", "second", "third"]);
    assert!(batch.members.iter().all(|member| (member.share - 1.0 / 3.0).abs() < 1e-9));
    assert_eq!(batch.bytes, 3 * 2 * 4 * N as u64);
    let text = profile.to_string();
    assert_eq!(text.matches("an estimate").count(), 3, "{text}");
    assert!(profile.svg().contains("url(#estimate)") && profile.chrome_trace().contains("\"estimate\":true"));
    drop(exec);
    assert_eq!(device.download(&x), [16.0; 3 * N]);
    device.nothing_reported();
}

#[cuweave::graph]
fn decisions(n: u32, flag: &[u32; 1], x: &mut [u32; n], count: &mut [u32; 1], inner: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    let before = mixed[per_item(n)](&x, &mut h, 1, n);
    while count {
        let t = alloc::<u32>(n);
        let one = mixed[per_item(n)](&h, &mut t, 2, n);
        fill(&mut inner, 3);
        while inner {
            let deep = mix[per_item(n)](&mut t, 5, n);
            count_down[(1, 1)](&mut inner);
        }
        let two = mixed[per_item(n)](&t, &mut h, 3, n);
        let down = count_down[(1, 1)](&mut count);
    }
    if flag {
        let yes = mix[per_item(n)](&mut h, 7, n);
    } else {
        let no = mix[per_item(n)](&mut h, 9, n);
    }
    copy(&h, &mut x);
    fill(&mut count, 4);
}

/// Statements in bodies are summed over the iterations, also in nested bodies. An arm that does not run has no
/// time.
#[test]
fn bodies_are_summed_over_their_iterations() {
    let device = alone();
    let mut x = device.upload(&[7u32; N]);
    let (mut count, mut inner) = (device.upload(&[4u32]), device.upload(&[0u32]));
    let flag = device.upload(&[1u32]);
    let graph = decisions(&device.ctx, N as u32, &flag, &mut x, &mut count, &mut inner).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    drop(exec);
    check(&device, &profile, 2);
    let step = |x: u32, by: u32| x.wrapping_mul(31).wrapping_add(by);
    let mut expected = 7;
    for _ in 0..4 {
        expected = step(expected, 1);
        for _ in 0..4 {
            expected = step(expected, 2);
            expected = (0..3).fold(expected, |x, _| step(x, 5));
            expected = step(expected, 3);
        }
        expected = step(expected, 7);
    }
    assert_eq!(device.download(&x), [expected; N]);
    device.nothing_reported();

    let iterations = |name: &str| {
        let entry = entry(&profile, name);
        let iterations = entry.iterations.map(|stats| (stats.min, stats.max));
        (entry.runs, iterations, entry.body.map(|body| profile.entries[body].name.as_str()))
    };
    assert_eq!(iterations("while count"), (1.0, Some((4, 4)), None));
    assert_eq!(iterations("one"), (4.0, Some((4, 4)), Some("while count")));
    assert_eq!(iterations("while inner"), (4.0, Some((12, 12)), Some("while count")));
    assert_eq!(iterations("deep"), (12.0, Some((12, 12)), Some("while inner")));
    assert_eq!(iterations("if flag, arm 1 of 2"), (1.0, Some((1, 1)), None));
    assert_eq!(iterations("yes"), (1.0, Some((1, 1)), Some("if flag, arm 1 of 2")));
    assert_eq!(iterations("no"), (0.0, Some((0, 0)), Some("if flag, arm 2 of 2")));
    assert_eq!(entry(&profile, "no").time.max, 0.0);
    // On a device it depends on times that vary.
    assert!(!device.simulated || entry(&profile, "deep").critical && entry(&profile, "before").critical);
    let text = profile.to_string();
    assert!(text.contains("12 iterations") && text.contains("    while inner"), "{text}");
}

#[cuweave::graph]
fn made(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    let doubled = alloc::<f32>(n);
    copy(&x, &mut h);
    add[per_item(n)](&h, &x, &mut doubled, n);
    doubled
}

#[cuweave::graph]
fn eaten(n: u32, h: [f32; n], out: &mut [MaybeUninit<f32>; n]) {
    copy(&h, &mut out);
    free(h);
}

/// Outputs of profiled launches are freed; later ones behave as usual. Graphs that take over outputs are refused.
#[test]
fn outputs_are_freed_and_taken_over_ones_refused() {
    let device = alone();
    let x = device.upload(&[3.0f32; N]);
    let mut exec = made(&device.ctx, N as u32, &x).expect("a graph").instantiate().expect("an exec");
    // Its handle is forgotten, but the profile frees it.
    std::mem::forget(exec.launch(&device.stream).expect("a launch"));
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    check(&device, &profile, 2);
    let mut out = device.zeros::<f32>(N);
    let mut taker = eaten(&device.ctx, N as u32, exec.output(), &mut out)
        .expect("a graph")
        .instantiate()
        .expect("an exec");
    let error = taker.profile(&device.stream, 1).expect_err("it takes over an output");
    let expected = "`eaten` cannot be profiled: it takes over `h`, and each launch would need another output";
    assert_eq!(error.to_string(), expected);
    let output = exec.launch(&device.stream).expect("a launch");
    taker.launch(&device.stream, (output,)).expect("a launch");
    drop((exec, taker));
    assert_eq!(device.download(&out), [6.0; N]);
    device.nothing_reported();
}

#[test]
fn what_cannot_be_profiled_is_told() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; N]);
    let mut exec = layers(&device.ctx, N as u32, 1, &mut x).expect("a graph").instantiate().expect("an exec");
    let error = exec.profile(&device.stream, 0).expect_err("no launches");
    assert_eq!(
        error.to_string(),
        "`layers` cannot be profiled: 0 launches are asked for, and it takes one at least"
    );
    let capturing = device.new_stream();
    let mode = cuweave::cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    capturing.begin_capture(mode).expect("a capture");
    let error = exec.profile(&capturing, 1).expect_err("a stream that captures");
    assert_eq!(error.to_string(), "`layers` is launched into a stream that is capturing");
    let flags =
        cuweave::cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    drop(capturing.end_capture(flags).expect("its end"));
    check(&device, &exec.profile(&device.stream, 1).expect("a profile"), 1);
    drop(exec);
    device.nothing_reported();
}

/// A profile uses the values of earlier setters. Later setters only affect the exec.
#[test]
fn setters_before_and_behind() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&[1.0f32; N]), device.upload(&[1.0f32; N]));
    let (mut out, mut other) = (device.zeros::<u32>(1), device.zeros::<u32>(1));
    let graph = step(&device.ctx, N as u32, 1, &mut x, &mut out).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    exec.set_x(&mut y).expect("another buffer");
    exec.set_iters(2).expect("another number");
    exec.profile(&device.stream, 1).expect("a profile");
    exec.set_out(&mut other).expect("another buffer");
    exec.profile(&device.stream, 1).expect("a profile");
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    assert_eq!(device.download(&x), [1.0; N]);
    assert_eq!(device.download(&y), [63.0; N]);
    let spun = (0..2).fold(1u32, |x, _| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    assert_eq!((device.download(&out), device.download(&other)), (vec![spun], vec![spun]));
    device.nothing_reported();
}

#[cuweave::graph(memory = "owned")]
fn owned(n: u32, x: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    copy(&x, &mut a);
    copy_to[per_item(n)](&a, &mut b, n);
    scale[per_item(n)](&mut b, 2.0, n);
    copy(&b, &mut x);
}

/// Memory of the exec, and of a pool, is shared by both graphs.
#[test]
fn memory_of_the_exec_and_of_a_pool() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; N]);
    let mut exec = owned(&device.ctx, N as u32, &mut x).expect("a graph").instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    check(&device, &profile, 2);
    assert!(!profile.entries.iter().any(Entry::is_memory), "{profile}");
    drop(exec);
    assert_eq!(device.download(&x), [16.0; N]);

    let pool = ArenaPool::new(&device.stream).expect("a pool");
    let graph = owned(&device.ctx, N as u32, &mut x).expect("a graph");
    let mut exec = graph.instantiate_in(&pool).expect("an exec");
    check(&device, &exec.profile(&device.stream, 2).expect("a profile"), 2);
    let other = device.new_stream();
    exec.profile(&other, 1).expect_err("the stream of another pool");
    drop(exec);
    assert_eq!(device.download(&x), [256.0; N]);
    device.nothing_reported();
}

/// Execs of a builder are profiled in the same way.
#[test]
fn graphs_of_a_builder() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; N]);
    let mut b = Builder::with_name(&device.ctx, "built");
    let n = b.scalar("n", N as u32);
    let x_in = b.exclusive("x", N as u64, &mut x);
    let h = b.alloc::<f32>(N as u64);
    b.copy(x_in.read(), h.write()).expect("a copy");
    b.launch(scale {}, ((2, 1), (256, 1)), (h.write(), 2.0f32, n)).expect("a launch");
    b.copy(h.read(), x_in.write()).expect("a copy");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    check(&device, &profile, 2);
    assert_eq!(profile.at.name, "built");
    assert_eq!(entry(&profile, "scale").bytes, 2 * 4 * N as u64);
    drop(exec);
    assert_eq!(device.download(&x), [16.0; N]);
    device.nothing_reported();
}

/// Builds and instantiates a graph with decisions, and takes its profile.
fn scenario(device: &Device) -> cuweave::Result<()> {
    let mut x = device.upload(&[7u32; 8]);
    let (mut count, mut inner, flag) =
        (device.upload(&[4u32]), device.upload(&[0u32]), device.upload(&[1u32]));
    let mut exec = decisions(&device.ctx, 8, &flag, &mut x, &mut count, &mut inner)?.instantiate()?;
    exec.profile(&device.stream, 2).map(drop)
}

/// Each call of a profile fails once: the error is returned, the exec continues, and nothing leaks.
#[test]
fn each_call_fails_once() {
    let Some(device) = simulated_alone() else { return };
    let mut told = 0;
    let others = [
        "cuEventDestroy_v2",
        "cuEventElapsedTime",
        "cuMemcpyDtoHAsync_v2",
        "cuGraphAddEventRecordNode",
        "cuGraphAddMemAllocNode",
        "cuGraphAddMemFreeNode",
        "cuGraphAddNode_v2",
        "cuGraphConditionalHandleCreate",
        "cuGraphUpload",
        "cuMemAddressReserve",
        "cuMemCreate",
        "cuMemMap",
        "cuMemSetAccess",
        "cuMemUnmap",
        "cuMemAddressFree",
        "cuMemRelease",
    ];
    scenario(&device).expect("a first run keeps modules");
    for call in LOAD.iter().chain(ORDER).chain(CURRENT).chain(GRAPH).copied().chain(others) {
        for nth in 1.. {
            let before = cuweave_sim::live_objects().expect("counts");
            let mut x = device.upload(&[7u32; 8]);
            let (mut count, mut inner) = (device.upload(&[0u32]), device.upload(&[0u32]));
            let flag = device.upload(&[1u32]);
            let graph = decisions(&device.ctx, 8, &flag, &mut x, &mut count, &mut inner).expect("a graph");
            let mut exec = graph.instantiate().expect("an exec");
            exec.launch(&device.stream).expect("a launch");
            cuweave_sim::inject_fault(call, nth, NOT_SUPPORTED).expect("a fault");
            let result = exec.profile(&device.stream, 2);
            let over = cuweave_sim::clear_faults().expect("faults") > 0;
            // The context keeps a failure in a drop.
            let _ = device.ctx.check_err();
            if over {
                result.unwrap_or_else(|error| panic!("`{call}`: {error}"));
                break;
            }
            if let Err(error) = &result {
                told += 1;
                let text = error.to_string();
                assert!(text.contains("(801)") || text.contains("(999)"), "`{call}` {nth}: {text}");
            }
            exec.launch(&device.stream).unwrap_or_else(|error| panic!("after `{call}` {nth}: {error}"));
            exec.profile(&device.stream, 1).unwrap_or_else(|error| panic!("after `{call}` {nth}: {error}"));
            drop(exec);
            drop((x, count, inner, flag));
            let _ = device.ctx.check_err();
            device.ctx.synchronize().expect("all is well");
            let after = cuweave_sim::live_objects().expect("counts");
            // An object that cannot be destroyed leaks.
            let destroys = ["cuGraphExecDestroy", "cuGraphDestroy", "cuEventDestroy_v2"].contains(&call)
                || call.starts_with("cuMem");
            assert!(
                destroys || after == before,
                "`{call}` {nth} leaves something behind: {before:?} {after:?}"
            );
        }
    }
    assert!(told > 50, "only {told} failures were told");
    device.nothing_reported();
}

/// The launches of a fused kernel are one entry, whose members are estimates.
#[test]
fn fused_launches_are_one_entry() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; N]);
    let graph = layers(&device.ctx, N as u32, 3, &mut x).expect("a graph");
    assert_eq!(graph.report().fused.len(), 1, "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    check(&device, &profile, 2);
    let fused: Vec<&Entry> = profile.entries.iter().filter(|entry| entry.node == "fused kernel").collect();
    assert_eq!(fused.iter().map(|entry| entry.members.len()).collect::<Vec<_>>(), [6], "{profile}");
    assert!(profile.to_string().contains("fused kernel"), "{profile}");
    drop(exec);
    device.nothing_reported();
}

/// Profiles of several execs, with all orders of drops.
#[test]
fn drops_in_any_order() {
    let device = alone();
    let mut x = device.upload(&[1.0f32; N]);
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let mut exec = owned(&device.ctx, N as u32, &mut x).expect("a graph").instantiate().expect("an exec");
    let (one, two) = (exec.profile(&device.stream, 1), exec.profile(&device.new_stream(), 1));
    drop(one.expect("a profile"));
    drop(exec);
    assert_eq!(two.expect("a profile").entries.len(), 4);
    assert_eq!(device.download(&x), [16.0; N]);
}
