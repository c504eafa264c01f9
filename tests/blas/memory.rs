//! Planned scratch of products: concurrent products never share it, ordered ones do.

use cuweave::ArenaPool;
use cuweave::blas::{Blas, Product, gemm, matmul};
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone};

use crate::support::{Number, blas, values};

/// A product that is split along k: few elements with many terms each.
const M: u32 = 8;
const N: u32 = 16;
const BRANCHES: u32 = 16;

#[cuweave::graph]
fn branches(
    m: u32,
    n: u32,
    k: u32,
    count: u32,
    blas: &Blas,
    a: &[f32; count * m * k],
    b: &[f32; k * n],
    c: &mut [f32; count * m * n],
) {
    for i in 0..count {
        gemm(&blas, &a[i * m * k..(i + 1) * m * k], &b, &mut c[i * m * n..(i + 1) * m * n], m, n, k);
    }
}

#[cuweave::graph]
fn chain(m: u32, k: u32, count: u32, blas: &Blas, a: &[f32; m * k], b: &[f32; k * m], x: &mut [f32; m * m]) {
    for _ in 0..count {
        let t = alloc::<f32>(m * k);
        gemm(&blas, &x, &a, &mut t, m, k, m);
        gemm(&blas, &t, &b, &mut x, m, m, k);
    }
}

#[cuweave::graph(memory = "owned")]
fn owned(m: u32, n: u32, k: u32, blas: &Blas, a: &[f32; m * k], b: &[f32; k * n], c: &mut [f32; m * n]) {
    gemm(&blas, &a, &b, &mut c, m, n, k);
}

#[cuweave::graph(memory = "nodes")]
fn in_nodes(m: u32, n: u32, k: u32, blas: &Blas, a: &[f32; m * k], b: &[f32; k * n], c: &mut [f32; m * n]) {
    gemm(&blas, &a, &b, &mut c, m, n, k);
}

#[cuweave::graph]
fn limited(
    product: Product,
    blas: &Blas,
    a: &[f32; product.a_len()],
    b: &[f32; product.b_len()],
    c: &mut [f32; product.c_len()],
) {
    matmul(&blas, &a, &b, &mut c, product);
}

fn expected(a: &[f32], b: &[f32], [m, n, k]: [u32; 3]) -> Vec<f64> {
    let element = |at: u32| {
        let (i, j) = (at / n, at % n);
        (0..k).map(|l| a[(i * k + l) as usize].wide() * b[(l * n + j) as usize].wide()).sum()
    };
    (0..m * n).map(element).collect()
}

fn close(found: &[f32], expected: &[f64], k: u32) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let bound = f64::from(k) * 1e-7;
        assert!((found.wide() - expected).abs() <= bound, "{at}: {found}, not {expected}");
    }
}

#[test]
fn branches_that_cut_k_have_scratch_of_their_own() {
    let device = alone();
    let blas = blas(&device);
    let (m, n, k) = device.scaled((64u32, 64u32, 65_536u32), (M, N, 1024));
    // Each branch has the same a, multiplied by its own number.
    let (one, b) = (values::<f32>((m * k).into(), 1), values::<f32>((k * n).into(), 2));
    let factor = |branch: u32| 1.0 + branch as f32 / 16.0;
    let a: Vec<f32> = (0..BRANCHES).flat_map(|branch| one.iter().map(move |a| a * factor(branch))).collect();
    let (da, db) = (device.upload(&a), device.upload(&b));
    let mut dc = device.zeros::<f32>((BRANCHES * m * n) as usize);
    // The scratch of one product, and of all concurrent ones.
    let mut planned = [0; 2];
    for (at, count) in [1, BRANCHES].into_iter().enumerate() {
        let graph = branches(&device.ctx, m, n, k, count, &blas, &da, &db, &mut dc).expect("it builds");
        let plan = graph.report().plan.expect("scratch is planned");
        println!("{}", graph.report());
        planned[at] = plan.planned;
        let names: Vec<&str> = plan.antichain_buffers.iter().map(|buffer| &*buffer.name).collect();
        let wanted: Vec<String> = (0..count).map(|i| format!("gemm[{i}].scratch")).collect();
        assert_eq!(names, wanted);
        let dot = graph.dot();
        assert_eq!(dot.matches("label=\"gemm").count(), count as usize, "{dot}");
        drop(graph);
    }
    assert!(planned[0] >= 4 * u64::from(m * n), "k is cut: {planned:?}");
    assert_eq!(planned[1], planned[0].next_multiple_of(256) * u64::from(BRANCHES));
    let product = expected(&one, &b, [m, n, k]);
    let wanted: Vec<f64> =
        (0..BRANCHES).flat_map(|branch| product.iter().map(move |x| x * f64::from(factor(branch)))).collect();
    let mut exec = branches(&device.ctx, m, n, k, BRANCHES, &blas, &da, &db, &mut dc)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    for turn in 0..device.scaled(1000, 12) {
        device.schedule(turn);
        exec.launch(&device.stream).expect("it launches");
        if turn % 100 < 12 {
            close(&device.download(&exec.args().c), &wanted, k);
        }
    }
    drop(exec);
    close(&device.download(&dc), &wanted, k);
    device.nothing_reported();
}

fn run(device: &Device, blas: &Blas, count: u32) -> u64 {
    let k = 512;
    let (a, b) = (values::<f32>((M * k).into(), 1), values::<f32>((k * M).into(), 2));
    let (da, db) = (device.upload(&a), device.upload(&b));
    let identity: Vec<f32> = (0..M * M).map(|at| if at % (M + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let mut x = device.upload(&identity);
    let graph = chain(&device.ctx, M, k, count, blas, &da, &db, &mut x).expect("it builds");
    let planned = graph.report().plan.expect("memory is planned").planned;
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    // a · b to the power of `count`.
    let step = expected(&a, &b, [M, M, k]);
    let mut wanted: Vec<f64> = identity.iter().map(|x| x.wide()).collect();
    for _ in 0..count {
        let last = wanted.clone();
        let element =
            |at: u32| (0..M).map(|l| last[(at / M * M + l) as usize] * step[(l * M + at % M) as usize]).sum();
        wanted = (0..M * M).map(element).collect();
    }
    let largest = wanted.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    for (found, wanted) in device.download(&x).iter().zip(&wanted) {
        assert!((found.wide() - wanted).abs() <= largest * 1e-4, "{found}, not {wanted}");
    }
    planned
}

#[test]
fn products_in_order_share_their_scratch() {
    let device = alone();
    let blas = blas(&device);
    assert_eq!(run(&device, &blas, 1), run(&device, &blas, 5));
    device.nothing_reported();
}

#[test]
fn every_kind_of_memory() {
    let device = alone();
    let blas = blas(&device);
    let k = 768;
    let (a, b) = (values::<f32>((M * k).into(), 1), values::<f32>((k * N).into(), 2));
    let (da, db) = (device.upload(&a), device.upload(&b));
    let wanted = expected(&a, &b, [M, N, k]);
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    for pooled in [false, true] {
        for nodes in [false, true] {
            let mut dc = device.zeros::<f32>((M * N) as usize);
            macro_rules! run {
                ($graph:ident) => {{
                    let graph = $graph(&device.ctx, M, N, k, &blas, &da, &db, &mut dc).expect("it builds");
                    let exec = if pooled { graph.instantiate_in(&pool) } else { graph.instantiate() };
                    let mut exec = exec.expect("it instantiates");
                    exec.launch(&device.stream).expect("it launches");
                    exec.launch(&device.stream).expect("it launches");
                }};
            }
            if nodes {
                run!(in_nodes);
            } else {
                run!(owned);
            }
            close(&device.download(&dc), &wanted, k);
        }
    }
    device.nothing_reported();
}

#[test]
fn the_workspace_has_a_limit() {
    let device = alone();
    let blas = blas(&device);
    let k = device.scaled(65_536, 2048);
    let product = Product::row_major(M, N, k);
    let (a, b) = (values::<f32>(product.a_len(), 1), values::<f32>(product.b_len(), 2));
    let (da, db) = (device.upload(&a), device.upload(&b));
    let wanted = expected(&a, &b, [M, N, k]);
    for limit in [0, 4096] {
        let mut dc = device.zeros::<f32>((M * N) as usize);
        let product = product.workspace_limit(limit);
        let graph = limited(&device.ctx, product, &blas, &da, &db, &mut dc).expect("it builds");
        let planned = graph.report().plan.map_or(0, |plan| plan.planned);
        assert!(planned <= limit, "{planned} of {limit}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        close(&device.download(&dc), &wanted, k);
    }
    device.nothing_reported();
}
