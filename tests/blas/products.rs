//! `gemm` and `gemv` with all element types.

use cuweave::blas::{Blas, Product, gemm, gemv, matmul};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;
use half::{bf16, f16};

use crate::support::{Case, blas, upload, values};

/// For each pair of element types, a graph with one `gemm` and one `gemv`, and its test.
macro_rules! plain {
    ($($name:ident: $factor:ty, $result:ty;)*) => {$(
        mod $name {
            use super::*;

            #[cuweave::graph]
            fn product(m: u32, n: u32, k: u32, blas: &Blas, a: &[$factor; m * k], b: &[$factor; k * n],
                c: &mut [$result; m * n]) {
                gemm(&blas, &a, &b, &mut c, m, n, k);
            }

            #[cuweave::graph]
            fn vector(m: u32, n: u32, blas: &Blas, a: &[$factor; m * n], x: &[$factor; n], y: &mut [$result; m]) {
                gemv(&blas, &a, &x, &mut y, m, n);
            }

            #[test]
            fn row_major() {
                let device = alone();
                let blas = blas(&device);
                for (m, n, k) in [(1u32, 1u32, 1u32), (7, 5, 3), (1, 9, 33), (16, 16, 16), (33, 2, 65), (3, 4, 600)] {
                    let (a, b) = (values::<$factor>((m * k).into(), 1), values::<$factor>((k * n).into(), 2));
                    let before = values::<$result>((m * n).into(), 3);
                    let (da, db, mut dc) = (upload(&device, &a), upload(&device, &b), upload(&device, &before));
                    let graph = product(&device.ctx, m, n, k, &blas, &da, &db, &mut dc).expect("it builds");
                    assert_eq!(graph.report().calls, 1);
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&device.stream).expect("it launches");
                    drop(exec);
                    let case = Case::row_major(m, n, k);
                    case.check(&blas, (&a, &b, None), &before, &device.download(&dc));
                    if n == 1 || m == 1 {
                        continue;
                    }
                    let (x, before) = (values::<$factor>(k.into(), 4), values::<$result>(m.into(), 5));
                    let (dx, mut dy) = (upload(&device, &x), upload(&device, &before));
                    let graph = vector(&device.ctx, m, k, &blas, &da, &dx, &mut dy).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&device.stream).expect("it launches");
                    drop(exec);
                    let case = Case::row_major(m, 1, k);
                    case.check(&blas, (&a, &x, None), &before, &device.download(&dy));
                }
                device.nothing_reported();
            }
        }
    )*};
}
plain! {
    single: f32, f32;
    double: f64, f64;
    halves: f16, f16;
    halves_to_single: f16, f32;
    brain: bf16, bf16;
    brain_to_single: bf16, f32;
}

#[cuweave::graph]
fn in_tf32(m: u32, n: u32, k: u32, blas: &Blas, a: &[f32; m * k], b: &[f32; k * n], c: &mut [f32; m * n]) {
    matmul(&blas, &a, &b, &mut c, Product::row_major(m, n, k).tf32());
}

#[test]
fn tf32_has_ten_bits_of_each_factor() {
    let device = alone();
    let blas = blas(&device);
    let (m, n, k) = (32u32, 48u32, 64u32);
    let (a, b) = (values::<f32>((m * k).into(), 1), values::<f32>((k * n).into(), 2));
    let (da, db, mut dc) = (upload(&device, &a), upload(&device, &b), device.zeros((m * n) as usize));
    let graph = in_tf32(&device.ctx, m, n, k, &blas, &da, &db, &mut dc).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let case = Case { tf32: true, ..Case::row_major(m, n, k) };
    case.check(&blas, (&a, &b, None), &vec![0.0; (m * n) as usize], &device.download(&dc));
}
