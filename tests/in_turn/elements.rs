//! The report lists exactly those declared element types that the PTX does not confirm.

use cuweave::prelude::*;
use cuweave::report::DeclaredPart;

use cuweave_testkit::device::alone as device;

/// Declarations with the element types of the kernels.
mod right {
    #[cuweave::kernels("tests/kernels/elements.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn next_byte(x: &[u8; n], out: &mut [MaybeUninit<u8>; n], n: u32);
        pub fn next_wide(x: &[u64; n], out: &mut [MaybeUninit<u64>; n], n: u32);
        pub fn copy_wide(x: &[f32; 2 * n], out: &mut [MaybeUninit<f32>; 2 * n], n: u32);
        pub fn next_floats(x: &[f32; 2 * n], out: &mut [MaybeUninit<f32>; 2 * n], n: u32);
        pub fn odd_word(out: &mut [MaybeUninit<bool>; 4 * n], n: u32);
        pub fn copy_bytes(x: &[bool; n], out: &mut [MaybeUninit<bool>; n], n: u32);
        pub fn count_wide(out: &mut [u32; n], n: u64);
        pub fn optional(out: &mut [u32; 64], table: &[u32; 1]);
    }
    use std::mem::MaybeUninit;
}

/// Declarations with other element types.
mod wrong {
    #[cuweave::kernels("tests/kernels/elements.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn next_byte(x: &[f32; n], out: &mut [f32; n], n: u32);
        pub fn next_wide(x: &[f32; 2 * n], out: &mut [MaybeUninit<f32>; 2 * n], n: u32);
        pub fn next_floats(x: &[u32; 2 * n], out: &mut [MaybeUninit<u64>; n], n: u32);
        pub fn index_word(out: &mut [MaybeUninit<bool>; 4 * n], n: u32);
        pub fn copy_bytes(x: &[u8; n], out: &mut [MaybeUninit<bool>; n], n: u32);
        pub fn count_wide(out: &mut [u32; 64], n: &[u64; 1]);
    }
    use std::mem::MaybeUninit;
}

#[cuweave::graph]
fn of_the_kernels(
    x: &[u8; 64],
    y: &[u64; 64],
    z: &[f32; 128],
    b: &[bool; 64],
    out: &mut [u32; 64],
    t: &[u32; 1],
) -> ([u8; 64], [u64; 64], [f32; 128], [bool; 256], [bool; 64]) {
    let bytes = alloc::<u8>(64);
    right::next_byte[(1, 64)](&x, &mut bytes, 64);
    let wide = alloc::<u64>(64);
    right::next_wide[(1, 64)](&y, &mut wide, 64);
    let copied = alloc::<f32>(128);
    right::copy_wide[(1, 64)](&z, &mut copied, 64);
    let floats = alloc::<f32>(128);
    right::next_floats[(1, 64)](&copied, &mut floats, 64);
    let odd = alloc::<bool>(256);
    right::odd_word[(1, 64)](&mut odd, 64);
    let flags = alloc::<bool>(64);
    right::copy_bytes[(1, 64)](&b, &mut flags, 64);
    right::count_wide[(1, 64)](&mut out, 64);
    right::optional[(1, 64)](&mut out, &t);
    (bytes, wide, floats, odd, flags)
}

#[test]
fn confirmed_elements_are_not_listed() {
    let device = device();
    let (x, y) =
        (device.stream.clone_htod(&[1_u8; 64]).unwrap(), device.stream.clone_htod(&[1_u64; 64]).unwrap());
    let (z, b) =
        (device.stream.clone_htod(&[1_f32; 128]).unwrap(), device.stream.clone_htod(&[true; 64]).unwrap());
    let (mut out, t) =
        (device.stream.alloc_zeros::<u32>(64).unwrap(), device.stream.alloc_zeros::<u32>(1).unwrap());
    let graph = of_the_kernels(&device.ctx, &x, &y, &z, &b, &mut out, &t).unwrap();
    let report = graph.report();
    assert!(report.assumed_declarations.iter().all(|entry| entry.what == DeclaredPart::Extent), "{report}");
    let mut exec = graph.instantiate().unwrap();
    let (_, _, floats, odd, _) = exec.launch(&device.stream).unwrap();
    assert_eq!(device.stream.clone_dtoh(&floats).unwrap(), [2.0; 128]);
    let odd = device.stream.clone_dtoh(&odd).unwrap();
    if device.simulated {
        let reports = cuweave_sim::take_reports().unwrap();
        assert!(reports.is_empty(), "{reports:?}");
    }
    assert_eq!(odd[..8], [false, false, false, false, true, true, true, true]);
}

#[cuweave::graph]
fn otherwise(
    x: &[f32; 64],
    y: &[u8; 64],
    n: &[u64; 1],
    a: &mut [f32; 64],
    out: &mut [u32; 64],
    words: &mut [f32; 128],
    bits: &mut [u64; 64],
    flags: &mut [bool; 256],
) {
    let u = alloc::<u32>(128);
    fill(&mut u, 0);
    wrong::next_byte[(1, 64)](&x, &mut a, 64);
    wrong::next_wide[(1, 32)](&x, &mut words[..64], 32);
    wrong::next_floats[(1, 64)](&u, &mut bits, 64);
    wrong::index_word[(1, 64)](&mut flags, 64);
    wrong::copy_bytes[(1, 64)](&y, &mut flags[..64], 64);
    wrong::count_wide[(1, 64)](&mut out, &n);
}

#[test]
fn elements_that_the_kernels_do_not_confirm_are_listed() {
    let device = device();
    let (x, y) =
        (device.stream.alloc_zeros::<f32>(64).unwrap(), device.stream.alloc_zeros::<u8>(64).unwrap());
    let n = device.stream.alloc_zeros::<u64>(1).unwrap();
    let (mut a, mut out) =
        (device.stream.alloc_zeros::<f32>(64).unwrap(), device.stream.alloc_zeros::<u32>(64).unwrap());
    let mut words = device.stream.alloc_zeros::<f32>(128).unwrap();
    let mut bits = device.stream.alloc_zeros::<u64>(64).unwrap();
    let mut flags = device.stream.alloc_zeros::<bool>(256).unwrap();
    let graph =
        otherwise(&device.ctx, &x, &y, &n, &mut a, &mut out, &mut words, &mut bits, &mut flags).unwrap();
    let report = graph.report();
    let mut found: Vec<String> = Vec::new();
    for entry in &report.assumed_declarations {
        if matches!(entry.what, DeclaredPart::Elements | DeclaredPart::Access) {
            let reason = entry.reason.rsplit_once("of the PTX) ").map_or("", |(_, reason)| reason);
            found.push(format!("{}.{}: {}: {reason}", entry.kernel, entry.parameter, entry.what));
        }
    }
    assert_eq!(
        found,
        [
            "copy_bytes.out: its elements: writes bits that are not proved to be 0 or 1",
            "count_wide.n: how it is used: uses its bits, and no access goes through it",
            "index_word.out: its elements: writes bits that are not proved to be 0 or 1",
            "next_byte.out: its elements: accesses 1 byte at a time, less than an element",
            "next_byte.x: its elements: accesses 1 byte at a time, less than an element",
            "next_floats.out: its elements: accesses bits that are used as `f32`",
            "next_floats.x: its elements: accesses bits that are used as `f32`",
            "next_wide.out: its elements: accesses integers of 8 bytes",
            "next_wide.x: its elements: accesses integers of 8 bytes",
        ],
        "{report}"
    );
}
