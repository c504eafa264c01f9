//! Heads of functions that are not in the language.

use cuweave::prelude::*;

#[cuweave::graph]
fn types<T>(n: u32, x: &[T; n], out: &mut [T; n]) { //~ CW001
    copy(&x, &mut out);
}

#[cuweave::graph]
fn lengths<const L: usize>(n: u32, x: [&[f32; n]; L], out: &mut [f32; n]) { //~ CW001
    for i in 0..L {
        copy(&x[i], &mut out);
    }
}

#[cuweave::graph]
fn lifetimes<'a>(n: u32, x: &'a [f32; n], out: &'a mut [f32; n]) { //~ CW001
    copy(&x, &mut out);
}

#[cuweave::graph]
fn fails(n: u32, out: &mut [f32; n]) -> Result<(), cuweave::Error> { //~ CW001
    fill(&mut out, 0.0);
    Ok(())
}

#[cuweave::graph]
async fn later() {} //~ CW001

pub struct Model;

impl Model {
    #[cuweave::graph]
    pub fn forward(n: u32, x: &[f32; n], out: &mut [f32; n]) { //~ CW001
        copy(&x, &mut out);
    }

    #[cuweave::graph]
    pub fn backward(&self, n: u32, out: &mut [f32; n]) { //~ CW001
        fill(&mut out, 0.0);
    }
}

#[cuweave::graph]
pub struct Layer; //~ CW001

fn main() {}
