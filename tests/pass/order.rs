//! Names, `#[after]`, and the order that follows from reads and writes.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn nothing();
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// Reads after writes, writes after reads, and writes after writes are in program order, whatever the names.
#[cuweave::graph(launches = "as-written")]
fn hazards(n: u32, x: &mut [f32; n], y: &mut [f32; n], out: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    axpy[per_item(n)](1.0, &x, &mut y, n);
    fill(&mut x, 5.0);
    add[per_item(n)](&x, &y, &mut out, n);
    copy(&out, &mut x);
    scale[per_item(n)](&mut y, 0.0, n);
}

#[test]
fn program_order_is_the_meaning() {
    let device = device();
    let mut x = device.upload(&ramp(12));
    let mut y = device.upload(&[1.0_f32; 12]);
    let mut out = device.zeros::<f32>(12);
    run!(device, hazards(&device.ctx, 12, &mut x, &mut y, &mut out));
    let want: Vec<f32> = ramp(12).iter().map(|x| 5.0 + 2.0 * x + 1.0).collect();
    assert_eq!(device.download(&out), want);
    assert_eq!(device.download(&x), want);
    assert_eq!(device.download(&y), [0.0; 12]);
}

/// Every kind of statement may have a name and an `#[after]`.
#[cuweave::graph(launches = "as-written")]
fn named(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    #[after(first)]
    let second = fill(&mut y, 1.0);
    #[after(first, second)]
    let h = alloc::<f32>(n);
    #[after(h)]
    let third = copy(&x, &mut h);
    #[after(third)]
    axpy[per_item(n)](1.0, &h, &mut y, n);
    #[after(third)]
    free(h);
}

#[test]
fn names_of_every_kind_of_statement() {
    let device = device();
    let mut x = device.upload(&ramp(12));
    let mut y = device.zeros::<f32>(12);
    run!(device, named_without_early_free(&device.ctx, 12, &mut x, &mut y));
    assert_eq!(device.download(&y), ramp(12).iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>());
    let mut x = device.upload(&ramp(12));
    run!(device, named(&device.ctx, 12, &mut x, &mut y));
    assert_eq!(device.download(&y), ramp(12).iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>());
}

#[cuweave::graph(launches = "as-written")]
fn named_without_early_free(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    #[after(first)]
    let second = fill(&mut y, 1.0);
    #[after(first, second)]
    axpy[per_item(n)](1.0, &x, &mut y, n);
}

/// A name may be used before its statement if this does not create a cycle.
#[cuweave::graph(launches = "as-written")]
fn forward(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    #[after(later)]
    scale[per_item(n)](&mut x, 2.0, n);
    let later = scale[per_item(n)](&mut y, 3.0, n);
}

#[test]
fn a_name_before_its_statement() {
    let device = device();
    let mut x = device.upload(&ramp(5));
    let mut y = device.upload(&ramp(5));
    run!(device, forward(&device.ctx, 5, &mut x, &mut y));
    assert_eq!(device.download(&x), ramp(5).iter().map(|x| x * 2.0).collect::<Vec<_>>());
    assert_eq!(device.download(&y), ramp(5).iter().map(|x| x * 3.0).collect::<Vec<_>>());
}

/// Order between statements that share nothing: a user-defined barrier.
#[cuweave::graph(launches = "as-written")]
fn barrier(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let a = scale[per_item(n)](&mut x, 2.0, n);
    let b = scale[per_item(n)](&mut y, 3.0, n);
    #[after(a, b)]
    let all = nothing[(1, 1)]();
    #[after(all)]
    scale[per_item(n)](&mut x, 5.0, n);
    #[after(all)]
    scale[per_item(n)](&mut y, 7.0, n);
}

#[test]
fn a_barrier_of_the_users_own() {
    let device = device();
    let mut x = device.upload(&ramp(5));
    let mut y = device.upload(&ramp(5));
    run!(device, barrier(&device.ctx, 5, &mut x, &mut y));
    assert_eq!(device.download(&x), ramp(5).iter().map(|x| x * 10.0).collect::<Vec<_>>());
    assert_eq!(device.download(&y), ramp(5).iter().map(|x| x * 21.0).collect::<Vec<_>>());
}

/// A statement may have the name of its kernel, and a name may be reused.
#[cuweave::graph(launches = "as-written")]
fn same_names(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let scale = scale[per_item(n)](&mut x, 2.0, n);
    #[after(scale)]
    let step = fill(&mut y, 1.0);
    #[after(step)]
    let step = axpy[per_item(n)](1.0, &x, &mut y, n);
    #[after(step)]
    nothing[(1, 1)]();
}

#[test]
fn a_statement_named_like_its_kernel() {
    let device = device();
    let mut x = device.upload(&ramp(5));
    let mut y = device.zeros::<f32>(5);
    run!(device, same_names(&device.ctx, 5, &mut x, &mut y));
    assert_eq!(device.download(&y), ramp(5).iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>());
}

/// Branches that only share their inputs, and a join.
#[cuweave::graph(launches = "as-written")]
fn diamond(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    copy(&x, &mut a);
    copy(&x, &mut b);
    scale[per_item(n)](&mut a, 2.0, n);
    scale[per_item(n)](&mut b, 3.0, n);
    add[per_item(n)](&a, &b, &mut out, n);
}

#[test]
fn a_diamond() {
    let device = device();
    let x = device.upload(&ramp(33));
    let mut out = device.zeros::<f32>(33);
    run!(device, diamond(&device.ctx, 33, &x, &mut out));
    assert_eq!(device.download(&out), ramp(33).iter().map(|x| x * 5.0).collect::<Vec<_>>());
}

/// A buffer that only write-only launches write is fully written after the last of them.
#[cuweave::graph(launches = "as-written")]
fn overwritten(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 1.0, n);
    set[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut out);
}

#[test]
fn the_last_write_stays() {
    let device = device();
    let mut out = device.zeros::<f32>(6);
    run!(device, overwritten(&device.ctx, 6, &mut out));
    assert_eq!(device.download(&out), [2.0; 6]);
}

/// The counts of each graph. `depth` is the longest path of launches, fills and copies.
#[test]
fn only_the_order_that_the_meaning_needs() {
    let device = device();
    let x = device.upload(&ramp(8));
    let (mut a, mut b, mut c) = (device.zeros::<f32>(8), device.zeros::<f32>(8), device.zeros::<f32>(8));

    let report = diamond(&device.ctx, 8, &x, &mut a).expect("it builds").report();
    assert_eq!((report.kernels, report.copies, report.depth), (3, 2, 3), "{report}");

    let report = hazards(&device.ctx, 8, &mut a, &mut b, &mut c).expect("it builds").report();
    assert_eq!((report.kernels, report.fills, report.copies), (4, 1, 1), "{report}");
    assert_eq!(report.depth, 5, "{report}");

    let report = barrier(&device.ctx, 8, &mut a, &mut b).expect("it builds").report();
    assert_eq!((report.kernels, report.depth, report.edges), (5, 3, 4), "{report}");

    let report = independent(&device.ctx, 2, &mut a).expect("it builds").report();
    assert_eq!((report.kernels, report.depth, report.edges), (8, 2, 4), "{report}");
}

/// Four rows with two steps each: rows are not ordered with each other.
#[cuweave::graph(launches = "as-written")]
fn independent(n: u32, m: &mut [f32; 4 * n]) {
    for i in 0..4 {
        set[per_item(n)](&mut m[i * n..(i + 1) * n], 1.0, n);
    }
    for i in 0..4 {
        scale[per_item(n)](&mut m[i * n..(i + 1) * n], 2.0, n);
    }
}
