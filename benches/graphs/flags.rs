//! Chains of 200 kernels that do nothing, with writes and waits of flags between them.

use cuweave::Flag;
use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn touch(x: &mut [u32; 1]);
}

/// The chain alone.
#[cuweave::graph(launches = "as-written")]
pub fn plain(x: &mut [u32; 1]) {
    for _ in 0..200 {
        touch[(1, 1)](&mut x);
    }
}

/// Behind each kernel a write, and the wait for it.
#[cuweave::graph(launches = "as-written")]
pub fn pairs(flag: &Flag<u32>, x: &mut [u32; 1]) {
    for i in 0..200 {
        touch[(1, 1)](&mut x);
        write_value(&flag, i + 1, 200);
        wait_value(&flag, i + 1, 200);
    }
}

/// The same with pinned memory of the graph's own.
#[cuweave::graph(launches = "as-written")]
pub fn pairs_of_own(flag: &mut Pinned<[u32; 1]>, x: &mut [u32; 1]) {
    for i in 0..200 {
        touch[(1, 1)](&mut x);
        write_value(&mut flag, i + 1, 200);
        wait_value(&flag, i + 1, 200);
    }
}
