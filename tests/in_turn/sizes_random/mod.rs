//! 300 random programs with one to three sizes. Each runs with each of 20 values of the sizes in every form, and must
//! leave the bytes that a graph for these values alone leaves.

use cuweave::builder::{Builder, Exec, Launches, Memory};
use cuweave::error::SetterFault;
use cuweave::{Buffer, Error};
use cuweave_testkit::device::{Device, alone};
use cuweave_testkit::random::Random;

mod build;
mod generate;

use build::{Buffers, Scalars, scalars, statements};
use generate::{LONGEST, Program, THREADS};

/// The number of values of the sizes of a program.
const VALUES: usize = 20;
const FORMS: [Option<Launches>; 5] = [
    Some(Launches::AsWritten),
    Some(Launches::Batched),
    Some(Launches::Overlapped),
    Some(Launches::Fused),
    None,
];
const MEMORIES: [Memory; 3] = [Memory::Nodes, Memory::Arena, Memory::Owned];

/// Counts over all programs. The test fails if nothing was merged.
#[derive(Debug, Default)]
struct Seen {
    launches: usize,
    /// Launches that changed an argument, and launches with a size of 0.
    changed: usize,
    empty: usize,
    /// Programs with batches, with batches of unequal grids, and so on.
    batched: usize,
    flat: usize,
    fused: usize,
    stacked: usize,
    /// Programs with elements in registers, and with temporaries that have no memory.
    registers: usize,
    elided: usize,
    overlapped: usize,
    /// Values that an exec refused, since merged launches differ.
    again: usize,
}

impl Seen {
    fn add(&mut self, report: &cuweave::report::Report, flat: usize) {
        self.batched += usize::from(!report.batches.is_empty());
        self.flat += usize::from(flat > 0);
        self.fused += usize::from(!report.fused.is_empty());
        self.stacked += usize::from(report.stacked.iter().any(|&chains| chains > 1));
        self.registers += usize::from(report.forwarded.iter().any(|elements| elements.loads > 0));
        self.elided += usize::from(report.forwarded.iter().any(|elements| !elements.elided.is_empty()));
        self.overlapped += usize::from(report.overlapped > 0);
    }
}

/// An exec for all values.
struct Moving<'a> {
    exec: Exec<'a>,
    scalars: Scalars,
    values: Vec<u32>,
    by: u32,
}

impl<'a> Moving<'a> {
    fn new(
        device: &Device,
        program: &Program,
        (launches, memory): (Option<Launches>, Memory),
        values: &[u32],
        buffers: &'a Buffers,
        seen: &mut Seen,
    ) -> cuweave::Result<Moving<'a>> {
        let mut b = Builder::with_name(&device.ctx, "sized");
        b.memory(memory);
        if let Some(launches) = launches {
            b.launches(launches);
        }
        let scalars = scalars(&mut b, program, values, 1, false);
        statements(&mut b, program, &scalars, buffers, None)?;
        let graph = b.build()?;
        let batches = &cuweave::__private::operations(&graph).batches;
        let flat = batches.iter().filter(|batch| batch.axis.is_none()).count();
        seen.add(&graph.report(), flat);
        Ok(Moving { exec: graph.instantiate()?, scalars, values: values.to_vec(), by: 1 })
    }

    /// Sets the sizes, one after another or all at once with the other scalar.
    fn set(&mut self, values: &[u32], by: u32, random: &mut Random) -> cuweave::Result<()> {
        let Moving { exec, scalars, .. } = self;
        if by == self.by && random.one_in(3) {
            let first = random.below(values.len());
            for turn in 0..values.len() {
                let at = (first + turn) % values.len();
                exec.set_scalar(&scalars.sizes[at], values[at])?;
                self.values[at] = values[at];
            }
            return Ok(());
        }
        exec.edit(|edit| {
            if by != self.by {
                edit.set_scalar(&scalars.by, by)?;
            }
            scalars.sizes.iter().zip(values).try_for_each(|(size, &value)| edit.set_scalar(size, value))
        })?;
        (self.values, self.by) = (values.to_vec(), by);
        Ok(())
    }
}

/// Launches a graph for these values alone, as it is written.
fn fixed(
    device: &Device,
    program: &Program,
    values: &[u32],
    by: u32,
    buffers: &Buffers,
) -> cuweave::Result<()> {
    let mut b = Builder::with_name(&device.ctx, "fixed");
    b.launches(Launches::AsWritten);
    let scalars = scalars(&mut b, program, values, by, true);
    statements(&mut b, program, &scalars, buffers, Some(values))?;
    b.build()?.instantiate()?.launch(&device.stream).map(drop)
}

impl Buffers {
    fn random(device: &Device, program: &Program, seed: u64) -> Buffers {
        let mut random = Random::new(seed ^ 0xb0f);
        let mut buffer = || {
            let data: Vec<u32> = (0..LONGEST + THREADS + 3).map(|_| random.below(1 << 20)).collect();
            Buffer::from_host(&device.stream, &data).expect("a buffer")
        };
        let all = buffer();
        Buffers { all, own: (0..2 * program.branches.len() + 1).map(|_| buffer()).collect() }
    }

    fn list(&self) -> impl Iterator<Item = &Buffer<u32>> {
        std::iter::once(&self.all).chain(&self.own)
    }

    fn contents(&self, device: &Device) -> Vec<Vec<u32>> {
        self.list().map(|buffer| buffer.to_host(&device.stream).expect("it is read")).collect()
    }

    fn replace(&self, device: &Device, contents: &[Vec<u32>]) {
        for (buffer, contents) in self.list().zip(contents) {
            buffer.copy_from_host(&device.stream, contents).expect("it is written");
        }
    }
}

/// Runs a program with all values in all forms.
fn run(device: &Device, seed: u64, seen: &mut Seen) {
    let program = Program::random(seed);
    let mut random = Random::new(seed ^ 0x7a11);
    let values = program.values(seed, VALUES);
    let (of_sizes, of_values) =
        (Buffers::random(device, &program, seed), Buffers::random(device, &program, seed));
    let mut execs: Vec<Moving<'_>> = FORMS
        .iter()
        .enumerate()
        .map(|(at, &launches)| {
            let form = (launches, MEMORIES[(seed as usize + at) % MEMORIES.len()]);
            Moving::new(device, &program, form, &values[at], &of_sizes, seen)
                .unwrap_or_else(|error| panic!("program {seed}, {form:?}: {error}\n{program:?}"))
        })
        .collect();
    let mut before = of_values.contents(device);
    for (at, values) in values.iter().enumerate() {
        let by = if random.one_in(2) { random.below(50_u32) } else { 1 };
        let failed = |error| -> () { panic!("program {seed}, {values:?} alone: {error}\n{program:?}") };
        fixed(device, &program, values, by, &of_values).unwrap_or_else(failed);
        let after = of_values.contents(device);
        for (moving, form) in execs.iter_mut().zip(FORMS) {
            let what = format!("program {seed}, {form:?}, {:?} to {values:?}", moving.values);
            device.schedule((seed + at as u64) % 5);
            let refused = match moving.set(values, by, &mut random) {
                Ok(()) => false,
                Err(Error::BuildAgain { reason: SetterFault::Merged { .. }, .. }) => true,
                Err(error) => panic!("{what}: {error}\n{program:?}"),
            };
            // An exec that refuses values keeps the old ones.
            let expected = match refused {
                false => after.clone(),
                true => {
                    of_values.replace(device, &before);
                    fixed(device, &program, &moving.values, moving.by, &of_values).unwrap_or_else(failed);
                    of_values.contents(device)
                }
            };
            of_sizes.replace(device, &before);
            moving.exec.launch(&device.stream).unwrap_or_else(|error| panic!("{what}: {error}\n{program:?}"));
            let sized = of_sizes.contents(device);
            if sized != expected {
                let differ = sized.iter().zip(&expected).enumerate().filter(|(_, (one, other))| one != other);
                let at =
                    differ.map(|(at, (one, other))| (at, one.iter().zip(other).position(|(a, b)| a != b)));
                let at: Vec<_> = at.collect();
                panic!("{what}: other bytes at {at:?}\n{}\n{program:?}", moving.exec.report());
            }
            cuweave_check::check(&moving.exec.certificate())
                .unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
            seen.launches += 1;
            seen.again += usize::from(refused);
            seen.changed += usize::from(sized != before);
            seen.empty += usize::from(moving.values.contains(&0));
        }
        of_values.replace(device, &after);
        before = after;
    }
}

#[test]
fn one_exec_means_the_graphs_of_all_values_in_every_form() {
    let device = alone();
    let mut seen = Seen::default();
    let programs = device.scaled(50, 300);
    for seed in 0..programs as u64 {
        run(&device, seed, &mut seen);
    }
    device.nothing_reported();
    println!("{programs} programs: {seen:?}");
    let count = programs * VALUES * FORMS.len();
    assert_eq!(seen.launches, count);
    assert!(seen.changed > count / 5 * 4 && seen.empty > count / 20 && seen.again <= count / 500);
    // Of five execs of each program, two may be batched, three overlapped, two fused, and one stacked. How many are
    // depends on the device.
    let few = device.scaled(1, 20);
    for merged in [seen.batched, seen.flat, seen.stacked, seen.elided] {
        assert!(merged >= few, "{seen:?}");
    }
    assert!(seen.fused > programs && seen.registers > programs && seen.overlapped > few * 10, "{seen:?}");
}
