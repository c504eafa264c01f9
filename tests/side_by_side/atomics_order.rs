//! Launches that update one buffer by atomics, with real PTX: unordered if they commute, otherwise in program
//! order.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

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

/// Tests graph functions on `total`, which holds 10 and 20, and `out`: the depth of the graph, and `total` and
/// `out` after a launch. In explicit order, functions with a depth above 1 must be refused, naming both launches
/// and the buffer.
macro_rules! cases {
    ($($name:ident $arguments:tt $body:tt => $depth:literal, $total:expr, $out:expr;)*) => { $(
        mod $name {
            use super::*;

            #[cuweave::graph]
            fn inferred $arguments $body

            #[cuweave::graph(order = "explicit")]
            fn explicit $arguments $body

            #[test]
            fn is_in_program_order() {
                let device = device();
                let (mut total, mut out) = (device.upload(&[10u32, 20]), device.upload(&[0u32; 2]));
                let graph = inferred(&device.ctx, &mut total, &mut out).expect("it builds");
                let report = graph.report();
                assert_eq!(report.depth, $depth, "{report}");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                assert_eq!((device.download(&total), device.download(&out)), ($total.to_vec(), $out.to_vec()));
                match explicit(&device.ctx, &mut total, &mut out).map(drop) {
                    Ok(()) => assert_eq!($depth, 1),
                    Err(error) => {
                        let text = error.to_string();
                        assert!($depth > 1 && text.contains("update `total` by atomics that do not commute"), "{text}");
                        assert!(text.contains(file!()), "{text}");
                    }
                }
            }
        }
    )* };
}

cases! {
    sums (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_u32[(1, 32)](atomic(&mut total[..1]), 1);
        add_u32[(1, 32)](atomic(&mut total[..1]), 2);
    } => 1, [106, 20], [0, 0];
    a_sum_of_many_and_one (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_all[(1, 32)](atomic(&mut total), 1, 2);
        add_u32[(1, 32)](atomic(&mut total[1..]), 2);
    } => 1, [11, 85], [0, 0];
    a_sum_for_the_system (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_system[(1, 32)](atomic(&mut total[..1]), 1);
        add_u32[(1, 32)](atomic(&mut total[..1]), 2);
    } => 1, [106, 20], [0, 0];
    maxima (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        max_u32[(1, 1)](atomic(&mut total[..1]), 12);
        max_u32[(1, 1)](atomic(&mut total[..1]), 11);
    } => 1, [12, 20], [0, 0];
    a_sum_and_a_maximum (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_u32[(1, 1)](atomic(&mut total[..1]), 5);
        max_u32[(1, 1)](atomic(&mut total[..1]), 12);
    } => 2, [15, 20], [0, 0];
    a_maximum_and_a_sum (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        max_u32[(1, 1)](atomic(&mut total[..1]), 12);
        add_u32[(1, 1)](atomic(&mut total[..1]), 5);
    } => 2, [17, 20], [0, 0];
    a_sum_and_bits (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_u32[(1, 1)](atomic(&mut total[..1]), 5);
        or_u32[(1, 1)](atomic(&mut total[..1]), 16);
    } => 2, [31, 20], [0, 0];
    a_sum_a_ticket_and_a_sum (total: &mut [u32; 2], out: &mut [u32; 2]) {
        add_u32[(1, 1)](atomic(&mut total[..1]), 5);
        ticket[(1, 1)](atomic(&mut total[..1]), &mut out[..1], 1);
        add_u32[(1, 1)](atomic(&mut total[..1]), 7);
    } => 3, [23, 20], [15, 0];
    tickets (total: &mut [u32; 2], out: &mut [u32; 2]) {
        ticket[(1, 1)](atomic(&mut total[..1]), &mut out[..1], 3);
        ticket[(1, 1)](atomic(&mut total[..1]), &mut out[1..], 4);
    } => 2, [17, 20], [10, 13];
    tickets_of_parts (total: &mut [u32; 2], out: &mut [u32; 2]) {
        ticket[(1, 1)](atomic(&mut total[..1]), &mut out[..1], 3);
        ticket[(1, 1)](atomic(&mut total[1..]), &mut out[1..], 4);
    } => 1, [13, 24], [10, 20];
    a_ticket_within_a_sum (total: &mut [u32; 2], out: &mut [u32; 2]) {
        add_all[(1, 2)](atomic(&mut total), 1, 2);
        ticket[(1, 1)](atomic(&mut total[1..]), &mut out[1..], 4);
        add_all[(1, 2)](atomic(&mut total), 1, 2);
    } => 3, [12, 26], [0, 21];
    exchanges (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        exchange[(1, 1)](atomic(&mut total[..1]), 3);
        exchange[(1, 1)](atomic(&mut total[..1]), 4);
    } => 2, [4, 20], [0, 0];
    comparisons (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        compare[(1, 1)](atomic(&mut total[..1]), 10, 11);
        compare[(1, 1)](atomic(&mut total[..1]), 11, 12);
    } => 2, [12, 20], [0, 0];
    increments (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        wrap[(1, 1)](atomic(&mut total[..1]), 10);
        wrap[(1, 1)](atomic(&mut total[..1]), 100);
    } => 2, [1, 20], [0, 0];
    decrements (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        unwrap[(1, 1)](atomic(&mut total[..1]), 5);
        unwrap[(1, 1)](atomic(&mut total[..1]), 100);
    } => 2, [4, 20], [0, 0];
    sums_of_a_block (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_block[(1, 32)](atomic(&mut total[..1]), 1);
        add_block[(1, 32)](atomic(&mut total[..1]), 2);
    } => 2, [106, 20], [0, 0];
    two_operations_in_one (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_max[(1, 1)](atomic(&mut total[..1]), 1);
        add_max[(1, 1)](atomic(&mut total[..1]), 1);
    } => 2, [12, 20], [0, 0];
    sums_of_two_widths (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_all[(1, 2)](atomic(&mut total), 1, 2);
        add_wide[(1, 1)](atomic(&mut total), 2);
    } => 2, [11, 23], [0, 0];
    through_two_parameters (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_two[(1, 1)](atomic(&mut total[..1]), atomic(&mut total[1..]), 25);
        add_u32[(1, 1)](atomic(&mut total[1..]), 1);
    } => 2, [35, 26], [0, 0];
    through_the_other_parameter (total: &mut [u32; 2], _out: &mut [u32; 2]) {
        add_two[(1, 1)](atomic(&mut total[..1]), atomic(&mut total[1..]), 25);
        add_u32[(1, 1)](atomic(&mut total[..1]), 1);
    } => 1, [36, 25], [0, 0];
    looks (total: &mut [u32; 2], out: &mut [u32; 2]) {
        look[(1, 1)](atomic(&mut total[..1]), &mut out[..1]);
        look[(1, 1)](atomic(&mut total[..1]), &mut out[1..]);
    } => 1, [10, 20], [10, 10];
    a_look_at_a_sum (total: &mut [u32; 2], out: &mut [u32; 2]) {
        look[(1, 1)](atomic(&mut total[..1]), &mut out[..1]);
        add_u32[(1, 32)](atomic(&mut total[..1]), 1);
        look[(1, 1)](atomic(&mut total[..1]), &mut out[1..]);
    } => 3, [42, 20], [10, 42];
}

/// Sums of floats of one type are unordered: the order of their terms is unspecified.
#[cuweave::graph]
fn floats(total: &mut [f32; 1]) {
    for i in 0..4 {
        add_f32[(1, 32)](atomic(&mut total), i as f32);
    }
}

#[test]
fn sums_of_floats_are_unordered() {
    let device = device();
    let mut total = device.zeros::<f32>(1);
    let graph = floats(&device.ctx, &mut total).expect("it builds");
    assert_eq!((graph.report().depth, graph.report().edges), (1, 0), "{}", graph.report());
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&total), [192.0]);
}

/// An address that is stored in memory: the accesses through it are unknown.
#[cuweave::graph]
fn out_of_sight(total: &mut [u32; 1], at: &mut [u64; 2]) {
    let (one, other) = at.split_at_mut(1);
    lost[(1, 1)](atomic(&mut total), &mut one, 1);
    lost[(1, 1)](atomic(&mut total), &mut other, 2);
}

#[test]
fn what_is_lost_from_sight_is_ordered() {
    let device = device();
    let (mut total, mut at) = (device.zeros::<u32>(1), device.zeros::<u64>(2));
    let graph = out_of_sight(&device.ctx, &mut total, &mut at).expect("it builds");
    assert_eq!((graph.report().depth, graph.report().edges), (2, 1), "{}", graph.report());
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&total), [3]);
}

/// Atomics on a variable of the module are hidden state.
#[cuweave::graph]
fn module_level(first: &mut [u32; 1], second: &mut [u32; 1]) {
    counted[(1, 1)](&mut first);
    count[(1, 32)](1);
    count[(1, 32)](2);
    counted[(1, 1)](&mut second);
}

#[test]
fn atomics_on_variables_of_the_module_are_ordered() {
    let device = device();
    let (mut first, mut second) = (device.zeros::<u32>(1), device.zeros::<u32>(1));
    let graph = module_level(&device.ctx, &mut first, &mut second).expect("it builds");
    assert_eq!((graph.report().depth, graph.report().edges), (4, 3), "{}", graph.report());
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!((device.download(&first), device.download(&second)), (vec![3], vec![99]));
}

/// Many sums before and after a ticket. The ticket waits for all earlier sums, and all later sums wait for the
/// ticket.
#[cuweave::graph]
fn many(total: &mut [u32; 1], out: &mut [u32; 1]) {
    for i in 0..5 {
        add_u32[(1, 1)](atomic(&mut total), 1);
    }
    ticket[(1, 1)](atomic(&mut total), &mut out, 100);
    for i in 0..7 {
        add_u32[(1, 1)](atomic(&mut total), 1);
    }
}

#[test]
fn a_ticket_stands_between() {
    let device = device();
    let (mut total, mut out) = (device.zeros::<u32>(1), device.zeros::<u32>(1));
    let graph = many(&device.ctx, &mut total, &mut out).expect("it builds");
    assert_eq!(graph.report().depth, 3, "{}", graph.report());
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!((device.download(&total), device.download(&out)), (vec![112], vec![5]));
}

/// The same statements with `#[after]` in reverse: the user's order is respected.
#[cuweave::graph]
fn turned(total: &mut [u32; 1]) {
    #[after(second)]
    let first = exchange[(1, 1)](atomic(&mut total), 1);
    let second = exchange[(1, 1)](atomic(&mut total), 2);
    let third = exchange[(1, 1)](atomic(&mut total), 3);
}

#[test]
fn order_of_the_users_own_stands() {
    let device = device();
    let mut total = device.zeros::<u32>(1);
    let graph = turned(&device.ctx, &mut total).expect("it builds");
    assert_eq!(graph.report().depth, 3, "{}", graph.report());
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&total), [3]);
}

/// `#[after]` that contradicts the program order of the atomics.
#[cuweave::graph]
fn contradicting(total: &mut [u32; 1]) {
    #[after(third)]
    let first = exchange[(1, 1)](atomic(&mut total), 1);
    let second = exchange[(1, 1)](atomic(&mut total), 2);
    let third = exchange[(1, 1)](atomic(&mut total), 3);
}

#[test]
fn order_that_contradicts_is_an_error() {
    let device = device();
    let mut total = device.zeros::<u32>(1);
    let error = contradicting(&device.ctx, &mut total).expect_err("a cycle");
    println!("{error}");
    assert!(error.to_string().contains("update `total` by atomics that do not commute"), "{error}");
}
