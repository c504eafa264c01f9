//! Pinned memory in the contexts of a graph over several devices: all devices can access it, and its uses are
//! ordered.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaContext, PinnedHostSlice};
use cuweave::Error;
use cuweave::prelude::*;

use crate::programs::kernels::scale;
use crate::support::{N, contexts, silent, streams, with_devices};

/// Copies `there` to device 0 and doubles it. The result goes to `here` and, multiplied by ten on device 1, to
/// `back`. The host adds 1.
#[cuweave::graph(devices = 2)]
fn through(n: u32, there: &Pinned<[f32; n]>, here: &mut Pinned<[f32; n]>, back: &mut Pinned<[f32; n]>) {
    let h = alloc::<f32>(n);
    copy(&there, &mut h);
    scale[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut here);
    #[on(1)]
    {
        let g = alloc::<f32>(n);
        copy(&h, &mut g);
        scale[per_item(n)](&mut g, 10.0, n);
        copy(&g, &mut back);
    }
    host(&mut back, |back| back.iter_mut().for_each(|x| *x += 1.0));
}

fn pinned(ctx: &Arc<CudaContext>, first: f32) -> PinnedHostSlice<f32> {
    // SAFETY: all elements are written before they are read.
    let mut memory = unsafe { ctx.alloc_pinned::<f32>(N as usize) }.expect("pinned memory");
    let elements = memory.as_mut_slice().expect("elements");
    elements.iter_mut().enumerate().for_each(|(at, x)| *x = first + at as f32);
    memory
}

fn times(factor: f32, first: f32, more: f32) -> Vec<f32> {
    (0..N).map(|at| factor * (first + at as f32) + more).collect()
}

#[test]
fn pinned_memory_of_any_context_of_the_graph_is_bound() {
    with_devices("pinned::bound", 3, &[]);
    with_devices("pinned::bound", 3, &[("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn bound() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let two = &contexts[..2];
    let there = pinned(&two[1], 1.0);
    let (mut here, mut back) = (pinned(&two[0], 0.0), pinned(&two[1], 0.0));
    let (next, other) = (pinned(&two[1], 5.0), pinned(&two[0], 5.0));
    let mut exec =
        through(two, N, &there, &mut here, &mut back).expect("it builds").instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    // A use in a stream of its context is ordered after the launch, and the next launch after the use.
    let copied = streams[1].clone_htod(exec.args().back).expect("an upload");
    exec.launch(&streams[0]).expect("it launches");
    assert_eq!(streams[1].clone_dtoh(&copied).expect("a download"), times(20.0, 1.0, 1.0));
    // A setter only accepts memory of the same context, because the driver's nodes keep the context.
    exec.set_there(&next).expect("it is set");
    exec.launch(&streams[0]).expect("it launches");
    let moved = exec.set_there(&other).expect_err("it is of the other context");
    println!("{moved}");
    assert!(matches!(moved, Error::Devices(_)), "{moved}");
    drop(exec);
    assert_eq!(here.as_slice().expect("elements"), times(2.0, 5.0, 0.0));
    assert_eq!(back.as_slice().expect("elements"), times(20.0, 5.0, 1.0));
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    silent();
}

#[test]
fn a_forgotten_exec_leaves_pinned_memory_of_another_context_in_order() {
    with_devices("pinned::forgotten", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn forgotten() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let there = pinned(&contexts[1], 1.0);
    let (mut here, mut back) = (pinned(&contexts[0], 0.0), pinned(&contexts[1], 0.0));
    let graph = through(&contexts, N, &there, &mut here, &mut back).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&streams[0]).expect("it launches");
    std::mem::forget(exec);
    // The host may access the elements after the launch, since the memory's event records it.
    assert_eq!(back.as_slice().expect("elements"), times(20.0, 1.0, 1.0));
    drop((there, here, back));
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no error is kept"));
    silent();
}

#[cuweave::graph(devices = 2)]
fn reached(n: u32, there: &mut Pinned<[f32; n]>) {
    scale[per_item(n)](&mut there, 2.0, n);
    #[on(1)]
    scale[per_item(n)](&mut there, 5.0, n);
}

#[test]
fn kernels_of_both_devices_reach_it() {
    with_devices("pinned::kernels", 2, &[("CUWEAVE_SIM_PEERS", "none")]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn kernels() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let mut there = pinned(&contexts[1], 1.0);
    let mut exec = reached(&contexts, N, &mut there).expect("it builds").instantiate().expect("an exec");
    let verification = exec.verify(&streams[0]).expect("a verification");
    assert!(verification.is_equal(), "{verification}");
    exec.launch(&streams[0]).expect("it launches");
    drop(exec);
    assert_eq!(there.as_slice().expect("elements"), times(10.0, 1.0, 0.0));
    silent();
}

#[test]
fn pinned_memory_of_another_context_is_refused_with_a_way_out() {
    with_devices("pinned::refused", 3, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn refused() {
    let contexts = contexts();
    let two = &contexts[..2];
    let there = pinned(&contexts[2], 1.0);
    let (mut here, mut back) = (pinned(&two[0], 0.0), pinned(&two[1], 0.0));
    let error = through(two, N, &there, &mut here, &mut back).map(drop).expect_err("it is of no context");
    println!("{error}");
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("`there`") && text.contains("= help: allocate it by `alloc_pinned`"), "{text}");
    silent();
}
