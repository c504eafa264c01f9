//! Library calls among kernels, loops, calls and branches, compared with plain Rust.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, forked, rescale, scaled, sum};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32 - 3.0).collect()
}

/// out = (2 x + y) * 3
#[cuweave::graph]
fn mixed(n: u32, library: &Library, x: &[f32; n], y: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    scaled(&library, &x, &mut h, 2.0, n);
    sum(library, &h, &y, &mut out, n);
    scale[per_item(n)](&mut out, 3.0, n);
}

#[test]
fn calls_and_kernels_are_ordered_by_what_they_access() {
    let device = alone();
    let library = Library::new(&device.ctx);
    for n in [1u32, 7, 300] {
        let (x, y) = (device.upload(&numbers(n as usize)), device.upload(&vec![5.0f32; n as usize]));
        let mut out = device.upload(&vec![0.0f32; n as usize]);
        let graph = mixed(&device.ctx, n, &library, &x, &y, &mut out).expect("it builds");
        let report = graph.report();
        assert_eq!((report.kernels, report.calls), (1, 2));
        assert_eq!(report.captured, if n == 1 { 3 } else { 5 });
        assert!(report.to_string().contains("2 library calls"), "{report}");
        let dot = graph.dot();
        assert!(dot.contains("scaled") && dot.contains("sum"), "{dot}");
        let mut exec = graph.instantiate().expect("it instantiates");
        for _ in 0..3 {
            exec.launch(&device.stream).expect("it launches");
        }
        drop(exec);
        let expected: Vec<f32> = numbers(n as usize).iter().map(|x| (2.0 * x + 5.0) * 3.0).collect();
        assert_eq!(device.download(&out), expected, "{n}");
    }
}

#[cuweave::graph]
fn layer(n: u32, a: f32, library: &Library, x: &[f32; n], out: &mut [MaybeUninit<f32>; n]) {
    let pos = alloc::<f32>(n);
    let neg = alloc::<f32>(n);
    forked(&library, &x, &mut pos, &mut neg, n);
    rescale(&library, &mut pos, a, n);
    sum(&library, &pos, &neg, &mut out, n);
}

/// Applies x -> (a + 1) x `steps` times. If `even`, skips the odd iterations.
#[cuweave::graph]
fn layers(n: u32, steps: u32, even: bool, a: f32, library: &Library, x: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    for i in 0..steps {
        if !even || i % 2 == 0 {
            layer(n, a, &library, &x, &mut h);
            copy(&h, &mut x);
        }
    }
}

#[test]
fn calls_in_loops_choices_and_calls() {
    let device = alone();
    let library = Library::new(&device.ctx);
    for (steps, even, a) in [(0u32, false, 2.0f32), (3, false, 2.0), (4, true, 3.0), (2, false, 1.0)] {
        let n = 5u32;
        let mut x = device.upload(&numbers(5));
        let graph = layers(&device.ctx, n, steps, even, a, &library, &mut x);
        let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let turns = if even { steps.div_ceil(2) } else { steps };
        let factor = (a + 1.0).powi(turns as i32);
        let expected: Vec<f32> = numbers(5).iter().map(|x| x * factor).collect();
        assert_eq!(device.download(&x), expected);
    }
}

/// 8 branches, each with scratch of a different size, joined by a chain of kernels.
#[cuweave::graph]
fn branches(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
    fill(&mut out, 0.0);
    for i in 0..8 {
        let h = alloc::<f32>(n);
        sum(&library, &x, &x, &mut h, n);
        let t = alloc::<f32>(n);
        add[per_item(n)](&out, &h, &mut t, n);
        copy(&t, &mut out);
    }
}

#[test]
fn branches_have_scratch_of_their_own() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let n = 64u32;
    let x = device.upload(&numbers(64));
    let mut out = device.upload(&[0.0f32; 64]);
    let mut exec =
        branches(&device.ctx, n, &library, &x, &mut out).expect("it builds").instantiate().expect("ok");
    for _ in 0..4 {
        exec.launch(&device.stream).expect("it launches");
    }
    drop(exec);
    let expected: Vec<f32> = numbers(64).iter().map(|x| 16.0 * x).collect();
    assert_eq!(device.download(&out), expected);
}
