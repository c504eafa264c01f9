//! Passes on the data for the search of the simulated driver: the nonce of its build, and cargo's output folder.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let nonce = env::var("DEP_CUWEAVE_SIM_DRIVER_NONCE").unwrap_or_default();
    println!("cargo::rustc-env=CUWEAVE_SIM_NONCE={nonce}");
    // target/<profile>/build/<package>-<hash>/out: the libraries lie in target/<profile>/deps. For programs that do
    // not themselves lie there, such as doc tests.
    let out = env::var("OUT_DIR").unwrap_or_default();
    let deps = Path::new(&out).ancestors().nth(3).map(|profile| profile.join("deps"));
    println!("cargo::rustc-env=CUWEAVE_SIM_DEPS={}", deps.unwrap_or_default().display());
}
