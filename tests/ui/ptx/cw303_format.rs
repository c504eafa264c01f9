//! Elements of `bf16` for a kernel that computes with halves.

use cuweave::prelude::*;

/// Stands for the type of the crate `half`.
#[allow(non_camel_case_types)]
pub struct bf16(pub u16);

#[cuweave::kernels("tests/ptx-corpus/triton/triton_scale.90.ptx")]
unsafe extern "ptx-kernel" {
    fn triton_scale(
        x: &mut [bf16; n], //~ CW303
        factor: f32,
        n: i32,
        scratch: u64,
        profile: u64,
    );
}

fn main() {}
