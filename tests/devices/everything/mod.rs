//! Random programs over one to four devices, with everything that a graph may contain there: slices, shared
//! buffers, managed memory with advice, prefetches and discards, pinned memory of any context, copies between
//! devices, conditionals, calls, host statements, setters, fused and batched launches, and budgets. Each is
//! compared with a sequential evaluation in plain Rust.

use cudarc::driver::CudaContext;
use cuweave_testkit::device::{driver, simulated_alone};
use cuweave_testkit::process::apart;
use cuweave_testkit::random::Random;

mod evaluate;
mod generate;
mod run;

/// The number of programs per process; `CUWEAVE_TEST_PROGRAMS` overrides it.
const PROGRAMS: u64 = 24;

/// Runs the programs in a separate process whose driver has `count` devices.
fn with_devices(count: u32, more: &[(&str, &str)]) {
    if simulated_alone().is_none() {
        return;
    }
    let count = count.to_string();
    let settings = [&[("CUWEAVE_SIM_DEVICES", count.as_str())], more].concat();
    apart("everything::programs_run", &settings);
}

#[test]
fn one_device() {
    with_devices(1, &[("CUWEAVE_SIM_SEED", "0")]);
    with_devices(1, &[("CUWEAVE_SIM_SEED", "9"), ("CUWEAVE_SIM_VERSION", "12.4")]);
}

#[test]
fn two_devices() {
    with_devices(2, &[("CUWEAVE_SIM_SEED", "5")]);
    with_devices(2, &[("CUWEAVE_SIM_SEED", "6"), ("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
fn three_and_four_devices() {
    with_devices(3, &[("CUWEAVE_SIM_SEED", "7"), ("CUWEAVE_SIM_VERSION", "12.8")]);
    with_devices(4, &[("CUWEAVE_SIM_SEED", "8"), ("CUWEAVE_SIM_PEERS", "0-1,2-3")]);
}

#[test]
#[ignore = "run by the tests above, in a process of its own"]
fn programs_run() {
    driver();
    let count = CudaContext::device_count().expect("a count");
    let contexts: Vec<_> =
        (0..count).map(|device| cuweave::context(device as usize).expect("a context")).collect();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("CUWEAVE_TEST_FIRST").unwrap_or(0);
    let mut seen = run::Seen::default();
    for seed in first..first + number("CUWEAVE_TEST_PROGRAMS").unwrap_or(PROGRAMS) {
        let mut random = Random::new(1 + seed * 8 + contexts.len() as u64);
        let program = generate::program(&mut random, contexts.len());
        run::check(&program, &contexts, &mut random, &mut seen, &format!("program {seed}"));
    }
    println!("{seen:?}");
    let reports = cuweave_sim::take_reports().expect("reports");
    assert!(reports.is_empty(), "{reports:?}");
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    seen.is_rich(contexts.len());
}
