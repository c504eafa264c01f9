//! Attributes on arms of a `match`.

use cuweave::prelude::*;

#[cuweave::graph(devices = 2)]
fn f(n: u32, flag: &[u32; 1], x: &mut [f32; n]) {
    match n {
        #[on(1)] //~ CW001
        0 => fill(&mut x, 0.0),
        #[cfg(windows)] //~ CW001
        1 => fill(&mut x, 1.0),
        2 => {
            #[on(3)] //~ CW001
            {
                fill(&mut x, 1.0);
            }
        }
        3 =>
            #[on(4)] //~ CW001
            {
                fill(&mut x, 2.0);
            }
        4 =>
            #[on(5)] //~ CW001
            fill(&mut x, 2.0),
        _ => {}
    }
    match flag {
        #[on(1)] //~ CW001
        0 => fill(&mut x, 0.0),
        1 =>
            #[on(2)] //~ CW001
            {
                fill(&mut x, 2.0);
            }
        _ => {}
    }
}

fn main() {}
