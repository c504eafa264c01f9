//! Chains in which all kernels read the same argument.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}

macro_rules! users {
    ($($name:ident $k:tt)*) => {$(
        /// A chain of this many kernels, all of which read `x`.
        #[cuweave::graph(memory = "nodes", launches = "as-written")]
        pub fn $name(x: &[u32; 1], own: &mut [u32; 1]) {
            for _ in 0..$k {
                after_all[(1, 1)](&x, &mut own, 1);
            }
        }
    )*};
}
/// A chain of 22 kernels. Each writes one element of its own row, at index `pos`.
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn moved(len: u32, pos: u32, x: &[u32; 1], cache: &mut [u32; 22 * len]) {
    after_all[(1, 1)](&x, &mut cache[pos..pos + 1], 1);
    for i in 1..22 {
        after_all[(1, 1)](
            &cache[(i - 1) * len + pos..(i - 1) * len + pos + 1],
            &mut cache[i * len + pos..i * len + pos + 1],
            1,
        );
    }
}
users!(users_1 1 users_10 10 users_100 100 users_1000 1_000);
