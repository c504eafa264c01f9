//! A sum of 4,096 terms: the macro would run out of rustc's stack.

use cuweave::prelude::*;

macro_rules! longer {
    ([] $($terms:tt)*) => {
        #[cuweave::graph]
        fn f(n: u32, x: &mut [f32; n]) {
            fill(&mut x[..$($terms)*], 1.0); //~ CW001
        }
    };
    ([+ $($more:tt)*] $($terms:tt)*) => {
        longer!([$($more)*] $($terms)* + $($terms)* + $($terms)* + $($terms)*);
    };
}
longer!([+ + + + + +] 1);

fn main() {}
