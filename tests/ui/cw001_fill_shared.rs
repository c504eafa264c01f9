//! A fill writes: it needs `&mut`.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&h, 1.0); //~ CW001
    copy(&h, &mut out);
}

fn main() {}
