//! Random parallel chains: as written, batched, overlapped, each in one kernel, and all in one kernel. Each form
//! must give the results of plain Rust, and the simulated driver must not report anything.

use cudarc::driver::CudaSlice;
use cuweave::__private::{LaunchRules, change_next_rules};
use cuweave::builder::{Builder, Handle, Launches};
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};
use cuweave_testkit::random::Random;

use super::{kernels, linear, mixed, odd, sums};

/// A launch of each chain, on its own two buffers and one that all chains read.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The scalar differs between chains.
    Linear(usize, u32),
    /// Adds the buffer that all chains read to one of its own buffers, and stores the sum in the other.
    Mixed(usize),
    Strided(usize),
    Odd(usize),
    Sums(usize),
    Turned(usize),
    Rows(usize),
    /// Uses named barriers.
    Exchanged(usize),
    /// Threads of odd elements exit early.
    Evened(usize),
    Spread(usize),
    /// Through a temporary into a buffer.
    Through(usize),
    /// A step that cannot be in one kernel with others.
    Mirrored(usize),
    /// Chain `i` reads what chain `i + 1` wrote.
    Neighbour(usize),
    /// A step that only even chains have.
    Even(usize),
    /// A kernel after all chains and before the following steps.
    Join,
    /// A copy from one own buffer to the other.
    Copy(usize),
}

const THREADS: u32 = 64;

#[derive(Clone, Debug)]
struct Program {
    /// The number of blocks of each chain.
    blocks: Vec<u32>,
    /// The number of elements of each chain.
    n: Vec<u32>,
    steps: Vec<Step>,
    /// True if the launches are in the body of a conditional.
    conditional: bool,
    /// True if the buffers of all chains are parts of one buffer, in another order.
    parts: bool,
    /// True if the temporaries must not need more memory than those of the launches as written.
    budget: bool,
}

impl Program {
    fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let chains = random.choose(&[2, 2, 3, 5, 8, 17]);
        let common = random.choose(&[1, 1, 2, 3]);
        let differ = random.below(4_u32) == 0;
        let blocks: Vec<u32> =
            (0..chains).map(|_| if differ { random.choose(&[1, 2, 5]) } else { common }).collect();
        let short = random.choose(&[0, 0, 1, 5, 63]);
        let n = blocks.iter().map(|blocks| blocks * THREADS - short).collect();
        let count = random.choose(&[2, 4, 9, 40]);
        // Mostly steps that do not access other chains.
        let strange = random.choose(&[0, 1, 4]);
        let steps = (0..count).map(|_| step(&mut random, strange)).collect();
        let conditional = random.below(5_u32) == 0;
        let [parts, budget] = [2_u32, 6].map(|most| random.below(most) == 0);
        Program { blocks, n, steps, conditional, parts, budget }
    }
}

fn step(random: &mut Random, strange: u32) -> Step {
    let x = random.below(2_usize);
    match random.below(19 + strange) {
        0..=3 => Step::Linear(x, random.below(9_u32) + 1),
        4 | 5 => Step::Mixed(x),
        6 => Step::Strided(x),
        7 | 8 => Step::Odd(x),
        9 | 10 => Step::Sums(x),
        11 => Step::Turned(x),
        12 => Step::Rows(x),
        13..=15 => Step::Through(x),
        16 => Step::Exchanged(x),
        17 => Step::Evened(x),
        18 => Step::Spread(x),
        19 => Step::Join,
        20 => random.choose(&[Step::Mirrored(x), Step::Copy(x)]),
        21 => Step::Neighbour(x),
        _ => Step::Even(x),
    }
}

/// The buffers: one that all chains read, and two of each chain.
#[derive(Clone, PartialEq, Debug)]
struct Data {
    all: Vec<u32>,
    own: Vec<[Vec<u32>; 2]>,
    joined: Vec<u32>,
}

impl Data {
    fn random(program: &Program, seed: u64) -> Data {
        let mut random = Random::new(seed + 1_000);
        let most = program.n.iter().copied().max().unwrap_or(0);
        let mut list = |n: u32| (0..n).map(|_| random.below(1_000_u32)).collect::<Vec<u32>>();
        let all = list(most);
        let own = program.n.iter().map(|&n| [list(n), list(n)]).collect();
        Data { all, own, joined: list(THREADS) }
    }
}

/// Runs the statements sequentially on the host.
fn meaning(program: &Program, data: &mut Data) {
    let threads = THREADS as usize;
    for &step in &program.steps {
        if let Step::Join = step {
            for own in &data.own {
                let n = own[0].len().min(threads);
                odd(&own[0][..n], &mut data.joined[..n]);
            }
            let joined = data.joined.clone();
            for own in &mut data.own {
                let n = own[1].len().min(threads);
                odd(&joined[..n], &mut own[1][..n]);
            }
            continue;
        }
        let before = data.own.clone();
        for (at, (own, &blocks)) in data.own.iter_mut().zip(&program.blocks).enumerate() {
            let n = own[0].len();
            let both = |x: usize| (before[at][x].clone(), 1 - x);
            match step {
                Step::Linear(x, a) => {
                    linear(&mut own[x], a, at as u32 + 3);
                }
                Step::Mixed(x) => own[1 - x] = mixed(&data.all[..n], &own[x]),
                Step::Strided(x) => {
                    let own = (0..).zip(&mut own[x]);
                    own.for_each(|(i, x): (u32, _)| *x = x.wrapping_add(i.wrapping_mul(at as u32 + 1)));
                }
                Step::Odd(x) => {
                    let (from, to) = both(x);
                    odd(&from, &mut own[to]);
                }
                Step::Sums(x) => sums(&mut own[x]),
                Step::Turned(x) => {
                    let (from, to) = both(x);
                    for first in (0..n).step_by(threads) {
                        for t in 0..threads {
                            let other = first + threads - 1 - t;
                            if first + t < n && other < n {
                                own[to][first + t] = from[other];
                            }
                        }
                    }
                }
                Step::Rows(x) => {
                    let width = n / blocks as usize;
                    let rows = own[x].chunks_mut(width).take(blocks as usize);
                    for row in rows.filter(|row| row.len() == width) {
                        let most = row.iter().copied().max().unwrap_or(0);
                        row.iter_mut().for_each(|x| *x = x.wrapping_add(most));
                    }
                }
                Step::Exchanged(x) => {
                    for block in own[x].chunks_mut(threads) {
                        let mut seen = block.to_vec();
                        seen.resize(threads, 7);
                        let odd = seen.iter().filter(|x| *x & 1 == 1).count() as u32;
                        for (t, x) in block.iter_mut().enumerate() {
                            *x = x.wrapping_add(seen[t ^ 1].wrapping_mul(3)).wrapping_add(odd);
                        }
                    }
                }
                Step::Evened(x) => {
                    let even = own[x].iter_mut().filter(|x| **x & 1 == 0);
                    even.for_each(|x| *x = x.wrapping_mul(2).wrapping_add(at as u32));
                }
                Step::Spread(x) => {
                    own[1 - x] = before[at][x].iter().map(|x| x.wrapping_add(at as u32 + 5)).collect();
                }
                Step::Through(x) => {
                    let t = mixed(&own[x], &data.all[..n]);
                    odd(&t, &mut own[1 - x]);
                }
                Step::Mirrored(x) => {
                    own[1 - x] = before[at][x].iter().rev().map(|x| x.wrapping_add(1)).collect()
                }
                Step::Neighbour(x) => {
                    let from = &before[(at + 1) % before.len()][x];
                    let n = n.min(from.len());
                    odd(&from[..n], &mut own[1 - x][..n]);
                }
                Step::Even(x) if at % 2 == 0 => {
                    linear(&mut own[x], 5, 1);
                }
                Step::Even(_) | Step::Join => {}
                Step::Copy(x) => own[1 - x] = before[at][x].clone(),
            }
        }
    }
}

/// The forms of the launches: an option, or a change of the rules.
#[derive(Clone, Copy)]
enum Form {
    Option(&'static str, Option<Launches>),
    Rules(&'static str, fn(&mut LaunchRules)),
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Option(name, _) | Form::Rules(name, _) => name,
        }
    }
}

const FORMS: [Form; 11] = [
    Form::Option("as written", Some(Launches::AsWritten)),
    Form::Option("batched", Some(Launches::Batched)),
    Form::Option("overlapped", Some(Launches::Overlapped)),
    Form::Option("fused", Some(Launches::Fused)),
    Form::Option("everything", None),
    Form::Rules("not stacked", |rules| rules.tuning.chains.stacked = None),
    Form::Rules("not fused", |rules| rules.allowed.fuse = false),
    Form::Rules("not overlapped", |rules| rules.allowed.overlap = false),
    Form::Rules("not forwarded", |rules| rules.allowed.forward = false),
    Form::Rules("two bodies at most", |rules| rules.tuning.fused = 2),
    Form::Rules("nothing flattened", |rules| rules.tuning.flat = cuweave_core::launches::tuning::Waves(0, 1)),
];

fn body(
    b: &mut Builder<'_>,
    program: &Program,
    all: Handle,
    own: &[[cuweave::builder::View; 2]],
    joined: Handle,
) {
    let chains = program.blocks.len();
    for &step in &program.steps {
        if let Step::Join = step {
            for (own, &n) in own.iter().zip(&program.n) {
                let n = n.min(THREADS);
                let (from, to) = (own[0].range(0, n), joined.range(0, n));
                b.launch(kernels::odd {}, (1, THREADS), (from.read(), to.write(), n)).expect("a launch");
            }
            for (own, &n) in own.iter().zip(&program.n) {
                let n = n.min(THREADS);
                let (from, to) = (joined.range(0, n), own[1].range(0, n));
                b.launch(kernels::odd {}, (1, THREADS), (from.read(), to.write(), n)).expect("a launch");
            }
            continue;
        }
        // A chain reads the elements of its neighbour as they were before the step.
        if let Step::Neighbour(x) = step {
            let old: Vec<Handle> = (0..chains)
                .map(|at| {
                    let t = b.alloc::<u32>(u64::from(program.n[at]));
                    b.copy(own[at][x].read(), t.write()).expect("a copy");
                    t
                })
                .collect();
            for (at, own) in own.iter().enumerate() {
                let other = (at + 1) % chains;
                let n = program.n[at].min(program.n[other]);
                let (from, to) = (old[other].range(0, n), own[1 - x].range(0, n));
                b.launch(kernels::odd {}, (program.blocks[at], THREADS), (from.read(), to.write(), n))
                    .expect("a launch");
            }
            continue;
        }
        for (at, own) in own.iter().enumerate() {
            let (blocks, n) = (program.blocks[at], program.n[at]);
            let (x, staged) = ((blocks, THREADS), (blocks, THREADS, 4 * THREADS));
            let number = at as u32;
            let launched = match step {
                Step::Linear(to, a) => b.launch(kernels::linear {}, x, (own[to].write(), a, number + 3, n)),
                Step::Mixed(from) => {
                    let (all, to) = (all.range(0, n).read(), own[1 - from].write());
                    b.launch(kernels::mixed {}, x, (all, own[from].read(), to, n))
                }
                Step::Strided(to) => b.launch(kernels::strided {}, x, (own[to].write(), number + 1, n)),
                Step::Odd(from) => b.launch(kernels::odd {}, x, (own[from].read(), own[1 - from].write(), n)),
                Step::Sums(to) => b.launch(kernels::sums {}, x, (own[to].write(), n)),
                Step::Turned(from) => {
                    b.launch(kernels::turned {}, staged, (own[from].read(), own[1 - from].write(), n))
                }
                Step::Rows(to) => {
                    let width = n / blocks;
                    b.launch(kernels::rows {}, x, (own[to].range(0, width * blocks).write(), width, blocks))
                }
                Step::Exchanged(to) => b.launch(kernels::exchanged {}, x, (own[to].write(), n)),
                Step::Evened(to) => b.launch(kernels::evened {}, x, (own[to].write(), number, n)),
                Step::Spread(from) => {
                    b.launch(kernels::spread {}, x, (own[from].read(), own[1 - from].write(), number + 5, n))
                }
                Step::Through(from) => {
                    let t = b.alloc::<u32>(u64::from(n));
                    let all = all.range(0, n).read();
                    b.launch(kernels::mixed {}, x, (own[from].read(), all, t.write(), n)).expect("a launch");
                    b.launch(kernels::odd {}, x, (t.read(), own[1 - from].write(), n))
                }
                Step::Mirrored(from) => {
                    b.launch(kernels::mirrored {}, x, (own[from].read(), own[1 - from].write(), n))
                }
                Step::Even(to) if at % 2 == 0 => {
                    b.launch(kernels::linear {}, x, (own[to].write(), 5_u32, 1_u32, n))
                }
                Step::Copy(from) => b.copy(own[from].read(), own[1 - from].write()),
                Step::Even(_) | Step::Join | Step::Neighbour(_) => continue,
            };
            launched.unwrap_or_else(|error| panic!("{step:?}: {error}"));
        }
    }
}

/// Returns the buffers after two launches, and the report. The budget applies to the temporaries.
fn run(device: &Device, program: &Program, form: Form, data: &Data, budget: Option<u64>) -> (Data, Report) {
    let upload = |list: &[u32]| device.upload(list);
    let mut all = upload(&data.all);
    let mut joined = upload(&data.joined);
    // One buffer for all chains, or two for each chain.
    let mut left = data.clone();
    let whole: Vec<u32> = data.own.iter().rev().flat_map(|[x, y]| [y.clone(), x.clone()].concat()).collect();
    let mut parts = upload(&whole);
    let mut single: Vec<[CudaSlice<u32>; 2]> = data.own.iter().map(|[x, y]| [upload(x), upload(y)]).collect();
    let mut b = Builder::with_name(&device.ctx, "stacks");
    if let Form::Option(_, Some(option)) = form {
        b.launches(option);
    }
    if let Some(budget) = budget {
        b.budget(budget);
    }
    let shared = b.exclusive("all", all.len() as u64, &mut all);
    let to_joined = b.exclusive("joined", joined.len() as u64, &mut joined);
    let own = match program.parts {
        true => {
            let all = b.exclusive("parts", whole.len() as u64, &mut parts);
            let mut first = 0;
            let mut views: Vec<_> = program
                .n
                .iter()
                .rev()
                .map(|&n| {
                    let (y, x) = (all.range(first, first + n), all.range(first + n, first + 2 * n));
                    first += 2 * n;
                    [x, y]
                })
                .collect();
            views.reverse();
            views
        }
        false => {
            let mut views = Vec::new();
            for (at, [x, y]) in single.iter_mut().enumerate() {
                let n = x.len() as u64;
                let [x, y] = [b.exclusive(&format!("x{at}"), n, x), b.exclusive(&format!("y{at}"), n, y)];
                views.push([x.range(0, n), y.range(0, n)]);
            }
            views
        }
    };
    match program.conditional {
        true => {
            let flag = b.exclusive("flag", 1, upload(&[1_u32]));
            b.if_(&flag, |b| {
                body(b, program, shared, &own, to_joined);
                Ok(())
            })
            .expect("a condition");
        }
        false => body(&mut b, program, shared, &own, to_joined),
    }
    if let Form::Rules(_, change) = form {
        change_next_rules(move |_, _, rules| change(rules));
    }
    let graph = b.build().unwrap_or_else(|error| panic!("{}: {error}\n{program:?}", form.name()));
    let mut exec = graph.instantiate().expect("an exec");
    for _ in 0..2 {
        exec.launch(&device.stream).expect("a launch");
    }
    let report = exec.report();
    drop(exec);
    left.joined = device.download(&joined);
    left.all = device.download(&all);
    if program.parts {
        let mut parts = device.download(&parts).into_iter();
        for own in left.own.iter_mut().rev() {
            let n = own[0].len();
            own[1] = parts.by_ref().take(n).collect();
            own[0] = parts.by_ref().take(n).collect();
        }
    } else {
        left.own = single.iter().map(|own| own.each_ref().map(|own| device.download(own))).collect();
    }
    (left, report)
}

#[test]
fn chains_side_by_side_mean_their_launches_in_every_form() {
    let device = device();
    let (mut stacks, mut widest, mut longest) = (0, 0, 0);
    for seed in 0..device.scaled(30, 60) {
        let program = Program::random(seed);
        let data = Data::random(&program, seed);
        let mut expected = data.clone();
        meaning(&program, &mut expected);
        meaning(&program, &mut expected);
        let mut budget = None;
        for (at, form) in (0..).zip(FORMS) {
            device.schedule((seed + at) % 5);
            let (left, report) = run(&device, &program, form, &data, budget);
            if program.budget {
                budget = report.plan.as_ref().map(|plan| plan.planned).filter(|_| at == 0).or(budget);
            }
            assert!(left == expected, "program {seed}, {}: other bytes\n{report}\n{program:?}", form.name());
            let stacked: Vec<usize> = report.stacked.iter().copied().filter(|&chains| chains > 1).collect();
            let never = ["as written", "batched", "overlapped", "fused", "not stacked", "not fused"];
            assert!(stacked.is_empty() || !never.contains(&form.name()), "{}: {report}", form.name());
            if form.name() == "everything" {
                stacks += stacked.len();
                widest = stacked.iter().copied().fold(widest, usize::max);
                let length = |(members, chains): (&Vec<_>, &usize)| members.len() / chains;
                longest = report.fused.iter().zip(&report.stacked).map(length).fold(longest, usize::max);
            }
        }
    }
    device.nothing_reported();
    println!("{stacks} stacks, of up to {widest} chains, of up to {longest} launches");
    assert!(stacks > 20 && widest == 17 && longest > 16, "{stacks}, {widest}, {longest}");
}
