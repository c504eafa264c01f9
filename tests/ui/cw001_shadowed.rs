//! A name that a buffer or a statement has taken stands for no number any more.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn buffers(n: u32, out: &mut [f32; n]) {
    let n = alloc::<f32>(n);
    fill(&mut n, 0.0);
    fill(&mut out[..n], 0.0); //~ CW001
    scale[per_item(n + 1)](&mut out, 2.0, 4); //~ CW001
}

#[cuweave::graph]
fn statements(n: u32, a: f32, out: &mut [f32; n]) {
    let a = fill(&mut out, a);
    #[after(a)]
    scale[per_item(n)](&mut out, a, n); //~ CW001
}

#[cuweave::graph]
fn variables(n: u32, out: &mut [f32; n]) {
    for i in 0..2 {
        let i = &mut out[i..];
        fill(&mut i, i as f32); //~ CW001
    }
}

#[cuweave::graph]
fn indices(n: u32, out: [&mut [f32; n]; 2]) {
    for i in 0..2 {
        let i = &mut out[i];
        fill(&mut i, 0.0);
        fill(&mut out[i], 0.0); //~ CW001
    }
}

fn main() {}
