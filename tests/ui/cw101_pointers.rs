//! An allocation that is lent through a table of pointers before it is written.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn summed(xs: &[Ptr<[f32; len]>; n], out: &mut [MaybeUninit<f32>; len], n: u32, len: u32);
    fn squares(xs: &[Ptr<[f32; len]>; n], ys: &[PtrMut<[f32; len]>; n], n: u32, len: u32);
}

#[cuweave::graph]
fn read(len: u32, out: &mut [f32; len]) {
    let y = alloc::<f32>(len);
    summed[per_item(len)](&[&y], &mut out, 1, len); //~ CW101
}

#[cuweave::graph]
fn written(len: u32, x: &[f32; len], out: &mut [f32; len]) {
    let y = alloc::<f32>(len);
    squares[per_item(len)](&[&x], &[&mut y], 1, len); //~ CW101
    copy(&y, &mut out);
}

fn main() {}
