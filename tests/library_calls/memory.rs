//! Planned scratch: unordered calls never share it, ordered ones do. Also budgets, kinds of memory, and pools.

use cuweave::ArenaPool;
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, sum};

const N: u32 = 256;
/// The scratch of a sum of `N` elements, in bytes.
const SCRATCH: u64 = 4 * 4 * N as u64;

#[cuweave::graph]
fn beside(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; 4 * n]) {
    for i in 0..4 {
        sum(&library, &x, &x, &mut out[i * n..(i + 1) * n], n);
    }
}

#[cuweave::graph]
fn behind(n: u32, library: &Library, x: &mut [f32; n], out: &mut [f32; n]) {
    for _ in 0..4 {
        sum(&library, &x, &x, &mut out, n);
        copy(&out, &mut x);
    }
}

#[cuweave::graph(budget = 2 * 16 * n)]
fn within(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; 4 * n]) {
    for i in 0..4 {
        sum(&library, &x, &x, &mut out[i * n..(i + 1) * n], n);
    }
}

#[cuweave::graph(memory = "nodes")]
fn in_nodes(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
    sum(&library, &x, &x, &mut out, n);
}

#[cuweave::graph(memory = "owned")]
fn owned(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
    sum(&library, &x, &x, &mut out, n);
}

#[test]
fn scratch_is_shared_by_what_is_ordered_alone() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let (mut x, mut out) = (device.upload(&[1.0f32; N as usize]), device.upload(&[0.0f32; 4 * N as usize]));
    let report = beside(&device.ctx, N, &library, &x, &mut out).expect("it builds").report();
    assert_eq!(report.plan.as_ref().map(|plan| (plan.planned, plan.optimal)), Some((4 * SCRATCH, true)));
    let names: Vec<String> =
        report.plan.expect("a plan").antichain_buffers.iter().map(|buffer| buffer.name.clone()).collect();
    assert_eq!(names, [0, 1, 2, 3].map(|turn| format!("sum[{turn}].workspace")));
    let report = within(&device.ctx, N, &library, &x, &mut out).expect("it builds").report();
    assert_eq!(report.plan.map(|plan| plan.planned), Some(2 * SCRATCH));
    let mut out = device.upload(&[0.0f32; N as usize]);
    let graph = behind(&device.ctx, N, &library, &mut x, &mut out).expect("it builds");
    assert_eq!(graph.report().plan.map(|plan| plan.planned), Some(SCRATCH));
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&out), [16.0; N as usize]);
}

#[test]
fn every_kind_of_memory() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let x = device.upload(&[1.5f32; N as usize]);
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    for kind in 0..4 {
        let mut out = device.upload(&[0.0f32; N as usize]);
        macro_rules! run {
            ($graph:ident, $method:ident($($pool:expr)?)) => {{
                let graph = $graph(&device.ctx, N, &library, &x, &mut out).expect("it builds");
                let mut exec = graph.$method($($pool)?).expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                exec.launch(&device.stream).expect("it launches");
            }};
        }
        match kind {
            0 => run!(in_nodes, instantiate()),
            1 => run!(owned, instantiate()),
            2 => run!(in_nodes, instantiate_in(&pool)),
            _ => run!(owned, instantiate_in(&pool)),
        }
        assert_eq!(device.download(&out), [3.0; N as usize], "{kind}");
    }
}
