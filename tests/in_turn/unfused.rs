//! Reports say why consecutive launches are not one kernel, with the lines of both and what would change it.

use cudarc::driver::CudaSlice;
use cuweave::__private::change_next_rules;
use cuweave::builder::{Builder, Handle};
use cuweave::prelude::*;
use cuweave::report::{Report, UnfusedPair, UnfusedReason};
use cuweave_core::launches::tuning::Waves;
use cuweave_testkit::device::{Device, alone};

#[cuweave::kernels("tests/kernels/fused.ptx")]
unsafe extern "ptx-kernel" {
    fn linear(x: &mut [u32; n], a: u32, b: u32, n: u32);
    fn mixed(a: &[u32; n], b: &[u32; n], out: &mut [MaybeUninit<u32>; n], n: u32);
    fn odd(x: &[u32; n], y: &mut [u32; n], n: u32);
    fn sums(x: &mut [u32; n], n: u32);
    fn mirrored(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], n: u32);
    fn gathered(x: &[u32; n], at: &[u32; n], y: &mut [MaybeUninit<u32>; n], n: u32);
}

#[cuweave::kernels("tests/kernels/stacked.ptx")]
unsafe extern "ptx-kernel" {
    fn repeated(x: &mut [u32; n], turns: &[u32; n], n: u32);
}

#[cuweave::kernels("tests/kernels/atomics.ptx")]
unsafe extern "ptx-kernel" {
    fn exchange(total: &[Atomic<u32>; 1], by: u32);
    fn ticket(total: &[Atomic<u32>; 1], out: &mut [MaybeUninit<u32>; 1], by: u32);
}

/// The number of elements of each buffer: four blocks of 64 threads.
const N: u32 = 256;

fn buffer(device: &Device, count: u32) -> CudaSlice<u32> {
    device.upload(&(0..count).collect::<Vec<u32>>())
}

/// Returns a builder with arguments of `N` elements that have these names.
fn builder<'a, const K: usize>(device: &Device, names: [&str; K]) -> (Builder<'a>, [Handle; K]) {
    let mut b = Builder::with_name(&device.ctx, "unfused");
    let handles = names.map(|name| b.exclusive(name, N, buffer(device, N)));
    (b, handles)
}

/// Builds, prints and launches a graph.
fn report(device: &Device, b: Builder<'_>) -> Report {
    let mut exec = b.build().expect("it builds").instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    device.stream.synchronize().expect("it ends");
    let report = exec.report();
    println!("{report}");
    report
}

/// Returns the only entry of a report, and its text without line numbers.
fn only(report: &Report) -> (UnfusedPair, String) {
    let [entry] = report.unfused.as_slice() else { panic!("{report}") };
    if entry.times == 1 {
        let text = format!("\n  not fused: {entry}\n");
        assert!(format!("{report}\n").contains(&text), "{report}");
    }
    (entry.clone(), lineless(entry))
}

fn lineless(entry: &UnfusedPair) -> String {
    let text = entry.to_string();
    let parts: Vec<&str> = text.split(" (line ").collect();
    let rest =
        parts[1..].iter().map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ')'));
    [parts[0]].into_iter().chain(rest).collect::<Vec<_>>().concat()
}

const FOUR: (u32, u32) = (4, 64);

#[test]
fn blocks_that_read_what_others_write() {
    let device = alone();
    let (mut b, [x, y]) = builder(&device, ["x", "y"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.launch(mirrored {}, FOUR, (x.read(), y.write(), N)).expect("a launch");
    let (entry, text) = only(&report(&device, b));
    assert!(
        matches!(&entry.reason, UnfusedReason::Shared { buffer, writes, other }
        if [&buffer.name, &writes.name, &other.name] == ["x", "linear", "mirrored"]),
        "{entry:?}"
    );
    assert_eq!((entry.first.line + 1, entry.times), (entry.second.line, 1));
    assert_eq!(
        text,
        "`linear` and `mirrored`: blocks of `mirrored` access elements of `x` that other blocks of `linear` write\
         \n    help: let each block access only what the same block of the other launch writes"
    );
    // The other direction: what was read is overwritten.
    let (mut b, [x, y]) = builder(&device, ["x", "y"]);
    b.launch(mirrored {}, FOUR, (x.read(), y.write(), N)).expect("a launch");
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    let (entry, _) = only(&report(&device, b));
    assert!(
        matches!(&entry.reason, UnfusedReason::Shared { writes, other, .. }
        if [&writes.name, &other.name] == ["linear", "mirrored"]),
        "{entry:?}"
    );
}

/// A member in the middle of a chain keeps a launch out of it. The entry names the line of that member.
#[test]
fn the_launch_of_the_failed_proof_is_named() {
    let device = alone();
    let (mut b, [x, y, z]) = builder(&device, ["x", "y", "z"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.launch(odd {}, FOUR, (x.read(), y.write(), N)).expect("a launch");
    let last = b.launch(linear {}, FOUR, (y.write(), 5_u32, 1_u32, N)).expect("a launch");
    b.after(last);
    b.launch(mirrored {}, FOUR, (x.read(), z.write(), N)).expect("a launch");
    let report = report(&device, b);
    let (entry, _) = only(&report);
    assert_eq!(report.fused.iter().map(Vec::len).collect::<Vec<_>>(), [3], "{report}");
    let UnfusedReason::Shared { writes, .. } = &entry.reason else { panic!("{entry:?}") };
    assert_eq!((writes.line + 2, entry.first.line + 2), (entry.first.line, entry.second.line));
}

#[test]
fn blocks_whose_elements_are_not_known() {
    let device = alone();
    let (mut b, [x, at, y]) = builder(&device, ["x", "at", "y"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.launch(gathered {}, FOUR, (x.read(), at.read(), y.write(), N)).expect("a launch");
    let (entry, text) = only(&report(&device, b));
    let UnfusedReason::Unknown { buffer, launch, reason } = &entry.reason else { panic!("{entry:?}") };
    assert_eq!([&buffer.name, &launch.name], ["x", "gathered"]);
    assert!(!reason.is_empty());
    assert!(reason.contains("`ld.global.u32 "), "{reason}");
    let said = " (line {}) accesses are unknown: {reason}\n    help: index the buffer by sums and products of \
        the block, the thread and scalars";
    let said = said.replace("{}", &launch.line.to_string()).replace("{reason}", reason);
    assert!(
        entry.to_string().ends_with(&format!("the elements of `x` that a block of `gathered`{said}")),
        "{text}"
    );
}

mod graphs {
    use super::*;

    /// The range of the second launch has a setter.
    #[cuweave::graph]
    pub fn moved(n: u32, pos: u32, x: &[u32; n], y: &mut [u32; 3 * n]) {
        odd[(4, 64)](&x, &mut y[0..n], n);
        linear[(4, 64)](&mut y[pos..pos + n], 5, 1, n);
    }

    /// The grids of both launches have a setter.
    #[cuweave::graph]
    pub fn resized(n: u32, blocks: u32, x: &mut [u32; n]) {
        linear[(blocks, 64)](&mut x, 3, 1, n);
        linear[(blocks, 64)](&mut x, 5, 1, n);
    }

    #[cuweave::graph(launches = "overlapped")]
    fn apart(n: u32, x: &mut [u32; n]) {
        linear[(4, 64)](&mut x, 5, 1, n);
    }

    /// The option is that of a called function.
    #[cuweave::graph]
    pub fn calling(n: u32, x: &mut [u32; n]) {
        linear[(4, 64)](&mut x, 3, 1, n);
        apart(n, &mut x);
    }

    #[cuweave::graph(launches = "fused")]
    fn late(n: u32, x: &mut [u32; n]) {
        linear[(4, 64)](&mut x, 5, 1, n);
    }

    /// Launches of the called function do not start early.
    #[cuweave::graph]
    pub fn starting(n: u32, x: &mut [u32; n]) {
        linear[(4, 64)](&mut x, 3, 1, n);
        late(n, &mut x);
    }

    /// A pair for each iteration.
    #[cuweave::graph]
    pub fn layers(n: u32, x: &mut [u32; n], y: &mut [u32; n]) {
        for _ in 0..7 {
            linear[(4, 64)](&mut x, 3, 1, n);
            mirrored[(4, 64)](&x, &mut y, n);
            mirrored[(4, 64)](&y, &mut x, n);
        }
    }

    /// As written, or only batched: changes that were not requested are not explained.
    #[cuweave::graph(launches = "batched")]
    pub fn batched(n: u32, x: &mut [u32; n], y: &mut [u32; n]) {
        linear[(4, 64)](&mut x, 3, 1, n);
        mirrored[(4, 64)](&x, &mut y, n);
    }
}

#[test]
fn setters_that_reach_a_range_or_a_grid() {
    let device = alone();
    let (x, y) = (buffer(&device, N), buffer(&device, 3 * N));
    let graph = graphs::moved(&device.ctx, N, 0, &x, y).expect("it builds");
    let (entry, text) = only(&graph.report());
    assert!(matches!(entry.reason, UnfusedReason::Range { .. }));
    assert_eq!(
        text,
        "`odd` and `linear`: a setter may change the range of `y` in `linear`\
         \n    help: make the bounds independent of scalars with setters"
    );
    let graph = graphs::resized(&device.ctx, N, 4, buffer(&device, N)).expect("it builds");
    let (entry, text) = only(&graph.report());
    assert!(matches!(entry.reason, UnfusedReason::Setter(_)));
    assert_eq!(
        text,
        "`linear` and `linear`: a setter may change the grid or the block of `linear`\
         \n    help: make the grid and the block independent of scalars with setters"
    );
}

#[test]
fn options_of_functions() {
    let device = alone();
    let graph = graphs::calling(&device.ctx, N, buffer(&device, N)).expect("it builds");
    let (entry, _) = only(&graph.report());
    assert_eq!(entry.reason, UnfusedReason::NotAllowed);
    let graph = graphs::starting(&device.ctx, N, buffer(&device, N)).expect("it builds");
    let (entry, _) = only(&graph.report());
    assert_eq!(entry.reason, UnfusedReason::EarlyStart);
    let graph = graphs::batched(&device.ctx, N, buffer(&device, N), buffer(&device, N)).expect("it builds");
    assert_eq!(graph.report().unfused, []);
}

#[test]
fn repeated_lines_are_one_entry() {
    let device = alone();
    let graph = graphs::layers(&device.ctx, N, buffer(&device, N), buffer(&device, N)).expect("it builds");
    let report = graph.report();
    println!("{report}");
    let entries: Vec<_> = report
        .unfused
        .iter()
        .map(|entry| (entry.first.name.as_str(), entry.second.name.as_str(), entry.times))
        .collect();
    // The last launch of an iteration and the first of the next are one kernel, which reads what blocks of other
    // iterations write.
    assert_eq!(entries, [("linear", "mirrored", 1), ("mirrored", "mirrored", 7), ("linear", "mirrored", 6)]);
    assert_eq!(report.fused.len(), 6, "{report}");
    assert!(report.all().to_string().contains("\n  not fused, 7 times: `mirrored` (line "), "{report}");
}

/// Parallel chains whose trip counts are in memory, so that their kernels may take long. The rule for long kernels
/// is changed so that it applies to these few blocks.
#[test]
fn long_kernels_side_by_side() {
    let device = alone();
    let launched = || {
        let (mut b, [x, y, turns]) = builder(&device, ["x", "y", "turns"]);
        for to in [x, y] {
            b.launch(repeated {}, FOUR, (to.write(), turns.read(), N)).expect("a launch");
            b.launch(repeated {}, FOUR, (to.write(), turns.read(), N)).expect("a launch");
        }
        b
    };
    change_next_rules(|_, _, rules| {
        rules.tuning.chains.stacked.iter_mut().for_each(|stacked| stacked.long = Waves(0, 1));
    });
    let (entry, text) = only(&report(&device, launched()));
    let UnfusedReason::Concurrent(at) = &entry.reason else { panic!("{entry:?}") };
    assert_eq!((at.name.as_str(), entry.first.line + 1, entry.times), ("repeated", entry.second.line, 2));
    assert_eq!(
        text,
        "`repeated` and `repeated`, 2 times: `repeated` runs concurrently with others and may take long: if fused, \
         blocks stay where they are, on some multiprocessors more than on others"
    );
    let report = report(&device, launched());
    assert_eq!(
        (report.kernels, report.stacked.as_slice(), report.unfused.len()),
        (1, [2].as_slice(), 0),
        "{report}"
    );
}

#[test]
fn other_grids_and_blocks() {
    let device = alone();
    let (mut b, [x]) = builder(&device, ["x"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.launch(linear {}, ((2, 4), 64), (x.write(), 5_u32, 1_u32, N)).expect("a launch");
    b.launch(linear {}, ((2, 4), 32), (x.write(), 7_u32, 1_u32, N)).expect("a launch");
    let report = report(&device, b);
    let [grids, blocks] = report.unfused.as_slice() else { panic!("{report}") };
    assert_eq!(grids.reason, UnfusedReason::Grids([4, 1, 1], [2, 4, 1]));
    assert_eq!(blocks.reason, UnfusedReason::Blocks([64, 1, 1], [32, 1, 1]));
    assert!(lineless(grids).contains(": their grids differ: 4 and 2 x 4 blocks\n    help: "), "{report}");
    assert!(lineless(blocks).contains(": their blocks differ: 64 and 32 threads\n    help: "), "{report}");
    // If other launches run concurrently, launches with different grids could not be fused even with equal grids.
    let (mut b, [x, y, z]) = builder(&device, ["x", "y", "z"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.launch(odd {}, (8, 64), (x.read(), y.write(), N)).expect("a launch");
    b.launch(odd {}, (16, 64), (x.read(), z.write(), N)).expect("a launch");
    assert_eq!(self::report(&device, b).unfused, []);
}

#[test]
fn what_stands_between_before_and_behind() {
    let device = alone();
    let (mut b, [x, y]) = builder(&device, ["x", "y"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.copy(x.read(), y.write()).expect("a copy");
    b.launch(linear {}, FOUR, (y.write(), 5_u32, 1_u32, N)).expect("a launch");
    let (entry, text) = only(&report(&device, b));
    assert!(matches!(entry.reason, UnfusedReason::Between { kind: "copy", .. }));
    assert_eq!(
        text,
        "`linear` and `linear`: a copy is between them: `copy`\
         \n    help: let a kernel of their grid and block do it, block by block"
    );
    // A fork and a join.
    let (mut b, [x, y, z]) = builder(&device, ["x", "y", "z"]);
    b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    b.launch(odd {}, FOUR, (x.read(), y.write(), N)).expect("a launch");
    b.launch(mixed {}, FOUR, (x.read(), x.read(), z.write(), N)).expect("a launch");
    b.launch(odd {}, FOUR, (y.read(), z.write(), N)).expect("a launch");
    let report = report(&device, b);
    let reasons: Vec<&UnfusedReason> = report.unfused.iter().map(|entry| &entry.reason).collect();
    let [
        UnfusedReason::OtherSuccessor(one),
        UnfusedReason::OtherSuccessor(other),
        UnfusedReason::OtherPredecessor(left),
        UnfusedReason::OtherPredecessor(right),
    ] = reasons.as_slice()
    else {
        panic!("{report}")
    };
    assert_eq!([&one.name, &other.name, &left.name, &right.name], ["mixed", "odd", "mixed", "odd"]);
}

#[test]
fn kernels_that_are_no_parts() {
    let device = alone();
    let mut b = Builder::with_name(&device.ctx, "ticket");
    let total = b.exclusive("total", 1_u32, buffer(&device, 1));
    let out = b.exclusive("out", 1_u32, buffer(&device, 1));
    let last = b.exclusive("last", 1_u32, buffer(&device, 1));
    b.launch(ticket {}, (1, 32), (total.atomic(), out.write(), 3_u32)).expect("a launch");
    b.launch(mixed {}, (1, 32), (out.read(), out.read(), last.write(), 1_u32)).expect("a launch");
    let (entry, text) = only(&report(&device, b));
    assert!(matches!(&entry.reason, UnfusedReason::Kernel { at, .. } if at.name == "ticket"), "{entry:?}");
    assert!(
        text.starts_with("`ticket` and `mixed`: `ticket` cannot be a part of a fused kernel: `atom"),
        "{text}"
    );
    // Only the updates order these.
    let mut b = Builder::with_name(&device.ctx, "atomics");
    let total = b.exclusive("total", 1_u32, buffer(&device, 1));
    b.launch(exchange {}, (2, 64), (total.atomic(), 3_u32)).expect("a launch");
    b.launch(exchange {}, (2, 64), (total.atomic(), 4_u32)).expect("a launch");
    let (entry, text) = only(&report(&device, b));
    assert_eq!(entry.reason, UnfusedReason::SharedState);
    assert_eq!(text, "`exchange` and `exchange`: only atomics or variables that kernels write order the two");
}

/// With 255 registers per thread, a multiprocessor holds 4 blocks of the fused kernel. It holds all the blocks of the
/// separate kernels that it is assigned.
#[test]
fn fused_kernels_of_which_fewer_blocks_are_held() {
    let device = alone();
    if !device.simulated {
        return;
    }
    let n = 64 * 132 * 16;
    let mut b = Builder::with_name(&device.ctx, "registers");
    let x = b.exclusive("x", n, buffer(&device, n));
    b.launch(linear {}, (n / 64, 64), (x.write(), 3_u32, 1_u32, n)).expect("a launch");
    b.launch(sums {}, (n / 64, 64), (x.write(), n)).expect("a launch");
    cuweave_sim::set_registers("cuweave_fused", 255).expect("a simulated driver");
    let report = report(&device, b);
    cuweave_sim::set_registers("cuweave_fused", 0).expect("a simulated driver");
    let (entry, text) = only(&report);
    assert!(matches!(entry.reason, UnfusedReason::Slower(_)));
    assert_eq!(
        text,
        "`linear` and `sums`: a multiprocessor holds 4 blocks of the fused kernel, but 16 are needed: it takes 255 \
         registers a thread and 256 bytes of shared memory\
         \n    help: limit the registers by the second number of `__launch_bounds__`, or use less shared memory"
    );
}

#[test]
fn launches_of_batches() {
    let device = alone();
    let mut b = Builder::with_name(&device.ctx, "heads");
    let xs: Vec<Handle> = (0..8).map(|at| b.exclusive(&format!("x{at}"), N, buffer(&device, N))).collect();
    for x in &xs {
        b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    }
    for x in &xs {
        b.launch(sums {}, FOUR, (x.write(), N)).expect("a launch");
    }
    let report = report(&device, b);
    for entry in &report.unfused {
        assert!(matches!(entry.reason, UnfusedReason::Batched(_)), "{report}");
        assert_eq!(entry.times, 1, "a pair for each two batches: {report}");
    }
}

#[test]
fn kernels_of_the_most_launches() {
    let device = alone();
    let (mut b, [x]) = builder(&device, ["x"]);
    for _ in 0..5 {
        b.launch(linear {}, FOUR, (x.write(), 3_u32, 1_u32, N)).expect("a launch");
    }
    change_next_rules(|_, _, rules| rules.tuning.fused = 2);
    let (entry, text) = only(&report(&device, b));
    assert_eq!((entry.reason, entry.times), (UnfusedReason::MaxMembers(2), 2));
    assert_eq!(text, "`linear` and `linear`, 2 times: a kernel has at most 2 launches");
}

/// A chain of launches, each into a temporary of `n` elements.
fn through(device: &Device, steps: u32, n: u32, budget: Option<u64>) -> Report {
    let mut b = Builder::with_name(&device.ctx, "through");
    if let Some(budget) = budget {
        b.budget(budget);
    }
    let x = b.exclusive("x", n, buffer(device, n));
    let last = b.exclusive("last", n, buffer(device, n));
    let mut from = x;
    for step in 1..=steps {
        let to = if step == steps { last } else { b.alloc::<u32>(n) };
        b.launch(mixed {}, (n / 64, 64), (from.read(), x.read(), to.write(), n)).expect("a launch");
        from = to;
    }
    change_next_rules(|_, _, rules| rules.allowed.forward = false);
    report(device, b)
}

#[test]
fn chains_that_are_cut_for_memory() {
    let device = alone();
    let report = through(&device, 12, 1 << 18, None);
    assert!(!report.fused.is_empty() && report.kernels > 1, "{report}");
    for entry in &report.unfused {
        assert_eq!(entry.reason, UnfusedReason::Memory { whole: 11 << 20, most: 2 << 20 }, "{report}");
    }
    let memory = "one kernel needs the buffers of all its launches at once: temporaries would take 11 MiB, and 2 \
        MiB at most without it";
    assert!(report.to_string().contains(memory), "{report}");
    let report = through(&device, 6, 1 << 10, Some(8 << 10));
    assert_eq!(report.fused.len(), 0, "{report}");
    let (entry, text) = only(&report);
    assert_eq!((entry.reason, entry.times), (UnfusedReason::Budget, 5));
    assert_eq!(
        text,
        "`mixed` and `mixed`, 5 times: the budget cannot hold the buffers of both at once\n    help: raise the budget"
    );
}
