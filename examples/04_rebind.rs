//! Launches one exec many times, each time with another input and another position. A cache grows by one row per
//! launch. The setters change only the nodes that use the argument. Nothing is captured or built again.

use std::error::Error;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/rebind.ptx")]
unsafe extern "ptx-kernel" {
    /// Row `pos` of the cache becomes x.
    fn append(cache: &mut [f32; rows * width], x: &[f32; width], pos: u32, rows: u32, width: u32);
    /// out = the mean of the rows 0..=pos
    fn mean(
        cache: &[f32; rows * width],
        out: &mut [MaybeUninit<f32>; width],
        pos: u32,
        rows: u32,
        width: u32,
    );
}

/// No length depends on `pos`, so it can change from launch to launch. `rows` and `width` cannot.
#[cuweave::graph]
fn step(
    pos: u32,
    rows: u32,
    width: u32,
    x: &[f32; width],
    cache: &mut [f32; rows * width],
    out: &mut [f32; width],
) {
    append[per_item(width)](&mut cache, &x, pos, rows, width);
    mean[per_item(width)](&cache, &mut out, pos, rows, width);
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let (rows, width) = (24_u32, 300_u32);
    let inputs_host: Vec<Vec<f32>> = (0..rows)
        .map(|row| (0..width).map(|col| ((row * 31 + col * 17) % 97) as f32 / 10.0).collect())
        .collect();
    let inputs = inputs_host.iter().map(|x| stream.clone_htod(x)).collect::<Result<Vec<_>, _>>()?;
    let cache = stream.alloc_zeros::<f32>((rows * width) as usize)?;
    let out = stream.alloc_zeros::<f32>(width as usize)?;

    // The exec owns the cache and the result, and borrows the input.
    let mut exec = step(&ctx, 0, rows, width, &inputs[0], cache, out)?.instantiate()?;
    let mut sums = vec![0.0_f32; width as usize];
    for (pos, x) in inputs.iter().enumerate() {
        exec.set_x(x)?;
        exec.set_pos(pos as u32)?;
        exec.launch(&stream)?;

        let got = stream.clone_dtoh(&exec.args().out)?;
        for (sum, x) in sums.iter_mut().zip(&inputs_host[pos]) {
            *sum += x;
        }
        for (col, (got, sum)) in got.iter().zip(&sums).enumerate() {
            let want = sum / (pos + 1) as f32;
            if (got - want).abs() > 1e-4 {
                return Err(format!("launch {pos}: out[{col}] is {got}, plain Rust says {want}").into());
            }
        }
    }
    println!(
        "{rows} launches of one exec, each with an input and a position of its own, agree with plain Rust"
    );
    Ok(())
}
