//! A name that is neither a kernel nor a graph function, or the other of the two.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::graph]
fn step(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](2.0, &x, &mut y, n);
}

fn halved(n: u32) -> u32 {
    n / 2
}

#[cuweave::graph]
fn f(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fil(&mut h, 0.0); //~ CW001
    stepp(n, &x, &mut h); //~ CW001
    copy(&h, &mut out);
    axpi[per_item(n)](2.0, &x, &mut out, n); //~ CW001
    halved(n); //~ CW001
    axpy(2.0, &x, &mut out, n); //~ CW001
    step[per_item(n)](n, &x, &mut out); //~ CW001
    drop(h); //~ CW001
}

#[cuweave::graph]
fn g(n: u32, out: &mut [f32; n]) {
    let h = mad(n); //~ CW001
    copy(&h, &mut out);
    wait_valu(n, 1); //~ CW001
}

#[cuweave::graph]
fn made(n: u32) -> [f32; n] {
    let h = alloc::<f32>(n);
    set[(1, 32)](&mut h, 0.0, n);
    h
}

fn main() {}
