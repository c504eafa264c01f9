use {{crate_name}}::soften;

fn main() -> cuweave::Result<()> {
    let ctx = cuweave::context(0)?; // an error says so where there is no GPU: `cargo test` needs none
    let stream = ctx.new_stream()?;
    let mut signal = vec![0.0_f32; 1 << 20];
    signal[1 << 19] = 9.0;
    let x = stream.clone_htod(&signal)?;
    let mut out = stream.alloc_zeros::<f32>(signal.len())?;

    let mut exec = soften(&ctx, 1 << 20, 2.0, &x, &mut out)?.instantiate()?;
    exec.launch(&stream)?; // as often as you like
    println!("{}", exec.report());
    drop(exec);
    println!("around the peak: {:?}", &stream.clone_dtoh(&out)?[(1 << 19) - 3..][..7]);
    Ok(())
}
