//! Graphs of real programs, with all launch changes, for the table of each launch rule's gain.

use cuweave::prelude::*;

#[path = "../forks.rs"]
mod forks;
use forks::{fork, join};
#[macro_use]
#[path = "../bodies.rs"]
mod bodies;
use bodies::{blend, butterfly, conv, dots, grow, laplace, shrink, step, total, turn};
#[path = "transformers.rs"]
pub mod transformers;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn after_all(before: &[f32; w], own: &mut [f32; 1], w: u32);
    fn tiny(x: &mut [f32; n], n: u32);
}

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn turns(x: &mut [f32; n], count: u32, n: u32);
    fn gelu(x: &mut [f32; n], n: u32);
    fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::kernels("benches/kernels/tensors.ptx")]
unsafe extern "ptx-kernel" {
    fn descent(p: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
}

/// Returns a warp for each of `n` rows, in blocks of eight.
pub fn warps(n: u32) -> (u32, u32) {
    (n.div_ceil(8), 256)
}

unet!(
    #[cuweave::graph]
    unet
);

/// Defines the transform by its stages. A stage has blocks of butterflies between lanes that are `step` apart, and
/// their targets.
macro_rules! fft {
    ($([$blocks:literal $step:literal $from:ident $to:ident])*) => {
        /// A transform of 32 lanes with `n` elements: ten stages of 16 butterflies.
        #[cuweave::graph]
        pub fn fft(n: u32, a: [&mut [f32; n]; 32], b: [&mut [f32; n]; 32]) {
            $(
                for block in 0..$blocks {
                    for i in 0..$step {
                        butterfly[per_item(n)](
                            &$from[2 * $step * block + i],
                            &$from[2 * $step * block + i + $step],
                            &mut $to[2 * $step * block + i],
                            &mut $to[2 * $step * block + i + $step],
                            0.25,
                            n,
                        );
                    }
                }
            )*
        }
    };
}
fft!([16 1 a b] [8 2 b a] [4 4 a b] [2 8 b a] [1 16 a b] [16 1 b a] [8 2 a b] [4 4 b a] [2 8 a b] [1 16 b a]);

/// Returns the number that a branch multiplies by.
pub fn factor(branch: u32) -> f32 {
    (branch + 1) as f32 / 20.0
}

/// Returns the number of elements of a branch: branch i of 16 has (i + 1) / 16 of `most`.
pub fn share(branch: u32, most: u32) -> u32 {
    most / 16 * (branch + 1)
}

/// 20 rounds of 16 branches with equal grids, and their join.
#[cuweave::graph]
pub fn fork_join(n: u32, x: &mut [f32; n], ts: [&mut [f32; n]; 16]) {
    for _ in 0..20 {
        for i in 0..16 {
            fork[per_item(n)](&x, &mut ts[i], factor(i), n);
        }
        join[per_item(n)](
            &ts[0], &ts[1], &ts[2], &ts[3], &ts[4], &ts[5], &ts[6], &ts[7], &ts[8], &ts[9], &ts[10], &ts[11],
            &ts[12], &ts[13], &ts[14], &ts[15], &mut x, n,
        );
    }
}

/// 20 rounds of 16 branches with different grids, and their join.
#[cuweave::graph]
pub fn unequal(most: u32, x: &mut [f32; most], ts: [&mut [f32; most]; 16]) {
    for _ in 0..20 {
        for i in 0..16 {
            fork[per_item(share(i, most))](&x, &mut ts[i], factor(i), share(i, most));
        }
        join[per_item(share(0, most))](
            &ts[0],
            &ts[1],
            &ts[2],
            &ts[3],
            &ts[4],
            &ts[5],
            &ts[6],
            &ts[7],
            &ts[8],
            &ts[9],
            &ts[10],
            &ts[11],
            &ts[12],
            &ts[13],
            &ts[14],
            &ts[15],
            &mut x,
            share(0, most),
        );
    }
}

/// 8 chains of 32 short kernels.
#[cuweave::graph]
pub fn chains(n: u32, xs: [&mut [f32; n]; 8]) {
    for i in 0..8 {
        for _ in 0..32 {
            tiny[per_item(n)](&mut xs[i], n);
        }
    }
}

/// 16 chains of 20 kernels with a loop.
#[cuweave::graph]
pub fn long_chains(n: u32, count: u32, xs: [&mut [f32; n]; 16]) {
    for i in 0..16 {
        for _ in 0..20 {
            turns[per_item(n)](&mut xs[i], count, n);
        }
    }
}

/// Four chains of 20 kernels with a loop.
#[cuweave::graph]
pub fn few_chains(n: u32, count: u32, xs: [&mut [f32; n]; 4]) {
    for i in 0..4 {
        for _ in 0..20 {
            turns[per_item(n)](&mut xs[i], count, n);
        }
    }
}

/// Eight chains of 32 kernels, about a quarter of which are long.
#[cuweave::graph]
pub fn irregular_chains(n: u32, long: u32, short: u32, xs: [&mut [f32; n]; 8]) {
    for step in 0..32 {
        for i in 0..8 {
            turns[per_item(n)](&mut xs[i], irregular(i, step, [long, short]), n);
        }
    }
}

/// Returns the first value at about a quarter of a chain's steps, different ones in each chain.
pub fn irregular(chain: u32, step: u32, values: [u32; 2]) -> u32 {
    let mixed = (chain * 40_503 + step * 30_011 + chain * step * 7_919) >> 3;
    values[usize::from(!mixed.is_multiple_of(4))]
}

/// Eight chains of kernels with copies between them.
#[cuweave::graph]
pub fn copies(n: u32, xs: [&mut [f32; n]; 8], ys: [&mut [f32; n]; 8]) {
    for i in 0..8 {
        for _ in 0..10 {
            tiny[per_item(n)](&mut xs[i], n);
            copy(&xs[i], &mut ys[i]);
            tiny[per_item(n)](&mut ys[i], n);
            copy(&ys[i], &mut xs[i]);
        }
    }
}

/// A chain of kernels with one block of 64 threads.
#[cuweave::graph]
pub fn smallest(x: &mut [f32; 64]) {
    for _ in 0..200 {
        tiny[(1, 64)](&mut x, 64);
    }
}

/// Four blocks of four branches each: windows of 1, 3 and 5, and a pooled one.
#[cuweave::graph]
pub fn inception(c: u32, s: u32, w: &[f32; 100 * c * c], x: &mut [f32; 16 * c * s * s]) {
    for _ in 0..4 {
        let y = alloc::<f32>(16 * c * s * s);
        conv[per_item(4 * c * s * s)](&x, &w, &mut y[0..4 * c * s * s], 4 * c, c, 2 * s, 1);
        let narrow3 = alloc::<f32>(2 * c * s * s);
        conv[per_item(2 * c * s * s)](&x, &w, &mut narrow3, 4 * c, c / 2, 2 * s, 1);
        conv[per_item(4 * c * s * s)](&narrow3, &w, &mut y[4 * c * s * s..8 * c * s * s], c / 2, c, 2 * s, 3);
        let narrow5 = alloc::<f32>(2 * c * s * s);
        let wide5 = alloc::<f32>(4 * c * s * s);
        conv[per_item(2 * c * s * s)](&x, &w, &mut narrow5, 4 * c, c / 2, 2 * s, 1);
        conv[per_item(4 * c * s * s)](&narrow5, &w, &mut wide5, c / 2, c, 2 * s, 5);
        conv[per_item(4 * c * s * s)](&wide5, &w, &mut y[8 * c * s * s..12 * c * s * s], c, c, 2 * s, 5);
        let pooled = alloc::<f32>(4 * c * s * s);
        shrink[per_item(4 * c * s * s)](&x, &mut pooled, 4 * c, s);
        let mixed = alloc::<f32>(c * s * s);
        conv[per_item(c * s * s)](&pooled, &w, &mut mixed, 4 * c, c, s, 1);
        grow[per_item(4 * c * s * s)](&mixed, &mut y[12 * c * s * s..16 * c * s * s], c, s);
        blend[per_item(16 * c * s * s)](&y, &mut x, 16 * c * s * s);
    }
}

/// Four recurrent layers over 20 steps. Each cell depends on the layer below and on its own previous step.
#[cuweave::graph]
pub fn recurrent(
    n: u32,
    w: [&[f32; n * n]; 4],
    u: [&[f32; n * n]; 4],
    xs: [&[f32; n]; 20],
    hidden: [&mut [f32; n]; 4],
    cells: [&mut [f32; n]; 4],
) {
    for time in 0..20 {
        let first = alloc::<f32>(n);
        let again = alloc::<f32>(n);
        matvec[warps(n)](&w[0], &xs[time], &mut first, n);
        matvec[warps(n)](&u[0], &hidden[0], &mut again, n);
        mean[per_item(n)](&first, &again, &mut cells[0], n);
        gelu[per_item(n)](&mut cells[0], n);
        mean[per_item(n)](&cells[0], &again, &mut hidden[0], n);
        for l in 1..4 {
            let below = alloc::<f32>(n);
            let own = alloc::<f32>(n);
            matvec[warps(n)](&w[l], &hidden[l - 1], &mut below, n);
            matvec[warps(n)](&u[l], &hidden[l], &mut own, n);
            mean[per_item(n)](&below, &own, &mut cells[l], n);
            gelu[per_item(n)](&mut cells[l], n);
            mean[per_item(n)](&cells[l], &own, &mut hidden[l], n);
        }
    }
}

/// A V-cycle of three levels on each of five fields of `64 s s` elements.
#[cuweave::graph]
pub fn v_cycle(s: u32, xs: [&mut [f32; 64 * s * s]; 5]) {
    for i in 0..5 {
        let v0 = alloc::<f32>(64 * s * s);
        laplace[per_item(64 * s * s)](&xs[i], &mut v0, 64 * s * s);
        blend[per_item(64 * s * s)](&v0, &mut xs[i], 64 * s * s);
        let x1 = alloc::<f32>(16 * s * s);
        shrink[per_item(16 * s * s)](&xs[i], &mut x1, 1, 4 * s);
        let v1 = alloc::<f32>(16 * s * s);
        laplace[per_item(16 * s * s)](&x1, &mut v1, 16 * s * s);
        blend[per_item(16 * s * s)](&v1, &mut x1, 16 * s * s);
        let x2 = alloc::<f32>(4 * s * s);
        shrink[per_item(4 * s * s)](&x1, &mut x2, 1, 2 * s);
        let v2 = alloc::<f32>(4 * s * s);
        laplace[per_item(4 * s * s)](&x2, &mut v2, 4 * s * s);
        blend[per_item(4 * s * s)](&v2, &mut x2, 4 * s * s);
        let y1 = alloc::<f32>(16 * s * s);
        grow[per_item(16 * s * s)](&x2, &mut y1, 1, 2 * s);
        blend[per_item(16 * s * s)](&y1, &mut x1, 16 * s * s);
        let y0 = alloc::<f32>(64 * s * s);
        grow[per_item(64 * s * s)](&x1, &mut y0, 1, 4 * s);
        blend[per_item(64 * s * s)](&y0, &mut xs[i], 64 * s * s);
    }
}

/// Eight iterations of conjugate gradients for the one-dimensional Laplacian, from x = 0.
#[cuweave::graph]
pub fn gradient(n: u32, k: u32, b: &[f32; n], x: &mut [f32; n]) {
    let r = alloc::<f32>(n);
    let p = alloc::<f32>(n);
    fill(&mut x, 0.0);
    copy(&b, &mut r);
    copy(&b, &mut p);
    for _ in 0..8 {
        let before = alloc::<f32>(k);
        let rr = alloc::<f32>(1);
        dots[per_item(k)](&r, &r, &mut before, k, n);
        total[(1, 1)](&before, &mut rr, k);
        let q = alloc::<f32>(n);
        laplace[per_item(n)](&p, &mut q, n);
        let products = alloc::<f32>(k);
        let pq = alloc::<f32>(1);
        dots[per_item(k)](&p, &q, &mut products, k, n);
        total[(1, 1)](&products, &mut pq, k);
        step[per_item(n)](&rr, &pq, 1.0, &p, &mut x, n);
        step[per_item(n)](&rr, &pq, -1.0, &q, &mut r, n);
        let after = alloc::<f32>(k);
        let rest = alloc::<f32>(1);
        dots[per_item(k)](&r, &r, &mut after, k, n);
        total[(1, 1)](&after, &mut rest, k);
        turn[per_item(n)](&rest, &rr, &r, &mut p, n);
    }
}

/// A step of gradient descent on 48 tensors: 12 of `a` elements, 12 of `b`, 6 of `c` and 18 of `d`.
#[cuweave::graph]
pub fn update(
    a: u32,
    b: u32,
    c: u32,
    d: u32,
    rate: f32,
    pa: [&mut [f32; a]; 12],
    pb: [&mut [f32; b]; 12],
    pc: [&mut [f32; c]; 6],
    pd: [&mut [f32; d]; 18],
    ga: [&[f32; a]; 12],
    gb: [&[f32; b]; 12],
    gc: [&[f32; c]; 6],
    gd: [&[f32; d]; 18],
) {
    for i in 0..12 {
        descent[per_item(a)](&mut pa[i], &ga[i], rate, a);
        descent[per_item(b)](&mut pb[i], &gb[i], rate, b);
    }
    for i in 0..6 {
        descent[per_item(c)](&mut pc[i], &gc[i], rate, c);
    }
    for i in 0..18 {
        descent[per_item(d)](&mut pd[i], &gd[i], rate, d);
    }
}

/// Four layers of 32 kernels. Each kernel has a different block size, and depends on the whole previous layer.
#[cuweave::graph]
pub fn layers(a: &mut [f32; 32], b: &mut [f32; 32]) {
    for _ in 0..2 {
        for i in 0..32 {
            after_all[(1, i + 1)](&a, &mut b[i..i + 1], 32);
        }
        for i in 0..32 {
            after_all[(1, i + 1)](&b, &mut a[i..i + 1], 32);
        }
    }
}

/// Declares kernels with different code, and a graph with one launch of each.
macro_rules! different {
    ($($kernel:ident $at:tt)*) => {
        #[cuweave::kernels("benches/kernels/different.ptx")]
        unsafe extern "ptx-kernel" {
            $(fn $kernel(x: &mut [f32; n], n: u32);)*
        }

        /// 48 branches, each with its own kernel and its own buffer.
        #[cuweave::graph]
        pub fn different(n: u32, xs: [&mut [f32; n]; 48]) {
            $($kernel[per_item(n)](&mut xs[$at], n);)*
        }
    };
}
each_different!(different 48);
