//! Properties that hold for one value of a size and not for others: lengths of new operands, the order of independent sizes,
//! chains whose grids are equal only for the largest values, and bounds that hold only if no size is 0.

use cuweave::prelude::*;
use cuweave::{Buffer, Error, Result};
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn add(#[at_most(1000)] n: u32, x: &[f32; 2 * n], y: &mut [f32; n]) {
    axpy[per_item(n)](1.0, &x[n..2 * n], &mut y, n);
}

#[test]
fn new_operands_have_the_largest_lengths() -> Result<()> {
    let device = device();
    let (x, short) = (device.upload(&ramp(2000)), device.upload(&ramp(1999)));
    let y = Buffer::<f32>::zeros(&device.stream, 1000)?;
    let mut exec = add(&device.ctx, 17, &x, &y)?.instantiate()?;
    let error = exec.set_x(&short).expect_err("it is too short for 1000");
    assert!(matches!(error, Error::TooShort { len: 1999, needed: 2000, .. }), "{error}");
    Ok(())
}

/// Ranges of `y` that are apart exactly if `h[..n]` is within `h`.
#[cuweave::graph]
fn bounded(#[at_most(1000)] m: u32, #[at_most(1000)] n: u32, h: &[f32; m], y: &mut [f32; 2 * m]) {
    axpy[per_item(n)](1.0, &h[..n], &mut y[..n], n);
    scale[per_item(m)](&mut y[m..2 * m], 2.0, m);
}

#[test]
fn a_shorter_buffer_still_holds_the_ranges_of_it() -> Result<()> {
    let device = device();
    let h = device.upload(&ramp(1000));
    let y = Buffer::<f32>::zeros(&device.stream, 2000)?;
    let mut exec = bounded(&device.ctx, 1000, 500, &h, &y)?.instantiate()?;
    for _ in 0..2 {
        let error = exec.set_m(10).expect_err("500 elements of 10 are read");
        assert!(matches!(error, Error::Range { len: 10, hi: 500, .. }), "{error}");
    }
    exec.edit(|edit| {
        edit.set_m(10)?;
        edit.set_n(10)
    })?;
    exec.launch(&device.stream)?;
    Ok(())
}

/// Two chains of one form, for independent sizes.
#[cuweave::graph]
fn pair(
    #[at_most(1000)] n: u32,
    #[at_most(1000)] m: u32,
    x: &[f32; n],
    y: &mut [f32; n],
    z: &[f32; m],
    w: &mut [f32; m],
) {
    let h = alloc::<f32>(n);
    let g = alloc::<f32>(m);
    copy_to[per_item(n)](&x, &mut h, n);
    copy_to[per_item(m)](&z, &mut g, m);
    axpy[per_item(n)](1.0, &h, &mut y, n);
    axpy[per_item(m)](1.0, &g, &mut w, m);
}

#[test]
fn equal_largest_grids_are_not_equal_grids() -> Result<()> {
    let device = device();
    let values = ramp(1000);
    let x = device.upload(&values);
    for (n, m) in [(1, 1000), (1000, 1), (300, 600), (1000, 1000), (5, 5)] {
        let (y, w) =
            (Buffer::<f32>::zeros(&device.stream, 1000)?, Buffer::<f32>::zeros(&device.stream, 1000)?);
        let mut exec = pair(&device.ctx, 1000, 1000, &x, &y, &x, &w)?.instantiate()?;
        exec.edit(|edit| {
            edit.set_n(n)?;
            edit.set_m(m)
        })?;
        exec.launch(&device.stream)?;
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        for (out, count) in [(y, n), (w, m)] {
            let mut expected = values.clone();
            expected[count as usize..].fill(0.0);
            assert_eq!(out.to_host(&device.stream)?, expected, "{n} {m}");
        }
    }
    Ok(())
}

/// `y[..1]` and `y[n..n + 5]` are apart unless `n` is 0.
#[cuweave::graph]
fn from_zero(
    #[at_least(0)]
    #[at_most(100)]
    n: u32,
    x: &[f32; n],
    z: &mut [f32; n],
    y: &mut [f32; 200],
) {
    copy(&x, &mut z);
    fill(&mut y[..1], 1.0);
    scale[per_item(5)](&mut y[n..n + 5], 2.0, 5);
}

#[test]
fn bounds_that_need_a_size_above_0_order_nothing() -> Result<()> {
    let device = device();
    let x = device.upload(&ramp(100));
    let z = Buffer::<f32>::zeros(&device.stream, 100)?;
    let y = Buffer::<f32>::zeros(&device.stream, 200)?;
    let mut exec = from_zero(&device.ctx, 50, &x, &z, &y)?.instantiate()?;
    assert_eq!(exec.report().edges, 1, "the launch comes after the fill");
    exec.set_n(0)?;
    exec.launch(&device.stream)?;
    assert_eq!(y.to_host(&device.stream)?[..2], [2.0, 0.0]);
    Ok(())
}

/// Row `pos` of the first `n` rows: both are set in one edit.
#[cuweave::graph]
fn appended(
    d: u32,
    #[at_most(100)] n: u32,
    pos: u32,
    x: &[f32; d],
    rows: &mut [f32; n * d],
    out: &mut [f32; d],
) {
    let last = alloc::<f32>(d);
    copy(&x, &mut rows[pos * d..pos * d + d]);
    copy_to[(pos + 1, 64)](&rows[pos * d..pos * d + d], &mut last, d);
    axpy[per_item(d)](n as f32, &last, &mut out, d);
}

#[test]
fn a_scalar_that_fits_only_some_sizes_builds() -> Result<()> {
    let device = device();
    let (x, out) = (device.upload(&ramp(64)), Buffer::<f32>::zeros(&device.stream, 64)?);
    let rows = Buffer::<f32>::zeros(&device.stream, 6400)?;
    let mut exec = appended(&device.ctx, 64, 50, 49, &x, &rows, &out)?.instantiate()?;
    let error = exec.set_n(10).expect_err("row 49 of 10");
    assert!(matches!(error, Error::Range { .. }), "{error}");
    for n in [10, 100, 1] {
        exec.edit(|edit| {
            edit.set_n(n)?;
            edit.set_pos(n - 1)
        })?;
        exec.launch(&device.stream)?;
        let at = (n as usize - 1) * 64;
        assert_eq!(rows.to_host(&device.stream)?[at..at + 64], ramp(64), "{n}");
    }
    Ok(())
}

/// At least 4 elements, since the first 4 have a meaning of their own.
#[cuweave::graph]
fn from_four(
    #[at_least(4)]
    #[at_most(1000)]
    k: u32,
    y: &mut [f32; k],
) {
    scale[per_item(4)](&mut y[..4], 2.0, 4);
    scale[per_item(k)](&mut y, 3.0, k);
}

#[cuweave::graph]
fn halves(#[at_most(1000)] n: u32, y: &mut [f32; n]) {
    from_four(n.div_ceil(2), &mut y[..n.div_ceil(2)]);
}

#[cuweave::graph]
fn halves_from_seven(
    #[at_least(7)]
    #[at_most(1000)]
    n: u32,
    y: &mut [f32; n],
) {
    from_four(n.div_ceil(2), &mut y[..n.div_ceil(2)]);
}

/// The length passed is below 4 for some values between the ends, which no build looks at.
#[cuweave::graph]
fn remainder(
    #[at_least(4)]
    #[at_most(15)]
    n: u32,
    y: &mut [f32; n],
) {
    valued(n % 8, &mut y);
}

#[cuweave::graph]
fn valued(
    #[at_least(4)]
    #[at_most(7)]
    k: u32,
    y: &mut [f32; 4],
) {
    scale[(1, 64)](&mut y, k as f32, 4);
}

#[test]
fn limits_of_called_functions_hold_for_all_values() -> Result<()> {
    let device = device();
    let y = Buffer::from_host(&device.stream, &ramp(1000))?;
    let error = halves(&device.ctx, 1000, &y).map(drop).expect_err("1 element at the least");
    println!("{error}");
    assert!(matches!(error, Error::SmallestSizes(..)), "{error}");
    assert!(error.to_string().contains("`#[at_least(4)]`"), "{error}");
    let mut exec = halves_from_seven(&device.ctx, 7, &y)?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(y.to_host(&device.stream)?[..5], [0.0, 6.0, 12.0, 18.0, 4.0]);
    let mut exec = remainder(&device.ctx, 12, &y)?.instantiate()?;
    let error = exec.set_n(9).expect_err("9 % 8 is 1");
    assert!(matches!(error, Error::AtLeast { least: 4, value: 1, .. }), "{error}");
    exec.set_n(15)?;
    exec.launch(&device.stream)?;
    assert_eq!(y.to_host(&device.stream)?[1], 42.0);
    Ok(())
}
