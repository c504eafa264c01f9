//! `cuweave::nccl`: on the simulated driver over a library in the place of NCCL, in a process of its own that has four devices; on real
//! devices, of which two are needed, with `--ignored`.

#![allow(unsafe_code)]
#![cfg(target_os = "linux")]

mod failures;
mod library;
mod programs;
mod ranks;
mod types;

use std::process::Command;

use cuweave_testkit::device::driver;

/// Runs the ignored tests of this program.
#[test]
fn with_a_library_in_the_place_of_nccl() {
    if !driver().is_simulated() {
        println!("not run: it needs the simulated driver");
        return;
    }
    let folder = library::folder();
    let path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let mut path: Vec<_> = std::env::split_paths(&path).collect();
    path.insert(0, folder.clone());
    for seed in ["0", "3"] {
        let output = Command::new(std::env::current_exe().expect("the path of this program"))
            .args(["--ignored", "--nocapture", "--test-threads=1"])
            .env("LD_LIBRARY_PATH", std::env::join_paths(path.clone()).expect("a path"))
            .env("CUWEAVE_SIM_DEVICES", "4")
            .env("CUWEAVE_SIM_SEED", seed)
            .output()
            .expect("it runs");
        let text =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        println!("{text}");
        assert!(
            output.status.success() && text.contains(" passed; 0 failed"),
            "it fails in a process of its own"
        );
        assert!(!text.contains("running 0 tests"));
    }
    let _ = std::fs::remove_dir_all(folder);
}
