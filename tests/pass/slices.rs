//! Parts of buffers: sub-slices, views of a split, and the order that follows from them.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn bump(total: &[Atomic<u32>; 1], count: u32);
}

#[cuweave::graph]
fn halves(n: u32, out: &mut [f32; 2 * n]) {
    let h = alloc::<f32>(2 * n);
    set[per_item(n)](&mut h[0..n], 1.0, n);
    set[per_item(n)](&mut h[n..2 * n], 2.0, n);
    copy(&h, &mut out);
}

#[test]
fn disjoint_halves_cover_the_whole() {
    let device = device();
    let mut out = device.zeros::<f32>(20);
    run!(device, halves(&device.ctx, 10, &mut out));
    assert_eq!(device.download(&out)[..10], [1.0; 10]);
    assert_eq!(device.download(&out)[10..], [2.0; 10]);
}

/// Two parts of one buffer in one launch. They are provably disjoint, so there is no CW201.
#[cuweave::graph]
fn within(n: u32, k: u32, x: &mut [f32; 2 * n + k]) {
    copy_to[per_item(n)](&x[0..n], &mut x[n + k..2 * n + k], n);
    axpy[per_item(n)](1.0, &x[0..n], &mut x[n..2 * n], n);
}

#[test]
fn disjoint_parts_in_one_launch() {
    let device = device();
    let (n, k) = (8_usize, 3);
    let mut x = device.upload(&ramp(2 * n + k));
    run!(device, within(&device.ctx, n as u32, k as u32, &mut x));
    let mut want = ramp(2 * n + k);
    want.copy_within(0..n, n + k);
    for i in 0..n {
        want[n + i] += want[i];
    }
    assert_eq!(device.download(&x), want);
}

/// Ranges with one bound or none, as in Rust.
#[cuweave::graph]
fn open_ended(n: u32, k: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy(&x[..k], &mut out[..k]);
    copy(&x[k..], &mut out[k..]);
    scale[per_item(n)](&mut out[..], 2.0, n);
}

#[test]
fn open_ended_ranges() {
    let device = device();
    let x = device.upload(&ramp(30));
    let mut out = device.zeros::<f32>(30);
    run!(device, open_ended(&device.ctx, 30, 7, &x, &mut out));
    assert_eq!(device.download(&out), ramp(30).iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn split(n: u32, k: u32, x: &mut [f32; n], out: &mut [f32; n]) {
    let (lo, hi) = x.split_at_mut(k);
    scale[per_item(k)](&mut lo, 2.0, k);
    scale[per_item(n - k)](&mut hi, 3.0, n - k);
    copy(&x, &mut out);
}

#[test]
fn the_views_of_a_split() {
    let device = device();
    let mut x = device.upload(&ramp(30));
    let mut out = device.zeros::<f32>(30);
    run!(device, split(&device.ctx, 30, 12, &mut x, &mut out));
    let want: Vec<f32> = (0..30).map(|i| if i < 12 { 2.0 } else { 3.0 } * i as f32).collect();
    assert_eq!(device.download(&out), want);
}

/// A split of a split of an allocation; views in `fill`, `copy` and launches; and parts of views.
#[cuweave::graph]
fn quarters(n: u32, out: &mut [f32; 4 * n]) {
    let h = alloc::<f32>(4 * n);
    let (front, back) = h.split_at_mut(2 * n);
    let (first, second) = front.split_at_mut(n);
    fill(&mut first, 1.0);
    set[per_item(n)](&mut second, 2.0, n);
    add[per_item(n)](&first, &second, &mut back[0..n], n);
    copy(&back[0..n], &mut back[n..2 * n]);
    copy(&h, &mut out);
}

#[test]
fn splits_of_splits() {
    let device = device();
    let mut out = device.zeros::<f32>(20);
    run!(device, quarters(&device.ctx, 5, &mut out));
    let want: Vec<f32> = [1.0, 2.0, 3.0, 3.0].into_iter().flat_map(|x| [x; 5]).collect();
    assert_eq!(device.download(&out), want);
}

/// Both views of a split in one launch, one shared and one mutable.
#[cuweave::graph]
fn across(n: u32, x: &mut [f32; 2 * n]) {
    let (lo, hi) = x.split_at_mut(n);
    axpy[per_item(n)](10.0, &lo, &mut hi, n);
    axpy[per_item(n)](1.0, &hi, &mut lo, n);
}

#[test]
fn both_views_in_one_launch() {
    let device = device();
    let mut x = device.upload(&ramp(8));
    run!(device, across(&device.ctx, 4, &mut x));
    let mut want = ramp(8);
    for i in 0..4 {
        want[4 + i] += 10.0 * want[i];
    }
    for i in 0..4 {
        want[i] += want[4 + i];
    }
    assert_eq!(device.download(&x), want);
}

/// An atomic update of one element of a larger buffer.
#[cuweave::graph]
fn one_element(totals: &mut [u32; 4]) {
    fill(&mut totals, 100);
    bump[(2, 32)](atomic(&mut totals[2..3]), 1);
    bump[(1, 32)](atomic(&mut totals[0..1]), 2);
}

#[test]
fn an_atomic_part() {
    let device = device();
    let mut totals = device.zeros::<u32>(4);
    run!(device, one_element(&device.ctx, &mut totals));
    assert_eq!(device.download(&totals), [164, 100, 164, 100]);
}

/// One row of a matrix per iteration: the rows are disjoint, so the iterations are independent.
#[cuweave::graph]
fn rows(n: u32, m: &mut [f32; 8 * n]) {
    for i in 0..8 {
        set[per_item(n)](&mut m[i * n..(i + 1) * n], i as f32, n);
        scale[per_item(n)](&mut m[n * i..n * i + n], 2.0, n);
    }
}

#[test]
fn rows_of_a_matrix() {
    let device = device();
    let mut m = device.zeros::<f32>(40);
    run!(device, rows(&device.ctx, 5, &mut m));
    let want: Vec<f32> = (0..8).flat_map(|i| [2.0 * i as f32; 5]).collect();
    assert_eq!(device.download(&m), want);
}

#[test]
fn a_range_outside_its_buffer_is_an_error_that_names_it() {
    let device = device();
    let mut x = device.upload(&ramp(30));
    let mut out = device.zeros::<f32>(30);
    let error = split(&device.ctx, 30, 31, &mut x, &mut out).expect_err("31 is past the end");
    assert!(error.to_string().contains("`x"), "{error}");
}

#[cuweave::graph]
fn ghost_cells(n: u32, inner: &[f32; n], x: &mut [f32; n + 2]) {
    // A copy has at least one element, so the following ranges are disjoint.
    copy(&inner, &mut x[1..n + 1]);
    copy(&x[n..n + 1], &mut x[0..1]);
    copy(&x[1..2], &mut x[n + 1..n + 2]);
}

#[test]
fn ends_that_a_copy_keeps_apart() {
    let device = device();
    let (inner, mut x) = (device.upload(&[1.0, 2.0, 3.0, 4.0]), device.upload(&ramp(6)));
    run!(device, ghost_cells(&device.ctx, 4, &inner, &mut x));
    assert_eq!(device.download(&x), [4.0, 1.0, 2.0, 3.0, 4.0, 1.0]);
}

#[cuweave::graph]
fn reborrowed(n: u32, w: [&[f32; n]; 4], x: &mut [f32; 2 * n]) {
    for i in 0..2 {
        axpy[per_item(n)](i as f32 + 1.0, &*w[2 * i + 1], (&mut x[(1 - i) * n..(2 - i) * n]), n);
        axpy[per_item(n)](1.0, (w[i * 2]), &mut x[i * n..][..n], n);
    }
}

#[test]
fn the_less_usual_ways_to_name_a_part() {
    let device = device();
    let mut x = device.zeros::<f32>(6);
    let w: Vec<_> = (0..4).map(|i| device.upload(&[10f32.powi(i); 3])).collect();
    run!(device, reborrowed(&device.ctx, 3, [&w[0], &w[1], &w[2], &w[3]], &mut x));
    let (front, back) = (2.0 * 1000.0 + 1.0, 10.0 + 100.0);
    assert_eq!(device.download(&x), [front, front, front, back, back, back]);
}
