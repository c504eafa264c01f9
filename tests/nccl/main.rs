//! `cuweave::nccl`. On the simulated driver, the tests use a stand-in for NCCL and run in a separate process with
//! four devices. On real devices, which must be at least two, run them with `--ignored`.

#![allow(unsafe_code)]
#![cfg(target_os = "linux")]

mod around;
mod failures;
mod gone;
mod layers;
mod library;
mod order;
mod processes;
mod programs;
mod ranks;
mod training;
mod turns;
mod types;

use cuweave_testkit::device::driver;
use cuweave_testkit::{process, stand_in};

/// Runs the ignored tests of this program.
#[test]
fn with_a_library_in_the_place_of_nccl() {
    if !driver().is_simulated() {
        println!("not run: it needs the simulated driver");
        return;
    }
    let folder = stand_in::folder("nccl", &["nccl_simulated"]);
    // By default, NCCL orders work in graphs with work outside of them by event nodes. From 2.29 on, it can be told
    // not to.
    for (seed, version) in [("0", "22809"), ("3", "23007"), ("5", "21805")] {
        let settings =
            [("CUWEAVE_SIM_DEVICES", "4"), ("CUWEAVE_SIM_SEED", seed), ("CUWEAVE_TEST_NCCL", version)];
        process::ignored(&folder, &settings);
    }
    let _ = std::fs::remove_dir_all(folder);
}
