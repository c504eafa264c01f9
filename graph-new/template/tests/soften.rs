//! Runs on the GPU, or without one on the simulated driver, which also reports races and uses after free.

use {{crate_name}}::soften;

/// Computes the same on the CPU.
fn blur(x: &[f32]) -> Vec<f32> {
    let last = x.len() - 1;
    (0..=last).map(|i| (x[i.saturating_sub(1)] + x[i] + x[(i + 1).min(last)]) / 3.0).collect()
}

#[test]
fn the_graph_is_the_sum_of_its_kernels() -> cuweave::Result<()> {
    cuweave_sim::load().expect("a driver");
    let ctx = cuweave::context(0)?;
    let stream = ctx.new_stream()?;
    let signal: Vec<f32> = (0..1000_u16).map(|i| f32::from(i % 7)).collect();
    let x = stream.clone_htod(&signal)?;
    let mut out = stream.alloc_zeros::<f32>(1000)?;

    let mut exec = soften(&ctx, 1000, 2.0, &x, &mut out)?.instantiate()?;
    exec.launch(&stream)?;
    exec.set_factor(0.5)?; // updates one node
    exec.launch(&stream)?;
    drop(exec); // gives `out` back
    let expected: Vec<f32> = blur(&blur(&signal)).iter().map(|value| 0.5 * value).collect();
    for (value, expected) in stream.clone_dtoh(&out)?.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-5, "{value} {expected}");
    }
    Ok(())
}
