//! The smallest whole program: builds, instantiates and launches one graph function, `out = x + relu(w · x)`, and
//! checks the result.

use std::error::Error;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/nn.ptx")]
unsafe extern "ptx-kernel" {
    /// y = w · x, one thread per row.
    fn matvec(w: &[f32; n * n], x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    /// x = max(x, 0)
    fn relu(x: &mut [f32; n], n: u32);
    /// out = a + b
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// out = x + relu(w · x)
#[cuweave::graph]
fn residual(n: u32, w: &[f32; n * n], x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    matvec[per_item(n)](&w, &x, &mut h, n);
    relu[per_item(n)](&mut h, n);
    add[per_item(n)](&x, &h, &mut out, n);
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let n = 1024_u32;
    let size = n as usize;
    let w_host: Vec<f32> = (0..size * size).map(|i| ((i * 7919) % 2003) as f32 / 1001.5 - 1.0).collect();
    let x_host: Vec<f32> = (0..size).map(|i| ((i * 104_729) % 211) as f32 / 105.5 - 1.0).collect();
    let w = stream.clone_htod(&w_host)?;
    let x = stream.clone_htod(&x_host)?;
    let mut out = stream.alloc_zeros::<f32>(size)?;

    let graph = residual(&ctx, n, &w, &x, &mut out)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    exec.launch(&stream)?;
    drop(exec);
    let got = stream.clone_dtoh(&out)?;

    for row in 0..size {
        let dot: f64 =
            (0..size).map(|col| f64::from(w_host[row * size + col]) * f64::from(x_host[col])).sum();
        let want = f64::from(x_host[row]) + dot.max(0.0);
        if (f64::from(got[row]) - want).abs() > 1e-3 {
            return Err(format!("out[{row}] is {}, plain Rust says {want}", got[row]).into());
        }
    }
    println!("all {n} elements agree with plain Rust");
    Ok(())
}
