//! The file ends in the middle of a kernel.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/bad/truncated.ptx")] //~ CW307
unsafe extern "ptx-kernel" {
    fn nothing();
}

fn main() {}
