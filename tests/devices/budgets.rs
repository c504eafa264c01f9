//! Budgets of graphs over several devices. The budget applies to each device.

use cuweave::Error;
use cuweave::builder::{Builder, Launches};
use cuweave::error::BudgetFault;
use cuweave::prelude::*;

use crate::programs::kernels::{copy_to, set};
use crate::support::{N, contexts, silent, streams, with_devices};

const ONE: u64 = 4 * N as u64;

/// Two branches on each device, each with a temporary of `4 * n` bytes.
#[cuweave::graph(devices = 2, budget = bytes, launches = "as-written")]
fn branches(n: u32, bytes: u64, a: &mut [f32; 2 * n], b: &mut [f32; 2 * n]) {
    for i in 0..2 {
        let h = alloc::<f32>(n);
        set[per_item(n)](&mut h, i as f32, n);
        copy_to[per_item(n)](&h, &mut a[i * n..(i + 1) * n], n);
        #[on(1)]
        {
            let g = alloc::<f32>(n);
            set[per_item(n)](&mut g, i as f32 + 2.0, n);
            copy_to[per_item(n)](&g, &mut b[i * n..(i + 1) * n], n);
        }
    }
}

#[test]
fn each_device_has_the_budget() {
    with_devices("budgets::met", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn met() {
    let contexts = contexts();
    let streams = streams(&contexts);
    // The first budget holds both temporaries of each device, the second only one.
    for (budget, edges) in [(2 * ONE, 0), (ONE, 2)] {
        let mut a = streams[0].alloc_zeros::<f32>(2 * N as usize).expect("an allocation");
        let mut b = streams[1].alloc_zeros::<f32>(2 * N as usize).expect("an allocation");
        let graph = branches(&contexts, N, budget, &mut a, &mut b).expect("it builds");
        let report = graph.report();
        let plan = report.plan.as_ref().expect("there are temporaries");
        assert_eq!((plan.planned, plan.devices.as_slice()), (2 * budget, &[budget, budget][..]), "{report}");
        assert_eq!(report.budget.as_ref().expect("a budget").edges.len(), edges, "{report}");
        assert!(report.to_string().contains("by device"), "{report}");
        let curve = graph.budget_curve(5).expect("a curve");
        let points: Vec<_> = curve.iter().map(|point| (point.planned, point.devices.clone())).collect();
        assert_eq!(points, [(2 * ONE, vec![2 * ONE; 2]), (ONE, vec![ONE; 2])]);
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&streams[0]).expect("it launches");
        drop(exec);
        let half = |first: f32| [vec![first; N as usize], vec![first + 1.0; N as usize]].concat();
        assert_eq!(streams[0].clone_dtoh(&a).expect("a download"), half(0.0));
        assert_eq!(streams[1].clone_dtoh(&b).expect("a download"), half(2.0));
    }
    silent();
}

#[test]
fn a_budget_that_a_device_exceeds_is_an_error_that_names_it() {
    with_devices("budgets::exceeded", 3, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn exceeded() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut out = streams[2].alloc_zeros::<f32>(N as usize).expect("an allocation");
    // `h` is live while `g` is computed from it. So device 2 needs both at once, and device 0 only one.
    let mut build = |budget: u64| {
        let mut b = Builder::over(&contexts, "uneven");
        b.launches(Launches::AsWritten).budget(budget);
        let out = b.exclusive("out", u64::from(N), &mut out);
        let first = b.named("first").alloc::<f32>(u64::from(N));
        b.launch(set {}, per_item(N), (first.write(), 1.0_f32, N))?;
        let h = b.on(2).named("h").alloc::<f32>(u64::from(N));
        let g = b.on(2).named("g").alloc::<f32>(u64::from(N));
        b.on(2).copy(first.read(), h.write())?;
        b.on(2).launch(copy_to {}, per_item(N), (h.read(), g.write(), N))?;
        b.on(2).launch(copy_to {}, per_item(N), (g.read(), out.write(), N))?;
        b.build().map(|graph| graph.report())
    };
    let plan = build(2 * ONE).expect("it builds").plan.expect("there are temporaries");
    assert_eq!(plan.devices, [ONE, 0, 2 * ONE]);
    let error = build(2 * ONE - 1).map(drop).expect_err("device 2 needs more");
    println!("{error}");
    let Error::Budget { reason, .. } = &error else { panic!("{error}") };
    let said = reason.to_string();
    assert!(said.contains("for each device") && said.contains("bytes of device 2 at once"), "{reason}");
    let BudgetFault::BelowFloor { device: Some(2), buffers, .. } = reason else { panic!("{reason}") };
    assert_eq!(buffers, &["h", "g"], "{reason}");
    silent();
}
