//! Products over lists of operands, which replace batches by pointer arrays: they run concurrently, each with its
//! own scratch.

use cuweave::blas::{Blas, Product, matmul};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::support::{Number, blas, values};

/// c = a · b for each of three lists.
#[cuweave::graph]
fn each(
    p: Product,
    blas: &Blas,
    a: &[&[f32; p.a_len()]],
    b: &[&[f32; p.b_len()]],
    c: &[&mut [f32; p.c_len()]],
) {
    for i in 0..a.len() {
        matmul(&blas, &a[i], &b[i], &mut c[i], p);
    }
}

#[test]
fn products_over_lists_stand_side_by_side() {
    let device = alone();
    let blas = blas(&device);
    let (m, n, k, count) = (8u32, 8u32, 512u32, 6usize);
    let p = Product::row_major(m, n, k).b_transposed();
    let a: Vec<Vec<f32>> = (0..count as u64).map(|i| values(p.a_len(), i)).collect();
    let b: Vec<Vec<f32>> = (0..count as u64).map(|i| values(p.b_len(), 50 + i)).collect();
    let da: Vec<_> = a.iter().map(|a| device.upload(a)).collect();
    // The operands are not in the order of their addresses, and one of them is used twice.
    let db: Vec<_> = b.iter().map(|b| device.upload(b)).collect();
    let at = |i: usize| if i == 0 { 1 } else { count - 1 - i };
    let mut dc: Vec<_> = (0..count).map(|_| device.zeros::<f32>(p.c_len() as usize)).collect();
    let one = blas.scratch::<f32, f32>(&p, false);
    let graph = each(
        &device.ctx,
        p,
        &blas,
        da.iter().collect::<Vec<_>>(),
        (0..count).map(|i| &db[at(i)]).collect::<Vec<_>>(),
        dc.iter_mut().collect::<Vec<_>>(),
    )
    .expect("it builds");
    let report = graph.report();
    assert_eq!((report.calls, report.depth), (count, 1));
    assert_eq!(report.plan.map_or(0, |plan| plan.planned), one.next_multiple_of(256) * count as u64);
    let mut exec = graph.instantiate().expect("it instantiates");
    for turn in 0..4 {
        device.schedule(turn);
        exec.launch(&device.stream).expect("it launches");
    }
    drop(exec);
    for (i, c) in dc.iter().enumerate() {
        for (element, found) in device.download(c).into_iter().enumerate() {
            let (row, column) = (element / n as usize, element % n as usize);
            let terms = (0..k as usize)
                .map(|l| a[i][row * k as usize + l].wide() * b[at(i)][column * k as usize + l].wide());
            let (sum, size) =
                terms.fold((0.0, 0.0), |(sum, size), term: f64| (sum + term, size + term.abs()));
            let bound = (2.0 + f64::from(k) + 4.0) * f64::from(f32::EPSILON) * size;
            assert!((found.wide() - sum).abs() <= bound, "{i}, {element}: {found}, not {sum}");
        }
    }
    device.nothing_reported();
}
