//! Buffers that kernels update by atomics: the updates are unordered among themselves, but ordered with everything
//! else.

use cuweave::prelude::*;

use crate::support::{device, run};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
    fn bump(total: &[Atomic<u32>; 1], count: u32);
    fn collatz(x: &mut [u32; n], n: u32);
}

#[cuweave::graph]
fn counted(n: u32, k: u32, a: &[u32; n], b: &[u32; n], out: &mut [u32; k]) {
    let bins = alloc::<u32>(k);
    fill(&mut bins, 0);
    histogram[per_item(n)](&a, atomic(&mut bins), n, k);
    histogram[per_item(n)](&b, atomic(&mut bins), n, k);
    copy(&bins, &mut out);
}

#[test]
fn two_histograms_in_one() {
    let device = device();
    let (n, k) = (1000_u32, 13);
    let a: Vec<u32> = (0..n).map(|i| i * 7).collect();
    let b: Vec<u32> = (0..n).map(|i| i * i).collect();
    let mut out = device.zeros::<u32>(k as usize);
    let (on_device_a, on_device_b) = (device.upload(&a), device.upload(&b));
    run!(device, counted(&device.ctx, n, k, &on_device_a, &on_device_b, &mut out));
    let mut want = vec![0; k as usize];
    for x in a.iter().chain(&b) {
        want[(x % k) as usize] += 1;
    }
    assert_eq!(device.download(&out), want);
}

/// An atomic update of a buffer that is then changed in place, and updated again.
#[cuweave::graph]
fn mixed(total: &mut [u32; 1]) {
    bump[(1, 32)](atomic(&mut total), 1);
    collatz[(1, 1)](&mut total, 1);
    bump[(1, 32)](atomic(&mut total), 2);
    collatz[(1, 1)](&mut total, 1);
}

#[test]
fn atomics_against_plain_writes() {
    let device = device();
    let mut total = device.zeros::<u32>(1);
    run!(device, mixed(&device.ctx, &mut total));
    assert_eq!(device.download(&total), [((32 * 3 + 1) + 64) * 3 + 1]);
}

/// Sixteen launches of `bump`: none waits for another.
#[cuweave::graph]
fn sixteen(total: &mut [u32; 1]) {
    for i in 0..16 {
        bump[(2, 64)](atomic(&mut total), i);
    }
}

#[test]
fn atomics_are_unordered_among_themselves() {
    let device = device();
    let mut total = device.zeros::<u32>(1);
    run!(device, sixteen(&device.ctx, &mut total));
    assert_eq!(device.download(&total), [120 * 128]);
}
