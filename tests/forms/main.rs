//! Random graph programs in every form: launches as written, batched, overlapped, or both; with each memory
//! lowering; under several schedules; and with all setters called between launches. All results must equal those of
//! a sequential run, and the simulated driver must not report anything.

mod broken;
mod faults;
mod function;
mod kernels;
mod older;
mod program;
mod reasons;
mod refused;
mod verify;
mod writer;

use cuweave::ArenaPool;
use cuweave::report::Report;
use cuweave_core::ir::{Launches, Memory};

use function::{Device, Inputs, Printable, device};
use writer::random;

const PROGRAMS: u64 = 240;
/// The number of launches of each graph.
const LAUNCHES: usize = 3;
const MEMORIES: [Memory; 3] = [Memory::Nodes, Memory::Arena, Memory::Owned];
const FORMS: [Option<Launches>; 5] = [
    Some(Launches::AsWritten),
    Some(Launches::Batched),
    Some(Launches::Overlapped),
    Some(Launches::Fused),
    None,
];

/// Counts over all programs. The test fails if no batches were made.
#[derive(Debug, Default)]
struct Seen {
    launches: usize,
    batches: usize,
    flat: usize,
    largest: usize,
    overlapped: usize,
    serialized: usize,
    fused: usize,
    longest: usize,
}

#[test]
fn every_form_in_every_lowering_means_the_statements() {
    let device = device();
    let mut seen = Seen::default();
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    (0..PROGRAMS).for_each(|seed| every_form(&device, seed, Some(&pool), &mut seen));
    println!("{seen:?}");
    device.nothing_reported();
    assert!(seen.batches > 2 * PROGRAMS as usize && seen.flat > PROGRAMS as usize, "{seen:?}");
    assert!(seen.largest > 32 && seen.serialized > 0, "{seen:?}");
    if device.ctx.compute_capability().is_ok_and(|capability| capability.0 >= 9) {
        assert!(seen.overlapped > 4 * PROGRAMS as usize, "{seen:?}");
    }
}

/// Runs the program in every form and every lowering, some of them in a pool.
fn every_form(device: &Device, seed: u64, pool: Option<&ArenaPool>, seen: &mut Seen) {
    let [program, one_by_one] = random(seed);
    let inputs = Inputs::random(seed, &program, LAUNCHES);
    device.schedule(0);
    let one_by_one = one_by_one.with(Some(Launches::AsWritten), Memory::Owned);
    let meaning = device.meaning(Printable::new(&one_by_one), &inputs);
    for (at, memory) in MEMORIES.into_iter().enumerate() {
        for (by, form) in FORMS.into_iter().enumerate() {
            device.schedule((seed + (4 * at + by) as u64) % 5);
            let what = format!("program {seed}, {form:?}, {memory:?}");
            let function = Printable::new(&program.with(form, memory));
            let run_in = |pool, what: &str| {
                let (left, report, flat) = device
                    .run_in(pool, function, &inputs)
                    .unwrap_or_else(|error| panic!("{what}: {error}: {:#?}", cuweave_sim::reports()));
                assert!(left == meaning, "{what}: other bytes\n{report}");
                (report, flat)
            };
            let (report, flat) = run_in(None, &what);
            if memory == Memory::Owned && seed.is_multiple_of(4) && pool.is_some() {
                run_in(pool, &format!("{what}, in a pool"));
            }
            seen.add(&report, flat);
            let [may_batch, may_overlap] =
                [Launches::Batched, Launches::Overlapped].map(|one| form.is_none_or(|form| form == one));
            assert!(may_batch || report.batches.is_empty(), "{what}: {report}");
            assert!(may_overlap || report.overlapped == 0, "{what}: {report}");
        }
    }
}

impl Seen {
    fn add(&mut self, report: &Report, flat: usize) {
        self.launches += report.launches;
        self.batches += report.batches.len();
        self.flat += flat;
        self.largest = report.batches.iter().map(Vec::len).fold(self.largest, usize::max);
        self.overlapped += report.overlapped;
        self.serialized += report.serialized;
        self.fused += report.fused.len();
        self.longest = report.fused.iter().map(Vec::len).fold(self.longest, usize::max);
    }
}

/// Budgets at and above the floor: if the launches as written fit a budget, each form must fit it with the same
/// results.
#[test]
fn every_form_keeps_a_budget() {
    let device = device();
    let (mut fit, mut batches, mut refused) = (0, 0, 0);
    // Fewer programs than elsewhere, because each budget needs a search for an order.
    for seed in 0..PROGRAMS / 4 {
        let [program, _] = random(seed);
        let inputs = Inputs::random(seed, &program, LAUNCHES);
        let as_written = program.with(Some(Launches::AsWritten), Memory::Arena);
        device.schedule(seed % 3);
        let (meaning, report, _) = device.run(Printable::new(&as_written), &inputs).expect("it runs");
        let Some(plan) = report.plan.filter(|plan| plan.floor < plan.planned) else { continue };
        for budget in [plan.floor, (plan.floor + plan.planned) / 2] {
            let within = as_written.within(budget);
            let fits = device.run(Printable::new(&within), &inputs);
            // Overlap adds no order.
            for form in [Some(Launches::Batched), None] {
                let what = format!("program {seed}, {form:?}, {budget} bytes");
                let function = Printable::new(&within.with(form, Memory::Arena));
                match (device.run(function, &inputs), &fits) {
                    (Ok((left, report, _)), _) => {
                        assert!(left == meaning, "{what}: other bytes\n{report}");
                        assert!(report.plan.as_ref().is_none_or(|plan| plan.planned <= budget), "{report}");
                        fit += 1;
                        batches += report.batches.len();
                    }
                    (Err(error), Ok(_)) => panic!("{what}: fits as it is written, and: {error}"),
                    (Err(_), Err(_)) => refused += 1,
                }
            }
        }
    }
    println!("{fit} graphs within budgets, {batches} batches; {refused} do not fit");
    device.nothing_reported();
    assert!(fit > 100 && batches > 50, "{fit} fit, {batches} batches");
}
