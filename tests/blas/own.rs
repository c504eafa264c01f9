//! A user-defined call through the cuBLAS handle.

use cuweave::blas::{Blas, gemm};
use cuweave::error::CallFault;
use cuweave::prelude::*;
use cuweave::{Error, blas::Product};
use cuweave_testkit::device::alone;

use crate::support::blas;
use crate::triangular::solve;

/// Two concurrent triangular systems, and a product after them.
#[cuweave::graph]
fn systems(m: u32, n: u32, blas: &Blas, a: &[f32; m * m], x: &mut [f32; 2 * m * n], c: &mut [f32; n * n]) {
    solve(&blas, &a, &mut x[..m * n], m, n);
    solve(&blas, &a, &mut x[m * n..], m, n);
    gemm(&blas, &x[..m * n], &x[m * n..], &mut c, n, n, m);
}

#[test]
fn the_handle_is_lent_to_calls_of_the_user() {
    let device = alone();
    let blas = blas(&device);
    let (m, n) = (2u32, 3u32);
    // The columns of a are (2, 1) and (0, 4); there are three right-hand sides.
    let a = device.upload(&[2.0f32, 1.0, 0.0, 4.0]);
    let right = [2.0f32, 5.0, 4.0, 10.0, 0.0, 4.0];
    let mut x = device.upload(&[right, right].concat());
    let mut c = device.zeros::<f32>(9);
    let graph = systems(&device.ctx, m, n, &blas, &a, &mut x, &mut c);
    if blas.cublas_version().is_none() {
        let error = graph.map(drop).expect_err("there is no handle");
        let text = error.to_string();
        assert!(text.starts_with("`solve` (tests/blas/own.rs:"), "{text}");
        let Error::Call { fault, .. } = error else { panic!("{text}") };
        let said = "this `Blas` has no cuBLAS: its products run on kernels of cuweave's";
        assert_eq!(fault, CallFault::Returned(said.into()));
        return;
    }
    let graph = graph.expect("it builds");
    assert!(graph.report().plan.expect("scratch").planned >= 2 * blas.workspace(m, n, m));
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let solved = [1.0f32, 1.0, 2.0, 2.0, 0.0, 1.0];
    assert_eq!(device.download(&x), [solved, solved].concat());
    let product = |at: usize| (0..2).map(|l| solved[at / 3 * 2 + l] * solved[l * 3 + at % 3]).sum::<f32>();
    assert_eq!(device.download(&c), (0..9).map(product).collect::<Vec<f32>>());
    assert_eq!(blas.scratch::<f32, f32>(&Product::row_major(0, 3, 3), false), 0);
}
