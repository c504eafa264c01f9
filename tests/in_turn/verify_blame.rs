//! Verifications find planted differences in rewritten kernels, and name the node. Also `CUWEAVE_VERIFY`.

use cuweave::__private::change_code;
use cuweave::Error;
use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave::verify::{DifferenceCause, Rewriting, RewrittenNode, Verification};
use cuweave_testkit::device::{alone, pinned};
use cuweave_testkit::process::apart;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/state.ptx")]
unsafe extern "ptx-kernel" {
    fn state_set(value: u32);
    fn state_get(out: &mut [MaybeUninit<u32>; 1]);
    fn odd_numbers(out: &mut [MaybeUninit<u32>; n], n: u32);
}

const N: u32 = 300;

fn ramp(first: f32) -> Vec<f32> {
    (0..N).map(|at| first + at as f32).collect()
}

/// A chain of launches that are fused, of two that are batched, and a launch that is neither.
#[cuweave::graph]
fn chained(n: u32, x: &mut [f32; n]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    let second = scale[per_item(n)](&mut x, 3.0, n);
}

#[cuweave::graph(launches = "batched")]
fn batched(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    let second = scale[per_item(n)](&mut y, 3.0, n);
}

#[cuweave::graph]
fn alone_in_a_node(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    let only = axpy[per_item(n)](2.0, &x, &mut y, n);
}

/// Changes the code that this thread loads, while it lives.
struct ChangedCode;

impl ChangedCode {
    /// Replaces an instruction in the modules that contain `kernel`, a part of their text.
    fn new(kernel: &'static str, from: &'static str, to: &'static str) -> ChangedCode {
        change_code(Some(Box::new(move |text| text.contains(kernel).then(|| text.replace(from, to)))));
        ChangedCode
    }
}

impl Drop for ChangedCode {
    fn drop(&mut self) {
        change_code(None);
    }
}

/// Returns the node that causes the difference.
fn blamed(verification: &Verification) -> &RewrittenNode {
    assert!(!verification.is_equal(), "{verification}");
    let difference = verification.difference().expect("a difference");
    match &difference.cause {
        DifferenceCause::Node(node) => node,
        _ => panic!("{verification}"),
    }
}

fn names(node: &RewrittenNode) -> Vec<&str> {
    node.statements.iter().map(|statement| statement.name.as_str()).collect()
}

#[test]
fn a_fused_kernel_that_computes_otherwise_is_named() {
    let device = alone();
    let mut x = device.upload(&ramp(1.0));
    {
        let _changed = ChangedCode::new("cuweave_fused", "mul.f32", "add.f32");
        let mut exec = chained(&device.ctx, N, &mut x).expect("a graph").instantiate().expect("an exec");
        assert_eq!(exec.report().fused.len(), 1);
        let verification = exec.verify(&device.stream).expect("a verification");
        let node = blamed(&verification);
        assert_eq!((names(node), node.rewriting), (vec!["first", "second"], Rewriting::Fused));
        assert_eq!(node.kernels, ["scale"]);
        let stores = node.stores.iter();
        let stores: Vec<_> =
            stores.map(|store| (store.statement.name.as_str(), store.buffer.as_str())).collect();
        assert_eq!(stores, [("first", "x"), ("second", "x")]);
        for store in &node.stores {
            let line =
                include_str!("../kernels/common.ptx").lines().nth(store.line as usize - 1).expect("a line");
            assert!(line.trim().starts_with("st.global.f32"), "{line}");
            assert!(store.text.starts_with("st.global.f32"), "{store}");
        }
        let difference = verification.difference().expect("a difference");
        assert_eq!((difference.buffer.name.as_str(), difference.element, difference.launch), ("x", 1, 1));
        // 2 * 2 * 3 instead of 2 + 2 + 3; the first elements are 1 * 2 * 3 and 1 + 2 + 3.
        assert_eq!(difference.expected.to_string(), "12 (0x41400000)");
        assert_eq!(difference.found.to_string(), "7 (0x40e00000)");
        let text = verification.to_string();
        for part in [
            "element 1 of `x`",
            "7 (0x40e00000) instead of 12",
            "`scale` as fused for `first`",
            "verify_blame.rs:",
            "\n  = note: tests/kernels/common.ptx:",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
    assert_eq!(device.download(&x), ramp(1.0), "it is restored");
    device.nothing_reported();
}

#[test]
fn a_batched_kernel_that_computes_otherwise_is_named() {
    let device = alone();
    let (mut x, mut y) = (device.upload(&ramp(1.0)), device.upload(&ramp(2.0)));
    let _changed = ChangedCode::new("cuweave_batch", "mul.f32", "sub.f32");
    let mut exec = batched(&device.ctx, N, &mut x, &mut y).expect("a graph").instantiate().expect("an exec");
    assert_eq!(exec.report().batches.len(), 1);
    let verification = exec.verify(&device.stream).expect("a verification");
    let node = blamed(&verification);
    assert_eq!((names(node), node.rewriting), (vec!["first", "second"], Rewriting::Batched));
    drop(exec);
    assert_eq!((device.download(&x), device.download(&y)), (ramp(1.0), ramp(2.0)));
    device.nothing_reported();
}

/// Kernels that wait by themselves are rewritten, too.
#[test]
fn a_waiting_kernel_that_computes_otherwise_is_named() {
    let device = alone();
    let (x, mut y) = (device.upload(&ramp(1.0)), device.upload(&ramp(2.0)));
    let _changed = ChangedCode::new("griddepcontrol.wait", "fma.rn.f32", "fma.rz.f32");
    let mut exec =
        alone_in_a_node(&device.ctx, N, &x, &mut y).expect("a graph").instantiate().expect("an exec");
    let verification = exec.verify(&device.stream).expect("a verification");
    assert!(verification.is_equal(), "{verification}");
    drop(exec);
    let _changed =
        ChangedCode::new("griddepcontrol.wait", "fma.rn.f32 \t%f4, %f2, %f1", "fma.rn.f32 \t%f4, %f1, %f1");
    let mut exec =
        alone_in_a_node(&device.ctx, N, &x, &mut y).expect("a graph").instantiate().expect("an exec");
    let verification = exec.verify(&device.stream).expect("a verification");
    if device.ctx.compute_capability().is_ok_and(|(major, _)| major >= 9) {
        let node = blamed(&verification);
        assert_eq!((names(node), node.rewriting), (vec!["only"], Rewriting::Waiting));
    } else {
        assert!(verification.is_equal(), "{verification}");
    }
    device.nothing_reported();
}

#[cuweave::graph]
fn stored(value: u32) {
    state_set[(1, 1)](value);
}

#[cuweave::graph]
fn with_a_table(n: u32, value: &mut [u32; 1], out: &mut [u32; n]) {
    state_get[(1, 1)](&mut value);
    let odd = odd_numbers[per_item(n)](&mut out, n);
}

/// A file with variables has both forms of kernels that only read a table, and one of those that share a variable.
#[test]
fn a_kernel_with_a_table_is_compared_as_written() {
    let device = alone();
    let (mut value, mut out) = (device.zeros::<u32>(1), device.zeros::<u32>(8));
    {
        let mut store = stored(&device.ctx, 41).expect("a graph").instantiate().expect("an exec");
        store.launch(&device.stream).expect("a launch");
        let graph = with_a_table(&device.ctx, 8, &mut value, &mut out).expect("a graph");
        let mut exec = graph.instantiate().expect("an exec");
        let verification = exec.verify(&device.stream).expect("a verification");
        assert!(verification.is_equal(), "{verification}");
        exec.launch(&device.stream).expect("a launch");
    }
    assert_eq!(device.download(&value), [41], "the verification sees the variable of the launches");
    assert_eq!(device.download(&out), [1, 3, 5, 7, 1, 3, 5, 7]);
    // Nothing uses the file any more, so it is loaded again.
    let _changed = ChangedCode::new("griddepcontrol.wait", "shl.b32 \t%r6, %r1, 2", "shl.b32 \t%r6, %r1, 3");
    let graph = with_a_table(&device.ctx, 8, &mut value, &mut out).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    let verification = exec.verify(&device.stream).expect("a verification");
    if device.ctx.compute_capability().is_ok_and(|(major, _)| major >= 9) {
        assert_eq!(names(blamed(&verification)), ["odd"]);
    } else {
        assert!(verification.is_equal(), "{verification}");
    }
    device.nothing_reported();
}

/// Of several rewritten nodes, the one with the difference is named.
#[test]
fn one_of_many_nodes_is_named() {
    let device = alone();
    let mut b = Builder::with_name(&device.ctx, "many");
    let x = b.exclusive("x", N, device.upload(&ramp(1.0)));
    let y = b.exclusive("y", N, device.upload(&ramp(2.0)));
    for _ in 0..4 {
        b.launch(scale {}, per_item(N), (x.write(), 2.0f32, N)).expect("a launch");
        b.launch(scale {}, per_item(N), (x.write(), 2.0f32, N)).expect("a launch");
        // Another grid, so the chain ends.
        b.launch(axpy {}, (N, 1), (2.0f32, &x, y.write(), N)).expect("a launch");
    }
    b.launch(axpy {}, per_item(N), (2.0f32, &y, x.write(), N)).expect("a launch");
    b.launch(scale {}, per_item(N), (x.write(), 2.0f32, N)).expect("a launch");
    // Only the last chain has both kernels.
    change_code(Some(Box::new(|text| {
        let both = text.contains("cuweave_fused") && text.contains("fma.rn.f32") && text.contains("mul.f32");
        both.then(|| text.replace("mul.f32", "add.f32"))
    })));
    let _changed = ChangedCode;
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let verification = exec.verify(&device.stream).expect("a verification");
    let node = blamed(&verification);
    assert_eq!(node.rewriting, Rewriting::Fused, "{verification}");
    assert_eq!(node.kernels, ["axpy", "scale"], "{verification}");
    device.nothing_reported();
}

#[cuweave::graph]
fn doubled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph]
fn with_host(n: u32, seen: &mut Pinned<[f32; n]>) {
    host(&mut seen, |seen| seen[0] += 1.0);
}

#[test]
fn the_environment_verifies_first_launches() {
    apart("verify_blame::first_launches", &[("CUWEAVE_VERIFY", "1")]);
}

#[test]
#[ignore = "runs in a process of its own"]
fn first_launches() {
    let device = alone();
    let mut x = device.upload(&ramp(1.0));
    let mut exec = doubled(&device.ctx, N, &mut x).expect("a graph").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it is equal");
    exec.launch(&device.stream).expect("a launch");
    assert_eq!(exec.launches(), 2);
    drop(exec);
    let quadruple: Vec<f32> = ramp(1.0).iter().map(|value| 4.0 * value).collect();
    assert_eq!(device.download(&x), quadruple);

    let mut x = device.upload(&ramp(1.0));
    let _changed = ChangedCode::new("cuweave_fused", "mul.f32", "add.f32");
    let mut exec = chained(&device.ctx, N, &mut x).expect("a graph").instantiate().expect("an exec");
    let error = exec.launch(&device.stream).expect_err("it differs");
    assert!(matches!(&error, Error::Verification(_)), "{error}");
    assert!(error.to_string().contains("`chained` does not compute what its statements do"), "{error}");
    drop(exec);
    assert_eq!(device.download(&x), ramp(1.0));

    // What cannot be verified is launched.
    let mut seen = pinned(&device.ctx, &[1.0f32]);
    let mut exec = with_host(&device.ctx, 1, &mut seen).expect("a graph").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
}
