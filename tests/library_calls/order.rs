//! Random programs of calls and kernels, on random schedules of the simulated driver, compared with plain Rust.

use cudarc::driver::DriverError;
use cuweave::prelude::*;
use cuweave_testkit::device::{alone, simulated_alone};

use crate::library::{Library, forked, rescale, scaled, sum};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// `steps` statements on four parts of one buffer, chosen by the digits of `code`.
#[cuweave::graph]
fn random(n: u32, steps: u32, code: u64, library: &Library, x: &mut [f32; 4 * n]) {
    for i in 0..steps {
        let digit = code >> (i * 6);
        let from = (digit % 4) as u32;
        let to = ((digit >> 2) % 4) as u32;
        let h = alloc::<f32>(n);
        match (digit >> 4) % 4 {
            0 => {
                scaled(&library, &x[from * n..(from + 1) * n], &mut h, 2.0, n);
                copy(&h, &mut x[to * n..(to + 1) * n]);
            }
            1 => {
                sum(&library, &x[from * n..(from + 1) * n], &x[to * n..(to + 1) * n], &mut h, n);
                copy(&h, &mut x[to * n..(to + 1) * n]);
            }
            2 => {
                let t = alloc::<f32>(n);
                forked(&library, &x[from * n..(from + 1) * n], &mut h, &mut t, n);
                axpy[per_item(n)](3.0, &t, &mut h, n);
                copy(&h, &mut x[to * n..(to + 1) * n]);
            }
            _ => rescale(&library, &mut x[to * n..(to + 1) * n], if digit % 2 == 0 { 1.0 } else { -1.0 }, n),
        }
    }
}

/// The same in plain Rust.
fn plain(steps: u32, code: u64, x: &mut [f32; 4]) {
    for i in 0..steps {
        let digit = code >> (i * 6);
        let (from, to) = ((digit % 4) as usize, ((digit >> 2) % 4) as usize);
        x[to] = match (digit >> 4) % 4 {
            0 => 2.0 * x[from],
            1 => x[from] + x[to],
            2 => 4.0 * x[from],
            _ => x[to] * if digit.is_multiple_of(2) { 1.0 } else { -1.0 },
        };
    }
}

#[test]
fn random_programs_on_random_schedules() {
    let Some(device) = simulated_alone() else { return };
    let library = Library::new(&device.ctx);
    let mut code = 0x9e37_79b9_7f4a_7c15_u64;
    for turn in 0..40u64 {
        code = code.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (n, steps) = (8u32, 10);
        let code = code & ((1 << 60) - 1);
        let mut expected = [1.0f32, 2.0, 3.0, 4.0];
        plain(steps, code, &mut expected);
        let start: Vec<f32> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|&value| [value; 8]).collect();
        let mut x = device.upload(&start);
        cuweave_sim::set_seed(turn).expect("the simulated driver");
        let graph = random(&device.ctx, n, steps, code, &library, &mut x).expect("it builds");
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        let expected: Vec<f32> = expected.iter().flat_map(|&value| [value; 8]).collect();
        assert_eq!(device.download(&x), expected, "{turn}: {code:#x}");
    }
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert!(reports.is_empty(), "{reports:?}");
}

/// A chain: a call that ends with a kernel, a kernel, a call whose branches end with two nodes, and a kernel.
#[cuweave::graph(memory = "arena")]
fn chain(n: u32, library: &Library, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    scaled(&library, &x, &mut h, 2.0, n);
    axpy[per_item(n)](1.0, &x, &mut h, n);
    let pos = alloc::<f32>(n);
    let neg = alloc::<f32>(n);
    forked(&library, &h, &mut pos, &mut neg, n);
    axpy[per_item(n)](1.0, &pos, &mut neg, n);
    cleared(&mut out, n);
    axpy[per_item(n)](1.0, &neg, &mut out, n);
}

/// A call that ends with a fill.
#[cuweave::call]
unsafe fn cleared(stream: &CallStream, out: &mut [MaybeUninit<f32>; n], n: u32) -> Result<(), DriverError> {
    assert_eq!(out.len(), n as usize);
    stream.memset_zeros(out)
}

/// An edge from a single captured kernel is programmatic. From several nodes, or from a fill, it is full.
#[test]
fn edges_out_of_captured_kernels_are_programmatic() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let x = device.upload(&[3.0f32; 8]);
    let mut out = device.upload(&[1.0f32; 8]);
    let graph = chain(&device.ctx, 8, &library, &x, &mut out).expect("it builds");
    let report = graph.report();
    assert_eq!((report.calls, report.overlapped), (3, 1), "{report}");
    let mut exec = graph.instantiate().expect("it instantiates");
    for _ in 0..3 {
        exec.launch(&device.stream).expect("it launches");
    }
    drop(exec);
    assert_eq!(device.download(&out), [18.0f32; 8]);
}
