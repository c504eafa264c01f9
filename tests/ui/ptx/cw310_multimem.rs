use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/multimem.ptx")]
unsafe extern "ptx-kernel" {
    fn sum_to_all(
        all: &mut [f32; n], //~ CW310
        n: u32,
    );
    fn sum_to_own(
        all: &[Multimem<f32>; n],
        own: &mut [Multimem<f32>; n], //~ CW310
        n: u32,
    );
}

fn main() {}
