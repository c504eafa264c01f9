//! A `match` chooses statements. It is no value, and gives no buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n]) {
    let y = match n { //~ CW001
        0 => alloc::<f32>(n),
        _ => alloc::<f32>(2 * n),
    };
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
