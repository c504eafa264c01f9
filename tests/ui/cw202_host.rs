//! In explicit order nothing orders a host statement with the copy whose memory it reads.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph(order = "explicit")]
fn unordered(n: u32, x: &[f32; n], seen: &mut Pinned<[f32; n]>) {
    copy(&x, &mut seen);
    host(&seen, |seen| println!("{}", seen[0])); //~ CW202
}

fn main() {}
