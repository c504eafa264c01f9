//! Borrows and explicit order.

use cuweave::builder::{Builder, Order};
use cuweave::prelude::*;
use cuweave_testkit::device::device;

use super::{Start, copy_to, refusals, refused, scale, start};

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
            "CW201: `copy_to` borrows `y` mutably and also shared\n= note: the first borrow in the same call is \
             shared\n= help: pass it once, to a parameter declared `&mut [T; _]`, or copy it into a second buffer \
             first",
        ),
    );

    let Start { mut b, n, y, .. } = start(&device);
    let k = b.scalar("k", 8);
    let (node, line) =
        at!(b.launch(copy_to {}, per_item(n), (y.range(0, n).read(), y.range(k, n + k).write(), n)));
    node.expect("its arguments fit");
    // The ranges are disjoint for these numbers, but a setter could change them.
    refused(
        b.build(),
        (
            line,
            "CW201: `copy_to` borrows `y` mutably and also shared\n= note: `y[0..n]` and `y[k..n + k]` are not \
             proved to be disjoint\n= help: split it: `let (lo, hi) = y.split_at_mut(k);` gives two disjoint parts",
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
                "CW202: `second` writes `y`, and nothing orders it with `first`, which writes it\n= note: the \
                 missing edge is `first` (line {first}) -> `second` (line {line})\n= help: put `after(first)` on \
                 this statement"
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
                "CW203: `fill` uses `h`, but is not ordered after its alloc\n= note: the missing edge is alloc of \
                 `h` (line {declared}) -> `fill` (line {line})\n= help: put `after(h)` on this statement"
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
                "CW204: the order has a cycle: `one` -> `other` -> `one`\n= note: `one` (line {first}) comes \
                 before `other` (line {line}), which says `after(one)`\n= note: `other` (line {line}) comes before \
                 `one` (line {first}), which says `after(other)`\n= help: remove `other` from this `after`, or \
                 move the statement"
            ),
        ),
    );

    // Statements at the same place are reported once.
    let Start { mut b, n, y, .. } = start(&device);
    let launch = |b: &mut Builder<'_>| at!(b.launch(scale {}, per_item(n), (y.write(), 2.0, n)));
    let made: Vec<_> = (0..4).map(|_| launch(&mut b)).collect();
    let line = made[0].1;
    let made: Vec<_> = made.into_iter().map(|(launched, _)| launched.expect("a launch")).collect();
    b.edge(made[3], made[0]).expect("both are of this builder");
    b.edge(made[3], made[0]).expect("both are of this builder");
    refused(
        b.build(),
        (
            line,
            &format!(
                "CW204: the order has a cycle: `scale` (5 times)\n= note: `scale` (line {line}) comes before \
                 `scale` (line {line}), which uses `y` after it, 3 times\n= note: `scale` (line {line}) comes \
                 before `scale` (line {line}), which says `after(scale)`\n= help: remove `scale` from this \
                 `after`, or move the statement"
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
