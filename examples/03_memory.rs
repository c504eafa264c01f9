//! Allocations that graphs make, return, take over and free. The program shows the same cases as CUDA's samples
//! `graphMemoryNodes` and `graphMemoryFootprint`, as graph functions:
//!
//! 1. memory that is allocated and freed inside one graph;
//! 2. memory that leaves the graph, freed when its owner is dropped;
//! 3. memory that leaves one graph and is taken over, used and freed by a second one;
//! 4. a footprint that stays flat over many graphs on one stream.

use std::error::Error;
use std::sync::Arc;

use cuweave::cudarc::driver::{CudaContext, CudaStream};
use cuweave::prelude::*;

#[cuweave::kernels("kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    /// out = -(x * x)
    fn neg_square(x: &[i32; n], out: &mut [MaybeUninit<i32>; n], n: u32);
    /// x = x + by
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

/// The buffer of the square lives from its alloc node to the free node, which the compiler inserts after the copy.
#[cuweave::graph]
fn freed_inside(n: u32, x: &[i32; n], out: &mut [i32; n]) {
    let square = alloc::<i32>(n);
    neg_square[per_item(n)](&x, &mut square, n);
    copy(&square, &mut out);
}

/// The square leaves the graph: `launch` returns it.
#[cuweave::graph]
fn producer(n: u32, x: &[i32; n]) -> [i32; n] {
    let square = alloc::<i32>(n);
    neg_square[per_item(n)](&x, &mut square, n);
    square
}

/// Takes over the allocation that `producer` returned, and frees it.
#[cuweave::graph]
fn consumer(n: u32, square: [i32; n], out: &mut [i32; n]) {
    shift[per_item(n)](&mut square, 1, n);
    copy(&square, &mut out);
    free(square);
}

struct Setup {
    ctx: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    n: u32,
    x_host: Vec<i32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let n = 4096_u32;
    let x_host = (0..n as i32).map(|i| i % 100 - 50).collect();
    let setup = Setup { ctx, stream, n, x_host };

    inside(&setup)?;
    dropped(&setup)?;
    taken_over(&setup)?;
    footprint(&setup)?;
    Ok(())
}

fn inside(setup: &Setup) -> Result<(), Box<dyn Error>> {
    let Setup { ctx, stream, n, x_host } = setup;
    let x = stream.clone_htod(x_host)?;
    let mut out = stream.alloc_zeros::<i32>(x_host.len())?;
    let mut exec = freed_inside(ctx, *n, &x, &mut out)?.instantiate()?;
    exec.launch(stream)?;
    drop(exec);
    check("freed inside its graph", &stream.clone_dtoh(&out)?, x_host, 0)
}

fn dropped(setup: &Setup) -> Result<(), Box<dyn Error>> {
    let Setup { ctx, stream, n, x_host } = setup;
    let x = stream.clone_htod(x_host)?;
    let mut exec = producer(ctx, *n, &x)?.instantiate()?;
    for _ in 0..3 {
        // `square` borrows the exec, so a second launch does not compile while it lives.
        let square = exec.launch(stream)?;
        let got = stream.clone_dtoh(&square)?;
        check("freed when its owner is dropped", &got, x_host, 0)?;
    }
    Ok(())
}

fn taken_over(setup: &Setup) -> Result<(), Box<dyn Error>> {
    let Setup { ctx, stream, n, x_host } = setup;
    let x = stream.clone_htod(x_host)?;
    let mut out = stream.alloc_zeros::<i32>(x_host.len())?;
    let mut first = producer(ctx, *n, &x)?.instantiate()?;
    // The second graph is built from the description of the output, which has its address and length.
    let mut second = consumer(ctx, *n, first.output(), &mut out)?.instantiate()?;
    for _ in 0..3 {
        let square = first.launch(stream)?;
        second.launch(stream, (square,))?;
    }
    drop(second);
    check("taken over and freed by a second graph", &stream.clone_dtoh(&out)?, x_host, 1)
}

fn footprint(setup: &Setup) -> Result<(), Box<dyn Error>> {
    let Setup { ctx, stream, n, x_host } = setup;
    let x = stream.clone_htod(x_host)?;
    let mut out = stream.alloc_zeros::<i32>(x_host.len())?;
    let mut used = Vec::new();
    for _ in 0..50 {
        let mut exec = freed_inside(ctx, *n, &x, &mut out)?.instantiate()?;
        exec.launch(stream)?;
        drop(exec);
        stream.synchronize()?;
        used.push(cuweave::memory::graph_pool(ctx)?.reserved);
    }
    if used[1..].iter().any(|bytes| *bytes > used[0]) {
        return Err(
            format!("the graphs' memory grew from {} to {:?} bytes", used[0], used.iter().max()).into()
        );
    }
    println!("50 graphs one after the other: {} bytes reserved after the first and after the last", used[0]);
    check("the last of 50 graphs", &stream.clone_dtoh(&out)?, x_host, 0)
}

fn check(what: &str, got: &[i32], x: &[i32], shift: i32) -> Result<(), Box<dyn Error>> {
    for (i, (got, x)) in got.iter().zip(x).enumerate() {
        let want = shift - x * x;
        if *got != want {
            return Err(format!("{what}: element {i} is {got}, plain Rust says {want}").into());
        }
    }
    println!("{what}: all {} elements agree with plain Rust", got.len());
    Ok(())
}
