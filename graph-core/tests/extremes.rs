//! Random programs with extreme lengths, bounds, grids and edges, through the public functions of the compiler. Any
//! input gives a result or an error, and never a panic. Built with overflow checks and debug assertions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuweave_core::compile::{self, BackendOptions};
use cuweave_core::dump;
use cuweave_core::ids::KernelId;
use cuweave_core::index::{Index, Vector};
use cuweave_core::ir::{BufferId, DimId, Memory, Mode, Order, Origin, Program, StatementId, StatementKind};
use cuweave_core::launches::{Allowed, Batching, Fusing, Launch, TripCount, Tuning};
use cuweave_core::operation::Operations;
use cuweave_core::order::LoweredProgram;
use cuweave_ptx::poly::Poly;
use cuweave_testkit::programs::ProgramWriter;
use cuweave_testkit::random::Random;

const PROGRAMS: u64 = 4_000;

/// Lengths, bounds and budgets: small ones, and those at the limits of the arithmetic and of the planner.
const DIMS: [u64; 18] = [
    0,
    1,
    2,
    3,
    255,
    256,
    1 << 20,
    (1 << 31) - 1,
    u32::MAX as u64,
    1 << 32,
    1 << 46,
    (1 << 60) - 1,
    1 << 60,
    (1 << 62) - 256,
    1 << 62,
    1 << 63,
    u64::MAX - 255,
    u64::MAX,
];
const GRID: [u32; 8] = [0, 1, 2, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, u32::MAX];
const COEFFICIENTS: [i128; 9] =
    [0, 1, -1, 2, u64::MAX as i128, -(u64::MAX as i128), i128::MAX, i128::MIN, i128::MIN + 1];

/// The results of the cases.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    checked: usize,
    emitted: usize,
    errors: usize,
    batches: usize,
}

/// Makes a program. One in three has a valid order, as far as that is known for random accesses.
fn program(random: &mut Random) -> (LoweredProgram, Vector<DimId, u64>) {
    let faulty = random.one_in(3);
    let mut writer = ProgramWriter::new(&[0]);
    let mut alive = Vec::new();
    for at in 0..1 + random.below(3) {
        let mutable = !random.one_in(4);
        let origin = random.choose(&[Origin::Device { mutable }, Origin::Pinned { mutable }, Origin::Taken]);
        alive.push(writer.buffer(&format!("x{at}"), origin, random.choose(&DIMS)));
    }
    for step in 0..random.below(16) {
        match random.below(8) {
            0 | 1 => {
                let len = random.choose(&DIMS);
                let id = writer.alloc(&format!("b{step}"), len);
                alive.push(id);
                if !faulty || random.one_in(2) {
                    let whole = writer.access(id, Mode::Write, (0, len));
                    writer.statement("fill", StatementKind::Fill(()), &[whole], &[]);
                }
            }
            2 if alive.len() > 1 => {
                let at = random.below(alive.len());
                let id = if faulty { alive[at] } else { alive.remove(at) };
                writer.statement("free", StatementKind::Free(id), &[], &[]);
            }
            3 if !faulty => alive.extend(side_by_side(random, &mut writer)),
            _ => launch(random, &mut writer, &alive, faulty),
        }
    }
    for &buffer in &alive {
        if random.one_in(4) {
            writer.output(buffer);
        }
    }
    let order = if random.one_in(4) { Order::Explicit } else { Order::Inferred };
    let memory = random.choose(&[None, Some(Memory::Nodes), Some(Memory::Arena), Some(Memory::Owned)]);
    let dims = writer.dims().clone();
    let mut source = writer.source("extreme", order, memory);
    if random.one_in(4) {
        source.program.options.budget = Some(DimId::new(random.below(dims.len())));
    }
    for buffer in &mut source.program.buffers {
        buffer.element = random.choose(&[1, 2, 4, 8, 16, 1 << 20, u32::MAX]);
        buffer.align = random.choose(&[1, 2, 4, 8, 16, 256, 1 << 20, 1 << 31]);
    }
    // Proofs about symbolic bounds.
    if faulty || random.one_in(4) {
        for poly in source.polys.iter_mut().skip(1) {
            if random.one_in(3) {
                *poly = polynomial(random);
            }
        }
    }
    (source, dims)
}

/// Adds launches that can be batched, each on a separate buffer. Returns the buffers.
fn side_by_side(random: &mut Random, writer: &mut ProgramWriter) -> Vec<BufferId> {
    let len = random.choose(&DIMS);
    let buffers: Vec<BufferId> =
        (0..2 + random.below(7)).map(|at| writer.alloc(&format!("p{at}"), len)).collect();
    for mode in [Mode::Write, Mode::ReadWrite, Mode::Read] {
        for &buffer in &buffers {
            let whole = writer.access(buffer, mode, (0, len));
            writer.statement("side", StatementKind::Launch(()), &[whole], &[]);
        }
    }
    buffers
}

/// Adds a launch or a copy with a few accesses, after a few statements.
fn launch(random: &mut Random, writer: &mut ProgramWriter, alive: &[BufferId], faulty: bool) {
    let modes = [Mode::Read, Mode::ReadWrite, Mode::Write, Mode::Atomic];
    let count = 1 + random.below(3_usize);
    let mut accesses = Vec::new();
    for _ in 0..count.min(if faulty { count } else { alive.len() }) {
        let buffer = random.choose(alive);
        if !faulty && accesses.iter().any(|access: &cuweave_core::ir::Access| access.buffer == buffer) {
            continue;
        }
        let bounds = (random.choose(&DIMS), random.choose(&DIMS));
        let (lo, hi) = if faulty { bounds } else { (bounds.0.min(bounds.1), bounds.0.max(bounds.1)) };
        accesses.push(writer.access(buffer, random.choose(&modes), (lo, hi)));
    }
    let statements = writer.statements().len();
    let mut after = Vec::new();
    if statements > 0 && random.one_in(3) {
        after.push(StatementId::new(random.below(statements)));
    }
    let kind = if accesses.len() == 2 && random.one_in(4) {
        StatementKind::Copy(())
    } else {
        StatementKind::Launch(())
    };
    writer.statement("work", kind, &accesses, &after);
}

/// Returns a polynomial with extreme coefficients and degrees.
fn polynomial(random: &mut Random) -> Poly {
    let terms: Vec<(Vec<u32>, i128)> = (0..random.below(4))
        .map(|_| {
            let variables = (0..random.below(4)).map(|_| random.choose(&[0, 1, 2, u32::MAX])).collect();
            (variables, random.choose(&COEFFICIENTS))
        })
        .collect();
    let poly = Poly::from_products(terms.iter().map(|(variables, factor)| (variables.as_slice(), *factor)));
    let other = Poly::variable(random.below(3)).times(&poly);
    match random.below(3) {
        0 => other.and_then(|other| other.plus(&poly)).unwrap_or(poly),
        1 => poly.times(&poly).unwrap_or(poly),
        _ => poly,
    }
}

/// Returns options with extreme launches, and edges that may contradict the program.
fn backend_options(random: &mut Random, program: &Program) -> BackendOptions {
    let is_launch = |id: &StatementId| program.statements[*id].kind == StatementKind::Launch(());
    let ids: Vec<StatementId> = program.statements.ids().filter(is_launch).collect();
    // The kernels order only launches.
    let edges = if !ids.is_empty() && random.one_in(4) {
        (0..random.below(4)).map(|_| (random.choose(&ids), random.choose(&ids))).collect()
    } else {
        Vec::new()
    };
    let alike = random.one_in(2);
    let grid =
        [random.choose(&GRID), random.choose(&[1, 1, 2, u32::MAX]), random.choose(&[1, 1, 2, u32::MAX])];
    let launch = |random: &mut Random| {
        let any = Launch {
            kernel: KernelId::from_u32(random.below(2)),
            grid: if random.one_in(2) { grid } else { [random.choose(&GRID), 1, 1] },
            block: if random.one_in(2) {
                [32, 1, 1]
            } else {
                [random.choose(&GRID), random.choose(&GRID), 1]
            },
            shared: random.choose(&[0, 0, 48 << 10, u32::MAX]),
            work: (0..random.below(2)).map(|_| random.choose(&DIMS)).collect(),
            wave: random.choose(&[0, 1, 132, 4_224, u32::MAX]),
            grid_changes: random.one_in(5),
            ranged: Default::default(),
            batch: match random.below(3) {
                0 => Batching::Never,
                1 => Batching::UpTo { equal: random.choose(&GRID), flat: random.choose(&GRID) },
                _ => Batching::UpTo { equal: 16, flat: 16 },
            },
            waits: !random.one_in(3),
            lanes: random.one_in(2),
            fuse: if random.one_in(2) { Fusing::Never } else { Fusing::With(Vec::new().into()) },
            short: random.one_in(2),
            trip_count: random.choose(&[
                TripCount::ByData,
                TripCount::Unknown,
                TripCount::AtMost(0),
                TripCount::AtMost(u64::MAX),
            ]),
            stack: !random.one_in(3),
        };
        let batch = Batching::UpTo { equal: 16, flat: 16 };
        let work = Vec::new();
        match alike {
            true => Launch {
                kernel: KernelId::from_u32(0),
                grid,
                block: [32, 1, 1],
                shared: 0,
                work,
                wave: 4_224,
                batch,
                ..any
            },
            false => any,
        }
    };
    let launches = if random.one_in(6) {
        Vector::new()
    } else {
        let kinds = program.statements.iter().map(|statement| statement.kind);
        kinds.map(|kind| (kind == StatementKind::Launch(())).then(|| launch(random))).collect()
    };
    let allowed = Allowed {
        batches: !launches.is_empty(),
        overlap: random.one_in(2),
        lanes: !launches.is_empty(),
        fuse: random.one_in(2),
        forward: random.one_in(2),
    };
    let tuning = Tuning::for_capability(random.choose(&[
        (0, 0),
        (7, 0),
        (8, 0),
        (9, 0),
        (10, 0),
        (u32::MAX, u32::MAX),
    ]));
    let memory = random.choose(&[None, Some(Memory::Nodes), Some(Memory::Arena), Some(Memory::Owned)]);
    let duration_classes = program.statements.iter().map(|_| random.below(3)).collect();
    BackendOptions { memory, edges, allowed, launches, duration_classes, tuning, ..BackendOptions::default() }
}

/// Operations must follow their dependencies, and buffers must be inside their memory blocks.
fn check(program: &Program, dims: &Vector<DimId, u64>, operations: &Operations) {
    for (at, operation) in operations.list.enumerate() {
        assert!(operation.after.iter().all(|&before| before < at), "{operation:?}");
    }
    for (buffer, place) in program.buffers.iter().zip(&operations.places) {
        if let cuweave_core::operation::BufferPlacement::Inside { memory, offset } = *place {
            let bytes = dims[buffer.len].checked_mul(u64::from(buffer.element));
            let end = bytes.and_then(|bytes| offset.checked_add(bytes)).expect("its end has an address");
            assert!(end <= operations.memories[memory].bytes, "{buffer:?} at {place:?}");
        }
    }
}

/// Runs one case through all stages.
fn case(seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed);
    let (source, mut dims) = program(&mut random);
    // Other values than those that the proofs assumed.
    if random.one_in(4) {
        dims.iter_mut().for_each(|dim| *dim = random.choose(&DIMS));
    }
    let (checked, found) = compile::front(source);
    let Some(checked) = checked else {
        assert!(found.iter().all(|diagnostic| !format!("{diagnostic:?}").is_empty()) && !found.is_empty());
        tally.refused += 1;
        return;
    };
    tally.checked += 1;
    let program = checked.program();
    assert!(!dump::checked(&checked).is_empty());
    for _ in 0..2 {
        let backend_options = backend_options(&mut random, program);
        match compile::back(&checked, &dims, &backend_options) {
            Ok(operations) => {
                tally.emitted += 1;
                tally.batches += operations.batches.len();
                check(program, &dims, &operations);
                assert!(!dump::operations(program, &operations).is_empty());
                if random.one_in(4) {
                    let _ = compile::memory_svg(&checked, &dims, &operations);
                }
            }
            Err(error) => {
                tally.errors += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    if random.one_in(4) {
        let _ = compile::budget_curve(&checked, &dims, random.choose(&[0, 1, 3]));
    }
}

#[test]
fn extreme_programs_are_compiled_or_refused() {
    let mut tally = Tally::default();
    let mut panics = Vec::new();
    for seed in 0..PROGRAMS {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(seed, &mut tally))) {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            panics.push(format!("program {seed}: {}", text.unwrap_or_default()));
        }
    }
    println!("{tally:?}");
    assert!(panics.is_empty(), "{} panics:\n{}", panics.len(), panics[..panics.len().min(20)].join("\n"));
    assert!(tally.refused > 1000 && tally.checked > 1000, "{tally:?}");
    assert!(tally.emitted > 800 && tally.errors > 800 && tally.batches > 40, "{tally:?}");
}
