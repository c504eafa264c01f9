//! A library call with a type parameter: the element type is known also where a buffer does not fit.

use cuweave::prelude::*;

#[cuweave::call]
unsafe fn doubled<T: Copy>(_stream: &CallStream, _x: &mut [T; n], n: u32) {}

#[cuweave::graph]
fn unwritten(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    doubled(&mut h, n); //~ CW101
    copy(&h, &mut out);
}

fn main() {}
