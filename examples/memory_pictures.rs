//! Draws how the temporaries of two graphs share their memory: `memory_pictures [FOLDER]` writes `unet.svg` and
//! `butterflies.svg`, the pictures of the README, there (by default into `docs/memory`).
//!
//! Nothing is launched, so this runs without a GPU.

#[path = "../benches/graphs/shapes.rs"]
#[allow(dead_code)]
mod shapes;

use std::error::Error;
use std::path::{Path, PathBuf};

use cuweave::{Graph, GraphFn};

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("docs/memory"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
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
