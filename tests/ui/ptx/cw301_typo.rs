//! No kernel of this name in the PTX; the nearest name is named.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scal(x: &mut [f32; n], a: f32, n: u32); //~ CW301
}

fn main() {}
