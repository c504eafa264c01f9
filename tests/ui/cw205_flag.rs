//! A flag that is borrowed shared is not written.

use cuweave::prelude::*;

#[cuweave::graph]
fn shared(number: &Pinned<[u32; 1]>) {
    write_value(&mut number, 1); //~ CW205
}

fn main() {}
