//! Every stage of some graph functions as text: the checked program and its order, and what is emitted for it in each
//! lowering. A change of the plan shows as a change of a snapshot (`tests/snapshots`).

use cuweave::GraphFn;
use cuweave::prelude::*;
use cuweave_core::compile::{Wishes, back};
use cuweave_core::dump;
use cuweave_core::ir::Memory;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// A diamond: two branches over slices of one buffer, joined.
#[expect(dead_code, reason = "the tables are what is looked at")]
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

/// A chain of temporaries, one handed on to the next, the last returned.
#[expect(dead_code, reason = "the tables are what is looked at")]
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

/// Order of the user's own, and an allocation taken over.
#[expect(dead_code, reason = "the tables are what is looked at")]
#[cuweave::graph(order = "explicit", launches = "as-written")]
fn ordered(n: u32, h: [f32; n], out: &mut [f32; n]) {
    let twice = scale[per_item(n)](&mut h, 2.0, n);
    #[after(twice)]
    let copied = copy(&h, &mut out);
    #[after(copied)]
    free(h);
}

fn stages<A: GraphFn>(dims: &[u64]) -> String {
    let program = &A::table().get().expect("a table").program;
    assert_eq!(program.dims.len(), dims.len(), "{:?}", program.dims);
    let mut text = dump::program(program);
    for memory in [Memory::Nodes, Memory::Arena, Memory::Owned] {
        let wishes = Wishes { memory: Some(memory), ..Wishes::default() };
        let operations = back(program, dims, &wishes).expect("it can be emitted");
        text.push_str(&format!("as {memory:?}\n{}", dump::operations(program, &operations)));
    }
    text
}

#[test]
fn stages_as_text() {
    insta::assert_snapshot!("diamond", stages::<diamond::Args<'_>>(&[0, 1024, 2048]));
    insta::assert_snapshot!("chain", stages::<chain::Args<'_>>(&[0, 1024]));
    insta::assert_snapshot!("ordered", stages::<ordered::Args<'_>>(&[0, 1024]));
}
