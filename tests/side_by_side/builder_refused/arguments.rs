//! Arguments of launches, calls and other statements.

use cuweave::builder::Argument;
use cuweave::prelude::*;
use cuweave_testkit::device::device;

use super::{Start, add_all, axpy, consumed, copy_to, refusals, refused, scale, start, step};

#[test]
fn borrows_fit_the_declaration() {
    let device = device();
    let borrows = "\n= note: `&b` fits `&[T; _]`, `&mut b` fits `&mut [T; _]` and `&mut [MaybeUninit<T>; _]`, and \
        `atomic(&mut b)` fits `&[Atomic<T>; _]`";
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
                "CW401: `atomic(&mut y)` does not fit the parameter `x` of `scale`, which is declared as `&mut [T; \
                 _]`{borrows}"
            ),
        ),
    );
    let (node, line) = at!(b.launch(add_all {}, per_item(n), (&mut u, 2, n)));
    refused(
        node,
        (
            line,
            &format!(
                "CW401: `&mut u` does not fit the parameter `totals` of `add_all`, which is declared as \
                 `&[Atomic<T>; _]`{borrows}"
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
    // All of them were refused, so the graph contains nothing.
    assert_eq!(b.build().expect("an empty graph").report().kernels, 0);
}

#[test]
fn values_fit_the_declaration() {
    let device = device();
    let Start { mut b, n, mut y, .. } = start(&device);
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
            "CW401: `0.1` is no value of `f32`, the type of the parameter `a` of `scale`\n= help: give it as an \
             `f32`, as in `0.1_f32`",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2.0, -1)));
    refused(node, (line, "CW401: `-1` is no value of `u32`, the type of the parameter `n` of `scale`"));
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2.0, n * (1_u64 << 40))));
    refused(
        node,
        (
            line,
            "CW401: `n * 1099511627776` is 8796093022208, which is no value of `u32`, the type of the parameter \
             `n` of `scale`",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (&mut y, 2.0, n - 9)));
    refused(node, (line, "CW401: `n - 9`, the argument `n` of `scale`, is negative"));
    // All of them were refused, so the graph contains nothing.
    assert_eq!(b.build().expect("an empty graph").report().kernels, 0);
}

#[test]
fn fills_and_copies_take_elements_of_one_type() {
    let device = device();
    let Start { mut b, n, y, .. } = start(&device);
    let mut u = b.named("u").alloc::<u32>(n);
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
            "CW401: `fill` does not take elements of type `[f32; 2]`\n= note: `fill` takes the integers of up to \
             64 bits, `f32`, `f64` and `bool`, and with feature `half` also `half::f16` and `half::bf16`",
        ),
    );
    // All of them were refused, so the graph contains nothing.
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
    let (node, line) = at!(b.fill(&mut p, 2.0));
    refused(
        node,
        (
            line,
            "CW001: `p` is pinned host memory, which `fill` does not take\n= help: `copy` it to or from a device \
             buffer",
        ),
    );
    let (node, line) = at!(b.launch(scale {}, per_item(n), (h, 2.0, n)));
    refused(
        node,
        (
            line,
            "CW001: `h`, a buffer that the graph owns, is passed by value\n= help: write `&b`, `&mut b` or \
             `atomic(&mut b)`",
        ),
    );
    let (node, line) = at!(b.fill(&h, 2.0));
    refused(node, (line, "CW001: `fill` writes `&h`\n= help: borrow it by `&mut`"));
    let (node, line) = at!(b.fill(Argument::from(n), 2.0));
    refused(
        node,
        (
            line,
            "CW001: `n`, an argument of `fill`, is not a buffer\n= help: pass an allocation or an argument by `&` \
             or `&mut`",
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
    // An argument that is passed by name has its declared borrow.
    b.launch(axpy {}, per_item(n), (2.0, x, &mut y, n)).expect("a launch");
}
