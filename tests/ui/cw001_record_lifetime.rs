//! A record that declares a lifetime itself.

#[cuweave::arguments]
struct Layer<'a> { //~ CW001
    d: u32,
    q: &'a [f32; d],
}

fn main() {}
