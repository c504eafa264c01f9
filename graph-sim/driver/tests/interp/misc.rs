use cuweave_testkit::random::Random;

use crate::support::{Arg::*, Device, Loaded, close, each, texts};

/// The kernel `bits` of `misc.cu` in Rust.
fn bits(v: u32) -> u32 {
    let step = |r: u32, x: u32| r.wrapping_mul(31).wrapping_add(x);
    let mut r = v.count_ones();
    r = step(r, v.leading_zeros());
    r = step(r, if v == 0 { 0 } else { v.trailing_zeros() + 1 });
    r = step(r, v.reverse_bits());
    let bytes = (u64::from(!v) << 32) | u64::from(v);
    let pick = |selector: u32| ((bytes >> (8 * selector)) & 0xff) as u32;
    r = step(r, pick(7) | pick(1) << 8 | pick(3) << 16 | pick(5) << 24);
    let shift = v & 31;
    let pair = (u64::from(v.wrapping_mul(7)) << 32) | u64::from(v);
    r = step(r, ((pair << shift) >> 32) as u32);
    r = step(r, v >> 5 & 0x7f);
    r = step(r, ((u64::from(v) * 0x9e37_79b9) >> 32) as u32);
    r = step(r, ((i64::from(v as i32) * -77) >> 32) as u32);
    r = r.wrapping_mul(31).wrapping_add(v / (v % 97 + 1)).wrapping_add(v % (v % 89 + 3));
    let quotient = (v as i32 / ((v % 13) as i32 + 1)) as u32;
    r = r.wrapping_mul(31).wrapping_add(quotient).wrapping_add((v as i32 >> (v & 7)) as u32);
    let other = 0x01fe_7f80u32;
    let dot: i32 =
        (0..4).map(|i| i32::from((v >> (8 * i)) as i8) * i32::from((other >> (8 * i)) as i8)).sum();
    r = step(r, (dot + 5) as u32);
    let w = (u64::from(v) * u64::from(v)).wrapping_add(12345);
    let sum = ((w / u64::from(v | 1)) as u32)
        .wrapping_add((w >> 40) as u32)
        .wrapping_add(w.count_ones())
        .wrapping_add(w.leading_zeros());
    r = step(r, sum);
    let halves = (v & 0xffff).wrapping_add(2) & 0xffff | ((v >> 16).wrapping_add(1) & 0xffff) << 16;
    r = r.wrapping_mul(31).wrapping_add(halves).wrapping_add((v as i32).abs_diff(5).wrapping_add(3));
    r
}

#[test]
fn integers() {
    each("misc", |device, loaded| {
        let mut random = Random::new(1);
        let mut x: Vec<u32> = (0..500).map(|_| (random.bits() << 16 ^ random.bits()) as u32).collect();
        x.extend([0, 1, 2, u32::MAX, 0x8000_0000, 0x7fff_ffff]);
        let (dx, dy) = (device.put(&x), device.fresh(x.len() as u64 * 4));
        loaded.go(device, "bits", 4, 128, &[P(dx), P(dy), I(x.len() as i32)]);
        for (x, y) in x.iter().zip(device.get::<u32>(dy)) {
            assert_eq!(y, bits(*x), "{x:#x}");
        }
    });
}

#[test]
fn conversions() {
    each("misc", |device, loaded| {
        let mut random = Random::new(2);
        let mut x: Vec<f32> = (0..200).map(|_| random.float() * 300.0).collect();
        x.extend([0.5, 1.5, 2.5, -0.5, -1.5, 0.0, -0.0, 1e9]);
        let (dx, dy) = (device.put(&x), device.fresh(x.len() as u64 * 40));
        loaded.go(device, "conversions", 2, 128, &[P(dx), P(dy), I(x.len() as i32)]);
        for (&v, y) in x.iter().zip(device.get::<i32>(dy).chunks(10)) {
            let sum = v.round_ties_even() + v.floor() + v.trunc() + v.ceil();
            let expected = [
                v as i32,
                v.round_ties_even() as i32,
                v.floor() as i32,
                v as u32 as i32,
                v as i64 as i32,
                i32::from(v as i32 as i8),
                i32::from(v as i32 as u16),
                (v * 3.0).to_bits() as i32,
                sum.to_bits() as i32,
                ((v * 1e6).round_ties_even() as i64 as f32).to_bits() as i32,
            ];
            assert_eq!(y, expected, "{v}");
        }
    });
}

#[test]
fn mathematics() {
    each("misc", |device, loaded| {
        let mut random = Random::new(3);
        let x: Vec<f64> = (0..300).map(|_| f64::from(random.float()) * 5.0).collect();
        let (dx, dy) = (device.put(&x), device.fresh(x.len() as u64 * 64));
        loaded.go(device, "doubles", 3, 128, &[P(dx), P(dy), I(300)]);
        for (&v, y) in x.iter().zip(device.get::<f64>(dy).chunks(8)) {
            let expected = [
                v.abs().sqrt(),
                (v * 0.1).exp(),
                (v.abs() + 1.0).ln(),
                v.sin(),
                1.0 / (v + 10.5),
                v.abs().powf(1.25),
                v.mul_add(v, -1.0),
                v.min(0.5) + v.max(-0.5),
            ];
            for (at, (a, b)) in y.iter().zip(expected).enumerate() {
                assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{at} of {v}: {a} instead of {b}");
            }
        }
        let x: Vec<f32> = (0..300).map(|_| random.float() * 3.0).collect();
        let (dx, dy) = (device.put(&x), device.fresh(x.len() as u64 * 40));
        loaded.go(device, "floats", 3, 128, &[P(dx), P(dy), I(300)]);
        let mut expected = Vec::new();
        for &v in &x {
            let w = f64::from(v);
            let down =
                |x: f64| if f64::from(x as f32).abs() > x.abs() { toward_zero(x as f32) } else { x as f32 };
            let up = |x: f64| if f64::from(x as f32) < x { (x as f32).next_up() } else { x as f32 };
            let hundred = f64::from(v * 100.0);
            expected.extend([
                w.sin() as f32,
                w.exp() as f32,
                (w.abs() + 1.0).ln() as f32,
                (1.0 / (w.abs() + 1.0).sqrt()) as f32,
                hundred.sin() as f32,
                w.abs().powf(0.7) as f32,
                (w / 3.0 + w / 7.0) as f32,
                erf(w) as f32,
                down(w + f64::from(0.1f32)) + up(w * f64::from(0.3f32)),
                (w.abs().ln_1p() + w.cbrt() + w.atan2(2.0)) as f32,
            ]);
        }
        close(&device.get(dy), &expected, 3e-6);
    });
}

fn toward_zero(x: f32) -> f32 {
    if x > 0.0 { x.next_down() } else { x.next_up() }
}

/// Computed from its series, which converges for the arguments of the test.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn warps_together() {
    each("misc", |device, loaded| {
        let x: Vec<i32> = (0..128).map(|i| (i * 37) % 101).collect();
        let (dx, dy) = (device.put(&x), device.fresh(128 * 32));
        loaded.go(device, "warps", 2, 64, &[P(dx), P(dy)]);
        let y = device.get::<i32>(dy);
        for i in 0..128 {
            let (lane, warp) = (i % 32, &x[i / 32 * 32..][..32]);
            let block = &x[i / 64 * 64..][..64];
            let mask = |f: &dyn Fn(i32) -> bool| {
                (0..32).filter(|&l| f(warp[l])).map(|l| 1u32 << l).sum::<u32>() as i32
            };
            let tail = if lane < 16 { warp[lane ^ 5] + 0xffff } else { warp[lane / 8 * 8 + lane % 4] };
            let odd = block.iter().filter(|v| *v & 1 == 1).count() as i32;
            let expected = [
                mask(&|v| v & 1 == 1),
                i32::from(warp.contains(&7)) | 2,
                mask(&|v| v % 3 == x[i] % 3),
                warp.iter().sum(),
                *warp.iter().max().unwrap(),
                warp[..=lane].iter().sum(),
                tail,
                odd + 1000 * i32::from(block.contains(&3)),
            ];
            assert_eq!(y[i * 8..][..8], expected, "thread {i}");
        }
    });
}

#[test]
fn atomic_updates() {
    each("misc", |device, loaded| {
        let x: Vec<i32> = (0..1000).map(|i| (i * 7919) % 1000 + 1).collect();
        let mut start = vec![0i32; 1008];
        (start[1], start[5]) = (i32::MAX, -1);
        let (dx, di) = (device.put(&x), device.put(&start));
        let (du, df, dd) = (device.put(&[0u64, 0]), device.put(&[0f32]), device.put(&[0f64]));
        loaded.go(device, "atomics", 8, 128, &[P(dx), P(di), P(du), P(df), P(dd), I(1000)]);
        let i32s = device.get::<i32>(di);
        let sum: i32 = x.iter().sum();
        let fold = |start, f: fn(i32, i32) -> i32| x.iter().copied().fold(start, f);
        assert_eq!(
            i32s[..8],
            [sum, 1, 1000, fold(0, |a, b| a ^ b), fold(0, |a, b| a | b), fold(-1, |a, b| a & b), 0, 2000]
        );
        let mut tickets = i32s[8..].to_vec();
        tickets.sort_unstable();
        assert_eq!(tickets, (0..1000).collect::<Vec<_>>());
        assert_eq!(device.get::<u64>(du), [(sum as u64) << 20, 1_000_000]);
        assert_eq!(device.get::<f32>(df), [sum as f32]);
        assert_eq!(device.get::<f64>(dd), [f64::from(sum) * 0.5]);
    });
}

#[test]
fn calls_and_local_memory() {
    each("misc", |device, loaded| {
        let dy = device.fresh(64 * 8);
        loaded.go(device, "calls", 1, 64, &[P(dy)]);
        let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
        for (i, y) in device.get::<i32>(dy).chunks(2).enumerate() {
            let i = i as i32;
            assert_eq!(y, [fibonacci[i as usize % 12], [i + 5, i * 5, i - 5][i as usize % 3]]);
        }
        let order: Vec<i32> = (0..16).map(|i| (i * 7 + 3) % 16).collect();
        let (dorder, dy) = (device.put(&order), device.fresh(40 * 64));
        loaded.go(device, "locals", 1, 40, &[P(dorder), P(dy)]);
        for (i, y) in device.get::<i32>(dy).chunks(16).enumerate() {
            let mut a: Vec<i32> = (0..16).map(|j| i as i32 * 16 + j).collect();
            (0..16).for_each(|j| a.swap(j, order[j] as usize));
            assert_eq!(y, a);
        }
        let mut bytes = Vec::new();
        for v in [1.5f64, 2.5, -3.0] {
            bytes.extend(v.to_le_bytes());
        }
        bytes.extend(2u64.to_le_bytes());
        let dy = device.fresh(24);
        loaded.go(device, "by_value", 1, 32, &[B(bytes), P(dy)]);
        assert_eq!(device.get::<f64>(dy), [3.0, 5.0, -6.0]);
    });
}

#[test]
fn printing() {
    each("misc", |device, loaded| {
        loaded.go(device, "say", 1, 64, &[I(3)]);
        assert_eq!(*device.printed.lock().unwrap(), "block 0 of 1: hello 4.500 1099511627776 x\n");
    });
}

/// Threads that wait for others make progress: blocks that wait for blocks, and lanes that wait for lanes.
#[test]
fn waiting_makes_progress() {
    for text in texts("misc") {
        for (threads, seed) in [(1, 0), (1, 5), (3, 11)] {
            let mut device = Device::default();
            let mut loaded = Loaded::new(&text, &mut device);
            loaded.options.threads = Some(threads);
            loaded.options.seed = seed;
            let (flags, out) = (device.put(&[0i32; 40]), device.put(&[0i32; 40]));
            loaded.go(&device, "chain", 40, 32, &[P(flags), P(out)]);
            assert_eq!(device.get::<i32>(out), (0..40).collect::<Vec<_>>());
            let (mutex, counter) = (device.put(&[0i32]), device.put(&[0i32]));
            loaded.go(&device, "lock", 2, 96, &[P(mutex), P(counter)]);
            assert_eq!(device.get::<i32>(counter), [192]);
        }
    }
}

/// Since compute capability 7.0 a barrier of the whole block does not wait for threads that have ended.
#[test]
fn barriers_do_not_wait_for_threads_that_have_ended() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n\
        .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 tile[256];\n\
        ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n\
        setp.ge.u32 %p1, %r2, %r1; @%p1 bra END;\n\
        mov.u32 %r3, tile; mad.lo.u32 %r4, %r2, 4, %r3; st.shared.u32 [%r4], %r2;\n\
        bar.sync 0;\n\
        sub.u32 %r5, %r1, %r2; sub.u32 %r5, %r5, 1; mad.lo.u32 %r6, %r5, 4, %r3; ld.shared.u32 %r7, [%r6];\n\
        barrier.sync 0;\n\
        mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7;\n\
        END: ret;\n}\n";
    let mut device = Device::default();
    let loaded = Loaded::new(text, &mut device);
    for n in [1, 31, 32, 41, 64] {
        let p = device.fresh(256);
        loaded.go(&device, "k", 1, 64, &[P(p), I(n)]);
        let expected: Vec<u32> = (0..n as u32).rev().collect();
        assert_eq!(device.get::<u32>(p)[..n as usize], expected, "{n}");
    }
}
