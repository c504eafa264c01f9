//! Snapshots of the launch decisions of graphs: which launches are batched and how, which branches are serialized
//! into lanes, and which edges are programmatic. A changed decision changes a snapshot
//! (`tests/side_by_side/snapshots`).
//!
//! The graphs are built for the device of the simulated driver, and their kernels are as large as realistic ones.

use std::fmt::Write;

use cuweave::prelude::*;
use cuweave::{Graph, GraphFn};
use cuweave_testkit::device::{Device, simulated};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
}

mod models {
    #[cuweave::kernels("benches/kernels/launches.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn momentum(p: &mut [f32; n], m: &mut [f32; n], g: &[f32; n], rate: f32, n: u32);
        pub fn mean(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn gelu(x: &mut [f32; n], n: u32);
    }
}

/// A chain of short kernels.
#[cuweave::graph]
fn chain(n: u32, x: &mut [f32; n]) {
    for _ in 0..5 {
        scale[per_item(n)](&mut x, 2.0, n);
    }
}

/// A fork into equal launches and their join.
#[cuweave::graph]
fn fork_join(n: u32, x: &mut [f32; n], parts: &mut [f32; 4 * n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    for i in 0..4 {
        axpy[per_item(n)](1.0, &x, &mut parts[i * n..(i + 1) * n], n);
    }
    scale[per_item(4 * n)](&mut parts, 2.0, 4 * n);
}

/// Launches of one kernel on parts of different lengths.
#[cuweave::graph]
fn unequal(n: u32, parts: &mut [f32; 15 * n]) {
    scale[per_item(n)](&mut parts[..n], 2.0, n);
    scale[per_item(2 * n)](&mut parts[n..3 * n], 2.0, 2 * n);
    scale[per_item(4 * n)](&mut parts[3 * n..7 * n], 2.0, 4 * n);
    scale[per_item(8 * n)](&mut parts[7 * n..], 2.0, 8 * n);
}

/// Chains of equal launches without a join.
#[cuweave::graph]
fn chains(n: u32, parts: &mut [f32; 8 * n]) {
    for _ in 0..3 {
        for i in 0..8 {
            scale[per_item(n)](&mut parts[i * n..(i + 1) * n], 2.0, n);
        }
    }
}

/// Branches of different kernels.
#[cuweave::graph]
fn branches(n: u32, x: &[f32; n], parts: &mut [f32; 6 * n]) {
    scale[per_item(n)](&mut parts[..n], 2.0, n);
    axpy[per_item(n)](1.0, &x, &mut parts[n..2 * n], n);
    models::gelu[per_item(n)](&mut parts[2 * n..3 * n], n);
    scale[per_item(n)](&mut parts[3 * n..4 * n], 2.0, n);
    models::gelu[per_item(n)](&mut parts[3 * n..4 * n], n);
    axpy[per_item(n)](1.0, &x, &mut parts[4 * n..5 * n], n);
    scale[per_item(n)](&mut parts[4 * n..5 * n], 2.0, n);
}

/// More small branches than there are lanes. Their blocks differ, so no two can be batched.
#[cuweave::graph]
fn lanes(n: u32, parts: &mut [f32; 34 * n]) {
    for i in 0..34 {
        scale[(n.div_ceil(128), 128 + i as u32)](&mut parts[i * n..(i + 1) * n], 2.0, n);
    }
}

/// Butterflies: each level reads all parts of the previous one in different pairs.
#[cuweave::graph]
fn butterflies(n: u32, a: &mut [f32; 4 * n], b: &mut [f32; 4 * n]) {
    for i in 0..4 {
        add[per_item(n)](
            &a[i * n..(i + 1) * n],
            &a[(i + 2) % 4 * n..((i + 2) % 4 + 1) * n],
            &mut b[i * n..(i + 1) * n],
            n,
        );
    }
    for i in 0..4 {
        add[per_item(n)](
            &b[i * n..(i + 1) * n],
            &b[(i + 1) % 4 * n..((i + 1) % 4 + 1) * n],
            &mut a[i * n..(i + 1) * n],
            n,
        );
    }
}

/// Decoder layers: parallel products, a join of them, and products that follow.
#[cuweave::graph]
fn decoder(n: u32, weights: &[f32; 5 * n * n], x: &mut [f32; n]) {
    for _ in 0..2 {
        let q = alloc::<f32>(n);
        let k = alloc::<f32>(n);
        let v = alloc::<f32>(n);
        let s = alloc::<f32>(n);
        let o = alloc::<f32>(n);
        models::matvec[(n.div_ceil(8), 256)](&weights[..n * n], &x, &mut q, n);
        models::matvec[(n.div_ceil(8), 256)](&weights[n * n..2 * n * n], &x, &mut k, n);
        models::matvec[(n.div_ceil(8), 256)](&weights[2 * n * n..3 * n * n], &x, &mut v, n);
        models::mean[per_item(n)](&q, &k, &mut s, n);
        models::mean[per_item(n)](&s, &v, &mut o, n);
        models::matvec[(n.div_ceil(8), 256)](&weights[3 * n * n..4 * n * n], &o, &mut s, n);
        models::gelu[per_item(n)](&mut s, n);
        models::matvec[(n.div_ceil(8), 256)](&weights[4 * n * n..], &s, &mut x, n);
    }
}

/// An optimiser step over tensors of two sizes. A setter may change the rate.
#[cuweave::graph]
fn optimiser(n: u32, rate: f32, ps: &mut [f32; 6 * n], ms: &mut [f32; 6 * n], gs: &[f32; 6 * n]) {
    for i in 0..4 {
        models::momentum[per_item(n)](
            &mut ps[i * n..(i + 1) * n],
            &mut ms[i * n..(i + 1) * n],
            &gs[i * n..(i + 1) * n],
            rate,
            n,
        );
    }
    models::momentum[per_item(2 * n)](&mut ps[4 * n..], &mut ms[4 * n..], &gs[4 * n..], rate, 2 * n);
}

/// A setter may change the grids.
#[cuweave::graph]
fn resized(n: u32, items: u32, parts: &mut [f32; 4 * n]) {
    for i in 0..4 {
        scale[per_item(items)](&mut parts[i * n..(i + 1) * n], 2.0, n);
    }
}

/// Copies and fills between kernels.
#[cuweave::graph]
fn copies(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
    copy(&x, &mut y);
    scale[per_item(n)](&mut y, 2.0, n);
    scale[per_item(n)](&mut y, 3.0, n);
    fill(&mut x, 0.0);
    axpy[per_item(n)](1.0, &y, &mut x, n);
}

/// Temporaries in memory nodes, which may come between two kernels.
#[cuweave::graph(memory = "nodes")]
fn temporaries(n: u32, x: &mut [f32; n]) {
    let a = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut a, n);
    let b = alloc::<f32>(n);
    copy_to[per_item(n)](&a, &mut b, n);
    free(a);
    axpy[per_item(n)](1.0, &b, &mut x, n);
}

/// Launches that update one buffer by atomics that commute.
#[cuweave::graph]
fn counted(n: u32, k: u32, x: &[u32; 3 * n], bins: &mut [u32; k]) {
    fill(&mut bins, 0);
    for i in 0..3 {
        histogram[per_item(n)](&x[i * n..(i + 1) * n], atomic(&mut bins), n, k);
    }
}

/// Levels of different lengths: early and late ends of branches.
#[cuweave::graph]
fn uneven(n: u32, parts: &mut [f32; 3 * n], out: &mut [f32; n]) {
    for i in 0..3 {
        scale[per_item(n)](&mut parts[i * n..(i + 1) * n], 2.0, n);
    }
    models::gelu[per_item(n)](&mut parts[..n], n);
    models::gelu[per_item(n)](&mut parts[..n], n);
    scale[per_item(n)](&mut parts[n..2 * n], 2.0, n);
    for i in 0..3 {
        axpy[per_item(n)](1.0, &parts[i * n..(i + 1) * n], &mut out, n);
    }
}

macro_rules! only {
    ($($name:ident $launches:literal)*) => {$(
        /// The fork-join again, with only these changes allowed.
        #[cuweave::graph(launches = $launches)]
        fn $name(n: u32, x: &mut [f32; n], parts: &mut [f32; 4 * n]) {
            set[per_item(n)](&mut x, 2.0, n);
            for i in 0..4 {
                axpy[per_item(n)](1.0, &x, &mut parts[i * n..(i + 1) * n], n);
            }
            scale[per_item(4 * n)](&mut parts, 2.0, 4 * n);
        }
    )*};
}
only! { only_batched "batched" only_overlapped "overlapped" as_written "as-written" }

/// Returns the operations of a graph as text, with the decisions about them.
fn decisions<A: GraphFn>(graph: cuweave::Result<Graph<A>>) -> String {
    let graph = graph.expect("it builds");
    let operations = cuweave::__private::operations(&graph);
    let mut text = format!(
        "{} batches, {} branches serialized, {} programmatic edges\n",
        operations.batches.len(),
        operations.serialized,
        operations.overlapped
    );
    for (id, operation) in operations.list.iter().enumerate() {
        write!(text, "  o{id} {}", operation.name).expect("a string");
        let batch = operations.batches.iter().find(|batch| operation.sources.contains(&batch.members[0]));
        if let Some(batch) = batch.filter(|_| operation.sources.len() > 1) {
            let how = batch
                .axis
                .map_or("flat".to_owned(), |axis| format!("along {}", ["x", "y", "z"][usize::from(axis)]));
            write!(text, " x {} {how}", batch.members.len()).expect("a string");
        }
        let after: Vec<String> = operation
            .after
            .iter()
            .map(|&before| match operation.programmatic {
                Some(early) if early == before && operation.launch_order => {
                    format!("o{before} (launch order)")
                }
                Some(early) if early == before => format!("o{before} (programmatic)"),
                _ => format!("o{before}"),
            })
            .collect();
        let after = if after.is_empty() { String::new() } else { format!(" after {}", after.join(", ")) };
        writeln!(text, "{after}").expect("a string");
    }
    text
}

/// The lengths of a part: a few blocks, and more than the device holds at the same time.
const SMALL: u32 = 1 << 10;
const LARGE: u32 = 1 << 21;

macro_rules! decided {
    ($name:literal, $graph:expr) => {
        cuweave_testkit::assert_snapshot!($name, decisions($graph))
    };
}

/// Returns zeros. The graphs are built but not launched.
fn zeros(device: &Device, len: u32) -> cudarc::driver::CudaSlice<f32> {
    device.zeros(len as usize)
}

#[test]
fn decisions_about_small_launches() {
    let Some(device) = simulated() else { return };
    let (ctx, n) = (&device.ctx, SMALL);
    let of = |parts: u32| zeros(&device, parts * n);
    decided!("chain", chain(ctx, n, of(1)));
    decided!("fork_join", fork_join(ctx, n, of(1), of(4)));
    decided!("unequal", unequal(ctx, n, of(15)));
    decided!("chains", chains(ctx, n, of(8)));
    decided!("branches", branches(ctx, n, of(1), of(6)));
    decided!("lanes", lanes(ctx, n, of(34)));
    decided!("butterflies", butterflies(ctx, n, of(4), of(4)));
    decided!("decoder", decoder(ctx, 64, zeros(&device, 5 * 64 * 64), zeros(&device, 64)));
    decided!("optimiser", optimiser(ctx, n, 0.1, of(6), of(6), of(6)));
    decided!("resized", resized(ctx, n, n, of(4)));
    decided!("copies", copies(ctx, n, of(1), of(1)));
    decided!("temporaries", temporaries(ctx, n, of(1)));
    decided!("uneven", uneven(ctx, n, of(3), of(1)));
    let (words, bins) = (device.zeros::<u32>(3 * n as usize), device.zeros::<u32>(16));
    decided!("counted", counted(ctx, n, 16, words, bins));
}

#[test]
fn decisions_about_launches_that_fill_the_device() {
    let Some(device) = simulated() else { return };
    let (ctx, n) = (&device.ctx, LARGE);
    let of = |parts: u32| zeros(&device, parts * n);
    decided!("chain_large", chain(ctx, n, of(1)));
    decided!("fork_join_large", fork_join(ctx, n, of(1), of(4)));
    decided!("chains_large", chains(ctx, n, of(8)));
    decided!("branches_large", branches(ctx, n, of(1), of(6)));
}

#[test]
fn decisions_that_are_allowed_alone() {
    let Some(device) = simulated() else { return };
    let (ctx, n) = (&device.ctx, SMALL);
    let of = |parts: u32| zeros(&device, parts * n);
    decided!("only_batched", only_batched(ctx, n, of(1), of(4)));
    decided!("only_overlapped", only_overlapped(ctx, n, of(1), of(4)));
    decided!("as_written", as_written(ctx, n, of(1), of(4)));
}
