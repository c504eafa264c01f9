//! Half-typed bodies: rustc speaks of each alone, and the functions are there for their users.

use cuweave::prelude::*;

use cudarc::driver::{CudaContext, CudaSlice};
use std::sync::Arc;

#[cuweave::graph]
fn dot(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out);
    x.
} //~ unexpected

#[cuweave::graph]
fn semicolon(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n) //~ expected
    copy(&x, &mut h);
    h
}

#[cuweave::graph]
fn uses(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = semicolon(n, &x);
    dot(n, &h, &mut out);
}

pub fn run(ctx: &Arc<CudaContext>, x: &CudaSlice<f32>, out: &mut CudaSlice<f32>) -> cuweave::Result<()> {
    let mut exec: dot::Exec<'_> = dot(ctx, 4, x, out)?.instantiate()?;
    exec.set_n(3)
}

fn main() {}
