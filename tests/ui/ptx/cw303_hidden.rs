//! Pointers in an array by value, and one that is passed as two numbers.

use cuweave::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Many {
    of: [u64; 16],
    n: i32,
}

// SAFETY: the fields are those of the kernel's structure.
unsafe impl cudarc::driver::DeviceRepr for Many {}

#[cuweave::kernels("tests/kernels/addresses.ptx")]
unsafe extern "ptx-kernel" {
    fn many(
        many: Many, //~ CW303
    );
    fn in_two(
        low: u32,
        high: u32, //~ CW303
        out: &mut [MaybeUninit<f32>; n],
        n: i32,
    );
}

fn main() {}
