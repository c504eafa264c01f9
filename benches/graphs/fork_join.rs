//! 20 rounds of a fork into 16 branches, each with its own temporary, and their join. The temporaries are large and
//! the kernels are small, because order and memory are measured.

use cuweave::prelude::*;

#[path = "forks.rs"]
mod forks;
pub use forks::{fork, join};

macro_rules! fork_join {
    ($memory:tt $name:ident: $($t:ident $a:tt)*) => {
        /// Kernels on the first `n` elements of temporaries of `len`.
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, len: u32, x: &mut [f32; n]) {
            for _ in 0..20 {
                $(
                    let $t = alloc::<f32>(len);
                    fork[per_item(n)](&x, &mut $t[0..n], $a, n);
                )*
                join[per_item(n)]($(&$t[0..n],)* &mut x, n);
            }
        }
    };
    ($($memory:tt $name:ident)*) => {$(
        fork_join!($memory $name: t0 0.05 t1 0.1 t2 0.15 t3 0.2 t4 0.25 t5 0.3 t6 0.35 t7 0.4
            t8 0.45 t9 0.5 t10 0.55 t11 0.6 t12 0.65 t13 0.7 t14 0.75 t15 0.8);
    )*};
}
fork_join!("nodes" nodes "arena" arena "owned" owned);
