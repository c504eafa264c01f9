//! Tables of pointers that are written through, and declared to be read through.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn scaled(
        xs: &[Ptr<[f32; len]>; n], //~ CW304
        by: f32,
        n: u32,
        len: u32,
    );
    fn squares(
        xs: &[Ptr<[f32; len]>; n],
        ys: &[Ptr<[f32; len]>; n], //~ CW304
        n: u32,
        len: u32,
    );
}

fn main() {}
