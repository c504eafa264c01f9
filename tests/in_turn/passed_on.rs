//! A graph takes an allocation over and returns it, so that a third graph takes it from there: no use after the free,
//! and no leak, whatever is dropped or forgotten in whatever order.

use cuweave::Error;
use cuweave::builder::{Builder, Memory};
use cuweave::error::OutputFault;
use cuweave::prelude::*;
use cuweave_testkit::device::{Device, alone, simulated_alone};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

const N: u32 = 8;

#[cuweave::graph]
fn made(n: u32, first: f32) -> [f32; n] {
    let h = alloc::<f32>(n);
    iota[per_item(n)](&mut h, first, n);
    h
}

macro_rules! chains {
    ($($memory:literal $passed:ident $taken:ident $exchanged:ident $called:ident $turned:ident)*) => {$(
        /// h = a (h + h), through a temporary.
        #[cuweave::graph(memory = $memory)]
        fn $passed(n: u32, a: f32, h: [f32; n]) -> [f32; n] {
            let t = alloc::<f32>(n);
            add[per_item(n)](&h, &h, &mut t, n);
            copy(&t, &mut h);
            scale[per_item(n)](&mut h, a, n);
            h
        }

        #[cuweave::graph(memory = $memory)]
        fn $taken(n: u32, h: [f32; n], out: &mut [f32; n]) {
            copy(&h, &mut out);
        }

        /// Returns both in the other order, and their sum between them.
        #[cuweave::graph(memory = $memory)]
        fn $exchanged(n: u32, x: [f32; n], y: [f32; n]) -> ([f32; n], [f32; n], [f32; n]) {
            let sum = alloc::<f32>(n);
            add[per_item(n)](&x, &y, &mut sum, n);
            scale[per_item(n)](&mut x, 2.0, n);
            scale[per_item(n)](&mut y, 3.0, n);
            (y, sum, x)
        }

        /// Functions that return what they take over are called, in a loop and in a choice.
        #[cuweave::graph(memory = $memory)]
        fn $called(n: u32, rounds: u32, again: bool, h: [f32; n]) -> ([f32; n], [f32; n]) {
            for i in 0..rounds {
                h = $passed(n, 1.0 + i as f32, h);
            }
            if again {
                h = $passed(n, 10.0, h);
            }
            let own = alloc::<f32>(n);
            copy(&h, &mut own);
            let own = $passed(n, 0.5, own);
            scale[per_item(n)](&mut own, -1.0, n);
            (own, h)
        }

        /// The name of what is returned denotes the argument after an even number of rounds. Otherwise the graph frees
        /// the argument, and returns its own allocation.
        #[cuweave::graph(memory = $memory)]
        fn $turned(n: u32, rounds: u32, h: [f32; n]) -> [f32; n] {
            let t = alloc::<f32>(n);
            for _ in 0..rounds {
                add[per_item(n)](&h, &h, &mut t, n);
                swap(&mut h, &mut t);
            }
            h
        }
    )*};
}
chains! {
    "arena" passed_arena taken_arena exchanged_arena called_arena turned_arena
    "nodes" passed_nodes taken_nodes exchanged_nodes called_nodes turned_nodes
    "owned" passed_owned taken_owned exchanged_owned called_owned turned_owned
}

/// It neither reads nor writes what it returns.
#[cuweave::graph]
fn through(n: u32, h: [f32; n]) -> [f32; n] {
    h
}

fn ramp(first: f32, by: f32) -> Vec<f32> {
    (0..N).map(|at| by * (first + at as f32)).collect()
}

/// Builds and instantiates a graph.
macro_rules! exec {
    ($function:ident, $device:expr, $($argument:expr),*) => {
        $function(&$device.ctx, N, $($argument),*).expect("it builds").instantiate().expect("it instantiates")
    };
}

/// Runs `case` with exclusive use of the device. It must not leak.
fn leaves_nothing(case: impl Fn(&Device)) {
    let device = alone();
    case(&device); // Modules and pools stay.
    let before = device.live();
    case(&device);
    device.stream.synchronize().expect("all is well");
    device.nothing_reported();
    assert_eq!(device.live().map(|live| live.allocations), before.map(|live| live.allocations));
    assert_eq!(device.live().map(|live| live.bytes), before.map(|live| live.bytes));
}

macro_rules! each {
    ($device:ident, $case:ident: $($($function:ident)*),*) => {{
        $($case!($device, $($function)*);)*
    }};
}

fn is_alive<T>(launched: cuweave::Result<T>) {
    let expected =
        "this output of the previous launch is still alive: another graph took it over and passed it on";
    match launched.map(drop) {
        Err(error @ Error::WrongOutput { reason: OutputFault::StillLives, .. }) => {
            assert!(error.to_string().contains(expected), "{error}");
        }
        other => panic!("its memory is in use: {other:?}"),
    }
}

/// From graph to graph in three streams, several times, under several schedules.
#[test]
fn an_allocation_goes_from_graph_to_graph() {
    macro_rules! case {
        ($device:ident, $passed:ident $taken:ident) => {{
            let device = $device;
            let streams = [device.stream.clone(), device.new_stream(), device.new_stream()];
            let mut out = device.zeros::<f32>(N as usize);
            let mut a = exec!(made, device, 1.0);
            let mut b = exec!($passed, device, 1.5, a.output());
            let mut c = exec!($taken, device, b.output(), &mut out);
            for seed in 0..6 {
                device.schedule(seed);
                let stream = |at: u64| &streams[(at + seed) as usize % 3];
                let h = a.launch(stream(0)).expect("a launch");
                let h = b.launch(stream(1), (h,)).expect("it takes over");
                assert_eq!(device.download(&h), ramp(1.0, 3.0));
                is_alive(a.launch(stream(0)));
                c.launch(stream(2), (h,)).expect("it takes over");
            }
            device.schedule(0);
            // Not handed on, it is freed.
            let h = a.launch(&streams[0]).expect("a launch");
            drop(b.launch(&streams[1], (h,)).expect("it takes over"));
            // The memory is the same, so the third graph also takes it from the first one.
            let h = a.launch(&streams[0]).expect("a launch");
            c.launch(&streams[2], (h,)).expect("it takes over");
            drop(c);
            assert_eq!(device.download(&out), ramp(1.0, 1.0));
        }};
    }
    leaves_nothing(|device| {
        each!(device, case: passed_arena taken_arena, passed_nodes taken_nodes, passed_owned taken_owned);
    });
}

/// The second graph neither reads nor writes it.
#[test]
fn a_graph_without_statements_passes_an_allocation_on() {
    leaves_nothing(|device| {
        let mut out = device.zeros::<f32>(N as usize);
        let mut a = exec!(made, device, 4.0);
        let mut b = exec!(through, device, a.output());
        let mut c = exec!(taken_arena, device, b.output(), &mut out);
        for _ in 0..2 {
            let h = a.launch(&device.stream).expect("a launch");
            let h = b.launch(&device.new_stream(), (h,)).expect("it takes over");
            c.launch(&device.new_stream(), (h,)).expect("it takes over");
        }
        drop(c);
        assert_eq!(device.download(&out), ramp(4.0, 1.0));
    });
}

/// Between two graphs to and fro, before a third one takes it.
#[test]
fn an_allocation_goes_to_and_fro() {
    leaves_nothing(|device| {
        let (one, other) = (device.new_stream(), device.new_stream());
        let mut out = device.zeros::<f32>(N as usize);
        let mut a = exec!(made, device, 1.0);
        let mut b = exec!(passed_arena, device, 1.0, a.output());
        let mut back = exec!(passed_nodes, device, 0.25, b.output());
        let mut c = exec!(taken_owned, device, back.output(), &mut out);
        for _ in 0..3 {
            let mut h =
                b.launch(&one, (a.launch(&device.stream).expect("a launch"),)).expect("it takes over");
            for _ in 0..4 {
                let there = back.launch(&other, (h,)).expect("it takes over");
                h = b.launch(&one, (there,)).expect("it takes over");
            }
            let h = back.launch(&other, (h,)).expect("it takes over");
            c.launch(&one, (h,)).expect("it takes over");
        }
        drop(c);
        assert_eq!(device.download(&out), ramp(1.0, 1.0));
    });
}

/// Two are returned in the other order, beside one that the graph makes.
#[test]
fn two_allocations_are_exchanged() {
    macro_rules! case {
        ($device:ident, $exchanged:ident) => {{
            let (device, stream) = ($device, &$device.stream);
            let mut outs = [1, 2, 3].map(|_| device.zeros::<f32>(N as usize));
            let [first, second, third] = &mut outs;
            let (mut x, mut y) = (exec!(made, device, 1.0), exec!(made, device, 10.0));
            let mut b = exec!($exchanged, device, x.output(), y.output());
            let (of_y, of_sum, of_x) = b.output();
            let mut one = exec!(taken_arena, device, of_y, first);
            let mut two = exec!(taken_nodes, device, of_sum, second);
            let mut three = exec!(taken_owned, device, of_x, third);
            for turn in 0..3 {
                let handed = (x.launch(stream).expect("a launch"), y.launch(stream).expect("a launch"));
                let (hy, sum, hx) = b.launch(&device.new_stream(), handed).expect("it takes over");
                is_alive(x.launch(stream));
                if turn == 1 {
                    let error = one.launch(stream, (hx,)).expect_err("it was built for another");
                    let is_another = |reason| matches!(reason, OutputFault::Another);
                    assert!(
                        matches!(error, Error::WrongOutput { reason, .. } if is_another(reason)),
                        "{error}"
                    );
                    drop(x.launch(stream).expect("the other was freed"));
                    is_alive(y.launch(stream));
                } else {
                    three.launch(stream, (hx,)).expect("it takes over");
                }
                one.launch(stream, (hy,)).expect("it takes over");
                two.launch(&device.new_stream(), (sum,)).expect("it takes over");
            }
            drop((one, two, three));
            let expected = [ramp(10.0, 3.0), ramp(5.5, 2.0), ramp(1.0, 2.0)];
            assert_eq!(outs.map(|out| device.download(&out)), expected);
        }};
    }
    leaves_nothing(|device| each!(device, case: exchanged_arena, exchanged_nodes, exchanged_owned));
}

#[test]
fn called_functions_return_what_they_take_over() {
    macro_rules! case {
        ($device:ident, $called:ident) => {{
            let (device, stream) = ($device, &$device.stream);
            for again in [false, true] {
                let mut a = exec!(made, device, 1.0);
                let mut b = exec!($called, device, 3, again, a.output());
                for _ in 0..2 {
                    let h = a.launch(stream).expect("a launch");
                    let (own, h) = b.launch(stream, (h,)).expect("it takes over");
                    let by = if again { 960.0 } else { 48.0 };
                    assert_eq!((device.download(&own), device.download(&h)), (ramp(1.0, -by), ramp(1.0, by)));
                    drop(own);
                    is_alive(a.launch(stream));
                }
            }
        }};
    }
    leaves_nothing(|device| each!(device, case: called_arena, called_nodes, called_owned));
}

#[test]
fn names_are_swapped_with_what_is_taken_over() {
    macro_rules! case {
        ($device:ident, $turned:ident) => {{
            let (device, stream) = ($device, &$device.stream);
            for rounds in 0..4 {
                let mut a = exec!(made, device, 1.0);
                let mut b = exec!($turned, device, rounds, a.output());
                for _ in 0..2 {
                    let h = b.launch(stream, (a.launch(stream).expect("a launch"),)).expect("it takes over");
                    assert_eq!(device.download(&h), ramp(1.0, f32::from(1u8 << rounds)));
                    match rounds % 2 {
                        0 => is_alive(a.launch(stream)),
                        _ => drop(a.launch(stream).expect("the argument was freed")),
                    }
                }
            }
        }};
    }
    leaves_nothing(|device| each!(device, case: turned_arena, turned_nodes, turned_owned));
}

/// Everything ends in every order, each dropped or forgotten, while the allocation is with the second graph or the
/// third one.
#[test]
fn everything_ends_in_every_order() {
    let device = alone();
    let run = |order: &[usize], forgets: bool, goes_on: bool| {
        let streams = [device.stream.clone(), device.new_stream(), device.new_stream()];
        let out = device.zeros::<f32>(N as usize);
        let mut a = exec!(made, device, 1.0);
        let mut b = exec!(passed_arena, device, 0.5, a.output());
        let mut c = exec!(taken_arena, device, b.output(), out);
        let h = a.launch(&streams[0]).expect("a launch");
        let h = b.launch(&streams[1], (h,)).expect("it takes over");
        if goes_on {
            c.launch(&streams[2], (h,)).expect("it takes over");
        } else if forgets {
            std::mem::forget(h);
        } else {
            drop(h);
        }
        let (mut a, mut b, mut c) = (Some(a), Some(b), Some(c));
        for &which in order {
            match which {
                0 => drop(a.take()),
                1 => drop(b.take()),
                _ => drop(c.take()),
            }
            if let (Some(a), true) = (&mut a, goes_on || !forgets || b.is_none()) {
                assert_eq!(device.download(&a.launch(&streams[2]).expect("a launch")), ramp(1.0, 1.0));
            } else if let Some(a) = &mut a {
                is_alive(a.launch(&streams[0]));
            }
        }
    };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let all = || {
        for (seed, order) in (0..).zip(orders) {
            device.schedule(seed);
            for (forgets, goes_on) in [(false, false), (true, false), (false, true)] {
                run(&order, forgets, goes_on);
            }
        }
        device.schedule(0);
        device.stream.synchronize().expect("all is well");
    };
    all();
    let before = device.live();
    all();
    device.nothing_reported();
    assert_eq!(device.live().map(|live| live.allocations), before.map(|live| live.allocations));
    assert_eq!(device.live().map(|live| live.bytes), before.map(|live| live.bytes));
}

/// The maker is dropped while the second graph's output lives. It is still used, bound, and taken over.
#[test]
fn an_allocation_outlives_its_maker() {
    leaves_nothing(|device| {
        let stream = &device.stream;
        let mut out = device.zeros::<f32>(N as usize);
        let mut a = exec!(made, device, 2.0);
        let mut b = exec!(passed_arena, device, 0.5, a.output());
        let h = b.launch(stream, (a.launch(stream).expect("a launch"),)).expect("it takes over");
        drop(a);
        // Other graphs allocate meanwhile.
        let mut other = exec!(made, device, 7.0);
        let others = other.launch(stream).expect("a launch");
        assert_eq!(device.download(&h), ramp(2.0, 1.0));
        let mut c = exec!(taken_nodes, device, &h, &mut out);
        c.launch(&device.new_stream(), (h,)).expect("it takes over");
        assert_eq!(device.download(&others), ramp(7.0, 1.0));
        drop(c);
        assert_eq!(device.download(&out), ramp(2.0, 1.0));
        // Now it has ended.
        let error = taken_nodes(&device.ctx, N, b.output(), &mut out).expect_err("nothing makes it");
        let is_gone = matches!(error, Error::WrongOutput { reason: OutputFault::GraphGone, .. });
        assert!(is_gone, "{error}");
    });
}

/// One allocation cannot be two arguments.
#[test]
fn one_allocation_is_handed_over_once() {
    leaves_nothing(|device| {
        let a = exec!(made, device, 1.0);
        let error = exchanged_arena(&device.ctx, N, a.output(), a.output()).expect_err("they overlap");
        assert!(matches!(error, Error::Overlap { .. }), "{error}");
    });
}

/// No node frees what is returned, so a setter gives the graph another output, also at another address.
#[test]
fn another_output_is_set() {
    macro_rules! case {
        ($device:ident, $passed:ident $taken:ident) => {{
            let (device, stream) = ($device, &$device.stream);
            let mut out = device.zeros::<f32>(N as usize);
            let (mut x, mut y) = (exec!(made, device, 1.0), exec!(made, device, 10.0));
            let mut b = exec!($passed, device, 0.5, x.output());
            // Forgotten: the setter frees it.
            std::mem::forget(
                b.launch(stream, (x.launch(stream).expect("a launch"),)).expect("it takes over"),
            );
            b.set_h(y.output()).expect("no node frees it");
            assert_eq!(device.download(&x.launch(stream).expect("it was freed")), ramp(1.0, 1.0));
            let error = b.launch(stream, (x.launch(stream).expect("a launch"),)).map(drop);
            let error = error.expect_err("it takes over the other one now");
            let is_another = matches!(error, Error::WrongOutput { reason: OutputFault::Another, .. });
            assert!(is_another, "{error}");
            let mut c = exec!($taken, device, b.output(), &mut out);
            for _ in 0..2 {
                let h = b.launch(stream, (y.launch(stream).expect("a launch"),)).expect("it takes over");
                is_alive(y.launch(stream));
                drop(x.launch(stream).expect("a launch"));
                c.launch(stream, (h,)).expect("it takes over");
            }
            b.set_a(5.0).expect("a scalar");
            b.set_h(x.output()).expect("no node frees it");
            let h = b.launch(stream, (x.launch(stream).expect("a launch"),)).expect("it takes over");
            assert_eq!(device.download(&h), ramp(1.0, 10.0));
            assert!(matches!(c.set_h(h.description()), Err(Error::BuildAgain { .. })), "a node frees it");
            drop(c);
            assert_eq!(device.download(&out), ramp(10.0, 1.0));
        }};
    }
    leaves_nothing(|device| {
        each!(device, case: passed_arena taken_arena, passed_nodes taken_nodes, passed_owned taken_owned);
    });
}

/// Certificates, pictures, reports and verifications know of it. A profile refuses it.
#[test]
fn what_is_passed_on_is_checked_and_shown() {
    leaves_nothing(|device| {
        let stream = &device.stream;
        let mut a = exec!(made, device, 1.0);
        let graph = passed_nodes(&device.ctx, N, 0.5, a.output()).expect("it builds");
        cuweave::certificate::check(&graph.certificate()).expect("a right certificate");
        let read = cuweave::__private::read_back(&graph).expect("a certificate");
        cuweave::certificate::check(&read).expect("a right certificate");
        let mut b = graph.instantiate().expect("it instantiates");
        // The temporary is freed, the argument is not.
        let report = b.report();
        assert_eq!((report.allocs, report.frees), (1, 1), "{report}");
        assert!(b.page().expect("a page").contains("passed_nodes"));
        for _ in 0..2 {
            let h = a.launch(stream).expect("a launch");
            let verification = b.verify(stream, (h,)).expect("a verification");
            assert!(verification.difference().is_none(), "{verification}");
            assert_eq!(verification.compared(), u64::from(N) * 4, "{verification}");
            let h = a.launch(stream).expect("a launch");
            assert_eq!(device.download(&b.launch(stream, (h,)).expect("it takes over")), ramp(1.0, 1.0));
        }
        let error = b.profile(stream, 1).expect_err("it takes over");
        assert!(error.to_string().contains("it takes over `h`"), "{error}");
    });
}

/// A launch that fails after it began keeps nothing: the maker frees the allocation and runs again.
#[test]
fn a_failed_launch_passes_nothing_on() {
    let Some(device) = simulated_alone() else { return };
    let stream = &device.stream;
    for nth in 1..12 {
        let mut a = exec!(made, device, 1.0);
        let mut b = exec!(passed_arena, device, 0.5, a.output());
        for call in ["cuEventRecord", "cuStreamSynchronize", "cuGraphLaunch", "cuStreamWaitEvent"] {
            let h = a.launch(stream).expect("a launch");
            cuweave_sim::inject_fault(call, nth, 2).expect("a fault");
            let launched = b.launch(&device.new_stream(), (h,)).map(drop);
            cuweave_sim::clear_faults().expect("no fault is left");
            drop(launched);
            // A failure in a drop.
            let _ = device.ctx.check_err();
            let h = a.launch(stream).expect("a launch");
            let h = b.launch(stream, (h,)).expect("it takes over");
            assert_eq!(device.download(&h), ramp(1.0, 1.0), "{call} {nth}");
        }
    }
    device.nothing_reported();
}

fn builder<'b>(device: &Device, memory: Memory) -> Builder<'b> {
    let mut builder = Builder::new(&device.ctx);
    builder.memory(memory);
    builder
}

/// The same with graphs of builders.
#[test]
fn builders_pass_allocations_on() {
    leaves_nothing(|device| {
        let stream = &device.stream;
        for memory in [Memory::Arena, Memory::Nodes, Memory::Owned] {
            let mut out = device.zeros::<f32>(N as usize);
            let mut a = exec!(made, device, 1.0);
            let mut first = builder(device, memory);
            let h = first.taken("h", N, a.output());
            first.launch(scale {}, per_item(N), (h.write(), 3.0_f32, N)).expect("a launch");
            first.output(h).expect("it is taken over");
            let mut b = first.build().expect("a graph").instantiate().expect("an exec");
            let mut second = builder(device, memory);
            let g = second.taken("g", N, b.description::<f32>(h).expect("an output"));
            // A called function returns what it takes over.
            let own = second.call(passed_arena::passed_arena {}, (N, 0.5_f32, g)).expect("a call")[0];
            let to = second.exclusive("out", N, &mut out);
            second.copy(&own, to.write()).expect("a copy");
            second.output(own).expect("an output");
            let mut c = second.build().expect("a graph").instantiate().expect("an exec");
            for turn in 0..4 {
                let launched =
                    b.launch_with(stream, (a.launch(stream).expect("a launch"),)).expect("a launch");
                if turn == 1 {
                    // Nobody asked for the output, so the maker frees it.
                    drop(a.launch(stream).expect("a launch"));
                    let error = launched.output::<f32>(h).map(drop).expect_err("it was freed");
                    let is_freed = matches!(error, Error::WrongOutput { reason: OutputFault::Freed, .. });
                    assert!(is_freed, "{error}");
                    continue;
                }
                let passed = launched.output::<f32>(h).expect("the output");
                is_alive(a.launch(stream));
                let launched = c.launch_with(&device.new_stream(), (passed,)).expect("a launch");
                let end = launched.output::<f32>(own).expect("the output");
                assert_eq!(device.download(&end), ramp(1.0, 3.0));
            }
            drop(c);
            assert_eq!(device.download(&out), ramp(1.0, 3.0));
        }
    });
}
