//! The traits of generated code cannot be implemented by hand.

#![forbid(unsafe_code)]

use cuweave::GraphFn;

struct Mine;

impl GraphFn for Mine { //~ E0046 E0277
    fn table<T>(_: T) {} //~ E0049
}

fn main() {}
