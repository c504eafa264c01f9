//! All-reduces by multicast: graph functions that other graph functions call, or that are built by themselves.

#![allow(unsafe_code)]

use crate::prelude::*;

#[crate::kernels("src/multicast/all_reduce.ptx")]
unsafe extern "ptx-kernel" {
    fn reduce_f32(all: &mut [Multimem<f32>; n], n: u32);
}

/// Sums the elements of all devices, in place: afterwards the memory of each device has the sums.
///
/// `all_reduce(devices, n, &mut all);` with `all` a [`Mapping`](super::Mapping) of an object of `devices` devices,
/// which are the devices of the graph in any order. Each device reduces a part of the elements by
/// `multimem.ld_reduce` and stores the sums by `multimem.st`. All parts run at the same time, after everything that
/// writes the memory before and before everything that uses it later.
#[crate::graph(devices = devices)]
pub fn all_reduce(devices: u32, n: u32, all: &mut [Multimem<f32>; n]) {
    let part = n.div_ceil(devices).next_multiple_of(4);
    for i in 0..devices {
        let (first, end) = (n.min(i * part), n.min((i + 1) * part));
        if first < end {
            #[on(i)]
            reduce_f32[per_item((end - first).div_ceil(4))](&mut all[first..end], end - first);
        }
    }
}

#[cfg(feature = "half")]
pub use half_precision::{all_reduce_bf16, all_reduce_f16};

/// The all-reduces of half precision, two elements at a time.
#[cfg(feature = "half")]
mod half_precision {
    use half::{bf16, f16};

    use crate::prelude::*;

    #[crate::kernels("src/multicast/all_reduce.ptx")]
    unsafe extern "ptx-kernel" {
        fn reduce_f16x2(all: &mut [Multimem<f16>; 2 * pairs], pairs: u32);
        fn reduce_bf16x2(all: &mut [Multimem<bf16>; 2 * pairs], pairs: u32);
    }

    /// Like [`all_reduce`](fn@super::all_reduce), of `2 * pairs` elements of type `half::f16`, summed in `f32`. The
    /// instructions take two elements at once, so their number is even, and the first one is at a multiple of 4 bytes.
    #[crate::graph(devices = devices)]
    pub fn all_reduce_f16(devices: u32, pairs: u32, all: &mut [Multimem<f16>; 2 * pairs]) {
        let part = pairs.div_ceil(devices).next_multiple_of(4);
        for i in 0..devices {
            let (first, end) = (pairs.min(i * part), pairs.min((i + 1) * part));
            if first < end {
                #[on(i)]
                reduce_f16x2[per_item((end - first).div_ceil(4))](&mut all[2 * first..2 * end], end - first);
            }
        }
    }

    /// Like [`all_reduce_f16`](fn@all_reduce_f16), of elements of type `half::bf16`.
    #[crate::graph(devices = devices)]
    pub fn all_reduce_bf16(devices: u32, pairs: u32, all: &mut [Multimem<bf16>; 2 * pairs]) {
        let part = pairs.div_ceil(devices).next_multiple_of(4);
        for i in 0..devices {
            let (first, end) = (pairs.min(i * part), pairs.min((i + 1) * part));
            if first < end {
                #[on(i)]
                reduce_bf16x2[per_item((end - first).div_ceil(4))](&mut all[2 * first..2 * end], end - first);
            }
        }
    }
}
