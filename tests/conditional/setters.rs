//! The kernels that set conditions. A small one with four parameters is used for statements with one handle and
//! small values, and a larger one otherwise. Each kind of statement must choose the same arm as Rust, for every
//! value of the operand.

#![allow(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use cudarc::driver::sys;
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, simulated_alone};
use cuweave_testkit::process::apart;

use crate::decide::*;

const N: u32 = 3;

/// The kernels that set conditions.
const SMALL: &str = "cuweave_set_condition";
const LARGE: &str = "cuweave_set_conditions";
const COUNTS: &str = "cuweave_set_loop";

#[cuweave::graph]
fn only(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        mix[per_item(n)](&mut x, 1, n);
    }
}

#[cuweave::graph]
fn unless(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if !flag {
        mix[per_item(n)](&mut x, 1, n);
    }
}

#[cuweave::graph]
fn either(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        mix[per_item(n)](&mut x, 1, n);
    } else {
        mix[per_item(n)](&mut x, 2, n);
    }
}

/// The first arm runs if the flag is 0.
#[cuweave::graph]
fn turned(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if !flag {
        mix[per_item(n)](&mut x, 1, n);
    } else {
        mix[per_item(n)](&mut x, 2, n);
    }
}

#[cuweave::graph]
fn small(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        0 => mix[per_item(n)](&mut x, 1, n),
        15 => mix[per_item(n)](&mut x, 2, n),
        3 | 7 => {}
        9 => mix[per_item(n)](&mut x, 3, n),
        _ => mix[per_item(n)](&mut x, 4, n),
    }
}

/// For other values, no arm runs.
#[cuweave::graph]
fn some(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        1 | 2 => mix[per_item(n)](&mut x, 1, n),
        14 => mix[per_item(n)](&mut x, 2, n),
        _ => {}
    }
}

/// Only the arm for all unlisted values has statements.
#[cuweave::graph]
fn others(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        0 | 4 | 15 => {}
        _ => mix[per_item(n)](&mut x, 1, n),
    }
}

/// 16 is outside of the table.
#[cuweave::graph]
fn sixteen(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        0 => mix[per_item(n)](&mut x, 1, n),
        16 => mix[per_item(n)](&mut x, 2, n),
        _ => mix[per_item(n)](&mut x, 3, n),
    }
}

#[cuweave::graph]
fn large(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        4_294_967_295 | 5 => mix[per_item(n)](&mut x, 1, n),
        1_073_741_824 => mix[per_item(n)](&mut x, 2, n),
        _ => {}
    }
}

/// The maximum number of arms and values.
#[cuweave::graph]
fn most(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        0 => mix[per_item(n)](&mut x, 1, n),
        2 => mix[per_item(n)](&mut x, 2, n),
        4 => mix[per_item(n)](&mut x, 3, n),
        6 => mix[per_item(n)](&mut x, 4, n),
        8 => mix[per_item(n)](&mut x, 5, n),
        10 => mix[per_item(n)](&mut x, 6, n),
        12 => mix[per_item(n)](&mut x, 7, n),
        14 => mix[per_item(n)](&mut x, 8, n),
        _ => mix[per_item(n)](&mut x, 9, n),
    }
}

#[cuweave::graph]
fn again(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let left = alloc::<u32>(1);
    modulo[(1, 1)](&flag, &mut left, 3);
    while left {
        mix[per_item(n)](&mut x, 1, n);
        count_down[(1, 1)](&mut left);
    }
}

#[cuweave::graph]
fn counted(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let left = alloc::<u32>(1);
    modulo[(1, 1)](&flag, &mut left, 3);
    #[at_most(1)]
    while left {
        mix[per_item(n)](&mut x, 1, n);
        count_down[(1, 1)](&mut left);
    }
}

/// Values of the operand: all of the table, those next to it, and those whose index would overflow.
const VALUES: [u32; 28] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    17,
    31,
    32,
    64,
    0x0fff_ffff,
    0x1000_0000,
    0x4000_0000,
    0x4000_0009,
    0x8000_0000,
    0x8000_000f,
    u32::MAX,
];

/// Returns the number of nodes of each condition-setting kernel, by name, in the graphs that kernels were added to.
fn setters(calls: &[cuweave_sim::DriverCall]) -> BTreeMap<String, usize> {
    let adds = calls.iter().filter(|call| call.name.starts_with("cuGraphAddKernelNode"));
    let graphs: BTreeSet<u64> = adds.map(|call| call.arguments[1]).collect();
    let mut names = BTreeMap::new();
    for graph in graphs {
        let graph = std::ptr::with_exposed_provenance_mut::<sys::CUgraph_st>(graph as usize);
        let mut nodes = vec![null_mut(); 100];
        let mut count = nodes.len();
        // SAFETY: the graph is alive and has fewer nodes than the list has room for.
        unsafe { sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count) }.result().expect("its nodes");
        for &node in &nodes[..count] {
            let mut params = MaybeUninit::<sys::CUDA_KERNEL_NODE_PARAMS>::zeroed();
            let mut name = std::ptr::null();
            // SAFETY: the node is alive. The parameters are only read if the call has written them; it fails for
            // other nodes.
            let name = unsafe {
                if sys::cuGraphKernelNodeGetParams_v2(node, params.as_mut_ptr()).result().is_err() {
                    continue;
                }
                sys::cuFuncGetName(&mut name, params.assume_init().func).result().expect("a name");
                CStr::from_ptr(name).to_str().expect("a name")
            };
            if name.starts_with("cuweave_set") {
                *names.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
    }
    names
}

/// Runs a program with each value and compares an element with the result of a function. The given kernels must set
/// the conditions.
macro_rules! chooses {
    ($program:ident, $setters:expr, $meaning:expr) => {{
        let device = alone();
        for value in VALUES {
            let (mut x, mut flag) = (device.upload(&[7u32; N as usize]), device.upload(&[value]));
            if device.simulated {
                cuweave_sim::take_trace().expect("a trace");
                cuweave_sim::set_trace(true).expect("a trace");
            }
            let graph = $program(&device.ctx, N, &mut x, &mut flag).expect("it builds");
            if device.simulated {
                cuweave_sim::set_trace(false).expect("a trace");
                let found = setters(&cuweave_sim::take_trace().expect("a trace"));
                let wanted =
                    BTreeMap::from($setters.map(|(name, count): (&str, usize)| (name.to_owned(), count)));
                assert_eq!(found, wanted, "{}", stringify!($program));
            }
            let mut exec = graph.instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
            drop(exec);
            let meaning: fn(u32) -> u32 = $meaning;
            assert_eq!(
                device.download(&x),
                [meaning(value); N as usize],
                "{}, {value}",
                stringify!($program)
            );
            device.nothing_reported();
        }
    }};
}

#[test]
#[ignore = "run by the test below, with each version"]
fn each_value_chooses_its_arm() {
    let version = std::env::var("CUWEAVE_SIM_VERSION").unwrap_or_default();
    // If the arms are bodies of one node, they share a handle.
    let of_two = if version.starts_with("12") { LARGE } else { SMALL };
    let of_many = if version == "12.4" { LARGE } else { SMALL };
    chooses!(only, [(SMALL, 1)], |flag| if flag != 0 { step(7, 1) } else { 7 });
    chooses!(unless, [(SMALL, 1)], |flag| if flag == 0 { step(7, 1) } else { 7 });
    chooses!(either, [(of_two, 1)], |flag| step(7, if flag != 0 { 1 } else { 2 }));
    chooses!(turned, [(of_two, 1)], |flag| step(7, if flag == 0 { 1 } else { 2 }));
    chooses!(small, [(of_many, 1)], |flag| match flag {
        0 => step(7, 1),
        15 => step(7, 2),
        3 | 7 => 7,
        9 => step(7, 3),
        _ => step(7, 4),
    });
    chooses!(some, [(of_many, 1)], |flag| match flag {
        1 | 2 => step(7, 1),
        14 => step(7, 2),
        _ => 7,
    });
    chooses!(others, [(SMALL, 1)], |flag| if matches!(flag, 0 | 4 | 15) { 7 } else { step(7, 1) });
    chooses!(sixteen, [(LARGE, 1)], |flag| match flag {
        0 => step(7, 1),
        16 => step(7, 2),
        _ => step(7, 3),
    });
    chooses!(large, [(LARGE, 1)], |flag| match flag {
        u32::MAX | 5 => step(7, 1),
        0x4000_0000 => step(7, 2),
        _ => 7,
    });
    chooses!(most, [(of_many, 1)], |flag| match flag {
        0 | 2 | 4 | 6 | 8 | 10 | 12 | 14 => step(7, flag / 2 + 1),
        _ => step(7, 9),
    });
    // One before the loop, and one at the end of its body.
    chooses!(again, [(SMALL, 2)], |flag| (0..flag / 16 % 3).fold(7, |x, _| step(x, 1)));
    chooses!(counted, [(COUNTS, 2)], |flag| (0..(flag / 16 % 3).min(1)).fold(7, |x, _| step(x, 1)));
}

#[test]
fn each_version_sets_conditions_by_the_kernel_of_its_nodes() {
    if simulated_alone().is_some() {
        for version in ["12.4", "12.8", "13.0"] {
            let settings = [("CUWEAVE_DRIVER", "sim"), ("CUWEAVE_SIM_VERSION", version)];
            apart("setters::each_value_chooses_its_arm", &settings);
        }
    } else {
        each_value_chooses_its_arm();
    }
}

/// The kernels before the loop, at the end of its body, and before both decisions in it each follow a single
/// launch.
macro_rules! following {
    ($(#[$attribute:meta] $name:ident;)*) => {$(
        #[$attribute]
        fn $name(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
            mix[per_item(n)](&mut x, 1, n);
            while flag {
                mix[per_item(n)](&mut x, 2, n);
                if flag {
                    mix[per_item(n)](&mut x, 3, n);
                }
                modulo[(1, 1)](&x[..1], &mut flag, 3);
                match flag {
                    0 => mix[per_item(n)](&mut x, 4, n),
                    1 => mix[per_item(n)](&mut x, 5, n),
                    _ => {}
                }
                mix[per_item(n)](&mut x, 6, n);
            }
            mix[per_item(n)](&mut x, 7, n);
        }
    )*};
}
following! {
    #[cuweave::graph] follows;
    #[cuweave::graph(launches = "fused")] follows_the_end;
}

fn follows_means(mut x: u32, mut flag: u32) -> (u32, u32) {
    x = step(x, 1);
    while flag != 0 {
        x = step(step(x, 2), 3);
        flag = x / 16 % 3;
        x = match flag {
            0 => step(x, 4),
            1 => step(x, 5),
            _ => x,
        };
        x = step(x, 6);
    }
    (step(x, 7), flag)
}

/// A memset of the inner loop's counters also follows the first launch.
#[cuweave::graph]
fn holds_a_counted_loop(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    mix[per_item(n)](&mut x, 1, n);
    if flag {
        mix[per_item(n)](&mut x, 2, n);
        #[at_most(2)]
        while flag {
            mix[per_item(n)](&mut x, 3, n);
            count_down[(1, 1)](&mut flag);
        }
    }
}

macro_rules! starts_early {
    ($program:ident, $early:expr, $meaning:expr) => {{
        let device = alone();
        for seed in 0..8 {
            for flag in [0u32, 1, 3] {
                device.schedule(seed);
                let (mut x, mut decision) = (device.upload(&[9u32; N as usize]), device.upload(&[flag]));
                let graph = $program(&device.ctx, N, &mut x, &mut decision).expect("it builds");
                let report = graph.report();
                assert!(!device.simulated || report.overlapped == $early, "{report}");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                let meaning: fn(u32, u32) -> (u32, u32) = $meaning;
                let once = meaning(9, flag);
                let (x_of, flag_of) = meaning(once.0, once.1);
                assert_eq!(device.download(&x), [x_of; N as usize], "{flag}, seed {seed}");
                assert_eq!(device.download(&decision), [flag_of], "{flag}, seed {seed}");
                device.nothing_reported();
            }
        }
    }};
}

#[test]
fn a_kernel_that_sets_conditions_starts_while_the_launch_before_ends() {
    starts_early!(follows, 4, follows_means);
    starts_early!(follows_the_end, 0, follows_means);
    starts_early!(holds_a_counted_loop, 1, |x, flag| {
        let x = step(x, 1);
        match flag {
            0 => (x, 0),
            _ => ((0..flag.min(2)).fold(step(x, 2), |x, _| step(x, 3)), flag - flag.min(2)),
        }
    });
}
