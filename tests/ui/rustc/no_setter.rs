//! Scalars that a graph is built with have no setters: the message says what depends on them, also in a callee; a record and a
//! list are set by their fields and elements.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph(budget = bytes)]
fn whole(n: u32, steps: u32, mode: u32, bytes: u64, at: u32, x: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    copy(&x, &mut t);
    for i in 0..steps {
        scale[per_item(1)](&mut t[i..i + 1], 2.0, 1);
    }
    if mode == 1 {
        copy(&t, &mut x);
    }
    scale[per_item(1)](&mut x[at..at + 1], 2.0, 1);
}

#[cuweave::graph]
fn passes(len: u32, turns: u32, from: u32, y: &mut [f32; 64]) {
    let twice = turns * 2;
    whole(len, twice, 1, 4096, from, &mut y);
}

#[cuweave::graph]
fn outermost(longer: u32, more: u32, at: u32, z: &mut [f32; 64]) {
    passes(longer, more, at, &mut z);
}

fn setters(mut one: cuweave::Exec<whole::Args<'_>>, mut other: cuweave::Exec<outermost::Args<'_>>) -> cuweave::Result<()> {
    one.set_n(3)?; //~ E0277
    one.set_steps(3)?; //~ E0277
    one.set_mode(3)?; //~ E0277
    one.set_bytes(3)?; //~ E0277
    one.set_at(3)?;
    other.set_longer(3)?; //~ E0277
    other.set_more(3)?; //~ E0277
    other.set_at(3)
}

#[cuweave::arguments]
struct Row {
    len: u32,
    by: f32,
    x: &mut [f32; len],
}

#[cuweave::graph]
fn parts(n: u32, row: Row<'_>, rows: &[Row<'_>], buffers: &[&mut [f32; n]]) {
    scale[(1, 32)](&mut row.x, row.by, row.len);
    for row in &rows {
        scale[(1, 32)](&mut row.x, row.by, row.len);
    }
    for x in &mut buffers {
        scale[(1, 32)](&mut x, 2.0, n);
    }
}

fn of_parts(exec: &mut parts::Exec<'static>, row: Row<'static>) -> cuweave::Result<()> {
    exec.set_row(row)?; //~ E0277
    exec.set_rows(Vec::new())?; //~ E0277
    exec.set_buffers(Vec::new())?; //~ E0277
    exec.row().set_len(4)?; //~ E0277
    exec.rows(0)?.set_len(4)?; //~ E0277
    exec.rows(0)?.set_by(4.0)
}

fn main() {}
