//! 8 independent chains of 32 steps, with a temporary in each step.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    pub fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn consume(t: &[f32; n], x: &mut [f32; n], n: u32);
}

macro_rules! chains {
    ($($memory:tt $name:ident)*) => {$(
        /// Kernels on the first `n` elements of temporaries of `len`.
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, len: u32, xs: [&mut [f32; n]; 8]) {
            for i in 0..8 {
                for _ in 0..32 {
                    let t = alloc::<f32>(len);
                    produce[per_item(n)](&xs[i], &mut t[0..n], n);
                    consume[per_item(n)](&t[0..n], &mut xs[i], n);
                }
            }
        }
    )*};
}
chains!("nodes" nodes "arena" arena "owned" owned);
