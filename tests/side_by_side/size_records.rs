//! Sizes beside records: a size moves ranges of their buffers.

use cuweave::error::SetterFault;
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Result};
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::arguments]
struct Layer {
    d: u32,
    max: u32,
    weight: f32,
    rows: &[f32; max * d],
    sums: &mut [f32; max * d],
}

#[cuweave::graph]
fn layer(#[at_most(64)] n: u32, layer: Layer<'_>, x: &mut [f32; n * 8]) {
    let h = alloc::<f32>(n * layer.d);
    copy_to[per_item(n * layer.d)](&layer.rows[..n * layer.d], &mut h, n * layer.d);
    axpy[per_item(n * layer.d)](layer.weight, &h, &mut layer.sums[..n * layer.d], n * layer.d);
    axpy[per_item(n * layer.d)](1.0, &layer.sums[..n * layer.d], &mut x, n * layer.d);
}

#[cuweave::graph]
fn layers(#[at_most(64)] n: u32, all: &[Layer<'_>], x: &mut [f32; n * 8]) {
    for i in 0..all.len() {
        layer(n, record(all[i]), &mut x);
    }
}

#[test]
fn a_size_moves_ranges_of_records() -> Result<()> {
    let device = device();
    let rows = ramp(512);
    let sums: Vec<Buffer<f32>> = (0..3).map(|_| Buffer::zeros(&device.stream, 512)).collect::<Result<_>>()?;
    let bound: Vec<Buffer<f32>> =
        (0..3).map(|_| Buffer::from_host(&device.stream, &rows)).collect::<Result<_>>()?;
    let all: Vec<Layer<'_>> = bound
        .iter()
        .zip(&sums)
        .zip([1.0, 2.0, 3.0])
        .map(|((rows, sums), weight)| Layer::new(8, 64, weight, rows, sums))
        .collect();
    let x = Buffer::<f32>::zeros(&device.stream, 512)?;
    let mut exec = layers(&device.ctx, 64, all, &x)?.instantiate()?;
    let mut expected = (vec![0.0; 512], vec![vec![0.0; 512]; 3]);
    for n in [64, 1, 33, 64, 7] {
        exec.set_n(n)?;
        exec.launch(&device.stream)?;
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        for at in 0..n as usize * 8 {
            for (sums, weight) in expected.1.iter_mut().zip([1.0, 2.0, 3.0]) {
                sums[at] += weight * rows[at];
                expected.0[at] += sums[at];
            }
        }
        assert_eq!(x.to_host(&device.stream)?, expected.0, "{n}");
    }
    exec.all(1)?.set_weight(0.0)?;
    exec.launch(&device.stream)?;
    for (at, (sums, expected)) in sums.iter().zip(&mut expected.1).enumerate() {
        let weight = [1.0, 0.0, 3.0][at];
        (0..56).for_each(|element| expected[element] += weight * rows[element]);
        assert_eq!(sums.to_host(&device.stream)?, *expected, "layer {at}");
    }
    Ok(())
}

/// A size of its own: the buffers are as long as for its largest value.
#[cuweave::arguments]
struct Branch {
    d: u32,
    max: u32,
    #[at_most(max)]
    n: u32,
    from: &[f32; n * d],
    to: &mut [f32; n.div_ceil(2) * 2 * d],
}

#[cuweave::graph]
fn branches(all: &[Branch<'_>]) {
    for i in 0..all.len() {
        copy_to[per_item(all[i].n * all[i].d)](&all[i].from, &mut all[i].to, all[i].n * all[i].d);
        axpy[per_item(all[i].n * all[i].d)](
            all[i].n as f32,
            &all[i].from,
            &mut all[i].to,
            all[i].n * all[i].d,
        );
    }
}

#[cuweave::graph]
fn ranged(branch: Branch<'_>) {
    copy(&branch.from[..branch.n * branch.d], &mut branch.to[..branch.n * branch.d]);
}

#[test]
fn a_size_of_a_record_moves_grids_and_values() -> Result<()> {
    let device = device();
    let from = Buffer::from_host(&device.stream, &ramp(800))?;
    let to: Vec<Buffer<f32>> = (0..2).map(|_| Buffer::zeros(&device.stream, 800)).collect::<Result<_>>()?;
    let bound = |n| to.iter().map(|to| Branch::new(8, 100, n, &from, to)).collect::<Vec<_>>();
    for n in [0, 101] {
        let error = branches(&device.ctx, bound(n)).map(drop).expect_err("it is out of its range");
        println!("{error}");
        assert!(
            matches!(&error, Error::Range { at, lo: 1, hi: 100, .. } if at.name == "all[0].n"),
            "{error}"
        );
    }
    let short = Buffer::from_host(&device.stream, &ramp(792))?;
    let error = branches(&device.ctx, vec![Branch::new(8, 100, 1, &short, &to[0])]).map(drop);
    let error = error.expect_err("it is too short for the largest value");
    assert!(matches!(error, Error::TooShort { len: 792, needed: 800, .. }), "{error}");

    let mut exec = branches(&device.ctx, bound(100))?.instantiate()?;
    for (turn, n) in [100, 1, 37, 100, 64].into_iter().enumerate() {
        exec.all(1)?.set_n(n)?;
        exec.all(0)?.set_n(5 + turn as u32)?;
        let before = to.iter().map(|to| to.to_host(&device.stream)).collect::<Result<Vec<_>>>()?;
        exec.launch(&device.stream)?;
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        for (at, (to, before)) in to.iter().zip(before).enumerate() {
            let n = if at == 1 { n } else { 5 + turn as u32 };
            let mut expected = before;
            let values = ramp(800);
            (0..n as usize * 8).for_each(|i| expected[i] = values[i] + n as f32 * values[i]);
            assert_eq!(to.to_host(&device.stream)?, expected, "{at}, {n}");
        }
    }
    let error = exec.all(1)?.set_n(101).expect_err("it is out of its range");
    assert!(matches!(&error, Error::Range { at, len: 101, .. } if at.name == "all[1].n"), "{error}");
    Ok(())
}

#[test]
fn ranges_that_a_size_of_a_record_moves_are_those_of_the_build() -> Result<()> {
    let device = device();
    let from = Buffer::from_host(&device.stream, &ramp(800))?;
    let to = Buffer::<f32>::zeros(&device.stream, 800)?;
    let mut exec = ranged(&device.ctx, Branch::new(8, 100, 3, &from, &to))?.instantiate()?;
    let error = exec.branch().set_n(4).expect_err("a range depends on it");
    assert!(matches!(error, Error::BuildAgain { reason: SetterFault::Structure, .. }), "{error}");
    exec.launch(&device.stream)?;
    assert_eq!(to.to_host(&device.stream)?[23..25], [23.0, 0.0]);
    Ok(())
}
