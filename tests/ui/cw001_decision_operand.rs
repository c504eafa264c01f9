//! The device decides by one `u32`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n], real: &[f32; 1], go: &mut [u32; 1]) {
    if x { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
    }
    if real { //~ CW001
        mix[per_item(n)](&mut x, 2, n);
    }
    match go { //~ CW001
        0 => mix[per_item(n)](&mut x, 2, n),
    }
    match go {
        0..=3 => {} //~ CW001
        _ => mix[per_item(n)](&mut x, 2, n),
    }
    #[at_most(0)] //~ CW001
    while go {
        fill(&mut go, 0);
    }
    while go {} //~ CW001
}

fn main() {}
