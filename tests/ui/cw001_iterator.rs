//! A loop over what is neither a range of scalars nor an array of buffers.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: [&mut [f32; n]; 2]) {
    for b in x.iter_mut().skip(1) { //~ CW001
        scale[per_item(n)](&mut b, 2.0, n);
    }
}

fn main() {}
