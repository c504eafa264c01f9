//! Conjugate gradients on a 2D grid with a fixed number of iterations, and steps of a stencil on a 3D grid.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/grids.ptx")]
unsafe extern "ptx-kernel" {
    /// q = A · p, for the Laplacian with zeros at the boundary, and p · q of each block.
    fn laplace(
        p: &[f32; nx * ny],
        q: &mut [MaybeUninit<f32>; nx * ny],
        parts: &mut [MaybeUninit<f32>; blocks],
        nx: u32,
        ny: u32,
        blocks: u32,
    );
    /// Computes r · r of each block.
    fn square(r: &[f32; n], parts: &mut [MaybeUninit<f32>; blocks], n: u32, blocks: u32);
    /// x += alpha · p, r -= alpha · q, and the new r · r of each block.
    fn advance(
        x: &mut [f32; n],
        r: &mut [f32; n],
        p: &[f32; n],
        q: &[f32; n],
        rr: &[f32; blocks],
        pq: &[f32; blocks],
        parts: &mut [MaybeUninit<f32>; blocks],
        n: u32,
        blocks: u32,
    );
    /// p = r + p · (new r · r) / (old r · r)
    fn redirect(
        p: &mut [f32; n],
        r: &[f32; n],
        old: &[f32; blocks],
        now: &[f32; blocks],
        n: u32,
        blocks: u32,
    );
    /// out = u + factor · (the sum of the six neighbours - 6 · u) inside the grid, and u on its surface.
    fn stencil(
        u: &[f32; (4 * fours) * ny * nz],
        out: &mut [MaybeUninit<f32>; (4 * fours) * ny * nz],
        fours: u32,
        ny: u32,
        nz: u32,
        factor: f32,
    );
}

each_side! {
    /// Runs `iterations` iterations for A · x = b, starting with x = 0. `blocks` is the number of blocks of 256
    /// points.
    graph[] fn gradients(nx: u32, ny: u32, blocks: u32, iterations: u32, b: &[f32; nx * ny], x: &mut [f32; nx * ny]) {
        let n = nx * ny;
        let r = alloc::<f32>(nx * ny);
        let p = alloc::<f32>(nx * ny);
        let q = alloc::<f32>(nx * ny);
        let old = alloc::<f32>(blocks);
        let now = alloc::<f32>(blocks);
        let pq = alloc::<f32>(blocks);
        fill(&mut x, 0.0_f32);
        copy(&b, &mut r);
        copy(&b, &mut p);
        square[(blocks, 256)](&b, &mut old, n, blocks);
        for _ in 0..iterations {
            laplace[(blocks, 256)](&p, &mut q, &mut pq, nx, ny, blocks);
            advance[(blocks, 256)](&mut x, &mut r, &p, &q, &old, &pq, &mut now, n, blocks);
            redirect[(blocks, 256)](&mut p, &r, &old, &now, n, blocks);
            swap(&mut old, &mut now);
        }
    }

    /// Runs `pairs` pairs of steps that alternate between two grids.
    graph[] fn diffusion(fours: u32, ny: u32, nz: u32, pairs: u32, u: &mut [f32; (4 * fours) * ny * nz]) {
        let other = alloc::<f32>((4 * fours) * ny * nz);
        for _ in 0..pairs {
            stencil[((fours * ny * nz).div_ceil(256), 256)](&u, &mut other, fours, ny, nz, FACTOR);
            stencil[((fours * ny * nz).div_ceil(256), 256)](&other, &mut u, fours, ny, nz, FACTOR);
        }
    }
}

/// The factor of a step of diffusion.
pub const FACTOR: f32 = 0.1;
