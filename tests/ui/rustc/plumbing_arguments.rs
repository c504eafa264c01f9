//! The arguments of an exec are made by its function alone, and are read where no exec holds them.

#![forbid(unsafe_code)]

use cudarc::driver::CudaSlice;
use cuweave::bind::BindShared;
use cuweave::prelude::*;

#[cuweave::graph]
fn bytes(n: u32, y: &[u8; n]) -> [u8; n] {
    let h = alloc::<u8>(n);
    copy(&y, &mut h);
    h
}

fn forged(y: CudaSlice<u8>) {
    let args = bytes::Args { n: 1, y: y.bind_shared(), __lifetime: std::marker::PhantomData }; //~ E0451
    drop(args);
}

fn main() {}
