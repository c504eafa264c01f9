//! The shapes of real graphs, each with the three memory lowerings.

use cuweave::prelude::*;

#[macro_use]
#[path = "bodies.rs"]
mod bodies;
use bodies::{blend, butterfly, conv, dots, grow, laplace, shrink, step, total, turn};

#[cuweave::kernels("benches/kernels/shapes.ptx")]
unsafe extern "ptx-kernel" {
    pub fn matmul(
        x: &[f32; b * n],
        w: &[f32; n * m],
        y: &mut [MaybeUninit<f32>; b * m],
        b: u32,
        n: u32,
        m: u32,
    );
    fn rms_norm(x: &[f32; b * n], g: &[f32; n], y: &mut [MaybeUninit<f32>; b * n], b: u32, n: u32);
    fn scores(
        q: &[f32; b * n],
        keys: &[f32; t * n],
        s: &mut [MaybeUninit<f32>; b * t],
        b: u32,
        t: u32,
        n: u32,
    );
    fn softmax(s: &mut [f32; b * t], b: u32, t: u32);
    fn own(q: &[f32; n], k: &[f32; n], v: &[f32; n], o: &mut [f32; n], n: u32);
    fn gate(a: &mut [f32; n], c: &[f32; n], n: u32);
    fn add_to(x: &[f32; n], y: &mut [f32; n], n: u32);
}

macro_rules! decode {
    ($($memory:tt $name:ident)*) => {$(
        /// One step of 8 transformer layers on `b` sequences of width `d`, over `t` tokens of context.
        #[allow(clippy::too_many_arguments)]
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(
            b: u32,
            d: u32,
            t: u32,
            square: &[f32; d * d],
            wide: &[f32; 4 * d * d],
            g: &[f32; d],
            keys: &[f32; t * d],
            values: &[f32; t * d],
            x: &mut [f32; b * d],
        ) {
            for _ in 0..8 {
                let h = alloc::<f32>(b * d);
                rms_norm[per_item(b)](&x, &g, &mut h, b, d);
                let q = alloc::<f32>(b * d);
                let k = alloc::<f32>(b * d);
                let v = alloc::<f32>(b * d);
                matmul[per_item(b * d)](&h, &square, &mut q, b, d, d);
                matmul[per_item(b * d)](&h, &square, &mut k, b, d, d);
                matmul[per_item(b * d)](&h, &square, &mut v, b, d, d);
                let s = alloc::<f32>(b * t);
                scores[per_item(b * t)](&q, &keys, &mut s, b, t, d);
                softmax[per_item(b)](&mut s, b, t);
                let o = alloc::<f32>(b * d);
                matmul[per_item(b * d)](&s, &values, &mut o, b, t, d);
                own[per_item(b * d)](&q, &k, &v, &mut o, b * d);
                let p = alloc::<f32>(b * d);
                matmul[per_item(b * d)](&o, &square, &mut p, b, d, d);
                add_to[per_item(b * d)](&p, &mut x, b * d);
                let m = alloc::<f32>(b * d);
                rms_norm[per_item(b)](&x, &g, &mut m, b, d);
                let up = alloc::<f32>(b * 4 * d);
                let side = alloc::<f32>(b * 4 * d);
                matmul[per_item(b * 4 * d)](&m, &wide, &mut up, b, d, 4 * d);
                matmul[per_item(b * 4 * d)](&m, &wide, &mut side, b, d, 4 * d);
                gate[per_item(b * 4 * d)](&mut up, &side, b * 4 * d);
                let down = alloc::<f32>(b * d);
                matmul[per_item(b * d)](&up, &wide, &mut down, b, 4 * d, d);
                add_to[per_item(b * d)](&down, &mut x, b * d);
            }
        }
    )*};
}
decode!("nodes" decode_nodes "arena" decode_arena "owned" decode_owned);

unet!(
    #[cuweave::graph(memory = "nodes", launches = "as-written")] unet_nodes
    #[cuweave::graph(memory = "arena", launches = "as-written")] unet_arena
    #[cuweave::graph(memory = "owned", launches = "as-written")] unet_owned
);

macro_rules! inception {
    ($($memory:tt $name:ident)*) => {$(
        /// Four blocks of four branches each: windows of 1, 3 and 5, and a pooled one.
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(c: u32, s: u32, w: &[f32; 100 * c * c], x: &mut [f32; 16 * c * s * s]) {
            for _ in 0..4 {
                let y = alloc::<f32>(16 * c * s * s);
                conv[per_item(4 * c * s * s)](&x, &w, &mut y[0..4 * c * s * s], 4 * c, c, 2 * s, 1);
                let narrow3 = alloc::<f32>(2 * c * s * s);
                conv[per_item(2 * c * s * s)](&x, &w, &mut narrow3, 4 * c, c / 2, 2 * s, 1);
                conv[per_item(4 * c * s * s)](
                    &narrow3, &w, &mut y[4 * c * s * s..8 * c * s * s], c / 2, c, 2 * s, 3,
                );
                let narrow5 = alloc::<f32>(2 * c * s * s);
                let wide5 = alloc::<f32>(4 * c * s * s);
                conv[per_item(2 * c * s * s)](&x, &w, &mut narrow5, 4 * c, c / 2, 2 * s, 1);
                conv[per_item(4 * c * s * s)](&narrow5, &w, &mut wide5, c / 2, c, 2 * s, 5);
                conv[per_item(4 * c * s * s)](
                    &wide5, &w, &mut y[8 * c * s * s..12 * c * s * s], c, c, 2 * s, 5,
                );
                let pooled = alloc::<f32>(4 * c * s * s);
                shrink[per_item(4 * c * s * s)](&x, &mut pooled, 4 * c, s);
                let mixed = alloc::<f32>(c * s * s);
                conv[per_item(c * s * s)](&pooled, &w, &mut mixed, 4 * c, c, s, 1);
                grow[per_item(4 * c * s * s)](&mixed, &mut y[12 * c * s * s..16 * c * s * s], c, s);
                blend[per_item(16 * c * s * s)](&y, &mut x, 16 * c * s * s);
            }
        }
    )*};
}
inception!("nodes" inception_nodes "arena" inception_arena "owned" inception_owned);

macro_rules! conjugate_gradient {
    ($($memory:tt $name:ident)*) => {$(
        /// 32 iterations of conjugate gradients for A x = b, where A is the one-dimensional Laplacian, starting
        /// with x = 0.
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, k: u32, b: &[f32; n], x: &mut [f32; n]) {
            let r = alloc::<f32>(n);
            let p = alloc::<f32>(n);
            fill(&mut x, 0.0);
            copy(&b, &mut r);
            copy(&b, &mut p);
            for _ in 0..32 {
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
    )*};
}
conjugate_gradient!("nodes" gradient_nodes "arena" gradient_arena "owned" gradient_owned);

macro_rules! butterflies {
    ($memory:tt $name:ident $([$a:ident $b:ident $c:ident $d:ident])*) => {
        /// Eight blocks of `n` elements, and six layers of butterflies between blocks at distances 1, 2 and 4.
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, x: &mut [f32; 8 * n]) {
            let a0 = alloc::<f32>(n);
            let a1 = alloc::<f32>(n);
            let a2 = alloc::<f32>(n);
            let a3 = alloc::<f32>(n);
            let a4 = alloc::<f32>(n);
            let a5 = alloc::<f32>(n);
            let a6 = alloc::<f32>(n);
            let a7 = alloc::<f32>(n);
            butterfly[per_item(n)](&x[0..n], &x[n..2 * n], &mut a0, &mut a1, 0.5, n);
            butterfly[per_item(n)](&x[2 * n..3 * n], &x[3 * n..4 * n], &mut a2, &mut a3, 0.5, n);
            butterfly[per_item(n)](&x[4 * n..5 * n], &x[5 * n..6 * n], &mut a4, &mut a5, 0.5, n);
            butterfly[per_item(n)](&x[6 * n..7 * n], &x[7 * n..8 * n], &mut a6, &mut a7, 0.5, n);
            $(
                let $c = alloc::<f32>(n);
                let $d = alloc::<f32>(n);
                butterfly[per_item(n)](&$a, &$b, &mut $c, &mut $d, 0.25, n);
            )*
            butterfly[per_item(n)](&e0, &e4, &mut x[0..n], &mut x[4 * n..5 * n], 0.25, n);
            butterfly[per_item(n)](&e1, &e5, &mut x[n..2 * n], &mut x[5 * n..6 * n], 0.25, n);
            butterfly[per_item(n)](&e2, &e6, &mut x[2 * n..3 * n], &mut x[6 * n..7 * n], 0.25, n);
            butterfly[per_item(n)](&e3, &e7, &mut x[3 * n..4 * n], &mut x[7 * n..8 * n], 0.25, n);
        }
    };
    ($($memory:tt $name:ident)*) => {$(
        butterflies!($memory $name
            [a0 a2 b0 b2] [a1 a3 b1 b3] [a4 a6 b4 b6] [a5 a7 b5 b7]
            [b0 b4 c0 c4] [b1 b5 c1 c5] [b2 b6 c2 c6] [b3 b7 c3 c7]
            [c0 c1 d0 d1] [c2 c3 d2 d3] [c4 c5 d4 d5] [c6 c7 d6 d7]
            [d0 d2 e0 e2] [d1 d3 e1 e3] [d4 d6 e4 e6] [d5 d7 e5 e7]);
    )*};
}
butterflies!("nodes" butterflies_nodes "arena" butterflies_arena "owned" butterflies_owned);

macro_rules! one_big {
    ($($memory:tt $name:ident)*) => {$(
        /// One buffer that is live during the whole graph, and 200 buffers of `m` elements that are live one after
        /// the other.
        #[cuweave::graph(memory = $memory, launches = "as-written")]
        pub fn $name(n: u32, m: u32, b: &[f32; n], x: &mut [f32; n]) {
            let big = alloc::<f32>(n);
            laplace[per_item(n)](&b, &mut big, n);
            for _ in 0..200 {
                let tiny = alloc::<f32>(m);
                laplace[per_item(m)](&x[0..m], &mut tiny, m);
                blend[per_item(m)](&tiny, &mut x[0..m], m);
            }
            blend[per_item(n)](&big, &mut x, n);
        }
    )*};
}
one_big!("nodes" one_big_nodes "arena" one_big_arena "owned" one_big_owned);
