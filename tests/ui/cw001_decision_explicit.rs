//! Decisions have an inferred order, and copies of the host stand outside of bodies.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph(order = "explicit")]
fn f(n: u32, x: &mut [u32; n], go: &[u32; 1]) {
    if go { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
    }
}

#[cuweave::graph]
fn host(n: u32, x: &mut [u32; n], from: &Pinned<[u32; n]>, go: &[u32; 1]) {
    if go {
        copy(&from, &mut x); //~ CW001
    }
}

fn main() {}
