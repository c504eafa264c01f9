//! Device-side conditionals: `if`, `while` and `match` on buffers, with real PTX, compared with plain Rust.

use crate::decide::*;
use cuweave::prelude::*;
use cuweave_testkit::device::alone;

const N: usize = 40;

/// Runs a program on several schedules with a buffer of `N` elements and a decision. Compares the first element of
/// the buffer and the decision with the result of a function.
macro_rules! agrees {
    ($program:ident, $decisions:expr, $meaning:expr) => {{
        let device = alone();
        for decision in $decisions {
            for seed in 0..6 {
                device.schedule(seed);
                let (mut x, mut flag) = (device.upload(&[7u32; N]), device.upload(&[decision]));
                let graph = $program(&device.ctx, N as u32, &mut x, &mut flag).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
                exec.launch(&device.stream).expect("it launches");
                drop(exec);
                let mut expected = (7u32, decision);
                for _ in 0..2 {
                    expected = ($meaning)(expected.0, expected.1);
                }
                assert_eq!(device.download(&x), [expected.0; N], "{decision}, seed {seed}");
                assert_eq!(device.download(&flag), [expected.1], "{decision}, seed {seed}");
                device.nothing_reported();
            }
        }
    }};
}

#[cuweave::graph]
fn conditional(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    mix[per_item(n)](&mut x, 1, n);
    if flag {
        mix[per_item(n)](&mut x, 2, n);
        mix[per_item(n)](&mut x, 3, n);
    }
    mix[per_item(n)](&mut x, 4, n);
}

#[test]
fn an_if_runs_its_body_where_the_flag_is_not_0() {
    agrees!(conditional, [0u32, 1, 2, u32::MAX], |x, flag| {
        let mut x = step(x, 1);
        if flag != 0 {
            x = step(step(x, 2), 3);
        }
        (step(x, 4), flag)
    });
}

#[cuweave::graph]
fn either(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    if flag {
        // Check that the other arm does not run, too.
        fill(&mut flag, 0);
        mixed[per_item(n)](&x, &mut h, 2, n);
    } else {
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut t, 5, n);
        mixed[per_item(n)](&t, &mut h, 6, n);
        fill(&mut flag, 3);
    }
    mixed[per_item(n)](&h, &mut x, 4, n);
}

#[test]
fn an_arm_does_not_see_what_another_wrote() {
    agrees!(either, [0u32, 1, 2], |x, flag| match flag {
        0 => (step(step(step(x, 5), 6), 4), 3),
        _ => (step(step(x, 2), 4), 0),
    });
}

#[cuweave::graph]
fn countdown(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    copy(&x, &mut h);
    while flag {
        let t = alloc::<u32>(n);
        mixed[per_item(n)](&h, &mut t, 2, n);
        mixed[per_item(n)](&t, &mut h, 3, n);
        count_down[(1, 1)](&mut flag);
    }
    copy(&h, &mut x);
}

#[test]
fn a_while_runs_until_the_flag_is_0() {
    agrees!(countdown, [0u32, 1, 5], |x, flag| { ((0..flag).fold(x, |x, _| step(step(x, 2), 3)), 0) });
}

#[cuweave::graph]
fn limited(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    #[at_most(3)]
    while flag {
        mix[per_item(n)](&mut x, 2, n);
        count_down[(1, 1)](&mut flag);
    }
}

#[test]
fn a_limit_ends_a_loop() {
    agrees!(limited, [0u32, 1, 2, 3, 4, 9], |x, flag: u32| {
        let turns = flag.min(3);
        ((0..turns).fold(x, |x, _| step(x, 2)), flag - turns)
    });
}

#[cuweave::graph]
fn chosen(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    match flag {
        0 => mix[per_item(n)](&mut x, 2, n),
        1 | 7 => {
            mix[per_item(n)](&mut x, 3, n);
            fill(&mut flag, 0);
        }
        2 => {}
        _ => {
            mix[per_item(n)](&mut x, 4, n);
            fill(&mut flag, 1);
        }
    }
}

#[test]
fn a_match_runs_one_arm() {
    agrees!(chosen, [0u32, 1, 2, 3, 7, u32::MAX], |x, flag| match flag {
        0 => (step(x, 2), 0),
        1 | 7 => (step(x, 3), 0),
        2 => (x, 2),
        _ => (step(x, 4), 1),
    });
}

#[cuweave::graph]
fn twice(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
    for i in 0..2u32 {
        let own = alloc::<u32>(1);
        modulo[(1, 1)](&x[..1], &mut own, 3 + i);
        if own {
            mix[per_item(n)](&mut x, 5 + i, n);
        } else if flag {
            count_down[(1, 1)](&mut flag);
        }
    }
}

macro_rules! nested {
    ($($name:ident $memory:literal;)*) => {$(
        #[cuweave::graph(memory = $memory)]
        fn $name(n: u32, x: &mut [u32; n], flag: &mut [u32; 1]) {
            while flag {
                let own = alloc::<u32>(1);
                modulo[(1, 1)](&x[..1], &mut own, 3);
                match own {
                    0 => mix[per_item(n)](&mut x, 1, n),
                    1 => {
                        let again = alloc::<u32>(1);
                        fill(&mut again, 3);
                        while again {
                            twice(n, &mut x, &mut again);
                            #[at_most(1)]
                            while again {
                                count_down[(1, 1)](&mut again);
                            }
                        }
                    }
                    _ => {
                        if !flag {
                            mix[per_item(n)](&mut x, 9, n);
                        } else {
                            mix[per_item(n)](&mut x, 8, n);
                        }
                    }
                }
                count_down[(1, 1)](&mut flag);
            }
        }
    )*};
}
nested! {
    nested "arena";
    nested_in_nodes "nodes";
    nested_in_memory_of_the_exec "owned";
}

fn twice_means(mut x: u32, mut flag: u32) -> (u32, u32) {
    for i in 0..2 {
        if !(x / 16).is_multiple_of(3 + i) {
            x = step(x, 5 + i);
        } else {
            flag = flag.saturating_sub(1);
        }
    }
    (x, flag)
}

#[test]
fn bodies_nest_in_loops_and_calls() {
    agrees!(twice, [0u32, 1, 5], twice_means);
    let meaning = |mut x: u32, flag: u32| {
        for _ in 0..flag {
            match x / 16 % 3 {
                0 => x = step(x, 1),
                1 => {
                    let mut again = 3;
                    while again != 0 {
                        (x, again) = twice_means(x, again);
                        again = again.saturating_sub(1);
                    }
                }
                _ => x = step(x, 8),
            }
        }
        (x, 0)
    };
    agrees!(nested, [0u32, 1, 4, 9], meaning);
    agrees!(nested_in_nodes, [0u32, 4, 9], meaning);
    agrees!(nested_in_memory_of_the_exec, [0u32, 4, 9], meaning);
}
