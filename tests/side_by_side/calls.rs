//! Calls of graph functions: writes, buffers that are handed over and returned, order, and batches.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

use crate::steps::{add, axpy, copied, copy_to, doubled, scale, set, step};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
}

#[cuweave::graph]
fn both(n: u32, x: &[f32; n]) -> ([f32; n], [f32; n]) {
    let p = alloc::<f32>(n);
    let m = alloc::<f32>(n);
    parts[per_item(n)](&x, &mut p, &mut m, n);
    (p, m)
}

#[cuweave::graph]
fn moved(n: u32, h: [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    scale[per_item(n)](&mut h, 0.5, n);
    copy_to[per_item(n)](&h, &mut to, n);
}

#[cuweave::graph]
fn halves(n: u32, x: &[f32; 2 * n], to: &mut [MaybeUninit<f32>; 2 * n]) {
    let (lo, hi) = to.split_at_mut(n);
    copy_to[per_item(n)](&x[..n], &mut lo, n);
    copy_to[per_item(n)](&x[n..], &mut hi, n);
    scale[per_item(2 * n)](&mut to, 2.0, 2 * n);
}

#[cuweave::graph]
fn rows_of(n: u32, count: u32, to: &mut [MaybeUninit<f32>; n * count]) {
    for i in 0..count {
        set[per_item(n)](&mut to[i * n..(i + 1) * n], i as f32, n);
    }
}
#[cuweave::graph]
fn arms(n: u32, mode: u32, x: &[f32; n], to: &mut [MaybeUninit<f32>; n]) {
    if mode == 0 {
        copy(&x, &mut to);
    } else if mode == 1 {
        fill(&mut to, 7.0);
    } else {
        arms_inner(n, &x, &mut to);
    }
}
#[cuweave::graph]
fn arms_inner(n: u32, x: &[f32; n], to: &mut [MaybeUninit<f32>; n]) {
    copy_to[per_item(n)](&x, &mut to, n);
    scale[per_item(n)](&mut to, 10.0, n);
}
#[cuweave::graph]
fn caller1(n: u32, x: &[f32; 2 * n], out: &mut [f32; 2 * n]) {
    let t = alloc::<f32>(2 * n);
    halves(n, &x, &mut t);
    let u = alloc::<f32>(2 * n);
    for mode in 0..3 {
        arms(n, mode, &t[..n], &mut u[..n]);
    }
    rows_of(n, 1, &mut u[n..]);
    copy(&u, &mut out);
}
#[test]
fn written_parameters_are_written_by_callees() {
    let d = device();
    let x = d.upload(&[1.0f32, 2.0, 3.0, 4.0]);
    let mut out = d.zeros::<f32>(4);
    launched!(d, caller1(&d.ctx, 2, &x, &mut out), out, [20.0, 40.0, 0.0, 0.0]);
}

#[cuweave::graph]
fn assigned(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = copied(n, &x);
    for _ in 0..steps {
        a = doubled(n, &a);
    }
    copy(&a, &mut out);
}
#[cuweave::graph]
fn assigned_flat(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let mut a = copied(n, &x);
    a = doubled(n, &a);
    a = doubled(n, &a);
    let (mut p, mut m) = both(n, &a);
    (p, m) = both(n, &p);
    (_, m) = both(n, &m);
    add[per_item(n)](&p, &m, &mut a, n);
    copy(&a, &mut out);
}
#[test]
fn what_calls_return_is_assigned() {
    let d = device();
    let x = d.upload(&[1.0f32, -2.0]);
    let mut out = d.zeros::<f32>(2);
    for steps in 0..4 {
        let f = 2f32.powi(steps);
        launched!(d, assigned(&d.ctx, 2, steps as u32, &x, &mut out), out, [f, -2.0 * f]);
    }
    launched!(d, assigned_flat(&d.ctx, 2, &x, &mut out), out, [4.0, 0.0]);
}

#[cuweave::graph]
fn ordered(n: u32, x: &mut [f32; n], y: &mut [f32; n], z: &[f32; n]) {
    let first = step(n, 1.0, &z, &mut x);
    #[after(first)]
    let second = step(n, 2.0, &z, &mut y);
    #[after(second, first)]
    scale[per_item(n)](&mut x, 1.0, n);
    #[after(second)]
    step(n, 3.0, &z, &mut x);
}
#[test]
fn order_is_given_between_calls() {
    let d = device();
    let z = d.upload(&[1.0f32; 4]);
    let mut x = d.upload(&[1.0f32; 4]);
    let mut y = d.upload(&[1.0f32; 4]);
    cuweave::__private::change_next_rules(|_, _, rules| rules.allowed.fuse = false);
    let graph = ordered(&d.ctx, 4, &mut x, &mut y, &z).expect("builds");
    assert_eq!(graph.report().depth, 7, "{}", graph.report());
}

#[cuweave::graph]
fn shadowing(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let x = copied(n, &x);
    {
        let x = doubled(n, &x);
        {
            let x = doubled(n, &x);
            copy(&x, &mut out);
        }
        axpy[per_item(n)](1.0, &x, &mut out, n);
    }
    axpy[per_item(n)](1.0, &x, &mut out, n);
    let n = n;
    for n in 0..2u32 {
        scale[per_item(2)](&mut out, (n + 1) as f32, 2);
    }
    let _ = n;
}

#[cuweave::graph]
fn views(n: u32, x: &[f32; 4 * n], out: &mut [f32; 4 * n]) {
    let (lo, hi) = out.split_at_mut(2 * n);
    step(2 * n, 1.0, &x[n..3 * n], lo);
    step(n, 2.0, &x[..n], &mut hi[n..]);
    step(n, 3.0, &x[..n], &mut hi[..n]);
    let part = copied(n, &out[n..2 * n]);
    axpy[per_item(n)](1.0, &part, &mut out[..n], n);
}
#[test]
fn names_are_shadowed_and_views_are_lent() {
    let d = device();
    let x = d.upload(&[1.0f32; 2]);
    let mut out = d.zeros::<f32>(2);
    launched!(d, shadowing(&d.ctx, 2, &x, &mut out), out, [14.0; 2]);
    let x = d.upload(&[1.0f32, 2.0, 3.0, 4.0]);
    for seed in 0..4 {
        d.schedule(seed);
        let mut out = d.zeros::<f32>(4);
        let mut exec = views(&d.ctx, 1, &x, &mut out).expect("builds").instantiate().unwrap();
        exec.launch(&d.stream).unwrap();
        drop(exec);
        assert_eq!(d.download(&out), [4.0 + 6.0, 6.0, 6.0, 4.0]);
    }
    d.schedule(0);
}

#[cuweave::graph]
fn count(n: u32, k: u32, x: &[u32; n], bins: &mut [u32; k]) {
    histogram[per_item(n)](&x, atomic(&mut bins), n, k);
}
#[cuweave::graph]
fn counted(n: u32, k: u32, a: &[u32; n], b: &[u32; n], out: &mut [u32; k]) {
    let bins = alloc::<u32>(k);
    fill(&mut bins, 0);
    count(n, k, &a, &mut bins);
    count(n, k, &b, &mut bins);
    copy(&bins, &mut out);
}
#[test]
fn atomics_reach_through_calls() {
    let d = device();
    let a = d.upload(&[0u32, 1, 2, 3]);
    let b = d.upload(&[0u32, 0, 2, 3]);
    let mut out = d.zeros::<u32>(4);
    launched!(d, counted(&d.ctx, 4, 4, &a, &b, &mut out), out, [3, 1, 2, 2]);
    let graph = counted(&d.ctx, 4, 4, &a, &b, &mut out).unwrap();
    assert_eq!(graph.report().depth, 3, "{}", graph.report());
}

#[cuweave::graph]
fn produce(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = doubled(n, &x);
    let k = doubled(n, &h);
    k
}
#[cuweave::graph]
fn consume(n: u32, h: [f32; n], out: &mut [f32; n]) {
    moved(n, h, &mut out);
}
#[test]
fn taken_over_buffers_are_passed_on() {
    let d = device();
    let x = d.upload(&[1.0f32; 2]);
    let mut out = d.zeros::<f32>(2);
    let mut one = produce(&d.ctx, 2, &x).unwrap().instantiate().unwrap();
    let mut two = consume(&d.ctx, 2, one.output(), &mut out).expect("builds").instantiate().unwrap();
    let h = one.launch(&d.stream).unwrap();
    two.launch(&d.stream, (h,)).unwrap();
    d.stream.synchronize().unwrap();
    drop(two);
    assert_eq!(d.download(&out), [2.0; 2]);
}

#[cuweave::graph(order = "explicit")]
fn explicit_pair(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    #[after(second)]
    let first = scale[per_item(n)](&mut y, 2.0, n);
    let second = axpy[per_item(n)](1.0, &x, &mut y, n);
}
#[cuweave::graph]
fn inferred_caller(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    scale[per_item(n)](&mut y, 3.0, n);
    explicit_pair(n, &x, &mut y);
    scale[per_item(n)](&mut y, 5.0, n);
}
#[cuweave::graph(order = "explicit")]
fn explicit_caller(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    let a = step(n, 1.0, &x, &mut y);
    #[after(a)]
    let b = scale[per_item(n)](&mut y, 3.0, n);
    #[after(b)]
    step(n, 2.0, &x, &mut y);
}
#[test]
fn each_function_has_its_own_order() {
    let d = device();
    let x = d.upload(&[1.0f32; 2]);
    for seed in 0..4 {
        d.schedule(seed);
        let mut y = d.upload(&[1.0f32; 2]);
        let mut exec = inferred_caller(&d.ctx, 2, &x, &mut y).expect("builds").instantiate().unwrap();
        exec.launch(&d.stream).unwrap();
        drop(exec);
        assert_eq!(d.download(&y), [(3.0 + 1.0) * 2.0 * 5.0; 2]);
        let mut y = d.upload(&[1.0f32; 2]);
        let mut exec = explicit_caller(&d.ctx, 2, &x, &mut y).expect("builds").instantiate().unwrap();
        exec.launch(&d.stream).unwrap();
        drop(exec);
        assert_eq!(d.download(&y), [(((1.0 + 1.0) * 2.0 * 3.0) + 2.0) * 2.0; 2]);
    }
    d.schedule(0);
}

#[cuweave::graph]
fn ping(n: u32, depth: u32, x: &mut [f32; n]) {
    if depth > 0 {
        pong(n, depth - 1, &mut x);
    }
}
#[cuweave::graph]
fn pong(n: u32, depth: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    if depth > 0 {
        ping(n, depth - 1, &mut x);
    }
}
#[test]
fn cycles_of_calls_are_refused() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 2]);
    // Also if the call is not reached.
    for depth in [0, 1, 5, u32::MAX] {
        let error = ping(&device.ctx, 2, depth, &mut x).expect_err("it has no end").to_string();
        assert!(error.ends_with("this call recurses without end: ping -> pong -> ping"), "{error}");
        let error = entered(&device.ctx, 2, &mut x).expect_err("it has no end").to_string();
        assert!(error.ends_with("this call recurses without end: ping -> pong -> ping"), "{error}");
    }
}

/// It is outside of the cycle.
#[cuweave::graph]
fn entered(n: u32, x: &mut [f32; n]) {
    ping(n, 0, &mut x);
}

#[cuweave::graph]
fn layer(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    let gate = scale[per_item(n)](&mut h, 2.0, n);
    #[after(gate)]
    copy_to[per_item(n)](&h, &mut out, n);
}

#[cuweave::graph]
fn sixteen_calls(n: u32, count: u32, x: &[f32; count * n], out: &mut [f32; count * n]) {
    for i in 0..count {
        layer(n, &x[i * n..(i + 1) * n], &mut out[i * n..(i + 1) * n]);
    }
}

#[cuweave::graph]
fn sixteen_flat(n: u32, x: &[f32; 16 * n], out: &mut [f32; 16 * n]) {
    for i in 0..16 {
        let h = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut h, n);
        scale[per_item(n)](&mut h, 2.0, n);
        copy_to[per_item(n)](&h, &mut out[i * n..(i + 1) * n], n);
    }
}

#[test]
fn calls_are_batched_as_if_written_flat() {
    let device = device();
    let x = device.upload(&(0..64).map(|i| i as f32).collect::<Vec<_>>());
    let mut out = device.zeros::<f32>(64);
    let want: Vec<f32> = (0..64).map(|i| 2.0 * i as f32).collect();
    launched!(device, sixteen_calls(&device.ctx, 4, 16, &x, &mut out), out, want);
    let counts = |report: cuweave::report::Report| (report.launches, report.depth, report.kernels);
    let flat = counts(sixteen_flat(&device.ctx, 4, &x, &mut out).expect("builds").report());
    let calls = sixteen_calls(&device.ctx, 4, 16, &x, &mut out).expect("builds");
    assert_eq!(counts(calls.report()), flat);
    assert_eq!(flat.0, 48);
    assert!(flat.2 < 10, "{flat:?}");
    assert!(calls.dot().contains("layer[0].gate"), "{}", calls.dot());
}

/// A callee whose launches stay as written, together with others.
#[cuweave::graph(launches = "as-written")]
fn layer_as_written(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy_to[per_item(n)](&x, &mut out, n);
}

#[cuweave::graph]
fn options_of_callees(n: u32, x: &[f32; 16 * n], out: &mut [f32; 16 * n], other: &mut [f32; 16 * n]) {
    for i in 0..16 {
        layer_as_written(n, &x[i * n..(i + 1) * n], &mut out[i * n..(i + 1) * n]);
        set[per_item(n)](&mut other[i * n..(i + 1) * n], 1.0, n);
    }
}

#[cuweave::graph(launches = "as-written")]
fn options_of_callers(n: u32, x: &[f32; 16 * n], out: &mut [f32; 16 * n], other: &mut [f32; 16 * n]) {
    for i in 0..16 {
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut out[i * n..(i + 1) * n], n);
    }
    ones(n, &mut other);
}

#[cuweave::graph]
fn ones(n: u32, out: &mut [f32; 16 * n]) {
    for i in 0..16 {
        set[per_item(n)](&mut out[i * n..(i + 1) * n], 1.0, n);
    }
}

#[test]
fn the_option_of_launches_is_that_of_each_function() {
    let device = device();
    let x = device.upload(&(0..64).map(|i| i as f32).collect::<Vec<_>>());
    let (mut out, mut other) = (device.zeros::<f32>(64), device.zeros::<f32>(64));
    for graph in [
        options_of_callees(&device.ctx, 4, &x, &mut out, &mut other).expect("builds").report(),
        options_of_callers(&device.ctx, 4, &x, &mut out, &mut other).expect("builds").report(),
    ] {
        // One launch replaces the sixteen launches of `set`.
        assert_eq!((graph.launches, graph.kernels), (32, 17), "{graph}");
    }
}

mod scaled_by {
    use cuweave::prelude::*;

    #[cuweave::graph]
    pub fn by(n: u32, factor: f32, x: &mut [f32; n]) {
        super::scale[per_item(n)](&mut x, factor, n);
    }
}
use scaled_by::by as multiplied;

#[cuweave::graph]
fn renamed(n: u32, factor: f32, x: &mut [f32; n]) {
    multiplied(n, 2.0 * factor, &mut x);
}

/// A name that was imported refers to the function, also in the setters of its arguments.
#[test]
fn functions_are_imported_under_other_names() {
    let device = device();
    let mut x = device.upload(&[1.0_f32; 2]);
    let mut exec = renamed(&device.ctx, 2, 3.0, &mut x).expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("it launches");
    exec.set_factor(5.0).expect("it has a setter");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&x), [60.0; 2]);
}
