//! A bare field of a record is a scalar in an `if` and a `match`; the device decides by a `u32`.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
}

#[cuweave::arguments]
struct State {
    n: u32,
    count: u32,
    active: &mut [u32; 1],
    real: &mut [f32; 1],
    x: &mut [u32; n],
}

#[cuweave::graph]
fn bare(n: u32, state: State<'_>) {
    if state.active { //~ E0277
        mix[per_item(n)](&mut state.x, 2, n);
    }
    if !state.active { //~ E0277
        mix[per_item(n)](&mut state.x, 2, n);
    }
    match state.active { //~ E0277
        0 => mix[per_item(n)](&mut state.x, 2, n),
        _ => {}
    }
}

#[cuweave::graph]
fn elements(n: u32, state: State<'_>) {
    if &state.real { //~ E0277
        mix[per_item(n)](&mut state.x, 2, n);
    }
    while state.count { //~ E0277
        mix[per_item(n)](&mut state.x, 2, n);
    }
    if &state.missing { //~ E0609
        mix[per_item(n)](&mut state.x, 2, n);
    }
}

fn main() {}
