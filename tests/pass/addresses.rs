//! Indices that a kernel loads from memory, and pointers to its parameters that it loads from its own memory.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

#[cuweave::kernels("tests/kernels/addresses.ptx")]
unsafe extern "ptx-kernel" {
    fn gather(x: &[f32; ROWS], at: &[u64; n], out: &mut [MaybeUninit<f32>; n], n: i32);
    fn gather_bytes(x: &[u8; ROWS], at: &[u64; n], out: &mut [MaybeUninit<u8>; n], n: i32);
    fn row_of_block(
        x: &[f32; ROWS * columns],
        at: &[u64; ROWS],
        out: &mut [f32; ROWS * columns],
        columns: i32,
    );
    fn choose(a: &[f32; n], b: &[f32; n], which: &[u64; n], out: &mut [MaybeUninit<f32>; n], n: i32);
}

const ROWS: usize = 4;

#[cuweave::graph]
fn indices(
    at: &[u64; 4],
    x: &[f32; 4],
    table: &[f32; 16],
    bytes: &[u8; 4],
    out: &mut [f32; 4],
    out_bytes: &mut [u8; 4],
    rows: &mut [f32; 16],
    chosen: &mut [f32; 4],
) {
    gather[(1, 32)](&x, &at, &mut out, 4);
    gather_bytes[(1, 32)](&bytes, &at, &mut out_bytes, 4);
    row_of_block[(4, 32)](&table, &at, &mut rows, 4);
    choose[(1, 32)](&x, &out, &at, &mut chosen, 4);
}

/// Each is `&[u64; _]`, like a buffer of pointers.
#[test]
fn indices_in_memory_are_no_pointers() {
    let device = device();
    let at = device.upload(&[2_u64, 0, 3, 1]);
    let x = device.upload(&ramp(4));
    let table = device.upload(&ramp(16));
    let bytes = device.upload(&[10_u8, 11, 12, 13]);
    let (mut out, mut chosen) = (device.zeros::<f32>(4), device.zeros::<f32>(4));
    let (mut rows, mut out_bytes) = (device.zeros::<f32>(16), device.zeros::<u8>(4));
    run!(
        device,
        indices(&device.ctx, &at, &x, &table, &bytes, &mut out, &mut out_bytes, &mut rows, &mut chosen)
    );
    let of = |at: &[usize]| at.iter().map(|&at| ramp(16)[at]).collect::<Vec<_>>();
    assert_eq!(device.download(&out), of(&[2, 0, 3, 1]));
    assert_eq!(device.download(&out_bytes), [12, 10, 13, 11]);
    assert_eq!(device.download(&rows), of(&[8, 9, 10, 11, 0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7]));
    // An element of `x` or of `out`, depending on the lowest bit of the index.
    assert_eq!(device.download(&chosen), of(&[0, 1, 3, 1]));
}
