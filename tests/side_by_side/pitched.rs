//! Copies and fills of rows with a pitch: one node each, and the bytes of plain Rust.

use cuweave::__private::read_back;
use cuweave::Error;
use cuweave::builder::Builder;
use cuweave::certificate::check;
use cuweave::error::{RowsFault, SetterFault};
use cuweave::prelude::*;
use cuweave_testkit::device::{device, pinned, ramp};
use cuweave_testkit::random::Random;

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
}

/// A box: planes, rows, elements of a row, pitch, rows from plane to plane, and its first element.
#[derive(Clone, Copy, Debug)]
struct Part {
    planes: usize,
    rows: usize,
    width: usize,
    pitch: usize,
    height: usize,
    first: usize,
}

impl Part {
    fn elements(self) -> impl Iterator<Item = usize> {
        let Part { planes, rows, width, pitch, height, first } = self;
        let row = move |plane, row| first + (plane * height + row) * pitch;
        let of_plane = move |plane| (0..rows).flat_map(move |at| (0..width).map(move |x| row(plane, at) + x));
        (0..planes).flat_map(of_plane)
    }

    /// Returns the length of a buffer that ends with the box.
    fn end(self) -> usize {
        self.elements().max().map_or(0, |last| last + 1)
    }
}

fn copied<T: Copy>(from: &[T], source: Part, to: &[T], target: Part) -> Vec<T> {
    let mut all = to.to_vec();
    source.elements().zip(target.elements()).for_each(|(read, written)| all[written] = from[read]);
    all
}

/// A box whose numbers are all different.
fn part(planes: usize, rows: usize, width: usize, gap: usize, first: usize) -> Part {
    Part { planes, rows, width, pitch: width + gap, height: rows + gap, first }
}

#[cuweave::graph(check)]
fn rows_f32(
    at: u32,
    to: u32,
    h: u32,
    w: u32,
    p: u32,
    q: u32,
    len: u32,
    other: u32,
    a: &[f32; len],
    b: &mut [f32; other],
) {
    copy(&a[at..].rows(h, w, p), &mut b[to..].rows(h, w, q));
}

#[cuweave::graph(check)]
fn boxes_u8(
    d: u32,
    h: u32,
    w: u32,
    p: u32,
    q: u32,
    rows: u32,
    other: u32,
    len: u32,
    end: u32,
    a: &[u8; len],
    b: &mut [u8; end],
) {
    copy(&a.rows(h, w, p).planes(d, rows), &mut b.rows(h, w, q).planes(d, other));
}

#[test]
fn rows_are_copied_between_pitches() {
    let device = device();
    for (rows, width, gaps, at) in [(1, 1, [0, 0], [0, 0]), (5, 3, [0, 4], [2, 7]), (64, 33, [31, 1], [1, 0])]
    {
        let source = part(1, rows, width, gaps[0], at[0]);
        let target = part(1, rows, width, gaps[1], at[1]);
        let (from, to) = (ramp(source.end() + 3), vec![-1.0_f32; target.end() + 2]);
        let (a, mut b) = (device.upload(&from), device.upload(&to));
        let [h, w, p, q] = [rows, width, source.pitch, target.pitch].map(|number| number as u32);
        let [x, y, len, other] = [at[0], at[1], from.len(), to.len()].map(|number| number as u32);
        let graph = rows_f32(&device.ctx, x, y, h, w, p, q, len, other, &a, &mut b).expect("it builds");
        let report = graph.report();
        assert_eq!((report.copies, report.launches), (1, 0), "{report}");
        assert_eq!(check(&graph.certificate()), Ok(()));
        assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
        let mut exec = graph.instantiate().expect("it instantiates");
        assert!(exec.verify(&device.stream).expect("a verification").is_equal());
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&b), copied(&from, source, &to, target));
    }
}

#[test]
fn boxes_are_copied_between_pitches() {
    let device = device();
    for (planes, rows, width, gaps) in [(3, 4, 5, [0, 2]), (2, 1, 7, [3, 1]), (1, 6, 2, [1, 0])] {
        let [source, target] = gaps.map(|gap| part(planes, rows, width, gap, 0));
        let from: Vec<u8> = (0..source.end()).map(|at| at as u8).collect();
        let to = vec![0xee_u8; target.end()];
        let (a, mut b) = (device.upload(&from), device.upload(&to));
        let [d, h, w, p, q] = [planes, rows, width, source.pitch, target.pitch].map(|number| number as u32);
        let [x, y, len, end] =
            [source.height, target.height, from.len(), to.len()].map(|number| number as u32);
        let graph = boxes_u8(&device.ctx, d, h, w, p, q, x, y, len, end, &a, &mut b).expect("it builds");
        assert_eq!(graph.report().copies, 1);
        assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        assert_eq!(device.download(&b), copied(&from, source, &to, target));
    }
}

/// The columns of two matrices side by side. The two copies are not ordered.
#[cuweave::graph(check)]
fn halves(h: u32, w: u32, a: &[f32; h * w], b: &[f32; h * w], out: &mut [f32; 2 * h * w]) {
    copy(&a, &mut out.rows(h, w, 2 * w));
    copy(&b, &mut out[w..].rows(h, w, 2 * w));
}

/// The same in a temporary, all of which is then read.
#[cuweave::graph(check)]
fn joined(h: u32, w: u32, a: &[f32; h * w], b: &[f32; h * w], out: &mut [f32; 2 * h * w]) {
    let both = alloc::<f32>(2 * h * w);
    copy(&b, &mut both[w..].rows(h, w, 2 * w));
    copy(&a.rows(h, w, w), &mut both.rows(h, w, 2 * w));
    copy_to[per_item(2 * h * w)](&both, &mut out, 2 * h * w);
}

#[test]
fn columns_are_not_ordered_and_together_are_everything() {
    let device = device();
    let (h, w) = (6_usize, 5_usize);
    let (left, right) = (ramp(h * w), vec![9.0_f32; h * w]);
    let (a, b, mut out) = (device.upload(&left), device.upload(&right), device.zeros::<f32>(2 * h * w));
    let expected: Vec<f32> =
        left.chunks(w).zip(right.chunks(w)).flat_map(|(left, right)| [left, right].concat()).collect();
    let (rows, width) = (h as u32, w as u32);
    let graph = halves(&device.ctx, rows, width, &a, &b, &mut out).expect("it builds");
    let report = graph.report();
    assert_eq!((report.copies, report.edges, report.depth), (2, 0, 1), "{report}");
    assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&out), expected);
    let mut out = device.zeros::<f32>(2 * h * w);
    let graph = joined(&device.ctx, rows, width, &a, &b, &mut out).expect("it builds");
    assert_eq!((graph.report().copies, graph.report().depth), (2, 2), "{}", graph.report());
    assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&out), expected);
}

/// A temporary with unwritten elements between its rows. Overlapping columns are ordered.
#[cuweave::graph(check)]
fn through(h: u32, w: u32, p: u32, a: &[f32; h * p], out: &mut [f32; h * w]) {
    let t = alloc::<f32>(h * p);
    copy(&a.rows(h, w, p), &mut t.rows(h, w, p));
    fill(&mut t[1..].rows(h, 1, p), 7.0);
    copy(&t.rows(h, w, p), &mut out);
}

#[test]
fn rows_with_gaps_are_read_as_they_were_written() {
    let device = device();
    let (h, w, p) = (4_usize, 3_usize, 8_usize);
    let from = ramp(h * p);
    let (a, mut out) = (device.upload(&from), device.zeros::<f32>(h * w));
    let graph = through(&device.ctx, 4, 3, 8, &a, &mut out).expect("it builds");
    let report = graph.report();
    assert_eq!((report.copies, report.fills, report.depth), (2, 1, 3), "{report}");
    assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    let expected: Vec<f32> = from.chunks(p).flat_map(|row| [row[0], 7.0, row[2]]).collect();
    assert_eq!(device.download(&out), expected);
}

#[cuweave::graph(check)]
fn filled(h: u32, w: u32, p: u32, at: u32, value: u16, len: u32, b: &mut [u16; len]) {
    fill(&mut b[at..].rows(h, w, p), value);
}

#[cuweave::graph(check)]
fn filled_wide(h: u32, w: u32, p: u32, value: f64, len: u32, b: &mut [f64; len]) {
    fill(&mut b.rows(h, w, p), value);
}

#[test]
fn rows_are_filled_and_the_value_and_the_buffer_have_setters() {
    let device = device();
    let rows = part(1, 5, 3, 4, 2);
    let len = rows.end() + 1;
    let expected = |value: u16| {
        let mut all = vec![1_u16; len];
        rows.elements().for_each(|at| all[at] = value);
        all
    };
    let (mut b, mut other) = (device.upload(&vec![1_u16; len]), device.upload(&vec![1_u16; len]));
    let graph = filled(&device.ctx, 5, 3, 7, 2, 500, len as u32, &mut b).expect("it builds");
    assert_eq!((graph.report().fills, graph.report().launches), (1, 0));
    assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.set_value(600).expect("the value is set");
    exec.set_b(&mut other).expect("the buffer is set");
    exec.launch(&device.stream).expect("it launches");
    let refused = exec.set_w(2).expect_err("the driver changes no dimensions");
    assert!(matches!(refused, Error::BuildAgain { reason: SetterFault::Rows { .. }, .. }), "{refused}");
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&b), expected(500));
    assert_eq!(device.download(&other), expected(600));
}

#[test]
fn rows_of_eight_byte_values_are_filled() {
    let device = device();
    for value in [0.0_f64, 1.5] {
        let rows = part(1, 3, 2, 3, 0);
        let mut b = device.upload(&vec![4.0_f64; rows.end()]);
        let graph = filled_wide(&device.ctx, 3, 2, 5, value, rows.end() as u32, &mut b).expect("it builds");
        assert_eq!(graph.report().fills, 1);
        assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        exec.set_value(2.5).expect("the value is set");
        drop(exec);
        let mut expected = vec![4.0; rows.end()];
        rows.elements().for_each(|at| expected[at] = value);
        assert_eq!(device.download(&b), expected);
    }
}

#[cuweave::graph(check)]
fn pinned_rows(
    h: u32,
    w: u32,
    p: u32,
    from: &Pinned<[f32; h * p]>,
    x: &mut [f32; h * w],
    to: &mut Pinned<[f32; h * p]>,
) {
    copy(&from.rows(h, w, p), &mut x);
    copy(&x, &mut to[1..].rows(h, w, p));
}

#[test]
fn rows_of_pinned_memory_are_copied() {
    let device = device();
    let (h, w, p) = (5_usize, 4_usize, 6_usize);
    let values = ramp(h * p);
    let (from, mut to) = (pinned(&device.ctx, &values), pinned(&device.ctx, &vec![-1.0_f32; h * p]));
    let mut x = device.zeros::<f32>(h * w);
    let graph = pinned_rows(&device.ctx, 5, 4, 6, &from, &mut x, &mut to).expect("it builds");
    assert_eq!(graph.report().copies, 2);
    assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
    let mut exec = graph.instantiate().expect("it instantiates");
    assert!(exec.verify(&device.stream).expect("a verification").is_equal());
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    let packed: Vec<f32> = values.chunks(p).flat_map(|row| row[..w].to_vec()).collect();
    assert_eq!(device.download(&x), packed);
    let mut expected = vec![-1.0; h * p];
    packed.chunks(w).zip(expected.chunks_mut(p)).for_each(|(row, into)| into[1..=w].copy_from_slice(row));
    assert_eq!(to.as_slice().expect("elements"), expected);
}

#[cuweave::graph]
fn pack(h: u32, w: u32, p: u32, from: &[f32; h * p], to: &mut [f32; h * w]) {
    copy(&from.rows(h, w, p), &mut to);
}

#[cuweave::arguments]
struct Matrix {
    h: u32,
    p: u32,
    data: &[f32; h * p],
}

/// A matrix of a record, and those of a list in a called function.
#[cuweave::graph(check)]
fn packed(
    h: u32,
    w: u32,
    p: u32,
    count: u32,
    one: Matrix<'_>,
    xs: &[&[f32; h * p]],
    out: &mut [f32; count * h * w],
) {
    copy(&one.data.rows(one.h, w, one.p), &mut out[..h * w]);
    for (i, x) in xs.iter().enumerate() {
        pack(h, w, p, &x, &mut out[(i + 1) * h * w..(i + 2) * h * w]);
    }
}

#[test]
fn records_lists_and_called_functions_have_rows() {
    let device = device();
    let (h, w, p) = (3_usize, 2_usize, 4_usize);
    let values: Vec<Vec<f32>> =
        (0..3).map(|by| ramp(h * p).iter().map(|x| x + 100.0 * by as f32).collect()).collect();
    let buffers: Vec<_> = values.iter().map(|values| device.upload(values)).collect();
    let mut out = device.zeros::<f32>(3 * h * w);
    let record = Matrix::new(3, 4, &buffers[0]);
    let graph = packed(&device.ctx, 3, 2, 4, 3, record, buffers[1..].iter().collect(), &mut out);
    let graph = graph.expect("it builds");
    assert_eq!((graph.report().copies, graph.report().depth), (3, 1), "{}", graph.report());
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    let expected: Vec<f32> =
        values.iter().flat_map(|of| of.chunks(p)).flat_map(|row| row[..w].to_vec()).collect();
    assert_eq!(device.download(&out), expected);
}

/// The scalars and buffers of a copy of rows have no setters, and the exec stays usable.
#[test]
fn setters_of_copied_rows_are_refused() {
    let device = device();
    let (source, target) = (part(1, 3, 2, 2, 0), part(1, 3, 2, 1, 0));
    let (from, to) = (ramp(source.end()), vec![0.0_f32; target.end()]);
    let (a, other, mut b) = (device.upload(&from), device.upload(&from), device.upload(&to));
    let (len, end) = (from.len() as u32, to.len() as u32);
    let graph = rows_f32(&device.ctx, 0, 0, 3, 2, 4, 3, len, end, &a, &mut b).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let refused = exec.set_a(&other).expect_err("the driver changes no copy of rows");
    assert!(matches!(refused, Error::BuildAgain { reason: SetterFault::RowsOf { .. }, .. }), "{refused}");
    for refused in [exec.set_h(2), exec.set_at(1), exec.set_p(3)] {
        let refused = refused.expect_err("the driver changes no copy of rows");
        assert!(matches!(refused, Error::BuildAgain { reason: SetterFault::Rows { .. }, .. }), "{refused}");
    }
    exec.launch(&device.stream).expect("it launches");
    drop(exec);
    assert_eq!(device.download(&b), copied(&from, source, &to, target));
}

#[cuweave::graph]
fn shapes(h: u32, w: u32, p: u32, k: u32, v: u32, a: &[f32; 64], b: &mut [f32; 64]) {
    copy(&a.rows(h, w, p), &mut b.rows(k, v, 8));
}

#[test]
fn wrong_rows_are_refused_at_build() {
    let device = device();
    let (a, mut b) = (device.zeros::<f32>(64), device.zeros::<f32>(64));
    let mut refused = |[h, w, p, k, v]: [u32; 5]| {
        let built = shapes(&device.ctx, h, w, p, k, v, &a, &mut b).map(drop);
        built.expect_err("it is refused")
    };
    let reason = |error: Error| match error {
        Error::Rows(rows) => rows.reason.clone(),
        other => panic!("{other}"),
    };
    assert!(matches!(reason(refused([2, 5, 4, 2, 5])), RowsFault::Pitch { width: 5, pitch: 4, .. }));
    assert!(matches!(reason(refused([2, 6, 8, 3, 4])), RowsFault::Shapes { .. }));
    let limit = reason(refused([1, 4, 1 << 30, 1, 4]));
    assert!(matches!(limit, RowsFault::Limit { max: 0x7fff_ffff, .. }), "{limit}");
    assert!(matches!(refused([2, 6, 8, 2, 4]), Error::CopyLength { from: 12, to: 8, .. }));
    assert!(matches!(refused([9, 4, 8, 9, 4]), Error::Range { hi: 68, len: 64, .. }));
    assert!(matches!(refused([2, 0, 8, 2, 0]), Error::ZeroLength { .. }));
    assert!(refused([0, 4, 8, 0, 4]).to_string().contains("is negative"));
    let text = refused([2, 5, 4, 2, 5]).to_string();
    assert!(text.contains("pitched.rs:") && text.contains("`a.rows(h, w, p)`"), "{text}");
}

/// Rows in a body that runs as the device decides, and a whole read after them.
#[cuweave::graph(check)]
fn decided(h: u32, w: u32, p: u32, go: &[u32; 1], x: &mut [f32; h * p], out: &mut [f32; h * p]) {
    if go {
        fill(&mut x.rows(h, w, p), 3.0);
        copy(&x[..w], &mut x[w..2 * w]);
    }
    copy(&x, &mut out);
}

#[test]
fn rows_are_filled_in_conditional_bodies() {
    let device = device();
    for go in [0_u32, 1] {
        let (flag, mut x) = (device.upload(&[go]), device.upload(&[1.0_f32; 18]));
        let mut out = device.zeros::<f32>(18);
        let graph = decided(&device.ctx, 3, 2, 6, &flag, &mut x, &mut out).expect("it builds");
        graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
        let mut expected = [1.0; 18];
        if go == 1 {
            part(1, 3, 2, 4, 0).elements().for_each(|at| expected[at] = 3.0);
            expected[2..4].fill(3.0);
        }
        assert_eq!(device.download(&out), expected);
    }
}

#[test]
fn builders_copy_and_fill_rows() {
    let device = device();
    let [source, target] = [1, 3].map(|gap| part(2, 3, 4, gap, 2));
    let (from, to) = (ramp(source.end()), vec![0.0_f32; target.end()]);
    let (a, mut b) = (device.upload(&from), device.upload(&to));
    let mut builder = Builder::with_name(&device.ctx, "built");
    builder.check_certificate();
    let h = builder.scalar("h", 3_u32);
    let w = builder.scalar("w", 4_u32);
    let a = builder.shared("a", source.end() as u64, &a);
    let b_handle = builder.exclusive("b", target.end() as u64, &mut b);
    let from_rows = a.range(2, source.end() as u64).rows(h, w, 5).planes(2, 4);
    let mut to_rows = b_handle.range(2, target.end() as u64).rows(h, w, w + 3).planes(2, 6);
    builder.copy(&from_rows, &mut to_rows).expect("a copy");
    builder.fill(&mut b_handle.rows(h, 1, 7), 5.0_f32).expect("a fill");
    let refused = builder.fill(&mut to_rows, 1.0_f32).expect_err("no node fills planes");
    assert!(refused.to_string().contains("no planes"), "{refused}");
    let graph = builder.build().expect("it builds");
    assert_eq!((graph.report().copies, graph.report().fills, graph.report().edges), (1, 1, 0));
    assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
    graph.instantiate().expect("it instantiates").launch(&device.stream).expect("it launches");
    let mut expected = copied(&from, source, &to, target);
    part(1, 3, 1, 6, 0).elements().for_each(|at| expected[at] = 5.0);
    assert_eq!(device.download(&b), expected);
}

const LEN: usize = 90;

/// Returns rows in a matrix of a common pitch, so that many share columns and many do not.
fn random_rows(random: &mut Random, rows: usize, width: usize) -> Part {
    let pitch = random.choose(&[6, 6, 6, 5, 9]).max(width);
    let last = (rows - 1) * pitch + width;
    let first = random.below(LEN - last);
    Part { planes: 1, rows, width, pitch, height: rows, first }
}

/// Random copies and fills of rows. The certificate describes single rows, so it refuses an order that is missing.
#[test]
fn random_programs_compute_what_plain_rust_does() {
    let device = device();
    let (mut statements, mut edges) = (0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut expected: Vec<Vec<f32>> =
            (0..3).map(|of| (0..LEN).map(|at| (1000 * of + at) as f32).collect()).collect();
        let mut buffers: Vec<_> = expected.iter().map(|values| device.upload(values)).collect();
        let mut builder = Builder::with_name(&device.ctx, "random");
        builder.check_certificate();
        let handles: Vec<_> = (0..)
            .zip(&mut buffers)
            .map(|(at, one)| builder.exclusive(&format!("x{at}"), LEN as u64, one))
            .collect();
        let rows_of = |of: usize, part: Part| {
            let [first, rows, width, pitch] =
                [part.first, part.rows, part.width, part.pitch].map(|number| number as u64);
            handles[of].range(first, LEN as u64).rows(rows, width, pitch)
        };
        for step in 0..12 {
            let (rows, width) = (1 + random.below(5_usize), 1 + random.below(4_usize));
            let (to, target) = (random.below(3_usize), random_rows(&mut random, rows, width));
            if random.one_in(3) {
                let value = -(step as f32);
                target.elements().for_each(|at| expected[to][at] = value);
                builder.fill(&mut rows_of(to, target), value).expect("a fill");
            } else {
                let from = (to + 1 + random.below(2_usize)) % 3;
                let source = random_rows(&mut random, rows, width);
                expected[to] = copied(&expected[from], source, &expected[to], target);
                builder.copy(&rows_of(from, source), &mut rows_of(to, target)).expect("a copy");
            }
        }
        let graph = builder.build().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()), "seed {seed}");
        statements += graph.report().copies + graph.report().fills;
        edges += graph.report().edges;
        let mut exec = graph.instantiate().expect("it instantiates");
        exec.launch(&device.stream).expect("it launches");
        drop(exec);
        for (buffer, expected) in buffers.iter().zip(&expected) {
            assert_eq!(device.download(buffer), *expected, "seed {seed}");
        }
    }
    assert!(statements == 60 * 12 && edges > statements / 4, "{edges} edges of {statements} statements");
}
