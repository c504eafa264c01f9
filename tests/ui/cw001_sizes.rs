//! Nothing but values and rising lengths depends on a size.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn repeats(#[at_most(9)] n: u32, x: &mut [f32; 9]) { //~ CW001
    for i in 0..n {
        scale[per_item(9)](&mut x, 2.0, 9);
    }
}

#[cuweave::graph]
fn chooses(#[at_most(9)] n: u32, x: &mut [f32; n]) { //~ CW001
    if n > 4 {
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

#[cuweave::graph]
fn falls(max: u32, #[at_most(max)] n: u32, x: &mut [f32; max]) { //~ CW001
    let rest = alloc::<f32>(max - n + 1);
    fill(&mut rest, 0.0);
    copy(&rest, &mut x[n - 1..max]);
}

#[cuweave::graph]
fn mixed(#[at_most(64)] n: u32, x: &mut [f32; n * (65 - n)]) { //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph]
fn on_a_buffer(n: u32, #[at_most(9)] x: &mut [f32; n]) { //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

#[cuweave::graph]
fn of_a_size(#[at_most(9)] m: u32, #[at_most(m)] n: u32, x: &mut [f32; n]) { //~ CW001
    scale[per_item(m.min(n))](&mut x, 2.0, n);
}

#[cuweave::graph]
fn no_number(#[at_most()] n: u32, x: &mut [f32; n]) { //~ CW001
    scale[per_item(n)](&mut x, 2.0, n);
}

fn main() {}
