//! Launches whose grids sizes move are merged as those of a graph for one value are.

use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave::{Buffer, Result};
use cuweave_testkit::device::{Device, device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

const MOST: u32 = 1000;

/// Defines a function for all values of `n`, and one for a single value.
macro_rules! for_all_and_one {
    ($all:ident, $one:ident, $n:ident, ($($rest:tt)*), $body:block) => {
        #[cuweave::graph]
        fn $all(max: u32, #[at_most(max)] $n: u32, $($rest)*) $body
        #[cuweave::graph]
        fn $one($n: u32, $($rest)*) $body
    };
}

for_all_and_one!(chain, chain_of_one, n, (d: u32, a: f32, x: &[f32; 4 * n * d], y: &mut [f32; 4 * n * d]), {
    let h = alloc::<f32>(n * d);
    copy_to[per_item(n * d)](&x[..n * d], &mut h, n * d);
    scale[per_item(n * d)](&mut h, a, n * d);
    axpy[per_item(n * d)](2.0, &h, &mut y[..n * d], n * d);
});

for_all_and_one!(branches, branches_of_one, n, (d: u32, a: f32, x: &[f32; 4 * n * d], y: &mut [f32; 4 * n * d]), {
    for i in 0..4 {
        axpy[per_item(n * d)](a, &x[i * n * d..(i + 1) * n * d], &mut y[i * n * d..(i + 1) * n * d], n * d);
    }
});

#[cuweave::graph]
fn layer(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut h, a, n);
    axpy[per_item(n)](1.0, &h, &mut y, n);
}

// Chains in callees, stacked; the scalar of the callee is an expression of the caller.
for_all_and_one!(stacks, stacks_of_one, n, (d: u32, a: f32, x: &[f32; 4 * n * d], y: &mut [f32; 4 * n * d]), {
    for i in 0..4 {
        layer(n * d, a, &x[i * n * d..(i + 1) * n * d], &mut y[i * n * d..(i + 1) * n * d]);
    }
});

/// Runs both functions for some values. Returns the reports for the largest value.
macro_rules! compared {
    ($all:ident, $one:ident) => {{
        let device = device();
        let elements = 12 * MOST as usize;
        let x = Buffer::from_host(&device.stream, &ramp(elements))?;
        let (y, z) = (zeros(&device, elements)?, zeros(&device, elements)?);
        let graph = $all(&device.ctx, MOST, 17, 3, 2.0, &x, &y)?;
        let report = graph.report();
        let mut exec = graph.instantiate()?;
        let mut of_one = None;
        for n in [17, MOST, 1, 85, 86, 171, 256, 255, 257, 999, 512, 333] {
            exec.set_n(n)?;
            exec.launch(&device.stream)?;
            let graph = $one(&device.ctx, n, 3, 2.0, &x, &z)?;
            if n == MOST {
                of_one = Some(graph.report());
            }
            graph.instantiate()?.launch(&device.stream)?;
            assert_eq!(y.to_host(&device.stream)?, z.to_host(&device.stream)?, "{n}");
            cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        }
        let of_one = of_one.expect("the largest value");
        assert_eq!((report.nodes(), report.edges), (of_one.nodes(), of_one.edges), "{report}\n{of_one}");
        report
    }};
}

fn zeros(device: &Device, elements: usize) -> Result<Buffer<f32>> {
    Buffer::zeros(&device.stream, elements)
}

fn merged(report: &Report) -> (usize, usize) {
    (report.batches.len(), report.fused.len())
}

#[test]
fn chains_stay_in_registers() -> Result<()> {
    let report = compared!(chain, chain_of_one);
    assert_eq!((merged(&report), report.nodes()), ((0, 1), 1), "{report}");
    assert!(report.to_string().contains("2 stores left out, without memory: `h`"), "{report}");
    Ok(())
}

#[test]
fn launches_with_equal_grids_are_batched() -> Result<()> {
    let report = compared!(branches, branches_of_one);
    assert_eq!((merged(&report), report.nodes()), ((1, 0), 1), "{report}");
    Ok(())
}

#[test]
fn chains_in_callees_are_stacked() -> Result<()> {
    let report = compared!(stacks, stacks_of_one);
    assert_eq!(report.nodes(), 1, "{report}");
    Ok(())
}
