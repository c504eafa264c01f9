//! Execs of two functions are not of one type, and an exec cannot take the place of one that borrows for longer.

#![forbid(unsafe_code)]

use std::mem;

use cudarc::driver::CudaSlice;
use cuweave::prelude::*;
use cuweave::bind::{BindShared, BoundShared};

#[cuweave::graph]
fn one(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn other(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    copy(&x, &mut out);
}

fn of_two_functions(first: &mut one::Exec<'static>, second: &mut other::Exec<'static>) {
    mem::swap(first, second); //~ E0308
}

fn of_two_lifetimes<'a>(first: &mut one::Exec<'a>, second: &mut one::Exec<'static>) {
    mem::swap(first, second); //~ lifetime
}

struct Dangling(CudaSlice<f32>);

impl<'a> BindShared<'a, f32> for &Dangling {
    fn bind_shared(self) -> BoundShared<'a, f32> {
        BoundShared::Slice(&self.0) //~ lifetime
    }
}

fn views_outlive_the_exec<'a>(mut exec: one::Exec<'a>) -> one::ViewsMut<'a> {
    exec.args_mut() //~ E0515
}

fn main() {}
