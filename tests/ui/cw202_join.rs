//! The join waits for one of the two branches.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, a: &mut [f32; n], b: &mut [f32; n], out: &mut [f32; n]) {
    let left = scale[per_item(n)](&mut a, 2.0, n);
    scale[per_item(n)](&mut b, 3.0, n);
    #[after(left)]
    add[per_item(n)](
        &a,
        &b, //~ CW202
        &mut out,
        n,
    );
}

fn main() {}
