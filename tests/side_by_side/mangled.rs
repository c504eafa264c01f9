//! Kernels with C++ names in their PTX and different names in Rust.

use cuweave::builder::{Builder, Launches};
use cuweave::prelude::*;
use cuweave_testkit::device::device;

#[cuweave::kernels("tests/kernels/mangled.ptx")]
unsafe extern "ptx-kernel" {
    #[link_name = "_Z4axpyIfEvT_PKS0_PS0_j"]
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    #[link_name = "_Z4axpyIdEvT_PKS0_PS0_j"]
    fn axpy_double(a: f64, x: &[f64; n], y: &mut [f64; n], n: u32);
    #[link_name = "_ZN5tools6negateEPKfPfj"]
    fn negate(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

const N: u32 = 1000;

#[cuweave::graph]
fn sums(
    n: i32,
    x: &[f32; n.next_multiple_of(8)],
    wide: &[f64; n.next_multiple_of(8)],
) -> ([f32; 1000], [f32; 1000], [f64; n.next_multiple_of(8)]) {
    let minus = alloc::<f32>(N);
    let once = alloc::<f32>(N);
    let twice = alloc::<f64>(n.next_multiple_of(8));
    copy(&wide, &mut twice);
    fill(&mut once, 1.0);
    negate[per_item(N)](&x[..N], &mut minus, N);
    axpy[per_item(N)](2.0, &x[..N], &mut minus, N);
    axpy[per_item(N)](1.0, &x[..N], &mut once, N);
    axpy_double[per_item(N)](1.0, &wide[..N], &mut twice[..N], N);
    (minus, once, twice)
}

/// The lengths come from a signed number and are rounded up.
#[test]
fn kernels_are_launched_by_the_names_in_rust() {
    let device = device();
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let (short, wide) = (device.upload(&x), device.upload(&[0.5_f64; N as usize]));
    let graph = sums(&device.ctx, 999, &short, &wide).unwrap();
    assert!(graph.report().all().to_string().contains("`negate`"), "{}", graph.report().all());
    let mut exec = graph.instantiate().unwrap();
    let (minus, once, twice) = exec.launch(&device.stream).unwrap();
    assert_eq!(device.stream.clone_dtoh(&minus).unwrap(), x);
    let expected: Vec<f32> = x.iter().map(|x| x + 1.0).collect();
    assert_eq!(device.stream.clone_dtoh(&once).unwrap(), expected);
    assert_eq!(device.stream.clone_dtoh(&twice).unwrap(), [1.0; N as usize]);
}

/// Builds a program of launches of one kernel, independent or in a chain.
fn run(launches: Launches, is_chain: bool) -> (Vec<f32>, usize) {
    let device = device();
    let mut own = [1.0_f32, 2.0, 3.0].map(|value| device.upload(&[value; N as usize]));
    let mut b = Builder::with_name(&device.ctx, "mangled");
    b.launches(launches);
    let handles: Vec<_> =
        own.iter_mut().zip(["x", "y", "z"]).map(|(own, name)| b.exclusive(name, N, own)).collect();
    let x = b.named("minus").alloc::<f32>(N);
    b.launch(negate {}, (N.div_ceil(64), 64), (handles[0].read(), x.write(), N)).unwrap();
    for (at, handle) in handles[1..].iter().enumerate() {
        let from = if is_chain && at == 1 { handles[1] } else { x };
        b.launch(axpy {}, (N.div_ceil(64), 64), (2.0_f32, from.read(), handle.write(), N)).unwrap();
    }
    let graph = b.build().unwrap();
    let nodes = graph.report().nodes();
    let mut exec = graph.instantiate().unwrap();
    exec.launch(&device.stream).unwrap();
    drop(exec);
    (device.stream.clone_dtoh(&own[2]).unwrap(), nodes)
}

/// Generated kernels call them by the names in the PTX.
#[test]
fn launches_are_batched_and_fused() {
    for (launches, is_chain) in
        [(Launches::AsWritten, false), (Launches::Batched, false), (Launches::Fused, true)]
    {
        let (last, nodes) = run(launches, is_chain);
        assert_eq!(last[0], if is_chain { 3.0 } else { 1.0 });
        assert_eq!(nodes == 5, launches == Launches::AsWritten, "{launches:?}: {nodes} nodes");
    }
}
