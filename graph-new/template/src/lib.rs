//! A signal, softened twice and scaled, as one CUDA graph.

use cuweave::prelude::*;

#[cuweave::kernels("kernels/soften.cu")]
unsafe extern "ptx-kernel" {
    /// y[i] = the mean of x[i] and its neighbours.
    fn blur(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    /// x = factor * x
    fn scale(x: &mut [f32; n], factor: f32, n: u32);
}

/// out = factor * blur(blur(x))
#[cuweave::graph]
pub fn soften(n: u32, factor: f32, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    let once = alloc::<f32>(n);
    blur[per_item(n)](&x, &mut once, n);
    blur[per_item(n)](&once, &mut out, n);
    scale[per_item(n)](&mut out, factor, n);
}
