//! Generated: `UPDATE=1 cargo test --test builder_random` writes this file.

use super::*;

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

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p117(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        free(_t3);
    }
    let s1 = copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t4 = alloc::<f32>(n + k);
    let s3 = fill(&mut y[3 * n..4 * n], 2.0);
    let s4 = fill(&mut _t4, 2.0);
    axpy[per_item(n)](2.5, &x[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    #[after(s3)]
    let s6 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s4)]
    let s7 = set[per_item(n)](&mut y[3 * n..4 * n], a, n);
    #[after(_t4, s7)]
    let _t5 = made(n, &y[3 * n..4 * n]);
    for i in 0..1 {
        let _t6 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t6, n);
        axpy[((n + 127) / 128, 128)](a, &_t6, &mut y[i * n..(i + 1) * n], n);
    }
    #[after(s6)]
    axpy[per_item(n)](a, &_t5, &mut y[0 * n..1 * n], n);
    axpy[per_item(n)](2.5, &x[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    #[after(s1)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(s7)]
    let _t7 = alloc::<f32>(2 * n);
    free(_t4);
    _t5
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned")]
pub fn p118(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    let s1 = copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t4 = alloc::<f32>(n + k);
    #[after(s1)]
    let s3 = copy(&p, &mut y[1 * n..2 * n]);
    #[after(s1, s3)]
    let s4 = copy(&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s1, s3, s4)]
    let s5 = fill(&mut y[2 * n..3 * n], 1.0);
    add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s1, s3, s4, s5)]
    let s7 = copy(&p, &mut y[2 * n..3 * n]);
    #[after(s1, s3, s4, s5, s7)]
    set[per_item(n)](&mut y[2 * n..3 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p119(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[2 * n..3 * n], 1.5, n);
    let s1 = copy(&p, &mut y[2 * n..3 * n]);
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[0 * n..1 * n], n);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    axpy[((n + 127) / 128, 128)](a, &x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    for i in 0..3 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](4.5, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    let _t4 = alloc::<f32>(n + k);
    #[after(s1)]
    let _t5 = alloc::<f32>(4 * n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "nodes", launches = "overlapped")]
pub fn p120(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = fill(&mut y[1 * n..2 * n], 8.0);
    #[after(s0)]
    let s1 = scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 3.5, n);
    #[after(s0, s1)]
    let s2 = copy(&p, &mut y[2 * n..3 * n]);
    #[after(s0, s1, s2)]
    let s3 = copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    #[after(s0, s1, s2, s3)]
    let s4 = copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, s1, s2, s3, s4)]
    let s5 = copy(&x[2 * n..3 * n], &mut y[3 * n..4 * n]);
    #[after(s0, s1, s2, s3, s4, s5)]
    axpy[per_item(n)](a, &y[3 * n..4 * n], &mut y[1 * n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p121(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let s1 = axpy[per_item(n)](4.5, &x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let _t3 = made(n, &y[2 * n..3 * n]);
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut _t3, n);
    set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let _t4 = made(n, &x[1 * n..2 * n]);
    scale[per_item(n)](&mut _t4, a, n);
    let _t5 = alloc::<f32>(n + k);
    let _t6 = alloc::<f32>(4 * n);
    fill(&mut _t4, 3.0);
    let s10 = fill(&mut _t6[3 * n..4 * n], 8.0);
    let s11 = copy_to[((n + 127) / 128, 128)](&_t3, &mut _t6[1 * n..2 * n], n);
    #[after(s0, s10)]
    let s12 = set[per_item(n)](&mut y[1 * n..2 * n], a, n);
    #[after(s1)]
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s12)]
    copy(&p, &mut _t6[1 * n..2 * n]);
    #[after(s11)]
    scale[per_item(n)](&mut _t6[1 * n..2 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p122(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    let s1 = fill(&mut y[0 * n..1 * n], 1.0);
    let s2 = copy(&p, &mut y[2 * n..3 * n]);
    let s3 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 3.5, n);
    for i in 0..1 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
    }
    #[after(s0)]
    let _t4 = alloc::<f32>(4 * n);
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut _t4[2 * n..3 * n], n);
    let s8 = copy(&p, &mut _t4[1 * n..2 * n]);
    let _t5 = alloc::<f32>(n + k);
    #[after(s3)]
    axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    #[after(s0, s1, s2, s8)]
    scale[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    #[after(_t5)]
    let _t6 = alloc::<f32>(n);
    copy(&z, &mut _t5);
    #[after(s3, _t4)]
    set[per_item(n)](&mut _t4[2 * n..3 * n], a, n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p123(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    fill(&mut y[1 * n..2 * n], 3.0);
    axpy[((n + 127) / 128, 128)](4.5, &y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    let s3 = axpy[((n + 127) / 128, 128)](a, &x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    #[after(s3)]
    let _t3 = alloc::<f32>(4 * n);
    axpy[((n + 127) / 128, 128)](a, &y[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    #[after(s3)]
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    free(_t3);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", budget = 4096 * n)]
pub fn p124(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    copy(&x[2 * n..3 * n], &mut y[2 * n..3 * n]);
    let s1 = add_all[per_item(n)](atomic(&mut v), 2, n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = alloc::<f32>(n + k);
    let s5 = set[((n + 127) / 128, 128)](&mut _t3[2 * n..4 * n][n..2 * n], 1.5, n);
    #[after(s5)]
    let _t5 = alloc::<f32>(4 * n);
    let s7 = scale[per_item(n)](&mut y[2 * n..3 * n], 1.5, n);
    #[after(s1)]
    let s8 = add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(_t5)]
    let _t6 = made(n, &y[1 * n..2 * n]);
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut _t3[2 * n..3 * n], n);
    #[after(s1, s2, s7, s8)]
    let _t7 = alloc::<f32>(n);
    #[after(s2)]
    copy_to[per_item(n)](&y[3 * n..4 * n], &mut y[2 * n..3 * n], n);
    _t6
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "batched")]
pub fn p125(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    let s1 = copy_to[((n + 127) / 128, 128)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    let s2 = copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let s3 = axpy[per_item(n)](a, &x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    set[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    #[after(s1)]
    copy(&p, &mut y[2 * n..3 * n]);
    copy(&p, &mut y[0 * n..1 * n]);
    #[after(s2)]
    scale[per_item(n)](&mut y[1 * n..2 * n], 3.5, n);
    #[after(s3)]
    fill(&mut y[2 * n..4 * n][n..2 * n], 4.0);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "as-written")]
pub fn p126(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = alloc::<f32>(4 * n);
    axpy[per_item(n)](a, &x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t5 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p127(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let s0 = fill(&mut y[2 * n..3 * n], 0.0);
    #[after(s0)]
    let s1 = copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    copy(&p, &mut _t3);
    add_all[per_item(n)](atomic(&mut v), 1, n);
    let _t4 = alloc::<f32>(n + k);
    #[after(s0, s1)]
    let s6 = set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 4.5, n);
    let _t5 = alloc::<f32>(n + k);
    #[after(s0, s1, s6)]
    let s8 = copy(&p, &mut y[0 * n..1 * n]);
    let _t6 = alloc::<f32>(n + k);
    #[after(s0, s1, s6, s8)]
    let s10 = axpy[per_item(n)](a, &x[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let _t7 = alloc::<f32>(n + k);
    #[after(s0, s1, s6, s8, s10)]
    let s12 = copy(&p, &mut y[0 * n..1 * n]);
    #[after(s0, s1, s6, s8, s10, s12)]
    axpy[per_item(n)](3.5, &x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "batched")]
pub fn p128(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    axpy[per_item(n)](a, &y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    axpy[per_item(n)](2.5, &x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    let s2 = add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s2)]
    copy(&y[2 * n..3 * n], &mut y[3 * n..4 * n]);
    axpy[per_item(n)](3.5, &x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s2)]
    let s6 = copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s2)]
    let s7 = scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    for i in 0..3 {
        let _t4 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t4, n);
        axpy[((n + 127) / 128, 128)](a, &_t4, &mut y[i * n..(i + 1) * n], n);
        free(_t4);
    }
    free(_t3);
    #[after(s6, s7)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    #[after(s2)]
    let s11 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    set[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    #[after(s2, s11)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "as-written", budget = 4096 * n)]
pub fn p129(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    for i in 0..1 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    let _t4 = alloc::<f32>(n);
    let _t5 = alloc::<f32>(4 * n);
    for i in 0..1 {
        let _t6 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t6, n);
        axpy[per_item(n)](4.5, &_t6, &mut y[i * n..(i + 1) * n], n);
    }
    axpy[((n + 127) / 128, 128)](4.5, &y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let _t7 = alloc::<f32>(2 * n);
    let _t8 = alloc::<f32>(4 * n);
    #[after(_t4)]
    let s8 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    let _t9 = alloc::<f32>(n + k);
    #[after(s8)]
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 2.5, n);
    #[after(_t8)]
    let s12 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    #[after(_t5, s12)]
    fill(&mut _t4, 4.0);
    #[after(s8)]
    scale[per_item(n)](&mut y[2 * n..3 * n], 4.5, n);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p130(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[per_item(n)](a, &y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    step(n, a, &x[3 * n..4 * n], &mut y[2 * n..3 * n]);
    let _t3 = alloc::<f32>(n);
    let s3 = scale[per_item(n)](&mut y[2 * n..3 * n], 2.5, n);
    let s4 = add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s0)]
    let s5 = axpy[per_item(n)](a, &x[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n], n);
    axpy[per_item(n)](a, &x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    #[after(_t3, s3, s4)]
    let _t4 = alloc::<f32>(4 * n);
    set[((n + 127) / 128, 128)](&mut _t4[1 * n..2 * n], a, n);
    #[after(s0, _t4)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    copy(&p, &mut _t4[2 * n..3 * n]);
    for i in 0..3 {
        let _t5 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t5, n);
        axpy[per_item(n)](a, &_t5, &mut y[i * n..(i + 1) * n], n);
    }
    add_all[per_item(n)](atomic(&mut v), 4, n);
    let s13 = scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    #[after(_t3, s13)]
    let s14 = copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut _t4[1 * n..2 * n], n);
    #[after(s5, s14)]
    scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p131(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    fill(&mut y[2 * n..4 * n][n..2 * n], 5.0);
    let s1 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 3.5, n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    axpy[((n + 127) / 128, 128)](a, &x[0 * n..1 * n], &mut y[3 * n..4 * n], n);
    #[after(s1)]
    let _t3 = alloc::<f32>(n + k);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "overlapped")]
pub fn p132(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&p, &mut y[3 * n..4 * n]);
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut y[1 * n..2 * n], n);
    let s2 = scale[((n + 127) / 128, 128)](&mut y[0 * n..1 * n], a, n);
    let s3 = axpy[per_item(n)](3.5, &y[1 * n..2 * n], &mut y[2 * n..3 * n], n);
    let s4 = scale[per_item(n)](&mut y[2 * n..3 * n], a, n);
    #[after(s0)]
    let _t3 = alloc::<f32>(n);
    step(n, 1.5, &y[0 * n..1 * n], &mut y[2 * n..3 * n]);
    #[after(s0, s2)]
    let _t4 = alloc::<f32>(2 * n);
    copy(&p, &mut y[0 * n..1 * n]);
    #[after(s3)]
    set[per_item(n)](&mut _t4[1 * n..2 * n], 2.5, n);
    #[after(s4)]
    let _t5 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p133(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> ([f32; n], [f32; n]) {
    let s0 = copy(&p, &mut y[3 * n..4 * n]);
    let s1 = copy(&p, &mut y[2 * n..3 * n]);
    copy_to[per_item(n)](&y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = made(n, &y[1 * n..2 * n]);
    let _t5 = alloc::<f32>(4 * n);
    #[after(s0, s1)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut _t3[1 * n..2 * n], n);
    let _t6 = made(n, &y[2 * n..4 * n][n..2 * n]);
    let _t7 = alloc::<f32>(4 * n);
    #[after(s1)]
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut _t3[1 * n..2 * n], n);
    for i in 0..2 {
        let _t8 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t8, n);
        axpy[((n + 127) / 128, 128)](a, &_t8, &mut y[i * n..(i + 1) * n], n);
    }
    add_all[per_item(n)](atomic(&mut v), 1, n);
    for i in 0..2 {
        let _t9 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t9, n);
        axpy[per_item(n)](3.5, &_t9, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], 3.5, n);
    }
    #[after(s1)]
    let _t10 = made(n, &_t4);
    #[after(s0, _t5)]
    copy(&y[2 * n..3 * n], &mut _t5[0 * n..1 * n]);
    (_t4, _t6)
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p134(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    let _t3 = alloc::<f32>(n);
    let _t4 = alloc::<f32>(2 * n);
    copy(&p, &mut _t4[1 * n..2 * n]);
    let _t5 = alloc::<f32>(4 * n);
    #[after(_t3, _t5)]
    let s4 = copy_to[((n + 127) / 128, 128)](&_t4[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    copy(&x[2 * n..4 * n][n..2 * n], &mut _t3);
    let _t6 = alloc::<f32>(n);
    let s7 = copy(&p, &mut _t4[0 * n..1 * n]);
    #[after(_t6)]
    fill(&mut _t5[2 * n..4 * n][n..2 * n], 2.0);
    let _t7 = alloc::<f32>(4 * n);
    #[after(s7)]
    let _t8 = made(n, &_t5[3 * n..4 * n]);
    scale[per_item(n)](&mut _t4[0 * n..1 * n], a, n);
    let _t9 = alloc::<f32>(4 * n);
    #[after(s4, _t6)]
    add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s7, _t9)]
    let _t10 = alloc::<f32>(4 * n);
    set[((n + 127) / 128, 128)](&mut _t10[0 * n..1 * n], 4.5, n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena", launches = "overlapped")]
pub fn p135(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[3 * n..4 * n], 1.5, n);
    let s1 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](a, &_t3, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
        free(_t3);
    }
    let s3 = axpy[per_item(n)](a, &x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    let _t4 = alloc::<f32>(n + k);
    let _t5 = alloc::<f32>(2 * n);
    axpy[per_item(n)](a, &y[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    #[after(s0, s1)]
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    let _t6 = alloc::<f32>(4 * n);
    copy_to[((n + k + 127) / 128, 128)](&z, &mut _t4, n + k);
    let _t7 = alloc::<f32>(2 * n);
    #[after(_t4)]
    let _t8 = alloc::<f32>(2 * n);
    #[after(_t5)]
    let s12 = fill(&mut _t4, 5.0);
    #[after(s1, _t4, s12)]
    fill(&mut _t5[0 * n..1 * n], 3.0);
    for i in 0..2 {
        let _t9 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t9, n);
        axpy[per_item(n)](a, &_t9, &mut y[i * n..(i + 1) * n], n);
    }
    #[after(s3)]
    free(_t4);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p136(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = axpy[((n + 127) / 128, 128)](a, &y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    let s1 = copy(&y[0 * n..1 * n], &mut y[2 * n..4 * n][n..2 * n]);
    add_all[per_item(n)](atomic(&mut v), 0, n);
    #[after(s1)]
    set[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], a, n);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0)]
    copy(&p, &mut y[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned")]
pub fn p137(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    step(n, 1.5, &y[1 * n..2 * n], &mut y[2 * n..3 * n]);
    let s1 = axpy[((n + 127) / 128, 128)](a, &x[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s1)]
    let _t3 = alloc::<f32>(n + k);
    set[per_item(n)](&mut y[0 * n..1 * n], 2.5, n);
    copy_to[per_item(n)](&x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    let _t4 = alloc::<f32>(2 * n);
    #[after(_t3)]
    add_all[per_item(n)](atomic(&mut v), 0, n);
    fill(&mut _t4[0 * n..1 * n], 4.0);
    step(n, 3.5, &x[0 * n..1 * n], &mut y[2 * n..3 * n]);
}

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

#[rustfmt::skip]
#[cuweave::graph(launches = "overlapped")]
pub fn p186(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = alloc::<f32>(4 * n);
    add_all[per_item(n)](atomic(&mut v), 4, n);
    free(_t3);
    let s4 = fill(&mut _t4[2 * n..3 * n], 5.0);
    let s5 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut _t4[2 * n..3 * n], n);
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    #[after(s5)]
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 2.5, n);
    let _t5 = alloc::<f32>(4 * n);
    #[after(s4)]
    let _t6 = made(n, &x[2 * n..3 * n]);
    #[after(_t5)]
    step(n, a, &y[1 * n..2 * n], &mut _t6);
    let s11 = set[per_item(n)](&mut _t5[1 * n..2 * n], a, n);
    #[after(_t4)]
    let _t7 = alloc::<f32>(n + k);
    #[after(s11)]
    copy(&z, &mut _t7);
    #[after(_t4)]
    let s14 = add_all[per_item(n)](atomic(&mut v), 2, n);
    #[after(_t4, s14)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut _t4[2 * n..3 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", launches = "overlapped")]
pub fn p187(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[1 * n..2 * n], n);
    #[after(s0)]
    let s1 = scale[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    #[after(s0, s1)]
    let s2 = copy_to[per_item(n)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, s1, s2)]
    let s3 = axpy[((n + 127) / 128, 128)](a, &y[2 * n..4 * n][n..2 * n], &mut y[2 * n..3 * n], n);
    #[after(s0, s1, s2, s3)]
    let s4 = copy(&x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0, s1, s2, s3, s4)]
    let s5 = copy(&x[1 * n..2 * n], &mut y[1 * n..2 * n]);
    #[after(s0, s1, s2, s3, s4, s5)]
    let s6 = scale[per_item(n)](&mut y[1 * n..2 * n], 1.5, n);
    #[after(s0, s1, s2, s3, s4, s5, s6)]
    let s7 = copy(&y[2 * n..4 * n][n..2 * n], &mut y[0 * n..1 * n]);
    add_all[per_item(n)](atomic(&mut v), 2, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s0, s1, s2, s3, s4, s5, s6, s7)]
    copy_to[per_item(n)](&x[2 * n..3 * n], &mut y[0 * n..1 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p188(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 3.5, n);
    let s1 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    copy(&p, &mut y[1 * n..2 * n]);
    scale[per_item(n)](&mut y[0 * n..1 * n], 4.5, n);
    let s4 = axpy[per_item(n)](4.5, &y[2 * n..3 * n], &mut y[0 * n..1 * n], n);
    let s5 = scale[per_item(n)](&mut y[2 * n..3 * n], 4.5, n);
    let s6 = copy(&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n]);
    #[after(s1)]
    let _t3 = alloc::<f32>(2 * n);
    #[after(s4, _t3)]
    copy_to[per_item(n)](&x[0 * n..1 * n], &mut _t3[0 * n..1 * n], n);
    axpy[per_item(n)](1.5, &x[2 * n..3 * n], &mut y[2 * n..3 * n], n);
    let _t4 = alloc::<f32>(n + k);
    copy(&y[0 * n..1 * n], &mut _t3[0 * n..1 * n]);
    #[after(s5, s6, _t4)]
    copy(&p, &mut y[2 * n..3 * n]);
    axpy[per_item(n)](2.5, &x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned", launches = "as-written", budget = 4096 * n)]
pub fn p189(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = copy(&x[3 * n..4 * n], &mut y[2 * n..3 * n]);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    let _t3 = alloc::<f32>(n + k);
    #[after(s0)]
    let s3 = fill(&mut y[3 * n..4 * n], 4.0);
    #[after(s0, s3)]
    copy(&p, &mut y[0 * n..1 * n]);
    #[after(_t3)]
    free(_t3);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p190(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    for i in 0..4 {
        let _t3 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[((n + 127) / 128, 128)](1.5, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    let s1 = copy_to[per_item(n)](&y[3 * n..4 * n], &mut y[1 * n..2 * n], n);
    let _t4 = alloc::<f32>(4 * n);
    #[after(s1)]
    let s3 = add_all[per_item(n)](atomic(&mut v), 0, n);
    let s4 = axpy[per_item(n)](a, &x[2 * n..4 * n][n..2 * n], &mut y[3 * n..4 * n], n);
    #[after(s3)]
    add_all[per_item(n)](atomic(&mut v), 2, n);
    copy_to[((n + 127) / 128, 128)](&y[2 * n..3 * n], &mut _t4[0 * n..1 * n], n);
    #[after(s4)]
    scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], a, n);
    copy(&x[1 * n..2 * n], &mut _t4[2 * n..4 * n][n..2 * n]);
    #[after(s4)]
    copy_to[((n + 127) / 128, 128)](&x[0 * n..1 * n], &mut _t4[2 * n..4 * n][n..2 * n], n);
}

#[rustfmt::skip]
#[cuweave::graph]
pub fn p191(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n + k);
    copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    copy(&x[3 * n..4 * n], &mut y[1 * n..2 * n]);
    scale[per_item(n)](&mut y[3 * n..4 * n], 2.5, n);
    axpy[per_item(n)](2.5, &x[1 * n..2 * n], &mut y[0 * n..1 * n], n);
    fill(&mut y[2 * n..3 * n], 6.0);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p192(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    add_all[per_item(n)](atomic(&mut v), 2, n);
    let s1 = copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    let s2 = copy(&p, &mut y[2 * n..3 * n]);
    let _t3 = made(n, &x[3 * n..4 * n]);
    let s4 = axpy[per_item(n)](4.5, &y[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    #[after(s2)]
    let s5 = add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s1)]
    let s6 = copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s5)]
    let s7 = copy(&p, &mut y[2 * n..3 * n]);
    let _t4 = alloc::<f32>(n + k);
    #[after(s7)]
    let _t5 = alloc::<f32>(n);
    #[after(s7)]
    let s10 = copy(&p, &mut y[1 * n..2 * n]);
    #[after(s4)]
    copy_to[((n + 127) / 128, 128)](&y[1 * n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], 3.5, n);
    #[after(s2, s6, s10)]
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    _t3
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit", memory = "owned", launches = "as-written")]
pub fn p193(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    let _t3 = alloc::<f32>(n);
    #[after(s0)]
    let s2 = copy(&p, &mut y[2 * n..4 * n][n..2 * n]);
    #[after(s0, s2)]
    let s3 = axpy[((n + 127) / 128, 128)](3.5, &y[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    #[after(s0, s2, s3)]
    let s4 = axpy[per_item(n)](2.5, &y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    #[after(s0, s2, s3, s4)]
    let s5 = axpy[((n + 127) / 128, 128)](a, &y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    let _t4 = alloc::<f32>(n + k);
    let _t5 = alloc::<f32>(n + k);
    #[after(s0, s2, s3, s4, s5)]
    let s8 = axpy[per_item(n)](4.5, &x[3 * n..4 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    #[after(s0, s2, s3, s4, s5, s8)]
    scale[per_item(n)](&mut y[0 * n..1 * n], 4.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes", launches = "overlapped")]
pub fn p194(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(2 * n);
    let s1 = scale[((n + 127) / 128, 128)](&mut y[2 * n..4 * n][n..2 * n], 1.5, n);
    #[after(_t3)]
    let s2 = copy(&p, &mut y[0 * n..1 * n]);
    #[after(s2)]
    copy(&p, &mut y[2 * n..3 * n]);
    let s4 = scale[per_item(n)](&mut y[2 * n..4 * n][n..2 * n], 4.5, n);
    #[after(s1)]
    let s5 = copy(&p, &mut y[0 * n..1 * n]);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(2 * n);
    #[after(s1)]
    let s8 = copy(&y[2 * n..3 * n], &mut _t3[0 * n..1 * n]);
    #[after(_t4)]
    let _t6 = alloc::<f32>(4 * n);
    #[after(s5)]
    axpy[per_item(n)](a, &x[1 * n..2 * n], &mut y[3 * n..4 * n], n);
    #[after(s8)]
    let _t7 = alloc::<f32>(2 * n);
    copy(&x[2 * n..4 * n][n..2 * n], &mut y[2 * n..4 * n][n..2 * n]);
    #[after(_t3)]
    let _t8 = alloc::<f32>(n + k);
    #[after(s4, _t6)]
    set[((n + 127) / 128, 128)](&mut _t6[2 * n..3 * n], 2.5, n);
    copy(&p, &mut y[1 * n..2 * n]);
}

#[rustfmt::skip]
#[cuweave::graph(order = "explicit")]
pub fn p195(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[((n + 127) / 128, 128)](&mut y[1 * n..2 * n], a, n);
    #[after(s0)]
    let s1 = scale[per_item(n)](&mut y[3 * n..4 * n], a, n);
    #[after(s0, s1)]
    let s2 = set[per_item(n)](&mut y[2 * n..3 * n], a, n);
    add_all[per_item(n)](atomic(&mut v), 3, n);
    #[after(s0, s1, s2)]
    copy_to[per_item(n)](&x[2 * n..4 * n][n..2 * n], &mut y[1 * n..2 * n], n);
    let _t3 = alloc::<f32>(4 * n);
    let _t4 = alloc::<f32>(2 * n);
    let _t5 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(launches = "batched")]
pub fn p196(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let s0 = scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], a, n);
    scale[per_item(n)](&mut y[1 * n..2 * n], 4.5, n);
    let s2 = scale[per_item(n)](&mut y[0 * n..1 * n], a, n);
    #[after(s0)]
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[2 * n..4 * n][n..2 * n], n);
    let s4 = add_all[per_item(n)](atomic(&mut v), 4, n);
    #[after(s4)]
    copy(&p, &mut y[2 * n..3 * n]);
    #[after(s2)]
    axpy[per_item(n)](1.5, &y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    let _t3 = alloc::<f32>(2 * n);
    copy(&x[2 * n..3 * n], &mut _t3[1 * n..2 * n]);
    #[after(s0)]
    copy(&p, &mut y[3 * n..4 * n]);
    copy(&p, &mut _t3[0 * n..1 * n]);
    #[after(s0)]
    let _t4 = alloc::<f32>(n);
    #[after(_t3)]
    let _t5 = alloc::<f32>(n + k);
    copy(&x[2 * n..3 * n], &mut y[1 * n..2 * n]);
    #[after(_t5)]
    set[((n + 127) / 128, 128)](&mut _t3[0 * n..1 * n], 1.5, n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "owned", launches = "as-written")]
pub fn p197(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n + k);
    let s1 = copy_to[((n + 127) / 128, 128)](&x[1 * n..2 * n], &mut y[1 * n..2 * n], n);
    let s2 = copy(&p, &mut y[0 * n..1 * n]);
    let _t4 = alloc::<f32>(n + k);
    let _t5 = alloc::<f32>(4 * n);
    #[after(_t3, s2)]
    copy_to[per_item(n)](&y[2 * n..4 * n][n..2 * n], &mut _t5[3 * n..4 * n], n);
    axpy[per_item(n)](3.5, &y[0 * n..1 * n], &mut _t5[3 * n..4 * n], n);
    copy_to[((n + 127) / 128, 128)](&x[3 * n..4 * n], &mut _t5[3 * n..4 * n], n);
    let _t6 = alloc::<f32>(n + k);
    #[after(_t4)]
    copy_to[per_item(n)](&x[1 * n..2 * n], &mut _t5[1 * n..2 * n], n);
    #[after(s2)]
    let _t7 = alloc::<f32>(n + k);
    #[after(s1, _t5, _t6, _t7)]
    let s11 = set[per_item(n)](&mut y[3 * n..4 * n], 3.5, n);
    #[after(s11)]
    let _t8 = alloc::<f32>(2 * n);
}

#[rustfmt::skip]
#[cuweave::graph(memory = "nodes")]
pub fn p198(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) -> [f32; n] {
    copy_to[per_item(n)](&y[2 * n..3 * n], &mut y[3 * n..4 * n], n);
    let s1 = copy_to[((n + 127) / 128, 128)](&y[0 * n..1 * n], &mut y[2 * n..3 * n], n);
    fill(&mut y[3 * n..4 * n], 5.0);
    #[after(s1)]
    scale[per_item(n)](&mut y[1 * n..2 * n], a, n);
    for i in 0..2 {
        let _t3 = alloc::<f32>(n);
        copy_to[per_item(n)](&x[i * n..(i + 1) * n], &mut _t3, n);
        axpy[per_item(n)](1.5, &_t3, &mut y[i * n..(i + 1) * n], n);
    }
    let _t4 = made(n, &y[0 * n..1 * n]);
    let _t5 = alloc::<f32>(n);
    _t4
}

#[rustfmt::skip]
#[cuweave::graph(memory = "arena")]
pub fn p199(n: u32, k: u32, a: f32, x: &[f32; 4 * n], z: &[f32; n + k], y: &mut [f32; 4 * n], v: &mut [u32; n], p: &Pinned<[f32; n]>) {
    let _t3 = alloc::<f32>(n);
    #[after(_t3)]
    let _t4 = alloc::<f32>(n + k);
    for i in 0..2 {
        let _t5 = alloc::<f32>(n);
        copy_to[((n + 127) / 128, 128)](&x[i * n..(i + 1) * n], &mut _t5, n);
        axpy[((n + 127) / 128, 128)](a, &_t5, &mut y[i * n..(i + 1) * n], n);
        scale[per_item(n)](&mut y[i * n..(i + 1) * n], a, n);
    }
    let s3 = axpy[per_item(n)](1.5, &x[3 * n..4 * n], &mut y[0 * n..1 * n], n);
    let _t6 = alloc::<f32>(n + k);
    #[after(_t4)]
    let _t7 = alloc::<f32>(2 * n);
    #[after(_t7)]
    let s6 = copy(&p, &mut _t7[0 * n..1 * n]);
    let s7 = scale[((n + 127) / 128, 128)](&mut y[2 * n..3 * n], 1.5, n);
    scale[((n + 127) / 128, 128)](&mut y[3 * n..4 * n], 3.5, n);
    #[after(_t3, s7)]
    scale[per_item(n)](&mut _t7[0 * n..1 * n], a, n);
    #[after(s3)]
    let _t8 = alloc::<f32>(n + k);
    #[after(_t7)]
    scale[per_item(n)](&mut _t7[0 * n..1 * n], a, n);
    copy(&z, &mut _t4);
    #[after(_t4, _t6, s6)]
    let _t9 = alloc::<f32>(4 * n);
}

/// Builds the program of a number, and runs it.
pub fn run(number: u64, bench: &mut Bench) -> cuweave::Result<Seen> {
    let Bench { device, x, z, y, v, p, out, .. } = bench;
    match number {
        0 => seen(p0(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        1 => seen(p1(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        2 => seen(p2(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        3 => seen(p3(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        4 => seen(p4(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        5 => seen(p5(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        6 => seen(p6(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        7 => seen(p7(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        8 => seen(p8(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        9 => seen(p9(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        10 => seen(p10(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        11 => seen(p11(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        12 => seen(p12(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        13 => seen(p13(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        14 => seen(p14(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        15 => seen(p15(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        16 => seen(p16(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        17 => seen(p17(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        18 => seen(p18(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        19 => seen(p19(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        20 => seen(p20(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        21 => seen(p21(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        22 => seen(p22(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        23 => seen(p23(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        24 => seen(p24(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        25 => seen(p25(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        26 => seen(p26(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        27 => seen(p27(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        28 => seen(p28(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        29 => seen(p29(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        30 => seen(p30(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        31 => seen(p31(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        32 => seen(p32(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        33 => seen(p33(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        34 => seen(p34(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        35 => seen(p35(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        36 => seen(p36(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        37 => seen(p37(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        38 => seen(p38(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        39 => seen(p39(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        40 => seen(p40(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        41 => seen(p41(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        42 => seen(p42(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        43 => seen(p43(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        44 => seen(p44(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        45 => seen(p45(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        46 => seen(p46(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        47 => seen(p47(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        48 => seen(p48(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        49 => seen(p49(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        50 => seen(p50(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        51 => seen(p51(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        52 => seen(p52(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        53 => seen(p53(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        54 => seen(p54(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        55 => seen(p55(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        56 => seen(p56(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        57 => seen(p57(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        58 => seen(p58(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        59 => seen(p59(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        60 => seen(p60(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        61 => seen(p61(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        62 => seen(p62(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        63 => seen(p63(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        64 => seen(p64(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        65 => seen(p65(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        66 => seen(p66(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        67 => seen(p67(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        68 => seen(p68(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        69 => seen(p69(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        70 => seen(p70(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        71 => seen(p71(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        72 => seen(p72(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        73 => seen(p73(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        74 => seen(p74(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        75 => seen(p75(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        76 => seen(p76(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        77 => seen(p77(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        78 => seen(p78(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        79 => seen(p79(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        80 => seen(p80(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        81 => seen(p81(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        82 => seen(p82(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        83 => seen(p83(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        84 => seen(p84(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        85 => seen(p85(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        86 => seen(p86(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        87 => seen(p87(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        88 => seen(p88(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        89 => seen(p89(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        90 => seen(p90(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        91 => seen(p91(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        92 => seen(p92(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        93 => seen(p93(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        94 => seen(p94(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        95 => seen(p95(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        96 => seen(p96(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        97 => seen(p97(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        98 => seen(p98(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        99 => seen(p99(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        100 => seen(p100(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        101 => seen(p101(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        102 => seen(p102(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        103 => seen(p103(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        104 => seen(p104(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        105 => seen(p105(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        106 => seen(p106(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        107 => seen(p107(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        108 => seen(p108(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        109 => seen(p109(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        110 => seen(p110(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        111 => seen(p111(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        112 => seen(p112(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        113 => seen(p113(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        114 => seen(p114(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        115 => seen(p115(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        116 => seen(p116(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        117 => seen(p117(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        118 => seen(p118(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        119 => seen(p119(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        120 => seen(p120(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        121 => seen(p121(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        122 => seen(p122(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        123 => seen(p123(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        124 => seen(p124(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        125 => seen(p125(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        126 => seen(p126(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        127 => seen(p127(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        128 => seen(p128(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        129 => seen(p129(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        130 => seen(p130(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        131 => seen(p131(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        132 => seen(p132(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        133 => seen(p133(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        134 => seen(p134(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        135 => seen(p135(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        136 => seen(p136(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        137 => seen(p137(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        138 => seen(p138(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        139 => seen(p139(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        140 => seen(p140(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        141 => seen(p141(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        142 => seen(p142(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        143 => seen(p143(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        144 => seen(p144(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        145 => seen(p145(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        146 => seen(p146(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        147 => seen(p147(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        148 => seen(p148(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        149 => seen(p149(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        150 => seen(p150(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        151 => seen(p151(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        152 => seen(p152(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        153 => seen(p153(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        154 => seen(p154(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        155 => seen(p155(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        156 => seen(p156(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        157 => seen(p157(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        158 => seen(p158(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        159 => seen(p159(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        160 => seen(p160(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        161 => seen(p161(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        162 => seen(p162(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        163 => seen(p163(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        164 => seen(p164(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        165 => seen(p165(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        166 => seen(p166(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        167 => seen(p167(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        168 => seen(p168(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        169 => seen(p169(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        170 => seen(p170(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        171 => seen(p171(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        172 => seen(p172(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        173 => seen(p173(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        174 => seen(p174(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        175 => seen(p175(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        176 => seen(p176(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        177 => seen(p177(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        178 => seen(p178(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        179 => seen(p179(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        180 => seen(p180(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        181 => seen(p181(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        182 => seen(p182(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        183 => seen(p183(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        184 => seen(p184(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        185 => seen(p185(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        186 => seen(p186(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        187 => seen(p187(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        188 => seen(p188(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        189 => seen(p189(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        190 => seen(p190(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        191 => seen(p191(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        192 => seen(p192(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        193 => seen(p193(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        194 => seen(p194(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        195 => seen(p195(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        196 => seen(p196(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        197 => seen(p197(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        198 => seen(p198(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        199 => seen(p199(&device.ctx, N, K, A, &*x, &*z, &mut *y, &mut *v, &*p), &device.stream, out),
        _ => unreachable!("there are as many programs"),
    }
}
