//! Random programs on several streams, some with missing waits: all races are found, nothing else is proved to be one,
//! and the lifted graph computes what the program computes in the order in which it was enqueued.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, PushKernelArg};
use cuweave::{Captured, Finding};
use cuweave_testkit::random::Random;

use crate::library::{Kernels, PTX, threads};
use crate::untracked;

const LEN: usize = 256;
const BUFFERS: usize = 4;

#[derive(Clone, Debug)]
enum Work {
    Scale(f32),
    Axpy(f32),
    CopyKernel,
    Copy,
    Fill,
}

/// An operation: on a range of one buffer, with as many elements of another one.
#[derive(Clone, Debug)]
struct Operation {
    work: Work,
    stream: usize,
    to: (usize, Range<usize>),
    from: (usize, Range<usize>),
    /// The streams that it waits for.
    waits: BTreeSet<usize>,
}

impl Operation {
    fn reads(&self) -> Vec<&(usize, Range<usize>)> {
        match self.work {
            Work::Scale(_) => vec![&self.to],
            Work::Axpy(_) => vec![&self.to, &self.from],
            Work::CopyKernel | Work::Copy => vec![&self.from],
            Work::Fill => Vec::new(),
        }
    }

    fn conflicts_with(&self, other: &Operation) -> bool {
        let meet = |one: &(usize, Range<usize>), two: &(usize, Range<usize>)| {
            one.0 == two.0 && one.1.start < two.1.end && two.1.start < one.1.end
        };
        meet(&self.to, &other.to)
            || other.reads().iter().any(|read| meet(&self.to, read))
            || self.reads().iter().any(|read| meet(&other.to, read))
    }
}

/// Returns a program in which each operation waits for those before it that it conflicts with, but for some.
fn program(random: &mut Random, streams: usize) -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    let count = 3 + random.below(14);
    let forgets = random.below(2) == 1;
    for _ in 0..count {
        let len = 1 + random.below(LEN);
        let mut part = || {
            let lo = random.below(LEN - len + 1);
            (random.below(BUFFERS), lo..lo + len)
        };
        let (to, mut from) = (part(), part());
        if from.0 == to.0 {
            from.0 = (to.0 + 1) % BUFFERS;
        }
        let work = match random.below(5) {
            0 => Work::Scale(0.5 + random.below(3) as f32),
            1 => Work::Axpy(1.0 + random.below(2) as f32),
            2 => Work::CopyKernel,
            3 => Work::Copy,
            _ => Work::Fill,
        };
        let stream = random.below(streams);
        let mut new = Operation { work, stream, to, from, waits: BTreeSet::new() };
        let conflicts = all.iter().filter(|other| other.stream != stream && other.conflicts_with(&new));
        new.waits = conflicts.map(|other| other.stream).collect();
        if forgets && random.below(3) == 0 {
            new.waits.pop_first();
        }
        all.push(new);
    }
    all
}

/// Returns the pairs of operations that conflict although no path orders them.
fn races(program: &[Operation], streams: usize) -> BTreeSet<(usize, usize)> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut ends: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); streams];
    let mut found = BTreeSet::new();
    for (at, operation) in program.iter().enumerate() {
        for &other in &operation.waits {
            let of_other = ends[other].clone();
            ends[operation.stream].extend(of_other);
        }
        let known = ends[operation.stream].clone();
        for other in (0..at).filter(|other| !known.contains(other)) {
            if operation.conflicts_with(&program[other]) {
                found.insert((other, at));
            }
        }
        ends[operation.stream].insert(at);
        before.push(known);
    }
    found
}

fn run(program: &[Operation], buffers: &mut [Vec<f32>]) {
    for Operation { work, to, from, .. } in program {
        let source = buffers[from.0][from.1.clone()].to_vec();
        let target = &mut buffers[to.0][to.1.clone()];
        for (target, source) in target.iter_mut().zip(source) {
            match work {
                Work::Scale(a) => *target *= a,
                Work::Axpy(a) => *target += a * source,
                Work::CopyKernel | Work::Copy => *target = source,
                Work::Fill => *target = 0.0,
            }
        }
    }
}

fn enqueue(
    kernels: &Kernels,
    streams: &[Arc<CudaStream>],
    program: &[Operation],
    buffers: &mut [CudaSlice<f32>],
) {
    let (first, others) = streams.split_first().expect("a stream");
    others.iter().for_each(|other| other.join(first).expect("a fork"));
    for Operation { work, stream, to, from, waits } in program {
        let stream = &streams[*stream];
        waits.iter().for_each(|&other| stream.join(&streams[other]).expect("a wait"));
        let n = to.1.len() as u32;
        let [target, source] = buffers.get_disjoint_mut([to.0, from.0]).expect("two buffers");
        let (mut target, source) = (target.slice_mut(to.1.clone()), source.slice(from.1.clone()));
        let launch = |name: &str| kernels.function(name);
        let done = match work {
            Work::Scale(a) => unsafe {
                let f = launch("scale");
                stream.launch_builder(&f).arg(&mut target).arg(a).arg(&n).launch(threads(n)).map(drop)
            },
            Work::Axpy(a) => unsafe {
                let f = launch("axpy");
                stream
                    .launch_builder(&f)
                    .arg(a)
                    .arg(&source)
                    .arg(&mut target)
                    .arg(&n)
                    .launch(threads(n))
                    .map(drop)
            },
            Work::CopyKernel => unsafe {
                let f = launch("copy_to");
                stream.launch_builder(&f).arg(&source).arg(&mut target).arg(&n).launch(threads(n)).map(drop)
            },
            Work::Copy => stream.memcpy_dtod(&source, &mut target),
            Work::Fill => stream.memset_zeros(&mut target),
        };
        done.expect("it is enqueued");
    }
    others.iter().for_each(|other| first.join(other).expect("a join"));
}

/// Enqueues a program on temporaries of the graph, which get the contents of the first buffers and give them back.
fn enqueue_on_temporaries(
    kernels: &Kernels,
    streams: &[Arc<CudaStream>],
    program: &[Operation],
    buffers: Vec<CudaSlice<f32>>,
    allocated: usize,
) -> Vec<CudaSlice<f32>> {
    let first = &streams[0];
    let mut outside = buffers;
    let rest = outside.split_off(allocated);
    let copied = |buffer: &CudaSlice<f32>| {
        let mut temporary = unsafe { first.alloc::<f32>(LEN) }.expect("memory");
        first.memcpy_dtod(buffer, &mut temporary).expect("a copy");
        temporary
    };
    let mut inside: Vec<CudaSlice<f32>> = outside.iter().map(copied).chain(rest).collect();
    enqueue(kernels, streams, program, &mut inside);
    let rest = inside.split_off(allocated);
    for (temporary, buffer) in inside.iter().zip(&mut outside) {
        first.memcpy_dtod(temporary, buffer).expect("a copy");
    }
    outside.extend(rest);
    outside
}

#[test]
fn races_are_found_and_results_are_those_of_the_program() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let streams: Vec<Arc<CudaStream>> =
        std::iter::once(device.stream.clone()).chain((0..3).map(|_| device.new_stream())).collect();
    let without_axpy = PTX.replace("axpy", "another");
    let (mut with_races, mut without, mut kept) = (0, 0, 0);
    for seed in 1..=device.scaled(500, 500) {
        let mut random = Random::new(seed);
        let count = 1 + random.below(streams.len());
        let program = program(&mut random, count);
        let mut model: Vec<Vec<f32>> =
            (0..BUFFERS).map(|buffer| (0..LEN).map(|at| (buffer * 7 + at % 13) as f32).collect()).collect();
        let mut buffers: Vec<CudaSlice<f32>> = model.iter().map(|data| device.upload(data)).collect();
        let captured =
            Captured::of(&streams[0], || enqueue(&kernels, &streams[..count], &program, &mut buffers))
                .expect("it is captured");
        let lifted = unsafe { cuweave::lift(&device.ctx, &captured, &[PTX]) }.expect("it is lifted");
        let wanted = races(&program, count);
        let proved: BTreeSet<(usize, usize)> = lifted
            .findings()
            .list()
            .iter()
            .filter_map(|finding| match finding {
                Finding::Race { proved: true, first, second, .. } => Some((first.node, second.node)),
                Finding::Race { .. } => panic!("seed {seed}: {finding}"),
                _ => None,
            })
            .collect();
        assert_eq!(proved, wanted, "seed {seed}: {program:#?}\n{}", lifted.findings());
        if wanted.is_empty() {
            without += 1
        } else {
            with_races += 1
        }
        if wanted.is_empty() {
            // Some buffers are memory of the graph, and the PTX of a kernel is missing.
            let texts = [[PTX], [&*without_axpy]];
            let allocated = random.below(BUFFERS);
            let captured = Captured::of(&streams[0], || {
                enqueue_on_temporaries(&kernels, &streams[..count], &program, buffers, allocated)
            })
            .expect("it is captured");
            let lifted = unsafe { cuweave::lift(&device.ctx, &captured, &texts[random.below(2_usize)]) };
            let lifted = lifted.expect("it is lifted");
            assert_eq!(lifted.findings().faults().count(), 0, "seed {seed}: {}", lifted.findings());
            kept += usize::from(lifted.findings().list().iter().any(Finding::is_kept));
            let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
            cuweave_check::check(&exec.certificate()).expect("the certificate holds");
            for _ in 0..2 {
                exec.launch(&streams[0]).expect("it launches");
                run(&program, &mut model);
            }
            for (buffer, wanted) in captured.result().iter().zip(&model) {
                assert_eq!(device.download(buffer), *wanted, "seed {seed}: {program:#?}");
            }
            continue;
        }
        let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(&streams[0]).expect("it launches");
        run(&program, &mut model);
        for (buffer, wanted) in buffers.iter().zip(&model) {
            assert_eq!(device.download(buffer), *wanted, "seed {seed}: {program:#?}");
        }
    }
    assert!(
        with_races > 50 && without > 200 && kept > 50,
        "{with_races} with races, {without} without, {kept} with kept nodes"
    );
    device.nothing_reported();
}
