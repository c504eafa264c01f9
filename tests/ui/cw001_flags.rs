//! The kinds of flags and semaphores, and the places of statements about them.
#![forbid(unsafe_code)]

use cuweave::prelude::*;
use cuweave::{Flag, Semaphore};

#[cuweave::graph]
fn in_an_arm(go: &Flag<u32>, flag: &[u32; 1], x: &mut [u32; 1]) {
    if flag {
        fill(&mut x, 1);
    } else {
        wait_value(&go, 1); //~ CW001
    }
}

#[cuweave::graph]
fn in_a_loop(done: &Semaphore, flag: &mut [u32; 1]) {
    while flag {
        fill(&mut flag, 0);
        signal(&done, 1); //~ CW001
    }
}

#[cuweave::graph]
fn in_a_match(number: &mut [u32; 1], index: &[u32; 1], x: &mut [u32; 1]) {
    match index {
        0 => fill(&mut x, 1),
        _ => write_value(&mut number, 1), //~ CW001
    }
}

#[cuweave::graph]
fn no_semaphore(x: &mut [u64; 1]) {
    signal(&mut x, 1); //~ CW001
}

#[cuweave::graph]
fn lent_mutably(go: &Flag<u32>) {
    write_value(&mut go, 1); //~ CW001
}

#[cuweave::graph]
fn exclusive(go: &mut Flag<u32>) {
    wait_value(&mut go, 1); //~ CW001
}

#[cuweave::graph]
fn no_value(go: &Flag<u32>) {
    wait_value(&go); //~ CW001
}

#[cuweave::graph]
fn written_by_shared(x: &mut Pinned<[u32; 1]>) {
    write_value(&x, 1); //~ CW001
}

#[cuweave::graph]
fn of_the_device(x: &mut [u32; 1]) {
    write_value(&mut x, 1); //~ CW001
}

#[cuweave::graph]
fn of_the_graph(n: u32, x: &mut [u32; n]) {
    let number = alloc::<u32>(1);
    wait_value(&number, 1); //~ CW001
    fill(&mut x, 0);
}

#[cuweave::graph]
fn given_to_fill(go: &Flag<u32>) {
    fill(&mut go, 1); //~ CW001
}

fn main() {}
