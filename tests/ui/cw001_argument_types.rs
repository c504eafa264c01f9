//! Types of arguments that are not in the language: one error each, and none at their uses.

use cuweave::prelude::*;

#[cuweave::graph]
fn vectors(n: u32, all: Vec<&[f32; n]>, one: &Vec<f32>, out: &mut [f32; n]) { //~ CW001 CW001
    for x in all {
        copy(&x, &mut out);
    }
    copy(&one, &mut out);
}

#[cuweave::graph]
fn tuple(n: u32, both: (&[f32; n], &[f32; n]), out: &mut [f32; n]) { //~ CW001
    copy(&both.0, &mut out);
}

#[cuweave::graph]
fn nested(n: u32, w: [[&[f32; n]; 2]; 4], out: &mut [f32; n]) { //~ CW001
    copy(&w[0][1], &mut out);
}

#[cuweave::graph]
fn rows(n: u32, w: &[[f32; n]; 4], out: &mut [f32; n]) { //~ CW001
    copy(&w[0], &mut out);
}

#[cuweave::graph]
fn optional(n: u32, bias: Option<&[f32]>, out: &mut [f32; n]) { //~ CW001
    if let Some(bias) = bias {
        copy(&bias, &mut out);
    }
}

#[cuweave::graph]
fn lengthless(x: &[f32], y: *const f32, z: &cudarc::driver::CudaSlice<f32>) { //~ CW001 CW001 CW001
    copy(&x, &mut y);
}

#[cuweave::graph]
fn traits(n: impl Into<u32>, name: &str, k: u32, k: u32) {} //~ CW001 CW001 CW001

/// The functions above have the arguments that they declare.
pub fn calls(ctx: &std::sync::Arc<cudarc::driver::CudaContext>, out: &mut cudarc::driver::CudaSlice<f32>) {
    let _ = optional(ctx, 4, None::<&cudarc::driver::CudaSlice<f32>>, out);
    let _ = traits(ctx, 4, "name", 1, 2);
}

fn main() {}
