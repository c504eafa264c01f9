//! Names from outside keep their buffers in a body.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn taken(n: u32, x: [u32; n], out: &mut [u32; n]) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n], go: &mut [u32; 1]) {
    let a = alloc::<u32>(n);
    let b = alloc::<u32>(n);
    let c = alloc::<u32>(n);
    let d = alloc::<u32>(n);
    fill(&mut a, 1);
    fill(&mut b, 1);
    fill(&mut c, 1);
    fill(&mut d, 1);
    while go {
        swap(&mut a, &mut b); //~ CW001
        fill(&mut go, 0);
    }
    if go {
        free(c); //~ CW001
    } else {
        taken(n, d, &mut x); //~ CW001
    }
    mixed[per_item(n)](&a, &mut x, 1, n);
    mixed[per_item(n)](&b, &mut x, 1, n);
}

fn main() {}
