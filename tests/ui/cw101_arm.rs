//! A write in one arm alone is no write behind the statement.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn f(n: u32, x: &mut [u32; n], go: &[u32; 1]) {
    let h = alloc::<u32>(n);
    if go {
        mixed[per_item(n)](&x, &mut h, 1, n);
    }
    mixed[per_item(n)](&h, &mut x, 2, n); //~ CW101
}

#[cuweave::graph]
fn turns(n: u32, x: &mut [u32; n], go: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    while go {
        mixed[per_item(n)](&x, &mut h, 1, n);
        fill(&mut go, 0);
    }
    mixed[per_item(n)](&h, &mut x, 2, n); //~ CW101
}

#[cuweave::graph]
fn both(n: u32, x: &mut [u32; n], go: &[u32; 1]) {
    let h = alloc::<u32>(n);
    if go {
        mixed[per_item(n)](&x, &mut h, 1, n);
    } else {
        fill(&mut h, 3);
    }
    mixed[per_item(n)](&h, &mut x, 2, n);
}

#[cuweave::graph]
fn rows(n: u32, k: u32, x: &mut [u32; n * k], go: &[u32; 1]) {
    let h = alloc::<u32>(n * k);
    for i in 0..n {
        if go {
            fill(&mut h[i * k..(i + 1) * k], 1);
        }
    }
    mixed[per_item(n * k)](&h, &mut x, 2, n * k); //~ CW101
}

#[cuweave::graph]
fn unset(n: u32, x: &mut [u32; n]) {
    let go = alloc::<u32>(1);
    if go { //~ CW101
        mix[per_item(n)](&mut x, 2, n);
    }
}

fn main() {}
