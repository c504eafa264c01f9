//! Chains of 1,000 empty kernels.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    pub fn touch(x: &mut [u32; 1]);
    fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}

/// A chain.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn chain(x: &mut [u32; 1]) {
    for _ in 0..1_000 {
        touch[(1, 1)](&mut x);
    }
}

/// The same order, but each kernel also reads what the previous 8 wrote.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn window(x: &mut [u32; 1_008]) {
    for i in 0..1_000 {
        after_all[(1, 1)](&x[i..i + 8], &mut x[i + 8..i + 9], 8);
    }
}
