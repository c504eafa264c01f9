//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p161(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    scale[per_item(n)](&mut y[2 * n..3 * n], 4.5, n);
    let _t3 = made(n, &y[1 * n..2 * n]);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(2 * n);
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    let s5 = copy(&x[3 * n..4 * n], &mut y[1 * n..2 * n]);
    let _t6 = alloc::<f32>(n + k);
    let _t7 = alloc::<f32>(2 * n);
    #[after(s5)]
    axpy[((n + 127) / 128, 128)](a, &y[3 * n..4 * n], &mut _t3, n);
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut _t7[0 * n..1 * n], n);
    for i in 0..1 {
        let _t8 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t8, n);
        axpy[per_item(n)](a, &_t8, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
        free(_t8);
    }
    let s11 = fill(&mut _t3, 2.0);
    #[after(s11)]
    copy(&_t7[0 * n..1 * n], &mut _t4[0 * n..1 * n]);
    #[after(_t6)]
    step(n, 1.5, &_t3, &mut _t7[0 * n..1 * n]);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p162(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; n], [f32; n]) {
    let _t3 = made(n, &x[2 * n..4 * n][n..2 * n]);
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    copy(&p, &mut _t3);
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n]);
    let s4 = copy(&y[1 * n..2 * n], &mut y[3 * n..4 * n]);
    #[after(s4)]
    let _t4 = made(n, &y[1 * n..2 * n]);
    #[after(s4)]
    copy(&y[0 * n..1 * n], &mut y[3 * n..4 * n]);
    (_t3, _t4)
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p163(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
        free(_t3);
    }
    #[after(s0)]
    fill(&mut y[2 * n..3 * n], 4.0);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched")]
pub fn p164(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n + k);
    let s1 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 1.5, n);
    #[after(_t3)]
    let _t4 = alloc::<f32>(2 * n);
    #[after(s1)]
    let _t5 = made(n, &x[2 * n..4 * n][n..2 * n]);
    #[after(s1)]
    copy(&y[0 * n..1 * n], &mut _t4[0 * n..1 * n]);
    let _t6 = alloc::<f32>(n + k);
    set[per_item(n + k)](&mut _t6, 3.5, n + k);
    fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
    #[after(_t3)]
    let s8 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    axpy[per_item(n)](a, &x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    #[after(s8)]
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    set[per_item(n + k)](&mut _t3, a, n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", budget = 4096 * n)]
pub fn p165(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&p, &mut y[2 * n..3 * n]);
    axpy[per_item(n)](a, &x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    fill(&mut y[1 * n..2 * n], 7.0);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p166(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; n + k], [f32; n]) {
    let _t3 = alloc::<f32>(n + k);
    copy(&x[0 * n..1 * n], &mut y[2 * n..3 * n]);
    let s2 = copy_to[per_item(n + k)](&z, &mut _t3, n + k);
    copy_to[((n + k + 127) / 128, 128)](&z, &mut _t3, n + k);
    step(n, 4.5, &x[3 * n..4 * n], &mut y[0 * n..1 * n]);
    #[after(s2)]
    let _t4 = alloc::<f32>(n);
    let s6 = copy(&y[3 * n..4 * n], &mut _t4);
    #[after(_t4)]
    let s7 = fill(&mut _t3, 7.0);
    fill(&mut y[2 * n..3 * n], 6.0);
    let s9 = copy_to[per_item(n)](&y[3 * n..4 * n], &mut _t4, n);
    #[after(s9)]
    fill(&mut _t3, 3.0);
    #[after(s6, s7)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
    let _t5 = alloc::<f32>(4 * n);
    #[after(_t3)]
    let _t6 = alloc::<f32>(2 * n);
    axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    (_t3, _t4)
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched")]
pub fn p167(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let s1 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    let s3 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 2.5, n);
    #[after(s3)]
    let s4 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 4.5, n);
    #[after(s1)]
    let _t3 = alloc::<f32>(n + k);
    #[after(s4)]
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(n + k);
    let _t6 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p168(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    let s2 = copy(&p, &mut y[2 * n..3 * n]);
    let s3 = add_all[per_item(n)](atomic(&mut v), 4, n);
    let _t3 = made(n, &x[3 * n..4 * n]);
    free(_t3);
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let s7 = axpy[((n + 127) / 128, 128)](a, &x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    #[after(s2)]
    let s8 = copy(&p, &mut y[1 * n..2 * n]);
    #[after(s3, s8)]
    let _t4 = alloc::<f32>(n + k);
    #[after(s2, s7)]
    axpy[per_item(n)](2.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let _t5 = alloc::<f32>(n + k);
    copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "as-written")]
pub fn p169(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    axpy[per_item(n)](a, &y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    fill(&mut _t3[1 * n..2 * n], 2.0);
    scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    copy(&y[0 * n..1 * n], &mut _t3[2 * n..3 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", launches = "batched")]
pub fn p170(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&p, &mut y[1 * n..2 * n]);
    #[after(s0)]
    let s1 = set[per_item(n)](&mut y[3 * n..4 * n], a, n);
    #[after(s0, s1)]
    let s2 = axpy[per_item(n)](3.5, &x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(s0, s1, s2)]
    let s4 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s0, s1, s2, s4)]
    let s5 = copy(&y[0 * n..1 * n], &mut y[3 * n..4 * n]);
    #[after(s0, s1, s2, s4, s5)]
    let s6 = copy(&x[1 * n..2 * n], &mut y[3 * n..4 * n]);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s0, s1, s2, s4, s5, s6)]
    let s8 = axpy[per_item(n)](a, &x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    #[after(_t4)]
    let s9 = set[per_item(n)](&mut _t4[3 * n..4 * n], 4.5, n);
    #[after(s0, s1, s2, s4, s5, s6, s8)]
    let s10 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s0, s1, s2, s4, s5, s6, s8, s10)]
    set[per_item(n)](&mut y[0 * n..1 * n], a, n);
    #[after(_t4, s9)]
    axpy[per_item(n)](3.5, &x[0 * n..1 * n], &mut _t4[3 * n..4 * n], n);
    let _t5 = alloc::<f32>(n);
    #[after(_t3)]
    copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut _t3[0 * n..1 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p171(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&p, &mut y[0 * n..1 * n]);
    let s1 = copy_to[per_item(n)](&y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 3, n);
    let _t3 = alloc::<f32>(4 * n);
    #[after(_t3)]
    let s4 = copy(&p, &mut _t3[2 * n..3 * n]);
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut _t3[0 * n..1 * n], n);
    step(n, a, &y[0 * n..1 * n], &mut y[2 * n..3 * n]);
    scale[((n + 127) / 128, 128)](&mut _t3[2 * n..3 * n], 2.5, n);
    #[after(s1)]
    let _t4 = alloc::<f32>(4 * n);
    copy(&y[0 * n..1 * n], &mut _t4[2 * n..3 * n]);
    let _t5 = alloc::<f32>(4 * n);
    scale[per_item(n)](&mut _t3[0 * n..1 * n], a, n);
    #[after(s2)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s2)]
    let _t6 = alloc::<f32>(4 * n);
    #[after(_t5)]
    let _t7 = alloc::<f32>(n);
    #[after(s4)]
    let _t8 = alloc::<f32>(n + k);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena")]
pub fn p172(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[3 * n..4 * n], 1.5, n);
    #[after(s0)]
    let s1 = copy(&y[1 * n..2 * n], &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(n + k);
    #[after(_t3)]
    copy_to[per_item(n + k)](&z, &mut _t3, n + k);
    #[after(s0, s1)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 4.5, n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p173(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = axpy[((n + 127) / 128, 128)](2.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let s1 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(n);
    let _t4 = made(n, &y[0 * n..1 * n]);
    let _t5 = alloc::<f32>(n + k);
    #[after(_t3)]
    set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(_t3)]
    let s6 = copy(&y[3 * n..4 * n], &mut _t3);
    #[after(s0)]
    let s7 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s6)]
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s1, s7)]
    let _t6 = alloc::<f32>(n);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(_t3, _t6)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p174(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = axpy[((n + 127) / 128, 128)](3.5, &y[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    let s1 = copy(&p, &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(n);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s0)]
    copy(&x[0 * n..1 * n], &mut y[0 * n..1 * n]);
    #[after(s0)]
    let _t5 = alloc::<f32>(4 * n);
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut _t5[3 * n..4 * n], n);
    #[after(s0, _t4)]
    let _t6 = made(n, &y[3 * n..4 * n]);
    #[after(s1)]
    let _t7 = alloc::<f32>(n);
    _t6
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p175(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](a, &y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let s1 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s2 = copy(&p, &mut y[1 * n..2 * n]);
    set[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 2.5, n);
    #[after(s2)]
    let _t3 = alloc::<f32>(2 * n);
    #[after(s1)]
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    axpy[per_item(n)](3.5, &y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    fill(&mut _t3[1 * n..2 * n], 7.0);
    #[after(s2)]
    let _t4 = alloc::<f32>(n);
    for i in 0..4 {
        let _t5 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t5, n);
        axpy[per_item(n)](4.5, &_t5, &mut y[i * n..(i + 1) * n], n);
    }
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    axpy[per_item(n)](3.5, &x[1 * n..2 * n], &mut _t3[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p176(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, a, &x[1 * n..2 * n], &mut y[0 * n..1 * n]);
    let s1 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    let _t3 = alloc::<f32>(2 * n);
    copy(&y[3 * n..4 * n], &mut _t3[0 * n..1 * n]);
    let _t4 = made(n, &y[0 * n..1 * n]);
    let s5 = set[((n + 127) / 128, 128)](&mut _t4, 1.5, n);
    #[after(s5)]
    let _t5 = alloc::<f32>(n);
    let s7 = axpy[per_item(n)](2.5, &y[0 * n..1 * n], &mut _t3[0 * n..1 * n], n);
    #[after(s7)]
    axpy[per_item(n)](1.5, &y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let s9 = set[per_item(n)](&mut _t5, 2.5, n);
    copy(&p, &mut y[1 * n..2 * n]);
    #[after(s1)]
    set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    scale[((n + 127) / 128, 128)](&mut _t4, a, n);
    let _t6 = alloc::<f32>(2 * n);
    #[after(s9)]
    copy(&_t5, &mut _t3[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p177(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s0)]
    let _t3 = alloc::<f32>(4 * n);
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s0)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    for i in 0..2 {
        let _t4 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t4, n);
        axpy[per_item(n)](2.5, &_t4, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], 2.5, n);
    }
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", launches = "as-written")]
pub fn p178(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], a, n);
    #[after(s0)]
    let s1 = copy(&p, &mut y[0 * n..1 * n]);
    let _t3 = alloc::<f32>(2 * n);
    let _t4 = alloc::<f32>(2 * n);
    #[after(_t3)]
    copy(&p, &mut _t3[1 * n..2 * n]);
    #[after(s0, s1)]
    scale[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 2.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p179(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[((n + 127) / 128, 128)](a, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p180(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
        free(_t3);
    }
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    axpy[per_item(n)](1.5, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p181(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s1 = copy(&y[1 * n..2 * n], &mut y[3 * n..4 * n]);
    let s2 = axpy[((n + 127) / 128, 128)](2.5, &x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s1)]
    copy(&y[2 * n..3 * n], &mut y[3 * n..4 * n]);
    let s4 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    #[after(s4)]
    let s5 = axpy[per_item(n)](3.5, &y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    set[per_item(n)](&mut y[2 * n..3 * n], 3.5, n);
    let s7 = axpy[((n + 127) / 128, 128)](2.5, &y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    #[after(s1, s5)]
    let s8 = set[per_item(n)](&mut y[1 * n..2 * n], 4.5, n);
    let s9 = copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    copy(&p, &mut y[3 * n..4 * n]);
    #[after(s1, s2, s9)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    #[after(s4, s7)]
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    #[after(s0, s8)]
    copy(&p, &mut y[3 * n..4 * n]);
    #[after(s4)]
    copy(&y[2 * n..3 * n], &mut y[0 * n..1 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p182(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, 4.5, &x[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n]);
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let _t3 = alloc::<f32>(2 * n);
    fill(&mut y[0 * n..1 * n], 6.0);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p183(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[((n + 127) / 128, 128)](a, &x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    #[after(s0)]
    let s1 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let _t3 = alloc::<f32>(n);
    #[after(s0, s1)]
    let s3 = fill(&mut y[2 * n..4 * n][n..2 * n], 8.0);
    let _t4 = alloc::<f32>(2 * n);
    #[after(_t4)]
    copy(&p, &mut _t4[0 * n..1 * n]);
    let _t5 = alloc::<f32>(n);
    let _t6 = alloc::<f32>(4 * n);
    #[after(s0, s1, s3)]
    let s8 = fill(&mut y[2 * n..3 * n], 1.0);
    let _t7 = alloc::<f32>(4 * n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    let _t8 = alloc::<f32>(n + k);
    #[after(s0, s1, s3, s8)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 3.5, n);
    let _t9 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p184(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let _t3 = alloc::<f32>(n);
    let s2 = copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    copy(&y[0 * n..1 * n], &mut y[3 * n..4 * n]);
    #[after(s2)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    let s5 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let _t4 = made(n, &y[1 * n..2 * n]);
    #[after(_t3)]
    let _t5 = alloc::<f32>(2 * n);
    #[after(s0)]
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    set[((n + 127) / 128, 128)](&mut _t5[1 * n..2 * n], a, n);
    set[per_item(n)](&mut _t4, 2.5, n);
    #[after(s0)]
    copy(&x[1 * n..2 * n], &mut _t5[1 * n..2 * n]);
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    axpy[per_item(n)](a, &y[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    #[after(s5)]
    let _t6 = alloc::<f32>(2 * n);
    #[after(s5)]
    copy(&y[3 * n..4 * n], &mut _t6[1 * n..2 * n]);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written", budget = 4096 * n)]
pub fn p185(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    copy(&p, &mut y[3 * n..4 * n]);
    add_all[per_item(n)](atomic(&mut v), 0, n);
}
