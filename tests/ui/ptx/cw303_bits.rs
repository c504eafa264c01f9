use cuweave::prelude::*;

#[cuweave::kernels("tests/ptx-corpus/triton/triton_add.90.ptx")]
unsafe extern "ptx-kernel" {
    fn triton_add(
        x: &[f32; n],
        y: &[f64; n], //~ CW303
        out: &mut [MaybeUninit<f32>; n],
        n: i32,
        scratch: u64,
        profile: u64,
    );
}

fn main() {}
