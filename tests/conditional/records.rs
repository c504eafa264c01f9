//! Conditionals on fields of records and elements of lists, with real PTX, compared with plain Rust.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

const N: usize = 40;

fn step(x: u32, by: u32) -> u32 {
    x.wrapping_mul(31).wrapping_add(by)
}

/// The state of a loop.
#[cuweave::arguments]
struct State {
    n: u32,
    /// Decided when the graph is built.
    more: bool,
    active: &mut [u32; 1],
    kind: &[u32; 1],
    flags: &[u32; n],
    x: &mut [u32; n],
}

#[cuweave::graph]
fn turn(state: State<'_>) {
    let n = state.n;
    if &state.kind {
        mix[per_item(n)](&mut state.x, 2, n);
    } else {
        mix[per_item(n)](&mut state.x, 3, n);
    }
    count_down[(1, 1)](&mut state.active);
}

#[cuweave::graph]
fn looped(state: State<'_>) {
    let n = state.n;
    while state.active {
        turn(record(state));
        if state.more {
            mix[per_item(n)](&mut state.x, 4, n);
        }
        if !&state.flags[1..2] {
            mix[per_item(n)](&mut state.x, 5, n);
        }
    }
    let kind = &state.kind;
    match kind {
        0 => mix[per_item(n)](&mut state.x, 6, n),
        2 | 3 => mix[per_item(n)](&mut state.x, 7, n),
        _ => {}
    }
}

#[test]
fn a_loop_runs_by_a_field() {
    let device = alone();
    for (turns, kind, more, flag) in
        [(0u32, 0u32, true, 0u32), (3, 2, true, 1), (5, 1, false, 0), (2, 0, false, 7)]
    {
        for seed in 0..4 {
            device.schedule(seed);
            let mut x = device.upload(&[7u32; N]);
            let (mut active, kind_of) = (device.upload(&[turns]), device.upload(&[kind]));
            let mut flags = [9u32; N];
            flags[1] = flag;
            let flags = device.upload(&flags);
            {
                let state = State::new(N as u32, more, &mut active, &kind_of, &flags, &mut x);
                let graph = looped(&device.ctx, state).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&device.stream).expect("it launches");
            }
            let mut expected = 7;
            for _ in 0..turns {
                expected = step(expected, if kind != 0 { 2 } else { 3 });
                expected = if more { step(expected, 4) } else { expected };
                expected = if flag == 0 { step(expected, 5) } else { expected };
            }
            expected = match kind {
                0 => step(expected, 6),
                2 | 3 => step(expected, 7),
                _ => expected,
            };
            assert_eq!(device.download(&x), [expected; N], "{turns}, {kind}, seed {seed}");
            assert_eq!(device.download(&active), [0]);
            device.nothing_reported();
        }
    }
}

#[cuweave::graph]
fn listed(
    n: u32,
    k: usize,
    flags: &[&[u32; 1]],
    four: [&[u32; 1]; 2],
    states: &[State<'_>],
    x: &mut [u32; n],
) {
    for flag in &flags {
        if flag {
            mix[per_item(n)](&mut x, 2, n);
        }
    }
    if flags[k] {
        mix[per_item(n)](&mut x, 3, n);
    }
    for i in 0..k {
        if four[i] {
            mix[per_item(n)](&mut x, 4, n);
        } else if &states[i].kind {
            mix[per_item(n)](&mut x, 5, n);
        }
    }
    for state in &states {
        while state.active {
            turn(record(state));
        }
    }
}

#[test]
fn elements_of_lists_decide() {
    let device = alone();
    for bits in 0..32u32 {
        device.schedule(bits.into());
        let bit = |at: u32| bits >> at & 1;
        let flag = |at: u32| device.upload(&[bit(at)]);
        let (flags, four, kinds) = ([flag(0), flag(1)], [flag(2), flag(3)], [flag(3), flag(4)]);
        let mut actives = [device.upload(&[bit(4)]), device.upload(&[2u32])];
        let mut xs = [(); 2].map(|()| device.upload(&[3u32; N]));
        let mut x = device.upload(&[7u32; N]);
        let nothing = device.upload(&[0u32; N]);
        {
            let states = actives.iter_mut().zip(&kinds).zip(&mut xs);
            let states =
                states.map(|((active, kind), x)| State::new(N as u32, false, active, kind, &nothing, x));
            let states: Vec<_> = states.collect();
            let bound = vec![&flags[0], &flags[1]];
            let graph = listed(&device.ctx, N as u32, 1, bound, [&four[0], &four[1]], states, &mut x);
            let mut exec = graph.expect("it builds").instantiate().expect("it instantiates");
            exec.launch(&device.stream).expect("it launches");
        }
        let mut expected = 7;
        for at in [0, 1] {
            expected = if bit(at) != 0 { step(expected, 2) } else { expected };
        }
        expected = if bit(1) != 0 { step(expected, 3) } else { expected };
        expected = match (bit(2), bit(3)) {
            (1, _) => step(expected, 4),
            (_, 1) => step(expected, 5),
            _ => expected,
        };
        assert_eq!(device.download(&x), [expected; N], "{bits:b}");
        for (at, (x, turns)) in xs.iter().zip([bit(4), 2]).enumerate() {
            let by = if bit(3 + at as u32) != 0 { 2 } else { 3 };
            assert_eq!(device.download(x), [(0..turns).fold(3, |x, _| step(x, by)); N], "{bits:b}");
        }
        device.nothing_reported();
    }
}

#[cuweave::graph]
fn too_long(state: State<'_>) {
    let n = state.n;
    if &state.flags {
        mix[per_item(n)](&mut state.x, 2, n);
    }
}

#[test]
fn a_field_of_several_elements_does_not_decide() {
    let device = alone();
    let [mut x, flags] = [(); 2].map(|()| device.upload(&[7u32; N]));
    let (mut active, kind) = (device.upload(&[1u32]), device.upload(&[1u32]));
    let state = State::new(N as u32, false, &mut active, &kind, &flags, &mut x);
    let error = too_long(&device.ctx, state).expect_err("40 elements").to_string();
    assert!(error.contains("`if` needs a buffer of one element, but `state.flags` has 40"), "{error}");
    assert!(error.contains("tests/conditional/records.rs:"), "{error}");
}
