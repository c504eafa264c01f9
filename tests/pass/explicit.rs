//! Options, and explicit order.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn bump(total: &[Atomic<u32>; 1], count: u32);
}

/// All edges are explicit. A statement frees `h`, and the compiler frees `g`.
#[cuweave::graph(order = "explicit")]
fn by_hand(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let g = alloc::<f32>(n);
    #[after(h)]
    let a = copy(&x, &mut h);
    #[after(g)]
    let b = fill(&mut g, 10.0);
    #[after(a)]
    let c = scale[per_item(n)](&mut h, 2.0, n);
    #[after(b, c)]
    let d = add[per_item(n)](&h, &g, &mut out, n);
    #[after(d)]
    free(h);
    #[after(a)]
    scale[per_item(n)](&mut x, 0.0, n);
}

#[test]
fn all_edges_by_hand() {
    let device = device();
    let mut x = device.upload(&ramp(21));
    let mut out = device.zeros::<f32>(21);
    run!(device, by_hand(&device.ctx, 21, &mut x, &mut out));
    assert_eq!(device.download(&out), ramp(21).iter().map(|x| 2.0 * x + 10.0).collect::<Vec<_>>());
    assert_eq!(device.download(&x), [0.0; 21]);
}

/// Nothing needs order: disjoint halves, shared reads, and atomics.
#[cuweave::graph(order = "explicit")]
fn free_for_all(n: u32, x: &[f32; n], out: &mut [f32; 2 * n], total: &mut [u32; 1]) {
    copy(&x, &mut out[0..n]);
    copy(&x, &mut out[n..2 * n]);
    bump[(1, 32)](atomic(&mut total), 1);
    bump[(1, 32)](atomic(&mut total), 2);
}

#[test]
fn nothing_to_order() {
    let device = device();
    let x = device.upload(&ramp(9));
    let mut out = device.zeros::<f32>(18);
    let mut total = device.zeros::<u32>(1);
    run!(device, free_for_all(&device.ctx, 9, &x, &mut out, &mut total));
    assert_eq!(device.download(&out), [ramp(9), ramp(9)].concat());
    assert_eq!(device.download(&total), [96]);
}

/// Edges may refer to later statements.
#[cuweave::graph(order = "explicit")]
fn backwards(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    #[after(first)]
    scale[per_item(n)](&mut x, 2.0, n);
    let first = scale[per_item(n)](&mut y, 2.0, n);
}

#[test]
fn explicit_edges_point_forward() {
    let device = device();
    let mut x = device.upload(&ramp(4));
    let mut y = device.upload(&ramp(4));
    run!(device, backwards(&device.ctx, 4, &mut x, &mut y));
    assert_eq!(device.download(&x), device.download(&y));
}

/// Order through an alloc and a free: `h` waits for the last use of `x`.
#[cuweave::graph(order = "explicit")]
fn through_memory(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
    let last = scale[per_item(n)](&mut x, 3.0, n);
    #[after(last)]
    let h = alloc::<f32>(n);
    #[after(h)]
    let filled = copy(&x, &mut h);
    #[after(filled)]
    copy(&h, &mut out);
}

#[test]
fn order_through_an_alloc() {
    let device = device();
    let mut x = device.upload(&ramp(13));
    let mut out = device.zeros::<f32>(13);
    run!(device, through_memory(&device.ctx, 13, &mut x, &mut out));
    assert_eq!(device.download(&out), ramp(13).iter().map(|x| x * 3.0).collect::<Vec<_>>());
}

#[cuweave::graph(memory = "nodes")]
fn nodes(n: u32, out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    set[per_item(n)](&mut a, 1.0, n);
    set[per_item(n)](&mut b, 2.0, n);
    add[per_item(n)](&a, &b, &mut out, n);
}

#[cuweave::graph(launches = "as-written")]
fn as_written(n: u32, out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    set[per_item(n)](&mut a, 1.5, n);
    add[per_item(n)](&a, &a, &mut out, n);
}

#[cuweave::graph(order = "explicit", memory = "nodes", launches = "as-written")]
fn all_options(n: u32, out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    #[after(a)]
    let one = set[per_item(n)](&mut a, 1.5, n);
    #[after(one)]
    add[per_item(n)](&a, &a, &mut out, n);
}

#[test]
fn options() {
    let device = device();
    let mut out = device.zeros::<f32>(7);
    run!(device, nodes(&device.ctx, 7, &mut out));
    assert_eq!(device.download(&out), [3.0; 7]);
    device.stream.memset_zeros(&mut out).expect("a memset");
    run!(device, as_written(&device.ctx, 7, &mut out));
    assert_eq!(device.download(&out), [3.0; 7]);
    device.stream.memset_zeros(&mut out).expect("a memset");
    run!(device, all_options(&device.ctx, 7, &mut out));
    assert_eq!(device.download(&out), [3.0; 7]);
}
