//! Two branches write the buffer that both wait for.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; n]) {
    let first = scale[per_item(n)](&mut x, 2.0, n);
    #[after(first)]
    let left = scale[per_item(n)](&mut x, 3.0, n);
    #[after(first)]
    let right = scale[per_item(n)](&mut x, 5.0, n); //~ CW202
}

fn main() {}
