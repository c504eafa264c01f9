//! Prints the kernels of a PTX file with their parameters and accesses:
//! `cargo run --example kernel_report -- file.ptx`. Without a file, the kernels of the first example.

use std::error::Error;

use cuweave_ptx::{parse_bytes, report};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).unwrap_or_else(|| "examples/kernels/nn.ptx".into());
    let bytes = std::fs::read(&file)?;
    let module = parse_bytes(&bytes).map_err(|error| format!("{}: {error}", file.to_string_lossy()))?;
    print!("{}", report::table(&module));
    Ok(())
}
