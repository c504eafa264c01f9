//! 16 independent branches with a join at the end. The program does not declare them independent. The compiler proves
//! that they access disjoint buffers and disjoint slices, so the graph is 16 wide, as the depth in the report shows.

use std::error::Error;

use cuweave::prelude::*;

#[cuweave::kernels("kernels/branches.ptx")]
unsafe extern "ptx-kernel" {
    /// x[i] = first + i
    fn ramp(x: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    /// x = x * a + b
    fn affine(x: &mut [f32; n], a: f32, b: f32, n: u32);
    /// out[i] = the sum over r of rows[r * n + i]
    fn sum_rows(rows: &[f32; count * n], out: &mut [MaybeUninit<f32>; n], count: u32, n: u32);
}

/// Each branch computes in its own temporary and writes its result to one row of `rows`.
#[cuweave::graph]
fn branches(n: u32, out: &mut [f32; n]) {
    let rows = alloc::<f32>(16 * n);
    for i in 0..16 {
        let t = alloc::<f32>(n);
        ramp[per_item(n)](&mut t, i as f32, n);
        affine[per_item(n)](&mut t, 0.5, 1.0, n);
        affine[per_item(n)](&mut t, -0.25, 3.0, n);
        affine[per_item(n)](&mut t, 2.0, i as f32, n);
        copy(&t, &mut rows[i * n..(i + 1) * n]);
    }
    sum_rows[per_item(n)](&rows, &mut out, 16, n);
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("driver: {}", cuweave_sim::load()?);
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;

    let n = 1000_u32;
    let mut out = stream.alloc_zeros::<f32>(n as usize)?;
    let graph = branches(&ctx, n, &mut out)?;
    println!("{}", graph.report());
    let mut exec = graph.instantiate()?;
    exec.launch(&stream)?;
    drop(exec);
    let got = stream.clone_dtoh(&out)?;

    for (i, got) in got.iter().enumerate() {
        let mut want = 0.0_f32;
        for branch in 0..16 {
            let mut x = branch as f32 + i as f32;
            for (a, b) in [(0.5, 1.0), (-0.25, 3.0), (2.0, branch as f32)] {
                x = x * a + b;
            }
            want += x;
        }
        if (got - want).abs() > 1e-5 * want.abs().max(1.0) {
            return Err(format!("out[{i}] is {got}, plain Rust says {want}").into());
        }
    }
    println!("all {n} elements agree with plain Rust");
    Ok(())
}
