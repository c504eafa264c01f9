//! The attribute on what is no struct.

#[cuweave::arguments]
enum Layer { //~ CW001
    One,
}

fn main() {}
