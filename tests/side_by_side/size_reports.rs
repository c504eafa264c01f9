//! Reports and pictures say which nodes a size moves.

use cuweave::Buffer;
use cuweave::prelude::*;
use cuweave::report::{SizeEffect, SizeState};
use cuweave_testkit::device::{device, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn copy_to(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::graph]
fn layer(n: u32, x: &[f32; n], y: &mut [f32; n]) {
    let inner = copy_to[per_item(n)](&x, &mut y, n);
}

/// `n` moves all but `last`, and `m` moves `cleared` and `ranged`.
#[cuweave::graph(launches = "as-written")]
fn steps(
    #[at_most(100)] n: u32,
    #[at_least(2)]
    #[at_most(10)]
    m: u32,
    x: &[f32; n],
    y: &mut [f32; n + m],
) {
    let h = alloc::<f32>(n + m);
    let cleared = fill(&mut h[n..n + m], 1.0);
    let copied = copy(&x, &mut h[..n]);
    layer(n, &h[..n], &mut y[..n]);
    let ranged = copy(&h[n..n + m], &mut y[n..n + m]);
    let valued = scale[(1, 128)](&mut y[..1], 2.0, n.min(1));
    let last = scale[(1, 128)](&mut y[..1], 0.5, 1);
}

/// Returns the names of the statements that a size moves, with what changes.
fn moved(size: &SizeState) -> Vec<(&str, &[SizeEffect])> {
    size.moved.iter().map(|one| (&*one.at.name, &*one.effects)).collect()
}

#[test]
fn reports_and_pictures_say_which_nodes_a_size_moves() {
    use SizeEffect::{Grid, Range, Value};
    let device = device();
    let x = device.upload(&ramp(100));
    let y = Buffer::<f32>::zeros(&device.stream, 110).expect("a buffer");
    let graph = steps(&device.ctx, 7, 3, &x, &y).expect("it builds");
    let report = graph.report();
    let [n, m] = &report.sizes[..] else { panic!("{report}") };
    assert_eq!((&*n.at.name, n.least, n.most, n.value), ("n", 1, 100, 7));
    assert_eq!((&*m.at.name, m.least, m.most, m.value), ("m", 2, 10, 3));
    let all = [
        ("cleared", &[Range][..]),
        ("copied", &[Range]),
        ("layer.inner", &[Grid, Range, Value]),
        ("ranged", &[Range]),
        ("valued", &[Value]),
    ];
    assert_eq!(moved(n), all);
    assert_eq!(moved(m), [("cleared", &[Range][..]), ("ranged", &[Range])]);

    let mut exec = graph.instantiate().expect("it instantiates");
    exec.set_n(20).expect("it is set");
    exec.edit(|edit| {
        edit.set_m(4)?;
        edit.set_m(11)
    })
    .expect_err("it is out of the range");
    let report = exec.report();
    assert_eq!([report.sizes[0].value, report.sizes[1].value], [20, 3]);
    let text = report.all().to_string();
    let line = text.lines().find(|line| line.starts_with("sizes: `n`")).expect("a line");
    assert!(line.contains("is 20, of 1 to 100, and moves the grids of `layer.inner` (line 16); "), "{line}");
    assert!(
        line.contains("the ranges of `cleared` (line 30), `copied` (line 31), `ranged` (line 33)"),
        "{line}"
    );
    assert!(line.ends_with("the values of `valued` (line 34)"), "{line}");

    let dot = exec.dot();
    let count = |picture: &str, word: &str| picture.matches(word).count();
    assert_eq!([count(&dot, "moved by n\""), count(&dot, "moved by n, m\"")], [3, 2], "{dot}");
    let (svg, page) = (exec.svg(), exec.page().expect("it is drawn"));
    assert!(svg.contains("moved by n, m") && !svg.contains("moved by m"), "{svg}");
    assert!(page.contains("fill, moved by n, m") || page.contains("memset, moved by n, m"), "{page}");
}
