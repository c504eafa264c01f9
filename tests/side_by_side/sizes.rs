//! Sizes: one exec for all values of a scalar with `#[at_most(n)]`.

use cuweave::error::SetterFault;
use cuweave::prelude::*;
use cuweave::{Buffer, Error};
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

const MOST: u32 = 1000;

/// Two temporaries whose lengths are a size times a scalar, a fill, a copy and launches over them.
#[cuweave::graph]
fn steps(d: u32, max: u32, #[at_most(max)] n: u32, a: f32, x: &[f32; n * d], y: &mut [f32; n * d]) {
    let h = alloc::<f32>(n * d);
    let t = alloc::<f32>(n * d + 3);
    copy_to[per_item(n * d)](&x, &mut h, n * d);
    fill(&mut t, 1.0);
    scale[per_item(n * d)](&mut h, a, n * d);
    axpy[per_item(n * d)](2.0, &h, &mut t[..n * d], n * d);
    axpy[per_item(n * d)](1.0, &t[..n * d], &mut y, n * d);
    copy(&h, &mut t[..n * d]);
    axpy[per_item(n * d)](1.0, &t[..n * d], &mut y, n * d);
}

/// Returns what a launch adds to an element of y.
fn added(a: f32, x: f32) -> f32 {
    let h = x * a;
    2.0 * h + 1.0 + h
}

#[test]
fn one_exec_runs_for_all_values() {
    let device = device();
    let d = 3;
    let elements = (MOST * d) as usize;
    let x = Buffer::from_host(&device.stream, &ramp(elements)).expect("a buffer");
    let y = Buffer::<f32>::zeros(&device.stream, elements).expect("a buffer");
    let graph = steps(&device.ctx, d, MOST, 17, 2.0, &x, &y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut expected = vec![0.0f32; elements];
    let mut a = 2.0;
    for (round, n) in [17, 17, 1, MOST, 256, 255, 257, MOST - 1, 1, 999].into_iter().enumerate() {
        if round > 0 && round % 2 == 0 {
            a += 1.0;
            exec.edit(|edit| {
                edit.set_a(a)?;
                edit.set_n(n)
            })
            .expect("it is set");
        } else if round > 0 {
            exec.set_n(n).expect("it is set");
        }
        exec.launch(&device.stream).expect("it runs");
        for (y, x) in expected.iter_mut().zip(ramp(elements)).take((n * d) as usize) {
            *y += added(a, x);
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
        let certificate = exec.certificate();
        cuweave_check::check(&certificate).expect("the certificate holds");
    }
}

#[test]
fn a_value_out_of_the_range_is_refused_and_changes_nothing() {
    let device = device();
    let x = device.upload(&ramp(30));
    let y = Buffer::<f32>::zeros(&device.stream, 30).expect("a buffer");
    let error = steps(&device.ctx, 3, 10, 11, 2.0, &x, &y).expect_err("11 is more than 10");
    assert!(matches!(error, Error::Range { lo: 1, hi: 10, len: 11, .. }), "{error}");
    assert!(steps(&device.ctx, 3, 11, 5, 2.0, &x, &y).is_err(), "the buffers are too short for 11");
    let mut exec =
        steps(&device.ctx, 3, 10, 5, 2.0, &x, &y).expect("it builds").instantiate().expect("an exec");
    for value in [0, 11, u32::MAX] {
        let error = exec.set_n(value).expect_err("it is out of the range");
        assert!(matches!(error, Error::Range { .. }), "{error}");
        let error = exec.edit(|edit| {
            edit.set_a(9.0)?;
            edit.set_n(value)
        });
        assert!(matches!(error, Err(Error::Range { .. })), "{error:?}");
    }
    exec.launch(&device.stream).expect("it runs");
    let seen = y.to_host(&device.stream).expect("it is read");
    let expected: Vec<f32> =
        ramp(30).into_iter().enumerate().map(|(at, x)| if at < 15 { added(2.0, x) } else { 0.0 }).collect();
    assert_eq!(seen, expected);
}

/// Its lengths rise with `n`.
#[cuweave::graph]
fn layer(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n + 1);
    copy_to[per_item(n)](&x, &mut h[..n], n);
    scale[per_item(n)](&mut h[..n], a, n);
    axpy[per_item(n)](1.0, &h[..n], &mut y, n);
}

/// Calls of functions without sizes, and an output.
#[cuweave::graph]
fn net(layers: u32, #[at_most(500)] n: u32, x: &[f32; 2 * n], y: &mut [f32; n]) -> [f32; n] {
    let out = alloc::<f32>(n);
    fill(&mut out, 0.0);
    for i in 0..layers {
        layer(n, 2.0, &x[..n], &mut y);
        layer(n, 3.0, &x[n..2 * n], &mut out);
    }
    axpy[per_item(n)](1.0, &y, &mut out, n);
    out
}

#[test]
fn sizes_flow_into_calls_and_outputs_have_their_lengths() {
    let device = device();
    let most = 500;
    let x = device.upload(&ramp(2 * most));
    let y = Buffer::<f32>::zeros(&device.stream, most).expect("a buffer");
    let mut exec = net(&device.ctx, 3, 500, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0f32; most];
    for n in [500usize, 1, 255, 256, 257, 500, 499] {
        exec.set_n(n as u32).expect("it is set");
        let out = exec.launch(&device.stream).expect("it runs");
        let xs = ramp(2 * most);
        for (y, x) in expected.iter_mut().zip(&xs).take(n) {
            *y += 3.0 * 2.0 * x;
        }
        let want: Vec<f32> = (0..n).map(|at| 3.0 * 3.0 * xs[n + at] + expected[at]).collect();
        assert_eq!(out.len(), n, "the output's length");
        assert_eq!(device.stream.clone_dtoh(&out.as_view()).expect("read"), want, "{n}");
        drop(out);
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    }
}

#[test]
fn the_execs_of_a_bank_begin_with_the_given_value() {
    let device = device();
    let x = device.upload(&ramp(60));
    let y = Buffer::<f32>::zeros(&device.stream, 60).expect("a buffer");
    let mut bank = cuweave::Bank::<u32, steps::Exec<'_>>::new(&device.stream).max_execs(2);
    let mut expected = vec![0.0f32; 60];
    for d in [1, 2, 3, 1] {
        let exec = bank
            .get(&d, |pool| steps(&device.ctx, d, 20, 7, 2.0, &x, &y)?.instantiate_in(pool))
            .expect("an exec");
        exec.launch(&device.stream).expect("it runs");
        for (y, x) in expected.iter_mut().zip(ramp(60)).take(7 * d as usize) {
            *y += added(2.0, x);
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{d}");
    }
    assert_eq!(bank.len(), 2);
}

#[test]
fn an_abandoned_edit_in_a_bank_leaves_the_given_value() {
    let device = device();
    let x = device.upload(&ramp(20));
    let y = Buffer::<f32>::zeros(&device.stream, 20).expect("a buffer");
    let mut bank = cuweave::Bank::<u32, steps::Exec<'_>>::new(&device.stream);
    let build = |pool: &cuweave::ArenaPool| {
        let mut exec = steps(&device.ctx, 1, 20, 7, 2.0, &x, &y)?.instantiate_in(pool)?;
        let abandoned = exec.edit(|edit| {
            edit.set_n(5)?;
            edit.set_n(21)
        });
        assert!(matches!(abandoned, Err(Error::Range { .. })), "{abandoned:?}");
        exec.set_a(3.0)?;
        Ok(exec)
    };
    bank.get(&1, build).expect("an exec").launch(&device.stream).expect("it runs");
    let seen = y.to_host(&device.stream).expect("it is read");
    let expected: Vec<f32> =
        ramp(20).into_iter().enumerate().map(|(at, x)| if at < 7 { added(3.0, x) } else { 0.0 }).collect();
    assert_eq!(seen, expected);
}

/// The grids of the launches are equal from 300 elements on.
#[cuweave::graph]
fn equal_above(#[at_most(1000)] n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(n.max(300))](&mut x, 3.0, n);
    scale[per_item(n.max(300))](&mut y, 5.0, n);
}

#[test]
fn launches_whose_grids_differ_for_some_values_are_not_fused() {
    let device = device();
    let [x, y] = [0; 2].map(|_| Buffer::from_host(&device.stream, &[1.0_f32; 1000]).expect("a buffer"));
    let graph = equal_above(&device.ctx, 700, &x, &y).expect("it builds");
    assert!(graph.report().fused.is_empty(), "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    let (mut of_x, mut of_y) = (vec![1.0_f32; 1000], vec![1.0_f32; 1000]);
    for n in [1000, 1, 255, 256, 257, 299, 300, 301, 512, 513] {
        exec.set_n(n).expect("it is set");
        exec.launch(&device.stream).expect("it runs");
        of_x.iter_mut().take(n as usize).for_each(|x| *x *= 6.0);
        of_y.iter_mut().take(n as usize).for_each(|y| *y *= 5.0);
        assert_eq!(x.to_host(&device.stream).expect("it is read"), of_x, "{n}");
        assert_eq!(y.to_host(&device.stream).expect("it is read"), of_y, "{n}");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    }
}

/// The grids of the launches differ only for multiples of 256.
#[cuweave::graph]
fn one_more(#[at_most(600)] n: u32, x: &mut [f32; n + 1]) {
    scale[per_item(n)](&mut x[..n], 2.0, n);
    scale[per_item(n + 1)](&mut x, 3.0, n + 1);
}

/// They differ only for 84 and 85.
#[cuweave::graph]
fn one_of_three(#[at_most(100)] n: u32, x: &mut [f32; 3 * n + 5]) {
    scale[per_item(3 * n)](&mut x[..3 * n], 2.0, 3 * n);
    scale[per_item(3 * n + 5)](&mut x, 3.0, 3 * n + 5);
}

#[test]
fn launches_whose_grids_differ_at_borders_of_blocks_are_not_fused() {
    let device = device();
    let x = Buffer::from_host(&device.stream, &[0.0_f32; 601]).expect("a buffer");
    let mut exec = one_more(&device.ctx, 256, &x).expect("it builds").instantiate().expect("an exec");
    (1..=600).for_each(|n| exec.set_n(n).expect("it is set"));
    let mut exec = one_of_three(&device.ctx, 84, &x).expect("it builds").instantiate().expect("an exec");
    (1..=100).for_each(|n| exec.set_n(n).expect("it is set"));
}

/// The grids of the launches differ for one value, which the build does not try.
#[cuweave::graph]
fn differing_once(#[at_most(1000)] n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(if n == 777 { n + 300 } else { n })](&mut x, 3.0, n);
}

#[test]
fn a_value_for_which_fused_launches_differ_is_refused_and_changes_nothing() {
    let device = device();
    let x = Buffer::from_host(&device.stream, &[1.0_f32; 1000]).expect("a buffer");
    let graph = differing_once(&device.ctx, 1000, &x).expect("it builds");
    assert_eq!(graph.report().fused.len(), 1, "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    let mut expected = vec![1.0_f32; 1000];
    let mut before = 1000;
    for n in [776, 777, 778, 777, 1, 777, 1000] {
        match exec.set_n(n) {
            Ok(()) => before = n,
            Err(error) => {
                let merged = matches!(
                    &error,
                    Error::BuildAgain { reason: SetterFault::Merged { launches: 2, .. }, .. }
                );
                assert!(merged && n == 777, "{n}: {error}");
            }
        }
        assert_ne!(before, 777, "the launches are one kernel");
        exec.launch(&device.stream).expect("it runs");
        expected.iter_mut().take(before as usize).for_each(|x| *x *= 6.0);
        assert_eq!(x.to_host(&device.stream).expect("it is read"), expected, "{n}");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    }
}
