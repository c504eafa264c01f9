//! A buffer of numbers that is declared a table of pointers.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/pointers.ptx")]
unsafe extern "ptx-kernel" {
    fn doubled(
        xs: &[Ptr<[u64; n]>; n], //~ CW303
        out: &mut [MaybeUninit<u64>; n],
        n: u32,
    );
}

fn main() {}
