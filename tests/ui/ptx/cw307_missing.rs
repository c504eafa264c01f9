//! There is no such file.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/nowhere.ptx")] //~ CW307
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

fn main() {}
