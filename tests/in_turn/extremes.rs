//! Grids, blocks, lengths, bounds, budgets and scalars at the limits of their ranges. A build, and each setter,
//! returns a graph or an error and never panics. Overflow checks are on, as in all tests.
//!
//! Nothing is launched, because a grid of 2^63 blocks would never end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cudarc::driver::LaunchConfig;
use cuweave::prelude::*;
use cuweave::{Exec, Graph, GraphFn};
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::random::Random;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn count_up(out: &mut [MaybeUninit<u32>; n], n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn reverse_block(x: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
    fn invert(x: &[u8; n], out: &mut [MaybeUninit<u8>; n], n: u64);
}

/// Defines a function for each memory lowering and each option for launches.
macro_rules! in_every_form {
    ($name:ident $arguments:tt $body:tt) => {
        mod $name {
            use super::*;
            in_every_form!(@memory arena "arena" $arguments $body);
            in_every_form!(@memory nodes "nodes" $arguments $body);
            in_every_form!(@memory owned "owned" $arguments $body);
        }
    };
    (@memory $name:ident $memory:literal $arguments:tt $body:tt) => {
        pub mod $name {
            use super::*;
            #[cuweave::graph(memory = $memory)]
            pub fn everything $arguments $body
            #[cuweave::graph(memory = $memory, launches = "as-written")]
            pub fn as_written $arguments $body
            #[cuweave::graph(memory = $memory, launches = "batched")]
            pub fn batched $arguments $body
            #[cuweave::graph(memory = $memory, launches = "overlapped")]
            pub fn overlapped $arguments $body
        }
    };
}

/// Evaluates an expression for each form of a function, bound to `$form`.
macro_rules! each_form {
    ($name:ident, |$form:ident| $run:expr) => {
        each_form!(@ $name, $form, $run; arena nodes owned)
    };
    (@ $name:ident, $form:ident, $run:expr; $($memory:ident)*) => {$(
        { use $name::$memory::everything as $form; $run }
        { use $name::$memory::as_written as $form; $run }
        { use $name::$memory::batched as $form; $run }
        { use $name::$memory::overlapped as $form; $run }
    )*};
}

// 34 branches whose blocks a setter may change, so that they are serialized, and as many chains.
in_every_form!(branches(gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, x: &[f32; 64]) {
    for _ in 0..34 {
        let _t = alloc::<f32>(64);
        copy(&x, &mut _t);
        scale[((gx, gy, gz), (bx, by, bz))](&mut _t, 2.0, 64);
        axpy[((gx, gy, gz), (bx, by, bz))](0.5, &x, &mut _t, 64);
    }
});

// Launches that are batched, because no setter changes their grids, which depend on lengths. Equal ones, and
// unequal ones after a join.
in_every_form!(batches(gx: u32, gy: u32, gz: u32, x: &mut [f32; 64]) {
    let _lengths = alloc::<u8>(gx + gy + gz);
    let h = alloc::<f32>(64 * 9);
    fill(&mut h, 0.0_f32);
    for i in 0..9 {
        scale[((gx, gy, gz), 32)](&mut h[64 * i..64 * i + 64], 2.0, 64);
        scale[((gx, gy, gz), 32)](&mut h[64 * i..64 * i + 64], 3.0, 64);
    }
    copy_to[(1, 64)](&h[0..64], &mut x, 64);
    for i in 0..9 {
        scale[((gx, i + 1, gz), 32)](&mut h[64 * i..64 * i + 64], 2.0, 64);
    }
    copy_to[(1, 64)](&h[64..128], &mut x, 64);
});

in_every_form!(configured(blocks: u32, threads: u32, shared: u32, items: u64, x: &[f32; 8], y: &mut [f32; 8]) {
    let _a = alloc::<f32>(8);
    copy(&x, &mut _a);
    reverse_block[LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1),
        shared_mem_bytes: shared }](&x, &mut y, 8);
    scale[per_item(items)](&mut _a, 1.0, 8);
});

in_every_form!(lengths(n: u64, k: u64, m: u32) {
    let a = alloc::<f32>(n);
    let b = alloc::<f32>(n * k);
    let c = alloc::<u64>(n + k);
    let _d = alloc::<u8>(n * n - k);
    fill(&mut a, 0.0_f32);
    fill(&mut b, 1.0_f32);
    fill(&mut c, 7_u64);
    fill(&mut _d, 1_u8);
    let e = alloc::<u32>(m);
    count_up[(m.div_ceil(256), 256)](&mut e, m);
    let _f = alloc::<u32>(m);
    copy(&e, &mut _f);
    let _g = alloc::<f32>(n);
    copy(&a, &mut _g);
    let _h = alloc::<f32>(n * k);
    copy(&b, &mut _h);
    let _i = alloc::<u64>(n + k);
    copy(&c, &mut _i);
});

in_every_form!(signed(a: i32, b: i64, c: u64, d: u8) {
    let _p = alloc::<u8>(a + b);
    fill(&mut _p, 1_u8);
    let _q = alloc::<f64>(c / d - a);
    fill(&mut _q, 1.0_f64);
    let _r = alloc::<u16>(c % (b + 1) + d);
    fill(&mut _r, 1_u16);
});

in_every_form!(slices(n: u64, lo: u64, hi: u64, x: &[u8; n], y: &mut [u8; n]) {
    let t = alloc::<u8>(n);
    fill(&mut t, 1_u8);
    copy(&x[lo..hi], &mut t[lo..hi]);
    let (left, right) = y.split_at_mut(lo);
    copy(&t[lo..hi], &mut right[0..hi - lo]);
    fill(&mut left[hi - lo..lo], 3_u8);
    invert[per_item(n)](&t, &mut y, n);
});

macro_rules! with_budget {
    ($($name:ident $memory:literal)*) => {$(
        #[cuweave::graph(memory = $memory, budget = budget)]
        fn $name(n: u64, budget: u64) {
            let a = alloc::<u8>(n);
            fill(&mut a, 0_u8);
            let b = alloc::<u8>(n);
            copy(&a, &mut b);
            let _c = alloc::<u8>(n);
            copy(&b, &mut _c);
            let d = alloc::<u8>(n);
            fill(&mut d, 0_u8);
            let _e = alloc::<u8>(n);
            copy(&d, &mut _e);
        }
    )*};
}
with_budget! { budget_of_arena "arena" budget_of_nodes "nodes" budget_of_owned "owned" }

#[cuweave::graph]
fn returned(n: u64, m: u64) -> ([f32; n], [u64; m]) {
    let a = alloc::<f32>(n);
    let b = alloc::<u64>(m);
    fill(&mut a, 0.0_f32);
    fill(&mut b, 1_u64);
    (a, b)
}

/// The results of many cases.
#[derive(Default)]
struct Tally {
    built: usize,
    refused: usize,
    panics: Vec<String>,
    /// True if all cases have the same lengths. The curve of budgets depends only on them, so it is drawn for the
    /// first graph only.
    same_lengths: bool,
}

impl Tally {
    /// Builds a graph, reads all of its reports, instantiates it, and lets `change` set arguments.
    fn build<A: GraphFn>(
        &mut self,
        case: &str,
        build: impl FnOnce() -> cuweave::Result<Graph<A>>,
        change: impl FnOnce(&mut Exec<A>),
    ) {
        let work = || -> cuweave::Result<()> {
            let graph = build()?;
            let _ = (graph.report().to_string(), graph.memory_svg());
            if !self.same_lengths || self.built == 0 {
                let _ = graph.budget_curve(3);
            }
            let mut exec = graph.instantiate()?;
            change(&mut exec);
            Ok(())
        };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => self.built += 1,
            Ok(Err(error)) => {
                assert!(!error.to_string().is_empty());
                self.refused += 1;
            }
            Err(panic) => {
                let what = panic.downcast_ref::<String>().cloned();
                let what = what.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                self.panics.push(format!("{case}: {}", what.unwrap_or_default()));
            }
        }
    }

    /// Checks that no case panicked, and that there were enough graphs and enough errors.
    fn judge(self, least: usize) {
        println!("{} built, {} refused", self.built, self.refused);
        assert!(self.panics.is_empty(), "{} panics:\n{}", self.panics.len(), self.panics.join("\n"));
        assert!(
            self.built >= least && self.refused >= least,
            "{} built, {} refused",
            self.built,
            self.refused
        );
    }
}

const WIDE: [u32; 9] = [0, 1, 7, 1056, 65_535, 65_536, 0x7fff_fffe, 0x7fff_ffff, u32::MAX];
const DEEP: [u32; 7] = [1, 1, 2, 3, 65_534, 65_535, 65_536];
const THREADS: [u32; 8] = [1, 31, 32, 256, 1023, 1024, 1025, u32::MAX];
const LONG: [u64; 16] = [
    0,
    1,
    2,
    255,
    1 << 20,
    (1 << 31) - 1,
    u32::MAX as u64,
    1 << 32,
    1 << 46,
    1 << 60,
    (1 << 61) - 1,
    1 << 62,
    (1 << 62) + 1,
    1 << 63,
    u64::MAX - 255,
    u64::MAX,
];

#[test]
fn grids_and_blocks_of_any_size_build_or_are_refused() {
    let Some(device) = simulated_alone() else { return };
    let x = device.stream.alloc_zeros::<f32>(64).expect("an allocation");
    let mut random = Random::new(7);
    let mut tally = Tally { same_lengths: true, ..Tally::default() };
    for round in 0..14 {
        let grid = if round == 0 {
            [0x7fff_ffff, 65_535, 65_535]
        } else {
            [random.choose(&WIDE), random.choose(&DEEP), random.choose(&DEEP)]
        };
        let block = [
            random.choose(&THREADS[..6]),
            random.choose(&[1, 1, 1, 2, 1024]),
            random.choose(&[1, 1, 1, 64, 65]),
        ];
        let block = if round < 2 { [32, 1, 1] } else { block };
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let sets = [random.choose(&WIDE), random.choose(&THREADS), random.choose(&DEEP)];
        each_form!(branches, |form| tally.build(
            &format!("branches {grid:?} {block:?} set to {sets:?}"),
            || form(&device.ctx, gx, gy, gz, bx, by, bz, &x),
            |exec| {
                let _ = (exec.set_gx(sets[0]), exec.set_bx(sets[1]), exec.set_gz(sets[2]));
                let _ = (exec.set_gx(0x7fff_ffff), exec.set_gy(65_535), exec.set_gz(65_535), exec.set_bx(1));
            }
        ));
        let mut y = device.stream.alloc_zeros::<f32>(64).expect("an allocation");
        each_form!(batches, |form| tally.build(
            &format!("batches {grid:?}"),
            || form(&device.ctx, gx, gy, gz, &mut y),
            |_| {}
        ));
    }
    tally.judge(60);
}

#[test]
fn configurations_of_any_size_build_or_are_refused() {
    let Some(device) = simulated_alone() else { return };
    let x = device.stream.alloc_zeros::<f32>(8).expect("an allocation");
    let mut random = Random::new(11);
    let mut tally = Tally::default();
    for _ in 0..40 {
        let (blocks, threads) = (random.choose(&WIDE[1..]), random.choose(&THREADS[..6]));
        let shared = random.choose(&[0, 1, 48 << 10, 227 << 10, (227 << 10) + 1, u32::MAX - 1, u32::MAX]);
        let (items, later) = (random.choose(&LONG), random.choose(&LONG));
        let mut y = device.stream.alloc_zeros::<f32>(8).expect("an allocation");
        each_form!(configured, |form| tally.build(
            &format!("{blocks} x {threads}, {shared} bytes, {items} items, then {later}"),
            || form(&device.ctx, blocks, threads, shared, items, &x, &mut y),
            |exec| {
                let _ = (exec.set_items(later), exec.set_shared(u32::MAX), exec.set_shared(227 << 10));
                let _ = (exec.set_blocks(u32::MAX), exec.set_threads(1024), exec.set_threads(0));
            }
        ));
    }
    tally.judge(40);
}

#[test]
fn lengths_of_any_size_build_or_are_refused() {
    let Some(device) = simulated_alone() else { return };
    let mut random = Random::new(13);
    let mut tally = Tally::default();
    for round in 0..60 {
        let (n, k, m) = if round < 2 {
            (5, 3, [1, 1 << 20][round])
        } else {
            (random.choose(&LONG), random.choose(&LONG), random.choose(&WIDE))
        };
        each_form!(lengths, |form| tally.build(
            &format!("lengths {n} {k} {m}"),
            || form(&device.ctx, n, k, m),
            |_| {}
        ));
        let a = random.choose(&[i32::MIN, -1, 0, 1, i32::MAX]);
        let b = random.choose(&[
            i64::MIN,
            -1,
            0,
            1,
            i64::from(u32::MAX),
            i64::MAX - i64::from(i32::MAX),
            i64::MAX,
        ]);
        let (c, d) = (random.choose(&LONG), random.choose(&[0, 1, 255]));
        each_form!(signed, |form| tally.build(
            &format!("signed {a} {b} {c} {d}"),
            || form(&device.ctx, a, b, c, d),
            |_| {}
        ));
        tally.build(&format!("returned {n} {k}"), || returned(&device.ctx, n, k), |_| {});
    }
    tally.judge(20);
}

#[test]
fn bounds_of_any_size_build_or_are_refused() {
    let Some(device) = simulated_alone() else { return };
    let x = device.stream.alloc_zeros::<u8>(300).expect("an allocation");
    let mut random = Random::new(17);
    let mut tally = Tally::default();
    for round in 0..60 {
        let (n, lo, hi) = match round {
            0 => (300, 200, 201),
            1 => (300, 255, 300),
            2 => (300, 1, 1),
            3..30 => {
                (random.choose(&[1, 2, 255, 256, 300]), random.choose(&LONG[..4]), random.choose(&LONG[..5]))
            }
            _ => (random.choose(&LONG), random.choose(&LONG), random.choose(&LONG)),
        };
        let mut y = device.stream.alloc_zeros::<u8>(300).expect("an allocation");
        each_form!(slices, |form| tally.build(
            &format!("slices of {n}: {lo}..{hi}"),
            || form(&device.ctx, n, lo, hi, &x, &mut y),
            |_| {}
        ));
    }
    tally.judge(20);
}

#[test]
fn budgets_of_any_size_build_or_are_refused() {
    let Some(device) = simulated_alone() else { return };
    let mut tally = Tally::default();
    for n in LONG {
        for budget in [0, 1, 512, n.wrapping_mul(2), n.saturating_mul(3), 1 << 62, u64::MAX - 1, u64::MAX] {
            let case = format!("{n} with a budget of {budget}");
            tally.build(&case, || budget_of_arena(&device.ctx, n, budget), |_| {});
            tally.build(&case, || budget_of_nodes(&device.ctx, n, budget), |_| {});
            tally.build(&case, || budget_of_owned(&device.ctx, n, budget), |_| {});
        }
    }
    tally.judge(30);
}
