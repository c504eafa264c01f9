//! Finds the slow statement of a graph by a profile. One of the twelve layers has a much longer cache than the
//! others, which no line of the program shows.
//!
//! usage: `13_profile [FOLDER]`. Writes `graph.html`, `profile.svg` and `profile.json` into the folder. The last is a
//! trace for <https://ui.perfetto.dev>.

use std::error::Error;
use std::path::Path;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/nn.ptx")]
unsafe extern "ptx-kernel" {
    /// y = w · x, one thread per row.
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    fn relu(x: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::kernels("kernels/rebind.ptx")]
unsafe extern "ptx-kernel" {
    /// out = the mean of the rows 0..=pos
    fn mean(cache: &[f32; rows * n], out: &mut [MaybeUninit<f32>; n], pos: u32, rows: u32, n: u32);
}

/// The operands of a layer.
#[cuweave::arguments]
struct Layer {
    n: u32,
    rows: u32,
    gate: &[f32; n * n],
    up: &[f32; n * n],
    cache: &[f32; rows * n],
}

/// Adds two products and the mean of a cache to the input.
#[cuweave::graph]
fn block(n: u32, layer: Layer<'_>, x: &mut [f32; n]) {
    let gate = alloc::<f32>(n);
    let up = alloc::<f32>(n);
    let both = alloc::<f32>(n);
    let mixed = alloc::<f32>(n);
    let out = alloc::<f32>(n);
    // The two products are independent: one launch does both.
    let project_gate = matvec[per_item(n)](&layer.gate, &x, &mut gate, n);
    let project_up = matvec[per_item(n)](&layer.up, &x, &mut up, n);
    let average = mean[per_item(n)](&layer.cache, &mut mixed, layer.rows - 1, layer.rows, n);
    relu[per_item(n)](&mut gate, n);
    add[per_item(n)](&gate, &up, &mut both, n);
    add[per_item(n)](&both, &mixed, &mut out, n);
    copy(&out, &mut x);
}

#[cuweave::graph]
fn model(n: u32, layers: &[Layer<'_>], x: &mut [f32; n]) {
    for layer in &layers {
        block(n, layer, &mut x);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let driver = cuweave_sim::load()?;
    println!("driver: {driver}");
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    // Times of the simulated driver mean nothing, and its kernels are slow.
    let (n, short, long) = if driver.is_simulated() { (64, 8, 1024) } else { (1024, 64, 16_384) };
    let width = n as usize;
    let weights = stream.clone_htod(&vec![1.0 / n as f32; width * width])?;
    let caches =
        [stream.alloc_zeros::<f32>(short as usize * width)?, stream.alloc_zeros(long as usize * width)?];
    let layer = |at: usize| {
        let (rows, cache) = if at == 7 { (long, &caches[1]) } else { (short, &caches[0]) };
        Layer::new(n, rows, &weights, &weights, cache)
    };
    let layers: Vec<Layer<'_>> = (0..12).map(layer).collect();
    let mut x = stream.clone_htod(&vec![1.0f32; width])?;

    let mut exec = model(&ctx, n, layers, &mut x)?.instantiate()?;
    // Runs the graph 20 times unchanged, and 20 times with its nodes one after the other.
    let profile = exec.profile(&stream, 20)?;
    println!("{profile}");
    let slowest = profile.slowest();
    println!("the slowest statement: {}", slowest[0].name);
    if let Some(folder) = std::env::args().nth(1) {
        let folder = Path::new(&folder);
        std::fs::write(folder.join("profile.svg"), profile.svg())?;
        std::fs::write(folder.join("profile.json"), profile.chrome_trace())?;
        std::fs::write(folder.join("graph.html"), exec.page_with(&profile)?)?;
    }
    if !profile.simulated && slowest[0].name != "block[7].average" {
        return Err(format!("`{}` is slower than the long cache", slowest[0].name).into());
    }
    drop(exec);
    // Each of the 40 launches doubles the value twelve times.
    let sum: f32 = stream.clone_dtoh(&x)?.iter().sum();
    if sum.is_nan() {
        return Err("the activations are no numbers".into());
    }
    Ok(())
}
