//! Numbers of devices as they are written at first.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph(devices)] //~ CW001
fn bare() {}

#[cuweave::graph(devices = "2")] //~ CW001
fn text() {}

#[cuweave::graph(devices = 2, devices = 3)] //~ CW001
fn twice() {}

#[cuweave::graph(device = 2)] //~ CW001
fn misspelt() {}

#[cuweave::graph(devices = 0)] //~ CW001
fn none(n: u32, x: &mut [f32; n]) {
    fill(&mut x, 0.0);
}

fn main() {}
