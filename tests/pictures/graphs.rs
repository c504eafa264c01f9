//! Graph functions whose pictures differ: calls in loops, skip connections, nested bodies, and devices.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/shapes.ptx")]
unsafe extern "ptx-kernel" {
    fn matmul(x: &[f32; b * n], w: &[f32; n * m], y: &mut [MaybeUninit<f32>; b * m], b: u32, n: u32, m: u32);
    fn rms_norm(x: &[f32; b * n], g: &[f32; n], y: &mut [MaybeUninit<f32>; b * n], b: u32, n: u32);
    fn own(q: &[f32; n], k: &[f32; n], v: &[f32; n], o: &mut [f32; n], n: u32);
    fn gate(a: &mut [f32; n], c: &[f32; n], n: u32);
    fn add_to(x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("examples/kernels/conjugate.ptx")]
unsafe extern "ptx-kernel" {
    fn apply(p: &[f32; n], q: &mut [MaybeUninit<f32>; n], diagonal: f32, n: u32);
    fn inner(a: &[f32; n], b: &[f32; n], sum: &mut [MaybeUninit<f32>; 1], n: u32);
    fn advance(
        x: &mut [f32; n],
        r: &mut [f32; n],
        p: &[f32; n],
        q: &[f32; n],
        rr: &[f32; 1],
        pq: &[f32; 1],
        n: u32,
    );
    fn direction(p: &mut [f32; n], r: &[f32; n], rr: &[f32; 1], next: &[f32; 1], n: u32);
    fn decide(next: &[f32; 1], rr: &mut [f32; 1], go: &mut [u32; 1], turns: &mut [u32; 1], limit: f32);
}

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

/// Three projections, a mix of them, and a projection back onto the residual.
#[cuweave::graph(launches = "as-written")]
pub fn attention(b: u32, d: u32, w: &[f32; 4 * d * d], h: &[f32; b * d], x: &mut [f32; b * d]) {
    let q = alloc::<f32>(b * d);
    let k = alloc::<f32>(b * d);
    let v = alloc::<f32>(b * d);
    matmul[per_item(b * d)](&h, &w[0..d * d], &mut q, b, d, d);
    matmul[per_item(b * d)](&h, &w[d * d..2 * d * d], &mut k, b, d, d);
    matmul[per_item(b * d)](&h, &w[2 * d * d..3 * d * d], &mut v, b, d, d);
    let o = alloc::<f32>(b * d);
    fill(&mut o, 0.0);
    own[per_item(b * d)](&q, &k, &v, &mut o, b * d);
    let p = alloc::<f32>(b * d);
    matmul[per_item(b * d)](&o, &w[3 * d * d..4 * d * d], &mut p, b, d, d);
    add_to[per_item(b * d)](&p, &mut x, b * d);
}

#[cuweave::graph(launches = "as-written")]
pub fn block(
    b: u32,
    d: u32,
    w: &[f32; 4 * d * d],
    wide: &[f32; 4 * d * d],
    g: &[f32; d],
    x: &mut [f32; b * d],
) {
    let h = alloc::<f32>(b * d);
    rms_norm[per_item(b)](&x, &g, &mut h, b, d);
    attention(b, d, &w, &h, &mut x);
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

/// `count` blocks of a transformer.
#[cuweave::graph(launches = "as-written")]
pub fn transformer(
    count: u32,
    b: u32,
    d: u32,
    w: &[f32; 4 * d * d],
    wide: &[f32; 4 * d * d],
    g: &[f32; d],
    x: &mut [f32; b * d],
) {
    for _ in 0..count {
        block(b, d, &w, &wide, &g, &mut x);
    }
}

/// The same with the default launch changes.
#[cuweave::graph]
pub fn decided(
    count: u32,
    b: u32,
    d: u32,
    w: &[f32; 4 * d * d],
    wide: &[f32; 4 * d * d],
    g: &[f32; d],
    x: &mut [f32; b * d],
) {
    for _ in 0..count {
        decided_block(b, d, &w, &wide, &g, &mut x);
    }
}

#[cuweave::graph]
pub fn decided_block(
    b: u32,
    d: u32,
    w: &[f32; 4 * d * d],
    wide: &[f32; 4 * d * d],
    g: &[f32; d],
    x: &mut [f32; b * d],
) {
    let h = alloc::<f32>(b * d);
    rms_norm[per_item(b)](&x, &g, &mut h, b, d);
    let q = alloc::<f32>(b * d);
    let k = alloc::<f32>(b * d);
    matmul[per_item(b * d)](&h, &w[0..d * d], &mut q, b, d, d);
    matmul[per_item(b * d)](&h, &w[d * d..2 * d * d], &mut k, b, d, d);
    gate[per_item(b * d)](&mut q, &k, b * d);
    add_to[per_item(b * d)](&q, &mut x, b * d);
    let up = alloc::<f32>(b * 4 * d);
    matmul[per_item(b * 4 * d)](&x, &wide, &mut up, b, d, 4 * d);
    let down = alloc::<f32>(b * d);
    matmul[per_item(b * d)](&up, &wide, &mut down, b, 4 * d, d);
    add_to[per_item(b * d)](&down, &mut x, b * d);
}

/// Conjugate gradients to a tolerance, in a device-side loop.
#[cuweave::graph]
pub fn solve(
    n: u32,
    diagonal: f32,
    limit: f32,
    b: &[f32; n],
    x: &mut [MaybeUninit<f32>; n],
    turns: &mut [MaybeUninit<u32>; 1],
) {
    let r = alloc::<f32>(n);
    let p = alloc::<f32>(n);
    let rr = alloc::<f32>(1);
    copy(&b, &mut r);
    copy(&b, &mut p);
    inner[(1, 256)](&r, &r, &mut rr, n);
    let go = alloc::<u32>(1);
    fill(&mut x, 0.0);
    fill(&mut turns, 0);
    fill(&mut go, 1);
    #[at_most(10_000)]
    while go {
        let q = alloc::<f32>(n);
        let pq = alloc::<f32>(1);
        let next = alloc::<f32>(1);
        apply[per_item(n)](&p, &mut q, diagonal, n);
        inner[(1, 256)](&p, &q, &mut pq, n);
        advance[per_item(n)](&mut x, &mut r, &p, &q, &rr, &pq, n);
        inner[(1, 256)](&r, &r, &mut next, n);
        direction[per_item(n)](&mut p, &r, &rr, &next, n);
        decide[(1, 1)](&next, &mut rr, &mut go, &mut turns, limit);
    }
}

/// A choice of three arms, one of which contains a loop with a choice.
#[cuweave::graph]
pub fn nested(n: u32, which: &[u32; 1], count: &mut [u32; 1], x: &mut [u32; n], y: &mut [u32; n]) {
    let t = alloc::<u32>(n);
    mixed[per_item(n)](&x, &mut t, 1, n);
    match which {
        0 => {
            let a = alloc::<u32>(n);
            mixed[per_item(n)](&t, &mut a, 2, n);
            copy(&a, &mut x);
        }
        1 =>
        {
            #[at_most(9)]
            while count {
                count_down[(1, 1)](&mut count);
                mix[per_item(n)](&mut x, 3, n);
                if which {
                    mix[per_item(n)](&mut y, 4, n);
                }
            }
        }
        _ => {
            fill(&mut y, 7);
        }
    }
    mix[per_item(n)](&mut y, 5, n);
    copy(&t, &mut x);
}

/// A pipeline of two devices.
#[cuweave::graph(devices = 2)]
pub fn across(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let g = alloc::<f32>(n);
    fill(&mut h, 1.0);
    fill(&mut g, 2.0);
    axpy[per_item(n)](2.0, &x, &mut h, n);
    axpy[per_item(n)](3.0, &x, &mut g, n);
    #[on(1)]
    {
        let there = alloc::<f32>(n);
        let more = alloc::<f32>(n);
        copy(&h, &mut there);
        copy(&g, &mut more);
        scale[per_item(n)](&mut there, 10.0, n);
        axpy[per_item(n)](1.0, &more, &mut there, n);
        copy(&there, &mut out);
    }
}

/// A chain of `count` pairs, each with a temporary.
#[cuweave::graph(launches = "as-written")]
pub fn long(count: u32, n: u32, x: &mut [f32; n]) {
    for _ in 0..count {
        let t = alloc::<f32>(n);
        copy(&x, &mut t);
        axpy[per_item(n)](0.5, &t, &mut x, n);
    }
}

/// A graph without statements.
#[cuweave::graph]
pub fn nothing(_n: u32) {}

/// One statement.
#[cuweave::graph]
pub fn single(n: u32, x: &mut [f32; n]) {
    fill(&mut x, 1.0);
}
