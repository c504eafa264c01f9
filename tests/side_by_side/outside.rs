//! Accesses outside of declared extents that depend on the numbers of a launch.

use cuweave::Error;
use cuweave::builder::Builder;
use cuweave::error::OutsideExtent;
use cuweave::prelude::*;
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(#[contract] len: u32, x: &mut [f32; len], a: f32, n: u32);
}

#[cuweave::kernels("tests/kernels/optional.ptx")]
unsafe extern "ptx-kernel" {
    fn strided(
        #[contract] len: u32,
        strides: Option<&[u32; 1]>,
        x: &[f32; len],
        out: &mut [MaybeUninit<f32>; n],
        n: u32,
    );
}

#[cuweave::graph]
fn picked(len: u32, n: u32, strides: Option<&[u32; 1]>, x: &[f32; len], out: &mut [f32; n]) {
    strided[per_item(n)](len, strides, &x, &mut out, n);
}

/// Without strides, all elements are read in sequence. With strides, memory determines the elements.
#[test]
fn what_null_leads_to_is_known() {
    let d = device();
    let (strides, x, mut out) = (d.upload(&[0u32]), d.upload(&ramp(10)), d.zeros::<f32>(20));
    let graph = picked(&d.ctx, 10, 20, Some(&strides), &x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), vec![ramp(10)[0]; 20]);
    let error = picked(&d.ctx, 10, 20, None, &x, &mut out).map(|_| ()).expect_err("10 of 20");
    assert!(matches!(&error, Error::OutsideExtent(outside) if outside.reaches == 20), "{error}");
    let mut out = d.zeros::<f32>(10);
    let graph = picked(&d.ctx, 10, 10, None, &x, &mut out).expect("all 10");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&d.stream).expect("it is launched");
    drop(exec);
    assert_eq!(d.download(&out), ramp(10));
}

#[cuweave::graph]
fn scaled(len: u32, n: u32, threads: u32, x: &mut [f32; len]) {
    scale[per_item(threads)](len, &mut x, 2.0, n);
}

fn outside(len: u32, n: u32, threads: u32) -> Option<OutsideExtent> {
    let d = device();
    let mut x = d.upload(&ramp(len as usize));
    match scaled(&d.ctx, len, n, threads, &mut x) {
        Ok(_) => None,
        Err(Error::OutsideExtent(outside)) => Some(*outside),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_build_knows_how_far_a_launch_goes() {
    assert!(outside(100, 100, 100).is_none());
    assert!(outside(100, 50, 100).is_none());
    // Threads beyond the elements do nothing, and elements beyond the threads are not accessed.
    assert!(outside(100, 100, 1000).is_none());
    assert!(outside(256, 1000, 256).is_none());
    let error = outside(100, 101, 101).expect("one element too many");
    assert_eq!((error.extent, error.reaches, error.threads), (100, 101, 256));
    assert_eq!((&*error.parameter, &*error.buffer, &*error.kernel), ("x", "x", "scale"));
    assert!(outside(100, 1000, 64).is_some_and(|error| error.reaches == 256));
}

#[test]
fn the_error_names_the_element() {
    let error = outside(100, 101, 101).expect("one element too many");
    let said = error.to_string();
    assert!(said.contains("accesses element 100 of `x` in a launch of 256 threads"), "{said}");
    assert!(said.contains("tests/side_by_side/outside.rs:52"), "{said}");
}

#[test]
fn a_setter_goes_no_further() {
    let d = device();
    let mut x = d.upload(&ramp(100));
    let graph = scaled(&d.ctx, 100, 50, 100, &mut x).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_n(100).expect("all elements");
    let error = exec.set_n(101).expect_err("one too many");
    assert!(matches!(error, Error::OutsideExtent(_)), "{error}");
    exec.launch(&d.stream).expect("the old number is there");
    drop(exec);
    assert_eq!(d.download(&x), ramp(100).iter().map(|x| 2.0 * x).collect::<Vec<_>>());
}

#[test]
fn builders_are_told() {
    let d = device();
    let mut x = d.upload(&ramp(100));
    let mut b = Builder::new(&d.ctx);
    let len = b.scalar("len", 100);
    let n = b.scalar("n", 120u32);
    let mut buffer = b.exclusive::<f32>("x", 100, &mut x);
    b.launch(scale {}, per_item(n), (len, &mut buffer, 2.0, n)).expect("a launch");
    let error = b.build().map(|_| ()).expect_err("120 of 100 elements");
    assert!(matches!(error, Error::OutsideExtent(_)), "{error}");
}
