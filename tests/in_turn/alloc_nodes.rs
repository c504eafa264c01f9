//! The rules of alloc nodes that no other test names: addresses, the number of nodes, and how allocations end that
//! no node of their graph frees.

use std::collections::BTreeSet;

use cudarc::driver::DevicePtr;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone, simulated_alone};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

macro_rules! lowered {
    ($($name:ident: $memory:literal;)*) => {$(
        /// Two temporaries, and two allocations that leave the graph.
        #[cuweave::graph(memory = $memory)]
        fn $name(n: u32, first: f32) -> ([f32; n], [f32; n]) {
            let t = alloc::<f32>(n);
            let u = alloc::<f32>(n);
            let a = alloc::<f32>(n);
            let b = alloc::<f32>(n);
            iota[per_item(n)](&mut t, first, n);
            copy(&t, &mut u);
            scale[per_item(n)](&mut u, 2.0, n);
            copy(&t, &mut a);
            copy(&u, &mut b);
            (a, b)
        }
    )*};
}
lowered! {
    in_arena: "arena";
    in_nodes: "nodes";
    in_own_memory: "owned";
}

/// Calls a macro with an exec of each lowering and the number of its alloc nodes.
macro_rules! each {
    ($case:ident, $device:ident) => {
        each!($case, $device, in_arena 3, in_nodes 4, in_own_memory 2);
    };
    ($case:ident, $device:ident, $($name:ident $nodes:literal),*) => {$(
        $case!($name(&$device.ctx, N, 1.0).expect("it builds").instantiate().expect("an exec"), $nodes);
    )*};
}

const N: u32 = 1000;

fn expected(by: f32) -> Vec<f32> {
    (0..N).map(|at| by * (1.0 + at as f32)).collect()
}

/// Every launch, whatever ends its outputs, has them at the same addresses and with the same contents.
#[test]
fn addresses_are_those_of_every_launch() {
    let device = alone();
    macro_rules! case {
        ($exec:expr, $nodes:literal) => {{
            let mut exec = $exec;
            let mut seen = BTreeSet::new();
            for turn in 0..4 {
                let (a, b) = exec.launch(&device.stream).expect("it launches");
                seen.insert([&a, &b].map(|output| output.device_ptr(&device.stream).0));
                assert_eq!((device.download(&a), device.download(&b)), (expected(1.0), expected(2.0)));
                match turn {
                    // Freed in stream order; then forgotten, and freed by the next launch; then one of each.
                    0 => drop((a, b)),
                    1 => std::mem::forget((a, b)),
                    _ => {
                        drop(a);
                        std::mem::forget(b);
                    }
                }
            }
            assert_eq!(seen.len(), 1, "{seen:x?}");
        }};
    }
    each!(case, device);
    device.nothing_reported();
}

/// A graph that is instantiated to free its allocations at each launch leaves the last ones. Execs leave none.
#[test]
fn no_allocation_outlives_its_exec() {
    let Some(device) = simulated_alone() else { return };
    let bytes = |device: &Device| device.live().map(|live| live.bytes);
    let before = bytes(&device);
    macro_rules! case {
        ($exec:expr, $nodes:literal) => {{
            let mut exec = $exec;
            for _ in 0..3 {
                std::mem::forget(exec.launch(&device.stream).expect("it launches"));
            }
            assert_ne!(bytes(&device), before);
            drop(exec);
            device.stream.synchronize().expect("all is well");
            assert_eq!(bytes(&device), before);
        }};
    }
    each!(case, device);
    device.nothing_reported();
}

/// The arena has one node, and each allocation that leaves the graph has its own.
#[test]
fn allocations_have_the_nodes_of_their_lowering() {
    let Some(device) = simulated_alone() else { return };
    let count = || {
        let counts = cuweave_sim::call_counts().expect("counts");
        ["cuGraphAddMemAllocNode", "cuGraphAddMemFreeNode"].map(|call| counts.get(call).copied().unwrap_or(0))
    };
    let mut before = count();
    macro_rules! case {
        ($exec:expr, $nodes:literal) => {{
            drop($exec);
            let [allocs, frees] = count();
            // What leaves the graph is not freed in it.
            assert_eq!([allocs - before[0], frees - before[1]], [$nodes, $nodes - 2]);
            before = [allocs, frees];
        }};
    }
    each!(case, device);
    assert_ne!(before, [0, 0]);
}
