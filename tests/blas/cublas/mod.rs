//! `cuweave::blas` with a stand-in for cuBLAS on the simulated driver: its calls, their times and arguments, and
//! each failure. The stand-in is found through the search path of a separate process.

mod failures;
mod library;
mod programs;

use cuweave_testkit::device::driver;
use cuweave_testkit::{process, stand_in};

/// Runs the ignored tests of this program.
#[test]
fn with_a_library_in_the_place_of_cublas() {
    if !driver().is_simulated() {
        println!("not run: it needs the simulated driver");
        return;
    }
    let names = ["cublas_simulated", "cublasLt_simulated", "cublas", "cublasLt"];
    let folder = stand_in::folder("cublas", &names);
    process::ignored(&folder, &[]);
    let _ = std::fs::remove_dir_all(folder);
}
