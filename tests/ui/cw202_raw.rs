//! Explicit order: the read does not wait for the write.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    #[after(h)]
    set[per_item(n)](&mut h, 1.0, n);
    #[after(h)]
    copy_to[per_item(n)](&h, &mut out, n); //~ CW202
}

fn main() {}
