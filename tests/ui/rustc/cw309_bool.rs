//! Elements that not all bits are values of, where the data decides which of them are written.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/marks.ptx")]
unsafe extern "ptx-kernel" {
    fn scatter(
        to: &[u32; n],
        out: &mut [MaybeUninit<bool>; n], //~ CW309
        n: u32,
    );
}

fn main() {}
