//! Order that runs through an alloc counts; here it runs through the wrong one.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
    let last = scale[per_item(n)](&mut x, 3.0, n);
    #[after(last)]
    let g = alloc::<f32>(n);
    let h = alloc::<f32>(n);
    #[after(h)]
    let filled = copy(&x, &mut h); //~ CW202
    #[after(filled, g)]
    let second = copy(&h, &mut g);
    #[after(second)]
    copy(&g, &mut out);
}

fn main() {}
