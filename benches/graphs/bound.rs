//! A graph of many arguments.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}

/// A chain of 300 kernels, each of which reads a buffer of its own.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn bound_300(xs: [&[u32; 1]; 300], own: &mut [u32; 1]) {
    for i in 0..300 {
        after_all[(1, 1)](&xs[i], &mut own, 1);
    }
}
