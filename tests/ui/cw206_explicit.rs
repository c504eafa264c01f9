//! In explicit order as well.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; n]) {
    let a = scale[per_item(n)](&mut x, 2.0, n);
    #[after(b)] //~ CW206
    copy(&x[0..1], &mut x[1..2]);
}

fn main() {}
