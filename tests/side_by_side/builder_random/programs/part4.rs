//! Generated: `UPDATE=1 cargo test --test side_by_side builder_random` writes this file.

use super::super::*;

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
