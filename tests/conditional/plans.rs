//! Memory plans, budgets, setters, library calls and failures with device-side conditionals.

#![allow(unsafe_code)]

use cudarc::driver::sys;
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, simulated_alone};
use cuweave_testkit::faults::NOT_SUPPORTED;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: u32 = 1 << 10;
const ONE: u64 = 4 << 10;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

#[cuweave::graph(memory = "arena")]
fn arms(n: u32, x: &mut [u32; n], which: &[u32; 1]) {
    match which {
        0 => {
            let a = alloc::<u32>(n);
            let b = alloc::<u32>(n);
            mixed[per_item(n)](&x, &mut a, 1, n);
            mixed[per_item(n)](&a, &mut b, 2, n);
            mixed[per_item(n)](&b, &mut x, 3, n);
        }
        1 => {
            let c = alloc::<u32>(2 * n);
            mixed[per_item(n)](&x, &mut c[..n], 4, n);
            mixed[per_item(n)](&x, &mut c[n..], 5, n);
            mixed[per_item(n)](&c[n..], &mut x, 6, n);
            mixed[per_item(n)](&c[..n], &mut x, 7, n);
        }
        _ => {
            let d = alloc::<u32>(n);
            mixed[per_item(n)](&x, &mut d, 8, n);
            mixed[per_item(n)](&d, &mut x, 9, n);
        }
    }
}

#[test]
fn exclusive_arms_take_the_bytes_of_the_largest() {
    let device = alone();
    let (mut x, which) = (device.upload(&vec![5u32; N as usize]), device.upload(&[1u32]));
    let graph = arms(&device.ctx, N, &mut x, &which).expect("it builds");
    let report = graph.report();
    let plan = report.plan.clone().expect("there is a plan");
    assert_eq!((plan.planned, plan.antichain, plan.optimal), (2 * ONE, 2 * ONE, true), "{report}");
    // The arm that needs most: both halves of `c` are in use.
    assert_eq!(plan.antichain_arms, ["match which: 1"]);
    assert!(report.to_string().contains("bound 8 KiB in `match which: 1`, floor"), "{report}");
    assert!((1..=3).contains(&report.conditions) && report.setters == 1, "{report}");
    let text = format!("{} conditional node", report.conditions);
    assert!(report.to_string().contains(&text), "{report}");
    let (dot, svg) = (graph.dot(), graph.memory_svg().expect("a picture"));
    for arm in ["0", "1", "_"] {
        assert!(dot.contains(&format!("label=\"match which: {arm}\"")), "{dot}");
    }
    assert!(dot.contains("subgraph cluster_2"), "{dot}");
    // The launches of the other arms are fused, so their temporaries need no memory.
    assert!(svg.contains("<title>c, match which: 1 · 8 KiB at 0 · "), "{svg}");
    assert!(svg.contains("; 3 buffers more only in registers") && !svg.contains("<title>a, "), "{svg}");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x), vec![step(step(5, 4), 7); N as usize]);
    device.nothing_reported();
}

#[cuweave::graph(memory = "arena")]
fn in_use(n: u32, x: &mut [u32; n], again: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    mixed[per_item(n)](&x, &mut h, 1, n);
    while again {
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&h, &mut t, 2, n);
        let u = alloc::<u32>(n);
        mixed[per_item(n)](&t, &mut u, 3, n);
        mixed[per_item(n)](&u, &mut x, 4, n);
        count_down[(1, 1)](&mut again);
    }
    let v = alloc::<u32>(n);
    mixed[per_item(n)](&x, &mut v, 5, n);
    mixed[per_item(n)](&v, &mut x, 6, n);
}

#[test]
fn what_a_loop_uses_is_in_use_in_all_of_it() {
    let device = alone();
    for seed in 0..5 {
        device.schedule(seed);
        let (mut x, mut again) = (device.upload(&vec![5u32; N as usize]), device.upload(&[3u32]));
        // A fused chain would need no memory for its temporaries.
        cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        let graph = in_use(&device.ctx, N, &mut x, &mut again).expect("it builds");
        let plan = graph.report().plan.expect("there is a plan");
        assert_eq!((plan.planned, plan.optimal), (3 * ONE, true));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected = [1, 2, 3, 4, 5, 6].into_iter().fold(5, step);
        assert_eq!(device.download(&x), vec![expected; N as usize]);
        device.nothing_reported();
    }
}

#[cuweave::graph]
fn settable(n: u32, by: u32, value: u32, m: u32, x: &mut [u32; n], y: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        mix[per_item(m)](&mut y[..m], by, m);
        mix[per_item(n)](&mut x, by, n);
        fill(&mut y, value);
    }
}

#[test]
fn setters_reach_bodies() {
    let device = alone();
    let mut flag = device.upload(&[1u32]);
    let [mut x, mut y] = [7u32, 8].map(|word| device.upload(&vec![word; N as usize]));
    let mut other = device.upload(&vec![9u32; N as usize]);
    let mut another = device.upload(&[1u32]);
    {
        let graph = settable(&device.ctx, N, 3, 4, 5, &mut x, &mut y, &mut flag).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        exec.set_by(5).expect("a value");
        exec.set_m(17).expect("a bound");
        exec.set_value(0x0102_0304).expect("a value");
        exec.launch(&device.stream).expect("it launches");
        exec.set_x(&mut other).expect("a buffer");
        exec.launch(&device.stream).expect("it launches");
        let error = exec.set_flag(&mut another).expect_err("its kernel keeps the address").to_string();
        assert!(error.contains("`flag`") && error.contains("conditional/plans.rs"), "{error}");
        exec.launch(&device.stream).expect("it launches");
    }
    assert_eq!(device.download(&x)[..2], [step(step(7, 3), 5); 2]);
    assert_eq!(device.download(&other)[..2], [step(step(9, 5), 5); 2]);
    assert_eq!(device.download(&y)[..2], [0x0102_0304; 2]);
    device.nothing_reported();
}

/// out = x, by way of scratch.
#[cuweave::call]
unsafe fn by_way_of_scratch(
    stream: &CallStream,
    x: &[u32; n],
    out: &mut [MaybeUninit<u32>; n],
    scratch: [u32; n],
    n: u32,
) -> Result<(), cudarc::driver::DriverError> {
    assert_eq!(x.len(), n as usize);
    stream.memcpy_dtod(x, scratch)?;
    stream.memcpy_dtod(scratch, out)?;
    Ok(())
}

/// Enqueues nothing.
#[cuweave::call]
unsafe fn nothing(stream: &CallStream, x: &[u32; n], n: u32) -> Result<(), cudarc::driver::DriverError> {
    let _ = (stream, x, n);
    Ok(())
}

#[cuweave::graph]
fn calls(n: u32, x: &mut [u32; n], y: &mut [u32; n], flag: &mut [u32; 1]) {
    while flag {
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut t, 2, n);
        by_way_of_scratch(&t, &mut y, n);
        mixed[per_item(n)](&y, &mut x, 3, n);
        count_down[(1, 1)](&mut flag);
    }
    if !flag {
        nothing(&x, n);
    }
    if !flag {
        nothing(&x, n);
        mix[per_item(n)](&mut x, 4, n);
    }
}

#[test]
fn library_calls_stand_in_bodies() {
    let device = alone();
    for seed in 0..5 {
        device.schedule(seed);
        let mut flag = device.upload(&[3u32]);
        let [mut x, mut y] = [7u32, 8].map(|word| device.upload(&vec![word; N as usize]));
        let graph = calls(&device.ctx, N, &mut x, &mut y, &mut flag).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected = (0..3).fold(7, |x, _| step(step(x, 2), 3));
        assert_eq!(device.download(&x), vec![step(expected, 4); N as usize]);
        device.nothing_reported();
    }
}

/// Enqueues a host function.
#[cuweave::call]
unsafe fn calls_back(stream: &CallStream, x: &[u32; n], n: u32) -> Result<(), cudarc::driver::DriverError> {
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let _ = (x, n);
    unsafe { sys::cuLaunchHostFunc(stream.cu_stream(), Some(nothing), std::ptr::null_mut()) }.result()
}

#[cuweave::graph]
fn host_in_an_arm(n: u32, x: &mut [u32; n], which: &[u32; 1], flag: &[u32; 1]) {
    match which {
        0 | 3 => {
            if !flag {
                mix[per_item(n)](&mut x, 1, n);
            } else {
                calls_back(&x, n);
            }
        }
        _ => {}
    }
}

#[cuweave::graph]
fn host_in_a_match(n: u32, x: &mut [u32; n], which: &[u32; 1]) {
    match which {
        1 => mix[per_item(n)](&mut x, 1, n),
        0 | 3 => calls_back(&x, n),
        _ => {}
    }
}

#[test]
fn a_host_function_in_a_body_is_refused_with_the_name_of_the_arm() {
    let Some(device) = simulated_alone() else { return };
    let before = device.live();
    let mut x = device.upload(&[7u32; 40]);
    let (which, flag) = (device.upload(&[0u32]), device.upload(&[1u32]));
    let nested = host_in_an_arm(&device.ctx, 40, &mut x, &which, &flag).err();
    let alone = host_in_a_match(&device.ctx, 40, &mut x, &which).err();
    for (error, body) in [(nested, "else of if !flag"), (alone, "match which: 0 | 3")] {
        let text = error.expect("the driver has no host nodes in bodies").to_string();
        assert!(text.contains(&format!("the body `{body}` cannot contain")), "{text}");
        assert!(text.contains("calls_back") && text.contains("host function"), "{text}");
    }
    drop((x, which, flag));
    assert_eq!(device.live().map(|live| live.graphs), before.map(|live| live.graphs));
}

#[cuweave::graph(launches = "overlapped")]
fn wide(k: u32, x: &[u32; 16 * k], y: &mut [u32; 16 * (16 * k)], flag: &mut [u32; 1]) {
    while flag {
        let h = alloc::<u32>(16 * k);
        for i in 0..16u32 {
            mixed[per_item(k)](&x[i * k..(i + 1) * k], &mut h[i * k..(i + 1) * k], 1 + i, k);
        }
        for i in 0..16u32 {
            mixed[per_item(16 * k)](&h, &mut y[i * (16 * k)..(i + 1) * (16 * k)], 3, 16 * k);
        }
        count_down[(1, 1)](&mut flag);
    }
}

#[test]
fn joins_of_many_have_a_hub_in_their_body() {
    let device = alone();
    for seed in 0..4 {
        device.schedule(seed);
        let (x, mut y) = (device.upload(&[7u32; 64]), device.upload(&[0u32; 16 * 64]));
        let mut flag = device.upload(&[2u32]);
        let graph = wide(&device.ctx, 4, &x, &mut y, &mut flag).expect("it builds");
        let report = graph.report();
        assert!(report.hubs > 0, "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let rows: Vec<u32> = (0..64).map(|at| step(step(7, 1 + at / 4), 3)).collect();
        assert_eq!(device.download(&y), rows.repeat(16));
        device.nothing_reported();
    }
}

/// A mixture of experts of unequal sizes for one token: each arm has activations of its own hidden size.
#[cuweave::graph(memory = "arena")]
fn experts(d: u32, tokens: u32, x: &mut [u32; tokens * d], expert: &[u32; 1]) {
    let n = tokens * d;
    match expert {
        0 => {
            let gate = alloc::<u32>(4 * n);
            let up = alloc::<u32>(4 * n);
            for i in 0..4u32 {
                mixed[per_item(n)](&x, &mut gate[i * n..(i + 1) * n], 1, n);
                mixed[per_item(n)](&x, &mut up[i * n..(i + 1) * n], 2, n);
            }
            let h = alloc::<u32>(4 * n);
            mixed[per_item(4 * n)](&gate, &mut h, 3, 4 * n);
            mix[per_item(4 * n)](&mut up, 4, 4 * n);
            mixed[per_item(n)](&h[..n], &mut x, 5, n);
            mixed[per_item(n)](&up[n..2 * n], &mut x, 5, n);
        }
        1 => {
            let q = alloc::<u32>(2 * n);
            let k = alloc::<u32>(2 * n);
            let v = alloc::<u32>(4 * n);
            for i in 0..2u32 {
                mixed[per_item(n)](&x, &mut q[i * n..(i + 1) * n], 1, n);
                mixed[per_item(n)](&x, &mut k[i * n..(i + 1) * n], 2, n);
            }
            for i in 0..4u32 {
                mixed[per_item(n)](&q[..n], &mut v[i * n..(i + 1) * n], 3, n);
            }
            mixed[per_item(n)](&k[n..], &mut x, 4, n);
            mixed[per_item(n)](&v[3 * n..], &mut x, 4, n);
            mixed[per_item(n)](&q[n..], &mut x, 4, n);
        }
        2 => {
            let h = alloc::<u32>(8 * n);
            for i in 0..8u32 {
                mixed[per_item(n)](&x, &mut h[i * n..(i + 1) * n], i, n);
            }
            let g = alloc::<u32>(4 * n);
            mixed[per_item(4 * n)](&h[..4 * n], &mut g, 9, 4 * n);
            mixed[per_item(n)](&g[..n], &mut x, 9, n);
            mixed[per_item(n)](&h[7 * n..], &mut x, 9, n);
        }
        _ => {
            let a = alloc::<u32>(6 * n);
            for i in 0..6u32 {
                mixed[per_item(n)](&x, &mut a[i * n..(i + 1) * n], i, n);
            }
            let b = alloc::<u32>(6 * n);
            mixed[per_item(6 * n)](&a, &mut b, 1, 6 * n);
            mixed[per_item(n)](&b[5 * n..], &mut x, 3, n);
        }
    }
}

#[test]
fn four_arms_take_less_than_a_third_of_separate_allocations() {
    let device = alone();
    let (d, tokens) = (64, 16);
    for expert in 0..5u32 {
        let (mut x, which) = (device.upload(&vec![5u32; 1 << 10]), device.upload(&[expert]));
        let graph = experts(&device.ctx, d, tokens, &mut x, &which).expect("it builds");
        let report = graph.report();
        let plan = report.plan.clone().expect("there is a plan");
        // All three temporaries of the first arm; 2 + 2 + 4; 8 + 4; 6 + 6.
        let (separate, largest) = (12 + 8 + 12 + 12, 12);
        assert_eq!(
            (plan.planned, plan.antichain, plan.optimal),
            (largest * ONE, largest * ONE, true),
            "{report}"
        );
        assert!(10 * plan.planned <= 3 * separate * ONE, "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let steps: &[u32] = match expert {
            0 => &[2, 4, 5],
            1 => &[1, 4],
            2 => &[7, 9],
            _ => &[5, 1, 3],
        };
        assert_eq!(device.download(&x), vec![steps.iter().copied().fold(5, step); 1 << 10], "{expert}");
        device.nothing_reported();
    }
}

#[test]
fn every_call_around_conditions_may_fail() {
    let Some(device) = simulated_alone() else { return };
    let (mut x, which) = (device.upload(&vec![5u32; N as usize]), device.upload(&[0u32]));
    for call in [
        "cuGraphConditionalHandleCreate",
        "cuGraphAddNode_v2",
        "cuGraphAddKernelNode_v2",
        "cuModuleLoadDataEx",
    ] {
        let before = device.live();
        let mut failures = 0;
        for nth in 1..100 {
            cuweave_sim::inject_fault(call, nth, NOT_SUPPORTED).expect("the simulated driver");
            let built = arms(&device.ctx, N, &mut x, &which).and_then(|graph| graph.instantiate());
            let failed = built.as_ref().err().map(ToString::to_string);
            drop(built);
            if cuweave_sim::clear_faults().expect("the simulated driver") > 0 {
                break;
            }
            failures += 1;
            if let Some(text) = failed {
                assert!(text.contains(call.trim_end_matches("_v2")), "{text}");
            }
        }
        assert!(failures > 0, "{call}");
        assert_eq!(device.live().map(|live| live.graphs), before.map(|live| live.graphs), "{call}");
    }
}

#[cuweave::graph]
fn halves(n: u32, blocks: u32, more: u32, x: &mut [u32; n], flag: &[u32; 1]) {
    let h = alloc::<u32>(n);
    if flag {
        mixed[(blocks, 32)](&x, &mut h, 1, n);
    } else {
        mixed[(more, 32)](&x, &mut h, 2, n);
    }
    mixed[per_item(n)](&h, &mut x, 3, n);
}

#[test]
fn each_arm_is_held_to_write_what_is_read_behind() {
    let device = alone();
    let flag = device.upload(&[1u32]);
    for (blocks, more, right) in [(32, 32, true), (31, 32, false), (32, 31, false)] {
        let mut x = device.upload(&vec![7u32; N as usize]);
        let built = halves(&device.ctx, N, blocks, more, &mut x, &flag);
        let text = built.as_ref().err().map(ToString::to_string);
        assert_eq!(built.is_ok(), right, "{text:?}");
        assert!(
            text.is_none_or(|text| text.contains("`mixed`") && text.contains("1024")),
            "{blocks}, {more}"
        );
    }
    device.nothing_reported();
}

/// Two independent conditions, whose temporaries are in use at the same time.
#[cuweave::graph(memory = "arena")]
fn beside(n: u32, x: &mut [u32; n], y: &mut [u32; n], one: &[u32; 1], two: &[u32; 1]) {
    if one {
        let a = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut a, 1, n);
        mixed[per_item(n)](&a, &mut x, 2, n);
    }
    if two {
        let b = alloc::<u32>(n);
        mixed[per_item(n)](&y, &mut b, 3, n);
        mixed[per_item(n)](&b, &mut y, 4, n);
    }
}

#[test]
fn conditions_that_share_nothing_run_beside_each_other() {
    let device = alone();
    for seed in 0..5 {
        device.schedule(seed);
        let [mut x, mut y] = [7u32, 8].map(|word| device.upload(&vec![word; N as usize]));
        let (one, two) = (device.upload(&[1u32]), device.upload(&[1u32]));
        // A fused chain would need no memory for its temporaries.
        cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        let graph = beside(&device.ctx, N, &mut x, &mut y, &one, &two).expect("it builds");
        let plan = graph.report().plan.expect("there is a plan");
        assert_eq!((plan.planned, plan.optimal), (2 * ONE, true));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&x)[..2], [step(step(7, 1), 2); 2]);
        assert_eq!(device.download(&y)[..2], [step(step(8, 3), 4); 2]);
        device.nothing_reported();
    }
}

/// Edges across the border of a body: by a name, out of a call, and by a resource of the caller.
#[cuweave::graph]
fn named(n: u32, x: &mut [u32; n], y: &mut [u32; n], z: &mut [u32; n], flag: &[u32; 1]) {
    let first = mix[per_item(n)](&mut x, 1, n);
    if flag {
        #[after(first)]
        mix[per_item(n)](&mut y, 2, n);
        #[after(first)]
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&y, &mut t, 3, n);
        mixed[per_item(n)](&t, &mut y, 4, n);
    }
    mix[per_item(n)](&mut z, 5, n);
}

#[test]
fn names_of_statements_outside_order_bodies() {
    let device = alone();
    let flag = device.upload(&[1u32]);
    for seed in 0..4 {
        device.schedule(seed);
        let [mut x, mut y, mut z] = [7u32, 8, 9].map(|word| device.upload(&vec![word; N as usize]));
        let graph = named(&device.ctx, N, &mut x, &mut y, &mut z, &flag).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&y)[0], [2, 3, 4].into_iter().fold(8, step));
        device.nothing_reported();
    }
}
