//! Kernels that set no condition, and parameters that are none.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/conditions.ptx")]
unsafe extern "ptx-kernel" {
    fn forget(y: &mut [MaybeUninit<u32>; 1], go: Condition); //~ CW303
    fn decide_by(x: &[u32; 1], go: &mut [Condition; 1]); //~ CW001
}

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn count_down(x: Condition); //~ CW303
}

fn main() {}
