//! A block's allocation is returned by a name that is out of scope.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32) -> [f32; n] {
    {
        let t = alloc::<f32>(n);
        fill(&mut t, 1.0);
    }
    t //~ E0425
}

fn main() {}
