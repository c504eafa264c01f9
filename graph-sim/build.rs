//! Passes two values to the search for the simulated driver: the nonce of the driver's build, and cargo's output
//! folder.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let nonce = env::var("DEP_CUWEAVE_SIM_DRIVER_NONCE").unwrap_or_default();
    println!("cargo::rustc-env=CUWEAVE_SIM_NONCE={nonce}");
    // `OUT_DIR` is target/<profile>/build/<package>-<hash>/out, and the libraries are in target/<profile>/deps.
    // The search needs the folder for programs elsewhere, such as doc tests.
    let out = env::var("OUT_DIR").unwrap_or_default();
    let deps = Path::new(&out).ancestors().nth(3).map(|profile| profile.join("deps"));
    println!("cargo::rustc-env=CUWEAVE_SIM_DEPS={}", deps.unwrap_or_default().display());
}
