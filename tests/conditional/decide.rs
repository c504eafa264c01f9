//! The kernels of random conditionals, and the function that they compute.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    pub fn mix(x: &mut [u32; n], by: u32, n: u32);
    pub fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    pub fn count_down(x: &mut [u32; 1]);
    pub fn modulo(x: &[u32; 1], y: &mut [MaybeUninit<u32>; 1], by: u32);
}

/// The value of an element after `mix` or `mixed`.
pub fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}
