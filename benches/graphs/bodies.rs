//! Kernels and a U-Net that two benchmarks use with different options.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/shapes.ptx")]
unsafe extern "ptx-kernel" {
    pub fn conv(
        x: &[f32; c * s * s],
        w: &[f32; m * c * k * k],
        y: &mut [MaybeUninit<f32>; m * s * s],
        c: u32,
        m: u32,
        s: u32,
        k: u32,
    );
    pub fn shrink(x: &[f32; 4 * c * s * s], y: &mut [MaybeUninit<f32>; c * s * s], c: u32, s: u32);
    pub fn grow(x: &[f32; c * s * s], y: &mut [MaybeUninit<f32>; 4 * c * s * s], c: u32, s: u32);
    pub fn laplace(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    pub fn dots(a: &[f32; n], b: &[f32; n], sums: &mut [MaybeUninit<f32>; k], k: u32, n: u32);
    pub fn total(sums: &[f32; k], total: &mut [MaybeUninit<f32>; 1], k: u32);
    pub fn step(over: &[f32; 1], under: &[f32; 1], sign: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    pub fn turn(over: &[f32; 1], under: &[f32; 1], r: &[f32; n], p: &mut [f32; n], n: u32);
    pub fn butterfly(
        a: &[f32; n],
        b: &[f32; n],
        c: &mut [MaybeUninit<f32>; n],
        d: &mut [MaybeUninit<f32>; n],
        w: f32,
        n: u32,
    );
    pub fn blend(t: &[f32; n], x: &mut [f32; n], n: u32);
}

/// Defines a U-Net by the attribute and the name of its function.
macro_rules! unet {
    ($(#[$graph:meta] $name:ident)*) => {$(
        /// Three levels down and up again, with `c` channels of `4 s` squared at the top. Each level up also reads
        /// the result of the same level on the way down.
        #[$graph]
        pub fn $name(c: u32, s: u32, w: &[f32; 18 * c * c], x: &mut [f32; 16 * c * s * s]) {
            let top = alloc::<f32>(16 * c * s * s);
            let e0 = alloc::<f32>(16 * c * s * s);
            conv[per_item(16 * c * s * s)](&x, &w, &mut top, c, c, 4 * s, 3);
            conv[per_item(16 * c * s * s)](&top, &w, &mut e0, c, c, 4 * s, 3);
            let p1 = alloc::<f32>(4 * c * s * s);
            shrink[per_item(4 * c * s * s)](&e0, &mut p1, c, 2 * s);
            let middle = alloc::<f32>(4 * c * s * s);
            let e1 = alloc::<f32>(4 * c * s * s);
            conv[per_item(4 * c * s * s)](&p1, &w, &mut middle, c, c, 2 * s, 3);
            conv[per_item(4 * c * s * s)](&middle, &w, &mut e1, c, c, 2 * s, 3);
            let p2 = alloc::<f32>(c * s * s);
            shrink[per_item(c * s * s)](&e1, &mut p2, c, s);
            let low = alloc::<f32>(c * s * s);
            let bottom = alloc::<f32>(c * s * s);
            conv[per_item(c * s * s)](&p2, &w, &mut low, c, c, s, 3);
            conv[per_item(c * s * s)](&low, &w, &mut bottom, c, c, s, 3);
            let join1 = alloc::<f32>(8 * c * s * s);
            copy(&e1, &mut join1[0..4 * c * s * s]);
            grow[per_item(4 * c * s * s)](&bottom, &mut join1[4 * c * s * s..8 * c * s * s], c, s);
            let d1 = alloc::<f32>(4 * c * s * s);
            conv[per_item(4 * c * s * s)](&join1, &w, &mut d1, 2 * c, c, 2 * s, 3);
            let join0 = alloc::<f32>(32 * c * s * s);
            copy(&e0, &mut join0[0..16 * c * s * s]);
            grow[per_item(16 * c * s * s)](&d1, &mut join0[16 * c * s * s..32 * c * s * s], c, 2 * s);
            let d0 = alloc::<f32>(16 * c * s * s);
            conv[per_item(16 * c * s * s)](&join0, &w, &mut d0, 2 * c, c, 4 * s, 3);
            conv[per_item(16 * c * s * s)](&d0, &w, &mut x, c, c, 4 * s, 3);
        }
    )*};
}
