//! `#[on(..)]` and `devices` that are not part of the language.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn of_one_device(n: u32, x: &mut [f32; n]) {
    #[on(1)]
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph(devices = 2)]
fn beyond(n: u32, x: &mut [f32; n]) {
    #[on(2)]
    scale[per_item(n)](&mut x, 2.0, n);
    #[on]
    scale[per_item(n)](&mut x, 2.0, n);
    #[on(0)]
    #[on(1)]
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph(devices = 2)]
fn nowhere(n: u32) {
    #[on(1)]
    let h = alloc::<f32>(n);
    #[on(1)]
    fill(&mut h, 1.0);
    #[on(1)]
    free(h);
}

#[cuweave::graph(devices = "2")]
fn in_words(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
