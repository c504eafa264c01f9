//! Host values in expressions: lengths, ranges, loops, choices and kernel arguments.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, scale, scaled};

/// Settings that are not scalars.
#[derive(Debug)]
struct Model {
    width: u32,
    factor: f32,
}

impl Model {
    fn width(&self) -> u32 {
        self.width
    }
}

fn twice(model: &Model) -> u32 {
    2 * model.width
}

/// Part `at` of x, multiplied by the factor of the model.
#[cuweave::graph]
fn part(model: &Model, at: u32, x: &mut [f32; 4 * model.width()]) {
    let (lo, n) = (at * model.width(), model.width());
    scale[per_item(n)](&mut x[lo..lo + n], model.factor, n);
}

#[cuweave::graph]
fn parts(
    n: u32,
    by: f32,
    library: &Library,
    one: &Model,
    two: &Model,
    x: &mut [f32; 2 * twice(one)],
    out: &mut [f32; library.parts * n],
) {
    for i in 0..one.width().min(2) {
        part(&one, 2 * i, &mut x);
    }
    if two.width() == 3 {
        part(&two, 1, &mut x);
    }
    match one.width() + two.width() {
        7 => {}
        _ => fill(&mut x, 0.0),
    }
    let h = alloc::<f32>(one.width());
    let first = two.factor * by;
    scaled(&library, &x[..one.width()], &mut h, by, one.width());
    scale[per_item(one.width())](&mut h, first, one.width());
    copy(&h[..n], &mut out[library.parts - 1..library.parts - 1 + n]);
}

#[test]
fn expressions_call_methods_of_host_values() {
    let device = alone();
    let library = Library::new(&device.ctx);
    let (one, two) = (Model { width: 4, factor: 2.0 }, Model { width: 3, factor: 10.0 });
    let mut x = device.upload(&[1.0_f32; 16]);
    let mut out = device.upload(&[0.0_f32; 8]);
    let graph = parts(&device.ctx, 2, 1.0, &library, &one, &two, &mut x, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let mut expected = [1.0_f32; 16];
    expected[..4].fill(2.0);
    expected[8..12].fill(2.0);
    expected[3..6].iter_mut().for_each(|x| *x *= 10.0);
    assert_eq!(device.download(&x), expected);
    assert_eq!(device.download(&out), [0.0, 0.0, 0.0, 20.0, 20.0, 0.0, 0.0, 0.0]);
    // A length from a host value is checked like any other.
    let wide = Model { width: 5, factor: 1.0 };
    let error = parts(&device.ctx, 2, 1.0, &library, &wide, &two, &mut x, &mut out).map(drop);
    let text = error.expect_err("x is too short").to_string();
    assert!(text.contains("`x`") && text.contains("has 16 elements, but `2 * twice(one)` = 20"), "{text}");
}
