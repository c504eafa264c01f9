//! A graph function that nothing calls is dead code; one that another calls is not.

#![deny(dead_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn dead(n: u32, out: &mut [f32; n]) { //~ never
    fill(&mut out, 0.0);
}

#[cuweave::graph]
fn alive(n: u32, out: &mut [f32; n]) {
    fill(&mut out, 0.0);
}

#[cuweave::graph]
pub fn calls(n: u32, out: &mut [f32; n]) {
    alive(n, &mut out);
}

fn main() {
    let Ok(ctx) = cuweave::context(0) else { return };
    let Ok(mut out) = ctx.default_stream().alloc_zeros::<f32>(4) else { return };
    drop(calls(&ctx, 4, &mut out));
}
