//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

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
