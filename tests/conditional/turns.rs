//! The iterations of loops with a limit: read after launches, by labels and paths, through calls, arms, outer loops
//! and unrolled ones.

use std::sync::Arc;

use cuweave::prelude::*;
use cuweave::{ArenaPool, LoopIterations};
use cuweave_testkit::device::alone;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: usize = 40;

fn numbers(turns: cuweave::Result<LoopIterations>) -> (u64, u64, u64) {
    let turns = turns.expect("the turns of a loop");
    assert_eq!(turns.limit_hit(), turns.limited > 0);
    (turns.entries, turns.limited, turns.iterations)
}

macro_rules! limited {
    ($($name:ident $memory:literal;)*) => {$(
        #[cuweave::graph(memory = $memory)]
        fn $name(n: u32, x: &mut [u32; n], go: &mut [u32; 1], other: &mut [u32; 1]) {
            let h = alloc::<u32>(n);
            copy(&x, &mut h);
            #[at_most(5)]
            'solve: while go {
                let t = alloc::<u32>(n);
                mixed[per_item(n)](&h, &mut t, 2, n);
                mixed[per_item(n)](&t, &mut h, 3, n);
                count_down[(1, 1)](&mut go);
            }
            // By now, the counter's bytes belong to another buffer.
            let late = alloc::<u32>(n);
            fill(&mut late, 0xffff_ffff);
            mixed[per_item(n)](&late, &mut x, 1, n);
            copy(&h, &mut x);
            #[at_most(2)]
            'never: while !other {
                count_down[(1, 1)](&mut other);
                mix[per_item(n)](&mut x, 4, n);
            }
        }
    )*};
}
limited! {
    in_arena "arena";
    in_nodes "nodes";
    of_exec "owned";
}

#[test]
fn a_limit_is_hit_or_not() {
    let device = alone();
    macro_rules! check {
        ($($program:ident)*) => {$(
            // A loop that stops by itself in its last allowed iteration does not count as limited.
            let cases = [(0u32, (1, 0, 0)), (4, (1, 0, 4)), (5, (1, 0, 5)), (6, (1, 1, 5)), (99, (1, 1, 5))];
            for (wanted, expected) in cases {
                for seed in 0..3 {
                    device.schedule(seed);
                    let mut x = device.upload(&[7u32; N]);
                    let (mut go, mut other) = (device.upload(&[wanted]), device.upload(&[1u32]));
                    let graph = $program(&device.ctx, N as u32, &mut x, &mut go, &mut other).expect("it builds");
                    let mut exec = graph.instantiate().expect("an exec");
                    assert_eq!(numbers(exec.iterations_solve()), (0, 0, 0), "before the first launch");
                    exec.launch(&device.stream).expect("a launch");
                    assert_eq!(numbers(exec.iterations_solve()), expected, "{wanted}");
                    assert_eq!(exec.iterations_solve().expect("turns").at_most, 5);
                    assert_eq!(numbers(exec.iterations("solve")), expected);
                    assert_eq!(numbers(exec.iterations_never()), (1, 0, 0));
                    // Only the last launch counts, with the remaining iterations.
                    exec.launch(&device.stream).expect("a launch");
                    let left = u64::from(wanted.saturating_sub(5));
                    assert_eq!(numbers(exec.iterations_solve()), (1, u64::from(left > 5), left.min(5)), "{wanted}");
                }
            }
        )*};
    }
    check!(in_arena in_nodes of_exec);
    device.nothing_reported();
}

#[test]
fn members_of_a_pool_have_records_of_their_own() {
    let device = alone();
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    let mut x = [(); 2].map(|()| device.upload(&[7u32; N]));
    let mut go = [9u32, 3].map(|turns| device.upload(&[turns]));
    let mut other = [(); 2].map(|()| device.upload(&[1u32]));
    let mut execs: Vec<_> = x
        .iter_mut()
        .zip(&mut go)
        .zip(&mut other)
        .map(|((x, go), other)| {
            let graph = in_arena(&device.ctx, N as u32, x, go, other).expect("it builds");
            graph.instantiate_in(&pool).expect("an exec")
        })
        .collect();
    execs.iter_mut().for_each(|exec| exec.launch(&device.stream).expect("a launch"));
    let found: Vec<_> = execs.iter().map(|exec| numbers(exec.iterations_solve())).collect();
    assert_eq!(found, [(1, 1, 5), (1, 0, 3)]);
    drop(execs);
    device.nothing_reported();
}

#[cuweave::graph]
fn inner(n: u32, x: &mut [u32; n], go: &mut [u32; 1]) {
    #[at_most(3)]
    'turns: while go {
        mix[per_item(n)](&mut x, 2, n);
        count_down[(1, 1)](&mut go);
    }
}

#[cuweave::graph]
fn nested(n: u32, steps: u32, which: &[u32; 1], outer: &mut [u32; 1], x: &mut [u32; n], go: &mut [u32; 4]) {
    // If a body runs several times, the numbers are sums over all entries.
    while outer {
        let own = alloc::<u32>(1);
        fill(&mut own, 5);
        #[at_most(2)]
        'often: while own {
            count_down[(1, 1)](&mut own);
            mix[per_item(n)](&mut x, 1, n);
        }
        count_down[(1, 1)](&mut outer);
    }
    // In one of several arms.
    match which {
        0 => {
            inner(n, &mut x, &mut go[..1]);
        }
        1 => {
            inner(n, &mut x, &mut go[1..2]);
        }
        _ => {}
    }
    // In a loop that is unrolled at build time, and through a path of calls.
    for i in 0..steps {
        let own = alloc::<u32>(1);
        fill(&mut own, 2 + i);
        inner(n, &mut x, &mut own);
        #[at_most(1)]
        'each: while own {
            count_down[(1, 1)](&mut own);
        }
    }
}

#[test]
fn entries_add_up_in_bodies_and_turns() {
    let device = alone();
    for (which, outer) in [(0u32, 3u32), (1, 0), (2, 1)] {
        for seed in 0..3 {
            device.schedule(seed);
            let mut x = device.upload(&[7u32; N]);
            let (chosen, mut left) = (device.upload(&[which]), device.upload(&[outer]));
            let mut go = device.upload(&[9u32, 1, 0, 0]);
            let graph =
                nested(&device.ctx, N as u32, 3, &chosen, &mut left, &mut x, &mut go).expect("it builds");
            let mut exec = graph.instantiate().expect("an exec");
            exec.launch(&device.stream).expect("a launch");
            let times = u64::from(outer);
            assert_eq!(numbers(exec.iterations_often()), (times, times, 2 * times));
            // Two calls with the same path: their sum.
            let called = [(1, 1, 3), (1, 0, 1), (0, 0, 0)][which as usize];
            assert_eq!(numbers(exec.iterations("inner.turns")), called);
            // With flags of 2, 3 and 4, the loop has 2, 3 and 3 iterations; the limit ends the last.
            let of_turn: Vec<_> =
                (0..3).map(|i| numbers(exec.iterations(&format!("inner[{i}].turns")))).collect();
            assert_eq!(of_turn, [(1, 0, 2), (1, 0, 3), (1, 1, 3)]);
            // It is one loop in the source, so its iterations add up.
            assert_eq!(numbers(exec.iterations_each()), (3, 0, 1));
            // The loop is not entered again: the numbers are zero, not those of the previous launch.
            exec.launch(&device.stream).expect("a launch");
            assert_eq!(numbers(exec.iterations_often()), (0, 0, 0));
            let error = exec.iterations("turns").expect_err("it is in calls").to_string();
            assert!(error.contains("`nested`: no bounded loop is called `turns`"), "{error}");
            assert!(error.contains("[0].turns`") && error.contains("`often`"), "{error}");
        }
    }
    device.nothing_reported();
}

#[cuweave::graph]
fn unnamed(n: u32, x: &mut [u32; n], one: &mut [u32; 1], two: &mut [u32; 1]) {
    #[at_most(2)]
    while one {
        mix[per_item(n)](&mut x, 1, n);
    }
    #[at_most(3)]
    while two {
        mix[per_item(n)](&mut x, 2, n);
    }
    // A label without a limit is only a name in reports.
    'down: while two {
        count_down[(1, 1)](&mut two);
    }
}

#[test]
fn loops_of_one_name_are_told_apart() {
    let device = alone();
    let mut x = device.upload(&[7u32; N]);
    let (mut one, mut two) = (device.upload(&[1u32]), device.upload(&[1u32]));
    let graph = unnamed(&device.ctx, N as u32, &mut x, &mut one, &mut two).expect("it builds");
    assert!(graph.dot().contains("down"), "{}", graph.dot());
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    let error = exec.iterations("while").expect_err("which one?").to_string();
    assert_eq!(
        error,
        "`unnamed`: 2 bounded loops are called `while`: give each a label, as in `'solve: while go { .. }`"
    );
    let error = exec.iterations("down").expect_err("it has no limit").to_string();
    assert_eq!(error, "`unnamed`: no bounded loop is called `down`: those with a limit are `while`");
    drop(exec);
    device.nothing_reported();
}

/// Reading waits for the launch, even on another thread and while the stream of the launch captures.
#[test]
fn a_read_waits_for_the_last_launch() {
    let device = alone();
    let (mut x, mut go) = (device.upload(&[7u32; N]), device.upload(&[9u32]));
    let graph = inner(&device.ctx, N as u32, &mut x, &mut go).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let stream: Arc<_> = device.ctx.new_stream().expect("a stream");
    for expected in [(1, 1, 3), (1, 1, 3), (1, 0, 3), (1, 0, 0)] {
        exec.launch(&stream).expect("a launch");
        let found = std::thread::scope(|scope| {
            let exec = &mut exec;
            scope.spawn(move || numbers(exec.iterations_turns())).join().expect("no panic")
        });
        assert_eq!(found, expected);
    }
    let profile = exec.profile(&stream, 2).expect("a profile");
    assert!(profile.to_string().contains("turns"), "{profile}");
    assert_eq!(numbers(exec.iterations_turns()), (1, 0, 0));
    drop(exec);
    device.nothing_reported();
}

#[cuweave::graph]
fn solved(n: u32, go: &mut [u32; 1], x: &mut [u32; n]) {
    #[at_most(5)]
    'solve: while go {
        mix[per_item(n)](&mut x, 2, n);
        count_down[(1, 1)](&mut go);
    }
}

#[cuweave::graph]
fn returning(n: u32, go: &mut [u32; 1], again: &mut [u32; 1]) -> [u32; n] {
    let h = alloc::<u32>(n);
    fill(&mut h, 1);
    solved(n, &mut go, &mut h);
    solved(n, &mut again, &mut h);
    h
}
/// The line of the first call in `returning`.
const CALLED: u32 = line!() - 5;

/// The exec is borrowed while its output lives.
#[test]
fn an_output_tells_the_turns_of_its_launch() {
    let device = alone();
    let (mut go, mut again) = (device.upload(&[3u32]), device.upload(&[9u32]));
    let graph = returning(&device.ctx, N as u32, &mut go, &mut again).expect("it builds");
    let mut exec = graph.instantiate().expect("an exec");
    let output = exec.launch(&device.stream).expect("a launch");
    let [first, second] = [CALLED, CALLED + 1].map(|line| format!("solved:{line}.solve"));
    assert_eq!(numbers(output.iterations(&first)), (1, 0, 3));
    assert_eq!(numbers(output.iterations(&second)), (1, 1, 5));
    assert_eq!(numbers(output.iterations("solved.solve")), (2, 1, 8), "both calls");
    drop(output);
    assert_eq!(numbers(exec.iterations("solved.solve")), (2, 1, 8));
    drop(exec);
    device.nothing_reported();
}
