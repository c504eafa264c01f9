//! The kernel is declared to read what it writes through `&mut`, and nothing has written it: found by rustc, from
//! the declaration.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    scale[per_item(n)](&mut h, 2.0, n); //~ CW101
    copy(&h, &mut out);
}

fn main() {}
