//! Parallel chains of the same kernels in one launch.

mod random;
mod setters;

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/fused.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn linear(x: &mut [u32; n], a: u32, b: u32, n: u32);
        pub fn mixed(a: &[u32; n], b: &[u32; n], out: &mut [MaybeUninit<u32>; n], n: u32);
        pub fn strided(x: &mut [u32; n], a: u32, n: u32);
        pub fn odd(x: &[u32; n], y: &mut [u32; n], n: u32);
        pub fn sums(x: &mut [u32; n], n: u32);
        pub fn turned(x: &[u32; n], y: &mut [u32; n], n: u32);
        pub fn rows(x: &mut [u32; width * rows], width: u32, rows: u32);
        pub fn mirrored(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], n: u32);
    }

    #[cuweave::kernels("tests/kernels/stacked.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn exchanged(x: &mut [u32; n], n: u32);
        pub fn evened(x: &mut [u32; n], a: u32, n: u32);
        pub fn spread(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], a: u32, n: u32);
        pub fn between(x: &mut [u32; n], first: u32, last: u32, n: u32);
    }
}

/// y[i] += x[i] where x[i] is odd.
fn odd(x: &[u32], y: &mut [u32]) {
    x.iter().zip(y).filter(|(x, _)| *x & 1 == 1).for_each(|(x, y)| *y = y.wrapping_add(*x));
}

/// a[i] ^ (b[i] + 1)
fn mixed(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().zip(b).map(|(a, b)| a ^ b.wrapping_add(1)).collect()
}

/// x[i] = a x[i] + b
fn linear(x: &mut [u32], a: u32, b: u32) {
    x.iter_mut().for_each(|x| *x = x.wrapping_mul(a).wrapping_add(b));
}

/// Adds to each element the sum of its block of 64 elements.
fn sums(x: &mut [u32]) {
    for block in x.chunks_mut(64) {
        let sum = block.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
        block.iter_mut().for_each(|x| *x = x.wrapping_add(sum));
    }
}
