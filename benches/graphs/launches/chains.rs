//! Chains: there is nothing to batch, and every kernel may start while the previous one ends.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn touch(x: &mut [f32; 1]);
    fn tiny(x: &mut [f32; n], n: u32);
}

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn workspace(x: &mut [f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
}

each_side! {
    /// Kernels that do nothing.
    graph[] fn empty(x: &mut [f32; 1]) {
        for _ in 0..1_000 {
            touch[(1, 1)](&mut x);
        }
    }

    /// Kernels that do little.
    graph[] fn small(n: u32, x: &mut [f32; n]) {
        for _ in 0..500 {
            tiny[per_item(n)](&mut x, n);
        }
    }

    /// Two products per iteration: from `x` into `y` and back.
    graph[] fn products(n: u32, w: &[f32; n * n], x: &mut [f32; n], y: &mut [f32; n]) {
        for _ in 0..50 {
            matvec[(n.div_ceil(8), 256)](&w, &x, &mut y, n);
            matvec[(n.div_ceil(8), 256)](&w, &y, &mut x, n);
        }
    }

    /// A workspace for each kernel, in memory nodes.
    graph[memory = "nodes",] fn nodes(n: u32, len: u32, x: &mut [f32; n]) {
        for _ in 0..200 {
            let _t = alloc::<f32>(len);
            workspace[per_item(n)](&mut x, &mut _t[0..n], n);
        }
    }

    /// A workspace for each kernel, in an arena.
    graph[memory = "arena",] fn arena(n: u32, len: u32, x: &mut [f32; n]) {
        for _ in 0..200 {
            let _t = alloc::<f32>(len);
            workspace[per_item(n)](&mut x, &mut _t[0..n], n);
        }
    }

    /// A workspace for each kernel, in memory of the exec.
    graph[memory = "owned",] fn owned(n: u32, len: u32, x: &mut [f32; n]) {
        for _ in 0..200 {
            let _t = alloc::<f32>(len);
            workspace[per_item(n)](&mut x, &mut _t[0..n], n);
        }
    }
}
