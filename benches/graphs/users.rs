//! Chains whose kernels all read one argument.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn after_all(before: &[u32; w], own: &mut [u32; 1], w: u32);
}

macro_rules! users {
    ($($name:ident $k:tt)*) => {$(
        /// A chain of that many kernels that all read `x`.
        #[cuweave::graph(memory = "nodes", launches = "as-written")]
        pub fn $name(x: &[u32; 1], own: &mut [u32; 1]) {
            for _ in 0..$k {
                after_all[(1, 1)](&x, &mut own, 1);
            }
        }
    )*};
}
users!(users_1 1 users_10 10 users_100 100 users_1000 1_000);
