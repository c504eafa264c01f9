//! Chains of 200 empty kernels, with flag writes and waits between them.

use cuweave::Flag;
use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn touch(x: &mut [u32; 1]);
}

/// Only the chain.
#[cuweave::graph(launches = "as-written")]
pub fn plain(x: &mut [u32; 1]) {
    for _ in 0..200 {
        touch[(1, 1)](&mut x);
    }
}

/// A write after each kernel, and a wait for it.
#[cuweave::graph(launches = "as-written")]
pub fn pairs(flag: &Flag<u32>, x: &mut [u32; 1]) {
    for i in 0..200 {
        touch[(1, 1)](&mut x);
        write_value(&flag, i + 1, 200);
        wait_value(&flag, i + 1, 200);
    }
}

/// The same with pinned memory of the graph itself.
#[cuweave::graph(launches = "as-written")]
pub fn pairs_of_own(flag: &mut Pinned<[u32; 1]>, x: &mut [u32; 1]) {
    for i in 0..200 {
        touch[(1, 1)](&mut x);
        write_value(&mut flag, i + 1, 200);
        wait_value(&flag, i + 1, 200);
    }
}
