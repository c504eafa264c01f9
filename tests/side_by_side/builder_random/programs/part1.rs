//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p29(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = fill(&mut y[1 * n..2 * n], 1.0);
    #[after(s0)]
    let _t3 = alloc::<f32>(n + k);
    let s2 = copy(&x[1 * n..2 * n], &mut y[0 * n..1 * n]);
    let s3 = add_all[per_item(n)](atomic(&mut v), 3, n);
    free(_t3);
    let s5 = axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let _t4 = alloc::<f32>(4 * n);
    let _t5 = alloc::<f32>(n);
    #[after(_t3)]
    let s8 = copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut _t4[2 * n..3 * n], n);
    #[after(_t3)]
    let _t6 = alloc::<f32>(n + k);
    copy(&p, &mut _t4[0 * n..1 * n]);
    let _t7 = made(n, &x[2 * n..4 * n][n..2 * n]);
    #[after(s3)]
    copy(&y[1 * n..2 * n], &mut y[3 * n..4 * n]);
    #[after(s5)]
    fill(&mut _t6, 5.0);
    #[after(s2, s8)]
    axpy[per_item(n + k)](a, &z, &mut _t6, n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p30(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(s0)]
    axpy[per_item(n)](a, &x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s2 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0)]
    let s3 = axpy[((n + 127) / 128, 128)](a, &x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s4 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s3)]
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(n);
    #[after(s2, s4, _t5)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    #[after(s2)]
    scale[per_item(n)](&mut y[1 * n..2 * n], 2.5, n);
    #[after(s4)]
    let s10 = fill(&mut _t5, 0.0);
    axpy[per_item(n)](a, &y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    copy(&x[2 * n..3 * n], &mut y[1 * n..2 * n]);
    #[after(s10)]
    free(_t3);
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(_t3, _t4)]
    let _t6 = alloc::<f32>(n + k);
    _t5
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p31(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[((n + 127) / 128, 128)](3.5, &y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let s1 = set[per_item(n)](&mut y[3 * n..4 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 0, n);
    let s3 = copy_to[((n + 127) / 128, 128)](&x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t3 = made(n, &x[2 * n..3 * n]);
    axpy[((n + 127) / 128, 128)](a, &x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(n);
    let s9 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    scale[per_item(n)](&mut _t3, 3.5, n);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    #[after(s0)]
    let _t6 = alloc::<f32>(4 * n);
    #[after(s1, s3)]
    set[((n + 127) / 128, 128)](&mut _t6[3 * n..4 * n], 4.5, n);
    #[after(_t5)]
    copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    #[after(s9)]
    scale[per_item(n)](&mut _t3, a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p32(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n]);
    scale[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    set[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 1.5, n);
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 2.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched", budget = 4096 * n)]
pub fn p33(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](4.5, &x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    #[after(_t3)]
    let _t4 = alloc::<f32>(4 * n);
    #[after(_t3)]
    copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut _t3[2 * n..3 * n], n);
    #[after(s0, _t4)]
    let _t5 = alloc::<f32>(n + k);
    #[after(_t3, _t4)]
    add_all[per_item(n)](atomic(&mut v), 4, n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(_t5)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    #[after(_t5)]
    axpy[((n + 127) / 128, 128)](1.5, &y[3 * n..4 * n], &mut y[0 * n..1 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p34(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n + k);
    free(_t3);
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p35(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s0)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 3, n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    #[after(s0, s2)]
    scale[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 2.5, n);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    copy(&x[2 * n..4 * n][n..2 * n], &mut _t3);
    scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes", launches = "overlapped")]
pub fn p36(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let s1 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    #[after(s1)]
    let s2 = set[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    #[after(s1, s2)]
    let s3 = scale[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s1, s2, s3)]
    let s5 = fill(&mut y[2 * n..3 * n], 3.0);
    #[after(s1, s2, s3, s5)]
    let s6 = copy(&p, &mut y[3 * n..4 * n]);
    let _t4 = alloc::<f32>(n);
    #[after(s0)]
    let s8 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s1, s2, s3, s5, s6)]
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    #[after(_t4)]
    copy(&x[0 * n..1 * n], &mut _t4);
    let _t5 = alloc::<f32>(n + k);
    #[after(s0, s8)]
    add_all[per_item(n)](atomic(&mut v), 1, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched")]
pub fn p37(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    copy(&p, &mut y[2 * n..3 * n]);
    copy(&p, &mut y[3 * n..4 * n]);
    let _t3 = alloc::<f32>(n);
    copy_to[((n + 127) / 128, 128)](&x[2 * n..4 * n][n..2 * n], &mut _t3, n);
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched", budget = 4096 * n)]
pub fn p38(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    copy(&y[2 * n..4 * n][n..2 * n], &mut _t3[0 * n..1 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p39(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[((n + 127) / 128, 128)](a, &x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    copy(&y[2 * n..3 * n], &mut y[1 * n..2 * n]);
    scale[per_item(n)](&mut y[2 * n..3 * n], 3.5, n);
    scale[per_item(n)](&mut y[0 * n..1 * n], 1.5, n);
    let _t3 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes", launches = "batched")]
pub fn p40(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s0)]
    let s1 = fill(&mut y[2 * n..3 * n], 7.0);
    #[after(s0, s1)]
    axpy[((n + 127) / 128, 128)](a, &y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p41(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    axpy[per_item(n)](2.5, &x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena", launches = "overlapped")]
pub fn p42(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(n + k);
    let s1 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s1)]
    let s2 = set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 1.5, n);
    let _t4 = alloc::<f32>(n);
    #[after(s1, s2)]
    let s4 = axpy[per_item(n)](2.5, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s1, s2, s4)]
    let s5 = axpy[((n + 127) / 128, 128)](1.5, &x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t5 = alloc::<f32>(n);
    #[after(_t4)]
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t4, n);
    #[after(s1, s2, s4, s5)]
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p43(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    copy_to[((n + 127) / 128, 128)](&y[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    copy(&x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n]);
    set[per_item(n)](&mut y[3 * n..4 * n], a, n);
    let _t3 = alloc::<f32>(2 * n);
    let _t4 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p44(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    for i in 0..3 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let s2 = copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t4 = alloc::<f32>(4 * n);
    let s4 = fill(&mut _t4[2 * n..4 * n][n..2 * n], 1.0);
    #[after(s2)]
    let s5 = axpy[per_item(n)](a, &x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t4[1 * n..2 * n], n);
    #[after(s5)]
    copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut _t4[1 * n..2 * n], n);
    #[after(s4)]
    let s8 = copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    #[after(s8)]
    let _t5 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena", launches = "overlapped")]
pub fn p45(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = fill(&mut y[2 * n..3 * n], 2.0);
    #[after(s0)]
    let s1 = copy(&x[1 * n..2 * n], &mut y[0 * n..1 * n]);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s0, s1)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p46(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    set[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    let _t3 = alloc::<f32>(n);
    let _t4 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p47(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    let s1 = axpy[per_item(n)](a, &x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s1)]
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut _t3[1 * n..2 * n], n);
    let s3 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    let s4 = fill(&mut y[1 * n..2 * n], 5.0);
    #[after(s4)]
    let _t4 = alloc::<f32>(n + k);
    #[after(_t3)]
    let s6 = scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    let s7 = fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
    #[after(_t4)]
    let _t5 = alloc::<f32>(2 * n);
    #[after(s3)]
    let s9 = add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s6)]
    axpy[((n + 127) / 128, 128)](3.5, &x[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    #[after(s1, s7)]
    fill(&mut _t3[0 * n..1 * n], 1.0);
    copy(&z, &mut _t4);
    let _t6 = alloc::<f32>(n);
    #[after(s6, s9)]
    let s14 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s3, s6, s14)]
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p48(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = set[per_item(n)](&mut y[3 * n..4 * n], 2.5, n);
    #[after(s0)]
    let _t3 = alloc::<f32>(4 * n);
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t4 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p49(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(n);
    fill(&mut _t3, 1.0);
    copy(&x[2 * n..3 * n], &mut y[0 * n..1 * n]);
    let _t4 = alloc::<f32>(n);
    scale[per_item(n)](&mut _t3, a, n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p50(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    scale[per_item(n)](&mut y[2 * n..3 * n], 2.5, n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p51(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](3.5, &_t3, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], 3.5, n);
        free(_t3);
    }
    let _t4 = alloc::<f32>(n + k);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    let s3 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    let _t5 = alloc::<f32>(4 * n);
    let _t6 = alloc::<f32>(2 * n);
    #[after(_t5)]
    fill(&mut y[0 * n..1 * n], 0.0);
    #[after(_t4, s3)]
    let _t7 = alloc::<f32>(4 * n);
    #[after(_t6)]
    let _t8 = alloc::<f32>(4 * n);
    fill(&mut _t6[0 * n..1 * n], 5.0);
    add_all[per_item(n)](atomic(&mut v), 3, n);
}

#[rustfmt::skip]
#[cuweave::graph(budget = 4096 * n)]
pub fn p52(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n + k] {
    axpy[per_item(n)](1.5, &x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    let s1 = copy_to[((n + 127) / 128, 128)](&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    #[after(s1)]
    let s2 = set[per_item(n)](&mut y[3 * n..4 * n], a, n);
    let _t3 = alloc::<f32>(2 * n);
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    set[per_item(n)](&mut _t3[0 * n..1 * n], 3.5, n);
    #[after(s2)]
    let _t4 = alloc::<f32>(n + k);
    copy(&z, &mut _t4);
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n]);
    step(n, 2.5, &x[2 * n..3 * n], &mut _t3[0 * n..1 * n]);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p53(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    copy(&p, &mut y[1 * n..2 * n]);
    copy(&p, &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(n);
    let _t4 = alloc::<f32>(n + k);
    fill(&mut y[0 * n..1 * n], 7.0);
    let _t5 = made(n, &y[2 * n..4 * n][n..2 * n]);
    _t5
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p54(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 3.5, n);
    let _t3 = alloc::<f32>(2 * n);
    let _t4 = made(n, &y[1 * n..2 * n]);
    copy(&p, &mut y[2 * n..3 * n]);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p55(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](2.5, &y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    #[after(_t3)]
    copy(&x[2 * n..3 * n], &mut _t3[2 * n..3 * n]);
    let s3 = scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    copy(&y[1 * n..2 * n], &mut _t3[3 * n..4 * n]);
    #[after(s3)]
    let _t4 = alloc::<f32>(4 * n);
    axpy[((n + 127) / 128, 128)](a, &x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    copy(&p, &mut _t4[0 * n..1 * n]);
    for i in 0..2 {
        let _t5 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t5, n);
        axpy[((n + 127) / 128, 128)](2.5, &_t5, &mut y[i * n..(i + 1) * n], n);
        free(_t5);
    }
    #[after(s0)]
    let _t6 = alloc::<f32>(4 * n);
    free(_t3);
    scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    let _t7 = alloc::<f32>(n + k);
    free(_t4);
    copy(&x[2 * n..3 * n], &mut y[2 * n..3 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p56(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 2.5, n);
    fill(&mut y[2 * n..3 * n], 7.0);
    let _t3 = alloc::<f32>(4 * n);
    let s4 = copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    #[after(s4)]
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    let s6 = fill(&mut _t3[0 * n..1 * n], 3.0);
    let _t4 = made(n, &y[2 * n..4 * n][n..2 * n]);
    let _t5 = alloc::<f32>(4 * n);
    copy(&_t4, &mut _t5[3 * n..4 * n]);
    let _t6 = alloc::<f32>(2 * n);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(s6)]
    let _t7 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p57(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    let s1 = scale[per_item(n)](&mut y[2 * n..3 * n], 3.5, n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s1, s2)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s1)]
    fill(&mut y[2 * n..3 * n], 2.0);
    #[after(_t3)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p58(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[2 * n..3 * n], 2.5, n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(s0)]
    axpy[((n + 127) / 128, 128)](3.5, &x[1 * n..2 * n], &mut y[2 * n..3 * n], n);
}
