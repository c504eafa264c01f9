//! A host statement borrows overlapping parts of pinned memory, one of them mutably.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn overlap(n: u32, k: u32, x: &mut Pinned<[f32; n]>) {
    host(&x[k..], &mut x[..k + 1], |from, to| to[0] = from[0]); //~ CW201
}

fn main() {}
