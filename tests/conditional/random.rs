//! Random programs of nested device-side conditionals, compared with plain Rust on several schedules.

use crate::decide::*;
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, simulated_alone};
use cuweave_testkit::process::apart;

const N: usize = 8;
const LAUNCHES: usize = 3;

/// Compares a graph function with its plain Rust function.
macro_rules! agrees {
    ($program:ident, $meaning:ident, $text:literal) => {{
        let device = alone();
        for seed in 0..4 {
            device.schedule(seed);
            let mut expected = [3u32, 50, 700, 9_000].map(|word| word + seed as u32);
            let [mut a, mut b, mut c, mut d] = expected.map(|word| device.upload(&[word; N]));
            let graph = $program(&device.ctx, N as u32, 2, &mut a, &mut b, &mut c, &mut d);
            let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
            for _ in 0..LAUNCHES {
                exec.launch(&device.stream).expect("it launches");
                $meaning(&mut expected);
            }
            drop(exec);
            let found = [&a, &b, &c, &d].map(|buffer| device.download(buffer));
            assert_eq!(found, expected.map(|word| vec![word; N]), "{}, seed {seed}", stringify!($program));
            device.nothing_reported();
        }
    }};
}

#[allow(unused, clippy::all)]
pub mod programs {
    use super::*;
    cuweave_testkit_functions::conditions!();
}

#[test]
fn programs_mean_what_plain_rust_means() {
    use programs::*;
    each!(agrees);
}

#[test]
fn the_version_of_the_driver_changes_no_result() {
    if simulated_alone().is_some() {
        for version in ["12.4", "12.8", "13.0"] {
            apart("random::all_programs", &[("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_VERSION", version)]);
        }
    }
}

#[test]
#[ignore = "run by the test above, with each version"]
fn all_programs() {
    programs_mean_what_plain_rust_means();
}
