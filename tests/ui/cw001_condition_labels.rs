//! Labels of loops, and a `match` of one arm.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n], go: &mut [u32; 1], other: &mut [u32; 1]) {
    #[at_most(3)]
    'turns: while go {
        mix[per_item(n)](&mut x, 2, n);
    }
    #[at_most(4)]
    'turns: while other { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
    }
    match go {
        _ => mix[per_item(n)](&mut x, 2, n), //~ CW001
    }
}

fn main() {}
