//! Sizes of builders: one exec for all values of a scalar of `scalar_at_most` or `scalar_between`.

use cuweave::builder::{Builder, Exec, Handle, Scalar};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Result};
use cuweave_testkit::device::{Device, device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

/// Its lengths rise with `n`.
#[cuweave::graph]
fn layer(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n + 1);
    copy_to[per_item(n)](&x, &mut h[..n], n);
    scale[per_item(n)](&mut h[..n], a, n);
    axpy[per_item(n)](1.0, &h[..n], &mut y, n);
}

/// One launch for each of `n`.
#[cuweave::graph]
fn unrolled(n: u32, x: &mut [f32; 1]) {
    for i in 0..n {
        scale[per_item(1)](&mut x, 2.0, 1);
    }
}

const MOST: u32 = 1000;
const D: u32 = 3;

/// The exec of `steps`, with its scalars and its output.
struct Steps<'a> {
    exec: Exec<'a>,
    n: Scalar<u32>,
    a: Scalar<f32>,
    out: Handle,
}

/// Temporaries whose lengths are a size times a scalar, a fill, a copy, a call, an output, and launches over them.
fn steps<'a>(device: &Device, n: u32, x: &'a Buffer<f32>, y: &'a Buffer<f32>) -> Result<Steps<'a>> {
    let mut b = Builder::with_name(&device.ctx, "steps");
    let (d, most) = (b.scalar("d", D), b.scalar("most", u64::from(MOST)));
    let (n, a) = (b.scalar_at_most("n", n, most), b.scalar("a", 2.0_f32));
    let len = n * d;
    let (x, y) = (b.shared("x", &len, x), b.exclusive("y", &len, y));
    let h = b.named("h").alloc::<f32>(&len);
    let t = b.named("t").alloc::<f32>(&len + 3);
    let out = b.named("out").alloc::<f32>(n);
    b.launch(copy_to {}, per_item(&len), (&x, h.write(), &len))?;
    b.fill(t.write(), 1.0_f32)?;
    b.launch(scale {}, (len.div_ceil(128), 128), (h.write(), a, &len))?;
    b.launch(axpy {}, per_item(&len), (2.0_f32, &h, t.range(0, &len).write(), &len))?;
    b.launch(axpy {}, per_item(&len), (1.0_f32, &t.range(0, &len), y.write(), &len))?;
    b.call(layer::layer {}, (&len, a, &h, y.write()))?;
    b.copy(&h.range(0, n), out.write())?;
    b.call(layer::layer {}, (n, 1.0_f32, &t.range(0, n), out.write()))?;
    b.output(out)?;
    Ok(Steps { exec: b.build()?.instantiate()?, n, a, out })
}

#[test]
fn one_exec_runs_for_all_values() {
    let device = device();
    let elements = (MOST * D) as usize;
    let xs = ramp(elements);
    let x = Buffer::from_host(&device.stream, &xs).expect("a buffer");
    let y = Buffer::<f32>::zeros(&device.stream, elements).expect("a buffer");
    let Steps { mut exec, n: size, a: factor, out } = steps(&device, 17, &x, &y).expect("it builds");
    let mut expected = vec![0.0f32; elements];
    let mut a = 2.0;
    for (round, n) in [17, 17, 1, MOST, 256, 255, 257, MOST - 1, 1, 999].into_iter().enumerate() {
        if round > 0 && round % 2 == 0 {
            a += 1.0;
            exec.edit(|edit| {
                edit.set_scalar(&factor, a)?;
                edit.set_scalar(&size, n)
            })
            .expect("it is set");
        } else if round > 0 {
            exec.set_scalar(&size, n).expect("it is set");
        }
        let launched = exec.launch(&device.stream).expect("it runs");
        let output = launched.output::<f32>(out).expect("an output");
        let want: Vec<f32> = xs.iter().take(n as usize).map(|x| 3.0 * x * a + 1.0).collect();
        assert_eq!(device.stream.clone_dtoh(&output.as_view()).expect("it is read"), want, "{n}");
        drop(output);
        for (y, x) in expected.iter_mut().zip(&xs).take((n * D) as usize) {
            *y += 2.0 * x * a + 1.0 + x * a * a;
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    }
}

#[test]
fn a_value_out_of_the_range_is_refused_and_changes_nothing() {
    let device = device();
    let elements = (MOST * D) as usize;
    let x = Buffer::from_host(&device.stream, &ramp(elements)).expect("a buffer");
    let y = Buffer::<f32>::zeros(&device.stream, elements).expect("a buffer");
    let error = steps(&device, MOST + 1, &x, &y).map(|_| ()).expect_err("it is more than the largest");
    assert!(matches!(error, Error::Range { lo: 1, hi: 1000, len: 1001, .. }), "{error}");
    let short = Buffer::<f32>::zeros(&device.stream, elements - 1).expect("a buffer");
    assert!(steps(&device, 5, &x, &short).is_err(), "the buffer is too short for the largest value");
    let Steps { mut exec, n, a, .. } = steps(&device, 5, &x, &y).expect("it builds");
    for value in [0, MOST + 1, u32::MAX] {
        let error = exec.set_scalar(&n, value).expect_err("it is out of the range");
        assert!(matches!(error, Error::Range { .. }), "{error}");
        let error = exec.edit(|edit| {
            edit.set_scalar(&a, 9.0)?;
            edit.set_scalar(&n, value)
        });
        assert!(matches!(error, Err(Error::Range { .. })), "{error:?}");
    }
    exec.launch(&device.stream).map(drop).expect("it runs");
    let seen = y.to_host(&device.stream).expect("it is read");
    let added = |(at, x): (usize, f32)| if at < 15 { 2.0 * x * 2.0 + 1.0 + x * 4.0 } else { 0.0 };
    assert_eq!(seen, ramp(elements).into_iter().enumerate().map(added).collect::<Vec<f32>>());
}

#[test]
fn a_size_and_the_place_of_a_range_are_set_at_once() {
    let device = device();
    let (x, y) = (device.upload(&ramp(32)), Buffer::<f32>::zeros(&device.stream, 64).expect("a buffer"));
    let mut b = Builder::new(&device.ctx);
    let (n, at) = (b.scalar_between("n", 8_i64, 4, 32), b.scalar("at", 0_u32));
    let (x, kept) = (b.shared("x", n, &x), b.exclusive("y", 64, &y));
    let h = b.alloc::<f32>(n - 4 + 1);
    b.copy(&x.range(0, n - 3), h.write()).expect("it copies");
    b.copy(&h, kept.range(at, at + n - 3).write()).expect("it copies");
    let mut exec = b.build().expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0f32; 64];
    for (size, place) in [(8_i64, 0_u32), (4, 63), (32, 35), (5, 7)] {
        exec.edit(|edit| {
            edit.set_scalar(&n, size)?;
            edit.set_scalar(&at, place)
        })
        .expect("it is set");
        exec.launch(&device.stream).map(drop).expect("it runs");
        let (len, place) = (size as usize - 3, place as usize);
        expected[place..place + len].copy_from_slice(&ramp(32)[..len]);
    }
    let error = exec.set_scalar(&n, 3).expect_err("it is below the least value");
    assert!(matches!(error, Error::Range { lo: 4, hi: 32, len: 3, .. }), "{error}");
    let moved = exec.edit(|edit| edit.set_scalar(&at, 64)).expect_err("the range is outside of the buffer");
    assert!(matches!(moved, Error::Range { .. }), "{moved}");
    drop(exec);
    assert_eq!(y.to_host(&device.stream).expect("it is read"), expected);
}

#[test]
fn the_execs_of_a_bank_begin_with_the_given_value() {
    let device = device();
    let y = Buffer::<f32>::zeros(&device.stream, 20).expect("a buffer");
    let mut bank = cuweave::Bank::<u32, Exec<'_>>::new(&device.stream).max_execs(2);
    for start in [3_u32, 7] {
        let build = |pool: &cuweave::ArenaPool| {
            let mut b = Builder::new(&device.ctx);
            let n = b.scalar_at_most("n", start, 20);
            let y = b.exclusive("y", n, &y);
            let h = b.alloc::<f32>(n);
            b.fill(h.write(), 1.0_f32)?;
            b.launch(axpy {}, per_item(n), (1.0_f32, &h, y.write(), n))?;
            b.build()?.instantiate_in(pool)
        };
        bank.get(&start, build).expect("an exec").launch(&device.stream).map(drop).expect("it runs");
    }
    let expected: Vec<f32> = [[2.0; 3].as_slice(), &[1.0; 4], &[0.0; 13]].concat();
    assert_eq!(y.to_host(&device.stream).expect("it is read"), expected);
}

/// Builds a program with the size `n` of 1 to 100, and returns the error.
fn refused<R>(add: impl FnOnce(&mut Builder<'_>, Scalar<u32>) -> Result<R>) -> String {
    let device = device();
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar_at_most("n", 7_u32, 100);
    add(&mut b, n).expect("statements");
    b.build().map(drop).expect_err("it is refused").to_string()
}

#[test]
fn falling_lengths_and_structural_uses_are_refused() {
    let notes = "= note: memory is planned for the largest value of a size\n= help: give it a scalar of its own, by \
                 `scalar_at_most`";
    let used = |b: &mut Builder<'_>, h: Handle| b.fill(h.write(), 1.0_f32);
    let message = refused(|b, n| {
        let h = b.named("h").alloc::<f32>(100 - n);
        used(b, h)
    });
    let falls = format!("CW001: the length of `h` falls where the size `n` rises: `100 - n`\n{notes}");
    assert!(message.contains(&falls), "{message}");
    let message = refused(|b, n| {
        let h = b.named("h").alloc::<f32>(n * (100 - n));
        used(b, h)
    });
    assert!(
        message.contains("the length of `h` may fall where the size `n` rises: `n * (100 - n)`"),
        "{message}"
    );
    let message = refused(|b, n| {
        let m = b.scalar_at_most("m", 2_u32, n + 1);
        let h = b.alloc::<f32>(m);
        used(b, h)
    });
    assert!(
        message.contains("`n` cannot be a size: the build reads the maximum of `m` from it"),
        "{message}"
    );
    let message = refused(|b, n| {
        b.budget(n * 4);
        let h = b.alloc::<f32>(n);
        used(b, h)
    });
    assert!(message.contains("`n` cannot be a size: the budget depends on it"), "{message}");
    let message = refused(|b, n| {
        let (x, y) = (b.alloc::<f32>(100), b.alloc::<f32>(100));
        used(b, x)?;
        used(b, y)?;
        let rest = 100 - n;
        b.call(layer::layer {}, (&rest, 1.0_f32, &x.range(0, &rest), y.range(0, &rest).write()))
    });
    assert!(
        message.contains("the argument `n` of `layer` falls where the size `n` rises: `100 - n`"),
        "{message}"
    );
    let message = refused(|b, n| {
        let x = b.alloc::<f32>(1);
        used(b, x)?;
        b.call(unrolled::unrolled {}, (n, x.write()))
    });
    assert!(message.contains("cannot be a size: it decides a length, a loop or a choice"), "{message}");
}

/// Its threads write all elements with 100 to 128, and with 500 to 640.
#[cuweave::graph]
fn covered(
    #[at_least(100)]
    #[at_most(1000)]
    n: u32,
    x: &[f32; n],
    y: &mut [MaybeUninit<f32>; n],
) {
    copy_to[(n / 100, 128)](&x, &mut y, n);
}

/// With 150 elements, some are not written.
#[cuweave::graph]
fn uncovered(
    #[at_least(150)]
    #[at_most(1000)]
    n: u32,
    x: &[f32; n],
    y: &mut [f32; n],
) {
    let h = alloc::<f32>(n);
    copy_to[(n / 100, 128)](&x, &mut h, n);
    copy(&h, &mut y);
}

#[test]
fn launches_write_all_with_the_smallest_value_too() {
    let device = device();
    let x = device.upload(&ramp(1000));
    let y = Buffer::<f32>::zeros(&device.stream, 1000).expect("a buffer");
    covered(&device.ctx, 500, &x, &y).map(drop).expect("it covers both ends");
    let built = |least: u64| {
        let mut b = Builder::new(&device.ctx);
        let n = b.scalar_between("n", 500_u32, least, 1000);
        let (x, y) = (b.shared("x", n, &x), b.exclusive("y", n, &y));
        let h = b.alloc::<f32>(n);
        b.launch(copy_to {}, (n / 100, 128), (&x, h.write(), n))?;
        b.copy(&h, y.write())?;
        b.build()
    };
    let mut exec = built(100).expect("it covers both ends").instantiate().expect("an exec");
    let written = uncovered(&device.ctx, 500, &x, &y).map(|_| ()).expect_err("it does not cover 150");
    for error in [written, built(150).map(|_| ()).expect_err("it does not cover 150")] {
        let Error::SmallestSizes(values, reason) = &error else { panic!("{error}") };
        assert_eq!(values, "`n` = 150");
        assert!(matches!(**reason, Error::Short(_)), "{error}");
    }
    let none = built(1).map(|_| ()).expect_err("a grid of no blocks");
    assert!(none.to_string().starts_with("with `n` = 1, the smallest sizes: "), "{none}");
    exec.launch(&device.stream).map(drop).expect("it runs");
}
