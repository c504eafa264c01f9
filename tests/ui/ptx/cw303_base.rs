//! An integer whose bits are the base of an address: its buffer would be invisible to the order.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(
        x: u64, //~ CW303
        a: f32,
        n: u32,
    );
}

fn main() {}
