//! The alloc waits for a kernel that uses its buffer.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    #[after(last)] //~ CW204
    let h = alloc::<f32>(n);
    set[per_item(n)](&mut h, 1.0, n);
    let last = copy(&h, &mut out);
}

fn main() {}
