//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p90(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let s1 = scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    let s2 = axpy[per_item(n)](2.5, &y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    #[after(s0, s2)]
    scale[per_item(n)](&mut y[2 * n..3 * n], 4.5, n);
    #[after(s1)]
    set[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena", launches = "as-written", budget = 4096 * n)]
pub fn p91(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s0)]
    let s1 = copy(&p, &mut y[2 * n..3 * n]);
    #[after(s0, s1)]
    let s2 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    let _t4 = alloc::<f32>(n);
    #[after(s0, s1, s2)]
    let s5 = fill(&mut y[2 * n..4 * n][n..2 * n], 5.0);
    #[after(s0, s1, s2, s5)]
    let s6 = set[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    #[after(_t4)]
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut _t4, n);
    #[after(s0, s1, s2, s5, s6)]
    copy(&y[3 * n..4 * n], &mut y[1 * n..2 * n]);
    #[after(_t3)]
    copy(&p, &mut _t3[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p92(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = made(n, &y[0 * n..1 * n]);
    axpy[((n + 127) / 128, 128)](4.5, &y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    set[per_item(n)](&mut y[2 * n..3 * n], 3.5, n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena")]
pub fn p93(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](3.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s0)]
    let s1 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s0, s1)]
    let s2 = copy(&p, &mut y[0 * n..1 * n]);
    #[after(s0, s1, s2)]
    let s3 = axpy[per_item(n)](a, &x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, s1, s2, s3)]
    let s4 = set[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s0, s1, s2, s3, s4)]
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(_t3)]
    copy(&x[2 * n..4 * n][n..2 * n], &mut _t3[2 * n..3 * n]);
    #[after(_t4)]
    fill(&mut _t4[0 * n..1 * n], 6.0);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped", budget = 4096 * n)]
pub fn p94(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](1.5, &y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    #[after(s0)]
    axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    copy(&p, &mut y[0 * n..1 * n]);
    #[after(s0)]
    let _t3 = alloc::<f32>(2 * n);
    let s4 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s4)]
    axpy[per_item(n)](a, &y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p95(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p96(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = fill(&mut y[3 * n..4 * n], 8.0);
    let _t3 = made(n, &x[1 * n..2 * n]);
    #[after(s0)]
    let s2 = axpy[((n + 127) / 128, 128)](1.5, &y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    free(_t3);
    #[after(s2)]
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s2)]
    axpy[per_item(n)](2.5, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p97(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = fill(&mut y[2 * n..3 * n], 3.0);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    let _t4 = alloc::<f32>(4 * n);
    #[after(_t4)]
    let _t5 = alloc::<f32>(4 * n);
    set[per_item(n)](&mut _t4[3 * n..4 * n], 1.5, n);
    #[after(_t3)]
    let _t6 = alloc::<f32>(2 * n);
    let s6 = copy(&p, &mut y[2 * n..3 * n]);
    #[after(_t3)]
    add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(_t4, s6)]
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut _t4[2 * n..4 * n][n..2 * n], n);
    let _t7 = alloc::<f32>(2 * n);
    set[per_item(n)](&mut _t5[0 * n..1 * n], a, n);
    #[after(s0)]
    let _t8 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p98(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(4 * n);
    let s1 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let s2 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 2.5, n);
    #[after(s1)]
    let s3 = copy(&p, &mut _t3[1 * n..2 * n]);
    #[after(_t3)]
    let s4 = set[per_item(n)](&mut y[2 * n..3 * n], a, n);
    let _t4 = made(n, &y[3 * n..4 * n]);
    let _t5 = alloc::<f32>(n + k);
    #[after(s4)]
    let s7 = fill(&mut _t5, 5.0);
    #[after(s1, s2)]
    set[per_item(n + k)](&mut _t5, 4.5, n + k);
    #[after(s1)]
    fill(&mut _t3[0 * n..1 * n], 4.0);
    let _t6 = alloc::<f32>(n);
    let _t7 = alloc::<f32>(n + k);
    #[after(s7)]
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    #[after(_t3, s3, s4, _t5)]
    let s13 = axpy[per_item(n)](3.5, &x[2 * n..3 * n], &mut _t4, n);
    #[after(s13)]
    let _t8 = alloc::<f32>(n + k);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p99(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    fill(&mut y[2 * n..3 * n], 5.0);
    set[per_item(n)](&mut y[0 * n..1 * n], 3.5, n);
    let _t3 = made(n, &y[0 * n..1 * n]);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p100(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let s1 = copy(&p, &mut y[2 * n..3 * n]);
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let s4 = copy(&p, &mut y[2 * n..3 * n]);
    let s5 = scale[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 1.5, n);
    fill(&mut y[3 * n..4 * n], 5.0);
    #[after(s5)]
    let s7 = copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s4)]
    let s9 = scale[per_item(n)](&mut y[1 * n..2 * n], 4.5, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s7)]
    copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    #[after(s1, s4, s9)]
    let _t4 = alloc::<f32>(n);
    copy(&y[0 * n..1 * n], &mut y[3 * n..4 * n]);
    fill(&mut y[0 * n..1 * n], 8.0);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p101(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 4.5, n);
    axpy[per_item(n)](a, &x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(n);
    let s3 = copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let _t4 = alloc::<f32>(n + k);
    let s5 = copy_to[per_item(n + k)](&z, &mut _t4, n + k);
    #[after(s3)]
    let s6 = add_all[per_item(n)](atomic(&mut v), 2, n);
    let s7 = copy(&p, &mut y[2 * n..3 * n]);
    let s8 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 1.5, n);
    #[after(s5, s6, s7)]
    axpy[((n + 127) / 128, 128)](2.5, &x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    #[after(_t4, s6, s8)]
    axpy[((n + 127) / 128, 128)](3.5, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t5 = alloc::<f32>(4 * n);
    copy(&p, &mut _t5[0 * n..1 * n]);
    let _t6 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched")]
pub fn p102(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n + k);
    copy(&p, &mut y[1 * n..2 * n]);
    axpy[((n + 127) / 128, 128)](1.5, &x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    let _t4 = alloc::<f32>(n + k);
    let s4 = scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    let _t5 = alloc::<f32>(n);
    #[after(_t3)]
    fill(&mut y[1 * n..2 * n], 3.0);
    axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    copy_to[((n + 127) / 128, 128)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    #[after(_t4)]
    let s10 = fill(&mut _t3, 5.0);
    let _t6 = alloc::<f32>(n + k);
    #[after(s4, s10)]
    let _t7 = made(n, &y[2 * n..4 * n][n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena", launches = "batched")]
pub fn p103(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&y[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    let s1 = add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s0)]
    scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s1)]
    let s4 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(_t3)]
    set[per_item(n)](&mut _t3[2 * n..4 * n][n..2 * n], 2.5, n);
    let _t4 = alloc::<f32>(n + k);
    let _t5 = alloc::<f32>(4 * n);
    #[after(s1, s4)]
    add_all[per_item(n)](atomic(&mut v), 0, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped", budget = 4096 * n)]
pub fn p104(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&y[1 * n..2 * n], &mut y[3 * n..4 * n]);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let _t3 = alloc::<f32>(4 * n);
    fill(&mut _t3[1 * n..2 * n], 6.0);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p105(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&x[2 * n..3 * n], &mut y[1 * n..2 * n]);
    let s1 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s1)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p106(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](a, &y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    let s1 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 4.5, n);
    #[after(s0)]
    let s2 = scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 2.5, n);
    copy(&p, &mut y[0 * n..1 * n]);
    let s4 = copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    #[after(s1)]
    let _t3 = alloc::<f32>(4 * n);
    let s6 = axpy[per_item(n)](a, &x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    let _t4 = alloc::<f32>(n + k);
    #[after(s4, s6)]
    let s8 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let s9 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    #[after(s8, s9)]
    let s11 = copy(&y[1 * n..2 * n], &mut _t3[2 * n..3 * n]);
    #[after(s6)]
    let _t5 = alloc::<f32>(n + k);
    #[after(s1, _t3)]
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut _t3[1 * n..2 * n], n);
    #[after(s1, s11)]
    copy_to[((n + k + 127) / 128, 128)](&z, &mut _t5, n + k);
    #[after(s2, _t5)]
    let _t6 = made(n, &_t3[2 * n..3 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p107(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 3, n);
    axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s2 = copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    step(n, 4.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n]);
    let _t3 = alloc::<f32>(n + k);
    let s5 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let _t4 = alloc::<f32>(n);
    #[after(_t4)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 4.5, n);
    #[after(s2, _t3)]
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s0)]
    copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    set[per_item(n)](&mut y[1 * n..2 * n], 2.5, n);
    #[after(s5, _t4)]
    let _t5 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", launches = "overlapped", budget = 4096 * n)]
pub fn p108(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 2, n);
    let s1 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0)]
    add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s1)]
    let s3 = fill(&mut y[0 * n..1 * n], 3.0);
    #[after(s1, s3)]
    let s4 = fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
    #[after(s1, s3, s4)]
    let s5 = copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s1, s3, s4, s5)]
    let s6 = copy(&p, &mut y[0 * n..1 * n]);
    #[after(s1, s3, s4, s5, s6)]
    let s7 = copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    #[after(s1, s3, s4, s5, s6, s7)]
    scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    free(_t3);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p109(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[((n + 127) / 128, 128)](1.5, &x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    let _t3 = made(n, &x[0 * n..1 * n]);
    let _t4 = alloc::<f32>(n);
    let _t5 = alloc::<f32>(2 * n);
    copy(&p, &mut _t5[0 * n..1 * n]);
    #[after(_t4)]
    let _t6 = alloc::<f32>(n);
    #[after(s0)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p110(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s0)]
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    copy(&y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n]);
    #[after(s0)]
    axpy[per_item(n)](2.5, &x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p111(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n]);
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    fill(&mut y[0 * n..1 * n], 3.0);
    copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    axpy[((n + 127) / 128, 128)](4.5, &y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p112(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s0, _t3)]
    free(_t3);
    #[after(s0)]
    copy(&p, &mut y[0 * n..1 * n]);
    let s4 = copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(_t3)]
    copy(&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    axpy[per_item(n)](4.5, &x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s4)]
    let _t5 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched")]
pub fn p113(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, 2.5, &x[2 * n..3 * n], &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(2 * n);
    #[after(_t3)]
    let s2 = set[per_item(n)](&mut _t3[1 * n..2 * n], a, n);
    let _t4 = alloc::<f32>(n + k);
    let s4 = add_all[per_item(n)](atomic(&mut v), 1, n);
    let s5 = axpy[((n + 127) / 128, 128)](4.5, &x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    let _t5 = alloc::<f32>(2 * n);
    let _t6 = alloc::<f32>(4 * n);
    #[after(s2, _t6)]
    let s8 = set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 3.5, n);
    #[after(_t4, s5)]
    fill(&mut y[0 * n..1 * n], 7.0);
    #[after(_t5)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    #[after(s4)]
    free(_t3);
    #[after(s8)]
    let _t7 = alloc::<f32>(n + k);
    step(n, 2.5, &y[2 * n..3 * n], &mut y[1 * n..2 * n]);
    #[after(s2, _t7)]
    axpy[per_item(n)](1.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written", budget = 4096 * n)]
pub fn p114(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    step(n, 3.5, &y[3 * n..4 * n], &mut y[2 * n..3 * n]);
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 3.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(budget = 4096 * n)]
pub fn p115(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = made(n, &y[0 * n..1 * n]);
    set[per_item(n)](&mut y[1 * n..2 * n], 4.5, n);
    let _t4 = alloc::<f32>(n + k);
    let _t5 = alloc::<f32>(2 * n);
    free(_t3);
    axpy[((n + 127) / 128, 128)](a, &x[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    let s6 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(_t4)]
    let _t6 = alloc::<f32>(n);
    #[after(_t6)]
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    #[after(s6)]
    let s10 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s10)]
    let s11 = axpy[((n + 127) / 128, 128)](a, &x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s11)]
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p116(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[((n + 127) / 128, 128)](&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s0)]
    let s3 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    let _t4 = alloc::<f32>(n);
    #[after(s0, s3)]
    let s5 = set[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    #[after(_t3)]
    let s6 = fill(&mut _t3, 7.0);
    #[after(_t3, s6)]
    free(_t3);
    #[after(_t4)]
    fill(&mut _t4, 1.0);
    #[after(s0, s3, s5)]
    let s9 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 3.5, n);
    #[after(s0, s3, s5, s9)]
    let s10 = axpy[((n + 127) / 128, 128)](a, &y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    #[after(s0, s3, s5, s9, s10)]
    let s11 = axpy[per_item(n)](4.5, &y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, s3, s5, s9, s10, s11)]
    copy(&y[2 * n..3 * n], &mut y[0 * n..1 * n]);
}
