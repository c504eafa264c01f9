//! Library calls that sizes reach: each is captured again for a new value, and its child graph replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, DriverError, PushKernelArg};
use cuweave::error::SetterFault;
use cuweave::prelude::*;
use cuweave::{Buffer, Error};
use cuweave_testkit::device::{alone, ramp};

use crate::library::{Library, scale, threads};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// A library that counts the runs of its calls.
#[derive(Debug)]
struct Counting {
    library: Library,
    calls: AtomicU32,
}

impl Counting {
    fn new(ctx: &Arc<CudaContext>) -> Counting {
        Counting { library: Library::new(ctx), calls: AtomicU32::new(0) }
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of runs since the last question.
    fn runs(&self) -> u32 {
        self.calls.swap(0, Ordering::Relaxed)
    }

    /// Returns the scratch of a sum: most for 4, and none for 1.
    fn scratch(&self, n: u32) -> u32 {
        match n {
            0 | 1 => 0,
            2..=4 => 1000 * n,
            _ => n,
        }
    }

    /// Returns the scratch of a copy: most for the multiples of 3, of which none is a power of two.
    fn thirds(&self, n: u32) -> u32 {
        if n.is_multiple_of(3) { 1004 } else { 4 }
    }
}

/// out = a * x + b
#[cuweave::call]
unsafe fn scaled(
    stream: &CallStream,
    counting: &Counting,
    x: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    a: f32,
    n: u32,
) -> Result<(), DriverError> {
    counting.count();
    let (copy, scale) = (counting.library.function("copy_to")?, counting.library.function("scale")?);
    unsafe {
        stream.launch_builder(&copy).arg(x).arg(&mut *out).arg(&n).launch(threads(n))?;
        stream.launch_builder(&scale).arg(out).arg(&a).arg(&n).launch(threads(n))?;
    }
    Ok(())
}

/// out = a + b by way of scratch. Without scratch another kernel does all. One copy more from 900 on.
#[cuweave::call]
unsafe fn sum(
    stream: &CallStream,
    counting: &Counting,
    a: &[f32; n],
    b: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    part: [f32; counting.scratch(n)],
    n: u32,
) -> Result<(), DriverError> {
    counting.count();
    assert_eq!(part.len(), counting.scratch(n) as usize);
    let (copy, add) = (counting.library.function("copy_to")?, counting.library.function("add")?);
    let (out, _out) = out.device_ptr_mut(stream);
    let (b, _b) = b.device_ptr(stream);
    let (a, _a) = a.device_ptr(stream);
    let (part, _part) = part.device_ptr_mut(stream);
    let through = if n == 1 { out } else { part };
    assert!(n > 1 || part == 0, "a scratch of no elements has no memory");
    unsafe {
        stream.launch_builder(&copy).arg(&a).arg(&through).arg(&n).launch(threads(n))?;
        if n >= 900 {
            stream.launch_builder(&copy).arg(&a).arg(&through).arg(&n).launch(threads(n))?;
        }
        stream.launch_builder(&add).arg(&through).arg(&b).arg(&out).arg(&n).launch(threads(n))?;
    }
    Ok(())
}

/// A matrix, whose number of elements is opaque.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    rows: u32,
    columns: u32,
    /// The rows from which on there are all elements.
    from: u32,
}

impl Matrix {
    fn len(self) -> u32 {
        if self.rows >= self.from { self.rows * self.columns } else { 1 }
    }
}

fn matrix(rows: u32, columns: u32, from: u32) -> Matrix {
    Matrix { rows, columns, from }
}

/// out = a * x
#[cuweave::call]
unsafe fn scaled_matrix(
    stream: &CallStream,
    counting: &Counting,
    x: &[f32; of.len()],
    out: &mut [MaybeUninit<f32>; of.len()],
    a: f32,
    of: Matrix,
) -> Result<(), DriverError> {
    counting.count();
    let (copy, scale) = (counting.library.function("copy_to")?, counting.library.function("scale")?);
    let n = of.len();
    unsafe {
        stream.launch_builder(&copy).arg(x).arg(&mut *out).arg(&n).launch(threads(n))?;
        stream.launch_builder(&scale).arg(out).arg(&a).arg(&n).launch(threads(n))?;
    }
    Ok(())
}

/// out = x. The scratch that it declares is most for multiples of 3.
#[cuweave::call(less_scratch)]
unsafe fn passed(
    stream: &CallStream,
    counting: &Counting,
    x: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    part: [f32; counting.thirds(n)],
    n: u32,
) -> Result<(), DriverError> {
    counting.calls.fetch_max(part.len() as u32, Ordering::Relaxed);
    let copy = counting.library.function("copy_to")?;
    let (out, _out) = out.device_ptr_mut(stream);
    let (part, _part) = part.device_ptr_mut(stream);
    let few = n.min(4);
    unsafe {
        stream.launch_builder(&copy).arg(x).arg(&part).arg(&few).launch(threads(few))?;
        stream.launch_builder(&copy).arg(x).arg(&out).arg(&n).launch(threads(n))?;
    }
    Ok(())
}

#[cuweave::graph]
fn copied(counting: &Counting, #[at_most(800)] n: u32, x: &[f32; 800], y: &mut [f32; 800]) {
    passed(&counting, &x[..n], &mut y[..n], n);
}

#[test]
fn a_call_may_take_less_scratch_than_it_declares() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let x = device.upload(&ramp(800));
    let y = Buffer::<f32>::zeros(&device.stream, 800).expect("a buffer");
    let mut exec =
        copied(&device.ctx, &counting, 800, &x, &y).expect("it builds").instantiate().expect("it is");
    let mut lengths = Vec::new();
    for n in [600, 7, 3, 799] {
        exec.set_n(n).expect("it is set");
        lengths.push(counting.runs());
        exec.launch(&device.stream).expect("it launches");
        assert_eq!(y.to_host(&device.stream).expect("it is read")[..n as usize], ramp(800)[..n as usize]);
    }
    assert_eq!(lengths, [4; 4]);
    device.nothing_reported();
}

/// out = x; from 100 on, scratch is cleared before.
#[cuweave::call]
unsafe fn cleared(
    stream: &CallStream,
    counting: &Counting,
    x: &[f32; n],
    out: &mut [MaybeUninit<f32>; n],
    part: [u32; 4],
    n: u32,
) -> Result<(), DriverError> {
    assert!(stream.has_sizes(), "`n` is a size");
    counting.count();
    let copy = counting.library.function("copy_to")?;
    if n >= 100 {
        stream.memset_zeros(part)?;
    }
    unsafe { stream.launch_builder(&copy).arg(x).arg(out).arg(&n).launch(threads(n)) }.map(drop)
}

#[cuweave::graph]
fn through(counting: &Counting, most: u32, #[at_most(most)] n: u32, x: &[f32; n], y: &mut [f32; n]) {
    cleared(&counting, &x, &mut y, n);
    scale[per_item(n)](&mut y, 2.0, n);
}

#[test]
fn a_call_may_begin_with_a_fill_of_scratch_for_some_values() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let x = device.upload(&ramp(200));
    let y = Buffer::<f32>::zeros(&device.stream, 200).expect("a buffer");
    let graph = through(&device.ctx, &counting, 200, 7, &x, &y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let mut expected = vec![0.0f32; 200];
    for n in [7, 100, 99, 200, 1, 7] {
        exec.set_n(n).expect("it is set");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(&device.stream).expect("it launches");
        expected.iter_mut().zip(ramp(200)).take(n as usize).for_each(|(y, x)| *y = 2.0 * x);
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
    }
    // A larger graph's nodes are not all those of a smaller one.
    let mut exec =
        through(&device.ctx, &counting, 99, 7, &x, &y).expect("it builds").instantiate().expect("an exec");
    exec.set_n(99).expect("it is set");
}

/// A call writes a temporary, of which a kernel then reads all, and a part of another one, which a kernel changes.
#[cuweave::graph]
fn product(
    counting: &Counting,
    d: u32,
    from: u32,
    #[at_least(2)]
    #[at_most(40)]
    rows: u32,
    x: &[f32; rows * d],
    y: &mut [f32; rows * d],
) {
    let t = alloc::<f32>(rows * d);
    scaled_matrix(&counting, &x, &mut t, 3.0, matrix(rows, d, from));
    add[per_item(rows * d)](&t, &x, &mut y, rows * d);
    let u = alloc::<f32>(2 * rows * d);
    scaled_matrix(&counting, &y, &mut u[rows * d..], 2.0, matrix(rows, d, from));
    scale[per_item(rows * d)](&mut u[rows * d..2 * rows * d], 5.0, rows * d);
    copy(&u[rows * d..], &mut y);
}

#[test]
fn what_a_call_writes_may_have_a_length_of_its_own() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let (d, most) = (3, 40_usize);
    let x = device.upload(&ramp(most * 3));
    let y = Buffer::<f32>::zeros(&device.stream, most * 3).expect("a buffer");
    let mut exec =
        product(&device.ctx, &counting, d, 0, 7, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0f32; most * 3];
    for rows in [7, 2, 40, 39] {
        exec.set_rows(rows).expect("it is set");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(&device.stream).expect("it launches");
        for (y, x) in expected.iter_mut().zip(ramp(most * 3)).take((rows * d) as usize) {
            *y = 40.0 * x;
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{rows}");
    }
}

/// Below 10 rows the call would write one element.
#[test]
fn a_length_that_is_shorter_for_some_values_is_refused() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let x = device.upload(&ramp(120));
    let y = Buffer::<f32>::zeros(&device.stream, 120).expect("a buffer");
    let refused = product(&device.ctx, &counting, 3, 10, 40, &x, &y).expect_err("2 rows are fewer");
    assert!(refused.to_string().starts_with("with `rows` = 2, the smallest sizes: "), "{refused}");
    assert!(refused.to_string().contains("`of.len()` that was not computed as it was"), "{refused}");
}

const MOST: usize = 800;

/// Adds 2 a x + x to y[lo..lo + n].
#[cuweave::graph]
fn layer(counting: &Counting, n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    let sums = alloc::<f32>(n);
    scaled(&counting, &x, &mut h, a, n);
    scale[per_item(n)](&mut h, 2.0, n);
    sum(&counting, &h, &x, &mut sums, n);
    let out = alloc::<f32>(n);
    sum(&counting, &sums, &y, &mut out, n);
    copy(&out, &mut y);
}

/// Calls through a function and a loop.
#[cuweave::graph]
fn net(
    counting: &Counting,
    layers: u32,
    #[at_most(800)] n: u32,
    #[at_most(50)] lo: u32,
    b: f32,
    x: &[f32; 800],
    y: &mut [f32; 850],
) {
    for i in 0..layers {
        layer(&counting, n, 3.0, &x[..n], &mut y[lo..lo + n]);
    }
    scale[per_item(850)](&mut y, b, 850);
}

#[test]
fn a_call_is_captured_once_for_each_value() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let x = device.upload(&ramp(MOST));
    let y = Buffer::<f32>::zeros(&device.stream, MOST + 50).expect("a buffer");
    let graph = net(&device.ctx, &counting, 2, 17, 3, 1.0, &x, &y).expect("it builds");
    assert_eq!(counting.runs(), 6, "at the largest values");
    let mut exec = graph.instantiate().expect("it instantiates");
    assert_eq!(counting.runs(), 6, "at the given values");
    let mut expected = vec![0.0f32; MOST + 50];
    let mut known = vec![(17, 3), (800, 50)];
    let sets =
        [(17, 3), (1, 3), (800, 50), (800, 1), (2, 1), (3, 1), (4, 1), (256, 50), (17, 3), (1, 3), (799, 1)];
    for (n, lo) in sets {
        exec.edit(|edit| {
            edit.set_n(n)?;
            edit.set_lo(lo)?;
            edit.set_b(1.0)
        })
        .expect("it is set");
        exec.launch(&device.stream).expect("it runs");
        // Of three calls of a layer, one depends on the place in y.
        let of_n = known.iter().any(|known| known.0 == n);
        let runs = if known.contains(&(n, lo)) { 0 } else { 2 + 4 * u32::from(!of_n) };
        assert_eq!(counting.runs(), runs, "{n} {lo}");
        known.push((n, lo));
        for _ in 0..2 {
            for (at, x) in ramp(MOST).into_iter().enumerate().take(n as usize) {
                expected[lo as usize + at] += 6.0 * x + x;
            }
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n} {lo}");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    }
    let verified = exec.verify(&device.stream).expect("it is verified");
    assert!(verified.is_equal(), "{verified}");
    drop(exec);
    device.nothing_reported();
}

/// The call captures one node more from 900 on.
#[cuweave::graph]
fn growing(
    counting: &Counting,
    #[at_most(1000)] n: u32,
    b: f32,
    x: &[f32; n],
    y: &mut [MaybeUninit<f32>; n],
) {
    let h = alloc::<f32>(n);
    fill(&mut h, b);
    sum(&counting, &x, &h, &mut y, n);
}

#[test]
fn other_nodes_are_refused_and_change_nothing() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let x = device.upload(&ramp(1000));
    let y = Buffer::<f32>::zeros(&device.stream, 1000).expect("a buffer");
    let graph = growing(&device.ctx, &counting, 950, 1.0, &x, &y).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let expected = |b: f32| -> Vec<f32> {
        ramp(1000).into_iter().enumerate().map(|(at, x)| if at < 950 { x + b } else { 0.0 }).collect()
    };
    exec.launch(&device.stream).expect("it runs");
    assert_eq!(y.to_host(&device.stream).expect("it is read"), expected(1.0));
    for _ in 0..2 {
        let error = exec.edit(|edit| {
            edit.set_b(7.0)?;
            edit.set_n(100)
        });
        match error {
            Err(Error::BuildAgain { at, reason: SetterFault::OtherNodes { difference, .. }, .. }) => {
                assert_eq!(
                    (&*at.name, &*difference),
                    ("sum", "kernel, kernel instead of kernel, kernel, kernel")
                );
            }
            other => panic!("{other:?}"),
        }
        exec.launch(&device.stream).expect("it runs");
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected(1.0));
    }
    // An edit that is abandoned after other values changes nothing either.
    let abandoned = exec.edit(|edit| {
        edit.set_n(920)?;
        edit.set_n(1001)
    });
    assert!(matches!(abandoned, Err(Error::Range { .. })), "{abandoned:?}");
    exec.set_b(2.0).expect("it is set");
    exec.launch(&device.stream).expect("it runs");
    assert_eq!(y.to_host(&device.stream).expect("it is read"), expected(2.0));
    drop(exec);
    device.nothing_reported();
}

/// A number that falls with a size is an argument of a call, and so is a range.
#[cuweave::graph]
fn mean(counting: &Counting, #[at_most(100)] n: u32, x: &[f32; 101], y: &mut [f32; 101]) {
    scaled(&counting, &x[n..101], &mut y[..101 - n], 12.0 / n as f32, 101 - n);
}

#[test]
fn arguments_of_calls_may_fall_with_a_size() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let (x, y) = (device.upload(&ramp(101)), Buffer::<f32>::zeros(&device.stream, 101).expect("a buffer"));
    let mut exec =
        mean(&device.ctx, &counting, 4, &x, &y).expect("it builds").instantiate().expect("an exec");
    let mut expected = vec![0.0f32; 101];
    for n in [4u32, 100, 1, 3] {
        exec.set_n(n).expect("it is set");
        exec.launch(&device.stream).expect("it runs");
        for (y, x) in expected.iter_mut().zip(&ramp(101)[n as usize..]) {
            *y = x * (12.0 / n as f32);
        }
        assert_eq!(y.to_host(&device.stream).expect("it is read"), expected, "{n}");
    }
    drop(exec);
    device.nothing_reported();
}

/// The call is in the body of a conditional.
#[cuweave::graph]
fn chosen(counting: &Counting, #[at_most(8)] n: u32, flag: &[u32; 1], x: &[f32; n], y: &mut [f32; n]) {
    if flag {
        scaled(&counting, &x, &mut y, 2.0, n);
    }
}

#[test]
fn a_call_in_a_body_takes_no_size() {
    let device = alone();
    let counting = Counting::new(&device.ctx);
    let (x, mut y) = (device.upload(&ramp(8)), device.upload(&ramp(8)));
    let flag = device.upload(&[1u32]);
    let error = chosen(&device.ctx, &counting, 3, &flag, &x, &mut y).map(drop).expect_err("it is in a body");
    assert!(error.to_string().contains("in the body of a conditional"), "{error}");
}
