//! Buffers of pointers: the memory that these name would be invisible to the order and to the checks.

use cuweave::prelude::*;

/// The address of a vector as two numbers, and an index into it.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Row([u32; 4]);

// SAFETY: four numbers, as the kernel has them.
unsafe impl cudarc::driver::DeviceRepr for Row {}

#[cuweave::kernels("tests/kernels/addresses.ptx")]
unsafe extern "ptx-kernel" {
    fn batched(
        xs: &[u64; 8], //~ CW303
        ys: &[u64; 8], //~ CW303
        n: i32,
    );
    fn chain(
        head: &[[u64; 2]; 8], //~ CW303
        out: &mut [MaybeUninit<f32>; 1],
    );
    fn halves(
        rows: &[Row; n], //~ CW303
        out: &mut [MaybeUninit<f32>; n],
        n: i32,
    );
    fn stashed(
        xs: &[u64; 8], //~ CW303
        out: &mut [f32; 1024],
    );
    fn at_offset(
        xs: &[u64; 8], //~ CW303
        offset: u64,
        out: &mut [u8; 1024],
    );
}

fn main() {}
