//! 16 independent branches of 20 small kernels.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
}

/// A branch for each buffer.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn branches(n: u32, xs: [&mut [f32; n]; 16]) {
    for i in 0..16 {
        for _ in 0..20 {
            tiny[per_item(n)](&mut xs[i], n);
        }
    }
}
