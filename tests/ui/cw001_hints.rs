//! Attributes about managed memory, where they cannot stand, and with other contents.
#![forbid(unsafe_code)]

use cuweave::prelude::*;

#[cuweave::graph]
fn of_a_scalar(#[prefetch(device)] n: u32, x: &mut [f32; n]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn of_pinned(#[advise(read_mostly)] x: &Pinned<[f32; 4]>, out: &mut [f32; 4]) { //~ CW001
    copy(&x, &mut out);
}

#[cuweave::graph]
fn read_only(#[discard] x: &[f32; 4], out: &mut [f32; 4]) { //~ CW001
    copy(&x, &mut out);
}

#[cuweave::graph]
fn no_location(#[prefetch(numa)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn no_advice(#[advise(mostly_read)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn twice(#[discard] #[discard] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn two_places(#[advise(preferred_location(device), preferred_location(host))] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn said_twice(#[advise(read_mostly)] #[advise(accessed_by(host), read_mostly)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn of_no_device(#[prefetch(device(n))] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn of_no_node(n: u32, #[prefetch(host_numa(n))] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, n as f32);
}

#[cuweave::graph]
fn by_a_node(#[advise(accessed_by(host_numa(0)))] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn by_nothing(#[advise(accessed_by(numa), 0..2)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn a_range_alone(#[prefetch(0..2)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn a_range_without_advice(#[advise(0..2)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn a_range_first(#[prefetch(0..2, device)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn a_discarded_part(#[discard(0..2)] x: &mut [f32; 4]) { //~ CW001
    fill(&mut x, 0.0);
}

#[cuweave::graph]
fn of_a_buffer(#[prefetch(device, 0..y)] x: &mut [f32; 4], y: &[f32; 4]) { //~ CW001
    copy(&y, &mut x);
}

#[cuweave::graph]
fn of_a_list(#[discard] xs: &[&mut [f32; 4]]) { //~ CW001
    for i in 0..xs.len() {
        fill(&mut xs[i], 0.0);
    }
}

#[cuweave::arguments]
struct Record {
    #[prefetch(host)] //~ CW001
    n: u32,
    #[discard] //~ CW001
    x: &mut [f32; n],
}

#[cuweave::graph]
fn of_a_record(#[advise(read_mostly)] record: Record<'_>) { //~ CW001
    fill(&mut record.x, 0.0);
}

fn main() {}
