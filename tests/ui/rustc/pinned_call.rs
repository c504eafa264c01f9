//! Pinned memory, device buffers and kept host values that a called function declares in another way.

use cuweave::cudarc::driver::CudaEvent;
use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn copied(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy_to[per_item(n)](&x, &mut out, n);
}

#[cuweave::graph]
fn from_host(n: u32, p: &Pinned<[f32; n]>, out: &mut [f32; n]) {
    copy(&p, &mut out);
}

#[cuweave::graph]
fn recorded(done: &CudaEvent) {
    record(&done);
}

#[cuweave::graph]
fn f(n: u32, p: &Pinned<[f32; n]>, x: &[f32; n], done: &CudaEvent, out: &mut [f32; n]) {
    copied(n, &p, &mut out); //~ E0277
    from_host(n, &x, &mut out); //~ E0277
    recorded(&done); //~ E0277
}

fn main() {}
