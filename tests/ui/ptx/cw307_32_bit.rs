//! 32-bit addresses.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/bad/address_32.ptx")] //~ CW307
unsafe extern "ptx-kernel" {
    fn nothing();
}

fn main() {}
