use cuweave_testkit::random::Random;

use crate::support::{Arg::*, close, each};

/// A half from a small multiple of 1/64, exactly; and back.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let exponent = ((bits >> 23) & 0xff) as i32 - 127;
    if value == 0.0 {
        return 0;
    }
    assert!((-14..=15).contains(&exponent) && bits & 0x1fff == 0, "{value} is no half");
    ((bits >> 16) & 0x8000) as u16 | ((exponent + 15) as u16) << 10 | ((bits >> 13) & 0x3ff) as u16
}

fn single(half: u16) -> f32 {
    let size = match (half >> 10 & 31, half & 0x3ff) {
        (0, m) => f32::from(m) / 16_777_216.0,
        (e, m) => (f32::from(m) / 1024.0 + 1.0) * 2f32.powi(i32::from(e) - 15),
    };
    if half >> 15 == 1 { -size } else { size }
}

fn halves(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| (random.bits() % 129) as f32 / 64.0 - 1.0).collect()
}

#[test]
fn halves_and_bfloats() {
    each("tensor", |device, loaded| {
        let mut random = Random::new(1);
        let (x, y) = (halves(&mut random, 200), halves(&mut random, 200));
        let bits = |v: &[f32]| v.iter().map(|&v| half(v)).collect::<Vec<u16>>();
        let (dx, dy) = (device.put(&bits(&x)), device.put(&bits(&y)));
        loaded.go(device, "half_axpy", 2, 128, &[H(half(0.5)), P(dx), P(dy), I(200)]);
        let ours: Vec<f32> = device.get::<u16>(dy).into_iter().map(single).collect();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 0.5 * x + y).collect();
        close(&ours, &expected, 1e-3);

        let (dx, dy, out) = (device.put(&bits(&x)), device.put(&bits(&y)), device.fresh(400));
        loaded.go(device, "half2_ops", 1, 128, &[P(dx), P(dy), P(out), I(100)]);
        let ours: Vec<f32> = device.get::<u16>(out).into_iter().map(single).collect();
        let expected: Vec<f32> = (0..200)
            .map(|i| {
                let v = (x[i] * y[i] + 0.5).abs();
                let low = i & !1;
                if x[low] > y[low] { v } else { v.sqrt() }
            })
            .collect();
        close(&ours, &expected, 2e-3);

        let bf = |v: f32| (v.to_bits() >> 16) as u16;
        let (dx, dy) = (device.put(&x.iter().map(|&v| bf(v)).collect::<Vec<_>>()), device.fresh(400));
        loaded.go(device, "bf16_gelu", 1, 256, &[P(dx), P(dy), I(200)]);
        let ours: Vec<f32> =
            device.get::<u16>(dy).into_iter().map(|v| f32::from_bits(u32::from(v) << 16)).collect();
        let gelu = |v: f32| 0.5 * v * (1.0 + (0.797_884_6 * (v + 0.044715 * v * v * v)).tanh());
        close(
            &ours,
            &x.iter().map(|&v| gelu(f32::from_bits(u32::from(bf(v)) << 16))).collect::<Vec<_>>(),
            8e-3,
        );
    });
}

#[test]
fn matrix_instructions() {
    each("tensor", |device, loaded| {
        let (m, n, k) = (32, 16, 48);
        let mut random = Random::new(2);
        let (a, b) = (halves(&mut random, m * k), halves(&mut random, k * n));
        let bits = |v: &[f32]| v.iter().map(|&v| half(v)).collect::<Vec<u16>>();
        let (da, db, dc) = (device.put(&bits(&a)), device.put(&bits(&b)), device.fresh((m * n * 4) as u64));
        let args = [P(da), P(db), P(dc), I(n as i32), I(k as i32)];
        loaded.launch(device, "mma_f16", [2, 2, 1], [32, 1, 1], 0, &args).unwrap_or_else(|f| panic!("{f}"));
        let product = |at: usize| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum::<f32>();
        close(&device.get(dc), &(0..m * n).map(product).collect::<Vec<_>>(), 1e-5);

        // `b` is stored by columns.
        let columns: Vec<u16> = (0..n * k).map(|at| half(b[at % k * n + at / k])).collect();
        let (db, dc) = (device.put(&columns), device.fresh((m * n * 4) as u64));
        let args = [P(da), P(db), P(dc), I(n as i32), I(k as i32)];
        loaded.launch(device, "wmma_f16", [1, 2, 1], [32, 1, 1], 0, &args).unwrap_or_else(|f| panic!("{f}"));
        close(&device.get(dc), &(0..m * n).map(|at| 2.0 * product(at)).collect::<Vec<_>>(), 1e-5);

        let a: Vec<i8> = (0..512).map(|_| random.bits() as i8).collect();
        let b: Vec<i8> = (0..256).map(|_| random.bits() as i8).collect();
        let (da, db, dc) = (device.put(&a), device.put(&b), device.fresh(512));
        loaded.go(device, "mma_s8", 1, 32, &[P(da), P(db), P(dc)]);
        let expected: Vec<i32> = (0..128)
            .map(|at| {
                let (row, column) = (at / 8, at % 8);
                let sum: i32 =
                    (0..32).map(|i| i32::from(a[row * 32 + i]) * i32::from(b[column * 32 + i])).sum();
                sum + if row < 8 { 1 } else { 3 } + (column % 2) as i32
            })
            .collect();
        assert_eq!(device.get::<i32>(dc), expected);
    });
}
