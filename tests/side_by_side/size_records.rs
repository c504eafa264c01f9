//! Sizes beside records: a size moves ranges of their buffers.

use cuweave::prelude::*;
use cuweave::{Buffer, Result};
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
