//! Copies and fills of rows that a size moves: kernels, with the bytes of plain Rust for all values.

use cuweave::__private::read_back;
use cuweave::builder::Builder;
use cuweave::certificate::check;
use cuweave::error::{PlanFault, SetterFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error};
use cuweave_testkit::device::{device, pinned, ramp};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
}

/// The left halves of rows go through a temporary to the right halves of other rows, whose left halves are filled.
#[cuweave::graph(check)]
fn halves(
    max: u32,
    w: u32,
    #[at_most(max)] n: u32,
    value: f32,
    x: &[f32; max * 2 * w],
    y: &mut [f32; max * 2 * w],
) {
    let t = alloc::<f32>(n * w);
    copy(&x.rows(n, w, 2 * w), &mut t);
    scale[per_item(n * w)](&mut t, 2.0, n * w);
    copy(&t, &mut y[w..].rows(n, w, 2 * w));
    fill(&mut y.rows(n, w, 2 * w), value);
}

#[test]
fn rows_of_a_size_are_copied_and_filled() {
    let device = device();
    let (max, w) = (37_u32, 5_u32);
    let from = ramp((max * 2 * w) as usize);
    let x = device.upload(&from);
    let y = Buffer::<f32>::zeros(&device.stream, from.len()).expect("a buffer");
    let graph = halves(&device.ctx, max, w, 11, 7.0, &x, &y).expect("it builds");
    let report = graph.report();
    assert_eq!((report.copies, report.fills), (2, 1), "{report}");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut expected = vec![0.0_f32; from.len()];
    for (at, n) in [11, 37, 1, 36, 16, 17].into_iter().enumerate() {
        let value = at as f32 + 0.5;
        let edited = exec.edit(|edit| {
            edit.set_n(n)?;
            edit.set_value(value)
        });
        edited.expect("it is set");
        assert_eq!(check(&exec.certificate()), Ok(()), "{n}");
        assert!(exec.verify(&device.stream).expect("a verification").is_equal());
        exec.launch(&device.stream).expect("it launches");
        let width = w as usize;
        for (old, new) in expected.chunks_mut(2 * width).zip(from.chunks(2 * width)).take(n as usize) {
            old[..width].fill(value);
            old[width..].iter_mut().zip(new).for_each(|(old, new)| *old = new * 2.0);
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
    }
}

/// Rows go to a place that moves.
#[cuweave::graph(check)]
fn shifted(#[at_most(20)] lo: u32, x: &[f32; 24], y: &mut [f32; 32]) {
    copy(&x.rows(3, 4, 8), &mut y[lo..lo + 12]);
}

#[test]
fn rows_are_copied_to_a_place_that_a_size_moves() {
    let device = device();
    let x = device.upload(&ramp(24));
    let y = Buffer::<f32>::zeros(&device.stream, 32).expect("a buffer");
    let mut exec = shifted(&device.ctx, 3, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0_f32; 32];
    let rows: Vec<f32> = ramp(24).chunks(8).flat_map(|row| row[..4].to_vec()).collect();
    for lo in [3, 20, 1, 7] {
        exec.set_lo(lo).expect("it is set");
        assert_eq!(check(&exec.certificate()), Ok(()), "{lo}");
        exec.launch(&device.stream).expect("it launches");
        expected[lo as usize..][..12].copy_from_slice(&rows);
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{lo}");
    }
}

#[cuweave::graph]
fn columns(
    #[at_least(0)]
    #[at_most(8)]
    n: u32,
    x: &[f32; 24],
    y: &mut [f32; 24],
) {
    copy(&x.rows(3, n, 8), &mut y.rows(3, n, 8));
}

#[test]
fn rows_are_never_empty() {
    let device = device();
    let (x, y) = (device.upload(&ramp(24)), Buffer::<f32>::zeros(&device.stream, 24).expect("a buffer"));
    for n in [0, 5] {
        let refused = columns(&device.ctx, n, &x, &y).expect_err("it may be 0");
        assert!(refused.to_string().contains("has zero length: `x.rows(3, n, 8)`"), "{refused}");
    }
}

/// A box whose planes, rows, widths and distances are sizes, from one place to another one, and a fill of its first
/// plane.
macro_rules! boxes {
    ($($name:ident $ty:ty: $value:expr;)*) => {$(
        #[cuweave::graph(check)]
        fn $name(
            #[at_most(4)] d: u32,
            #[at_most(6)] h: u32,
            #[at_most(5)] w: u32,
            #[at_most(9)] gap: u32,
            at: u32,
            end: u32,
            a: &[$ty; end],
            b: &mut [$ty; end],
        ) {
            copy(&a[at..].rows(h, w, w + gap).planes(d, h + gap), &mut b.rows(h, w, w).planes(d, h));
            fill(&mut b[1..].rows(h, w, w + 1), $value);
        }
    )*};
}
boxes! {
    boxes_u8 u8: 7;
    boxes_u16 u16: 700;
    boxes_f32 f32: 0.25;
    boxes_f64 f64: 0.1;
}

/// Runs a graph of boxes for all of its sizes.
macro_rules! each_type {
    ($($name:ident $ty:ty: $value:expr, |$at:ident| $element:expr;)*) => {$({
        let device = device();
        let end = 4_usize * (6 + 9) * (5 + 9) + 3;
        let from: Vec<$ty> = (0..end).map(|$at| $element).collect();
        let a = device.upload(&from);
        let b = Buffer::<$ty>::new(device.upload(&vec![$value; end])).expect("a buffer");
        let graph = $name(&device.ctx, 2, 3, 4, 5, 3, end as u32, &a, &b).expect("it builds");
        assert_eq!(check(&read_back(&graph).expect("a certificate")), Ok(()));
        let mut exec = graph.instantiate().expect("it instantiates");
        let mut expected = vec![$value; end];
        for [d, h, w, gap] in [[2, 3, 4, 5], [4, 6, 5, 9], [1, 1, 1, 1], [1, 6, 5, 2], [3, 1, 2, 9], [4, 6, 1, 1]] {
            let edited = exec.edit(|edit| {
                edit.set_d(d)?;
                edit.set_h(h)?;
                edit.set_w(w)?;
                edit.set_gap(gap)
            });
            edited.expect("it is set");
            assert_eq!(check(&exec.certificate()), Ok(()));
            exec.launch(&device.stream).expect("it launches");
            let [d, h, w, gap] = [d, h, w, gap].map(|number| number as usize);
            for (plane, row, x) in (0..d).flat_map(|p| (0..h).flat_map(move |r| (0..w).map(move |x| (p, r, x)))) {
                let source = 3 + (plane * (h + gap) + row) * (w + gap) + x;
                expected[(plane * h + row) * w + x] = from[source];
            }
            (0..h).for_each(|row| expected[1 + row * (w + 1)..][..w].fill($value));
            assert_eq!(b.to_host(&device.stream).expect("it is read"), expected, "{d} {h} {w} {gap}");
        }
    })*};
}

#[test]
fn boxes_of_all_element_sizes_are_copied_and_filled() {
    each_type! {
        boxes_u8 u8: 7, |at| at as u8;
        boxes_u16 u16: 700, |at| at as u16;
        boxes_f32 f32: 0.25, |at| at as f32;
        boxes_f64 f64: 0.1, |at| at as f64;
    }
}

#[test]
fn a_builder_copies_rows_of_a_size_between_buffers_that_are_set() {
    let device = device();
    let (max, w) = (9_u32, 3_u32);
    let len = max * 2 * w;
    let from = ramp(len as usize);
    let x = Buffer::from_host(&device.stream, &from).expect("a buffer");
    let [y, other] = [0, 1].map(|_| Buffer::<f32>::zeros(&device.stream, len as usize).expect("a buffer"));
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar_at_most("n", 4, max);
    let source = b.shared("x", len, x);
    let target = b.exclusive("y", len, y.clone());
    b.copy(source.rows(n, w, 2 * w).read(), target.range(0, n * w).write()).expect("a copy");
    let mut exec = b.build().expect("it builds").instantiate().expect("it instantiates");
    exec.set_buffer(&target, other.clone()).expect("it is set");
    exec.set_scalar(&n, 7_u32).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    let mut expected: Vec<f32> =
        from.chunks(2 * w as usize).take(7).flat_map(|row| row[..w as usize].to_vec()).collect();
    expected.resize(len as usize, 0.0);
    assert_eq!(other.to_host(&device.stream).expect("it is read"), expected);
    assert_eq!(y.to_host(&device.stream).expect("it is read"), vec![0.0; len as usize]);
}

#[cuweave::graph]
fn to_host(#[at_most(8)] n: u32, x: &[f32; 16], y: &mut Pinned<[f32; 8]>) {
    copy(&x.rows(n, 1, 2), &mut y[..n]);
}

#[test]
fn rows_of_a_size_that_go_to_the_host_are_refused() {
    let device = device();
    let (x, mut y) = (device.upload(&ramp(16)), pinned(&device.ctx, &[0.0_f32; 8]));
    let refused = to_host(&device.ctx, 3, &x, &mut y).expect_err("it is a node");
    let reason = match &refused {
        Error::Plan(fault) => match &**fault {
            PlanFault::FixedSize { reason, .. } => Some(reason),
            _ => None,
        },
        _ => None,
    };
    assert!(matches!(reason, Some(SetterFault::Rows { .. })), "{refused}");
}
