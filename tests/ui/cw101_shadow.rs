//! The second `h` is another buffer, and nothing has written it.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 1.0, n);
    copy(&h, &mut out);
    let h = alloc::<f32>(n);
    copy(&h, &mut out); //~ CW101
}

fn main() {}
