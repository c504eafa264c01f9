//! 200 random programs, each as a graph function and with a builder: the checked program, the operations and the
//! results must be the same.

use cudarc::driver::{CudaSlice, CudaStream, PinnedHostSlice};
use cuweave::prelude::*;
use cuweave::{Graph, GraphFn};
use cuweave_testkit::device::{Device, device};
use std::sync::Arc;

mod build;
mod generate;
#[allow(unused)]
mod programs {
    use super::*;
    cuweave_testkit_functions::written!();
}

use crate::kernels::{add_all, axpy, copy_to, scale, set};

const N: u32 = 37;
const K: u32 = 5;
const A: f32 = 1.25;

/// y = 2 · (a · x + y)
#[cuweave::graph]
fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
    scale[per_item(n)](&mut y, 2.0, n);
}

/// 3 · x
#[cuweave::graph]
fn made(n: u32, x: &[f32; n]) -> [f32; n] {
    let h = alloc::<f32>(n);
    copy_to[per_item(n)](&x, &mut h, n);
    scale[per_item(n)](&mut h, 3.0, n);
    h
}

/// The arguments of all programs.
pub struct Bench {
    device: Device,
    x: CudaSlice<f32>,
    z: CudaSlice<f32>,
    y: CudaSlice<f32>,
    v: CudaSlice<u32>,
    p: PinnedHostSlice<f32>,
    /// The outputs of the last launch.
    out: Vec<Vec<f32>>,
}

/// The texts of a graph: the checked program, its operations and its launches.
pub type Seen = [String; 3];

fn bench() -> Bench {
    let device = device();
    let numbers = |from: u32, count: u32| -> Vec<f32> { (from..from + count).map(|at| at as f32).collect() };
    let upload = |values: &[f32]| device.upload(values);
    let (x, z, y) = (upload(&numbers(1, 4 * N)), upload(&numbers(500, N + K)), upload(&numbers(900, 4 * N)));
    let v = device.upload(&vec![7_u32; N as usize]);
    // SAFETY: written below before it is read.
    #[allow(unsafe_code)]
    let mut p = unsafe { device.ctx.alloc_pinned::<f32>(N as usize) }.expect("pinned memory");
    p.as_mut_slice().expect("nothing uses it").copy_from_slice(&numbers(3, N));
    Bench { device, x, z, y, v, p, out: Vec::new() }
}

/// Describes a graph, and launches it.
fn seen<A: GraphFn>(
    graph: cuweave::Result<Graph<A>>,
    stream: &Arc<CudaStream>,
    out: &mut Vec<Vec<f32>>,
) -> cuweave::Result<Seen> {
    let graph = graph?;
    let [checked, operations] = cuweave::__private::dump(&graph);
    let launches = format!("{} {:?}", graph.report().launches, cuweave::__private::operations(&graph));
    let mut exec = graph.instantiate()?;
    let core = A::core_mut(&mut exec, cuweave::__private::Token);
    core.launch(stream, ())?;
    out.clear();
    for index in 0.. {
        let Ok(output) = core.output::<f32>(index) else { break };
        out.push(stream.clone_dtoh(&output)?);
    }
    Ok([checked, operations, launches])
}

#[test]
fn every_program_is_the_same_as_a_function_and_by_a_builder() {
    let mut built = 0;
    let mut statements = 0;
    for number in 0..generate::PROGRAMS {
        let program = generate::program(number);
        let mut benches = [bench(), bench()];
        let [one, other] = &mut benches;
        let of_function = programs::run(number, one);
        let of_builder = build::run(&program, other);
        match (of_function, of_builder) {
            (Ok(one), Ok(other)) => {
                assert_eq!(one, other, "program {number}");
                built += 1;
                statements += program.statements.len();
            }
            (one, other) => panic!("program {number}: {one:?}\n{other:?}"),
        }
        let [one, other] = &benches;
        let results = |bench: &Bench| {
            (bench.device.download(&bench.y), bench.device.download(&bench.v), bench.out.clone())
        };
        assert_eq!(results(one), results(other), "program {number}");
        assert_eq!(one.out.len(), program.outputs.len(), "program {number}");
    }
    assert_eq!(built, generate::PROGRAMS);
    assert!(statements > 1500, "only {statements} statements");
}
