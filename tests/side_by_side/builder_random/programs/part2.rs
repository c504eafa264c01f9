//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "as-written", budget = 4096 * n)]
pub fn p59(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    let s1 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(_t3)]
    let _t4 = made(n, &x[3 * n..4 * n]);
    #[after(s1)]
    let s3 = add_all[per_item(n)](atomic(&mut v), 0, n);
    free(_t3);
    #[after(_t3)]
    scale[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 3.5, n);
    #[after(s3)]
    set[((n + 127) / 128, 128)](&mut _t4, a, n);
    #[after(s1)]
    add_all[per_item(n)](atomic(&mut v), 4, n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "as-written", budget = 4096 * n)]
pub fn p60(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t3 = alloc::<f32>(n + k);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena", launches = "overlapped")]
pub fn p61(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](4.5, &y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s0, _t3)]
    let s2 = copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut _t3[1 * n..2 * n], n);
    let _t4 = alloc::<f32>(n + k);
    #[after(_t3, s2)]
    let s4 = copy(&p, &mut _t3[3 * n..4 * n]);
    #[after(s0, _t3, s2, s4)]
    let s5 = copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut _t3[1 * n..2 * n], n);
    #[after(_t3, s2, s4, s5)]
    set[per_item(n)](&mut _t3[2 * n..4 * n][n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "as-written", budget = 4096 * n)]
pub fn p62(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let s2 = set[per_item(n)](&mut y[0 * n..1 * n], 3.5, n);
    let s3 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let _t4 = alloc::<f32>(n + k);
    let _t5 = alloc::<f32>(4 * n);
    #[after(_t3, _t5)]
    let _t6 = alloc::<f32>(n + k);
    let _t7 = alloc::<f32>(2 * n);
    let _t8 = alloc::<f32>(n + k);
    #[after(s2)]
    let _t9 = alloc::<f32>(n);
    #[after(s3, _t4)]
    copy(&p, &mut _t5[2 * n..4 * n][n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched")]
pub fn p63(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 4.5, n);
    axpy[per_item(n)](1.5, &y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    set[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(n + k);
    for i in 0..1 {
        let _t4 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t4, n);
        axpy[per_item(n)](a, &_t4, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
    }
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(_t3)]
    add_all[per_item(n)](atomic(&mut v), 1, n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena")]
pub fn p64(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s0)]
    copy(&p, &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written", budget = 4096 * n)]
pub fn p65(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(n);
    fill(&mut y[1 * n..2 * n], 2.0);
    copy(&x[1 * n..2 * n], &mut y[1 * n..2 * n]);
    let _t4 = made(n, &x[2 * n..3 * n]);
    for i in 0..1 {
        let _t5 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t5, n);
        axpy[((n + 127) / 128, 128)](a, &_t5, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
    }
    let _t6 = made(n, &y[3 * n..4 * n]);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned", budget = 4096 * n)]
pub fn p66(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n);
    let s1 = copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(n);
    #[after(s1)]
    set[per_item(n)](&mut y[2 * n..3 * n], a, n);
    let _t6 = alloc::<f32>(4 * n);
    let _t7 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p67(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, 1.5, &x[0 * n..1 * n], &mut y[2 * n..3 * n]);
    fill(&mut y[0 * n..1 * n], 6.0);
    let _t3 = alloc::<f32>(4 * n);
    fill(&mut y[3 * n..4 * n], 1.0);
    let _t4 = alloc::<f32>(n);
    #[after(_t3)]
    add_all[per_item(n)](atomic(&mut v), 1, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p68(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](a, &y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    scale[per_item(n)](&mut y[3 * n..4 * n], 4.5, n);
    #[after(s0)]
    set[per_item(n)](&mut y[1 * n..2 * n], 4.5, n);
    let s3 = scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 2.5, n);
    #[after(s3)]
    let _t3 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p69(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    let s1 = set[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 1.5, n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    let _t3 = alloc::<f32>(n);
    copy(&y[3 * n..4 * n], &mut _t3);
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    #[after(s0)]
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s1)]
    scale[per_item(n)](&mut y[2 * n..3 * n], 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn p70(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let _t3 = alloc::<f32>(n + k);
    let s2 = copy(&p, &mut y[2 * n..3 * n]);
    let s3 = copy(&p, &mut y[0 * n..1 * n]);
    let _t4 = alloc::<f32>(n);
    #[after(s2)]
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    #[after(s3)]
    step(n, a, &x[2 * n..3 * n], &mut y[1 * n..2 * n]);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 2.5, n);
    let s8 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s8)]
    let _t5 = alloc::<f32>(n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p71(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    set[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    copy(&p, &mut y[2 * n..3 * n]);
    #[after(_t3)]
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p72(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0)]
    let _t3 = alloc::<f32>(n + k);
    #[after(_t3)]
    fill(&mut y[2 * n..4 * n][n..2 * n], 8.0);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched")]
pub fn p73(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[2 * n..3 * n], 1.5, n);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    axpy[((n + 127) / 128, 128)](2.5, &y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    let _t4 = alloc::<f32>(4 * n);
    set[per_item(n)](&mut y[2 * n..3 * n], 1.5, n);
    #[after(s0)]
    scale[per_item(n)](&mut y[1 * n..2 * n], 3.5, n);
    copy(&p, &mut _t4[0 * n..1 * n]);
    let _t5 = alloc::<f32>(n + k);
    axpy[per_item(n)](a, &x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t4[0 * n..1 * n], n);
    let _t6 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "as-written")]
pub fn p74(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[((n + 127) / 128, 128)](a, &x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p75(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    axpy[per_item(n)](1.5, &x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    let _t4 = alloc::<f32>(4 * n);
    let _t5 = made(n, &x[2 * n..4 * n][n..2 * n]);
    let s4 = fill(&mut y[2 * n..4 * n][n..2 * n], 8.0);
    fill(&mut y[1 * n..2 * n], 0.0);
    set[per_item(n)](&mut _t4[2 * n..4 * n][n..2 * n], 3.5, n);
    #[after(_t3, _t4)]
    copy_to[((n + 127) / 128, 128)](&_t4[3 * n..4 * n], &mut _t5, n);
    for i in 0..4 {
        let _t6 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t6, n);
        axpy[per_item(n)](3.5, &_t6, &mut y[i * n..(i + 1) * n], n);
    }
    #[after(s4)]
    copy(&_t5, &mut y[3 * n..4 * n]);
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut _t3[0 * n..1 * n], n);
    _t5
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p76(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    fill(&mut y[3 * n..4 * n], 3.0);
    let s1 = fill(&mut y[2 * n..3 * n], 1.0);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    axpy[per_item(n)](a, &y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s1)]
    let s4 = set[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    #[after(s4)]
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p77(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, a, &y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n]);
    scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    axpy[per_item(n)](a, &x[1 * n..2 * n], &mut y[1 * n..2 * n], n);
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 2.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p78(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; n + k], [f32; n]) {
    let _t3 = alloc::<f32>(n + k);
    let s1 = scale[per_item(n)](&mut y[1 * n..2 * n], 3.5, n);
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let s3 = scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    #[after(s3)]
    set[per_item(n + k)](&mut _t3, 3.5, n + k);
    #[after(s1)]
    fill(&mut y[1 * n..2 * n], 4.0);
    let s6 = copy_to[((n + k + 127) / 128, 128)](&z, &mut _t3, n + k);
    #[after(s6)]
    let _t4 = alloc::<f32>(2 * n);
    copy(&x[1 * n..2 * n], &mut y[2 * n..3 * n]);
    #[after(s1, _t4)]
    let _t5 = made(n, &x[2 * n..4 * n][n..2 * n]);
    (_t3, _t5)
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", launches = "batched", budget = 4096 * n)]
pub fn p79(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 3, n);
    let _t3 = alloc::<f32>(4 * n);
    let s2 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let _t4 = alloc::<f32>(n);
    let _t5 = alloc::<f32>(4 * n);
    #[after(s2, _t5)]
    let s5 = copy(&y[0 * n..1 * n], &mut _t5[1 * n..2 * n]);
    #[after(s2, s5)]
    copy(&p, &mut y[1 * n..2 * n]);
    #[after(_t3)]
    set[per_item(n)](&mut _t3[2 * n..4 * n][n..2 * n], a, n);
    #[after(s0)]
    add_all[per_item(n)](atomic(&mut v), 4, n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p80(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(n);
    fill(&mut y[3 * n..4 * n], 6.0);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p81(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    let _t3 = alloc::<f32>(n);
    let s2 = copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    let s3 = scale[per_item(n)](&mut y[2 * n..3 * n], 2.5, n);
    let s4 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t3, n);
    #[after(s2)]
    set[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 1.5, n);
    #[after(s3)]
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let s7 = axpy[((n + 127) / 128, 128)](4.5, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(_t3)]
    add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s4, s7)]
    axpy[per_item(n)](a, &_t3, &mut y[3 * n..4 * n], n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p82(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 3, n);
    scale[per_item(n)](&mut y[2 * n..3 * n], 2.5, n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    scale[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    let s5 = add_all[per_item(n)](atomic(&mut v), 1, n);
    let s6 = axpy[per_item(n)](a, &x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let s7 = copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    #[after(s7)]
    set[per_item(n)](&mut y[3 * n..4 * n], a, n);
    #[after(s0, s7)]
    let _t3 = alloc::<f32>(2 * n);
    free(_t3);
    let _t4 = alloc::<f32>(n + k);
    #[after(_t3)]
    let _t5 = alloc::<f32>(n + k);
    #[after(s5, s6, _t3)]
    scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    #[after(_t3)]
    axpy[((n + 127) / 128, 128)](a, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p83(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n + k] {
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    fill(&mut y[0 * n..1 * n], 5.0);
    let _t3 = alloc::<f32>(n + k);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(n + k);
    copy_to[per_item(n + k)](&z, &mut _t5, n + k);
    #[after(_t5)]
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 3.5, n);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t6 = alloc::<f32>(4 * n);
    _t5
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p84(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    #[after(s0)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p85(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    free(_t3);
    #[after(_t3)]
    copy(&p, &mut y[2 * n..3 * n]);
    let _t4 = alloc::<f32>(2 * n);
    #[after(_t3)]
    let _t5 = alloc::<f32>(n);
    set[per_item(n)](&mut _t4[1 * n..2 * n], 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", budget = 4096 * n)]
pub fn p86(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = axpy[per_item(n)](a, &y[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    let s1 = set[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(s1)]
    let s3 = fill(&mut y[2 * n..3 * n], 4.0);
    let s4 = set[per_item(n)](&mut y[2 * n..3 * n], 3.5, n);
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 2.5, n);
    step(n, a, &y[2 * n..3 * n], &mut y[1 * n..2 * n]);
    let s7 = set[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s4)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    #[after(_t3, s3)]
    let s9 = fill(&mut y[2 * n..3 * n], 3.0);
    #[after(s0)]
    let _t4 = made(n, &y[0 * n..1 * n]);
    #[after(s7, s9)]
    add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s0)]
    fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", budget = 4096 * n)]
pub fn p87(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&p, &mut y[3 * n..4 * n]);
    scale[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 4.5, n);
    scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    copy(&x[1 * n..2 * n], &mut y[0 * n..1 * n]);
    for i in 0..2 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        free(_t3);
    }
    axpy[per_item(n)](1.5, &y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    add_all[per_item(n)](atomic(&mut v), 0, n);
    let s7 = copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    #[after(s7)]
    let s8 = copy(&x[3 * n..4 * n], &mut y[0 * n..1 * n]);
    #[after(s8)]
    let s9 = scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    #[after(s9)]
    set[per_item(n)](&mut y[0 * n..1 * n], 3.5, n);
    #[after(s7)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p88(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    let s1 = fill(&mut y[1 * n..2 * n], 2.0);
    let s2 = axpy[((n + 127) / 128, 128)](a, &x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    fill(&mut y[0 * n..1 * n], 4.0);
    #[after(s1, s2)]
    axpy[per_item(n)](a, &x[1 * n..2 * n], &mut y[1 * n..2 * n], n);
    copy(&y[2 * n..3 * n], &mut y[1 * n..2 * n]);
    set[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    axpy[((n + 127) / 128, 128)](a, &x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes", launches = "overlapped", budget = 4096 * n)]
pub fn p89(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&p, &mut y[0 * n..1 * n]);
    #[after(s0)]
    let s1 = copy(&p, &mut y[0 * n..1 * n]);
    let _t3 = alloc::<f32>(n + k);
    #[after(s0, s1)]
    let s3 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    let _t4 = alloc::<f32>(n);
    let s5 = add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s0, s1, s3)]
    let s6 = fill(&mut y[3 * n..4 * n], 2.0);
    #[after(s5)]
    let s7 = add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s0, s1, s3, s6)]
    let s8 = scale[per_item(n)](&mut y[2 * n..3 * n], 2.5, n);
    #[after(s0, s1, s3, s6, s8)]
    let s9 = copy(&p, &mut y[1 * n..2 * n]);
    #[after(s0, s1, s3, s6, s8, s9)]
    let s10 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s0, s1, s3, s6, s8, s9, s10)]
    let s11 = copy(&x[3 * n..4 * n], &mut y[0 * n..1 * n]);
    #[after(s0, s1, s3, s6, s8, s9, s10, s11)]
    copy(&p, &mut y[3 * n..4 * n]);
    #[after(s5, s7)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
}
