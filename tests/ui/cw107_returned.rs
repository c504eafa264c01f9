//! A buffer leaves the graph and nothing has written it.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32) -> [f32; n] {
    let h = alloc::<f32>(n);
    h //~ CW107
}

fn main() {}
