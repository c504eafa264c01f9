//! Conditions that kernels set decide about one statement each, by the values that the driver knows.

use cuweave::prelude::*;

#[cuweave::kernels("tests/kernels/conditions.ptx")]
unsafe extern "ptx-kernel" {
    fn count_down_by(x: &mut [u32; 1], by: u32, go: Condition);
    fn decide_by(x: &[u32; 1], go: Condition);
}

#[cuweave::graph]
fn negated(x: &mut [u32; 1]) {
    let go = condition();
    decide_by[(1, 1)](&x, go);
    if !go { //~ CW001
        fill(&mut x, 0);
    }
}

#[cuweave::graph]
fn endless(x: &mut [u32; 1]) {
    let go = condition();
    decide_by[(1, 1)](&x, go);
    while go { //~ CW001
        fill(&mut x, 0);
    }
}

#[cuweave::graph]
fn twice(x: &mut [u32; 1]) {
    let go = condition();
    decide_by[(1, 1)](&x, go);
    if go {
        fill(&mut x, 0);
    }
    if go { //~ CW001
        fill(&mut x, 1);
    }
}

#[cuweave::graph]
fn from_outside(flag: &[u32; 1], x: &mut [u32; 1]) {
    let go = condition();
    decide_by[(1, 1)](&x, go);
    if flag {
        if go { //~ CW001
            fill(&mut x, 0);
        }
    }
}

#[cuweave::graph]
fn with_gaps(x: &mut [u32; 1]) {
    let arm = condition();
    decide_by[(1, 1)](&x, arm);
    match arm { //~ CW001
        0 => fill(&mut x, 0),
        2 => fill(&mut x, 1),
        _ => {}
    }
    let rest = condition();
    decide_by[(1, 1)](&x, rest);
    match rest { //~ CW001
        0 => fill(&mut x, 0),
        _ => fill(&mut x, 1),
    }
}

#[cuweave::graph]
fn limited(x: &mut [u32; 1]) {
    let go = condition();
    decide_by[(1, 1)](&x, go);
    #[at_most(7)]
    while go { //~ CW001
        count_down_by[(1, 1)](&mut x, 1, go);
    }
}

#[cuweave::graph]
fn by_others(x: &mut [u32; 1]) {
    condition(); //~ CW001
    let memory = alloc::<Condition>(1); //~ CW001
    let go = condition();
    fill(&mut go, 1); //~ CW001
    let other = condition();
    copy(&x, &mut other); //~ CW001
}

#[cuweave::graph]
fn from_the_caller(go: Condition, x: &[u32; 1]) { //~ CW001
    decide_by[(1, 1)](&x, go);
}

#[cuweave::graph]
fn not_set(x: &mut [u32; 1]) {
    let go = condition();
    if go { //~ CW101
        fill(&mut x, 0);
    }
}

fn main() {}
