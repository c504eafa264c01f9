//! No `.target`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/bad/no_target.ptx")] //~ CW307
unsafe extern "ptx-kernel" {
    fn nothing();
}

fn main() {}
