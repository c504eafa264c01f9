//! Literal loops, unrolled, and arrays of buffers.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn collatz(x: &mut [u32; n], n: u32);
}

#[cuweave::graph]
fn counted(n: u32, x: &mut [u32; n]) {
    for _ in 0..3 {
        collatz[per_item(n)](&mut x, n);
    }
    for _turn in 2..4 {
        for _inner in 0..2 {
            collatz[per_item(n)](&mut x, n);
        }
    }
    for _ in 0..0 {
        fill(&mut x, 0);
    }
}

#[test]
fn loops_and_loops_in_loops() {
    let device = device();
    let mut x = device.upload(&[1_u32, 2, 3]);
    run!(device, counted(&device.ctx, 3, &mut x));
    let want: Vec<u32> = (1..=3).map(|x| (0..7).fold(x, |x, _| x * 3 + 1)).collect();
    assert_eq!(device.download(&x), want);
}

#[cuweave::graph]
fn indexed(n: u32, xs: [&[f32; n]; 4], ys: [&mut [f32; n]; 2], sum: &mut [f32; n]) {
    for i in 0..4 {
        axpy[per_item(n)](i as f32, &xs[i], &mut sum, n);
    }
    for i in 0..2 {
        axpy[per_item(n)](1.0, &xs[2 * i + 1], &mut ys[i], n);
        scale[per_item(n)](&mut ys[1 - i], 2.0, n);
    }
    copy(&ys[0][0..1], &mut sum[0..1]);
}

#[test]
fn arrays_of_buffers() {
    let device = device();
    let n = 6;
    let xs: Vec<_> = (0..4).map(|i| device.upload(&vec![i as f32 + 1.0; n])).collect();
    let mut ys: Vec<_> = (0..2).map(|_| device.upload(&ramp(n))).collect();
    let mut sum = device.zeros::<f32>(n);
    {
        let [a, b] = &mut ys[..] else { unreachable!("two buffers") };
        let xs: [_; 4] = std::array::from_fn(|i| &xs[i]);
        run!(device, indexed(&device.ctx, n as u32, xs, [a, b], &mut sum));
    }
    // ys[0] is incremented and then scaled; ys[1] is scaled and then incremented.
    let first: Vec<f32> = ramp(n).iter().map(|y| (y + 2.0) * 2.0).collect();
    let second: Vec<f32> = ramp(n).iter().map(|y| y * 2.0 + 4.0).collect();
    assert_eq!(device.download(&ys[0]), first);
    assert_eq!(device.download(&ys[1]), second);
    // The sum 0 * 1 + 1 * 2 + 2 * 3 + 3 * 4, with the first element overwritten.
    let mut want = vec![20.0; n];
    want[0] = first[0];
    assert_eq!(device.download(&sum), want);
}

/// A temporary in each iteration: the name is the same, but the buffer is not.
#[cuweave::graph]
fn temporaries(n: u32, out: &mut [f32; n]) {
    for i in 0..5 {
        let t = alloc::<f32>(n);
        set[per_item(n)](&mut t, i as f32, n);
        axpy[per_item(n)](1.0, &t, &mut out, n);
        free(t);
    }
}

#[test]
fn a_temporary_a_turn() {
    let device = device();
    let mut out = device.zeros::<f32>(9);
    run!(device, temporaries(&device.ctx, 9, &mut out));
    assert_eq!(device.download(&out), [10.0; 9]);
}

/// 10,000 statements, which is exactly the limit of a loop.
#[cuweave::graph]
fn longest(x: &mut [u32; 1]) {
    for _ in 0..10_000 {
        collatz[(1, 32)](&mut x, 1);
    }
}

#[test]
fn ten_thousand_statements() {
    let device = device();
    let mut x = device.upload(&[1_u32]);
    run!(device, longest(&device.ctx, &mut x));
    let want = (0..10_000).fold(1_u32, |x, _| x.wrapping_mul(3).wrapping_add(1));
    assert_eq!(device.download(&x), [want]);
}

/// Two temporaries: some iterations do not use the first, and only iterations that the checker does not sample use
/// the second.
#[cuweave::graph]
fn used_in_some_turns(n: u32, turns: u32, x: &mut [f32; n]) {
    let late = alloc::<f32>(n);
    set[per_item(n)](&mut late, 5.0, n);
    for i in 0..turns {
        let h = alloc::<f32>(n);
        set[per_item(n)](&mut h, 2.0, n);
        if i > 0 {
            axpy[per_item(n)](1.0, &h, &mut x, n);
        }
        if i == 7 {
            axpy[per_item(n)](1.0, &late, &mut x, n);
        }
    }
}

#[test]
fn what_some_turns_use_is_of_use() {
    let device = device();
    for (turns, expected) in [(0, 1.0f32), (1, 1.0), (3, 5.0), (8, 20.0)] {
        let mut x = device.upload(&[1.0f32; 4]);
        run!(device, used_in_some_turns(&device.ctx, 4, turns, &mut x));
        assert_eq!(device.download(&x), [expected; 4], "{turns} turns");
    }
}
