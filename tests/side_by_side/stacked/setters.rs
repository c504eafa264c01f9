//! Setters affect the members of stacks: scalars, buffers, and ranges that they move or shorten.

use cuweave::__private::change_next_rules;
use cuweave::Error;
use cuweave::builder::Builder;
use cuweave::report::Report;
use cuweave_core::launches::tuning::Waves;
use cuweave_testkit::device::device;

use super::kernels::between;
use super::{linear, mixed, odd, sums};

mod graphs {
    use super::super::kernels::{linear, mixed, odd, sums};
    use cuweave::prelude::*;

    /// Two chains of three blocks. The scalar and the buffers have setters.
    #[cuweave::graph]
    pub fn settable(n: u32, a: u32, x: &mut [u32; n], y: &mut [u32; n], z: &[u32; n]) {
        linear[(3, 64)](&mut x, a, 1, n);
        linear[(3, 64)](&mut y, a, 2, n);
        odd[(3, 64)](&z, &mut x, n);
        odd[(3, 64)](&z, &mut y, n);
        linear[(3, 64)](&mut x, 3, a, n);
        linear[(3, 64)](&mut y, 3, a, n);
        sums[(3, 64)](&mut x, n);
        sums[(3, 64)](&mut y, n);
    }

    /// Two chains of one block, on ranges that a setter moves.
    #[cuweave::graph]
    pub fn movable(n: u32, pos: u32, x: &mut [u32; 8 * n]) {
        for at in 0..2 {
            linear[(1, 64)](&mut x[pos + 2 * at * n..pos + 2 * at * n + n], 3, at, n);
            sums[(1, 64)](&mut x[pos + 2 * at * n..pos + 2 * at * n + n], n);
            linear[(1, 64)](&mut x[pos + 2 * at * n..pos + 2 * at * n + n], 5, 1, n);
        }
    }

    /// Chains of three and of two blocks.
    #[cuweave::graph]
    pub fn unequal(n: u32, m: u32, a: u32, x: &mut [u32; n], y: &mut [u32; m]) {
        linear[(3, 64)](&mut x, a, 1, n);
        linear[(2, 64)](&mut y, a, 2, m);
        sums[(3, 64)](&mut x, n);
        sums[(2, 64)](&mut y, m);
    }

    /// Two chains on ranges whose lengths have a setter.
    #[cuweave::graph]
    pub fn shortened(n: u32, live: u32, x: &mut [u32; n], y: &mut [u32; n]) {
        linear[(3, 64)](&mut x[0..live], 3, 1, live);
        linear[(3, 64)](&mut y[0..live], 3, 2, live);
        sums[(3, 64)](&mut x[0..live], live);
        sums[(3, 64)](&mut y[0..live], live);
    }

    /// Two chains whose temporaries stay in registers.
    #[cuweave::graph]
    pub fn through(n: u32, a: u32, x: &mut [u32; n], y: &mut [u32; n], z: &[u32; n]) {
        let s = alloc::<u32>(n);
        let t = alloc::<u32>(n);
        mixed[(3, 64)](&z, &x, &mut s, n);
        mixed[(3, 64)](&z, &y, &mut t, n);
        odd[(3, 64)](&s, &mut x, n);
        odd[(3, 64)](&t, &mut y, n);
        linear[(3, 64)](&mut x, a, 1, n);
        linear[(3, 64)](&mut y, a, 2, n);
    }

    /// Two chains in a body of a condition.
    #[cuweave::graph]
    pub fn conditional(n: u32, a: u32, xs: [&mut [u32; n]; 2], go: &[u32; 1]) {
        if go {
            for x in &mut xs {
                linear[(3, 64)](&mut x, a, 1, n);
                sums[(3, 64)](&mut x, n);
            }
        }
    }

    /// A setter changes the grids of two chains.
    #[cuweave::graph]
    pub fn regridded(n: u32, blocks: u32, x: &mut [u32; n], y: &mut [u32; n]) {
        linear[(blocks, 64)](&mut x, 3, 1, n);
        linear[(blocks, 64)](&mut y, 3, 2, n);
        sums[(blocks, 64)](&mut x, n);
        sums[(blocks, 64)](&mut y, n);
    }
}

#[test]
fn setters_reach_the_members_of_a_stack() {
    let device = device();
    let n = 190_usize;
    let numbers = |by: u32| numbers(n, by);
    let mut buffers = [7, 11, 13].map(|by| device.upload(&numbers(by)));
    let mut expected = [7, 11, 13].map(numbers);
    let z = device.upload(&numbers(17));
    let once = |x: &mut [u32], a: u32, b: u32| {
        linear(x, a, b);
        odd(&numbers(17), x);
        linear(x, 3, a);
        sums(x);
    };
    let [first, second, third] = &mut buffers;
    let graph = graphs::settable(&device.ctx, n as u32, 5, first, second, &z).expect("a graph");
    let report = graph.report();
    assert_eq!((report.kernels, report.stacked.as_slice()), (1, [2].as_slice()), "{report}");
    assert!(report.to_string().contains("of 2 chains side by side"), "{report}");
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    (0..2).for_each(|at| once(&mut expected[at], 5, at as u32 + 1));
    exec.set_a(9).expect("a");
    exec.launch(&device.stream).expect("a launch");
    (0..2).for_each(|at| once(&mut expected[at], 9, at as u32 + 1));
    exec.set_y(third).expect("y");
    exec.launch(&device.stream).expect("a launch");
    once(&mut expected[0], 9, 1);
    once(&mut expected[2], 9, 2);
    drop(exec);
    assert_eq!(buffers.each_ref().map(|own| device.download(own)), expected);
    device.nothing_reported();
}

#[test]
fn setters_move_the_ranges_of_a_stack() {
    let device = device();
    let n = 60_usize;
    let start: Vec<u32> = (0..8 * n as u32).map(|at| at * 37 % 1_001).collect();
    let (mut x, mut expected) = (device.upload(&start), start);
    let graph = graphs::movable(&device.ctx, n as u32, 0, &mut x).expect("a graph");
    let report = graph.report();
    assert_eq!((report.kernels, report.stacked.as_slice()), (1, [2].as_slice()), "{report}");
    let mut exec = graph.instantiate().expect("an exec");
    for pos in [0, 17, 4 * n, 1] {
        exec.set_pos(pos as u32).expect("pos");
        exec.launch(&device.stream).expect("a launch");
        for at in 0..2 {
            let part = &mut expected[pos + 2 * at * n..][..n];
            linear(part, 3, at as u32);
            sums(part);
            linear(part, 5, 1);
        }
    }
    drop(exec);
    assert_eq!(device.download(&x), expected);
    device.nothing_reported();
}

/// Returns `n` numbers.
fn numbers(n: usize, by: u32) -> Vec<u32> {
    (0..).map(|at: u32| at.wrapping_mul(by) % 1_001).take(n).collect()
}

/// Returns the number of chains in a stack, and the kernels of its graph.
fn stacks(report: &Report) -> (usize, &[usize]) {
    (report.kernels, &report.stacked)
}

#[test]
fn setters_reach_chains_of_different_grids() {
    let device = device();
    let mut expected = [numbers(190, 7), numbers(120, 11)];
    let [mut x, mut y] = expected.each_ref().map(|list| device.upload(list));
    let graph = graphs::unequal(&device.ctx, 190, 120, 5, &mut x, &mut y).expect("a graph");
    assert_eq!(stacks(&graph.report()), (1, [2].as_slice()), "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    for a in [5, 9] {
        exec.set_a(a).expect("a");
        exec.launch(&device.stream).expect("a launch");
        for (own, b) in expected.iter_mut().zip([1, 2]) {
            linear(own, a, b);
            sums(own);
        }
    }
    drop(exec);
    assert_eq!([device.download(&x), device.download(&y)], expected);
    device.nothing_reported();
}

#[test]
fn setters_change_the_lengths_of_the_ranges_of_a_stack() {
    let device = device();
    let mut expected = [numbers(190, 7), numbers(190, 11)];
    let [mut x, mut y] = expected.each_ref().map(|list| device.upload(list));
    let graph = graphs::shortened(&device.ctx, 190, 190, &mut x, &mut y).expect("a graph");
    assert_eq!(stacks(&graph.report()), (1, [2].as_slice()), "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    for live in [190_usize, 1, 64, 65, 190] {
        exec.set_live(live as u32).expect("a length");
        exec.launch(&device.stream).expect("a launch");
        for (own, b) in expected.iter_mut().zip([1, 2]) {
            linear(&mut own[..live], 3, b);
            sums(&mut own[..live]);
        }
    }
    assert!(matches!(exec.set_live(191), Err(Error::Range { .. })));
    exec.launch(&device.stream).expect("a launch");
    for (own, b) in expected.iter_mut().zip([1, 2]) {
        linear(own, 3, b);
        sums(own);
    }
    drop(exec);
    assert_eq!([device.download(&x), device.download(&y)], expected);
    device.nothing_reported();
}

#[test]
fn setters_reach_stacks_with_elements_in_registers() {
    let device = device();
    let n = 190;
    let mut expected = [numbers(n, 7), numbers(n, 11)];
    let [mut x, mut y] = expected.each_ref().map(|list| device.upload(list));
    let all = [numbers(n, 13), numbers(n, 17)];
    let [first, second] = all.each_ref().map(|list| device.upload(list));
    let graph = graphs::through(&device.ctx, n as u32, 5, &mut x, &mut y, &first).expect("a graph");
    let report = graph.report();
    assert_eq!(stacks(&report), (1, [2].as_slice()), "{report}");
    assert!(
        !report.forwarded.is_empty() && report.plan.as_ref().is_none_or(|plan| plan.planned == 0),
        "{report}"
    );
    let mut exec = graph.instantiate().expect("an exec");
    let mut launched = |a: u32, all: &[u32]| {
        for (own, b) in expected.iter_mut().zip([1, 2]) {
            odd(&mixed(all, own), own);
            linear(own, a, b);
        }
    };
    exec.launch(&device.stream).expect("a launch");
    launched(5, &all[0]);
    exec.set_a(9).expect("a");
    exec.launch(&device.stream).expect("a launch");
    launched(9, &all[0]);
    exec.set_z(&second).expect("z");
    exec.launch(&device.stream).expect("a launch");
    launched(9, &all[1]);
    drop(exec);
    assert_eq!([device.download(&x), device.download(&y)], expected);
    device.nothing_reported();
}

#[test]
fn setters_reach_stacks_in_bodies() {
    let device = device();
    let n = 190;
    let mut expected = [numbers(n, 7), numbers(n, 11), numbers(n, 13)];
    let [mut x, mut y, mut other] = expected.each_ref().map(|list| device.upload(list));
    let go = device.upload(&[1_u32]);
    let graph = graphs::conditional(&device.ctx, n as u32, 5, [&mut x, &mut y], &go).expect("a graph");
    assert_eq!(graph.report().stacked, [2], "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    let mut launched = |a: u32, members: [usize; 2]| {
        for at in members {
            linear(&mut expected[at], a, 1);
            sums(&mut expected[at]);
        }
    };
    exec.launch(&device.stream).expect("a launch");
    launched(5, [0, 1]);
    exec.set_a(9).expect("a");
    exec.launch(&device.stream).expect("a launch");
    launched(9, [0, 1]);
    exec.xs(1).expect("the second").set(&mut other).expect("a buffer");
    exec.launch(&device.stream).expect("a launch");
    launched(9, [0, 2]);
    drop(exec);
    assert_eq!([x, y, other].each_ref().map(|own| device.download(own)), expected);
    device.nothing_reported();
}

/// Chains whose grids a setter changes are not fused into kernels, so they are not stacked.
#[test]
fn setters_change_the_grids_of_chains() {
    let device = device();
    let mut expected = [numbers(190, 7), numbers(190, 11)];
    let [mut x, mut y] = expected.each_ref().map(|list| device.upload(list));
    let graph = graphs::regridded(&device.ctx, 190, 3, &mut x, &mut y).expect("a graph");
    assert!(graph.report().stacked.is_empty(), "{}", graph.report());
    let mut exec = graph.instantiate().expect("an exec");
    for blocks in [3_usize, 1, 2, 3] {
        exec.set_blocks(blocks as u32).expect("blocks");
        exec.launch(&device.stream).expect("a launch");
        for (own, b) in expected.iter_mut().zip([1, 2]) {
            let live = own.len().min(64 * blocks);
            linear(&mut own[..live], 3, b);
            sums(&mut own[..live]);
        }
    }
    drop(exec);
    assert_eq!([device.download(&x), device.download(&y)], expected);
    device.nothing_reported();
}

/// A loop from 0 has `end` iterations, not the product of both bounds.
#[test]
fn loops_from_zero_may_be_long() {
    let device = device();
    let stacked = |last: u32| {
        let mut b = Builder::with_name(&device.ctx, "loops");
        for name in ["x", "y"] {
            let x = b.exclusive(name, 64, device.upload(&[1_u32; 64]));
            for _ in 0..2 {
                b.launch(between {}, (1, 64), (x.write(), 0_u32, last, 64_u32)).expect("a launch");
            }
        }
        // For long kernels, even so few blocks are too many.
        change_next_rules(|_, _, rules| {
            rules.tuning.chains.stacked.iter_mut().for_each(|stacked| stacked.long = Waves(0, 1));
        });
        b.build().expect("a graph").report().stacked
    };
    assert_eq!((stacked(9), stacked(1_000)), (vec![2], Vec::new()));
}
