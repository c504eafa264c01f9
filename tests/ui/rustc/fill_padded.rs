//! A struct with padding has bytes that nothing has written: `fill` takes none.

#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    wide: u32,
    narrow: u8,
}

#[cuweave::graph]
fn filled(n: u32, x: &mut [Padded; n]) { //~ E0277
    fill(&mut x, Padded { wide: 1, narrow: 2 });
}

#[cuweave::graph]
fn widest(n: u32, x: &mut [u128; n]) { //~ E0277
    fill(&mut x, 0);
}

fn main() {}
