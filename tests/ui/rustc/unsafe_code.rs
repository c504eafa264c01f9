//! The lint `unsafe_code` sees each `unsafe` of the user's: in a crate that denies it, the word stands where the user allows it.

#![deny(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" { //~ unsafe
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

#[allow(unsafe_code)]
mod allowed {
    #[cuweave::kernels("tests/kernels/common.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    }
}

#[cuweave::kernels("tests/kernels/common.ptx")]
#[allow(unsafe_code)]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
}

#[expect(unsafe_code, reason = "kernels")]
#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

#[allow(unsafe_code)]
unsafe fn one() -> u32 {
    1
}

#[cuweave::call]
unsafe fn called(stream: &CallStream, n: u32, x: &[f32; n]) { //~ unsafe
    let _ = (stream, n, x);
}

#[derive(Clone, Copy)]
struct Element(u32);

unsafe impl cuweave::AnyBits for Element {} //~ unsafe

#[cuweave::graph]
fn f(n: u32, x: &mut [f32; n], y: &mut [f32; n], p: &mut Pinned<[f32; n]>) {
    scale[per_item(n)](&mut x, 2.0, n);
    allowed::axpy[per_item(n)](2.0, &x, &mut y, n);
    set[per_item(n)](&mut x, unsafe { one() } as f32, n); //~ unsafe
    copy_to[per_item(n)](&x, &mut y, n);
    called(n, &x);
    host(&mut p, |p| p[0] = unsafe { one() } as f32); //~ unsafe
    fill(&mut x[unsafe { one() }..], 1.0); //~ unsafe
}

fn main() {}
