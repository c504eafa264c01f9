//! Programs that decide on the device: conjugate gradients, branches, and experts, only one of which runs.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/conditions.ptx")]
unsafe extern "ptx-kernel" {
    /// x = 0; r = b; p = b; parts = b . b
    fn cg_start(
        b: &[f32; n],
        x: &mut [MaybeUninit<f32>; n],
        r: &mut [MaybeUninit<f32>; n],
        p: &mut [MaybeUninit<f32>; n],
        parts: &mut [MaybeUninit<f32>; blocks],
        n: u32,
        blocks: u32,
    );
    /// rr = the sum of the parts; go = rr > limit; turns = 0
    fn cg_first(
        parts: &[f32; blocks],
        rr: &mut [MaybeUninit<f32>; 1],
        go: &mut [MaybeUninit<u32>; 1],
        turns: &mut [MaybeUninit<u32>; 1],
        limit: f32,
        blocks: u32,
    );
    /// q = A p; parts = p . q
    fn cg_apply(
        p: &[f32; n],
        q: &mut [MaybeUninit<f32>; n],
        parts: &mut [MaybeUninit<f32>; blocks],
        diagonal: f32,
        side: u32,
        n: u32,
        blocks: u32,
    );
    /// x += alpha p; r -= alpha q, where alpha = rr / pq; parts = r . r
    fn cg_advance(
        x: &mut [f32; n],
        r: &mut [f32; n],
        p: &[f32; n],
        q: &[f32; n],
        rr: &[f32; 1],
        pq: &[f32; blocks],
        parts: &mut [MaybeUninit<f32>; blocks],
        n: u32,
        blocks: u32,
    );
    /// p = r + beta p, where beta = next / rr
    fn cg_direction(p: &mut [f32; n], r: &[f32; n], rr: &[f32; 1], next: &[f32; blocks], n: u32, blocks: u32);
    /// rr = next; go = next > limit; turns += 1
    fn cg_decide(
        next: &[f32; blocks],
        rr: &mut [MaybeUninit<f32>; 1],
        go: &mut [MaybeUninit<u32>; 1],
        turns: &mut [u32; 1],
        limit: f32,
        blocks: u32,
    );
    /// x = x * 31 + by
    fn tick(x: &mut [u32; n], by: u32, n: u32);
}

/// Solves A x = b to a tolerance.
#[cuweave::graph]
pub fn solve(
    side: u32,
    blocks: u32,
    diagonal: f32,
    limit: f32,
    b: &[f32; side * side],
    x: &mut [MaybeUninit<f32>; side * side],
    turns: &mut [MaybeUninit<u32>; 1],
) {
    let n = side * side;
    let r = alloc::<f32>(n);
    let p = alloc::<f32>(n);
    let first = alloc::<f32>(blocks);
    let rr = alloc::<f32>(1);
    let go = alloc::<u32>(1);
    cg_start[(blocks, 256)](&b, &mut x, &mut r, &mut p, &mut first, n, blocks);
    cg_first[(1, 256)](&first, &mut rr, &mut go, &mut turns, limit, blocks);
    while go {
        let q = alloc::<f32>(n);
        let pq = alloc::<f32>(blocks);
        let next = alloc::<f32>(blocks);
        cg_apply[(blocks, 256)](&p, &mut q, &mut pq, diagonal, side, n, blocks);
        cg_advance[(blocks, 256)](&mut x, &mut r, &p, &q, &rr, &pq, &mut next, n, blocks);
        cg_direction[(blocks, 256)](&mut p, &r, &rr, &next, n, blocks);
        cg_decide[(1, 256)](&next, &mut rr, &mut go, &mut turns, limit, blocks);
    }
}

/// Computes the first residual, for a loop on the host.
#[cuweave::graph]
pub fn first(
    side: u32,
    blocks: u32,
    limit: f32,
    b: &[f32; side * side],
    x: &mut [MaybeUninit<f32>; side * side],
    r: &mut [MaybeUninit<f32>; side * side],
    p: &mut [MaybeUninit<f32>; side * side],
    rr: &mut [MaybeUninit<f32>; 1],
    turns: &mut [MaybeUninit<u32>; 1],
    host: &mut Pinned<[f32; 1]>,
) {
    let n = side * side;
    let parts = alloc::<f32>(blocks);
    let _go = alloc::<u32>(1);
    cg_start[(blocks, 256)](&b, &mut x, &mut r, &mut p, &mut parts, n, blocks);
    cg_first[(1, 256)](&parts, &mut rr, &mut _go, &mut turns, limit, blocks);
    copy(&rr, &mut host);
}

/// Computes an iteration, for a loop on the host.
#[cuweave::graph]
pub fn turn(
    side: u32,
    blocks: u32,
    diagonal: f32,
    limit: f32,
    x: &mut [f32; side * side],
    r: &mut [f32; side * side],
    p: &mut [f32; side * side],
    rr: &mut [f32; 1],
    turns: &mut [u32; 1],
    host: &mut Pinned<[f32; 1]>,
) {
    let n = side * side;
    let q = alloc::<f32>(n);
    let pq = alloc::<f32>(blocks);
    let next = alloc::<f32>(blocks);
    let _go = alloc::<u32>(1);
    cg_apply[(blocks, 256)](&p, &mut q, &mut pq, diagonal, side, n, blocks);
    cg_advance[(blocks, 256)](&mut x, &mut r, &p, &q, &rr, &pq, &mut next, n, blocks);
    cg_direction[(blocks, 256)](&mut p, &r, &rr, &next, n, blocks);
    cg_decide[(1, 256)](&next, &mut rr, &mut _go, &mut turns, limit, blocks);
    copy(&rr, &mut host);
}

/// 16 decisions, each between two kernels.
#[cuweave::graph]
pub fn ifs(n: u32, x: &mut [u32; n], flag: &[u32; 1]) {
    for i in 0..16u32 {
        tick[per_item(n)](&mut x, i, n);
        if flag {
            tick[per_item(n)](&mut x, 100 + i, n);
            tick[per_item(n)](&mut x, 200 + i, n);
        }
    }
}

/// 16 decisions between two arms.
#[cuweave::graph]
pub fn if_elses(n: u32, x: &mut [u32; n], flag: &[u32; 1]) {
    for i in 0..16u32 {
        tick[per_item(n)](&mut x, i, n);
        if flag {
            tick[per_item(n)](&mut x, 100 + i, n);
            tick[per_item(n)](&mut x, 200 + i, n);
        } else {
            tick[per_item(n)](&mut x, 300 + i, n);
        }
    }
}

/// 16 decisions between four arms.
#[cuweave::graph]
pub fn matches(n: u32, x: &mut [u32; n], index: &[u32; 1]) {
    for i in 0..16u32 {
        tick[per_item(n)](&mut x, i, n);
        match index {
            0 => tick[per_item(n)](&mut x, 100 + i, n),
            1 => {
                tick[per_item(n)](&mut x, 200 + i, n);
                tick[per_item(n)](&mut x, 300 + i, n);
            }
            2 => tick[per_item(n)](&mut x, 400 + i, n),
            _ => tick[per_item(n)](&mut x, 500 + i, n),
        }
    }
}

mod models {
    #[cuweave::kernels("benches/kernels/launches.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn matmul(a: &[f32; n * n], b: &[f32; n * n], c: &mut [MaybeUninit<f32>; n * n], n: u32);
        pub fn gelu(x: &mut [f32; n], n: u32);
        pub fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    }
}

/// An expert: two products, one of which goes through an activation, their mean, and a product of the mean.
#[cuweave::graph]
pub fn expert(
    n: u32,
    x: &[f32; n * n],
    up: &[f32; n * n],
    gate: &[f32; n * n],
    down: &[f32; n * n],
    y: &mut [MaybeUninit<f32>; n * n],
) {
    let h = alloc::<f32>(n * n);
    let g = alloc::<f32>(n * n);
    let m = alloc::<f32>(n * n);
    models::matmul[((n / 16, n / 16), (16, 16))](&x, &up, &mut h, n);
    models::matmul[((n / 16, n / 16), (16, 16))](&x, &gate, &mut g, n);
    models::gelu[per_item(n * n)](&mut g, n * n);
    models::mean[per_item(n * n)](&h, &g, &mut m, n * n);
    models::matmul[((n / 16, n / 16), (16, 16))](&m, &down, &mut y, n);
}

/// One of four experts, selected by an index that a router wrote.
#[cuweave::graph]
pub fn experts(
    n: u32,
    x: &[f32; n * n],
    up: [&[f32; n * n]; 4],
    gate: [&[f32; n * n]; 4],
    down: [&[f32; n * n]; 4],
    which: &[u32; 1],
    y: &mut [MaybeUninit<f32>; n * n],
) {
    match which {
        0 => expert(n, &x, &up[0], &gate[0], &down[0], &mut y),
        1 => expert(n, &x, &up[1], &gate[1], &down[1], &mut y),
        2 => expert(n, &x, &up[2], &gate[2], &down[2], &mut y),
        _ => expert(n, &x, &up[3], &gate[3], &down[3], &mut y),
    }
}

mod counts {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/conditions.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn count_down_by(x: &mut [u32; 1], by: u32, go: Condition);
        pub fn decide_by(x: &[u32; 1], go: Condition);
    }

    #[cuweave::kernels("tests/kernels/decide.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn count_down(x: &mut [u32; 1]);
    }
}

#[cuweave::graph]
pub fn counted_by_buffer(given: &[u32; 1], x: &mut [u32; 1]) {
    copy(&given, &mut x);
    while x {
        counts::count_down[(1, 1)](&mut x);
    }
}

#[cuweave::graph]
pub fn counted_by_condition(given: &[u32; 1], x: &mut [u32; 1]) {
    copy(&given, &mut x);
    let go = condition();
    counts::decide_by[(1, 1)](&x, go);
    while go {
        counts::count_down_by[(1, 1)](&mut x, 1, go);
    }
}
