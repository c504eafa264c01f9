//! Every code that can arise in a builder: each is an error with the code, the place of the call, and its message.

use cuweave::builder::{Argument, Builder, Handle, Order, Statement};
use cuweave::error::Refusal;
use cuweave::prelude::*;
use cuweave::{Buffer, Error};
use cuweave_testkit::device::{Device, device};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn set(out: &mut [MaybeUninit<f32>; n], value: f32, n: u32);
    fn copy_to(src: &[f32; n], dst: &mut [MaybeUninit<f32>; n], n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/atomics.ptx")]
unsafe extern "ptx-kernel" {
    fn add_all(totals: &[Atomic<u32>; n], by: u32, n: u32);
}

#[cuweave::graph]
fn step(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n]) {
    axpy[per_item(n)](a, &x, &mut y, n);
}

#[cuweave::graph]
fn consumed(n: u32, t: [f32; n], y: &mut [f32; n]) {
    copy(&t, &mut y);
}

/// Returns the refusals of an error.
#[track_caller]
fn refusals<T: std::fmt::Debug>(result: cuweave::Result<T>) -> Vec<Refusal> {
    match result {
        Err(Error::Refused(refusals)) => refusals,
        other => panic!("not refused: {other:?}"),
    }
}

/// Checks the only refusal of an error: where it is, and its text.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: cuweave::Result<T>, (line, text): (u32, &str)) {
    let refusals = refusals(result);
    let [refusal] = refusals.as_slice() else { panic!("{} refusals: {refusals:?}", refusals.len()) };
    println!("error: {refusal}\n");
    assert_eq!((refusal.at.file.as_str(), refusal.at.line), (file!(), line), "{refusal}");
    assert!(refusal.at.column > 1, "{refusal}");
    let place = format!("({}:{line}:{})", file!(), refusal.at.column);
    let shown = refusal.to_string();
    assert!(shown.contains(&place), "{shown} has no {place}");
    assert_eq!(refusal.text, text);
    assert!(text.starts_with(refusal.code.name()));
}

/// Evaluates calls, and returns the last one's value with its line.
macro_rules! at {
    ($call:expr) => {
        ($call, line!())
    };
}

/// A builder with the scalars and arguments that most programs here have.
struct Start<'a> {
    b: Builder<'a>,
    n: cuweave::builder::Scalar<u32>,
    x: Handle,
    y: Handle,
}

fn start(device: &Device) -> Start<'static> {
    let mut b = Builder::with_name(&device.ctx, "program");
    let n = b.scalar("n", 8_u32);
    let x = b.shared("x", 2 * n, device.upload(&[1.0_f32; 16]));
    let y = b.exclusive("y", 2 * n, device.upload(&[2.0_f32; 16]));
    Start { b, n, x, y }
}

#[test]
fn unwritten_memory_is_not_read() {
    let device = device();
    let Start { mut b, n, y, .. } = start(&device);
    let h = b.named("h").alloc::<f32>(n);
    let (node, line) = at!(b.launch(axpy {}, per_item(n), (1.0_f32, &h, y.write(), n)));
    node.expect("its arguments fit");
    let declared = line - 1;
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW101: `h` is read by `axpy`, but nothing has written it\n= note: `h` is allocated on line {declared}, and fresh memory has no contents\n= help: write `h` first: with `fill`, `copy`, or a launch whose parameter is `&mut [MaybeUninit<T>; _]`"
            ),
        ),
    );

    let Start { mut b, n, .. } = start(&device);
    let mut h = b.named("h").alloc::<f32>(n);
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut h, 2.0, n)));
    node.expect("its arguments fit");
    refused(
        b.build(),
        (
            line,
            "CW101: `h` is given to the kernel `scale` before it is written\n= note: `scale` takes it as `&mut [T; _]`, and may read it\n= help: write all of `h` before, or declare the parameter as `&mut [MaybeUninit<T>; _]`",
        ),
    );

    let Start { mut b, n, mut y, .. } = start(&device);
    let h = b.named("h").alloc::<f32>(2 * n);
    b.fill(h.range(0, n).write(), 1.0).expect("a fill");
    let filled = line!() - 1;
    let (node, line) = at!(b.copy(&h, &mut y));
    node.expect("its arguments fit");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW101: `h` is read by `copy`, but not all of it is proved to be written\n= note: `fill` (line {filled}) writes `h[0..n]`\n= help: write `h` first: with `fill`, `copy`, or a launch whose parameter is `&mut [MaybeUninit<T>; _]`"
            ),
        ),
    );
}

#[test]
fn lives_are_kept() {
    let device = device();
    let Start { mut b, n, x, mut y } = start(&device);
    let mut h = b.named("h").alloc::<f32>(2 * n);
    b.copy(&x, &mut h).expect("a copy");
    b.free(h).expect("a free");
    let freed = line!() - 1;
    let (node, line) = at!(b.copy(&h, &mut y));
    node.expect("its arguments fit");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW102: `h` is used by `copy` after it is freed\n= note: `free(h)` on line {freed} comes before\n= help: move the `free` after the last use, or delete it: the free is placed by itself"
            ),
        ),
    );

    let Start { mut b, n, x, .. } = start(&device);
    let mut h = b.named("h").alloc::<f32>(2 * n);
    b.copy(&x, &mut h).expect("a copy");
    b.free(h).expect("a free");
    let freed = line!() - 1;
    let (node, line) = at!(b.free(h));
    node.expect("its handle is known");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW103: `h` is freed twice\n= note: it is freed first on line {freed}\n= help: remove one of the two: without any, the free is placed after the last use"
            ),
        ),
    );

    let Start { mut b, x, .. } = start(&device);
    let (node, line) = at!(b.free(x));
    node.expect("its handle is known");
    let declared = refusals(b.build());
    println!("error: {}\n", declared[0]);
    assert_eq!((declared[0].code.name(), declared[0].at.line, declared.len()), ("CW104", line, 1));
}

#[test]
fn outputs_are_live_written_and_returned_once() {
    let device = device();
    let Start { mut b, n, x, .. } = start(&device);
    let mut h = b.named("h").alloc::<f32>(2 * n);
    b.copy(&x, &mut h).expect("a copy");
    b.free(h).expect("a free");
    let freed = line!() - 1;
    let (done, line) = at!(b.output(h));
    done.expect("an allocation");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW105: `h` is returned although it is freed\n= note: it is freed on line {freed}\n= help: remove the `free`: who holds the output frees it"
            ),
        ),
    );

    let Start { mut b, n, x, .. } = start(&device);
    let mut h = b.named("h").alloc::<f32>(2 * n);
    b.copy(&x, &mut h).expect("a copy");
    b.output(h).expect("an allocation");
    let (done, line) = at!(b.output(h));
    done.expect("an allocation");
    refused(
        b.build(),
        (
            line,
            "CW105: `h` is returned twice\n= note: an allocation leaves the graph once: each output has one owner\n= help: return a copy: `copy` it into a second allocation",
        ),
    );

    let Start { mut b, n, .. } = start(&device);
    let h = b.named("h").alloc::<f32>(2 * n);
    let declared = line!() - 1;
    let (done, line) = at!(b.output(h));
    done.expect("an allocation");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW107: `h` is returned, but nothing has written it\n= note: it is allocated on line {declared}\n= help: write it with a launch, `fill` or `copy`, or do not return it"
            ),
        ),
    );

    let Start { mut b, x, .. } = start(&device);
    let (done, line) = at!(b.output(x));
    refused(
        done,
        (
            line,
            "CW001: `x` is an argument: only allocations of this graph leave it\n= help: `copy` it into an allocation and return that",
        ),
    );
}

#[test]
fn useless_allocations_are_warned_of() {
    let device = device();
    let Start { mut b, n, x, .. } = start(&device);
    let (_, unused) = at!(b.named("unused").alloc::<f32>(n));
    let (mut unread, line) = at!(b.named("unread").alloc::<f32>(2 * n));
    b.copy(&x, &mut unread).expect("a copy");
    let _silent = b.named("_silent").alloc::<f32>(n);
    let warnings = b.check().expect("no faults");
    warnings.iter().for_each(|warning| println!("warning: {warning}\n"));
    let seen: Vec<(&str, u32, &str)> = warnings
        .iter()
        .map(|warning| (warning.code.name(), warning.at.line, warning.text.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (
                "CW106",
                unused,
                "CW106: `unused` is allocated and never used\n= help: remove it, or call it `_unused` if that is meant"
            ),
            (
                "CW106",
                line,
                "CW106: `unread` is written and never read\n= help: remove it, or call it `_unread` if that is meant"
            ),
        ]
    );
    drop(b.build().expect("warnings are no faults"));
}

#[test]
fn mutable_borrows_are_the_only_ones() {
    let device = device();
    let Start { mut b, n, y, .. } = start(&device);
    let (node, line) = at!(b.launch(copy_to {}, per_item(n), (&y, y.write(), n)));
    node.expect("its arguments fit");
    refused(
        b.build(),
        (
            line,
            "CW201: `copy_to` borrows `y` mutably and also shared\n= note: the first borrow in the same call is shared\n= help: pass it once, to a parameter declared `&mut [T; _]`, or copy it into a second buffer first",
        ),
    );

    let Start { mut b, n, y, .. } = start(&device);
    let k = b.scalar("k", 8);
    let (node, line) =
        at!(b.launch(copy_to {}, per_item(n), (y.range(0, n).read(), y.range(k, n + k).write(), n)));
    node.expect("its arguments fit");
    // The numbers are those of disjoint ranges; a setter could change them.
    refused(
        b.build(),
        (
            line,
            "CW201: `copy_to` borrows `y` mutably and also shared\n= note: `y[0..n]` and `y[k..n + k]` are not proved to be disjoint\n= help: split it: `let (lo, hi) = y.split_at_mut(k);` gives two disjoint parts",
        ),
    );

    let Start { mut b, n, y, .. } = start(&device);
    let (lo, mut hi) = y.split_at_mut(n);
    b.launch(copy_to {}, per_item(n), (&lo, &mut hi, n)).expect("its arguments fit");
    drop(b.build().expect("the halves are disjoint"));

    let Start { mut b, x, .. } = start(&device);
    let (node, line) = at!(b.fill(x.write(), 1.0));
    node.expect("a fill");
    let refusals = refusals(b.build());
    println!("error: {}\n", refusals[0]);
    assert_eq!((refusals[0].code.name(), refusals[0].at.line, refusals.len()), ("CW205", line, 1));
    assert!(refusals[0].text.ends_with("= help: declare `x` by `exclusive`"), "{}", refusals[0].text);
}

#[test]
fn explicit_order_must_suffice() {
    let device = device();
    let Start { mut b, n, y, .. } = start(&device);
    b.order(Order::Explicit);
    b.named("first").launch(scale {}, per_item(n), (y.write(), 2.0, n)).expect("a launch");
    let first = line!() - 1;
    let (node, line) = at!(b.named("second").launch(scale {}, per_item(n), (y.write(), 3.0, n)));
    node.expect("a launch");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW202: `second` writes `y`, and nothing orders it with `first`, which writes it\n= note: the missing edge is `first` (line {first}) -> `second` (line {line})\n= help: put `after(first)` on this statement"
            ),
        ),
    );

    let Start { mut b, n, .. } = start(&device);
    b.order(Order::Explicit);
    let mut h = b.named("h").alloc::<f32>(n);
    let declared = line!() - 1;
    let (node, line) = at!(b.fill(&mut h, 1.0));
    node.expect("a fill");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW203: `fill` uses `h`, but is not ordered after its alloc\n= note: the missing edge is alloc of `h` (line {declared}) -> `fill` (line {line})\n= help: put `after(h)` on this statement"
            ),
        ),
    );

    let Start { mut b, n, mut y, .. } = start(&device);
    b.order(Order::Explicit);
    let mut h = b.named("h").alloc::<f32>(2 * n);
    let filled = b.after(h).fill(&mut h, 1.0).expect("a fill");
    b.after(filled).copy(&h, &mut y).expect("a copy");
    drop(b.build().expect("the order suffices"));

    let Start { mut b, n, y, .. } = start(&device);
    let (lo, hi) = y.split_at_mut(n);
    let one = b.named("one").launch(scale {}, per_item(n), (lo.write(), 2.0, n)).expect("a launch");
    let (other, line) = at!(b.named("other").after(one).launch(scale {}, per_item(n), (hi.write(), 2.0, n)));
    b.edge(other.expect("a launch"), one).expect("both are of this builder");
    let first = line - 1;
    refused(
        b.build(),
        (
            first,
            &format!(
                "CW204: the order has a cycle: `one` -> `other` -> `one`\n= note: `one` (line {first}) comes before `other` (line {line}), which says `after(one)`\n= note: `other` (line {line}) comes before `one` (line {first}), which says `after(other)`\n= help: remove `other` from this `after`, or move the statement"
            ),
        ),
    );

    let Start { mut b, x, y, .. } = start(&device);
    let (node, line) = at!(b.after(x).fill(y.write(), 1.0));
    refused(
        node,
        (
            line,
            "CW206: `x` is an argument, and names no statement\n= help: order after the statements that use it",
        ),
    );
}

#[test]
fn arguments_fit_the_declaration() {
    let device = device();
    let borrows = "\n= note: `&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and `atomic(&mut b)` fits `&[Atomic<T>; _]`";
    let Start { mut b, n, x, mut y } = start(&device);
    let mut u = b.named("u").alloc::<u32>(n);
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, n)));
    refused(
        node,
        (line, "CW401: `scale` takes 3 arguments, and 2 are given\n= note: its parameters are `x`, `a`, `n`"),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&y, 2.0, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `&y` does not fit the parameter `x` of `scale`, which is declared as `&mut [T; _]`{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (atomic(&mut y), 2.0, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `atomic(&mut y)` does not fit the parameter `x` of `scale`, which is declared as `&mut [T; _]`{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(add_all {}, per_item(n), (&mut u, 2, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `&mut u` does not fit the parameter `totals` of `add_all`, which is declared as `&[Atomic<T>; _]`{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(copy_to {}, per_item(n), (y.write(), &mut y, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `&mut y` does not fit the parameter `src` of `copy_to`, which is declared as `&[T; _]`{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (n, 2.0, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `n` does not fit the parameter `x` of `scale`, which is declared as `&mut [T; _]`{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, &x, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `&x` does not fit the parameter `a` of `scale`, which is declared as a scalar{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut u, 2.0, n)));
    refused(
        node,
        (
            line,
            "CW401: `&mut u` has elements of type `u32`, and the parameter `x` of `scale` is declared with `f32`",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2, n)));
    refused(
        node,
        (
            line,
            "CW401: `2` is of type `i32`, and the parameter `a` of `scale` is declared as `f32`\n= help: write `2.0`",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, n, n)));
    refused(
        node,
        (line, "CW401: `n` is of type `u32`, and the parameter `a` of `scale` is declared as `f32`"),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, true, n)));
    refused(
        node,
        (line, "CW401: `true` is of type `bool`, and the parameter `a` of `scale` is declared as `f32`"),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 0.1, n)));
    refused(
        node,
        (
            line,
            "CW401: `0.1` is no value of `f32`, the type of the parameter `a` of `scale`\n= help: give it as an `f32`, as in `0.1_f32`",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2.0, -1)));
    refused(node, (line, "CW401: `-1` is no value of `u32`, the type of the parameter `n` of `scale`"));
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2.0, n * (1_u64 << 40))));
    refused(
        node,
        (
            line,
            "CW401: `n * 1099511627776` is 8796093022208, which is no value of `u32`, the type of the parameter `n` of `scale`",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2.0, n - 9)));
    refused(node, (line, "CW401: `n - 9`, the argument `n` of `scale`, is negative"));
    let (node, line) = at!(b.fill(&mut u, 1.5));
    refused(
        node,
        (line, "CW401: `1.5` is of type `f64`, and the parameter `value` of `fill` is declared as `u32`"),
    );
    let (node, line) = at!(b.fill(&mut u, y.read()));
    refused(node, (line, "CW401: `&y` is a buffer, and a value is a scalar"));
    let (node, line) = at!(b.copy(&y, u.write()));
    refused(node, (line, "CW401: `&y` has elements of type `f32`, and `&mut u` has elements of type `u32`"));
    let mut pairs = b.named("pairs").alloc::<[f32; 2]>(n);
    let (node, line) = at!(b.fill(&mut pairs, 1.5));
    refused(
        node,
        (
            line,
            "CW401: `fill` does not take elements of type `[f32; 2]`\n= note: `fill` takes the integers of up to 64 bits, `f32`, `f64` and `bool`, and with feature `f16` also `half::f16` and `half::bf16`",
        ),
    );
    // All of them were refused: nothing of them is in the graph.
    assert_eq!(b.build().expect("an empty graph").report().kernels, 0);
}

#[test]
fn calls_fit_the_function() {
    let device = device();
    let Start { mut b, n, x, mut y } = start(&device);
    let (node, line) = at!(b.call(step::step {}, (n, 2.0, &x)));
    refused(
        node,
        (
            line,
            "CW401: `step` takes 4 arguments, and 3 are given\n= note: its parameters are `n`, `a`, `x`, `y`",
        ),
    );
    let (node, line) = at!(b.call(step::step {}, (2 * n, 2.0, &x, &y)));
    assert_eq!(refusals(node)[0].at.line, line);
    let (node, line) = at!(b.call(step::step {}, (2 * n, n, &x, &mut y)));
    refused(
        node,
        (line, "CW401: `n` is of type `u32`, and the parameter `a` of `step` is declared as `f32`"),
    );
    let mut u = b.named("u").alloc::<u32>(n);
    let (node, line) = at!(b.call(step::step {}, (n, 2.0, &x, &mut u)));
    refused(
        node,
        (
            line,
            "CW401: `&mut u` has elements of type `u32`, and the parameter `y` of `step` is declared with `f32`",
        ),
    );
    let (node, line) = at!(b.call(consumed::consumed {}, (n, &x, &mut y)));
    assert_eq!((refusals(node)[0].code.name(), line), ("CW401", line!() - 1));
    let mut h = b.named("h").alloc::<f32>(2 * n);
    b.copy(&x, &mut h).expect("a copy");
    b.call(consumed::consumed {}, (2 * n, h, &mut y)).expect("its arguments fit");
    let (node, line) = at!(b.copy(&h, &mut y));
    node.expect("its arguments fit");
    let refusals = refusals(b.build());
    println!("error: {}\n", refusals[0]);
    assert_eq!((refusals[0].code.name(), refusals[0].at.line, refusals.len()), ("CW102", line, 1));
}

#[test]
fn other_misuse_is_not_in_the_language() {
    let device = device();
    let Start { mut b, n, x, mut y } = start(&device);
    #[allow(unsafe_code)]
    // SAFETY: nothing reads it.
    let memory = unsafe { device.ctx.alloc_pinned::<f32>(16) }.expect("pinned memory");
    let mut p = b.pinned_mut("p", 2 * n, memory);
    let h = b.named("h").alloc::<f32>(n);
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut p, 2.0, n)));
    refused(
        node,
        (
            line,
            "CW001: `p` is pinned host memory, which `scale` does not take\n= help: `copy` it to or from a device buffer",
        ),
    );
    let (node, line) = at!(b.fill(&mut p, 2.0));
    refused(
        node,
        (
            line,
            "CW001: `p` is pinned host memory, which `fill` does not take\n= help: `copy` it to or from a device buffer",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (h, 2.0, n)));
    refused(
        node,
        (
            line,
            "CW001: `h`, a buffer that the graph owns, is passed by value\n= help: write `&b`, `&mut b` or `atomic(&mut b)`",
        ),
    );
    let (node, line) = at!(b.fill(&h, 2.0));
    refused(node, (line, "CW001: `fill` writes `&h`\n= help: borrow it by `&mut`"));
    let (node, line) = at!(b.fill(Argument::from(n), 2.0));
    refused(
        node,
        (
            line,
            "CW001: `n`, an argument of `fill`, is not a buffer\n= help: pass an allocation or an argument by `&` or `&mut`",
        ),
    );
    let mut size = n + 0;
    for _ in 0..2000 {
        size = size + 1;
    }
    let (node, line) = at!(b.fill(h.range(0, size).write(), 2.0));
    refused(node, (line, "CW001: an expression has more than 1000 operations and operands"));
    let mut part = y.range(0, 2 * n);
    for _ in 0..100 {
        part = part.range(0, n);
    }
    let (node, line) = at!(b.fill(&mut part, 2.0));
    refused(node, (line, "CW001: a part of more than 64 parts is given to `fill`"));
    // A bare argument stands for its declared borrow.
    b.launch(axpy {}, per_item(n), (2.0, x, &mut y, n)).expect("a launch");
}

#[test]
fn handles_of_other_builders_are_refused() {
    let device = device();
    let Start { b: mut other, n: m, y: theirs, .. } = start(&device);
    let made: Statement = other.fill(theirs.write(), 1.0).expect("a fill");
    let Start { mut b, n, x, y } = start(&device);
    let text = |what: &str, to: &str| {
        format!(
            "CW402: {what} of another builder is given to `{to}`\n= help: handles are of the builder that made them"
        )
    };
    let (node, line) = at!(b.launch(scale {}, per_item(n), (theirs.write(), 2.0, n)));
    refused(node, (line, &text("a buffer", "scale")));
    let (node, line) = at!(b.launch(scale {}, per_item(m), (y.write(), 2.0, n)));
    refused(node, (line, &text("a scalar", "scale")));
    let (node, line) = at!(b.launch(scale {}, per_item(n), (y.write(), 2.0, m)));
    refused(node, (line, &text("a scalar", "scale")));
    let (node, line) = at!(b.launch(scale {}, per_item(n), (y.range(m, 2 * n).write(), 2.0, n)));
    refused(node, (line, &text("a scalar", "scale")));
    let (node, line) = at!(b.after(made).fill(y.write(), 1.0));
    refused(node, (line, &text("a statement", "fill")));
    let (node, line) = at!(b.copy(&theirs, y.write()));
    refused(node, (line, &text("a buffer", "copy")));
    let (node, line) = at!(b.free(theirs));
    refused(node, (line, &text("a buffer", "free")));
    let (node, line) = at!(b.output(theirs));
    refused(node, (line, &text("a buffer", "output")));
    let (node, line) = at!(b.call(step::step {}, (n, 2.0, &theirs, y.write())));
    refused(node, (line, &text("a buffer", "step")));
    let (done, line) = at!(b.edge(made, made));
    refused(done, (line, &text("a statement", "edge")));
    let (h, line) = at!(b.named("h").alloc::<f32>(m));
    b.budget(m * 1000);
    let budget = line!() - 1;
    b.fill(h.write(), 1.0).expect("a fill");
    let refusals = refusals(b.build());
    let seen: Vec<(u32, &str)> =
        refusals.iter().map(|refusal| (refusal.at.line, refusal.text.as_str())).collect();
    assert_eq!(seen, [(line, text("a scalar", "h").as_str()), (budget, text("a scalar", "budget").as_str())]);
    let _ = (x, Argument::value(1));
}

#[test]
fn setters_check_what_they_are_given() {
    let device = device();
    let mut out = device.zeros::<f32>(8);
    let elsewhere = device.zeros::<f32>(8);
    let (mut ints, mut short) = (device.zeros::<u32>(8), device.zeros::<f32>(4));
    let Start { b: other, n: theirs, x: their_x, .. } = start(&device);
    drop(other);
    let mut b = Builder::new(&device.ctx);
    let (n, a, count) = (b.scalar("n", 8), b.scalar("a", 2.0), b.scalar("count", 8_u64));
    let declared = line!() - 1;
    let y = b.exclusive("y", n, &mut out);
    let x = b.shared("x", n, &elsewhere);
    let h = b.named("h").alloc::<f32>(n);
    b.copy(&x, h.write()).expect("a copy");
    b.launch(scale {}, per_item(count), (y.write(), a, count)).expect("a launch");
    b.launch(axpy {}, per_item(n), (1.0, &h, y.write(), n)).expect("a launch");
    let mut exec = b.build().expect("a graph").instantiate().expect("an exec");
    let given = "= help: handles are of the builder that made them";
    let (done, line) = at!(exec.set_scalar(&theirs, 4));
    refused(done, (line, &format!("CW402: a scalar of another builder is given to `set_scalar`\n{given}")));
    let (done, line) = at!(exec.set_buffer(&their_x, &mut ints));
    refused(done, (line, &format!("CW402: a buffer of another builder is given to `set_buffer`\n{given}")));
    let mut ints = device.zeros::<u32>(8);
    let (done, line) = at!(exec.set_buffer(&h, ints.clone()));
    refused(done, (line, "CW001: `h` is an allocation of the graph\n= help: only arguments can be bound"));
    let (done, line) = at!(exec.set_buffer(&y, device.zeros::<u32>(8)));
    refused(done, (line, "CW401: a buffer of elements of type `u32` is bound to `y`, which has `f32`"));
    let shared = std::sync::Arc::new(device.zeros::<f32>(8));
    let (done, line) = at!(exec.set_buffer(&y, shared));
    refused(done, (line, "CW401: this cannot be bound to `y`, an argument `&mut [T; _]`"));
    let error = exec.set_buffer(&y, &mut short).expect_err("it is too short");
    assert_eq!(
        error.to_string(),
        format!("`y` ({}:{}:15) has 4 elements, and `n` = 8 are declared", file!(), declared + 2)
    );
    let error = exec.set_scalar(&n, 4).expect_err("a length");
    assert_eq!(
        error.to_string(),
        format!(
            "`n` ({}:{declared}:28) reaches a length, a loop, a choice or a library call, or a bound whose ranges are right for this value alone, and cannot be set: build the graph again",
            file!()
        )
    );
    let error = exec.set_scalar(&a, 0.3).expect_err("no `f32`");
    assert_eq!(refusals(Err::<(), _>(error))[0].code.name(), "CW401");
    exec.set_scalar(&a, 0.5).expect("an `f32`");
    let error = exec.set_scalar(&count, 9).expect_err("more elements than `y` has");
    assert!(
        error.to_string().contains("touches 9 elements of its parameter `x`, and `y` gives it 8"),
        "{error}"
    );
    exec.set_scalar(&count, 8).expect("as before");
    exec.set_buffer(&x, Buffer::from_host(&device.stream, &[3.0_f32; 8]).expect("a buffer"))
        .expect("a setter");
    exec.launch(&device.stream).expect("a launch");
    let error =
        exec.launch(&device.stream).expect("a launch").output::<f32>(y).map(drop).expect_err("an argument");
    assert_eq!(refusals(Err::<(), _>(error))[0].code.name(), "CW001");
    let _ = &mut ints;
    drop(exec);
    assert_eq!(device.download(&out), [4.5; 8]);
}

#[test]
fn faults_of_numbers_have_places_too() {
    let device = device();
    let Start { mut b, n, y, .. } = start(&device);
    let (node, line) = at!(b.launch(scale {}, (1, 2048), (y.write(), 2.0, n)));
    node.expect("its arguments fit");
    let error = b.build().map(drop).expect_err("no device takes it");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");

    let Start { mut b, n, y, .. } = start(&device);
    let (node, line) = at!(b.fill(y.range(n, 3 * n).write(), 1.0));
    node.expect("a fill");
    let error = b.build().map(drop).expect_err("no range");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");

    let Start { mut b, n, y, .. } = start(&device);
    let (part, line) = at!(y.range(0, n).range(0, n + 1));
    b.fill(part.write(), 1.0).expect("a fill");
    let error = b.build().map(drop).expect_err("a part of a part that does not lie in it");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");

    let Start { mut b, n, .. } = start(&device);
    let (_, line) = at!(b.alloc::<f32>(n - 9));
    let error = b.build().map(drop).expect_err("a negative length");
    println!("error: {error}\n");
    assert!(error.to_string().contains(&format!("{}:{line}:", file!())), "{error}");
}
