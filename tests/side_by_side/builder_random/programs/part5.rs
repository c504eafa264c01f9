//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p138(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = fill(&mut y[1 * n..2 * n], 0.0);
    #[after(s0)]
    let s1 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0, s1)]
    let s2 = fill(&mut y[3 * n..4 * n], 4.0);
    #[after(s0, s1, s2)]
    let s3 = set[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    #[after(s0, s1, s2, s3)]
    let s4 = set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(s0, s1, s2, s3, s4)]
    let s5 = set[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 2.5, n);
    #[after(s0, s1, s2, s3, s4, s5)]
    let s6 = set[per_item(n)](&mut y[2 * n..3 * n], 4.5, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s0, s1, s2, s3, s4, s5, s6)]
    copy(&p, &mut y[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "as-written")]
pub fn p139(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    axpy[((n + 127) / 128, 128)](1.5, &y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 1, n);
    let _t4 = alloc::<f32>(n + k);
    #[after(s2)]
    copy(&y[2 * n..3 * n], &mut y[1 * n..2 * n]);
    axpy[per_item(n)](4.5, &y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    #[after(_t4)]
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p140(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; n], [f32; n]) {
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    let s2 = add_all[per_item(n)](atomic(&mut v), 1, n);
    copy(&y[2 * n..3 * n], &mut _t3);
    let _t4 = alloc::<f32>(2 * n);
    let s5 = copy(&p, &mut y[2 * n..3 * n]);
    let s6 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let _t5 = alloc::<f32>(n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t5, n);
    #[after(s5, _t5)]
    add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s6)]
    let _t6 = alloc::<f32>(2 * n);
    #[after(s2)]
    let _t7 = alloc::<f32>(4 * n);
    fill(&mut _t7[2 * n..4 * n][n..2 * n], 8.0);
    #[after(_t7)]
    copy(&x[2 * n..4 * n][n..2 * n], &mut _t7[2 * n..4 * n][n..2 * n]);
    (_t3, _t5)
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p141(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    set[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 2.5, n);
    let s2 = axpy[((n + 127) / 128, 128)](a, &x[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    axpy[per_item(n)](3.5, &x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(s2)]
    let _t4 = alloc::<f32>(n + k);
    #[after(s2)]
    let _t5 = alloc::<f32>(4 * n);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    let _t6 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p142(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[0 * n..1 * n], 1.5, n);
    #[after(s0)]
    copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    copy(&x[0 * n..1 * n], &mut y[1 * n..2 * n]);
    let s3 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s3)]
    copy(&p, &mut y[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn p143(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = axpy[((n + 127) / 128, 128)](4.5, &y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let _t3 = alloc::<f32>(n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let _t4 = alloc::<f32>(n);
    let _t5 = alloc::<f32>(4 * n);
    copy(&p, &mut _t4);
    let _t6 = alloc::<f32>(n);
    #[after(s0, _t6)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p144(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&y[1 * n..2 * n], &mut y[0 * n..1 * n]);
    fill(&mut y[3 * n..4 * n], 4.0);
    let s2 = copy(&p, &mut y[2 * n..3 * n]);
    let s3 = set[per_item(n)](&mut y[1 * n..2 * n], 2.5, n);
    #[after(s3)]
    let s4 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    #[after(s3)]
    let _t3 = alloc::<f32>(4 * n);
    let s6 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    #[after(s0)]
    let s7 = fill(&mut y[0 * n..1 * n], 1.0);
    copy(&p, &mut _t3[3 * n..4 * n]);
    #[after(s2, s6, s7)]
    add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s4)]
    let s10 = copy_to[((n + 127) / 128, 128)](&x[2 * n..3 * n], &mut _t3[2 * n..3 * n], n);
    #[after(s0)]
    let s11 = copy(&x[0 * n..1 * n], &mut _t3[1 * n..2 * n]);
    #[after(s10, s11)]
    free(_t3);
    #[after(_t3, s10)]
    let _t4 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p145(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; n + k], [f32; n]) {
    let _t3 = alloc::<f32>(2 * n);
    axpy[per_item(n)](a, &y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(_t3)]
    let _t4 = alloc::<f32>(n + k);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    let s5 = copy_to[((n + k + 127) / 128, 128)](&z, &mut _t4, n + k);
    fill(&mut y[3 * n..4 * n], 2.0);
    #[after(s5)]
    set[((n + 127) / 128, 128)](&mut _t3[1 * n..2 * n], 4.5, n);
    let _t5 = made(n, &y[3 * n..4 * n]);
    let _t6 = alloc::<f32>(n);
    (_t4, _t5)
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p146(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[0 * n..1 * n], 1.5, n);
    axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s0)]
    let _t3 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p147(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 4, n);
    let s1 = set[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let _t3 = alloc::<f32>(2 * n);
    for i in 0..1 {
        let _t4 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t4, n);
        axpy[((n + 127) / 128, 128)](3.5, &_t4, &mut y[i * n..(i + 1) * n], n);
        free(_t4);
    }
    #[after(_t3)]
    let s4 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let _t5 = alloc::<f32>(n);
    #[after(s1)]
    let s6 = copy(&p, &mut _t3[0 * n..1 * n]);
    #[after(s0, _t3, s6)]
    copy(&p, &mut _t3[1 * n..2 * n]);
    #[after(s0)]
    let _t6 = alloc::<f32>(4 * n);
    copy_to[((n + 127) / 128, 128)](&_t3[1 * n..2 * n], &mut _t5, n);
    #[after(s0)]
    let _t7 = alloc::<f32>(4 * n);
    #[after(s1)]
    copy_to[((n + 127) / 128, 128)](&y[3 * n..4 * n], &mut _t3[0 * n..1 * n], n);
    #[after(s4, _t5)]
    let s12 = set[per_item(n)](&mut _t5, 2.5, n);
    #[after(_t6, s12)]
    let _t8 = alloc::<f32>(n);
    #[after(_t7)]
    let _t9 = alloc::<f32>(n);
    #[after(s12, _t8)]
    let _t10 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes", launches = "as-written")]
pub fn p148(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n);
    let s1 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s1)]
    let s2 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    let _t4 = alloc::<f32>(n);
    #[after(_t3)]
    free(_t3);
    #[after(s1, s2)]
    let s5 = copy(&p, &mut y[3 * n..4 * n]);
    #[after(s1, s2, s5)]
    let s6 = copy(&y[0 * n..1 * n], &mut y[3 * n..4 * n]);
    #[after(s1, s2, s5, s6)]
    let s7 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s1, s2, _t4, s5, s6, s7)]
    let s8 = copy(&y[2 * n..3 * n], &mut _t4);
    #[after(s1, s2, s5, s6, s7, s8)]
    let s9 = copy(&p, &mut y[0 * n..1 * n]);
    #[after(s1, s2, s5, s6, s7, s8, s9)]
    let s10 = set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let _t5 = alloc::<f32>(n + k);
    #[after(s1, s2, s5, s6, s7, s8, s9, s10)]
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(_t4, s8)]
    scale[per_item(n)](&mut _t4, 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", budget = 4096 * n)]
pub fn p149(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    #[after(s0)]
    let s1 = axpy[per_item(n)](a, &x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    let s2 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s1)]
    let s3 = scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let s4 = add_all[per_item(n)](atomic(&mut v), 1, n);
    let s5 = set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    copy(&p, &mut y[1 * n..2 * n]);
    let _t3 = alloc::<f32>(n);
    #[after(s0, s4)]
    copy(&y[0 * n..1 * n], &mut y[2 * n..3 * n]);
    #[after(s1, s5)]
    let _t4 = alloc::<f32>(2 * n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s5, _t4)]
    let s11 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t4[0 * n..1 * n], n);
    #[after(s3, s11)]
    axpy[((n + 127) / 128, 128)](a, &x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    #[after(s0)]
    free(_t3);
    #[after(s2)]
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn p150(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[((n + 127) / 128, 128)](&y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(n + k);
    let _t4 = alloc::<f32>(n + k);
    #[after(_t4)]
    let _t5 = alloc::<f32>(n + k);
    let s4 = copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t6 = alloc::<f32>(n + k);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    copy(&p, &mut y[0 * n..1 * n]);
    copy_to[((n + 127) / 128, 128)](&x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, _t4)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    let _t7 = alloc::<f32>(2 * n);
    #[after(s4)]
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 3.5, n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    set[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let _t8 = alloc::<f32>(4 * n);
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p151(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    let _t3 = alloc::<f32>(4 * n);
    let s2 = fill(&mut y[2 * n..4 * n][n..2 * n], 6.0);
    #[after(s2)]
    fill(&mut _t3[2 * n..4 * n][n..2 * n], 3.0);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned", launches = "batched")]
pub fn p152(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s0)]
    let s1 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(s0, s1)]
    let s2 = axpy[per_item(n)](3.5, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s0, s1, s2)]
    let s3 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s4 = add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s0, s1, s2, s3)]
    let s5 = axpy[((n + 127) / 128, 128)](a, &y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s4)]
    add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s0, s1, s2, s3, s5)]
    let s7 = set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s0, s1, s2, s3, s5, s7)]
    axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p153(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](4.5, &y[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = alloc::<f32>(4 * n);
    copy(&p, &mut _t3[3 * n..4 * n]);
    axpy[per_item(n)](4.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let _t5 = alloc::<f32>(n);
    fill(&mut _t4[1 * n..2 * n], 6.0);
    add_all[per_item(n)](atomic(&mut v), 2, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p154(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = set[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let _t3 = made(n, &y[3 * n..4 * n]);
    #[after(s0)]
    let s2 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s2)]
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    let _t4 = alloc::<f32>(2 * n);
    for i in 0..4 {
        let _t5 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t5, n);
        axpy[per_item(n)](2.5, &_t5, &mut y[i * n..(i + 1) * n], n);
    }
    #[after(_t4)]
    let _t6 = alloc::<f32>(2 * n);
    free(_t3);
    free(_t4);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p155(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    for i in 0..2 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    let _t4 = alloc::<f32>(4 * n);
    let _t5 = alloc::<f32>(n);
    let _t6 = alloc::<f32>(4 * n);
    let _t7 = alloc::<f32>(n + k);
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    let _t8 = alloc::<f32>(4 * n);
    fill(&mut _t7, 7.0);
    set[per_item(n)](&mut _t4[2 * n..4 * n][n..2 * n], 4.5, n);
    #[after(_t5)]
    axpy[((n + 127) / 128, 128)](a, &x[2 * n..3 * n], &mut _t4[2 * n..4 * n][n..2 * n], n);
    #[after(_t6)]
    set[((n + 127) / 128, 128)](&mut _t5, 3.5, n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p156(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    for i in 0..4 {
        let _t4 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t4, n);
        axpy[per_item(n)](a, &_t4, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
    }
    copy(&p, &mut _t3[3 * n..4 * n]);
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut _t3[2 * n..3 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p157(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](3.5, &y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    copy(&x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0)]
    let _t3 = alloc::<f32>(n);
    #[after(s0)]
    let s3 = add_all[per_item(n)](atomic(&mut v), 3, n);
    scale[per_item(n)](&mut y[3 * n..4 * n], 1.5, n);
    let s5 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    #[after(s0, s5)]
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s3)]
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut _t4[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn p158(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, 2.5, &y[3 * n..4 * n], &mut y[1 * n..2 * n]);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    fill(&mut y[2 * n..4 * n][n..2 * n], 0.0);
    free(_t3);
    axpy[per_item(n)](3.5, &x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    add_all[per_item(n)](atomic(&mut v), 4, n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p159(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    copy(&p, &mut y[0 * n..1 * n]);
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let s3 = copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    for i in 0..2 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
    }
    axpy[per_item(n)](a, &y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let _t4 = alloc::<f32>(n);
    #[after(s3)]
    add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s3)]
    let s8 = copy(&p, &mut y[3 * n..4 * n]);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    let s10 = copy(&p, &mut y[2 * n..3 * n]);
    #[after(s3, s10)]
    let _t5 = alloc::<f32>(2 * n);
    #[after(s8)]
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t6 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", budget = 4096 * n)]
pub fn p160(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; 2 * n], [f32; n]) {
    let _t3 = alloc::<f32>(2 * n);
    scale[per_item(n)](&mut y[3 * n..4 * n], 2.5, n);
    let s2 = set[per_item(n)](&mut _t3[1 * n..2 * n], a, n);
    fill(&mut y[1 * n..2 * n], 8.0);
    let _t4 = alloc::<f32>(n);
    scale[per_item(n)](&mut _t3[1 * n..2 * n], a, n);
    #[after(_t4)]
    let s6 = add_all[per_item(n)](atomic(&mut v), 1, n);
    let s7 = axpy[per_item(n)](1.5, &y[2 * n..4 * n][n..2 * n], &mut _t3[1 * n..2 * n], n);
    #[after(s2)]
    fill(&mut y[3 * n..4 * n], 3.0);
    #[after(_t3)]
    let s9 = add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s6)]
    let _t5 = alloc::<f32>(2 * n);
    #[after(_t3)]
    copy(&x[1 * n..2 * n], &mut _t3[1 * n..2 * n]);
    #[after(s7)]
    copy_to[((n + 127) / 128, 128)](&x[2 * n..3 * n], &mut _t3[0 * n..1 * n], n);
    #[after(_t3, _t4)]
    copy(&x[0 * n..1 * n], &mut _t4);
    #[after(s2, s9, _t5)]
    let _t6 = alloc::<f32>(4 * n);
    (_t3, _t4)
}
