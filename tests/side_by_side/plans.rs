//! Snapshots of every stage of some graph functions: the checked program and its order, and what is emitted for
//! each lowering. A changed plan changes a snapshot (`tests/side_by_side/snapshots`).

// Only the types of the functions are used for planning; nothing calls them.
#![allow(dead_code)]

use cuweave::GraphFn;
use cuweave::prelude::*;
use cuweave_core::compile::{BackendOptions, back, front};
use cuweave_core::dump;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{DimId, Memory};
use cuweave_core::order::{Functions, LoweredProgram};
use cuweave_core::table::BoundOp;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
    fn scale64(x: &mut [f64; n], a: f64, n: u32);
}

/// A diamond: two branches on slices of one buffer, and their join.
#[cuweave::graph(launches = "as-written")]
fn diamond(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(2 * n);
    let (left, right) = h.split_at_mut(n);
    copy_to[per_item(n)](&x, &mut left, n);
    set[per_item(n)](&mut right, 1.0, n);
    scale[per_item(n)](&mut left, 2.0, n);
    axpy[per_item(n)](1.0, &right, &mut left, n);
    copy(&left, &mut out);
}

/// A chain of temporaries, each copied to the next; the last is returned.
#[cuweave::graph(launches = "as-written")]
fn chain(n: u32, x: &[f32; n]) -> [f32; n] {
    let a = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut a, n);
    let b = alloc::<f32>(n);
    copy_to[per_item(n)](&a, &mut b, n);
    let c = alloc::<f32>(n);
    copy_to[per_item(n)](&b, &mut c, n);
    let d = alloc::<f32>(n);
    copy_to[per_item(n)](&c, &mut d, n);
    d
}

/// Explicit order, and an allocation that is taken over.
#[cuweave::graph(order = "explicit", launches = "as-written")]
fn ordered(n: u32, h: [f32; n], out: &mut [f32; n]) {
    let twice = scale[per_item(n)](&mut h, 2.0, n);
    #[after(twice)]
    let copied = copy(&h, &mut out);
    #[after(copied)]
    free(h);
}

/// Layers over an array of weights: a loop with two alternating buffers.
#[cuweave::graph(launches = "as-written")]
fn layers(n: u32, w: [&[f32; n]; 4], x: &mut [f32; n]) {
    for i in 0..2 {
        let h = alloc::<f32>(n);
        add[per_item(n)](&x, &w[2 * i], &mut h, n);
        {
            let t = alloc::<f32>(n);
            add[(n, 1)](&h, &w[2 * i + 1], &mut t, n);
            axpy[per_item(n)](i as f32, &t, &mut x, n);
        }
    }
}

/// Atomics are only ordered with statements that read the buffer.
#[cuweave::graph(launches = "as-written")]
fn counted(n: u32, k: u32, x: &[u32; 3 * n], out: &mut [u32; k]) {
    let bins = alloc::<u32>(k);
    fill(&mut bins, 0);
    for i in 0..3 {
        histogram[per_item(n)](&x[i * n..(i + 1) * n], atomic(&mut bins), n, k);
    }
    copy(&bins, &mut out);
}

/// A buffer that is freed early shares its bytes with later ones, but not with a buffer on another branch.
#[cuweave::graph(launches = "as-written")]
fn early(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let first = alloc::<f32>(n);
    set[per_item(n)](&mut first, 1.0, n);
    axpy[per_item(n)](1.0, &first, &mut x, n);
    free(first);
    let second = alloc::<f32>(2 * n);
    fill(&mut second[..n], 2.0);
    axpy[per_item(n)](1.0, &second[..n], &mut x, n);
    let aside = alloc::<f32>(n);
    fill(&mut aside, 3.0);
    copy(&aside, &mut y);
}

/// Two allocations are outputs, and one is taken over.
#[cuweave::graph(launches = "as-written")]
fn handed(n: u32, h: [f32; n], x: &[f32; n]) -> ([f32; n], [f64; n + 1]) {
    let sum = alloc::<f32>(n);
    add[per_item(n)](&h, &x, &mut sum, n);
    let wide = alloc::<f64>(n + 1);
    fill(&mut wide, 0.5);
    scale64[per_item(n + 1)](&mut wide, 2.0, n + 1);
    (sum, wide)
}

/// Pinned host memory at both ends of copies.
#[cuweave::graph(launches = "as-written")]
fn hosted(n: u32, from: &Pinned<[f32; n]>, to: &mut Pinned<[f32; 2 * n]>) {
    let h = alloc::<f32>(n);
    copy(&from, &mut h);
    scale[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut to[..n]);
    copy(&from, &mut to[n..]);
}

/// Four branches, each of which reads all four previous ones.
#[cuweave::graph(launches = "as-written")]
fn joined(n: u32, a: &mut [f32; 4 * n], b: &mut [f32; 4 * n]) {
    for i in 0..4 {
        scale[per_item(n)](&mut a[i * n..(i + 1) * n], 2.0, n);
    }
    for i in 0..4 {
        axpy[per_item(n)](1.0, &a, &mut b[i * n..(i + 1) * n], n);
    }
}

/// Parts of parts that are alternately written. A write into the middle of an earlier part leaves its ends.
#[cuweave::graph(launches = "as-written")]
fn parts(n: u32, k: u32, x: &mut [f32; n]) {
    let (lo, hi) = x.split_at_mut(k);
    fill(&mut lo, 1.0);
    fill(&mut hi, 2.0);
    let (front, back) = hi.split_at_mut(8);
    scale[per_item(8)](&mut front, 2.0, 8);
    fill(&mut back, 3.0);
    let inner = &mut lo[1..3];
    scale[per_item(2)](inner, 4.0, 2);
    scale[per_item(n)](&mut x, 5.0, n);
}

/// A budget: branches that need their memory at the same time are serialized.
#[cuweave::graph(launches = "as-written", budget = 8 * n)]
fn budgeted(n: u32, x: &mut [f32; 3 * n]) {
    for i in 0..3 {
        let t = alloc::<f32>(n);
        set[per_item(n)](&mut t, i as f32, n);
        axpy[per_item(n)](1.0, &t, &mut x[i * n..(i + 1) * n], n);
    }
}

/// Explicit order over branches, with a name that is used before its statement.
#[cuweave::graph(order = "explicit", launches = "as-written")]
fn by_hand(n: u32, x: &mut [f32; n], y: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    #[after(t)]
    let written = set[per_item(n)](&mut t, 1.0, n);
    #[after(written, on_y)]
    let on_x = axpy[per_item(n)](1.0, &t, &mut x, n);
    #[after(written)]
    let on_y = axpy[per_item(n)](2.0, &t, &mut y, n);
    #[after(on_x)]
    scale[per_item(n)](&mut x, 2.0, n);
}

/// Returns the stages as text, for these values of the expressions in lengths.
fn stages<A: GraphFn>(leaves: &[u64]) -> String {
    let table =
        A::table(cuweave::__private::Token).and_then(cuweave::__private::Table::get).expect("a table");
    let dims: Vector<DimId, u64> = table.dims.iter().map(|code| value(code, leaves)).collect();
    let checked = front(LoweredProgram::with_values(table.program.clone(), Functions::default(), &dims)).0;
    let checked = checked.expect("it was checked when it was compiled");
    let mut text = dump::checked(&checked);
    for memory in [Memory::Nodes, Memory::Arena, Memory::Owned] {
        let backend_options =
            BackendOptions { memory: Some(memory), budgeted: true, ..BackendOptions::default() };
        let operations = back(&checked, &dims, &backend_options).expect("it can be emitted");
        text.push_str(&format!("as {memory:?}\n{}", dump::operations(checked.program(), &operations)));
    }
    text
}

fn value(code: &[BoundOp], leaves: &[u64]) -> u64 {
    let mut stack = Vec::new();
    for &op in code {
        let value = match op {
            BoundOp::Constant(value) => value,
            BoundOp::Leaf(leaf) => leaves[leaf.index()],
            _ => {
                let (b, a): (u64, u64) = (stack.pop().expect("a side"), stack.pop().expect("a side"));
                match op {
                    BoundOp::Add => a + b,
                    BoundOp::Sub => a - b,
                    BoundOp::Mul => a * b,
                    BoundOp::Div => a / b,
                    _ => a % b,
                }
            }
        };
        stack.push(value);
    }
    stack.pop().expect("a value")
}

#[test]
fn stages_as_text() {
    cuweave_testkit::assert_snapshot!("diamond", stages::<diamond::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("chain", stages::<chain::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("ordered", stages::<ordered::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("layers", stages::<layers::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("counted", stages::<counted::Args<'_>>(&[1000, 16]));
    cuweave_testkit::assert_snapshot!("early", stages::<early::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("handed", stages::<handed::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("hosted", stages::<hosted::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("joined", stages::<joined::Args<'_>>(&[256]));
    cuweave_testkit::assert_snapshot!("parts", stages::<parts::Args<'_>>(&[64, 16]));
    cuweave_testkit::assert_snapshot!("budgeted", stages::<budgeted::Args<'_>>(&[1024]));
    cuweave_testkit::assert_snapshot!("by_hand", stages::<by_hand::Args<'_>>(&[1024]));
}
