//! A byte that is no `bool`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/elements.ptx")]
unsafe extern "ptx-kernel" {
    fn two_bytes(
        out: &mut [MaybeUninit<bool>; n], //~ CW303
        n: u32,
    );
}

fn main() {}
