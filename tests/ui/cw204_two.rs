//! Two circles, two errors.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    #[after(b)] //~ CW204
    let a = scale[per_item(n)](&mut x, 2.0, n);
    let b = scale[per_item(n)](&mut x, 2.0, n);
    #[after(d)] //~ CW204
    let c = scale[per_item(n)](&mut y, 2.0, n);
    let d = scale[per_item(n)](&mut y, 2.0, n);
}

fn main() {}
