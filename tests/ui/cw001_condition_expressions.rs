//! The device decides by one buffer alone.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

#[cuweave::graph]
fn compared(n: u32, x: &mut [u32; n], flag: &[u32; 1], other: &[u32; 1], four: [&[u32; 1]; 4]) {
    if flag > 0 { //~ CW001
        mix[per_item(n)](&mut x, 1, n);
    }
    if flag && other { //~ CW001
        mix[per_item(n)](&mut x, 1, n);
    }
    if flag[0] == 1 || n > 3 { //~ CW001
        mix[per_item(n)](&mut x, 1, n);
    }
    match flag[0] { //~ CW001
        0 => {}
        _ => mix[per_item(n)](&mut x, 1, n),
    }
    if four { //~ CW001
        mix[per_item(n)](&mut x, 1, n);
    }
}

#[cuweave::graph]
fn looped(n: u32, x: &mut [u32; n], go: &mut [u32; 1], once: &mut [u32; 1], list: &[&[u32; 1]]) {
    while go != 0 { //~ CW001
        count_down[(1, 1)](&mut go);
    }
    while once {
        break; //~ CW001
    }
    #[at_mots(3)] //~ CW001
    while once {
        mix[per_item(n)](&mut x, 1, n);
    }
    while list { //~ CW001
        mix[per_item(n)](&mut x, 1, n);
    }
}

fn main() {}
