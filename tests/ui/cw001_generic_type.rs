//! Buffers of a graph function have no elements of generic types.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f<T>(n: u32, x: &mut [T; n], y: &[Option<T>; n]) -> [T; n] { //~ CW001
    let h = alloc::<T>(n);
    fill(&mut h, 0);
    scale[per_item(n)](&mut x, 2.0, n);
    h
}

fn main() {}
