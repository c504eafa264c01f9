//! Module variables that kernels write with instructions that the analysis does not follow: launches stay in
//! program order and are not batched.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/hidden.ptx")]
unsafe extern "ptx-kernel" {
    fn set_behind(value: u32, mark: &mut [MaybeUninit<u32>; 1]);
    fn get_behind(out: &mut [MaybeUninit<u32>; 1]);
    fn set_looped(value: u32, mark: &mut [MaybeUninit<u32>; 1]);
    fn get_looped(out: &mut [MaybeUninit<u32>; 1]);
    fn set_pointed(value: u32, mark: &mut [MaybeUninit<u32>; 1]);
    fn get_pointed(out: &mut [MaybeUninit<u32>; 1]);
    fn set_listed(value: u32, mark: &mut [MaybeUninit<u32>; 1]);
    fn get_listed(out: &mut [MaybeUninit<u32>; 1]);
    fn set_chained(value: u32, mark: &mut [MaybeUninit<u32>; 1]);
    fn get_chained(out: &mut [MaybeUninit<u32>; 1]);
}

/// Writes, reads, writes and reads a variable with launches that share no argument.
macro_rules! in_program_order {
    ($($name:ident: $set:ident, $get:ident;)*) => { $(
        mod $name {
            use super::*;

            #[cuweave::graph]
            fn inferred(marks: &mut [u32; 2], first: &mut [u32; 1], second: &mut [u32; 1]) {
                let (one, other) = marks.split_at_mut(1);
                $set[(1, 1)](5, &mut one);
                $get[(1, 1)](&mut first);
                $set[(1, 1)](7, &mut other);
                $get[(1, 1)](&mut second);
            }

            #[cuweave::graph(order = "explicit")]
            fn explicit(marks: &mut [u32; 1], first: &mut [u32; 1]) {
                $set[(1, 1)](5, &mut marks);
                $get[(1, 1)](&mut first);
            }

            #[test]
            fn each_launch_follows_the_one_before() {
                let device = device();
                let mut marks = device.zeros::<u32>(2);
                let (mut first, mut second) = (device.zeros::<u32>(1), device.zeros::<u32>(1));
                let graph = inferred(&device.ctx, &mut marks, &mut first, &mut second).expect("it builds");
                let report = graph.report();
                assert_eq!((report.edges, report.depth, report.kernels), (3, 4, 4), "{report}");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                assert_eq!((device.download(&first), device.download(&second)), (vec![5], vec![7]));
                assert_eq!(device.download(&marks), [5, 7]);
            }

            #[test]
            fn explicit_order_has_to_say_so() {
                let device = device();
                let (mut marks, mut first) = (device.zeros::<u32>(1), device.zeros::<u32>(1));
                let error = explicit(&device.ctx, &mut marks, &mut first).expect_err("nothing orders them");
                let text = error.to_string();
                for part in [stringify!($set), stringify!($get), "one of them writes it"] {
                    assert!(text.contains(part), "{text}");
                }
            }
        }
    )* };
}

in_program_order! {
    behind_ten_thousand_blocks: set_behind, get_behind;
    in_a_large_function_called_from_a_loop: set_looped, get_looped;
    behind_an_indirect_call: set_pointed, get_pointed;
    behind_another_indirect_call: set_listed, get_listed;
    behind_initialisers: set_chained, get_chained;
}

/// Launches that write one variable and are otherwise independent.
#[cuweave::graph]
fn writers(marks: &mut [u32; 8]) {
    for i in 0..8 {
        set_behind[(1, 1)](i as u32, &mut marks[i..i + 1]);
    }
}

#[test]
fn writers_are_not_batched() {
    let device = device();
    let mut marks = device.zeros::<u32>(8);
    let graph = writers(&device.ctx, &mut marks).expect("it builds");
    let report = graph.report();
    assert_eq!((report.kernels, report.depth, report.batches.len()), (8, 8, 0), "{report}");
}
