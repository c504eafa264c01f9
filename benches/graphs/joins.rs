//! 8 layers of W kernels, each of which waits for the whole layer before it.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    pub fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}

macro_rules! layers {
    ($($name:ident $w:tt)*) => {$(
        /// Layers of that width.
        #[cuweave::graph(memory = "nodes", launches = "as-written")]
        pub fn $name(a: &mut [u32; $w], b: &mut [u32; $w]) {
            for _ in 0..4 {
                for i in 0..$w {
                    after_all[(1, 1)](&a, &mut b[i..i + 1], $w);
                }
                for i in 0..$w {
                    after_all[(1, 1)](&b, &mut a[i..i + 1], $w);
                }
            }
        }
    )*};
}
layers!(w8 8 w16 16 w32 32 w64 64 w128 128);
