//! The declaration of a library call.

use cuweave::prelude::*;

#[cuweave::call]
fn safe(_stream: &CallStream, _x: &[f32; n], _n: u32) {} //~ CW001

#[cuweave::call]
unsafe fn no_stream(_x: &[f32; n], _n: u32) {} //~ CW001

#[cuweave::call]
unsafe fn lifetime<'a>(_stream: &CallStream, _x: &[f32; n], _n: u32) {} //~ CW001

#[cuweave::call]
unsafe fn constant<const N: usize>(_stream: &CallStream, _x: &[f32; 4]) {} //~ CW001

#[cuweave::call]
unsafe fn slices(
    _stream: &CallStream,
    _x: &[f32],             //~ CW001
    _y: &f32,               //~ CW001
    _z: &Pinned<[f32; 4]>,  //~ CW001
) {
}

#[cuweave::call(fast)] //~ CW001
unsafe fn options(_stream: &CallStream) {}

fn main() {}
