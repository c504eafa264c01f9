//! Chains of temporaries, two of which are live at the same time.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
}

/// 32 temporaries of 4 MiB + 512 i bytes, whose first `n` elements the kernels use. The two largest have 8,419,840
/// bytes.
macro_rules! growing {
    ($memory:tt $name:ident: $($from:ident $to:ident $i:tt)*) => {
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, x: &[f32; n], y: &mut [f32; n]) {
            let t0 = alloc::<f32>(1_048_576);
            produce[per_item(n)](&x, &mut t0[0..n], n);
            $(
                let $to = alloc::<f32>(1_048_576 + 128 * $i);
                produce[per_item(n)](&$from[0..n], &mut $to[0..n], n);
            )*
            produce[per_item(n)](&t31[0..n], &mut y, n);
        }
    };
    ($($memory:tt $name:ident)*) => {$(
        growing!($memory $name:
            t0 t1 1 t1 t2 2 t2 t3 3 t3 t4 4 t4 t5 5 t5 t6 6 t6 t7 7 t7 t8 8
            t8 t9 9 t9 t10 10 t10 t11 11 t11 t12 12 t12 t13 13 t13 t14 14 t14 t15 15 t15 t16 16
            t16 t17 17 t17 t18 18 t18 t19 19 t19 t20 20 t20 t21 21 t21 t22 22 t22 t23 23 t23 t24 24
            t24 t25 25 t25 t26 26 t26 t27 27 t27 t28 28 t28 t29 29 t29 t30 30 t30 t31 31);
    )*};
}
growing!("nodes" growing_nodes "arena" growing_arena "owned" growing_owned);

/// 1,000 temporaries of `n` elements, written and read completely by 1,100 kernels.
macro_rules! pipeline {
    ($($memory:tt $name:ident)*) => {$(
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, x: &mut [f32; n]) {
            for _ in 0..100 {
                let t0 = alloc::<f32>(n);
                produce[per_item(n)](&x, &mut t0, n);
                let t1 = alloc::<f32>(n);
                produce[per_item(n)](&t0, &mut t1, n);
                let t2 = alloc::<f32>(n);
                produce[per_item(n)](&t1, &mut t2, n);
                let t3 = alloc::<f32>(n);
                produce[per_item(n)](&t2, &mut t3, n);
                let t4 = alloc::<f32>(n);
                produce[per_item(n)](&t3, &mut t4, n);
                let t5 = alloc::<f32>(n);
                produce[per_item(n)](&t4, &mut t5, n);
                let t6 = alloc::<f32>(n);
                produce[per_item(n)](&t5, &mut t6, n);
                let t7 = alloc::<f32>(n);
                produce[per_item(n)](&t6, &mut t7, n);
                let t8 = alloc::<f32>(n);
                produce[per_item(n)](&t7, &mut t8, n);
                let t9 = alloc::<f32>(n);
                produce[per_item(n)](&t8, &mut t9, n);
                produce[per_item(n)](&t9, &mut x, n);
            }
        }
    )*};
}
pipeline!("nodes" pipeline_nodes "arena" pipeline_arena "owned" pipeline_owned);
