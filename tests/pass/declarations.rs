//! Kernel declarations: where they may be written, which parameters they may have, and how launches name them.

use cuweave::prelude::*;

use crate::support::{device, ramp, run};

/// Declarations in a separate module, with documentation and visibility.
mod kernels {
    use super::Affine;
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        /// Nothing at all.
        pub fn nothing();
        /// out[i] = value
        pub fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
        /// x = x * a
        pub fn scale(x: &mut [f32; n], a: f32, n: u32);
        /// Double precision.
        pub fn scale64(x: &mut [f64; n], a: f64, n: u32);
        /// Bytes, and a 64-bit length.
        pub fn invert(x: &[u8; n], out: &mut [MaybeUninit<u8>; n], n: u64);
        /// A structure by value.
        pub(crate) fn affine(x: &mut [f32; n], by: Affine, n: u32);
        /// An extent that is a sum.
        pub fn window(x: &[f32; n + offset], out: &mut [MaybeUninit<f32>; n], offset: u32, n: u32);
        /// Extents that are products.
        pub fn transpose(
            x: &[f32; rows * cols],
            out: &mut [MaybeUninit<f32>; rows * cols],
            rows: u32,
            cols: u32,
        );
        /// An extent that is a number.
        pub fn reduce_sum(x: &[f32; n], out: &mut [MaybeUninit<f32>; 1], n: u32);
    }

    /// Deeper still.
    pub mod inner {
        use cuweave::prelude::*;

        #[cuweave::kernels(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/common.ptx"))]
        unsafe extern "ptx-kernel" {
            pub fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
        }
    }
}

/// A parameter of a user's own type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Affine {
    a: f32,
    b: f32,
}

// SAFETY: two floats, which match the kernel's parameter.
#[allow(unsafe_code, reason = "`DeviceRepr` is an unsafe marker of cudarc")]
unsafe impl cudarc::driver::DeviceRepr for Affine {}

mod by_path {
    use super::*;

    #[cuweave::graph]
    pub fn doubled(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
        super::kernels::scale[per_item(n)](&mut x, 2.0, n);
        crate::declarations::kernels::inner::copy_to[per_item(n)](&x, &mut out, n);
        kernels::nothing[(1, 1)]();
    }
}

#[test]
fn kernels_are_named_by_path() {
    let device = device();
    let mut x = device.upload(&ramp(100));
    let mut out = device.zeros::<f32>(100);
    run!(device, by_path::doubled(&device.ctx, 100, &mut x, &mut out));
    assert_eq!(device.download(&out), ramp(100).iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

mod by_use {
    use super::kernels::inner::copy_to as duplicate;
    use super::kernels::*;
    use cuweave::prelude::*;

    #[cuweave::graph]
    pub fn doubled(n: u32, x: &mut [f32; n], out: &mut [f32; n]) {
        scale[per_item(n)](&mut x, 2.0, n);
        duplicate[per_item(n)](&x, &mut out, n);
    }
}

#[test]
fn kernels_are_named_through_globs_and_renames() {
    let device = device();
    let mut x = device.upload(&ramp(100));
    let mut out = device.zeros::<f32>(100);
    run!(device, by_use::doubled(&device.ctx, 100, &mut x, &mut out));
    assert_eq!(device.download(&out), ramp(100).iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn scalars(n: u32, wide: u64, x: &mut [f64; n], bytes: &[u8; wide], inverted: &mut [u8; wide]) {
    kernels::scale64[per_item(n)](&mut x, 0.5, n);
    kernels::invert[(8, 256)](&bytes, &mut inverted, wide);
}

#[test]
fn scalars_and_elements_of_every_width() {
    let device = device();
    let mut x = device.upload(&[1.0_f64, 2.0, 3.0]);
    let bytes = device.upload(&(0..=255).collect::<Vec<u8>>());
    let mut inverted = device.zeros::<u8>(256);
    run!(device, scalars(&device.ctx, 3, 256, &mut x, &bytes, &mut inverted));
    assert_eq!(device.download(&x), [0.5, 1.0, 1.5]);
    assert_eq!(device.download(&inverted), (0..=255).rev().collect::<Vec<u8>>());
}

#[cuweave::graph]
fn structure(n: u32, by: Affine, x: &mut [f32; n]) {
    kernels::affine[per_item(n)](&mut x, by, n);
    let other: Affine = Affine { a: 2.0, b: -1.0 };
    kernels::affine[per_item(n)](&mut x, other, n);
}

#[test]
fn a_structure_by_value() {
    let device = device();
    let mut x = device.upload(&ramp(50));
    run!(device, structure(&device.ctx, 50, Affine { a: 3.0, b: 1.0 }, &mut x));
    assert_eq!(device.download(&x), ramp(50).iter().map(|x| (x * 3.0 + 1.0) * 2.0 - 1.0).collect::<Vec<_>>());
}

#[cuweave::graph]
fn extents(
    rows: u32,
    cols: u32,
    x: &[f32; rows * cols],
    turned: &mut [f32; rows * cols],
    total: &mut [f32; 1],
) {
    kernels::transpose[((cols.div_ceil(8), rows.div_ceil(8)), (8, 8))](&x, &mut turned, rows, cols);
    kernels::reduce_sum[(1, 128)](&x, &mut total, rows * cols);
}

#[test]
fn extents_are_expressions() {
    let device = device();
    let (rows, cols) = (5, 7);
    let x = device.upload(&ramp(35));
    let mut turned = device.zeros::<f32>(35);
    let mut total = device.zeros::<f32>(1);
    run!(device, extents(&device.ctx, rows, cols, &x, &mut turned, &mut total));
    let want: Vec<f32> =
        (0..cols).flat_map(|col| (0..rows).map(move |row| (row * cols + col) as f32)).collect();
    assert_eq!(device.download(&turned), want);
    assert_eq!(device.download(&total), [(0..35).sum::<i32>() as f32]);
}

#[cuweave::graph]
fn windowed(offset: u32, n: u32, x: &[f32; n + offset], out: &mut [f32; n]) {
    kernels::window[per_item(n)](&x, &mut out, offset, n);
}

#[test]
fn a_longer_buffer_than_the_extent_is_right() {
    let device = device();
    let x = device.upload(&ramp(100));
    let mut out = device.zeros::<f32>(64);
    run!(device, windowed(&device.ctx, 10, 20, &x, &mut out));
    let got = device.download(&out);
    assert_eq!(got[..20], ramp(100)[10..30]);
    assert!(got[20..].iter().all(|x| *x == 0.0));
}

#[test]
fn a_shorter_buffer_than_declared_is_an_error_that_names_it() {
    let device = device();
    let x = device.upload(&ramp(29));
    let mut out = device.zeros::<f32>(20);
    let error = windowed(&device.ctx, 10, 20, &x, &mut out).expect_err("29 elements are fewer than 30");
    assert!(error.to_string().contains("`x`"), "{error}");
}

/// Declarations and a graph function inside a function's body.
#[test]
fn items_inside_a_function() {
    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    }

    #[cuweave::graph]
    fn ones(n: u32, out: &mut [f32; n]) {
        set[per_item(n)](&mut out, 1.0, n);
    }

    let device = device();
    let mut out = device.zeros::<f32>(10);
    run!(device, ones(&device.ctx, 10, &mut out));
    assert_eq!(device.download(&out), [1.0; 10]);
}

/// Two blocks for one file in one module.
mod two_blocks {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    }

    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        fn scale(x: &mut [f32; n], a: f32, n: u32);
    }

    #[cuweave::graph]
    pub fn both(n: u32, out: &mut [f32; n]) {
        iota[per_item(n)](&mut out, 1.0, n);
        scale[per_item(n)](&mut out, 2.0, n);
    }
}

#[test]
fn two_blocks_of_one_file() {
    let device = device();
    let mut out = device.zeros::<f32>(10);
    run!(device, two_blocks::both(&device.ctx, 10, &mut out));
    assert_eq!(device.download(&out), ramp(11)[1..].iter().map(|x| x * 2.0).collect::<Vec<_>>());
}

mod state {
    #[allow(unused_imports, reason = "one of the two blocks of this file needs it")]
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/state.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn state_set(value: u32);
        pub fn state_step();
        pub fn state_get(out: &mut [MaybeUninit<u32>; 1]);
        pub fn odd_numbers(out: &mut [MaybeUninit<u32>; n], n: u32);
    }
}

/// The arguments of these launches do not show their order: they share a module variable.
#[cuweave::graph]
fn hidden(out: &mut [u32; 1], odd: &mut [u32; 8]) {
    state::state_set[(1, 1)](5);
    state::state_step[(1, 1)]();
    state::state_step[(1, 1)]();
    state::state_get[(1, 1)](&mut out);
    state::odd_numbers[(1, 32)](&mut odd, 8);
}

#[test]
fn hidden_state_is_ordered() {
    let device = device();
    let mut out = device.zeros::<u32>(1);
    let mut odd = device.zeros::<u32>(8);
    run!(device, hidden(&device.ctx, &mut out, &mut odd));
    assert_eq!(device.download(&out), [(5 * 3 + 1) * 3 + 1]);
    assert_eq!(device.download(&odd), [1, 3, 5, 7, 1, 3, 5, 7]);
}
