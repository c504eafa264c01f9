//! Columns of one matrix that overlap. The first two copies take other columns, and are accepted.

use cuweave::prelude::*;

#[cuweave::graph]
fn f(h: u32, w: u32, x: &mut [f32; 4 * h * w]) {
    copy(&x.rows(h, w, 4 * w), &mut x[w..].rows(h, w, 4 * w));
    copy(&x[3 * w..].rows(h, w, 4 * w), &mut x.rows(h, w, 4 * w));
    copy(
        &x.rows(h, 2 * w, 4 * w),
        &mut x[w..].rows(h, 2 * w, 4 * w), //~ CW201
    );
}

fn main() {}
