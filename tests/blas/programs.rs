//! Products together with kernels, batches, lanes, loops, choices and calls; also threads and drop orders.

use std::sync::Arc;

use cuweave::Buffer;
use cuweave::blas::{Blas, Product, gemm, gemv, matmul, matmul_bias, matmul_into};
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::support::{blas, values};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// out = x + 2 · (x · w)
#[cuweave::graph]
fn layer(
    d: u32,
    rows: u32,
    blas: &Blas,
    x: &[f32; rows * d],
    w: &[f32; d * d],
    out: &mut [MaybeUninit<f32>; rows * d],
) {
    let h = alloc::<f32>(rows * d);
    gemm(&blas, &x, &w, &mut h, rows, d, d);
    scale[per_item(rows * d)](&mut h, 2.0, rows * d);
    add[per_item(rows * d)](&x, &h, &mut out, rows * d);
}

/// A model of `layers` layers, followed by 4 branches, which are batched and joined. If `twice`, the even layers
/// are called twice.
#[cuweave::graph]
fn model(
    d: u32,
    rows: u32,
    layers: u32,
    twice: bool,
    blas: &Blas,
    w: &[f32; layers * d * d],
    x: &mut [f32; rows * d],
    out: &mut [f32; 4 * rows * d],
) {
    let h = alloc::<f32>(rows * d);
    for i in 0..layers {
        layer(d, rows, &blas, &x, &w[i * d * d..(i + 1) * d * d], &mut h);
        copy(&h, &mut x);
        if twice && i % 2 == 0 {
            layer(d, rows, &blas, &x, &w[i * d * d..(i + 1) * d * d], &mut h);
            copy(&h, &mut x);
        }
    }
    for i in 0..4 {
        let y = alloc::<f32>(rows * d);
        add[per_item(rows * d)](&x, &x, &mut y, rows * d);
        scale[per_item(rows * d)](&mut y, 1.5, rows * d);
        matmul(
            &blas,
            &y,
            &w[..d * d],
            &mut out[i * rows * d..(i + 1) * rows * d],
            Product::row_major(rows, d, d),
        );
        scale[per_item(rows * d)](&mut out[i * rows * d..(i + 1) * rows * d], 0.5, rows * d);
    }
}

fn product(x: &[f64], w: &[f32], d: usize) -> Vec<f64> {
    let element = |at: usize| (0..d).map(|l| x[at / d * d + l] * f64::from(w[l * d + at % d])).sum();
    (0..x.len()).map(element).collect()
}

#[test]
fn products_in_loops_choices_and_calls() {
    let device = alone();
    let blas = blas(&device);
    let (d, rows) = (12u32, 3u32);
    for (layers, twice) in [(1u32, false), (2, true), (3, false), (3, true)] {
        let w: Vec<f32> = values::<f32>((layers * d * d).into(), 1).iter().map(|w| w / 4.0).collect();
        let x = values::<f32>((rows * d).into(), 2);
        let (dw, mut dx) = (device.upload(&w), device.upload(&x));
        let mut out = device.zeros::<f32>((4 * rows * d) as usize);
        let graph =
            model(&device.ctx, d, rows, layers, twice, &blas, &dw, &mut dx, &mut out).expect("it builds");
        let calls = layers + if twice { layers.div_ceil(2) } else { 0 };
        let report = graph.report();
        assert_eq!(report.calls, (calls + 4) as usize);
        // One fused kernel for each layer, one for the chains before the branches' products, and a batch of four
        // launches after these.
        assert_eq!((report.kernels, report.batches.len()), ((calls + 2) as usize, 1), "{report}");
        let dot = graph.dot();
        assert!(dot.contains("layer") && dot.contains("matmul"), "{dot}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let mut wanted: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        for i in 0..layers {
            for _ in 0..if twice && i % 2 == 0 { 2 } else { 1 } {
                let w = &w[(i * d * d) as usize..][..(d * d) as usize];
                let h = product(&wanted, w, d as usize);
                wanted = wanted.iter().zip(h).map(|(x, h)| x + 2.0 * h).collect();
            }
        }
        let wanted = product(&wanted, &w[..(d * d) as usize], d as usize);
        for part in device.download(&out).chunks((rows * d) as usize) {
            for (found, wanted) in part.iter().zip(&wanted) {
                let wanted = 1.5 * wanted;
                assert!(
                    (f64::from(*found) - wanted).abs() <= wanted.abs() * 1e-4 + 1e-4,
                    "{found}, not {wanted}"
                );
            }
        }
    }
    device.nothing_reported();
}

/// out = x + 2 · (x · w), for any number of rows.
#[cuweave::graph]
fn sized(
    d: u32,
    most: u32,
    #[at_most(most)] rows: u32,
    blas: &Blas,
    x: &[f32; rows * d],
    w: &[f32; d * d],
    out: &mut [f32; rows * d],
) {
    let h = alloc::<f32>(rows * d);
    matmul(&blas, &x, &w, &mut h, Product::row_major(rows, d, d));
    scale[per_item(rows * d)](&mut h, 2.0, rows * d);
    add[per_item(rows * d)](&x, &h, &mut out, rows * d);
    matmul_into(&blas, &x, &w, &mut out, Product::row_major(rows, d, d).beta(1.0));
}

#[test]
fn products_of_any_number_of_rows() {
    let device = alone();
    let blas = blas(&device);
    let (d, most) = (64_u32, device.scaled(512_u32, 20));
    let (w, x) = (values::<f32>((d * d).into(), 1), values::<f32>((most * d).into(), 2));
    let (dw, dx) = (device.upload(&w), device.upload(&x));
    let out = Buffer::<f32>::zeros(&device.stream, x.len()).expect("a buffer");
    let graph = sized(&device.ctx, d, most, 3, &blas, &dx, &dw, &out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let all: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    for rows in [3, most, 1, most / 2, 17, most - 1] {
        exec.set_rows(rows).expect("it is set");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(&device.stream).expect("it launches");
        let len = (rows * d) as usize;
        let wanted = product(&all[..len], &w, d as usize);
        let found = out.to_host(&device.stream).expect("it is read");
        for (at, found) in found[..len].iter().enumerate() {
            let wanted = all[at] + 3.0 * wanted[at];
            assert!((f64::from(*found) - wanted).abs() <= 1e-3, "{rows} rows, {at}: {found}, not {wanted}");
        }
    }
    drop(exec);
    device.nothing_reported();
}

#[cuweave::graph]
fn steps(d: u32, n: u32, blas: &Blas, w: &[f32; d * d], x: &mut [f32; d]) {
    for _ in 0..n {
        let y = alloc::<f32>(d);
        gemv(&blas, &w, &x, &mut y, d, d);
        copy(&y, &mut x);
    }
}

#[test]
fn threads_build_with_one_handle() {
    let device = alone();
    let blas = blas(&device);
    // A permutation that shifts x by one position.
    let d = 6u32;
    let w: Vec<f32> = (0..d * d).map(|at| if (at / d + 1) % d == at % d { 1.0 } else { 0.0 }).collect();
    std::thread::scope(|scope| {
        for thread in 0..4usize {
            let (device, blas, w) = (device.clone(), &blas, &w);
            scope.spawn(move || {
                let w = device.upload(w);
                for n in 0..6 {
                    let mut x = device.upload(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
                    let graph = steps(&device.ctx, d, n as u32, blas, &w, &mut x).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&device.stream).expect("it launches");
                    drop(exec);
                    let wanted: Vec<f32> = (0..6).map(|at| ((at + n) % 6) as f32).collect();
                    assert_eq!(device.download(&x), wanted, "{thread}");
                }
            });
        }
    });
    device.nothing_reported();
}

#[test]
fn the_handle_may_go_in_any_order() {
    let device = alone();
    let w = Arc::new(device.upload(&[0.0f32, 1.0, 1.0, 0.0]));
    for forgotten in [false, true] {
        let blas = Arc::new(blas(&device));
        let x = device.upload(&[1.0f32, 2.0]);
        let graph = steps(&device.ctx, 2, 3, blas.clone(), w.clone(), x).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(blas);
        exec.launch(&device.stream).expect("it launches");
        if forgotten {
            std::mem::forget(exec);
            continue;
        }
        assert_eq!(device.download(&exec.args().x), [1.0, 2.0]);
        drop(exec.into_args());
    }
    // Borrowed operands, and an exec that is forgotten while it runs: the drop of the handle must wait.
    let blas = blas(&device);
    let x = device.upload(&[1.0f32, 2.0]);
    let mut exec = steps(&device.ctx, 2, 3, &blas, w, x).expect("it builds").instantiate().expect("ok");
    exec.launch(&device.stream).expect("it launches");
    std::mem::forget(exec);
    drop(blas);
    device.nothing_reported();
}

/// Accumulates the products of several layers' parts in place.
#[cuweave::graph]
fn accumulated(
    m: u32,
    n: u32,
    k: u32,
    parts: u32,
    blas: &Blas,
    a: &[f32; parts * m * k],
    b: &[f32; parts * k * n],
    c: &mut [f32; m * n],
) {
    fill(&mut c, 0.0);
    for i in 0..parts {
        matmul_into(
            &blas,
            &a[i * m * k..(i + 1) * m * k],
            &b[i * k * n..(i + 1) * k * n],
            &mut c,
            Product::row_major(m, n, k).beta(1.0),
        );
    }
}

#[test]
fn products_add_to_what_is_there() {
    let device = alone();
    let blas = blas(&device);
    // Odd sizes: the parts of a and b are only aligned to their elements.
    let (m, n, k, parts) = (5u32, 3u32, 7u32, 4u32);
    let (a, b) = (values::<f32>((parts * m * k).into(), 1), values::<f32>((parts * k * n).into(), 2));
    let (da, db, mut dc) = (device.upload(&a), device.upload(&b), device.upload(&[f32::NAN; 15]));
    let graph = accumulated(&device.ctx, m, n, k, parts, &blas, &da, &db, &mut dc).expect("it builds");
    assert_eq!(graph.report().depth, 1 + parts as usize);
    let mut exec = graph.instantiate().expect("it instantiates");
    for _ in 0..3 {
        exec.launch(&device.stream).expect("it launches");
    }
    drop(exec);
    for (at, found) in device.download(&dc).into_iter().enumerate() {
        let (i, j) = (at / n as usize, at % n as usize);
        let mut wanted = 0.0;
        for part in 0..parts as usize {
            for l in 0..k as usize {
                let a = a[part * (m * k) as usize + i * k as usize + l];
                wanted += f64::from(a) * f64::from(b[part * (k * n) as usize + l * n as usize + j]);
            }
        }
        assert!((f64::from(found) - wanted).abs() < 1e-5, "{at}: {found}, not {wanted}");
    }
    device.nothing_reported();
}

/// A perceptron layer: x + relu(x · up + bias) · down.
#[cuweave::arguments]
struct Layer {
    d: u32,
    up: &[f32; d * (3 * d)],
    bias: &[f32; 3 * d],
    down: &[f32; 3 * d * d],
}

#[cuweave::graph]
fn perceptron(d: u32, rows: u32, blas: &Blas, layers: &[Layer<'_>], x: &mut [f32; rows * d]) {
    for layer in &layers {
        let h = alloc::<f32>(rows * (3 * d));
        matmul_bias(&blas, &x, &layer.up, &layer.bias, &mut h, Product::row_major(rows, 3 * d, d).relu());
        matmul_into(&blas, &h, &layer.down, &mut x, Product::row_major(rows, d, 3 * d).beta(1.0));
    }
}

#[test]
fn products_of_the_fields_of_records() {
    let device = alone();
    let blas = blas(&device);
    let (d, rows, depth) = (8u32, 5u32, 4u64);
    let weight =
        |seed: u64, len: u32| values::<f32>(len.into(), seed).iter().map(|w| w / 4.0).collect::<Vec<f32>>();
    let weights: Vec<[Vec<f32>; 3]> = (0..depth)
        .map(|at| [weight(3 * at, d * 3 * d), weight(3 * at + 1, 3 * d), weight(3 * at + 2, 3 * d * d)])
        .collect();
    let buffers: Vec<_> =
        weights.iter().map(|layer| layer.each_ref().map(|weight| device.upload(weight))).collect();
    let layers: Vec<Layer<'_>> =
        buffers.iter().map(|[up, bias, down]| Layer::new(d, up, bias, down)).collect();
    let start = values::<f32>((rows * d).into(), 99);
    let mut x = device.upload(&start);
    let graph = perceptron(&device.ctx, d, rows, &blas, layers, &mut x).expect("it builds");
    assert_eq!(graph.report().calls, 2 * depth as usize);
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let mut wanted: Vec<f64> = start.iter().map(|&x| f64::from(x)).collect();
    for [up, bias, down] in &weights {
        let (d, wide) = (d as usize, 3 * d as usize);
        let h: Vec<f64> = (0..rows as usize * wide)
            .map(|at| {
                let (i, j) = (at / wide, at % wide);
                let sum: f64 = (0..d).map(|l| wanted[i * d + l] * f64::from(up[l * wide + j])).sum();
                (sum + f64::from(bias[j])).max(0.0)
            })
            .collect();
        let add = |at: usize| {
            (0..wide).map(|l| h[at / d * wide + l] * f64::from(down[l * d + at % d])).sum::<f64>()
        };
        wanted = wanted.iter().enumerate().map(|(at, x)| x + add(at)).collect();
    }
    for (found, wanted) in device.download(&x).iter().zip(&wanted) {
        assert!((f64::from(*found) - wanted).abs() <= 1e-4, "{found}, not {wanted}");
    }
    device.nothing_reported();
}
