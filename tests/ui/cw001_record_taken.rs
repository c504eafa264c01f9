//! A record that holds an allocation, and one that holds pinned memory.

use cuweave::prelude::*;

#[cuweave::arguments]
struct Layer {
    sizes: [u32; 4], //~ CW001
    q: &[f32; 4],
}

#[cuweave::arguments]
struct Staged {
    host: &Pinned<[f32; 4]>, //~ CW001
    q: &[f32; 4],
}

fn main() {}
