//! The rows of the tables of launches as written, and the examples, for all sides. None may take longer than as
//! written.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn after_all(before: &[f32; w], own: &mut [f32; 1], w: u32);
    fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn consume(t: &[f32; n], x: &mut [f32; n], n: u32);
}

#[cuweave::kernels("examples/kernels/branches.ptx")]
unsafe extern "ptx-kernel" {
    fn ramp(x: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn affine(x: &mut [f32; n], a: f32, b: f32, n: u32);
    fn sum_rows(rows: &[f32; count * n], out: &mut [MaybeUninit<f32>; n], count: u32, n: u32);
}

#[cuweave::kernels("examples/kernels/heat.ptx")]
unsafe extern "ptx-kernel" {
    fn heat_step(u: &[f32; n * n], next: &mut [MaybeUninit<f32>; n * n], r: f32, n: u32);
}

#[cuweave::kernels("examples/kernels/layers.ptx")]
unsafe extern "ptx-kernel" {
    fn matmul(
        x: &[f32; samples * width],
        w: &[f32; width * width],
        y: &mut [MaybeUninit<f32>; samples * width],
        samples: u32,
        width: u32,
    );
    fn bias_relu(y: &mut [f32; samples * width], b: &[f32; width], samples: u32, width: u32);
}

macro_rules! rows {
    ([$($layers:ident $w:tt)*] [$($chains:ident $in_chains:tt)*] [$($pipeline:ident $in_pipeline:tt)*]) => {
        each_side! {
            $(
                /// 8 layers, in which each kernel depends on the whole previous layer.
                graph[] fn $layers(a: &mut [f32; $w], b: &mut [f32; $w]) {
                    for _ in 0..4 {
                        for i in 0..$w {
                            after_all[(1, 1)](&a, &mut b[i..i + 1], $w);
                        }
                        for i in 0..$w {
                            after_all[(1, 1)](&b, &mut a[i..i + 1], $w);
                        }
                    }
                }
            )*

            /// Each kernel reads what the previous 8 wrote.
            graph[] fn window(x: &mut [f32; 1_008]) {
                for i in 0..1_000 {
                    after_all[(1, 1)](&x[i..i + 8], &mut x[i + 8..i + 9], 8);
                }
            }

            $(
                /// 8 chains of 32 steps, with a temporary of `len` elements in each step.
                graph[memory = $in_chains,] fn $chains(n: u32, len: u32, xs: [&mut [f32; n]; 8]) {
                    for i in 0..8 {
                        for _ in 0..32 {
                            let t = alloc::<f32>(len);
                            produce[per_item(n)](&xs[i], &mut t[0..n], n);
                            consume[per_item(n)](&t[0..n], &mut xs[i], n);
                        }
                    }
                }
            )*

            $(
                /// 500 temporaries, written and read completely, two of which are live at the same time.
                graph[memory = $in_pipeline,] fn $pipeline(n: u32, x: &mut [f32; n]) {
                    for _ in 0..100 {
                        let t0 = alloc::<f32>(n);
                        produce[per_item(n)](&x, &mut t0, n);
                        let t1 = alloc::<f32>(n);
                        produce[per_item(n)](&t0, &mut t1, n);
                        let t2 = alloc::<f32>(n);
                        produce[per_item(n)](&t1, &mut t2, n);
                        let t3 = alloc::<f32>(n);
                        produce[per_item(n)](&t2, &mut t3, n);
                        let t4 = alloc::<f32>(n);
                        produce[per_item(n)](&t3, &mut t4, n);
                        consume[per_item(n)](&t4, &mut x, n);
                    }
                }
            )*

            /// The example `branches`: temporaries, copies into rows, and a sum.
            graph[] fn branches(n: u32, out: &mut [f32; n]) {
                let rows = alloc::<f32>(16 * n);
                for i in 0..16 {
                    let t = alloc::<f32>(n);
                    ramp[per_item(n)](&mut t, i as f32, n);
                    affine[per_item(n)](&mut t, 0.5, 1.0, n);
                    affine[per_item(n)](&mut t, -0.25, 3.0, n);
                    affine[per_item(n)](&mut t, 2.0, i as f32, n);
                    copy(&t, &mut rows[i * n..(i + 1) * n]);
                }
                sum_rows[per_item(n)](&rows, &mut out, 16, n);
            }

            /// The example `heat`: 100 steps on a square.
            graph[] fn heat(n: u32, r: f32, u: &mut [f32; n * n]) {
                let next = alloc::<f32>(n * n);
                for _ in 0..50 {
                    heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&u, &mut next, r, n);
                    heat_step[((n.div_ceil(16), n.div_ceil(16)), (16, 16))](&next, &mut u, r, n);
                }
            }

            /// The example `layers`: products, with element-wise kernels after them, between copies.
            graph[] fn layers(
                samples: u32,
                width: u32,
                weights: [&[f32; width * width]; 12],
                biases: [&[f32; width]; 12],
                x: &[f32; samples * width],
                y: &mut [f32; samples * width],
            ) {
                let a = alloc::<f32>(samples * width);
                let b = alloc::<f32>(samples * width);
                copy(&x, &mut a);
                for i in 0..6 {
                    matmul[((width.div_ceil(16), samples.div_ceil(16)), (16, 16))](
                        &a, &weights[2 * i], &mut b, samples, width,
                    );
                    bias_relu[per_item(samples * width)](&mut b, &biases[2 * i], samples, width);
                    matmul[((width.div_ceil(16), samples.div_ceil(16)), (16, 16))](
                        &b, &weights[2 * i + 1], &mut a, samples, width,
                    );
                    bias_relu[per_item(samples * width)](&mut a, &biases[2 * i + 1], samples, width);
                }
                copy(&a, &mut y);
            }
        }
    };
}
rows!(
    [layers_of_8 8 layers_of_16 16 layers_of_32 32 layers_of_64 64 layers_of_128 128]
    [chains_nodes "nodes" chains_arena "arena" chains_owned "owned"]
    [pipeline_nodes "nodes" pipeline_arena "arena" pipeline_owned "owned"]
);
