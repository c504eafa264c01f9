//! Only a mapped multicast object binds to elements `Multimem`, and it to nothing else. Only kernels use it.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice};
use cuweave::multicast::{Mapping, Memory};
use cuweave::prelude::*;

#[cuweave::graph]
fn filled(n: u32, all: &mut [Multimem<f32>; n]) { //~ E0277
    fill(&mut all, 0.0_f32); //~ E0308
}

#[cuweave::graph]
fn copied(n: u32, all: &[Multimem<f32>; n], x: &mut [f32; n]) {
    copy(&all, &mut x); //~ E0277
}

#[cuweave::graph]
fn plain(n: u32, x: &mut [f32; n]) {
    fill(&mut x, 0.0_f32);
}

#[cuweave::graph]
fn mapped(n: u32, all: &[Multimem<f32>; n]) {}

fn bound(ctx: &Arc<CudaContext>, all: &Mapping, memory: &Arc<Memory>, x: &CudaSlice<f32>) {
    drop(plain(ctx, 8, all)); //~ E0277
    drop(mapped(ctx, 8, memory)); //~ E0277
    drop(mapped(ctx, 8, x)); //~ E0277
}

fn main() {}
