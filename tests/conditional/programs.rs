//! Programs with conditionals as users write them: all forms of operands, nesting, names, limits, calls and buffers
//! that are handed over.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
    fn modulo(x: &[u32; 1], y: &mut [MaybeUninit<u32>; 1], by: u32);
}
fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

macro_rules! check {
    ($program:ident, $x:expr, $flag:expr, $expected:expr) => {{
        let device = alone();
        for seed in 0..4 {
            device.schedule(seed);
            let (mut x, mut flag) = (device.upload(&[$x as u32; 8]), device.upload(&[$flag as u32]));
            let graph = $program(&device.ctx, 8, &mut x, &mut flag).expect("it builds");
            let mut exec = graph.instantiate().expect("an exec");
            exec.launch(&device.stream).expect("a launch");
            drop(exec);
            assert_eq!(device.download(&x)[0], $expected, "{}", stringify!($program));
            device.nothing_reported();
        }
    }};
}

#[cuweave::graph]
fn negated(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if !(!flag) {
        mix[per_item(n)](&mut x, 1, n);
    }
    if (flag) {
        mix[per_item(n)](&mut x, 2, n);
    }
    if *flag {
        mix[per_item(n)](&mut x, 3, n);
    }
    if &flag {
        mix[per_item(n)](&mut x, 4, n);
    }
}
#[test]
fn operands_may_stand_in_parentheses_and_borrowed() {
    check!(negated, 5, 1, step(step(step(step(5, 1), 2), 3), 4));
    check!(negated, 5, 0, 5);
}

#[cuweave::graph]
fn chain(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let other = alloc::<u32>(1);
    modulo[(1, 1)](&x[..1], &mut other, 2);
    if flag {
        mix[per_item(n)](&mut x, 1, n);
    } else if n > 100 {
        mix[per_item(n)](&mut x, 2, n);
    } else if other {
        mix[per_item(n)](&mut x, 3, n);
    } else {
        mix[per_item(n)](&mut x, 4, n);
    }
}
#[test]
fn chains_mix_choices_of_the_build_and_the_device() {
    check!(chain, 5, 1, step(5, 1));
    check!(chain, 5, 0, step(5, 4));
    check!(chain, 16, 0, step(16, 3));
}

#[cuweave::graph]
fn shadow(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    while flag {
        let flag2 = alloc::<u32>(1);
        fill(&mut flag2, 2);
        while flag2 {
            mix[per_item(n)](&mut x, 1, n);
            count_down[(1, 1)](&mut flag2);
        }
        count_down[(1, 1)](&mut flag);
    }
}
#[test]
fn loops_nest() {
    check!(shadow, 5, 2, (0..4).fold(5, |x, _| step(x, 1)));
}

#[cuweave::graph]
fn parts(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let flags = alloc::<u32>(4);
    fill(&mut flags[..2], 0);
    copy(&flag, &mut flags[2..3]);
    fill(&mut flags[3..], 1);
    let third = &flags[2..3];
    if third {
        mix[per_item(n)](&mut x, 1, n);
    }
    let (lo, hi) = flags.split_at_mut(3);
    if hi {
        mix[per_item(n)](&mut x, 2, n);
    }
    if lo[0..1] {
        mix[per_item(n)](&mut x, 3, n);
    }
}
#[test]
fn parts_of_buffers_decide() {
    check!(parts, 5, 1, step(step(5, 1), 2));
    check!(parts, 5, 0, step(5, 2));
}

#[cuweave::graph]
fn pingpong(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let y = alloc::<u32>(n);
    while flag {
        mixed[per_item(n)](&x, &mut y, 1, n);
        mixed[per_item(n)](&y, &mut x, 2, n);
        count_down[(1, 1)](&mut flag);
    }
}
#[test]
fn two_half_steps_are_a_turn() {
    check!(pingpong, 5, 3, (0..3).fold(5, |x, _| step(step(x, 1), 2)));
}

#[cuweave::graph]
fn total(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    match flag {
        0 => {
            if flag {
                fill(&mut h, 1)
            } else {
                fill(&mut h, 2)
            }
        }
        1 => fill(&mut h, 3),
        _ => {
            mixed[per_item(n)](&x, &mut h, 7, n);
        }
    }
    copy(&h, &mut x);
}
#[test]
fn what_all_arms_write_is_written() {
    check!(total, 5, 0, 2);
    check!(total, 5, 1, 3);
    check!(total, 5, 9, step(5, 7));
}

#[cuweave::graph]
fn after_inside(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        let y = alloc::<u32>(n);
        let a = mixed[per_item(n)](&x, &mut y, 1, n);
        #[after(a)]
        let b = count_down[(1, 1)](&mut flag);
        #[after(b)]
        copy(&y, &mut x);
    }
}
#[test]
fn names_order_statements_of_a_body() {
    check!(after_inside, 5, 4, step(5, 1));
}

#[cuweave::graph]
fn frees(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    copy(&x, &mut h);
    if flag {
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&h, &mut t, 1, n);
        copy(&t, &mut x);
        free(t);
    }
    free(h);
}
#[test]
fn frees_stand_in_bodies_and_behind() {
    check!(frees, 5, 1, step(5, 1));
    check!(frees, 5, 0, 5);
}

#[cuweave::graph]
fn made(n: u32, x: &[u32; n]) -> [u32; n] {
    let h = alloc::<u32>(n);
    mixed[per_item(n)](&x, &mut h, 3, n);
    h
}
#[cuweave::graph]
fn calls_made(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    while flag {
        let h = made(n, &x);
        copy(&h, &mut x);
        count_down[(1, 1)](&mut flag);
    }
}
#[test]
fn returned_allocations_stand_in_bodies() {
    check!(calls_made, 5, 3, (0..3).fold(5, |x, _| step(x, 3)));
}

#[cuweave::graph]
fn swaps(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        let a = alloc::<u32>(n);
        let b = alloc::<u32>(n);
        copy(&x, &mut a);
        for i in 0..3u32 {
            mixed[per_item(n)](&a, &mut b, i, n);
            swap(&mut a, &mut b);
        }
        copy(&a, &mut x);
    }
}
#[test]
fn names_of_a_body_are_exchanged_in_it() {
    check!(swaps, 5, 1, (0..3).fold(5, step));
}

#[cuweave::graph]
fn literals(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        0x10 | 1_000u32 => mix[per_item(n)](&mut x, 1, n),
        16 | 4294967295 => mix[per_item(n)](&mut x, 2, n),
        _ => mix[per_item(n)](&mut x, 3, n),
    }
}
#[test]
fn literals_are_integers_of_32_bits() {
    check!(literals, 5, 16, step(5, 1));
    check!(literals, 5, u32::MAX, step(5, 2));
    check!(literals, 5, 7, step(5, 3));
}

#[cuweave::graph]
fn deep(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    if flag {
        if flag {
            if flag {
                if flag {
                    if flag {
                        if flag {
                            mix[per_item(n)](&mut x, 1, n);
                        }
                    }
                }
            }
        }
    }
}
#[test]
fn bodies_nest_deep() {
    check!(deep, 5, 1, step(5, 1));
}

#[cuweave::graph]
fn fills(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    while flag {
        fill(&mut x[..n / 2], 9);
        for i in 0..n / 2 {
            copy(&x[i..i + 1], &mut x[n / 2 + i..n / 2 + i + 1]);
        }
        fill(&mut flag, 0);
    }
}
#[test]
fn fills_and_copies_of_parts_stand_in_bodies() {
    check!(fills, 5, 1, 9);
}

#[cuweave::graph]
fn limits(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    #[at_most(1)]
    while flag {
        mix[per_item(n)](&mut x, 1, n);
    }
    #[at_most(4294967295)]
    while flag {
        count_down[(1, 1)](&mut flag);
    }
    match flag {
        0 => (),
        _ => {}
    }
    if flag {
    } else {
    }
}
#[test]
fn limits_and_empty_arms() {
    check!(limits, 5, 3, step(5, 1));
}

#[cuweave::graph]
fn lints(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    #[allow(unused)]
    if flag {
        mix[per_item(n)](&mut x, 1, n);
    }
    #[allow(deprecated)]
    #[at_most(2)]
    'named: while flag {
        mix[per_item(n)](&mut x, 1, n);
        count_down[(1, 1)](&mut flag);
    }
}
#[test]
fn lints_and_labels_stand_on_conditions() {
    check!(lints, 5, 1, step(step(5, 1), 1));
}

#[cuweave::graph(memory = "arena", budget = 1 << 20, launches = "batched")]
fn budgeted(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let flags = alloc::<u32>(2);
    fill(&mut flags, 1);
    for i in 0..2 {
        if flags[i..i + 1] {
            let t = alloc::<u32>(n);
            mixed[per_item(n)](&x, &mut t, 1, n);
            copy(&t, &mut x);
        }
    }
    if flag {
        fill(&mut flags, 0);
    }
}
#[test]
fn a_budget_holds() {
    check!(budgeted, 5, 1, step(step(5, 1), 1));
}

#[cuweave::graph]
fn array(n: u32, flags: [&mut [u32; 1]; 2], x: &mut [u32; n]) {
    for flag in flags {
        while flag {
            mix[per_item(n)](&mut x, 1, n);
            count_down[(1, 1)](&mut flag);
        }
    }
    if !flags[0] {
        mix[per_item(n)](&mut x, 2, n);
    }
}
#[test]
fn elements_of_an_array_decide() {
    let device = alone();
    let mut x = device.upload(&[5u32; 8]);
    let [mut a, mut b] = [1u32, 2].map(|w| device.upload(&[w]));
    let mut exec =
        array(&device.ctx, 8, [&mut a, &mut b], &mut x).expect("builds").instantiate().expect("exec");
    exec.launch(&device.stream).expect("launch");
    drop(exec);
    assert_eq!(device.download(&x)[0], step((0..3).fold(5, |x, _| step(x, 1)), 2));
    device.nothing_reported();
}

#[cuweave::graph]
fn producer(v: u32) -> [u32; 1] {
    let go = alloc::<u32>(1);
    fill(&mut go, v);
    go
}
#[cuweave::graph]
fn consumer(n: u32, go: [u32; 1], x: &mut [u32; n]) {
    while go {
        mix[per_item(n)](&mut x, 1, n);
        count_down[(1, 1)](&mut go);
    }
}
#[test]
fn a_buffer_of_another_graph_decides() {
    let device = alone();
    let mut x = device.upload(&[5u32; 8]);
    let mut first = producer(&device.ctx, 3).expect("builds").instantiate().expect("exec");
    let mut second =
        consumer(&device.ctx, 8, first.output(), &mut x).expect("builds").instantiate().expect("exec");
    let out = first.launch(&device.stream).expect("launch");
    second.launch(&device.stream, (out,)).expect("launch");
    drop(second);
    assert_eq!(device.download(&x)[0], (0..3).fold(5, |x, _| step(x, 1)));
    device.nothing_reported();
}

#[cuweave::graph]
fn fresh(n: u32, x: &mut [u32; n], flag: &mut [MaybeUninit<u32>; 1]) {
    fill(&mut flag, 2);
    while flag {
        mix[per_item(n)](&mut x, 1, n);
        count_down[(1, 1)](&mut flag);
    }
}
#[test]
fn a_flag_may_be_written_first() {
    check!(fresh, 5, 0, step(step(5, 1), 1));
}

#[cuweave::graph]
fn hosted(n: u32, deep: bool, steps: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    for i in 0..steps {
        if deep {
            if flag {
                mix[per_item(n)](&mut x, i, n);
            } else {
                mix[per_item(n)](&mut x, 7, n);
            }
        } else if i == 0 {
            match flag {
                1 => mix[per_item(n)](&mut x, 8, n),
                _ => {}
            }
        }
    }
}
#[test]
fn choices_of_the_build_hold_conditions() {
    let device = alone();
    for deep in [true, false] {
        let (mut x, mut flag) = (device.upload(&[5u32; 8]), device.upload(&[1u32]));
        let mut exec =
            hosted(&device.ctx, 8, deep, 3, &mut x, &mut flag).expect("builds").instantiate().expect("exec");
        exec.launch(&device.stream).expect("launch");
        drop(exec);
        let e = if deep { (0..3).fold(5, step) } else { step(5, 8) };
        assert_eq!(device.download(&x)[0], e);
    }
}
