//! A fill of rows leaves the elements between them unwritten.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(h: u32, w: u32, p: u32, out: &mut [f32; h * p], rows: &mut [f32; h * w]) {
    let t = alloc::<f32>(h * p);
    fill(&mut t.rows(h, w, p), 1.0);
    copy(&t.rows(h, w, p), &mut rows);
    copy(&t, &mut out); //~ CW101
}

fn main() {}
