//! Lengths of numbers that the kernels do not take, and one with a typing error.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(
        out: &mut [MaybeUninit<f32>; vocab * n], //~ CW001
        value: f32,
        n: u32,
    );
    fn scale(
        x: &mut [f32; len], //~ CW001
        a: f32,
        lem: u32,
    );
}

fn main() {}
