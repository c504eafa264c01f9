//! A statement has no `#[cfg]`: a macro does not know the configuration. Whole functions may have one.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    #[cfg(debug_assertions)] //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
    scale[per_item(n)](&mut x, 3.0, n);
}

fn main() {}
