//! Tables of pointers that are none: in declarations of kernels, and in launches.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn summed(
        xs: &[Ptr<f32>; n], //~ CW001
        out: &mut [MaybeUninit<f32>; len],
        n: u32,
        len: u32,
    );
    fn scaled(
        xs: &mut [PtrMut<[f32; len]>; n], //~ CW001
        by: f32,
        n: u32,
        len: u32,
    );
    fn squares(
        xs: &[Ptr<[f32; size]>; n], //~ CW001
        ys: &[PtrMut<[f32; len]>; n],
        n: u32,
        len: u32,
    );
}

#[cuweave::graph(order = "explicit")]
fn by_hand(n: u32, len: u32, xs: &[&mut [f32; len]]) {
    scaled[per_item(len)](&mut xs, 2.0, n, len); //~ CW001
}

#[cuweave::graph]
fn mixed(len: u32, x: &mut [f32; len], y: &mut [f32; len]) {
    scaled[per_item(len)](&[&mut x, &y], 2.0, 2, len); //~ CW001
}

#[cuweave::graph]
fn of_two_types(len: u32, x: &[f32; len], y: &[u32; len], out: &mut [f32; len]) {
    summed[per_item(len)](&[&x, &y], &mut out, 2, len); //~ CW001
}

fn main() {}
