//! Parallel chains: each in one kernel, or step by step in batches, depending on concurrent work and on the memory
//! that they need.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice};
use cuweave::__private::change_next_rules;
use cuweave::builder::{Builder, Handle};
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/forwarded.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn scaled(x: &mut [f32; n], a: f32, n: u32);
        pub fn wide(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
    }

    #[cuweave::kernels("benches/kernels/launches.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn turns(x: &mut [f32; n], count: u32, n: u32);
    }
}

/// Parallel chains with `n` elements each.
struct Chains {
    device: Device,
    n: u32,
}

impl Chains {
    fn buffer(&self) -> CudaSlice<f32> {
        self.device.upload(&(0..self.n).map(|at| (at % 97) as f32).collect::<Vec<f32>>())
    }

    fn builder<'a>(&self, chains: usize) -> (Builder<'a>, Handle, Vec<Handle>) {
        let ctx: &Arc<CudaContext> = &self.device.ctx;
        let mut b = Builder::with_name(ctx, "rows");
        let x = b.exclusive("x", self.n, self.buffer());
        let ys = (0..chains).map(|at| b.exclusive(&format!("y{at}"), self.n, self.buffer())).collect();
        (b, x, ys)
    }

    fn report(&self, b: Builder<'_>) -> Report {
        let mut exec = b.build().expect("it builds").instantiate().expect("an exec");
        exec.launch(&self.device.stream).expect("a launch");
        self.device.stream.synchronize().expect("it ends");
        exec.report()
    }
}

/// 8 chains of 32 steps that are alternately long and short. The odd chains are one step out of phase. A step has two
/// batches, whose blocks run concurrently.
fn alternating(blocks: u32, step: impl Fn(&mut Builder<'_>, Handle, bool, (u32, u32))) -> Report {
    let chains = Chains { device: device(), n: 256 * blocks };
    let (mut b, _, ys) = chains.builder(8);
    for at in 0..32 {
        for (chain, y) in ys.iter().enumerate() {
            step(&mut b, *y, (chain + at) % 2 == 0, (blocks, 256));
        }
    }
    chains.report(b)
}

#[test]
fn launches_of_several_batches_occupy_the_device_together() {
    // A quarter of a wave is 264 blocks of 256 threads: 8 chains of 33. If a scalar selects the duration, all
    // chains have the same kernel; otherwise, there are two kinds.
    for (blocks, few_iterations, fused) in [(33, 256, true), (33, 30, true), (64, 256, true), (64, 30, false)]
    {
        let n = 256 * blocks;
        let rules = || {
            change_next_rules(move |_, _, rules| {
                rules
                    .tuning
                    .chains
                    .stacked
                    .iter_mut()
                    .for_each(|stacked| stacked.few_iterations = few_iterations);
            })
        };
        rules();
        let by_scalar = alternating(blocks, |b, y, long, shape| {
            let turns = if long { 40_u32 } else { 2 };
            b.launch(kernels::turns {}, shape, (y.write(), turns, n)).expect("a launch");
        });
        rules();
        let by_kernel = alternating(blocks, |b, y, long, shape| {
            let launched = match long {
                true => b.launch(kernels::turns {}, shape, (y.write(), 40_u32, n)),
                false => b.launch(kernels::scaled {}, shape, (y.write(), 0.5_f32, n)),
            };
            launched.expect("a launch");
        });
        for (report, kinds) in [(by_scalar, 1), (by_kernel, 2)] {
            let wanted = if fused { (kinds, kinds) } else { (0, 128) };
            assert_eq!((report.fused.len(), report.kernels), wanted, "{blocks} blocks: {report}");
        }
    }
}

/// Two chains of 12 steps into temporaries of 1 MiB. As separate launches, they need four temporaries at once. In
/// the middle of a chain, a kernel of two steps would need six. So most steps stay separate, with one launch for
/// both chains, and only the first two and the last two steps are one kernel.
#[test]
fn steps_of_chains_that_are_cut_are_batched() {
    let chains = Chains { device: device(), n: 1 << 18 };
    let (mut b, x, ys) = chains.builder(2);
    let mut from = [x; 2];
    for at in 0..12 {
        for (chain, y) in ys.iter().enumerate() {
            let to = if at == 11 { *y } else { b.alloc::<f32>(chains.n) };
            b.launch(kernels::wide {}, (64, 1024), (from[chain].read(), to.write(), chains.n))
                .expect("a launch");
            from[chain] = to;
        }
    }
    change_next_rules(|_, _, rules| rules.allowed.forward = false);
    let report = chains.report(b);
    let planned = report.plan.as_ref().expect("temporaries").planned;
    assert_eq!((planned, report.fused.len(), report.kernels), (4 << 20, 2, 10), "{report}");
    assert_eq!(report.batches.iter().map(Vec::len).collect::<Vec<_>>(), [2; 8], "{report}");
    assert_eq!(report.stacked, [2; 2], "{report}");
}
