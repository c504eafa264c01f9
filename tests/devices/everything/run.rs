//! Builds and launches a program and compares its results.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, PinnedHostSlice};
use cuweave::builder::{Args, Builder, Handle, Memory, Scalar, ToArgument, View};
use cuweave::managed::Attach;
use cuweave::prelude::*;
use cuweave::report::Report;
use cuweave::{Buffer, Error, Graph, Managed};
use cuweave_testkit::device::pinned;
use cuweave_testkit::random::Random;

use super::evaluate::evaluate;
use super::generate::{By, Home, LEN, Part, Program, Work};

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn mixed(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
    fn modulo(x: &[u32; 1], y: &mut [MaybeUninit<u32>; 1], by: u32);
}

#[cuweave::kernels("tests/kernels/fused.ptx")]
unsafe extern "ptx-kernel" {
    fn linear(x: &mut [u32; n], a: u32, b: u32, n: u32);
    fn shifted(x: &[u32; n], y: &mut [u32; n], k: u32, n: u32);
}

/// A loop, with a temporary in each iteration.
#[cuweave::graph]
fn stirred(n: u32, turns: u32, x: &[u32; n], y: &mut [u32; n]) {
    for turn in 0..turns {
        let h = alloc::<u32>(n);
        mixed[per_item(n)](&x, &mut h, turn, n);
        shifted[per_item(n)](&h, &mut y, 0, n);
        mix[per_item(n)](&mut y, 3, n);
    }
}

/// The first half runs on the device of the call, the second on the next device.
#[cuweave::graph(devices = 2)]
fn far(n: u32, x: &[u32; n], y: &mut [u32; n]) {
    let h = alloc::<u32>(n);
    mixed[per_item(n)](&x, &mut h, 11, n);
    #[on(1)]
    {
        let g = alloc::<u32>(n);
        mixed[per_item(n)](&h, &mut g, 12, n);
        shifted[per_item(n)](&g, &mut y, 0, n);
        mix[per_item(n)](&mut y, 13, n);
    }
}

/// The memory of an argument.
enum Bound {
    Slice(CudaSlice<u32>),
    Shared(Buffer<u32>),
    Managed(Managed<u32>),
    Pinned(PinnedHostSlice<u32>),
}

/// Counts of the features that the programs had.
#[derive(Debug, Default)]
pub struct Seen {
    programs: usize,
    crossings: usize,
    fused: usize,
    batches: usize,
    conditions: usize,
    ordered_by_budgets: usize,
    refused_budgets: usize,
    setters: usize,
}

impl Seen {
    fn note(&mut self, report: &Report) {
        self.programs += 1;
        self.crossings += report.crossings;
        self.fused += report.fused.len();
        self.batches += report.batches.len();
        self.conditions += report.conditions;
        self.ordered_by_budgets +=
            usize::from(report.budget.as_ref().is_some_and(|budget| !budget.edges.is_empty()));
    }

    /// Checks that the programs had the features that they are meant to test.
    pub fn is_rich(&self, devices: usize) {
        assert!(self.programs == 0 || self.fused > 0 && self.conditions > 0 && self.setters > 0, "{self:?}");
        assert!(devices == 1 || self.crossings > 0, "no program crosses");
    }
}

fn bound(home: Home, values: &[u32], contexts: &[Arc<CudaContext>], streams: &[Arc<CudaStream>]) -> Bound {
    match home {
        Home::Slice(device) => Bound::Slice(streams[device].clone_htod(values).expect("an upload")),
        Home::Shared(device) => Bound::Shared(Buffer::from_host(&streams[device], values).expect("a buffer")),
        Home::Managed(device) => Bound::Managed(
            Managed::from_host(&streams[device], values, Attach::Global).expect("managed memory"),
        ),
        Home::Pinned(device) => Bound::Pinned(pinned(&contexts[device], values)),
    }
}

/// A graph that is built, with the handles of its arguments.
struct Built<'a> {
    graph: Graph<Args<'a>>,
    handles: Vec<Handle>,
    scalar: Scalar<u32>,
}

/// The state while the statements of a program are passed to a builder.
struct Writing {
    handles: Vec<Handle>,
    scalar: Scalar<u32>,
    /// True inside of a body, whose statements are on the device of the condition.
    inside: bool,
}

fn build<'a>(
    program: &Program,
    contexts: &[Arc<CudaContext>],
    arguments: &'a mut [Bound],
    scalar: u32,
    budget: Option<u64>,
) -> cuweave::Result<Built<'a>> {
    let mut b = Builder::over(contexts, "random");
    if let Some(memory) = program.memory {
        b.memory(memory);
    }
    if let Some(launches) = program.launches {
        b.launches(launches);
    }
    if let Some(budget) = budget {
        b.budget(budget);
    }
    let scalar = b.scalar("by", scalar);
    let mut handles = Vec::new();
    for (at, (declared, bound)) in program.arguments.iter().zip(arguments).enumerate() {
        let (name, len) = (format!("a{at}"), LEN as u64);
        let handle = match (bound, declared.is_read_only) {
            (Bound::Slice(slice), true) => b.shared(&name, len, &*slice),
            (Bound::Slice(slice), false) => b.exclusive(&name, len, slice),
            (Bound::Shared(buffer), true) => b.shared(&name, len, &*buffer),
            (Bound::Shared(buffer), false) => b.exclusive(&name, len, &*buffer),
            (Bound::Managed(managed), true) => b.shared(&name, len, &*managed),
            (Bound::Managed(managed), false) => b.exclusive(&name, len, &*managed),
            (Bound::Pinned(pinned), true) => b.pinned(&name, len, &*pinned),
            (Bound::Pinned(pinned), false) => b.pinned_mut(&name, len, pinned),
        };
        for &advice in &declared.advice {
            b.advise(handle, advice)?;
        }
        if let Some(to) = declared.prefetch {
            b.prefetch(handle, to)?;
        }
        if declared.discard {
            b.discard(&handle)?;
        }
        handles.push(handle);
    }
    let mut writing = Writing { handles: handles.clone(), scalar, inside: false };
    writing.works(&mut b, &program.works)?;
    Ok(Built { graph: b.build()?, handles, scalar })
}

impl Writing {
    fn works(&mut self, b: &mut Builder<'_>, list: &[Work]) -> cuweave::Result<()> {
        list.iter().try_for_each(|one| self.work(b, one))
    }

    fn part(&self, part: Part) -> View {
        self.handles[part.buffer].range(part.lo as u64, (part.lo + part.len) as u64)
    }

    fn on<'b, 'a>(&self, b: &'b mut Builder<'a>, device: usize) -> &'b mut Builder<'a> {
        if self.inside { b } else { b.on(device as u32) }
    }

    /// Makes a flag: the first element of a part, divided by 16, modulo `modulus`.
    fn flag(&self, b: &mut Builder<'_>, device: usize, of: Part, modulus: u32) -> cuweave::Result<Handle> {
        let flag = self.on(b, device).alloc::<u32>(1_u64);
        let first = self.handles[of.buffer].range(of.lo as u64, of.lo as u64 + 1);
        self.on(b, device).launch(modulo {}, (1, 1), (first.read(), flag.write(), modulus))?;
        Ok(flag)
    }

    fn inside<'a>(
        &mut self,
        b: &mut Builder<'a>,
        list: &[Work],
        last: impl FnOnce(&mut Builder<'a>) -> cuweave::Result<()>,
    ) -> cuweave::Result<()> {
        let inside = std::mem::replace(&mut self.inside, true);
        self.works(b, list)?;
        last(b)?;
        self.inside = inside;
        Ok(())
    }

    fn work(&mut self, b: &mut Builder<'_>, one: &Work) -> cuweave::Result<()> {
        let number = |by: &By| match by {
            By::Literal(number) => (*number).to_argument(),
            By::Scalar => self.scalar.to_argument(),
        };
        let n = |part: &Part| (per_item(part.len as u32), part.len as u32);
        match one {
            Work::Alloc { device, value } => {
                let handle = self.on(b, *device).alloc::<u32>(LEN as u64);
                self.on(b, *device).fill(handle.write(), *value)?;
                self.handles.push(handle);
            }
            Work::Fill { device, to, value } => {
                self.on(b, *device).fill(self.part(*to).write(), *value)?;
            }
            Work::Copy { device, from, to } => {
                self.on(b, *device).copy(self.part(*from).read(), self.part(*to).write())?;
            }
            Work::Mix { device, x, by } => {
                let (grid, n) = n(x);
                self.on(b, *device).launch(mix {}, grid, (self.part(*x).write(), number(by), n))?;
            }
            Work::Mixed { device, x, y, by } => {
                let (grid, n) = n(x);
                let arguments = (self.part(*x).read(), self.part(*y).write(), number(by), n);
                self.on(b, *device).launch(mixed {}, grid, arguments)?;
            }
            Work::Linear { device, x, a, b: add } => {
                let (grid, n) = n(x);
                self.on(b, *device).launch(linear {}, grid, (self.part(*x).write(), *a, *add, n))?;
            }
            Work::Shifted { device, x, y, k } => {
                let (grid, n) = n(x);
                let arguments = (self.part(*x).read(), self.part(*y).write(), *k, n);
                self.on(b, *device).launch(shifted {}, grid, arguments)?;
            }
            Work::Host { x } => {
                let triple =
                    |x: &mut [u32]| x.iter_mut().for_each(|x| *x = x.wrapping_mul(3).wrapping_add(1));
                b.host((self.part(*x).writes::<u32>(),), triple)?;
            }
            Work::Stirred { device, turns, x, y } => {
                let (x, mut y, n) = (self.part(*x), self.part(*y), n(x).1);
                self.on(b, *device).call(stirred::stirred {}, (n, *turns, &x, &mut y))?;
            }
            Work::Far { device, x, y } => {
                let (x, mut y, n) = (self.part(*x), self.part(*y), n(x).1);
                self.on(b, *device).call(far::far {}, (n, &x, &mut y))?;
            }
            Work::If { device, of, modulus, not, body, otherwise } => {
                let flag = self.flag(b, *device, *of, *modulus)?;
                let decision = if *not { !&flag } else { !!&flag };
                match otherwise {
                    None => {
                        let b = self.on(b, *device);
                        b.if_(decision, |b| self.inside(b, body, |_| Ok(())))?;
                    }
                    Some(otherwise) => {
                        let writing = std::cell::RefCell::new(&mut *self);
                        let inside = writing.borrow().inside;
                        let b = if inside { b } else { b.on(*device as u32) };
                        b.if_else(
                            decision,
                            |b| writing.borrow_mut().inside(b, body, |_| Ok(())),
                            |b| writing.borrow_mut().inside(b, otherwise, |_| Ok(())),
                        )?;
                    }
                }
            }
            Work::While { device, turns, body } => {
                let flag = self.on(b, *device).alloc::<u32>(1_u64);
                self.on(b, *device).fill(flag.write(), *turns)?;
                let b = self.on(b, *device);
                b.while_(&flag, |b| {
                    self.inside(b, body, |b| b.launch(count_down {}, (1, 1), (flag.write(),)).map(drop))
                })?;
            }
            Work::Match { device, of, modulus, arms } => {
                let flag = self.flag(b, *device, *of, *modulus)?;
                let b = self.on(b, *device);
                let mut choice = b.match_(&flag);
                let (last, first) = arms.split_last().expect("arms");
                for (at, arm) in first.iter().enumerate() {
                    choice = choice.arm([at as u32], |b| self.inside(b, arm, |_| Ok(())));
                }
                choice.otherwise(|b| self.inside(b, last, |_| Ok(())))?;
            }
        }
        Ok(())
    }
}

/// Builds the program with budgets derived from its plan without a budget.
fn within_budget(
    program: &Program,
    contexts: &[Arc<CudaContext>],
    arguments: &mut [Bound],
    (random, seen): (&mut Random, &mut Seen),
    name: &str,
) -> Option<u64> {
    let planned = |arguments: &mut [Bound], budget| {
        let built = build(program, contexts, arguments, 1, budget)?;
        Ok::<_, Error>(
            built.graph.report().plan.map_or(0, |plan| plan.devices.iter().copied().max().unwrap_or(0)),
        )
    };
    let free = planned(arguments, None).unwrap_or_else(|error| panic!("{name}: {error}\n{program:#?}"));
    // A budget of this size changes nothing.
    let same = planned(arguments, Some(free));
    let same = same.unwrap_or_else(|error| panic!("{name}: {free} bytes are planned: {error}\n{program:#?}"));
    assert!(same <= free, "{name}");
    let less = free - random.below(u32::try_from(free / 256).unwrap_or(0) + 1) as u64 * 256;
    match planned(arguments, Some(less)) {
        Ok(planned) => {
            assert!(planned <= less, "{name}: {planned} bytes with a budget of {less}\n{program:#?}");
            Some(less)
        }
        Err(Error::Budget { .. }) => {
            seen.refused_budgets += 1;
            Some(free)
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Runs a program. Panics if its results differ from plain Rust.
pub fn check(
    program: &Program,
    contexts: &[Arc<CudaContext>],
    random: &mut Random,
    seen: &mut Seen,
    name: &str,
) {
    let streams: Vec<_> = contexts.iter().map(|ctx| ctx.new_stream().expect("a stream")).collect();
    let words = |random: &mut Random| -> Vec<u32> { (0..LEN).map(|_| random.word() as u32).collect() };
    let mut values: Vec<Vec<u32>> = program.arguments.iter().map(|_| words(random)).collect();
    let arguments = program.arguments.iter().zip(&values);
    let mut arguments: Vec<Bound> =
        arguments.map(|(argument, values)| bound(argument.home, values, contexts, &streams)).collect();
    // Shared buffers, through which the host and other streams access bound memory.
    let mut shared: Vec<Option<Buffer<u32>>> = Vec::new();
    let mut managed: Vec<Option<Managed<u32>>> = Vec::new();
    for argument in &arguments {
        shared.push(if let Bound::Shared(buffer) = argument { Some(buffer.clone()) } else { None });
        managed.push(if let Bound::Managed(memory) = argument { Some(memory.clone()) } else { None });
    }
    let budget = (program.budget && program.memory != Some(Memory::Nodes))
        .then(|| within_budget(program, contexts, &mut arguments, (random, seen), name))
        .flatten();
    let mut scalar = random.below(1000_u32);
    let built = build(program, contexts, &mut arguments, scalar, budget);
    let Built { graph, handles, scalar: by } =
        built.unwrap_or_else(|error| panic!("{name}: {error}\n{program:#?}"));
    let fail = |error: Error| -> ! { panic!("{name}: {error}\n{program:#?}") };
    let mut exec = graph.instantiate().unwrap_or_else(|error| fail(error));
    for launch in 0..1 + random.below(3_u32) {
        if launch > 0 && random.one_in(2) {
            scalar = random.below(1000_u32);
            exec.set_scalar(&by, scalar).unwrap_or_else(|error| fail(error));
            seen.setters += 1;
        }
        for at in (0..program.arguments.len()).filter(|_| launch > 0) {
            let home = program.arguments[at].home;
            match random.below(6_u32) {
                // The host or another stream changes a bound buffer.
                0 => {
                    let new = words(random);
                    if let Some(memory) = &mut managed[at] {
                        memory.host_mut().unwrap_or_else(|error| fail(error)).copy_from_slice(&new);
                    } else if let (Some(buffer), Home::Shared(device)) = (&shared[at], home) {
                        buffer.copy_from_host(&streams[device], &new).unwrap_or_else(|error| fail(error));
                    } else {
                        continue;
                    }
                    values[at] = new;
                }
                // Another buffer is bound.
                1 => {
                    let new = words(random);
                    match (home, bound(home, &new, contexts, &streams)) {
                        (Home::Shared(_), Bound::Shared(buffer)) => {
                            exec.set_buffer(&handles[at], &buffer).unwrap_or_else(|error| fail(error));
                            shared[at] = Some(buffer);
                        }
                        (Home::Managed(_), Bound::Managed(memory)) => {
                            exec.set_buffer(&handles[at], &memory).unwrap_or_else(|error| fail(error));
                            managed[at] = Some(memory);
                        }
                        _ => continue,
                    }
                    seen.setters += 1;
                    values[at] = new;
                }
                _ => {}
            }
        }
        exec.launch(&streams[0]).unwrap_or_else(|error| fail(error));
        evaluate(program, &mut values, scalar);
    }
    seen.note(&exec.report());
    drop(exec);
    for (at, argument) in arguments.iter().enumerate() {
        let found = match argument {
            Bound::Slice(slice) => slice.stream().clone_dtoh(slice).expect("a download"),
            Bound::Pinned(pinned) => pinned.as_slice().expect("elements").to_vec(),
            Bound::Shared(_) => {
                let buffer = shared[at].as_ref().expect("a buffer");
                buffer.to_host(buffer.stream()).unwrap_or_else(|error| fail(error))
            }
            Bound::Managed(_) => managed[at]
                .as_ref()
                .expect("managed memory")
                .host()
                .unwrap_or_else(|error| fail(error))
                .to_vec(),
        };
        let differs = found.iter().zip(&values[at]).position(|(found, expected)| found != expected);
        assert_eq!(differs, None, "{name}, argument {at}\n{program:#?}");
    }
    let reports = cuweave_sim::take_reports().expect("reports");
    assert!(reports.is_empty(), "{name}: {reports:?}\n{program:#?}");
}
