//! A structure with padding as an argument that the PTX declares as a number. The padding is uninitialized, so the
//! runtime must not read the argument as a number.

use cudarc::driver::DeviceRepr;
use cuweave::prelude::*;

use crate::support::device;

/// Two bytes and two of padding.
#[derive(Clone, Copy)]
#[repr(C, align(4))]
struct Padded {
    rounds: u16,
}

// SAFETY: the kernel takes four bytes by value; two of them are padding.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Padded {}

mod numbers {
    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn spin(out: &mut [u32; 1], rounds: u32);
    }
}

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn spin(out: &mut [u32; 1], rounds: Padded);
}

#[cuweave::graph(launches = "batched")]
fn of_structures(out: &mut [u32; 64], rounds: Padded) {
    for i in 0..64 {
        spin[(1, 1)](&mut out[i..i + 1], rounds);
        spin[(1, 1)](&mut out[i..i + 1], rounds);
    }
}

#[cuweave::graph(launches = "batched")]
fn of_numbers(out: &mut [u32; 64], rounds: u32) {
    for i in 0..64 {
        numbers::spin[(1, 1)](&mut out[i..i + 1], rounds);
        numbers::spin[(1, 1)](&mut out[i..i + 1], rounds);
    }
}

/// Launches of equal duration are batched. The trip counts of these depend on the parameter.
#[test]
fn launches_are_told_apart_by_numbers_alone() {
    let device = device();
    let mut out = device.zeros::<u32>(64);
    let batches = of_numbers(&device.ctx, &mut out, 3).expect("it builds").report().batches;
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [64, 64]);
    let report = of_structures(&device.ctx, &mut out, Padded { rounds: 3 }).expect("it builds").report();
    assert!(report.batches.is_empty(), "{report}");
}
