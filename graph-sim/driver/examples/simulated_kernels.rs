//! Lists the kernels of PTX files that the simulated driver can run, and the reasons for the others.
//!
//! `cargo run -p cuweave-sim-driver --example simulated_kernels -- a.ptx b.ptx`

use cuweave_ptx::parse_bytes;
use cuweave_sim_driver::interp::Program;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut failed = false;
    let mut counts = (0, 0);
    for path in std::env::args().skip(1) {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{path}: {error}");
                failed = true;
                continue;
            }
        };
        match parse_bytes(&bytes) {
            Ok(module) => {
                for entry in Program::decode(&module).entries {
                    counts.1 += 1;
                    match entry.supported {
                        Ok(()) => counts.0 += 1,
                        Err(why) => println!("{path}: `{}`: {why}", entry.name),
                    }
                }
            }
            Err(error) => {
                println!("{path}:{error}");
                failed = true;
            }
        }
    }
    println!("{} of {} kernels can be run", counts.0, counts.1);
    ExitCode::from(u8::from(failed))
}
