//! Faults of several kinds in one function: all in one go, one error each.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) -> [f32; n] {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n);
    let c = alloc::<f32>(n);
    add[per_item(n)](&x, &a, &mut out, n); //~ CW101
    fill(&mut x, 1.0); //~ CW205
    set[per_item(n)](&mut b, 1.0, n);
    free(b);
    copy(&b, &mut out); //~ CW102
    free(out); //~ CW104
    #[after(nowhere)] //~ CW206
    fill(&mut out, 0.0);
    c //~ CW107
}

fn main() {}
