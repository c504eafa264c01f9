//! Kernels that read and write pinned host memory.

use cuweave::builder::Builder;
use cuweave::prelude::*;
use cuweave_testkit::device::{device, pinned, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const LEN: usize = 64;
const N: u32 = LEN as u32;

fn times(by: f32) -> Vec<f32> {
    ramp(LEN).iter().map(|x| by * x).collect()
}

#[cuweave::graph]
fn through(n: u32, from: &Pinned<[f32; n]>, x: &mut [f32; n], to: &mut Pinned<[f32; 2 * n]>) {
    axpy[per_item(n)](2.0, &from, &mut x, n);
    copy_to[per_item(n)](&x, &mut to[..n], n);
    scale[per_item(n)](&mut to[..n], 0.5, n);
    copy(&x, &mut to[n..]);
}

#[test]
fn kernels_read_and_write_pinned_memory() {
    let device = device();
    let (from, mut to) = (pinned(&device.ctx, &ramp(LEN)), pinned(&device.ctx, &[0.0f32; 2 * LEN]));
    let (mut x, other) = (device.upload(&ramp(LEN)), pinned(&device.ctx, &times(10.0)));
    let graph = through(&device.ctx, N, &from, &mut x, &mut to).expect("a graph");
    assert!(cuweave::certificate::check(&graph.certificate()).is_ok());
    let mut exec = graph.instantiate().expect("an exec");
    assert!(exec.verify(&device.stream).expect("a verification").is_equal());
    exec.launch(&device.stream).expect("a launch");
    let seen = exec.args().to.as_slice().expect("elements").to_vec();
    assert_eq!(seen, [times(1.5), times(3.0)].concat());
    // Another buffer, by a thread without a current context.
    std::thread::scope(|scope| {
        scope.spawn(|| exec.set_from(&other)).join().expect("it ends").expect("it is set")
    });
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    assert_eq!(device.download(&x), times(23.0));
    assert_eq!(to.as_slice().expect("elements"), [times(11.5), times(23.0)].concat());
}

#[cuweave::graph]
fn decided(n: u32, x: &mut Pinned<[u32; n]>, go: &mut [u32; 1], left: &mut Pinned<[u32; n]>) {
    #[at_most(5)]
    while go {
        mix[per_item(n)](&mut x, 2, n);
        mix[per_item(n)](&mut left, 2, n);
        count_down[(1, 1)](&mut go);
    }
}

/// In bodies, where copies of pinned memory are not allowed.
#[test]
fn bodies_use_pinned_memory() {
    let device = device();
    let (mut x, mut left) = (pinned(&device.ctx, &[1u32; LEN]), pinned(&device.ctx, &[1u32; LEN]));
    let mut go = device.upload(&[3u32]);
    let graph = decided(&device.ctx, N, &mut x, &mut go, &mut left).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    let expected = (0..3).fold(1u32, |x, _| x.wrapping_mul(31).wrapping_add(2));
    assert_eq!(x.as_slice().expect("elements"), [expected; LEN]);
    assert_eq!(left.as_slice().expect("elements"), [expected; LEN]);
}

#[test]
fn a_builder_launches_with_pinned_memory() {
    let device = device();
    let mut b = Builder::new(&device.ctx);
    let from = b.pinned("from", N, pinned(&device.ctx, &ramp(LEN)));
    let mut to = b.pinned_mut("to", N, pinned(&device.ctx, &ramp(LEN)));
    for _ in 0..3 {
        b.launch(axpy {}, per_item(N), (1.0f32, &from, &mut to, N)).expect("a launch");
    }
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    let to = exec.into_args().take::<cudarc::driver::PinnedHostSlice<f32>>(to).expect("the memory");
    assert_eq!(to.as_slice().expect("elements"), times(4.0));
}
