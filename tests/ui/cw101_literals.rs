//! Literals are compared as they are written, with their kinds, and names with where they come from.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

fn length<T>(_: T) -> u32 {
    size_of::<T>() as u32
}

#[cuweave::graph]
fn kinds(n: u32, out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h[..length(1u8)], 0.0);
    copy(&h[..length(1u64)], &mut out[..length(1u64)]); //~ CW101
    let k = alloc::<f32>(n);
    fill(&mut k[..length('a')], 0.0);
    copy(&k[..length(b'a')], &mut out[..length(b'a')]); //~ CW101
}

macro_rules! with_a_length {
    ($len:expr) => {
        #[cuweave::graph]
        fn of_a_macro(n: u32, len: u32, out: &mut [f32; n]) {
            let h = alloc::<f32>(n);
            fill(&mut h[..$len], 0.0);
            copy(&h[..len as usize], &mut out[..len as usize]); //~ CW101
        }
    };
}

fn len() {}
with_a_length!(len as usize);

fn main() {}
