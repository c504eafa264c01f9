//! Small programs of a builder, in every form and lowering. The checker must accept every built graph, and the
//! oracle must find no order in which it is wrong.
//!
//! Statements are launches on three buffers and their halves: `set` (writes), `scale` (reads and writes), `copy_to`
//! (reads one, writes another) and `axpy` (reads one, modifies another). Both operands have the same length. The
//! test covers all programs with up to three statements, and those of four statements with one operand each, with
//! zero to three of the buffers as arguments and the others as temporaries. Programs that only differ in the names
//! of buffers or in swapped halves of a buffer are equivalent, and only the first of each class is used. Programs
//! that the compiler refuses (unwritten reads) are skipped.
//!
//! By default, a sample runs. `CUWEAVE_EXHAUSTIVE=i/n` runs the i-th of n shards of all programs, in a release
//! build: `CUWEAVE_EXHAUSTIVE=0/8 cargo test --release --test side_by_side certificates_exhaustive -- --nocapture`

#[path = "../../graph-check/tests/oracle/mod.rs"]
mod oracle;

use crate::kernels::{axpy, copy_to, scale, set};
use cuweave::builder::{Builder, Handle, Launches, Memory, View};
use cuweave::certificate::check;
use cuweave_testkit::device::{Device, device};

const N: u32 = 8;

/// An operand: a buffer, and its part: the whole, the low half or the high half.
type Operand = (usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Set(Operand),
    Scale(Operand),
    Copy(Operand, Operand),
    Axpy(Operand, Operand),
}

impl Work {
    fn map(self, to: impl Fn(Operand) -> Operand) -> Work {
        match self {
            Work::Set(one) => Work::Set(to(one)),
            Work::Scale(one) => Work::Scale(to(one)),
            Work::Copy(one, other) => Work::Copy(to(one), to(other)),
            Work::Axpy(one, other) => Work::Axpy(to(one), to(other)),
        }
    }
}

fn works(two: bool) -> Vec<Work> {
    let operands: Vec<Operand> = (0..3).flat_map(|buffer| (0..3).map(move |part| (buffer, part))).collect();
    let mut all: Vec<Work> = operands.iter().flat_map(|&one| [Work::Set(one), Work::Scale(one)]).collect();
    for &one in operands.iter().filter(|_| two) {
        let alike = |other: &&Operand| (one.1 == 0) == (other.1 == 0) && one != **other;
        for &other in operands.iter().filter(alike) {
            all.extend([Work::Copy(one, other), Work::Axpy(one, other)]);
        }
    }
    all
}

/// Returns true if no renaming of buffers and no swap of halves gives an earlier program. Bit i of `operands` is
/// set if buffer i is the caller's.
fn is_first(program: &[Work], operands: usize) -> bool {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    ORDERS.iter().all(|order| {
        (0..8).all(|swaps: usize| {
            let to = |(buffer, part): Operand| {
                let swapped = if part > 0 && swaps >> buffer & 1 == 1 { 3 - part } else { part };
                (order[buffer], swapped)
            };
            let owned = (0..3).filter(|&one| operands >> one & 1 == 1).map(|one| 1 << order[one]).sum();
            let other: Vec<Work> = program.iter().map(|one| one.map(to)).collect();
            (program, operands) <= (&other[..], owned)
        })
    })
}

/// Returns the statements of the program with this number, if it exists.
fn program(mut number: u64) -> Option<(Vec<Work>, usize)> {
    let operands = (number % 8) as usize;
    number /= 8;
    for (count, works) in [(1, works(true)), (2, works(true)), (3, works(true)), (4, works(false))] {
        let base = works.len() as u64;
        let all = base.pow(count);
        if number < all {
            let digit = |at: u32| works[(number / base.pow(at) % base) as usize];
            return Some(((0..count).map(digit).collect(), operands));
        }
        number -= all;
    }
    None
}

fn count() -> u64 {
    let (two, one) = (works(true).len() as u64, works(false).len() as u64);
    8 * (two + two.pow(2) + two.pow(3) + one.pow(4))
}

const FORMS: [Option<Launches>; 4] =
    [Some(Launches::AsWritten), Some(Launches::Batched), Some(Launches::Overlapped), None];
const MEMORIES: [Memory; 3] = [Memory::Nodes, Memory::Arena, Memory::Owned];

/// Builds a program. `None` if the compiler refuses it.
fn built(
    device: &Device,
    slices: &mut [cudarc::driver::CudaSlice<f32>],
    (program, operands): (&[Work], usize),
    (form, memory): (Option<Launches>, Memory),
) -> Option<cuweave::certificate::Certificate> {
    let mut b = Builder::with_name(&device.ctx, "small");
    b.memory(memory);
    if let Some(form) = form {
        b.launches(form);
    }
    let mut handles: Vec<Handle> = Vec::new();
    for (at, slice) in slices.iter_mut().enumerate() {
        let used = program.iter().any(|work| match *work {
            Work::Set(one) | Work::Scale(one) => one.0 == at,
            Work::Copy(one, other) | Work::Axpy(one, other) => one.0 == at || other.0 == at,
        });
        match (used, operands >> at & 1) {
            (true, 0) => handles.push(b.alloc::<f32>(2 * N)),
            _ => handles.push(b.exclusive(["x", "y", "z"][at], 2 * N, slice)),
        }
    }
    let view = |(buffer, part): Operand| -> View {
        match part {
            0 => handles[buffer].range(0, 2 * N),
            part => handles[buffer].range((part as u32 - 1) * N, part as u32 * N),
        }
    };
    for work in program {
        let n = match *work {
            Work::Set(one) | Work::Scale(one) | Work::Copy(one, _) | Work::Axpy(one, _) if one.1 == 0 => {
                2 * N
            }
            _ => N,
        };
        let grid = (n / 4, 4);
        let done = match *work {
            Work::Set(to) => b.launch(set {}, grid, (view(to).write(), 1.5_f32, n)),
            Work::Scale(x) => b.launch(scale {}, grid, (view(x).write(), 2.0_f32, n)),
            Work::Copy(from, to) => b.launch(copy_to {}, grid, (view(from).read(), view(to).write(), n)),
            Work::Axpy(x, y) => b.launch(axpy {}, grid, (0.5_f32, view(x).read(), view(y).write(), n)),
        };
        done.ok()?;
    }
    match b.build() {
        Ok(graph) => Some(graph.certificate()),
        Err(error @ cuweave::Error::Certificate { .. }) => panic!("{program:?} {operands}: {error}"),
        Err(_) => None,
    }
}

#[test]
fn small_programs_are_accepted_and_right() {
    let device = device();
    let mut slices: Vec<_> = (0..3).map(|_| device.zeros::<f32>(2 * N as usize)).collect();
    let shard = std::env::var("CUWEAVE_EXHAUSTIVE").ok();
    let (first, step) = match shard.as_deref().and_then(|shard| shard.split_once('/')) {
        Some((shard, shards)) => (shard.parse().expect("i"), shards.parse().expect("n")),
        // A sample: the step is a prime that is far from the number of statements.
        None => (7, 40_009),
    };
    let effort = oracle::Effort { all: 400, directed: 100, decisions: 1 };
    let (mut programs, mut refused, mut graphs, mut orders) = (0_u64, 0_u64, 0_u64, 0_u64);
    for number in (first..count()).step_by(step) {
        let (statements, operands) = program(number).expect("a number below the count");
        // A sample may use any program of a class.
        if shard.is_some() && !is_first(&statements, operands) {
            continue;
        }
        programs += 1;
        for form in FORMS {
            for memory in MEMORIES {
                let at = (&statements[..], operands);
                let Some(certificate) = built(&device, &mut slices, at, (form, memory)) else {
                    refused += 1;
                    continue;
                };
                let what = || {
                    format!("{statements:?}, operands {operands:03b}, {form:?}, {memory:?}\n{certificate}")
                };
                assert_eq!(check(&certificate), Ok(()), "{}", what());
                match oracle::run(&certificate, effort) {
                    Ok(more) => orders += more as u64,
                    Err(error) => panic!("{error}: {}", what()),
                }
                graphs += 1;
            }
        }
    }
    println!(
        "{programs} programs, {refused} refused by the compiler, {graphs} graphs, {orders} orders, of {}",
        count()
    );
    // In some shards, all programs read unwritten elements.
    assert!(graphs > 100 || shard.is_some(), "only {graphs} graphs of {programs} programs");
}
