//! `#[after]` adds order and takes none away: the free still comes first.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let first = set[per_item(n)](&mut h, 1.0, n);
    free(h);
    #[after(first)]
    copy(&h, &mut out); //~ CW102
}

fn main() {}
