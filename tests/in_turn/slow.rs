//! Graphs that begin with a slow kernel: 400,000 rounds take about two milliseconds on a GPU.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    pub fn spin(out: &mut [MaybeUninit<u32>; 1], rounds: u32);
}

/// out = x, delayed.
#[cuweave::graph]
pub fn late(n: u32, rounds: u32, x: &[f32; n], ticket: &mut [u32; 1], out: &mut [f32; n]) {
    let wait = spin[(1, 1)](&mut ticket, rounds);
    #[after(wait)]
    copy(&x, &mut out);
}

/// The result is x, delayed.
#[cuweave::graph]
pub fn late_out(n: u32, rounds: u32, x: &[f32; n], ticket: &mut [u32; 1]) -> [f32; n] {
    let h = alloc::<f32>(n);
    let wait = spin[(1, 1)](&mut ticket, rounds);
    #[after(wait)]
    copy(&x, &mut h);
    h
}
