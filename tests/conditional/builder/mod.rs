//! Conditionals of builders. The random programs of `random` must be the same as graph functions and with a
//! builder, in their dumps and results. Other tests check what a builder refuses.

mod interpret;
mod refused;
mod results;

use crate::random::programs::*;
use cuweave_testkit::device::alone;

const N: usize = 8;

/// Compares a graph function with the same program of a builder, and both with plain Rust.
macro_rules! agrees {
    ($program:ident, $meaning:ident, $text:literal) => {{
        let device = alone();
        let start = [3u32, 50, 700, 9_000];
        let mut of_function = start.map(|word| device.upload(&[word; N]));
        let mut of_builder = start.map(|word| device.upload(&[word; N]));
        let [a, b, c, d] = &mut of_function;
        let graph = $program(&device.ctx, N as u32, 2, a, b, c, d).expect("it builds");
        let built =
            interpret::build(&device.ctx, stringify!($program), $text, &mut of_builder).expect("it builds");
        let [one, other] = [cuweave::__private::dump(&graph), cuweave::__private::dump(&built)];
        assert_eq!(one, other, "{}", stringify!($program));
        let (mut one, mut other) =
            (graph.instantiate().expect("an exec"), built.instantiate().expect("an exec"));
        let mut expected = start;
        for _ in 0..2 {
            one.launch(&device.stream).expect("a launch");
            let _ = other.launch(&device.stream).expect("a launch");
            $meaning(&mut expected);
        }
        drop((one, other));
        let expected = expected.map(|word| vec![word; N]);
        assert_eq!(of_function.each_ref().map(|buffer| device.download(buffer)), expected);
        assert_eq!(of_builder.each_ref().map(|buffer| device.download(buffer)), expected);
        device.nothing_reported();
    }};
}

#[test]
fn programs_are_the_same_by_a_builder() {
    each!(agrees);
}
