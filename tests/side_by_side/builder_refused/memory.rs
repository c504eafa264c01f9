//! Memory: contents, lifetimes, outputs and useless allocations.

use cuweave::builder::Handle;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, device};

use super::{Start, axpy, refusals, refused, scale, start};

/// Returns a builder with an allocation `h` into which `x` was copied.
fn copied(device: &Device) -> (Start<'static>, Handle) {
    let mut start = start(device);
    let mut h = start.b.named("h").alloc::<f32>(2 * start.n);
    start.b.copy(&start.x, &mut h).expect("a copy");
    (start, h)
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
                "CW101: `h` is read by `axpy`, but nothing has written it\n= note: `h` is allocated on line \
                 {declared}, and new memory is uninitialised\n= help: write `h` first: with `fill`, `copy`, or a \
                 launch whose parameter is `&mut [MaybeUninit<T>; _]`"
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
            "CW101: `h` is given to the kernel `scale` before it is written\n= note: `scale` takes it as `&mut [T; \
             _]`, and may read it\n= help: write all of `h` before, or declare the parameter as `&mut \
             [MaybeUninit<T>; _]`",
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
                "CW101: `h` is read by `copy`, but not all of it is proved to be written\n= note: `fill` (line \
                 {filled}) writes `h[0..n]`\n= help: write `h` first: with `fill`, `copy`, or a launch whose \
                 parameter is `&mut [MaybeUninit<T>; _]`"
            ),
        ),
    );
}

#[test]
fn lives_are_kept() {
    let device = device();
    let (Start { mut b, mut y, .. }, h) = copied(&device);
    let (done, freed) = at!(b.free(h));
    done.expect("a free");
    let (node, line) = at!(b.copy(&h, &mut y));
    node.expect("its arguments fit");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW102: `h` is used by `copy` after it is freed\n= note: `free(h)` on line {freed} comes before\n= \
                 help: move the `free` after the last use, or delete it: cuweave places the free"
            ),
        ),
    );

    let (Start { mut b, .. }, h) = copied(&device);
    let (done, freed) = at!(b.free(h));
    done.expect("a free");
    let (node, line) = at!(b.free(h));
    node.expect("its handle is known");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW103: `h` is freed twice\n= note: it is freed first on line {freed}\n= help: remove one of the \
                 two: without any, cuweave frees it after the last use"
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
    let (Start { mut b, .. }, h) = copied(&device);
    let (done, freed) = at!(b.free(h));
    done.expect("a free");
    let (done, line) = at!(b.output(h));
    done.expect("an allocation");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW105: `h` is returned although it is freed\n= note: it is freed on line {freed}\n= help: remove \
                 the `free`: the owner of the output frees it"
            ),
        ),
    );

    let (Start { mut b, .. }, h) = copied(&device);
    b.output(h).expect("an allocation");
    let (done, line) = at!(b.output(h));
    done.expect("an allocation");
    refused(
        b.build(),
        (
            line,
            "CW105: `h` is returned twice\n= note: an allocation can be returned only once: each output has one \
             owner\n= help: return a copy: `copy` it into a second allocation",
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
                "CW107: `h` is returned, but nothing has written it\n= note: it is allocated on line {declared}\n= \
                 help: write it with a launch, `fill` or `copy`, or do not return it"
            ),
        ),
    );

    let Start { mut b, x, .. } = start(&device);
    let (done, line) = at!(b.output(x));
    refused(
        done,
        (
            line,
            "CW001: `x` is borrowed: only allocations leave a graph, its own and those that it has taken over\n= help: \
             `copy` it into an allocation and return that",
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
                "CW106: `unused` is allocated and never used\n= help: remove it, or name it `_unused` if this is \
                    intended"
            ),
            (
                "CW106",
                line,
                "CW106: `unread` is written and never read\n= help: remove it, or name it `_unread` if this is intended"
            ),
        ]
    );
    drop(b.build().expect("warnings are no faults"));
}
