//! A flag that is an allocation of the graph holds nothing before it is written.

use cuweave::prelude::*;

#[cuweave::graph]
fn unwritten(n: u32, x: &mut [u32; n]) {
    let number = alloc::<u32>(1);
    wait_value(&number, 1); //~ CW101
    fill(&mut x, 0);
}

fn main() {}
