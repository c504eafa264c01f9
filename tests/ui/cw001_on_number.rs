//! Values in `#[on(..)]` that are not the number of a device.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph(devices = 2)]
fn as_in_hints(n: u32, #[prefetch(device(1))] x: &mut [f32; n]) {
    #[on(device(1))] //~ CW001
    fill(&mut x, 0.0);
    #[on(device)] //~ CW001
    fill(&mut x, 0.0);
    #[on(host)] //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph(devices = 2)]
fn as_in_builders(n: u32, x: &mut [f32; n]) {
    #[on(Location::Device(1))] //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph(devices = 2)]
fn literals(n: u32, x: &mut [f32; n]) {
    #[on("1")] //~ CW001
    fill(&mut x, 0.0);
    #[on(1.0)] //~ CW001
    fill(&mut x, 0.0);
}

/// Names of the caller's own.
#[cuweave::graph(devices = 2)]
fn own(n: u32, host: u32, x: &mut [f32; n]) {
    let device = host + 1;
    #[on(device)]
    fill(&mut x, 0.0);
    #[on(host)]
    fill(&mut x, 0.0);
}

fn device(layer: u32) -> u32 {
    layer % 2
}

#[cuweave::graph(devices = 2)]
fn called(n: u32, layer: u32, x: &mut [f32; n]) {
    #[on(device(layer))]
    fill(&mut x, 0.0);
    #[on(self::device(5))]
    fill(&mut x, 0.0);
}

fn main() {}
