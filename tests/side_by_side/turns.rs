//! Loops and choices that are decided at build time: first and last iterations, alternating names, bindings,
//! arrays.

use cuweave::prelude::*;
use cuweave_testkit::device::device;

use crate::steps::{add, axpy, copied, copy_to, doubled, scale, set, step};

#[cuweave::graph]
fn moved_early(n: u32, h: [f32; n], to: &mut [MaybeUninit<f32>; n]) {
    copy_to[per_item(n)](&h, &mut to, n);
    free(h);
    scale[per_item(n)](&mut to, 3.0, n);
}

#[cuweave::graph]
fn negative(n: u32, from: i32, to: i32, out: &mut [f32; n]) {
    for i in from..to {
        for j in -1..=1i32 {
            scale[per_item(n)](&mut out, (i * 10 + j) as f32, n);
        }
    }
}
#[cuweave::graph]
fn negative_rows(n: u32, k: i32, out: &mut [f32; 5 * n]) {
    for i in -2..=k {
        set[per_item(n)](&mut out[(i + 2) as u32 * n..(i + 3) as u32 * n], i as f32, n);
    }
}
#[cuweave::graph]
fn negative_plain(k: i32, out: &mut [f32; 5]) {
    for i in -2..=k {
        set[(1, 1)](&mut out[i + 2..i + 3], i as f32, 1);
    }
    for i in -2..1 {
        scale[(1, 1)](&mut out[i + 2..i + 3], 2.0, 1);
    }
}
#[test]
fn loops_begin_below_zero() {
    let d = device();
    for seed in 0..2 {
        let _ = seed;
        let mut out = d.upload(&[1.0f32; 2]);
        let mut exec = negative(&d.ctx, 2, -2, 1, &mut out).expect("builds").instantiate().unwrap();
        exec.launch(&d.stream).unwrap();
        drop(exec);
        let want: f32 = (-2..1).flat_map(|i| (-1..=1).map(move |j| (i * 10 + j) as f32)).product();
        assert_eq!(d.download(&out), [want; 2]);
    }
    let mut out = d.zeros::<f32>(10);
    launched!(
        d,
        negative_rows(&d.ctx, 2, 2, &mut out),
        out,
        [-2.0, -2.0, -1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    );
    let mut out = d.zeros::<f32>(5);
    launched!(d, negative_plain(&d.ctx, 2, &mut out), out, [-4.0, -2.0, 0.0, 1.0, 2.0]);
}

#[cuweave::graph]
fn matched(n: u32, mode: u32, k: u32, x: &mut [f32; n]) {
    match mode {
        0 => {}
        1 | 2 => scale[per_item(n)](&mut x, 2.0, n),
        m @ 3..=5 => {
            for _ in 0..m {
                scale[per_item(n)](&mut x, 2.0, n);
            }
        }
        m if m % 2 == 0 => scale[per_item(n)](&mut x, m as f32, n),
        7.. if k > 3 => scale[per_item(n)](&mut x, 100.0, n),
        other => {
            let twice = other * 2;
            scale[per_item(n)](&mut x, twice as f32, n);
        }
    }
    match (mode, k) {
        (0, 0) => {}
        (a, b) if a == b => scale[per_item(n)](&mut x, 0.5, n),
        (_, b) => scale[per_item(n)](&mut x, b as f32, n),
    }
}
#[test]
fn arms_bind_names() {
    let d = device();
    for mode in 0..12u32 {
        for k in [0u32, 2, 5] {
            let mut x = d.upload(&[1.0f32; 2]);
            let mut exec = matched(&d.ctx, 2, mode, k, &mut x).expect("builds").instantiate().unwrap();
            exec.launch(&d.stream).unwrap();
            drop(exec);
            let mut want = match mode {
                0 => 1.0,
                1 | 2 => 2.0,
                m @ 3..=5 => 2f32.powi(m as i32),
                m if m % 2 == 0 => m as f32,
                7.. if k > 3 => 100.0,
                other => (other * 2) as f32,
            };
            want *= match (mode, k) {
                (0, 0) => 1.0,
                (a, b) if a == b => 0.5,
                (_, b) => b as f32,
            };
            assert_eq!(d.download(&x), [want; 2], "{mode} {k}");
        }
    }
}

#[cuweave::graph]
fn arrays(n: u32, w: [&[f32; n]; 3], outs: [&mut [f32; n]; 2], acc: &mut [f32; n]) {
    for x in &w {
        axpy[per_item(n)](1.0, x, &mut acc, n);
    }
    for (i, x) in w.iter().enumerate() {
        step(n, (i + 1) as f32, x, &mut acc);
    }
    for (i, o) in outs.iter_mut().enumerate() {
        copy(&w[i], o);
    }
    for o in &mut outs {
        scale[per_item(n)](&mut o, 3.0, n);
    }
    for o in &outs {
        axpy[per_item(n)](1.0, &o, &mut acc, n);
    }
    for (_, x) in w.iter().enumerate() {
        for o in outs {
            axpy[per_item(n)](1.0, &x, o, n);
        }
    }
}
#[test]
fn loops_run_over_arrays_of_buffers() {
    let d = device();
    let w = [1.0f32, 2.0, 3.0].map(|v| d.upload(&[v; 2]));
    for seed in 0..4 {
        d.schedule(seed);
        let (mut a, mut b) = (d.zeros::<f32>(2), d.zeros::<f32>(2));
        let mut acc = d.zeros::<f32>(2);
        let mut exec = arrays(&d.ctx, 2, [&w[0], &w[1], &w[2]], [&mut a, &mut b], &mut acc)
            .expect("builds")
            .instantiate()
            .unwrap();
        exec.launch(&d.stream).unwrap();
        drop(exec);
        let mut want = 6.0;
        for i in 0..3 {
            want = (want + (i + 1) as f32 * (i + 1) as f32) * 2.0;
        }
        want += 3.0 + 6.0;
        assert_eq!(d.download(&acc), [want; 2]);
        assert_eq!(d.download(&a), [9.0; 2]);
        assert_eq!(d.download(&b), [12.0; 2]);
    }
    d.schedule(0);
}

#[cuweave::graph]
fn typed(n: u32, a: f32, out: &mut [f32; 2 * n]) {
    let m: u32 = n * 2;
    let b: f32 = a * 2.0;
    let k: u64 = n as u64;
    let j: u32 = m;
    let h = alloc::<f32>(m);
    set[per_item(j)](&mut h, b, m);
    scale[per_item(n)](&mut h[k..], 2.0, n);
    copy(&h, &mut out);
}
#[test]
fn scalars_have_types() {
    let d = device();
    let mut out = d.zeros::<f32>(4);
    launched!(d, typed(&d.ctx, 2, 3.0, &mut out), out, [6.0, 6.0, 12.0, 12.0]);
}

#[cuweave::graph]
fn last_free(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = copied(n, &x);
    for i in 0..steps {
        scale[per_item(n)](&mut h, 2.0, n);
        if i == steps - 1 {
            copy(&h, &mut out);
            free(h);
        }
    }
}
#[cuweave::graph]
fn first_and_last(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    for i in 0..steps {
        if i == 0 {
            copy(&x, &mut h);
        } else if i == steps - 1 {
            scale[per_item(n)](&mut h, 5.0, n);
        } else {
            scale[per_item(n)](&mut h, 2.0, n);
        }
        if i + 1 == steps {
            copy(&h, &mut out);
        }
    }
}
#[cuweave::graph]
fn tail_moves(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = copied(n, &x);
    for i in 0..steps {
        if i < steps - 1 {
            h = doubled(n, &h);
        } else {
            let t = alloc::<f32>(n);
            moved_early(n, h, &mut t);
            copy(&t, &mut out);
        }
    }
}
#[cuweave::graph]
fn parity(n: u32, steps: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = copied(n, &x);
    let b = alloc::<f32>(n);
    for i in 0..steps {
        if i % 2 == 0 {
            add[per_item(n)](&a, &a, &mut b, n);
        } else {
            add[per_item(n)](&b, &b, &mut a, n);
        }
    }
    copy(&a, &mut out);
}
#[cuweave::graph]
fn reversed(n: u32, steps: u32, out: &mut [f32; n * steps]) {
    let h = alloc::<f32>(n * steps);
    for i in 0..steps {
        set[per_item(n)](&mut h[(steps - 1 - i) * n..(steps - i) * n], i as f32, n);
    }
    copy(&h, &mut out);
}
#[cuweave::graph]
fn two_halves(n: u32, steps: u32, out: &mut [f32; 2 * n * steps]) {
    let h = alloc::<f32>(2 * n * steps);
    for i in 0..steps {
        let row = &mut h[2 * i * n..2 * (i + 1) * n];
        let (lo, hi) = row.split_at_mut(n);
        set[per_item(n)](&mut lo, i as f32, n);
        set[per_item(n)](&mut hi, -(i as f32), n);
        if i == steps - 1 {
            scale[per_item(2 * n * steps)](&mut h, 2.0, 2 * n * steps);
        }
    }
    copy(&h, &mut out);
}
#[cuweave::graph]
fn grid(n: u32, a: u32, b: u32, out: &mut [f32; a * b * n]) {
    let h = alloc::<f32>(a * b * n);
    for i in 0..a {
        for j in 0..b {
            set[per_item(n)](&mut h[(i * b + j) * n..(i * b + j + 1) * n], (i * 10 + j) as f32, n);
        }
    }
    copy(&h, &mut out);
}
#[test]
fn last_turns_differ() {
    let d = device();
    let x = d.upload(&[1.0f32; 2]);
    let mut out = d.zeros::<f32>(2);
    for steps in 1..6u32 {
        let f = 2f32.powi(steps as i32);
        launched!(d, last_free(&d.ctx, 2, steps, &x, &mut out), out, [f; 2]);
        let want = match steps {
            1 => 1.0,
            s => 5.0 * 2f32.powi(s as i32 - 2),
        };
        launched!(d, first_and_last(&d.ctx, 2, steps, &x, &mut out), out, [want; 2]);
        launched!(d, tail_moves(&d.ctx, 2, steps, &x, &mut out), out, [f / 2.0 * 3.0; 2]);
        let want = 2f32.powi(steps as i32 - (steps % 2) as i32);
        launched!(d, parity(&d.ctx, 2, steps, &x, &mut out), out, [want; 2]);
    }
    let mut out = d.zeros::<f32>(6);
    launched!(d, reversed(&d.ctx, 2, 3, &mut out), out, [2.0, 2.0, 1.0, 1.0, 0.0, 0.0]);
    let mut out = d.zeros::<f32>(8);
    launched!(d, two_halves(&d.ctx, 2, 2, &mut out), out, [0.0, 0.0, 0.0, 0.0, 2.0, 2.0, -2.0, -2.0]);
    launched!(d, grid(&d.ctx, 2, 2, 2, &mut out), out, [0.0, 0.0, 1.0, 1.0, 10.0, 10.0, 11.0, 11.0]);
}

#[cuweave::graph]
fn renames(n: u32, mode: u32, x: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    if mode == 0 {
        h = copied(n, &x);
    } else if mode == 1 {
        h = doubled(n, &x);
    } else {
        fill(&mut h, 9.0);
    }
    scale[per_item(n)](&mut h, 2.0, n);
    copy(&h, &mut out);
}
#[cuweave::graph]
fn swapped_or_not(n: u32, mode: bool, x: &[f32; n], out: &mut [f32; n]) -> [f32; n] {
    let a = copied(n, &x);
    let b = doubled(n, &x);
    if mode {
        swap(&mut a, &mut b);
    }
    copy(&a, &mut out);
    free(a);
    b
}
#[cuweave::graph]
fn moved_names(n: u32, x: &[f32; n], out: &mut [f32; n]) {
    let a = copied(n, &x);
    let b = doubled(n, &x);
    b = a;
    a = doubled(n, &b);
    a = doubled(n, &a);
    add[per_item(n)](&a, &b, &mut out, n);
    free(b);
    b = copied(n, &a);
    add[per_item(n)](&a, &b, &mut out, n);
}
#[test]
fn arms_give_names_other_buffers() {
    let d = device();
    let x = d.upload(&[1.0f32; 2]);
    let mut out = d.zeros::<f32>(2);
    for (mode, want) in [(0, 2.0), (1, 4.0), (2, 18.0)] {
        launched!(d, renames(&d.ctx, 2, mode, &x, &mut out), out, [want; 2]);
    }
    launched!(d, moved_names(&d.ctx, 2, &x, &mut out), out, [8.0; 2]);
    for mode in [false, true] {
        let mut exec = swapped_or_not(&d.ctx, 2, mode, &x, &mut out).expect("builds").instantiate().unwrap();
        let b = exec.launch(&d.stream).unwrap();
        assert_eq!(d.download(&b), [if mode { 1.0 } else { 2.0 }; 2]);
        drop(b);
        drop(exec);
        assert_eq!(d.download(&out), [if mode { 2.0 } else { 1.0 }; 2]);
    }
}

/// Appends a digit, so that the number shows the order of the iterations.
#[cuweave::graph]
fn digit(value: f32, one: &[f32; 1], out: &mut [f32; 1]) {
    scale[(1, 1)](&mut out, 10.0, 1);
    axpy[(1, 1)](value, &one, &mut out, 1);
}
#[cuweave::arguments]
struct Digit {
    len: u32,
    of: &[f32; len],
}
#[cuweave::graph]
fn backwards(
    lo: i32,
    hi: i32,
    list: &[&[f32; 1]],
    records: &[Digit<'_>],
    array: [&[f32; 1]; 3],
    one: &[f32; 1],
    out: &mut [f32; 13],
) {
    fill(&mut out, 0.0);
    for i in (lo..hi).rev() {
        digit(i as f32, &one, &mut out[0..1]);
    }
    for i in (lo..=hi).rev() {
        digit(i as f32, &one, &mut out[1..2]);
    }
    for i in (-2..2i32).rev() {
        digit(i as f32, &one, &mut out[2..3]);
    }
    for i in ((0..=3u32).rev()).rev() {
        digit(i as f32, &one, &mut out[3..4]);
    }
    for x in list.iter().rev() {
        digit(1.0, &x, &mut out[4..5]);
    }
    for (i, x) in list.iter().enumerate().rev() {
        digit(i as f32, &x, &mut out[5..6]);
    }
    for (i, x) in list.iter().rev().enumerate() {
        digit(i as f32, &x, &mut out[6..7]);
    }
    for (i, record) in records.iter().rev().enumerate().rev() {
        digit((i as u32 + record.len) as f32, &record.of, &mut out[7..8]);
    }
    for x in array.iter().rev() {
        digit(1.0, &x, &mut out[8..9]);
    }
    for (i, x) in array.iter().enumerate().rev() {
        digit(i as f32, &x, &mut out[9..10]);
    }
    for (i, x) in array.iter().rev().enumerate() {
        digit(i as f32, &x, &mut out[10..11]);
    }
    for (i, x) in array.iter().rev().enumerate().rev() {
        digit(i as f32, &x, &mut out[11..12]);
    }
    for i in (0..records.len()).rev() {
        if i == 0 {
            copy(&records[i].of, &mut out[12..13]);
        }
    }
}
#[test]
fn loops_count_down() {
    let d = device();
    let values = [3.0f32, 1.0, 4.0, 2.0];
    let uploaded: Vec<_> = values.iter().map(|value| d.upload(&[*value])).collect();
    let one = d.upload(&[1.0f32]);
    let number = |digits: &mut dyn Iterator<Item = f32>| digits.fold(0.0, |sum, digit| 10.0 * sum + digit);
    for (lo, hi, count) in [(0, 3, 4), (-2, 1, 1), (2, 2, 0), (1, 0, 3)] {
        let (list, array) = (&values[..count], &values[..3]);
        let want = [
            number(&mut (lo..hi).rev().map(|i| i as f32)),
            number(&mut (lo..=hi).rev().map(|i| i as f32)),
            number(&mut (-2..2).rev().map(|i| i as f32)),
            123.0,
            number(&mut list.iter().rev().copied()),
            number(&mut list.iter().enumerate().rev().map(|(i, x)| i as f32 * x)),
            number(&mut list.iter().rev().enumerate().map(|(i, x)| i as f32 * x)),
            number(&mut list.iter().rev().enumerate().rev().map(|(i, x)| (i + 1) as f32 * x)),
            number(&mut array.iter().rev().copied()),
            number(&mut array.iter().enumerate().rev().map(|(i, x)| i as f32 * x)),
            number(&mut array.iter().rev().enumerate().map(|(i, x)| i as f32 * x)),
            number(&mut array.iter().rev().enumerate().rev().map(|(i, x)| i as f32 * x)),
            list.first().copied().unwrap_or_default(),
        ];
        let list = || uploaded[..count].iter().collect();
        let records = || uploaded[..count].iter().map(|x| Digit::new(1, x)).collect();
        let array = [&uploaded[0], &uploaded[1], &uploaded[2]];
        let mut out = d.zeros::<f32>(13);
        launched!(d, backwards(&d.ctx, lo, hi, list(), records(), array, &one, &mut out), out, want);
    }
}

#[cuweave::graph]
fn rows_from_the_last(n: u32, rows: u32, out: &mut [f32; rows * n]) {
    let h = alloc::<f32>(rows * n);
    for i in (0..rows).rev() {
        set[per_item(n)](&mut h[i * n..(i + 1) * n], i as f32, n);
        if i == 0 {
            copy(&h, &mut out);
        }
    }
}
#[test]
fn the_first_turn_of_a_loop_that_counts_down_is_the_last_index() {
    let d = device();
    for rows in [1, 2, 5] {
        let mut out = d.zeros::<f32>(2 * rows as usize);
        let want: Vec<f32> = (0..rows).flat_map(|i| [i as f32; 2]).collect();
        launched!(d, rows_from_the_last(&d.ctx, 2, rows, &mut out), out, want);
    }
}

/// The numbers of a program, in a struct of the user.
#[derive(Clone, Copy)]
struct Sizes {
    n: u32,
    parts: [u32; 2],
}
#[cuweave::graph]
fn named(sizes: Sizes, x: &[f32; sizes.n], out: &mut [f32; sizes.n]) {
    let n = sizes.n;
    let half: u32 = sizes.parts[0];
    let (rest, all) = (n - half, ((n, 1, 1), (1, 1)));
    let (rest, half) = (half, rest);
    copy_to[all](&x, &mut out, n);
    let config = (half.div_ceil(32), 32, 0);
    scale[config](&mut out[..half], 2.0, half);
    let each = per_item(rest);
    scale[each](&mut out[half..half + rest], 3.0, rest);
    let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    scale[one](&mut out[..1], 5.0, 1);
}
#[test]
fn fields_and_configurations_have_names() {
    let d = device();
    let x = d.upload(&[1.0f32; 5]);
    let mut out = d.zeros::<f32>(5);
    let sizes = Sizes { n: 5, parts: [2, 3] };
    launched!(d, named(&d.ctx, sizes, &x, &mut out), out, [10.0, 2.0, 2.0, 3.0, 3.0]);
}
