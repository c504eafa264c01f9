use cuweave_testkit::random::Random;

use crate::support::{Arg::*, Device, Loaded, close, each};

const TEXT: &str = include_str!("../ptx/basic.ptx");

#[test]
fn element_wise() {
    each("basic", |device, loaded| {
        let mut random = Random::new(1);
        let (x, y) = (random.floats(1000), random.floats(1000));
        let (dx, dy) = (device.put(&x), device.put(&y));
        loaded.go(device, "saxpy", 4, 256, &[F(2.5), P(dx), P(dy), I(1000)]);
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5f32.mul_add(*x, *y)).collect();
        close(&device.get(dy), &expected, 1e-6);
        loaded.go(device, "stride_scale", 3, 64, &[P(dx), F(3.0), I(1000)]);
        close(&device.get(dx), &x.iter().map(|x| x * 3.0).collect::<Vec<_>>(), 0.0);
        let to = device.fresh(4000);
        loaded.go(device, "copy4", 2, 128, &[P(dx), P(to), I(250)]);
        let expected: Vec<f32> = x
            .iter()
            .enumerate()
            .map(|(i, x)| match i % 4 {
                0 => x * 3.0 + 1.0,
                3 => -x * 3.0,
                _ => x * 3.0,
            })
            .collect();
        close(&device.get(to), &expected, 1e-6);
    });
}

#[test]
fn matrix_products() {
    each("basic", |device, loaded| {
        for (kernel, tile, n) in [("matmul16", 16, 40), ("matmul8", 8, 24)] {
            let mut random = Random::new(n as u64);
            let (a, b) = (random.floats(n * n), random.floats(n * n));
            let (da, db, dc) = (device.put(&a), device.put(&b), device.fresh((n * n * 4) as u64));
            let grid = (n as u32).div_ceil(tile);
            let args = [P(da), P(db), P(dc), I(n as i32)];
            let stats = loaded.launch(device, kernel, [grid, grid, 1], [tile, tile, 1], 0, &args).unwrap();
            assert!(stats.conflicts.is_empty(), "{:?}", stats.conflicts);
            let mut expected = vec![0.0; n * n];
            for (at, sum) in expected.iter_mut().enumerate() {
                *sum = (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum();
            }
            close(&device.get(dc), &expected, 1e-5);
        }
    });
}

#[test]
fn reductions() {
    each("basic", |device, loaded| {
        let (rows, columns) = (5, 300);
        let mut random = Random::new(3);
        let x = random.floats(rows * columns);
        let dx = device.put(&x);
        let out = device.put(&[0f32]);
        loaded.go(device, "sum", 3, 96, &[P(dx), P(out), I(1500)]);
        close(&device.get(out), &[x.iter().sum()], 1e-4);

        let dy = device.fresh((rows * columns * 4) as u64);
        loaded.go(device, "softmax", rows as u32, 128, &[P(dx), P(dy), I(columns as i32)]);
        let mut expected = Vec::new();
        for row in x.chunks(columns) {
            let top = row.iter().copied().fold(f32::MIN, f32::max);
            let sum: f32 = row.iter().map(|x| (x - top).exp()).sum();
            expected.extend(row.iter().map(|x| (x - top).exp() / sum));
        }
        close(&device.get(dy), &expected, 1e-5);

        let (gain, bias) = (random.floats(columns), random.floats(columns));
        let (dg, db) = (device.put(&gain), device.put(&bias));
        let args = [P(dx), P(dg), P(db), P(dy), I(columns as i32), F(1e-5)];
        loaded.go(device, "layer_norm", rows as u32, 256, &args);
        let mut expected = Vec::new();
        for row in x.chunks(columns) {
            let mean = row.iter().sum::<f32>() / columns as f32;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / columns as f32;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            expected.extend((0..columns).map(|i| (row[i] - mean) * scale * gain[i] + bias[i]));
        }
        close(&device.get(dy), &expected, 1e-4);
    });
}

#[test]
fn integers_and_shared_memory() {
    each("basic", |device, loaded| {
        let mut random = Random::new(4);
        let data: Vec<u8> = (0..5000).map(|_| random.bits() as u8).collect();
        let (dx, bins) = (device.put(&data), device.put(&[0u32; 256]));
        loaded.go(device, "histogram", 4, 128, &[P(dx), P(bins), I(5000)]);
        let mut expected = vec![0u32; 256];
        data.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
        assert_eq!(device.get::<u32>(bins), expected);

        let values: Vec<i32> = (0..200).map(|_| random.bits() as i32 % 100).collect();
        let (dx, dy) = (device.put(&values), device.fresh(800));
        let args = [P(dx), P(dy), I(200)];
        let stats = loaded.launch(device, "scan", [1, 1, 1], [256, 1, 1], 2048, &args).unwrap();
        assert!(stats.conflicts.is_empty(), "{:?}", stats.conflicts);
        let expected: Vec<i32> = values
            .iter()
            .scan(0, |sum, v| {
                *sum += v;
                Some(*sum)
            })
            .collect();
        assert_eq!(device.get::<i32>(dy), expected);

        let (rows, columns) = (30, 50);
        let a: Vec<f64> = (0..rows * columns).map(f64::from).collect();
        let (da, db) = (device.put(&a), device.fresh((rows * columns * 8) as u64));
        let args = [P(da), P(db), I(rows), I(columns)];
        loaded.launch(device, "transpose", [4, 2, 1], [16, 16, 1], 0, &args).unwrap();
        let b = device.get::<f64>(db);
        for at in 0..(rows * columns) as usize {
            assert_eq!(b[at], a[at % rows as usize * columns as usize + at / rows as usize]);
        }
    });
}

#[test]
fn variables_and_divergence() {
    each("basic", |device, loaded| {
        let mut random = Random::new(5);
        let x = random.floats(500);
        let (dx, dy) = (device.put(&x), device.fresh(2000));
        loaded.go(device, "stencil", 8, 64, &[P(dx), P(dy), I(500)]);
        let w = [0.0625f32, 0.25, 0.375, 0.25, 0.0625];
        let at = |i: i32| x[i.clamp(0, 499) as usize];
        let expected: Vec<f32> =
            (0..500).map(|i| (0..5).map(|d| w[d as usize] * at(i + d - 2)).sum()).collect();
        close(&device.get(dy), &expected, 1e-5);
        let calls = loaded.program.variables.iter().position(|v| v.name.contains("calls")).unwrap();
        assert_eq!(device.get::<u32>(loaded.variables[calls]), [8]);

        let x: Vec<i32> = (0..300).collect();
        let (dx, dy) = (device.put(&x), device.fresh(1200));
        loaded.go(device, "diverge", 3, 128, &[P(dx), P(dy), I(300)]);
        let expected: Vec<i32> = x
            .iter()
            .map(|&x| {
                let (mut v, mut steps) = (x, 0);
                while v > 1 {
                    v = if v & 1 == 1 { 3 * v + 1 } else { v / 2 };
                    steps += 1;
                }
                match x % 5 {
                    0 => steps * 3,
                    1 => steps + 1000,
                    2 => -steps,
                    3 => steps ^ 0x55,
                    _ => steps << 2,
                }
            })
            .collect();
        assert_eq!(device.get::<i32>(dy), expected);
    });
}

#[test]
fn any_order_and_number_of_threads() {
    let mut device = Device::default();
    let mut loaded = Loaded::new(TEXT, &mut device);
    let x: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    for (threads, seed) in [(1, 0), (1, 7), (4, 0), (4, 99)] {
        loaded.options.threads = Some(threads);
        loaded.options.seed = seed;
        let (dx, dy) = (device.put(&x), device.put(&x));
        loaded.go(&device, "saxpy", 40, 256, &[F(1.0), P(dx), P(dy), I(10_000)]);
        assert_eq!(device.get::<f32>(dy), x.iter().map(|x| x + x).collect::<Vec<_>>());
    }
}

#[test]
fn the_shadow_says_what_was_touched() {
    use cuweave_sim_driver::interp::{ATOMIC, INITIALISED, READ, WRITTEN};
    let mut device = Device::default();
    let loaded = Loaded::new(TEXT, &mut device);
    let (dx, dy) = (device.put(&[1f32; 64]), device.put(&[1f32; 64]));
    loaded.go(&device, "saxpy", 1, 32, &[F(1.0), P(dx), P(dy), I(20)]);
    let (x, y) = (device.flags(dx), device.flags(dy));
    assert!(x[..80].iter().all(|&f| f == INITIALISED | READ) && x[80..].iter().all(|&f| f == INITIALISED));
    assert!(y[..80].iter().all(|&f| f == INITIALISED | READ | WRITTEN) && y[80] == INITIALISED);
    let out = device.put(&[0f32]);
    loaded.go(&device, "sum", 1, 64, &[P(dx), P(out), I(64)]);
    assert!(device.flags(out).iter().all(|&f| f == INITIALISED | ATOMIC));
}
