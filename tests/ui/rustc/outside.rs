//! Words without a graph function around them, and a graph that is launched before it is instantiated.

use cuweave::prelude::*;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use std::sync::Arc;

fn f(n: u32) {
    let _ = alloc::<f32>(n); //~ E0277
}

#[cuweave::graph]
fn cleared(n: u32, out: &mut [f32; n]) {
    fill(&mut out, 0.0);
}

fn run(ctx: &Arc<CudaContext>, stream: &Arc<CudaStream>, out: &mut CudaSlice<f32>) -> cuweave::Result<()> {
    let graph = cleared(ctx, 4, out)?;
    graph.launch(stream)?; //~ E0277
    f(4);
    Ok(())
}

#[allow(dead_code)]
const RUN: fn(&Arc<CudaContext>, &Arc<CudaStream>, &mut CudaSlice<f32>) -> cuweave::Result<()> = run;

fn main() {}
