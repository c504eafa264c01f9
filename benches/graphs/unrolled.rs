//! Loops that are unrolled at build time: `count` launches, sequential or independent.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    pub fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn consume(t: &[f32; n], x: &mut [f32; n], n: u32);
}

/// Each launch writes what the previous one wrote.
#[cuweave::graph(launches = "as-written")]
pub fn chain(count: u32, n: u32, x: &[f32; n], y: &mut [f32; n]) {
    for _ in 0..count {
        produce[per_item(n)](&x, &mut y, n);
    }
}

/// Each launch writes its own row.
#[cuweave::graph(launches = "as-written")]
pub fn rows(count: u32, n: u32, x: &[f32; n], y: &mut [f32; count * n]) {
    for i in 0..count {
        produce[per_item(n)](&x, &mut y[i * n..(i + 1) * n], n);
    }
}

/// A chain with a temporary for every two launches, in one arena.
#[cuweave::graph(memory = "arena", launches = "as-written")]
pub fn temporaries(count: u32, n: u32, _x: &[f32; n], y: &mut [f32; n]) {
    for _ in 0..count / 2 {
        let t = alloc::<f32>(n);
        produce[per_item(n)](&y, &mut t, n);
        consume[per_item(n)](&t, &mut y, n);
    }
}

/// Rows of a temporary, each written by one launch and read by another.
#[cuweave::graph(memory = "arena", launches = "as-written")]
pub fn scratch(count: u32, n: u32, x: &[f32; n], y: &mut [f32; count * n]) {
    let t = alloc::<f32>(count / 2 * n);
    for i in 0..count / 2 {
        produce[per_item(n)](&x, &mut t[i * n..(i + 1) * n], n);
    }
    for i in 0..count / 2 {
        consume[per_item(n)](&t[i * n..(i + 1) * n], &mut y[i * n..(i + 1) * n], n);
    }
}

/// Like [`rows`], with launch changes.
#[cuweave::graph]
pub fn batched(count: u32, n: u32, x: &[f32; n], y: &mut [f32; count * n]) {
    for i in 0..count {
        produce[per_item(n)](&x, &mut y[i * n..(i + 1) * n], n);
    }
}
