//! A version that the reader does not know.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/bad/new.ptx")] //~ CW307
unsafe extern "ptx-kernel" {
    fn nothing();
}

fn main() {}
