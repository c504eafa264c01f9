//! Random chains of launches: as written, fused, batched, overlapped, and everything at once. Each form must give
//! the results of plain Rust, and the simulated driver must not report anything.

use cudarc::driver::CudaSlice;
use cuweave::__private::change_next_rules;
use cuweave::builder::{Builder, Handle, Launches};
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};
use cuweave_testkit::random::Random;

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/fused.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn linear(x: &mut [u32; n], a: u32, b: u32, n: u32);
        pub fn mixed(a: &[u32; n], b: &[u32; n], out: &mut [MaybeUninit<u32>; n], n: u32);
        pub fn strided(x: &mut [u32; n], a: u32, n: u32);
        pub fn odd(x: &[u32; n], y: &mut [u32; n], n: u32);
        pub fn sums(x: &mut [u32; n], n: u32);
        pub fn turned(x: &[u32; n], y: &mut [u32; n], n: u32);
        pub fn rows(x: &mut [u32; width * rows], width: u32, rows: u32);
        pub fn mirrored(x: &[u32; n], y: &mut [MaybeUninit<u32>; n], n: u32);
        pub fn shifted(x: &[u32; n], y: &mut [u32; n], k: u32, n: u32);
    }
}

/// A launch, by the buffers that it gets.
#[derive(Clone, Copy, Debug)]
enum Step {
    Linear(usize, u32, u32),
    Mixed(usize, usize, usize),
    Strided(usize, u32),
    Odd(usize, usize),
    Sums(usize),
    Turned(usize, usize),
    Rows(usize),
    Mirrored(usize, usize),
    Shifted(usize, usize, u32),
    /// Through a temporary into a buffer.
    Through(usize, usize, usize),
    /// A copy of one buffer to another without a kernel.
    Copy(usize, usize),
}

const THREADS: u32 = 64;
const BUFFERS: usize = 5;

/// A chain on buffers of `n` elements.
#[derive(Clone, Debug)]
struct Program {
    n: u32,
    blocks: u32,
    steps: Vec<Step>,
}

impl Program {
    fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let blocks = random.choose(&[1, 1, 2, 3, 7]);
        let n = blocks * THREADS - random.choose(&[0, 0, 1, 5, 63]);
        let count = random.choose(&[3, 8, 20, 70]);
        // Some programs write only one buffer: one chain as long as the program.
        let straight = seed.is_multiple_of(3);
        let steps =
            (0..count).map(|_| step(&mut random)).map(|one| if straight { one.straight() } else { one });
        Program { n, blocks, steps: steps.collect() }
    }
}

impl Step {
    /// Returns the step with its writes confined to one buffer.
    fn straight(self) -> Step {
        match self {
            Step::Linear(_, a, b) => Step::Linear(0, a, b),
            Step::Mixed(..) => Step::Odd(3, 0),
            Step::Strided(_, a) => Step::Strided(0, a),
            Step::Odd(..) => Step::Odd(1, 0),
            Step::Sums(_) | Step::Copy(..) => Step::Sums(0),
            Step::Turned(..) => Step::Turned(2, 0),
            Step::Rows(_) => Step::Rows(0),
            Step::Mirrored(..) => Step::Mirrored(1, 0),
            Step::Shifted(_, _, k) => Step::Shifted(4, 0, k),
            Step::Through(..) => Step::Through(1, 2, 0),
        }
    }
}

fn step(random: &mut Random) -> Step {
    let mut buffers: Vec<usize> = (0..BUFFERS).collect();
    let mut any = || buffers.swap_remove(random.below(buffers.len()));
    let (x, y, z) = (any(), any(), any());
    let number = random.below(9_u32) + 1;
    match random.below(20_u32) {
        0..=4 => Step::Linear(x, number, 3),
        5..=7 => Step::Mixed(x, y, z),
        8 => Step::Strided(x, number),
        9 | 10 => Step::Odd(x, y),
        11 | 12 => Step::Sums(x),
        13 => Step::Turned(x, y),
        14 => Step::Rows(x),
        15 => Step::Mirrored(x, y),
        16 => Step::Shifted(x, y, number),
        17 | 18 => Step::Through(x, y, z),
        _ => Step::Copy(x, y),
    }
}

/// Runs the statements sequentially on the host.
fn meaning(program: &Program, buffers: &mut [Vec<u32>]) {
    let (n, threads) = (program.n as usize, THREADS as usize);
    let width = program.n / program.blocks;
    for &step in &program.steps {
        match step {
            Step::Linear(x, a, b) => {
                buffers[x].iter_mut().for_each(|x| *x = x.wrapping_mul(a).wrapping_add(b));
            }
            Step::Mixed(a, b, out) => {
                let made = |at: usize| buffers[a][at] ^ buffers[b][at].wrapping_add(1);
                buffers[out] = (0..n).map(made).collect();
            }
            Step::Strided(x, a) => {
                let x = (0..).zip(&mut buffers[x]);
                x.for_each(|(at, x): (u32, _)| *x = x.wrapping_add(a.wrapping_mul(at)));
            }
            Step::Odd(x, y) => {
                for at in (0..n).filter(|&at| buffers[x][at] & 1 == 1).collect::<Vec<_>>() {
                    buffers[y][at] = buffers[y][at].wrapping_add(buffers[x][at]);
                }
            }
            Step::Sums(x) => {
                for block in buffers[x].chunks_mut(threads) {
                    let sum = block.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
                    block.iter_mut().for_each(|x| *x = x.wrapping_add(sum));
                }
            }
            Step::Turned(x, y) => {
                for first in (0..n).step_by(threads) {
                    for at in 0..threads {
                        let from = first + threads - 1 - at;
                        if first + at < n && from < n {
                            buffers[y][first + at] = buffers[x][from];
                        }
                    }
                }
            }
            Step::Rows(x) => {
                let rows = buffers[x].chunks_mut(width as usize).take(program.blocks as usize);
                for row in rows.filter(|row| row.len() == width as usize) {
                    let most = row.iter().copied().max().unwrap_or(0);
                    row.iter_mut().for_each(|x| *x = x.wrapping_add(most));
                }
            }
            Step::Mirrored(x, y) => {
                buffers[y] = buffers[x].iter().rev().map(|x| x.wrapping_add(1)).collect();
            }
            Step::Shifted(x, y, k) => {
                for at in 0..n {
                    buffers[y][at] = buffers[y][at].wrapping_add(buffers[x][(at + k as usize) % n]);
                }
            }
            Step::Through(a, b, x) => {
                let t: Vec<u32> = (0..n).map(|at| buffers[a][at] ^ buffers[b][at].wrapping_add(1)).collect();
                for at in (0..n).filter(|&at| t[at] & 1 == 1) {
                    buffers[x][at] = buffers[x][at].wrapping_add(t[at]);
                }
            }
            Step::Copy(x, y) => buffers[y] = buffers[x].clone(),
        }
    }
}

/// The forms of the launches: an option, and a change of the rules.
#[derive(Clone, Copy, Debug)]
enum Form {
    Option(Option<Launches>),
    NotFused,
    /// Everything, with this maximum number of launches per fused kernel.
    Most(usize),
    NotOverlapped,
    /// Through memory.
    NotForwarded,
}

const FORMS: [Form; 8] = [
    Form::Option(Some(Launches::AsWritten)),
    Form::Option(Some(Launches::Fused)),
    Form::Option(None),
    Form::NotFused,
    Form::NotOverlapped,
    Form::NotForwarded,
    Form::Most(2),
    Form::Most(7),
];

fn run(device: &Device, program: &Program, form: Form, data: &[Vec<u32>]) -> (Vec<Vec<u32>>, Report) {
    let mut own: Vec<CudaSlice<u32>> = data.iter().map(|data| device.upload(data)).collect();
    let mut b = Builder::with_name(&device.ctx, "chain");
    if let Form::Option(Some(option)) = form {
        b.launches(option);
    }
    let n = program.n;
    let handles: Vec<Handle> = own
        .iter_mut()
        .enumerate()
        .map(|(at, own)| b.exclusive(&format!("b{at}"), u64::from(n), own))
        .collect();
    let [x, shared] = [(program.blocks, THREADS), (program.blocks, THREADS)];
    let staged = (shared.0, shared.1, 4 * THREADS);
    let of = |at: usize| handles[at];
    for &step in &program.steps {
        let launched = match step {
            Step::Linear(at, a, c) => b.launch(kernels::linear {}, x, (of(at).write(), a, c, n)),
            Step::Mixed(a, c, out) => {
                b.launch(kernels::mixed {}, x, (of(a).read(), of(c).read(), of(out).write(), n))
            }
            Step::Strided(at, a) => b.launch(kernels::strided {}, x, (of(at).write(), a, n)),
            Step::Odd(from, to) => b.launch(kernels::odd {}, x, (of(from).read(), of(to).write(), n)),
            Step::Sums(at) => b.launch(kernels::sums {}, x, (of(at).write(), n)),
            Step::Turned(from, to) => {
                b.launch(kernels::turned {}, staged, (of(from).read(), of(to).write(), n))
            }
            Step::Rows(at) => {
                b.launch(kernels::rows {}, x, (of(at).write(), n / program.blocks, program.blocks))
            }
            Step::Mirrored(from, to) => {
                b.launch(kernels::mirrored {}, x, (of(from).read(), of(to).write(), n))
            }
            Step::Shifted(from, to, k) => {
                b.launch(kernels::shifted {}, x, (of(from).read(), of(to).write(), k, n))
            }
            Step::Through(a, c, to) => {
                let t = b.alloc::<u32>(u64::from(n));
                b.launch(kernels::mixed {}, x, (of(a).read(), of(c).read(), t.write(), n)).expect("a launch");
                b.launch(kernels::odd {}, x, (t.read(), of(to).write(), n))
            }
            Step::Copy(from, to) => b.copy(of(from).read(), of(to).write()),
        };
        launched.unwrap_or_else(|error| panic!("{step:?}: {error}"));
    }
    match form {
        Form::Option(_) => {}
        Form::NotFused => change_next_rules(|_, _, rules| rules.allowed.fuse = false),
        Form::NotOverlapped => change_next_rules(|_, _, rules| rules.allowed.overlap = false),
        Form::NotForwarded => change_next_rules(|_, _, rules| rules.allowed.forward = false),
        Form::Most(most) => change_next_rules(move |_, _, rules| rules.tuning.fused = most),
    }
    let graph = b.build().expect("a graph");
    let report = graph.report();
    let mut exec = graph.instantiate().expect("an exec");
    for _ in 0..2 {
        exec.launch(&device.stream).expect("a launch");
    }
    drop(exec);
    (own.iter().map(|own| device.download(own)).collect(), report)
}

#[test]
fn chains_mean_their_launches_in_every_form() {
    let device = device();
    let (mut fused, mut longest, mut launches, mut nodes) = (0, 0, 0, 0);
    for seed in 0..device.scaled(60, 160) {
        let program = Program::random(seed);
        let mut random = Random::new(seed + 1_000);
        let data: Vec<Vec<u32>> =
            (0..BUFFERS).map(|_| (0..program.n).map(|_| random.below(1_000_u32)).collect()).collect();
        let mut expected = data.clone();
        meaning(&program, &mut expected);
        meaning(&program, &mut expected);
        for (at, form) in (0..).zip(FORMS) {
            device.schedule((seed + at) % 5);
            let (left, report) = run(&device, &program, form, &data);
            assert!(left == expected, "program {seed}, {form:?}: other bytes\n{report}\n{program:?}");
            let may_fuse = !matches!(form, Form::NotFused | Form::Option(Some(Launches::AsWritten)));
            assert!(may_fuse || report.fused.is_empty(), "{form:?}: {report}");
            if let Form::Option(None) = form {
                fused += report.fused.len();
                longest = report.fused.iter().map(Vec::len).fold(longest, usize::max);
                launches += report.launches;
                nodes += report.kernels;
            }
        }
    }
    device.nothing_reported();
    println!("{launches} launches in {nodes} nodes, {fused} of them fused, of up to {longest}");
    assert!(fused > 100 && longest == 32, "{fused} fused, of up to {longest}");
}

mod graphs {
    use super::kernels::{linear, mirrored, odd, sums};
    use cuweave::prelude::*;

    /// Both scalars and the buffers have setters.
    #[cuweave::graph(launches = "fused")]
    pub fn settable(n: u32, a: u32, pos: u32, x: &mut [u32; n], y: &mut [u32; 3 * n], z: &[u32; n]) {
        linear[(4, 64)](&mut x, a, 1, n);
        odd[(4, 64)](&z, &mut x, n);
        linear[(4, 64)](&mut x, 3, a, n);
        sums[(4, 64)](&mut x, n);
        odd[(4, 64)](&x, &mut y[pos..pos + n], n);
        linear[(4, 64)](&mut y[pos..pos + n], 5, 1, n);
    }

    /// The temporaries of a chain are live at the same time, and two chains share memory.
    #[cuweave::graph(launches = "fused")]
    pub fn temporaries(n: u32, x: &[u32; n], y: &mut [u32; n]) {
        for _ in 0..2 {
            let a = alloc::<u32>(n);
            let b = alloc::<u32>(n);
            mirrored[(4, 64)](&x, &mut a, n);
            linear[(4, 64)](&mut a, 3, 1, n);
            mirrored[(4, 64)](&a, &mut b, n);
            odd[(4, 64)](&b, &mut y, n);
        }
    }
}

fn linear(x: &mut [u32], a: u32, b: u32) {
    x.iter_mut().for_each(|x| *x = x.wrapping_mul(a).wrapping_add(b));
}

fn odd(x: &[u32], y: &mut [u32]) {
    x.iter().zip(y).filter(|(x, _)| *x & 1 == 1).for_each(|(x, y)| *y = y.wrapping_add(*x));
}

#[test]
fn setters_reach_the_members_of_a_chain() {
    let device = device();
    let n = 250_usize;
    let numbers = |by: u32| (0..n as u32).map(|at| at.wrapping_mul(by) % 1_001).collect::<Vec<u32>>();
    let (mut first, mut second) = (device.upload(&numbers(7)), device.upload(&numbers(11)));
    let (mut expected_first, mut expected_second) = (numbers(7), numbers(11));
    let mut y = device.zeros::<u32>(3 * n);
    let mut expected = vec![0_u32; 3 * n];
    let z = device.upload(&numbers(13));
    let mut once = |x: &mut [u32], a: u32, pos: usize| {
        linear(x, a, 1);
        odd(&numbers(13), x);
        linear(x, 3, a);
        for block in x.chunks_mut(64) {
            let sum = block.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
            block.iter_mut().for_each(|x| *x = x.wrapping_add(sum));
        }
        odd(x, &mut expected[pos..pos + n]);
        linear(&mut expected[pos..pos + n], 5, 1);
    };
    let graph = graphs::settable(&device.ctx, n as u32, 5, 0, &mut first, &mut y, &z).expect("a graph");
    let report = graph.report();
    // The last two launches are independent of the other accesses to `y`.
    assert_eq!(report.fused.iter().map(Vec::len).collect::<Vec<_>>(), [5], "{report}");
    assert!(report.to_string().contains("fused: `linear` (line"), "{report}");
    let mut exec = graph.instantiate().expect("an exec");
    let launch = |exec: &mut graphs::settable::Exec<'_>| exec.launch(&device.stream).expect("a launch");
    launch(&mut exec);
    once(&mut expected_first, 5, 0);
    exec.set_a(9).expect("a");
    exec.set_pos(100).expect("pos");
    launch(&mut exec);
    once(&mut expected_first, 9, 100);
    exec.set_x(&mut second).expect("x");
    launch(&mut exec);
    once(&mut expected_second, 9, 100);
    drop(exec);
    assert_eq!(device.download(&first), expected_first);
    assert_eq!(device.download(&second), expected_second);
    assert_eq!(device.download(&y), expected);
    device.nothing_reported();
}

#[test]
fn temporaries_of_a_chain_are_alive_at_once() {
    let device = device();
    let n = 256_usize;
    let x: Vec<u32> = (0..n as u32).map(|at| at * 37 % 1_001).collect();
    let (own, mut y) = (device.upload(&x), device.zeros::<u32>(n));
    let graph = graphs::temporaries(&device.ctx, n as u32, &own, &mut y).expect("a graph");
    let report = graph.report();
    // The second `mirrored` reads what other blocks write, so it begins another chain. The last `odd` waits for the
    // first.
    assert_eq!(report.fused.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2], "{report}");
    let mut exec = graph.instantiate().expect("an exec");
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    let mirrored = |x: &[u32]| x.iter().rev().map(|x| x + 1).collect::<Vec<u32>>();
    let mut a = mirrored(&x);
    linear(&mut a, 3, 1);
    let mut expected = vec![0; n];
    odd(&mirrored(&a), &mut expected);
    odd(&mirrored(&a), &mut expected);
    assert_eq!(device.download(&y), expected);
    device.nothing_reported();
}
