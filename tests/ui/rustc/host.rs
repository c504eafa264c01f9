//! The function of a host statement: rustc holds it against the statement's arguments.
#![forbid(unsafe_code)]

use std::rc::Rc;

use cuweave::prelude::*;

#[cuweave::graph]
fn too_few(x: &Pinned<[f32; 4]>, y: &mut Pinned<[f32; 4]>) {
    host(&x, &mut y, |x| println!("{}", x[0])); //~ E0593
}

#[cuweave::graph]
fn writes(x: &Pinned<[f32; 4]>) {
    host(&x, |x| x[0] = 1.0); //~ E0594
}

#[cuweave::graph]
fn borrows(n: u32, x: &Pinned<[f32; 4]>) {
    host(&x, |x| println!("{n} {}", x[0])); //~ E0373
}

#[cuweave::graph]
fn not_sent(x: &Pinned<[f32; 4]>) {
    host(&x, { //~ E0277
        let shared = Rc::new(1.0);
        move |x| println!("{} {}", shared, x[0])
    });
}

fn main() {}
