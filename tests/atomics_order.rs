//! Launches that update one buffer by atomics: unordered where they commute, else in program order, through real PTX.

use cuweave::prelude::*;

use support::device;

#[path = "pass/support.rs"]
#[allow(unused_macros, unused_imports, dead_code)]
mod support;

#[cuweave::kernels("tests/kernels/atomics.ptx")]
unsafe extern "ptx-kernel" {
    fn add_u32(total: &[Atomic<u32>; 1], by: u32);
    fn max_u32(total: &[Atomic<u32>; 1], by: u32);
    fn or_u32(total: &[Atomic<u32>; 1], by: u32);
    fn add_f32(total: &[Atomic<f32>; 1], by: f32);
    fn add_all(totals: &[Atomic<u32>; n], by: u32, n: u32);
    fn ticket(total: &[Atomic<u32>; 1], out: &mut [MaybeUninit<u32>; 1], by: u32);
    fn exchange(total: &[Atomic<u32>; 1], by: u32);
    fn compare(total: &[Atomic<u32>; 1], from: u32, to: u32);
    fn wrap(total: &[Atomic<u32>; 1], most: u32);
    fn unwrap(total: &[Atomic<u32>; 1], most: u32);
    fn add_block(total: &[Atomic<u32>; 1], by: u32);
    fn add_system(total: &[Atomic<u32>; 1], by: u32);
    fn add_max(total: &[Atomic<u32>; 1], by: u32);
    fn add_wide(total: &[Atomic<u32>; 2], by: u32);
    fn add_two(one: &[Atomic<u32>; 1], other: &[Atomic<u32>; 1], by: u32);
    fn look(total: &[Atomic<u32>; 1], out: &mut [MaybeUninit<u32>; 1]);
    fn lost(total: &[Atomic<u32>; 1], at: &mut [u64; 1], by: u32);
    fn count(by: u32);
    fn counted(out: &mut [MaybeUninit<u32>; 1]);
}

/// Runs a graph function over `totals` and other buffers, and gives its depth, its edges and the totals.
macro_rules! outcome {
    ($graph:ident, $totals:expr $(, $other:expr)*) => {{
        let device = device();
        let mut totals = device.upload(&$totals);
        $graph!(@ device, totals);
    }};
}

/// Two graph functions of the same launches, one in inferred order and one in explicit order without any.
macro_rules! launches {
    ($name:ident ($($argument:tt)*) $body:tt) => {
        mod $name {
            use super::*;
            #[cuweave::graph]
            pub fn inferred($($argument)*) $body
            #[cuweave::graph(order = "explicit")]
            pub fn explicit($($argument)*) $body
        }
    };
}

/// Depth and edges of a graph, and `$total` after a launch.
macro_rules! run {
    ($device:ident, $graph:expr, $total:ident) => {{
        let graph = $graph.expect("it builds");
        let report = graph.report();
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&$device.stream).expect("it launches");
        drop(exec);
        (report.depth, report.edges, $device.download(&$total))
    }};
}

/// Each pair of launches in one order and the other, on a buffer that holds 10: depth 1 and no error where they commute,
/// depth 2, the result of program order, and an error in explicit order where they do not.
macro_rules! pairs {
    ($($name:ident: $one:expr, $other:expr => $commute:expr, $want:expr, $reversed:expr;)*) => { $(
        mod $name {
            use super::*;

            launches! { forth (total: &mut [u32; 2]) { $one; $other; } }
            launches! { back (total: &mut [u32; 2]) { $other; $one; } }
        }
    )* };
}
