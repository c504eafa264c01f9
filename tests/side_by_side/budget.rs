//! Budgets: order is added until the temporaries fit. A budget below the floor is an error that names the buffers.

use cuweave::Error;
use cuweave::error::BudgetFault;
use cuweave::prelude::*;
use cuweave::report::Budget;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

/// Four branches, each with a temporary of `4 * n` bytes. If they run concurrently, all four are live.
#[cuweave::graph(memory = "arena", budget = bytes, launches = "as-written")]
fn branches(n: u32, bytes: u64, out: &mut [f32; 4 * n]) {
    for i in 0..4 {
        let h = alloc::<f32>(n);
        set[per_item(n)](&mut h, i as f32, n);
        copy_to[per_item(n)](&h, &mut out[i * n..(i + 1) * n], n);
    }
}

const N: u32 = 1024;
const ONE: u64 = 4096;

#[test]
fn the_temporaries_fit_and_the_result_stays() {
    let ctx = device().ctx;
    let stream = ctx.default_stream();
    for (budget, planned, added) in [(4 * ONE, 4 * ONE, false), (2 * ONE, 2 * ONE, true), (ONE, ONE, true)] {
        let mut out = stream.alloc_zeros::<f32>(4 * N as usize).expect("an allocation");
        let graph = branches(&ctx, N, budget, &mut out).expect("it builds");
        let report = graph.report();
        let plan = report.plan.clone().expect("there are temporaries");
        assert_eq!((plan.planned, plan.floor), (planned, ONE));
        let Budget { edges, path_before, path_after, .. } = report.budget.clone().expect("there is a budget");
        assert_eq!((!edges.is_empty(), path_before), (added, 2));
        assert!(path_after >= path_before && path_after <= 8, "{report}");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&stream).expect("it launches");
        drop(exec);
        let values = stream.clone_dtoh(&out).expect("a download");
        assert!(values.iter().enumerate().all(|(i, &value)| value == (i / N as usize) as f32));
    }
}

#[test]
fn a_budget_below_the_floor_names_the_statement_and_its_buffers() {
    let ctx = device().ctx;
    for budget in [0, ONE - 1] {
        let mut out = ctx.default_stream().alloc_zeros::<f32>(4 * N as usize).expect("an allocation");
        let refused = branches(&ctx, N, budget, &mut out);
        let Err(Error::Budget { at, reason, .. }) = refused.map(|_| ()) else {
            panic!("it is below the floor")
        };
        assert_eq!(at.name, "branches");
        let BudgetFault::BelowFloor { statement, buffers, .. } = &reason else { panic!("{reason}") };
        assert!(statement == "set" && buffers.iter().any(|buffer| buffer == "h"), "{reason}");
        assert!(reason.to_string().contains("4096"), "{reason}");
    }
}

#[test]
fn curves_and_pictures() {
    let ctx = device().ctx;
    let mut out = ctx.default_stream().alloc_zeros::<f32>(4 * N as usize).expect("an allocation");
    let graph = branches(&ctx, N, 4 * ONE, &mut out).expect("it builds");
    let curve = graph.budget_curve(4).expect("a curve");
    assert_eq!(curve.first().map(|point| (point.planned, point.path)), Some((4 * ONE, 2)));
    assert_eq!(curve.last().map(|point| point.planned), Some(ONE));
    assert!(curve.windows(2).all(|pair| pair[0].path <= pair[1].path && pair[0].planned > pair[1].planned));
    let picture = graph.memory_svg().expect("a picture");
    assert!(picture.starts_with("<svg") && picture.contains(">h<"), "{}", &picture[..200]);
}
