//! A record without a buffer.

#[cuweave::arguments]
struct Scalars { //~ CW001
    d: u32,
    factor: f32,
}

fn main() {}
