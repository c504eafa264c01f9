//! `cuweave::blas` over a library in the place of cuBLAS, on the simulated driver: its calls, their times and arguments, and the
//! handling of each failure. The library finds itself in the search path of a process of its own.

#![allow(unsafe_code)]
#![cfg(target_os = "linux")]

mod failures;
mod library;
mod programs;

use std::process::Command;

use cuweave_testkit::device::driver;

/// Runs the ignored tests of this program.
#[test]
fn with_a_library_in_the_place_of_cublas() {
    if !driver().is_simulated() {
        println!("not run: it needs the simulated driver");
        return;
    }
    let folder = library::folder();
    let path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let mut path: Vec<_> = std::env::split_paths(&path).collect();
    path.insert(0, folder.clone());
    let output = Command::new(std::env::current_exe().expect("the path of this program"))
        .args(["--ignored", "--nocapture", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", std::env::join_paths(path).expect("a path"))
        .output()
        .expect("it runs");
    let _ = std::fs::remove_dir_all(folder);
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    println!("{text}");
    assert!(
        output.status.success() && text.contains(" passed; 0 failed"),
        "it fails in a process of its own"
    );
    assert!(!text.contains("running 0 tests"));
}
