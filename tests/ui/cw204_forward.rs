//! The first waits for the second, which reads what the first writes.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
    #[after(second)] //~ CW204
    let first = scale[per_item(n)](&mut x, 2.0, n);
    let second = copy(&x, &mut out);
}

fn main() {}
