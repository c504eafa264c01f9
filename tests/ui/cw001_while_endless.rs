//! The body of a `while` writes its operand.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n], go: &mut [u32; 1]) {
    while go { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
    }
    #[at_most(10)]
    while go {
        mix[per_item(n)](&mut x, 2, n);
    }
}

/// Another part of the same buffer is written.
#[cuweave::graph]
fn parts(n: u32, i: u32, x: &mut [u32; n], go: &mut [u32; 2]) {
    while go[0..1] { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
        count_down[(1, 1)](&mut go[1..2]);
    }
    while go[i..i + 1] {
        mix[per_item(n)](&mut x, 2, n);
        count_down[(1, 1)](&mut go[0..1]);
    }
}

fn main() {}
