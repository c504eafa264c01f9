//! A host value that an exec keeps is bound as an `Arc`; a function with a host statement is not called in a body.
#![forbid(unsafe_code)]

use std::sync::Arc;

use cuweave::cudarc::driver::CudaContext;
use cuweave::prelude::*;

/// A host value.
struct Log;

#[cuweave::graph]
fn logs(log: &Log) {
    host(&log, |log| println!("{}", size_of_val(log)));
}

fn build(ctx: &Arc<CudaContext>, log: &Log) {
    let _ = logs(ctx, log); //~ E0277
}

#[cuweave::graph]
fn records(event: &Log) {
    record(&event); //~ E0308
}

#[cuweave::graph]
fn tick() {
    host(|| println!("tick"));
}

#[cuweave::graph]
fn ticks() {
    tick();
}

#[cuweave::graph]
fn in_a_body(flag: &[u32; 1]) {
    if flag {
        ticks(); //~ E0080
    }
}

fn main() {}
