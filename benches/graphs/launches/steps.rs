//! Programs with more than kernels and fixed arguments: scalars that are set between launches, temporaries that are
//! freed early, copies, and more launches of one kernel than a parameter table holds.

use cuweave::prelude::*;

#[cuweave::kernels("benches/kernels/bench.ptx")]
unsafe extern "ptx-kernel" {
    fn tiny(x: &mut [f32; n], n: u32);
    fn produce(x: &[f32; n], t: &mut [MaybeUninit<f32>; n], n: u32);
    fn consume(t: &[f32; n], x: &mut [f32; n], n: u32);
}

#[cuweave::kernels("benches/kernels/launches.ptx")]
unsafe extern "ptx-kernel" {
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn momentum(p: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
    fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn gelu(x: &mut [f32; n], n: u32);
}

macro_rules! early_frees {
    ($($lowering:tt $name:ident)*) => {
        each_side! {
            /// A scalar with a setter, which all launches use.
            graph[] fn rated(
                n: u32,
                rate: f32,
                ps: [&mut [f32; n]; 16],
                ms: [&mut [f32; n]; 16],
                gs: [&[f32; n]; 16],
            ) {
                for _ in 0..10 {
                    for i in 0..16 {
                        momentum[per_item(n)](&mut ps[i], &mut ms[i], &gs[i], rate, n);
                    }
                }
            }

            /// A scalar that is the number of items and determines the grid.
            graph[] fn sized(most: u32, items: u32, xs: [&mut [f32; most]; 16]) {
                for i in 0..16 {
                    for _ in 0..20 {
                        tiny[per_item(items)](&mut xs[i], items);
                    }
                }
            }

            $(
                /// Branches of temporaries, each freed immediately.
                graph[memory = $lowering,] fn $name(n: u32, len: u32, xs: [&mut [f32; n]; 16]) {
                    for i in 0..16 {
                        for _ in 0..10 {
                            let t = alloc::<f32>(len);
                            produce[per_item(n)](&xs[i], &mut t[0..n], n);
                            consume[per_item(n)](&t[0..n], &mut xs[i], n);
                            free(t);
                        }
                    }
                }
            )*

            /// Chains with copies between the kernels.
            graph[] fn copies(n: u32, xs: [&mut [f32; n]; 8], ys: [&mut [f32; n]; 8]) {
                for i in 0..8 {
                    for _ in 0..10 {
                        tiny[per_item(n)](&mut xs[i], n);
                        copy(&xs[i], &mut ys[i]);
                        tiny[per_item(n)](&mut ys[i], n);
                        copy(&ys[i], &mut xs[i]);
                    }
                }
            }

            /// More parallel launches than one parameter table of 4 KiB holds.
            graph[] fn many(
                n: u32,
                rate: f32,
                ps: [&mut [f32; n]; 200],
                ms: [&mut [f32; n]; 200],
                gs: [&[f32; n]; 200],
            ) {
                for _ in 0..3 {
                    for i in 0..200 {
                        momentum[per_item(n)](&mut ps[i], &mut ms[i], &gs[i], rate, n);
                    }
                }
            }

            /// 8 layers like those of a decoder: parallel products, a join, and products after it.
            graph[] fn decoder(
                n: u32,
                weights: [&[f32; n * n]; 8],
                x: &mut [f32; n],
                q: &mut [f32; n],
                k: &mut [f32; n],
                v: &mut [f32; n],
                s: &mut [f32; n],
                o: &mut [f32; n],
            ) {
                for i in 0..8 {
                    matvec[(n.div_ceil(8), 256)](&weights[i], &x, &mut q, n);
                    matvec[(n.div_ceil(8), 256)](&weights[(i + 1) % 8], &x, &mut k, n);
                    matvec[(n.div_ceil(8), 256)](&weights[(i + 2) % 8], &x, &mut v, n);
                    mean[per_item(n)](&q, &k, &mut s, n);
                    mean[per_item(n)](&s, &v, &mut o, n);
                    matvec[(n.div_ceil(8), 256)](&weights[(i + 3) % 8], &o, &mut s, n);
                    gelu[per_item(n)](&mut s, n);
                    matvec[(n.div_ceil(8), 256)](&weights[(i + 4) % 8], &s, &mut x, n);
                }
            }
        }
    };
}
early_frees!("nodes" nodes "arena" arena "owned" owned);
