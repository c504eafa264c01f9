//! Draws the pictures of the README. `memory_pictures [FOLDER]` writes these files to the folder (by default
//! `docs/memory`): `graph.svg` shows the nodes and edges of a graph; `unet.svg` and `butterflies.svg` show how the
//! temporaries of two graphs share memory.
//!
//! Nothing is launched, so this runs without a GPU.

#[path = "../graphs/shapes.rs"]
#[allow(dead_code)]
mod shapes;

use std::error::Error;
use std::path::{Path, PathBuf};

use cuweave::prelude::*;
use cuweave::{Graph, GraphFn};

#[cuweave::kernels("examples/kernels/nn.ptx")]
unsafe extern "ptx-kernel" {
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn relu(x: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// The graph of the README's first picture.
#[cuweave::graph(launches = "as-written")]
fn gated(
    n: u32,
    up: &[f32; n * n],
    gate: &[f32; n * n],
    down: &[f32; n * n],
    x: &[f32; n],
    out: &mut [f32; n],
) {
    let h = alloc::<f32>(n);
    let g = alloc::<f32>(n);
    let y = alloc::<f32>(n);
    matvec[per_item(n)](&up, &x, &mut h, n);
    matvec[per_item(n)](&gate, &x, &mut g, n);
    relu[per_item(n)](&mut g, n);
    add[per_item(n)](&h, &g, &mut y, n);
    let z = alloc::<f32>(n);
    matvec[per_item(n)](&down, &y, &mut z, n);
    add[per_item(n)](&x, &z, &mut out, n);
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("docs/memory"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let w = stream.alloc_zeros::<f32>(64 * 64)?;
    let (x, mut out) = (stream.alloc_zeros::<f32>(64)?, stream.alloc_zeros::<f32>(64)?);
    let graph = gated(&ctx, 64, &w, &w, &w, &x, &mut out)?;
    std::fs::write(folder.join("graph.svg"), graph.svg())?;
    println!("{}", graph.report());
    drop(graph);
    // 16 channels of 256 x 256 at the top.
    let (c, s) = (16, 64);
    let weights = stream.alloc_zeros::<f32>(18 * 16 * 16)?;
    let image = stream.alloc_zeros::<f32>(16 * 16 * 64 * 64)?;
    draw(&folder, "unet.svg", &shapes::unet_arena(&ctx, c, s, &weights, image)?)?;
    // 8 blocks of 1 MiB.
    let n = 1 << 18;
    let blocks = stream.alloc_zeros::<f32>(8 << 18)?;
    draw(&folder, "butterflies.svg", &shapes::butterflies_arena(&ctx, n, blocks)?)
}

fn draw<A: GraphFn>(folder: &Path, name: &str, graph: &Graph<A>) -> Result<(), Box<dyn Error>> {
    let file = folder.join(name);
    std::fs::write(&file, graph.memory_svg()?)?;
    let report = graph.report();
    let plan = report.plan.as_ref().ok_or("the graph has no temporaries")?;
    println!("{}: {plan}", file.display());
    Ok(())
}
