//! The user's items of every kind may have the names of the language's words, next to a graph function and a kernel
//! declaration that use these words.

use crate::support::{device, ramp, run};

/// A graph function and the kernel that it launches, next to the given items.
macro_rules! beside {
    ($name:ident $($item:item)*) => {
        mod $name {
            #![allow(dead_code, unused_imports, unused_macros, non_camel_case_types, non_upper_case_globals)]

            $($item)*

            #[cuweave::kernels("tests/kernels/common.ptx")]
            unsafe extern "ptx-kernel" {
                fn scale(x: &mut [f32; n], a: f32, n: u32);
            }

            #[cuweave::graph]
            pub fn twice(n: u32, x: &[f32; n], out: &mut [f32; n]) {
                let t = alloc::<f32>(n);
                fill(&mut t, 1.0);
                copy(&x, &mut t);
                scale[per_item(n)](&mut t, 2.0, n);
                copy(&t, &mut out);
                free(t);
            }
        }
    };
}

beside!(modules
    use cuweave::prelude::*;
    pub mod alloc {}
    pub mod fill {}
    pub mod copy {}
    pub mod free {}
    pub mod per_item {}
    pub mod atomic {}
);

beside!(modules_without_the_prelude
    use std::alloc;
    pub mod fill {}
    pub mod copy {}
    pub mod free {}
    pub mod per_item {}
);

beside!(functions
    use cuweave::prelude::*;
    use std::fs::copy;
    pub fn alloc<T>(_: T) {}
    pub fn fill() {}
    pub fn free<'a, T: 'a + ?Sized, const N: usize>(_: &'a T) {}
);

beside!(types
    use cuweave::prelude::*;
    pub struct alloc<T>(pub T);
    pub enum fill {}
    pub trait copy {}
    pub type free<T> = std::vec::Vec<T>;
    pub union per_item { pub number: u32 }
);

beside!(values
    use cuweave::prelude::*;
    pub static alloc: u32 = 1;
    pub const fill: u32 = 2;
    macro_rules! copy { ($tokens:tt) => {} }
);

#[test]
fn items_named_like_the_words_of_the_language() {
    let device = device();
    let x = device.upload(&ramp(10));
    macro_rules! twice {
        ($($beside:ident)*) => {$(
            let mut out = device.zeros::<f32>(10);
            run!(device, $beside::twice(&device.ctx, 10, &x, &mut out));
            assert_eq!(device.download(&out), ramp(10).iter().map(|x| x * 2.0).collect::<Vec<_>>());
        )*};
    }
    twice!(modules modules_without_the_prelude functions types values);
}

/// Imported by name, and each of them is used, because rustc warns of unused imports.
mod by_name {
    use cuweave::prelude::{Atomic, MaybeUninit, alloc, atomic, copy, fill, free, per_item};

    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        fn histogram(x: &[u32; n], bins: &[Atomic<u32>; k], n: u32, k: u32);
        fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    }

    #[cuweave::graph]
    pub fn counted(n: u32, keys: &[u32; n], x: &[f32; n], bins: &mut [u32; 4], out: &mut [f32; n]) {
        let t = alloc::<f32>(n);
        fill(&mut bins, 0);
        histogram[per_item(n)](&keys, atomic(&mut bins), n, 4);
        copy_to[per_item(n)](&x, &mut t, n);
        copy(&t, &mut out);
        free(t);
    }
}

#[test]
fn words_imported_by_name() {
    let device = device();
    let (keys, x) = (device.upload(&[0u32, 1, 1, 3, 3, 3]), device.upload(&ramp(6)));
    let (mut bins, mut out) = (device.zeros::<u32>(4), device.zeros::<f32>(6));
    run!(device, by_name::counted(&device.ctx, 6, &keys, &x, &mut bins, &mut out));
    assert_eq!((device.download(&bins), device.download(&out)), (vec![1, 2, 0, 3], ramp(6)));
}
