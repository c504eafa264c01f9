//! No `.version`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/bad/no_version.ptx")] //~ CW307
unsafe extern "ptx-kernel" {
    fn nothing();
}

fn main() {}
