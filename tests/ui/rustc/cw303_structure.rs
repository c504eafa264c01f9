//! A structure of another size than the PTX takes: rustc knows it.

use cuweave::cudarc::driver::DeviceRepr;
use cuweave::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Affine {
    pub a: f32,
    pub b: f32,
    pub c: f32,
}

unsafe impl DeviceRepr for Affine {}

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn affine(
        x: &mut [f32; n],
        by: Affine, //~ CW303
        n: u32,
    );
}

fn main() {}
