//! Sizes in the bodies of conditionals: their launches, copies and fills follow the size.

use cuweave::builder::{Builder, Handle, Scalar};
use cuweave::prelude::*;
use cuweave::{Buffer, Result};
use cuweave_testkit::device::alone;

use crate::decide::*;

const MOST: usize = 300;

#[cuweave::graph]
fn twice(n: u32, x: &mut [u32; n]) {
    for _ in 0..2 {
        mix[per_item(n)](&mut x, 5, n);
    }
}

/// Bodies with everything that follows a size.
#[cuweave::graph]
fn bodies(
    max: u32,
    #[at_most(max)] n: u32,
    flag: &mut [u32; 1],
    turns: &mut [u32; 1],
    x: &mut [u32; n],
    y: &mut [u32; n],
) {
    if flag {
        mix[per_item(n)](&mut x, 1, n);
        copy(&x, &mut y);
    } else {
        let t = alloc::<u32>(n + 1);
        fill(&mut y, 7);
        mixed[per_item(n)](&x, &mut t[..n], 2, n);
        twice(n, &mut t[..n]);
        mixed[per_item(n)](&t[..n], &mut x, 3, n);
    }
    while turns {
        mix[per_item(n)](&mut y, 4, n);
        count_down[(1, 1)](&mut turns);
    }
}

/// Adds the same statements to a builder.
fn add(b: &mut Builder<'_>, n: Scalar<u32>, [flag, turns, x, y]: [Handle; 4]) -> Result<()> {
    b.if_else(
        &flag,
        |b| {
            b.launch(mix {}, per_item(n), (x.write(), 1, n))?;
            b.copy(&x, y.write())
        },
        |b| {
            let t = b.alloc::<u32>(n + 1);
            b.fill(y.write(), 7_u32)?;
            b.launch(mixed {}, per_item(n), (&x, t.range(0, n).write(), 2, n))?;
            b.call(twice::twice {}, (n, t.range(0, n).write()))?;
            b.launch(mixed {}, per_item(n), (&t.range(0, n), x.write(), 3, n))
        },
    )?;
    b.while_(&turns, |b| {
        b.launch(mix {}, per_item(n), (y.write(), 4, n))?;
        b.launch(count_down {}, (1, 1), (turns.write(),))
    })?;
    Ok(())
}

/// Returns an element of `x` and of `y` after a launch.
fn launched((x, _): (u32, u32), flag: bool, turns: u32) -> (u32, u32) {
    let (x, y) = match flag {
        true => (step(x, 1), step(x, 1)),
        false => (step(step(step(step(x, 2), 5), 5), 3), 7),
    };
    (x, (0..turns).fold(y, |y, _| step(y, 4)))
}

#[test]
fn bodies_follow_a_size() -> Result<()> {
    let device = alone();
    let [x, y] = [Buffer::<u32>::zeros(&device.stream, MOST)?, Buffer::<u32>::zeros(&device.stream, MOST)?];
    let [flag, turns] = [Buffer::<u32>::zeros(&device.stream, 1)?, Buffer::<u32>::zeros(&device.stream, 1)?];
    let mut written = bodies(&device.ctx, MOST as u32, 9, &flag, &turns, &x, &y)?.instantiate()?;
    let mut b = Builder::new(&device.ctx);
    let size = b.scalar_at_most("n", 9_u32, MOST as u32);
    let [of_flag, of_turns] = [b.exclusive("flag", 1, &flag), b.exclusive("turns", 1, &turns)];
    let handles = [of_flag, of_turns, b.exclusive("x", size, &x), b.exclusive("y", size, &y)];
    add(&mut b, size, handles)?;
    let mut built = b.build()?.instantiate()?;
    let mut expected = [(0u32, 0u32); MOST];
    let cases =
        [(9, true, 0), (1, false, 2), (300, true, 3), (257, false, 0), (255, true, 1), (256, false, 1)];
    for (n, is_set, count) in cases {
        for by_builder in [false, true] {
            flag.copy_from_host(&device.stream, &[u32::from(is_set)])?;
            turns.copy_from_host(&device.stream, &[count])?;
            match by_builder {
                false => {
                    written.set_n(n)?;
                    written.launch(&device.stream)?;
                    cuweave_check::check(&written.certificate()).expect("the certificate holds");
                }
                true => {
                    built.set_scalar(&size, n)?;
                    built.launch(&device.stream).map(drop)?;
                    cuweave_check::check(&built.certificate()).expect("the certificate holds");
                }
            }
            for element in expected.iter_mut().take(n as usize) {
                *element = launched(*element, is_set, count);
            }
            let seen = x.to_host(&device.stream)?.into_iter().zip(y.to_host(&device.stream)?);
            assert!(seen.eq(expected), "{n}, {is_set}, {count}, {by_builder}");
        }
    }
    device.nothing_reported();
    Ok(())
}
