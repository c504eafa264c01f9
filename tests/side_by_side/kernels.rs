//! Kernels of tests in several files.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    pub fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    pub fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    pub fn scale(x: &mut [f32; n], a: f32, n: u32);
    pub fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    pub fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::kernels("tests/kernels/atomics.ptx")]
unsafe extern "ptx-kernel" {
    pub fn add_all(totals: &[Atomic<u32>; n], by: u32, n: u32);
}
