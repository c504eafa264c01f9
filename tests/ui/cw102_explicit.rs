//! The user's own order is no different: nothing may use the buffer after its free.

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn f(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    #[after(h)]
    let a = fill(&mut h, 1.0);
    #[after(a)]
    let b = copy(&h, &mut out);
    #[after(b)]
    let gone = free(h);
    #[after(gone)]
    copy(&h, &mut out); //~ CW102
}

fn main() {}
