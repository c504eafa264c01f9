//! Arguments and places of host statements that are refused.
#![forbid(unsafe_code)]

use cuweave::cudarc::driver::CudaEvent;
use cuweave::prelude::*;

/// A host value.
struct Log;

#[cuweave::graph]
fn device_memory(n: u32, x: [f32; n]) {
    host(&x, |x| println!("{}", x[0])); //~ CW001
}

#[cuweave::graph]
fn temporary(n: u32, x: &[f32; n]) {
    let h = alloc::<f32>(n);
    copy(&x, &mut h);
    host(&mut h, |h| h[0] = 0.0); //~ CW001
}

#[cuweave::graph]
fn scalar(n: u32, x: &Pinned<[f32; 4]>) {
    host(&x, n, |x, n| println!("{n} {}", x[0])); //~ CW001
}

#[cuweave::graph]
fn no_function(x: &Pinned<[f32; 4]>) {
    host(&x); //~ CW001
}

#[cuweave::graph]
fn in_a_body(flag: &[u32; 1], x: &Pinned<[f32; 4]>) {
    if flag {
        host(&x, |x| println!("{}", x[0])); //~ CW001
    }
}

#[cuweave::graph]
fn value_in_the_function(log: &Log, x: &Pinned<[f32; 4]>) {
    host(&x, move |x| println!("{} {}", size_of_val(log), x[0])); //~ CW001
}

#[cuweave::graph]
fn resource(log: &mut Log) {
    host(&mut log, |log| drop(log)); //~ CW001
}

#[cuweave::graph]
fn no_event(n: u32, x: &[f32; n]) {
    record(&x); //~ CW001
}

#[cuweave::graph]
fn event_in_a_body(event: &CudaEvent, flag: &mut [u32; 1]) {
    while flag {
        fill(&mut flag, 0);
        wait(&event); //~ CW001
    }
}

fn main() {}
