//! Rows of a buffer are arguments of `copy` and `fill`, with three numbers, and two more for planes.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[cuweave::graph]
fn f(h: u32, w: u32, p: u32, x: &mut [f32; h * p], out: &mut [f32; h * p]) {
    scale[per_item(w)](&mut x.rows(h, w, p), 2.0, w); //~ CW001
    let part = &x.rows(h, w, p); //~ CW001
    copy(&x.rows(h, p), &mut out.rows(h, w, p)); //~ CW001
    copy(&x.planes(h, w), &mut out.rows(h, w, p)); //~ CW001
    copy(&x.rows(h, w, p).planes(1), &mut out.rows(h, w, p)); //~ CW001
    fill(&mut x.rows(h, w, p).planes(1, h), 1.0); //~ CW001
    copy(&x.rows(h, w, p)[..w], &mut out[..w]); //~ CW001
}

fn main() {}
