//! A record without names of its fields.

#[cuweave::arguments]
struct Layer(u32, &[f32; 4]); //~ CW001

fn main() {}
