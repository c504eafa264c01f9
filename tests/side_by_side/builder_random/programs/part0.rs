//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p0(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    scale[per_item(n)](&mut y[3 * n..4 * n], 2.5, n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(s2)]
    let s3 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    #[after(s2)]
    copy(&p, &mut y[1 * n..2 * n]);
    #[after(s3)]
    let _t3 = alloc::<f32>(n);
    copy(&x[2 * n..4 * n][n..2 * n], &mut _t3);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p1(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    copy(&x[1 * n..2 * n], &mut y[2 * n..3 * n]);
    #[after(s0)]
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n]);
    let s3 = fill(&mut y[3 * n..4 * n], 5.0);
    #[after(s3)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
    let s5 = copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    copy(&p, &mut y[2 * n..3 * n]);
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    let s8 = add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s5)]
    let _t3 = alloc::<f32>(n + k);
    #[after(s8)]
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    let _t4 = alloc::<f32>(n);
    #[after(s3)]
    copy(&p, &mut y[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned", launches = "batched")]
pub fn p2(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(s0)]
    let s2 = copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    #[after(s0, s2)]
    let s3 = axpy[per_item(n)](a, &y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s0, s2, s3)]
    let s4 = copy(&p, &mut y[2 * n..3 * n]);
    #[after(s0, s2, s3, s4)]
    let s5 = set[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 1.5, n);
    #[after(_t3)]
    set[per_item(n)](&mut _t3[1 * n..2 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(s0, s2, s3, s4, s5)]
    set[per_item(n)](&mut y[2 * n..3 * n], a, n);
    let _t4 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes", launches = "overlapped", budget = 4096 * n)]
pub fn p3(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    #[after(s0)]
    let s1 = copy(&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0, s1)]
    let s2 = set[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    let _t3 = alloc::<f32>(n);
    let _t4 = alloc::<f32>(n);
    #[after(s0, s1, s2)]
    let s5 = copy(&p, &mut y[1 * n..2 * n]);
    #[after(s0, s1, s2, s5)]
    let s6 = fill(&mut y[2 * n..4 * n][n..2 * n], 7.0);
    #[after(s0, s1, s2, s5, s6)]
    let s7 = fill(&mut y[0 * n..1 * n], 4.0);
    #[after(_t4)]
    let s8 = copy(&p, &mut _t4);
    #[after(s0, s1, s2, _t4, s5, s6, s7, s8)]
    let s9 = copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut _t4, n);
    #[after(s0, s1, s2, s5, s6, s7, s9)]
    let s10 = fill(&mut y[2 * n..3 * n], 5.0);
    #[after(s0, s1, s2, s5, s6, s7, s9, s10)]
    let s11 = scale[per_item(n)](&mut y[2 * n..3 * n], 1.5, n);
    #[after(s0, s1, s2, s5, s6, s7, s9, s10, s11)]
    let s12 = scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    #[after(s0, s1, s2, s5, s6, s7, s9, s10, s11, s12)]
    let s13 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, s1, s2, _t3, s5, s6, s7, s10, s11, s12, s13)]
    copy_to[per_item(n)](&y[3 * n..4 * n], &mut _t3, n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p4(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&p, &mut y[3 * n..4 * n]);
    let _t3 = alloc::<f32>(4 * n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 2.5, n);
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    let _t4 = alloc::<f32>(4 * n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    let _t5 = alloc::<f32>(4 * n);
    let _t6 = alloc::<f32>(4 * n);
    let s8 = copy_to[per_item(n)](&x[0 * n..1 * n], &mut _t4[1 * n..2 * n], n);
    #[after(s0)]
    copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    let _t7 = alloc::<f32>(n);
    fill(&mut _t4[2 * n..4 * n][n..2 * n], 8.0);
    let _t8 = made(n, &x[2 * n..3 * n]);
    #[after(_t5, s8)]
    set[per_item(n)](&mut _t5[3 * n..4 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p5(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n);
    let _t4 = alloc::<f32>(4 * n);
    let s2 = fill(&mut y[3 * n..4 * n], 5.0);
    #[after(_t3)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut _t4[1 * n..2 * n], n);
    #[after(s2)]
    let _t5 = alloc::<f32>(n + k);
    #[after(_t4)]
    let s6 = copy(&x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s6)]
    free(_t3);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 3.5, n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p6(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(n + k);
    #[after(_t3)]
    let s1 = axpy[per_item(n)](a, &y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let s2 = scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s1)]
    let _t5 = alloc::<f32>(2 * n);
    #[after(_t4)]
    let _t6 = alloc::<f32>(n + k);
    #[after(s2)]
    free(_t3);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(_t4, _t6)]
    free(_t4);
    #[after(_t4)]
    let _t7 = made(n, &y[3 * n..4 * n]);
    _t7
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p7(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
    let s1 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    let s2 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    let s3 = set[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    #[after(s1)]
    let _t3 = alloc::<f32>(n);
    #[after(s3)]
    let _t4 = alloc::<f32>(n);
    axpy[per_item(n)](a, &y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s3)]
    let _t5 = alloc::<f32>(2 * n);
    #[after(s2, _t3)]
    set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], a, n);
    #[after(s2, _t5)]
    copy(&y[2 * n..3 * n], &mut _t5[1 * n..2 * n]);
    #[after(s2)]
    let _t6 = alloc::<f32>(n);
    #[after(_t5)]
    let _t7 = alloc::<f32>(n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p8(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](a, &x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n]);
    scale[per_item(n)](&mut y[3 * n..4 * n], 4.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p9(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    copy(&p, &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched")]
pub fn p10(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](1.5, &x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    step(n, 4.5, &x[2 * n..3 * n], &mut y[0 * n..1 * n]);
    let _t3 = alloc::<f32>(n + k);
    copy(&x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let _t4 = alloc::<f32>(n);
    #[after(s0)]
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    fill(&mut y[2 * n..3 * n], 4.0);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p11(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    let s1 = set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let s2 = copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut _t3[2 * n..4 * n][n..2 * n], n);
    #[after(s2)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    let _t4 = alloc::<f32>(4 * n);
    let _t5 = alloc::<f32>(2 * n);
    #[after(s1, s2)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    for i in 0..3 {
        let _t6 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t6, n);
        axpy[((n + 127) / 128, 128)](3.5, &_t6, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], 3.5, n);
    }
    let _t7 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes")]
pub fn p12(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    add_all[per_item(n)](atomic(&mut v), 4, n);
    let s1 = fill(&mut y[2 * n..4 * n][n..2 * n], 3.0);
    #[after(s1)]
    let s2 = axpy[((n + 127) / 128, 128)](3.5, &x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    #[after(s1, s2)]
    copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p13(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s0)]
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    #[after(_t3)]
    fill(&mut y[2 * n..3 * n], 8.0);
    copy_to[((n + 127) / 128, 128)](&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p14(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&y[2 * n..3 * n], &mut y[0 * n..1 * n]);
    let _t3 = alloc::<f32>(n);
    copy(&y[3 * n..4 * n], &mut y[0 * n..1 * n]);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p15(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    fill(&mut y[0 * n..1 * n], 7.0);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    copy(&p, &mut y[2 * n..3 * n]);
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    set[per_item(n)](&mut y[2 * n..3 * n], 4.5, n);
    let _t3 = alloc::<f32>(4 * n);
    let s6 = copy(&x[2 * n..3 * n], &mut _t3[1 * n..2 * n]);
    copy(&p, &mut _t3[1 * n..2 * n]);
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut _t3[3 * n..4 * n], n);
    #[after(s6)]
    axpy[((n + 127) / 128, 128)](a, &x[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(n + k);
    scale[per_item(n)](&mut _t3[3 * n..4 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena")]
pub fn p16(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(2 * n);
    let s1 = set[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let _t4 = alloc::<f32>(n);
    #[after(s1)]
    let s3 = copy(&y[2 * n..3 * n], &mut y[1 * n..2 * n]);
    #[after(s1, s3)]
    let s4 = axpy[((n + 127) / 128, 128)](a, &x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s1, s3, s4)]
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    #[after(_t4)]
    copy(&p, &mut _t4);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched")]
pub fn p17(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n + k);
    scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    let s2 = copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(_t3)]
    let s3 = copy(&p, &mut y[2 * n..3 * n]);
    copy(&p, &mut y[2 * n..3 * n]);
    let _t4 = alloc::<f32>(4 * n);
    let _t5 = alloc::<f32>(4 * n);
    #[after(_t4)]
    copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    #[after(s2, s3)]
    let _t6 = made(n, &y[2 * n..3 * n]);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..4 * n][n..2 * n], &mut _t4[0 * n..1 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "arena")]
pub fn p18(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(_t3)]
    fill(&mut _t3[1 * n..2 * n], 1.0);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written")]
pub fn p19(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n + k] {
    copy(&p, &mut y[0 * n..1 * n]);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    let s3 = fill(&mut y[2 * n..4 * n][n..2 * n], 5.0);
    let s4 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s4)]
    let s5 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s3)]
    let _t3 = alloc::<f32>(4 * n);
    let s7 = set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s7)]
    let s8 = scale[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let _t4 = alloc::<f32>(n + k);
    #[after(s4)]
    copy(&z, &mut _t4);
    #[after(s5, s8)]
    let _t5 = alloc::<f32>(n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched")]
pub fn p20(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&y[0 * n..1 * n], &mut y[3 * n..4 * n]);
    let _t3 = alloc::<f32>(4 * n);
    #[after(s0)]
    fill(&mut y[2 * n..3 * n], 2.0);
    axpy[per_item(n)](1.5, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[3 * n..4 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written", budget = 4096 * n)]
pub fn p21(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 3.5, n);
    axpy[per_item(n)](1.5, &x[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    fill(&mut y[3 * n..4 * n], 4.0);
    copy_to[per_item(n)](&y[1 * n..2 * n], &mut _t3[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p22(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = axpy[((n + 127) / 128, 128)](2.5, &y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    step(n, 1.5, &x[3 * n..4 * n], &mut y[3 * n..4 * n]);
    axpy[per_item(n)](a, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    let s5 = fill(&mut y[0 * n..1 * n], 6.0);
    #[after(s0)]
    let _t3 = alloc::<f32>(2 * n);
    #[after(s5)]
    copy(&p, &mut _t3[0 * n..1 * n]);
    let _t4 = alloc::<f32>(n);
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut _t4, n);
    #[after(_t4)]
    let _t5 = alloc::<f32>(n);
    let _t6 = alloc::<f32>(2 * n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned")]
pub fn p23(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    #[after(_t3)]
    let s1 = set[per_item(n)](&mut _t3[1 * n..2 * n], 4.5, n);
    #[after(_t3, s1)]
    let s2 = copy_to[per_item(n)](&x[0 * n..1 * n], &mut _t3[1 * n..2 * n], n);
    #[after(_t3, s1, s2)]
    axpy[per_item(n)](a, &x[2 * n..3 * n], &mut _t3[1 * n..2 * n], n);
    set[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p24(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&x[0 * n..1 * n], &mut y[0 * n..1 * n]);
    copy(&y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let s2 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    copy(&p, &mut y[0 * n..1 * n]);
    let s4 = copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    let s5 = copy(&p, &mut y[3 * n..4 * n]);
    copy(&p, &mut y[3 * n..4 * n]);
    axpy[per_item(n)](1.5, &x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s4, s5)]
    let s9 = axpy[per_item(n)](a, &x[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    let s10 = set[per_item(n)](&mut y[0 * n..1 * n], 3.5, n);
    #[after(s9)]
    scale[per_item(n)](&mut y[1 * n..2 * n], 2.5, n);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    #[after(s10)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(s2, _t3)]
    fill(&mut y[3 * n..4 * n], 6.0);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", budget = 4096 * n)]
pub fn p25(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    add_all[per_item(n)](atomic(&mut v), 2, n);
    axpy[per_item(n)](1.5, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let _t4 = made(n, &x[2 * n..4 * n][n..2 * n]);
    copy(&p, &mut y[0 * n..1 * n]);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    axpy[per_item(n)](3.5, &y[3 * n..4 * n], &mut _t4, n);
    let _t5 = alloc::<f32>(n);
    copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    set[per_item(n)](&mut _t5, a, n);
    let _t6 = alloc::<f32>(n);
    copy(&y[3 * n..4 * n], &mut y[2 * n..3 * n]);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p26(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    let _t3 = alloc::<f32>(2 * n);
    #[after(s0)]
    axpy[per_item(n)](a, &x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    #[after(s0)]
    copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut _t3[1 * n..2 * n], n);
    axpy[((n + 127) / 128, 128)](4.5, &y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p27(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](4.5, &x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], 2.5, n);
    let _t3 = alloc::<f32>(2 * n);
    scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "batched")]
pub fn p28(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy(&p, &mut y[2 * n..3 * n]);
    copy(&p, &mut y[1 * n..2 * n]);
    let _t3 = alloc::<f32>(2 * n);
}
