//! Allocations, fills, copies and frees.

use cuweave::prelude::*;

use crate::support::{device, pinned, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn parts(x: &[f32; n], pos: &mut [MaybeUninit<f32>; n], neg: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn fills(
    n: u32,
    a: &mut [u8; n],
    b: &mut [i16; n],
    c: &mut [f32; n],
    d: &mut [f64; n],
    value: u64,
    e: &mut [u64; n],
) {
    fill(&mut a, 7);
    fill(&mut b, -2);
    fill(&mut c, -1.5);
    fill(&mut d, 0.25);
    fill(&mut e, value);
}

#[test]
fn fills_of_every_width() {
    let device = device();
    let n = 33;
    let mut a = device.zeros::<u8>(n);
    let mut b = device.zeros::<i16>(n);
    let mut c = device.zeros::<f32>(n);
    let mut d = device.zeros::<f64>(n);
    let mut e = device.zeros::<u64>(n);
    let value = 0x0123_4567_89ab_cdef;
    run!(device, fills(&device.ctx, n as u32, &mut a, &mut b, &mut c, &mut d, value, &mut e));
    assert_eq!(device.download(&a), [7; 33]);
    assert_eq!(device.download(&b), [-2; 33]);
    assert_eq!(device.download(&c), [-1.5; 33]);
    assert_eq!(device.download(&d), [0.25; 33]);
    assert_eq!(device.download(&e), [value; 33]);
}

#[cuweave::graph]
fn through_a_copy(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let mut h = alloc::<f32>(n);
    copy(&x, &mut h);
    scale[per_item(n)](&mut h, 3.0, n);
    copy(&h, &mut out);
}

#[test]
fn copies_and_a_mutable_let() {
    let device = device();
    let x = device.upload(&ramp(70));
    let mut out = device.zeros::<f32>(70);
    run!(device, through_a_copy(&device.ctx, 70, &x, &mut out));
    assert_eq!(device.download(&out), ramp(70).iter().map(|x| x * 3.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn early_free(n: u32, out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    iota[per_item(n)](&mut a, 1.0, n);
    copy(&a, &mut out);
    free(a);
    {
        let b = alloc::<f32>(n);
        set[per_item(n)](&mut b, 10.0, n);
        axpy[per_item(n)](1.0, &b, &mut out, n);
        free(b);
    }
}

#[test]
fn an_early_free_and_a_block() {
    let device = device();
    let mut out = device.zeros::<f32>(40);
    run!(device, early_free(&device.ctx, 40, &mut out));
    assert_eq!(device.download(&out), ramp(40).iter().map(|x| x + 11.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn shadowed(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 1.0, n);
    copy(&h, &mut out);
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 2.0, n);
    {
        let h = alloc::<f32>(n);
        set[per_item(n)](&mut h, 4.0, n);
        axpy[per_item(n)](1.0, &h, &mut out, n);
    }
    axpy[per_item(n)](1.0, &h, &mut out, n);
}

#[test]
fn shadowing_means_what_it_means_in_rust() {
    let device = device();
    let mut out = device.zeros::<f32>(16);
    run!(device, shadowed(&device.ctx, 16, &mut out));
    assert_eq!(device.download(&out), [7.0; 16]);
}

/// Two outputs of one launch. One is deliberately unused: names that begin with `_` cause no warning.
#[cuweave::graph]
fn unused(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let _never = alloc::<f32>(n);
    let _neg = alloc::<f32>(n);
    parts[per_item(n)](&x, &mut out, &mut _neg, n);
}

#[test]
fn unused_buffers_with_an_underscore() {
    let device = device();
    let x = device.upload(&[-1.0, 2.0, -3.0]);
    let mut out = device.zeros::<f32>(3);
    run!(device, unused(&device.ctx, 3, &x, &mut out));
    assert_eq!(device.download(&out), [0.0, 2.0, 0.0]);
}

/// A reference argument that is passed by name has its declared borrow.
#[cuweave::graph]
fn bare(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    axpy[per_item(n)](2.0, x, out, n);
    scale[per_item(n)](out, 0.5, n);
}

#[test]
fn bare_arguments() {
    let device = device();
    let x = device.upload(&ramp(20));
    let mut out = device.zeros::<f32>(20);
    run!(device, bare(&device.ctx, 20, &x, &mut out));
    assert_eq!(device.download(&out), ramp(20));
}

const WIDTH: usize = 24;

/// Lengths that are constants and literals, and an allocation whose length depends on an argument.
#[cuweave::graph]
fn constants(x: &[f32; WIDTH], out: &mut [f32; 24]) {
    let h = alloc::<f32>(WIDTH);
    copy(&x, &mut h);
    scale[(1, 32)](&mut h, -1.0, 24);
    copy(&h, &mut out);
}

#[test]
fn lengths_are_constants() {
    let device = device();
    let x = device.upload(&ramp(24));
    let mut out = device.zeros::<f32>(24);
    run!(device, constants(&device.ctx, &x, &mut out));
    assert_eq!(device.download(&out), ramp(24).iter().map(|x| -x).collect::<Vec<_>>());
}

/// Host scalars in expressions: methods, casts, arithmetic, signed numbers.
#[cuweave::graph]
fn expressions(n: u64, a: f32, shift: i32, x: &mut [f32; n]) {
    scale[per_item(n as u32)](&mut x, a.sqrt() * 2.0, n as u32);
    scale[per_item(n as u32)](&mut x, -(shift as f32), n as u32);
}

#[test]
fn host_expressions_in_arguments() {
    let device = device();
    let mut x = device.upload(&ramp(20));
    run!(device, expressions(&device.ctx, 20, 9.0, -3, &mut x));
    assert_eq!(device.download(&x), ramp(20).iter().map(|x| x * 18.0).collect::<Vec<_>>());
}

/// A graph without statements.
#[cuweave::graph]
fn empty() {}

#[test]
fn an_empty_graph() {
    let device = device();
    run!(device, empty(&device.ctx));
}

#[cuweave::graph]
fn to_and_from_the_host(n: u32, from: &Pinned<[f32; n]>, to: &mut Pinned<[f32; n]>) {
    let h = alloc::<f32>(n);
    copy(&from, &mut h);
    scale[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut to);
}

#[test]
fn pinned_memory_at_both_ends() {
    let device = device();
    let mut from = pinned(&device.ctx, &[0f32; 48]);
    let mut to = pinned(&device.ctx, &[0f32; 48]);
    from.as_mut_slice().expect("the host side").copy_from_slice(&ramp(48));
    run!(device, to_and_from_the_host(&device.ctx, 48, &from, &mut to));
    device.stream.synchronize().expect("no error");
    assert_eq!(to.as_slice().expect("the host side"), ramp(48).iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn on_the_host(n: u32, from: &Pinned<[f32; n]>, to: &mut Pinned<[f32; n]>, out: &mut [f32; n]) {
    copy(&from, &mut to);
    copy(&to[..n], &mut out);
}

#[test]
fn pinned_memory_at_both_ends_of_one_copy() {
    let device = device();
    let (mut from, mut to, mut out) =
        (pinned(&device.ctx, &[0f32; 6]), pinned(&device.ctx, &[0f32; 6]), device.zeros::<f32>(6));
    from.as_mut_slice().expect("the host side").copy_from_slice(&ramp(6));
    run!(device, on_the_host(&device.ctx, 6, &from, &mut to, &mut out));
    assert_eq!(device.download(&out), ramp(6));
    assert_eq!(to.as_slice().expect("the host side"), ramp(6));
}
