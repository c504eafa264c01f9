//! A type with a lifetime that is no record, a record without its lifetime, and a scalar that is none.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

struct Other<'a>(&'a f32);

#[cuweave::graph]
fn f(n: u32, other: Other<'_>, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
