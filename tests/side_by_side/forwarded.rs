//! Elements that stay in registers between fused launches. Random chains give the same bits in every form, and
//! elements that other threads access go through memory.

use cudarc::driver::CudaSlice;
use cuweave::__private::change_next_rules;
use cuweave::builder::{Builder, Handle, Launches};
use cuweave::report::Report;
use cuweave_testkit::device::{Device, device};
use cuweave_testkit::random::Random;

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("tests/kernels/forwarded.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn scaled(x: &mut [f32; n], a: f32, n: u32);
        pub fn added(x: &[f32; n], y: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn subtracted(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn waved(x: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn clipped(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn repeated(x: &[f32; n], y: &mut [f32; n], k: u32, n: u32);
        pub fn swapped(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn turned(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn wide(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn paired(x: &mut [f32; n], n: u32);
        pub fn quads(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn apart(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn strided(x: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn summed(x: &mut [f32; n], n: u32);
        pub fn firsts(x: &[f32; n], s: &mut [f32; n], n: u32);
        pub fn spread(s: &[f32; n], y: &mut [f32; n], n: u32);
        pub fn begun(x: &mut [f32; n], k: u32, n: u32);
        pub fn given(x: &[f32; n], more: &[f32; n], y: &mut [MaybeUninit<f32>; n], n: u32);
        pub fn bytes(x: &[i8; n], y: &mut [MaybeUninit<i8>; n], n: u32);
        pub fn unsigned_bytes(x: &[u8; n], y: &mut [MaybeUninit<u32>; n], n: u32);
        pub fn shorts(x: &[u32; n], y: &mut [MaybeUninit<u16>; n], n: u32);
        pub fn doubles(x: &[u16; n], y: &mut [MaybeUninit<f64>; n], n: u32);
        pub fn double_sums(x: &[f64; n], y: &mut [f64; n], n: u32);
        pub fn tiled(x: &[f32; n], y: &mut [f32; n], width: u32, n: u32);
    }
}

const THREADS: u32 = 64;
const BUFFERS: usize = 4;

/// A launch of a kernel, by its index, on buffers and with a number.
#[derive(Clone, Copy, Debug)]
struct Step {
    kernel: u32,
    of: [usize; 3],
    number: u32,
}

/// A chain on buffers of `n` elements.
#[derive(Clone, Debug)]
struct Program {
    n: u32,
    blocks: u32,
    steps: Vec<Step>,
    /// The number of temporaries. The first steps write each of them.
    temporaries: usize,
}

impl Program {
    fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let blocks = random.choose(&[1, 1, 2, 3, 5]);
        let n = blocks * THREADS - random.choose(&[0, 0, 1, 4, 7, 60, 63]);
        let temporaries = random.choose(&[0, 1, 2, 4]);
        let count = random.choose(&[2, 5, 9, 20, 40]);
        // In most programs, few kernels access what other threads write.
        let kinds = random.choose(&[6_u32, 6, 10, 12, 19]);
        let step = |_| {
            let mut buffers: Vec<usize> = (0..BUFFERS + temporaries).collect();
            let mut any = || buffers.swap_remove(random.below(buffers.len()));
            let of = [any(), any(), any()];
            Step { kernel: random.below(kinds), of, number: random.below(9_u32) + 1 }
        };
        Program { n, blocks, steps: (0..count).map(step).collect(), temporaries }
    }
}

/// The forms of the launches: an option, and a change of the rules.
#[derive(Clone, Copy, Debug)]
enum Form {
    Option(Option<Launches>),
    NotFused,
    NotOverlapped,
    /// Through memory.
    InMemory,
    /// Everything, with this maximum number of launches per fused kernel.
    Most(usize),
}

const FORMS: [Form; 9] = [
    Form::Option(Some(Launches::AsWritten)),
    Form::Option(Some(Launches::Batched)),
    Form::Option(Some(Launches::Overlapped)),
    Form::Option(Some(Launches::Fused)),
    Form::Option(None),
    Form::NotFused,
    Form::NotOverlapped,
    Form::InMemory,
    Form::Most(3),
];

fn launch(b: &mut Builder<'_>, program: &Program, buffers: &[Handle], step: Step) {
    let n = program.n;
    let shape = (program.blocks, THREADS);
    let [x, y, z] = step.of.map(|at| buffers[at]);
    let (a, k) = (step.number as f32 * 0.375, step.number);
    if step.number == 9 {
        // By way of a temporary.
        let t = b.alloc::<f32>(u64::from(n));
        b.launch(kernels::waved {}, shape, (x.read(), t.write(), n)).expect("a launch");
        b.launch(kernels::subtracted {}, shape, (t.read(), y.write(), n)).expect("a launch");
        return;
    }
    let launched = match step.kernel {
        0 => b.launch(kernels::scaled {}, shape, (x.write(), a, n)),
        1 => b.launch(kernels::added {}, shape, (x.read(), y.read(), z.write(), n)),
        2 => b.launch(kernels::subtracted {}, shape, (x.read(), y.write(), n)),
        3 => b.launch(kernels::waved {}, shape, (x.read(), y.write(), n)),
        4 => b.launch(kernels::clipped {}, shape, (x.read(), y.write(), n)),
        5 => b.launch(kernels::repeated {}, shape, (x.read(), y.write(), k, n)),
        6 => b.launch(kernels::wide {}, shape, (x.read(), y.write(), n)),
        7 => b.launch(kernels::begun {}, shape, (x.write(), 20 * k, n)),
        8 => b.launch(kernels::given {}, shape, (x.read(), y.read(), z.write(), n)),
        9 => b.launch(kernels::summed {}, shape, (x.write(), n)),
        10 => b.launch(kernels::paired {}, shape, (x.write(), n)),
        11 => b.launch(kernels::quads {}, shape, (x.read(), y.write(), n)),
        12 => b.launch(kernels::swapped {}, shape, (x.read(), y.write(), n)),
        13 => b.launch(kernels::turned {}, shape, (x.read(), y.write(), n)),
        14 => b.launch(kernels::apart {}, shape, (x.read(), y.write(), n)),
        15 => b.launch(kernels::strided {}, shape, (x.read(), y.write(), n)),
        16 => b.launch(kernels::firsts {}, shape, (x.read(), y.write(), n)),
        17 => b.launch(kernels::spread {}, shape, (x.read(), y.write(), n)),
        _ => b.copy(x.read(), y.write()),
    };
    launched.unwrap_or_else(|error| panic!("{step:?}: {error}"));
}

fn run(device: &Device, program: &Program, form: Form, data: &[Vec<f32>]) -> (Vec<Vec<u32>>, Report) {
    let mut own: Vec<CudaSlice<f32>> = data.iter().map(|data| device.upload(data)).collect();
    let mut b = Builder::with_name(&device.ctx, "chain");
    if let Form::Option(Some(option)) = form {
        b.launches(option);
    }
    let n = u64::from(program.n);
    let mut buffers: Vec<Handle> =
        own.iter_mut().enumerate().map(|(at, own)| b.exclusive(&format!("b{at}"), n, own)).collect();
    for at in 0..program.temporaries {
        let new = b.alloc::<f32>(n);
        let of = (buffers[at % BUFFERS].read(), buffers[(at + 1) % BUFFERS].read(), new.write(), program.n);
        b.launch(kernels::added {}, (program.blocks, THREADS), of).expect("a launch");
        buffers.push(new);
    }
    for &step in &program.steps {
        launch(&mut b, program, &buffers, step);
    }
    match form {
        Form::Option(_) => {}
        Form::NotFused => change_next_rules(|_, _, rules| rules.allowed.fuse = false),
        Form::NotOverlapped => change_next_rules(|_, _, rules| rules.allowed.overlap = false),
        Form::InMemory => change_next_rules(|_, _, rules| rules.allowed.forward = false),
        Form::Most(most) => change_next_rules(move |_, _, rules| rules.tuning.fused = most),
    }
    let graph = b.build().expect("a graph");
    let report = graph.report();
    let mut exec = graph.instantiate().expect("an exec");
    for _ in 0..2 {
        exec.launch(&device.stream).expect("a launch");
    }
    drop(exec);
    let bits = |own: &CudaSlice<f32>| device.download(own).into_iter().map(f32::to_bits).collect();
    (own.iter().map(bits).collect(), report)
}

#[test]
fn chains_leave_the_same_bits_in_every_form() {
    let device = device();
    let (mut loads, mut stores, mut barriers, mut elided, mut members) = (0, 0, 0, 0, 0);
    let programs = device.scaled(50, 150);
    for seed in 0..programs {
        let program = Program::random(seed);
        let mut random = Random::new(seed + 1_000);
        let mut number = || random.below(2_000_u32) as f32 * 0.003 - 2.0;
        let data: Vec<Vec<f32>> = (0..BUFFERS).map(|_| (0..program.n).map(|_| number()).collect()).collect();
        let mut expected = None;
        for (at, form) in (0..).zip(FORMS) {
            device.schedule((seed + at) % 5);
            let (left, report) = run(&device, &program, form, &data);
            match &expected {
                None => expected = Some(left),
                Some(expected) => {
                    assert!(left == *expected, "program {seed}, {form:?}: other bits\n{report}\n{program:?}");
                }
            }
            if let Form::Option(None) = form {
                for chain in &report.forwarded {
                    loads += chain.loads;
                    stores += chain.stores;
                    barriers += chain.barriers;
                    elided += chain.elided.len();
                }
                members += report.fused.iter().map(Vec::len).sum::<usize>();
            }
        }
    }
    device.nothing_reported();
    println!(
        "{members} fused: {loads} loads and {stores} stores less, {barriers} barriers, {elided} left out"
    );
    let many = |count: usize, share: u64| count as u64 * share > programs;
    assert!(many(loads, 1) && many(stores, 1) && many(elided, 4) && many(barriers, 4));
    assert!(2 * barriers < members);
}

mod graphs {
    use super::kernels::*;
    use cuweave::prelude::*;

    /// Two temporaries that only the next kernel reads.
    #[cuweave::graph(launches = "fused")]
    pub fn through(n: u32, x: &[f32; n], y: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        let b = alloc::<f32>(n);
        waved[(4, 64)](&x, &mut a, n);
        scaled[(4, 64)](&mut a, 0.3, n);
        added[(4, 64)](&a, &x, &mut b, n);
        subtracted[(4, 64)](&b, &mut y, n);
    }

    /// `a` is read twice, the second time by a kernel of another chain.
    #[cuweave::graph(launches = "fused")]
    pub fn read_later(n: u32, x: &[f32; n], y: &mut [f32; n], z: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        waved[(4, 64)](&x, &mut a, n);
        subtracted[(4, 64)](&a, &mut y, n);
        added[(2, 128)](&a, &y, &mut z, n);
    }

    /// Another thread of the block reads what a thread writes.
    #[cuweave::graph(launches = "fused")]
    pub fn beside(n: u32, x: &[f32; n], y: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        waved[(4, 64)](&x, &mut a, n);
        turned[(4, 64)](&a, &mut y, n);
    }

    /// `a` and `rate` have setters.
    #[cuweave::graph(launches = "fused")]
    pub fn settable(n: u32, rate: f32, k: u32, x: &mut [f32; n], y: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        waved[(4, 64)](&x, &mut a, n);
        scaled[(4, 64)](&mut a, rate, n);
        begun[(4, 64)](&mut a, k, n);
        subtracted[(4, 64)](&a, &mut y, n);
    }

    /// A pointer to a temporary is compared with null.
    #[cuweave::graph(launches = "fused")]
    pub fn compared(n: u32, x: &[f32; n], y: &mut [f32; n]) {
        let a = alloc::<f32>(n);
        waved[(4, 64)](&x, &mut a, n);
        given[(4, 64)](&x, &a, &mut y, n);
    }

    /// Elements of 1, 2, 4 and 8 bytes.
    #[cuweave::graph(launches = "fused")]
    pub fn sizes(n: u32, s: &[i8; n], t: &mut [i8; n], x: &[u8; n], y: &mut [f64; n]) {
        let a = alloc::<i8>(n);
        bytes[(4, 64)](&s, &mut a, n);
        bytes[(4, 64)](&a, &mut t, n);
        let b = alloc::<u32>(n);
        let c = alloc::<u16>(n);
        let d = alloc::<f64>(n);
        unsigned_bytes[(4, 64)](&x, &mut b, n);
        shorts[(4, 64)](&b, &mut c, n);
        doubles[(4, 64)](&c, &mut d, n);
        double_sums[(4, 64)](&d, &mut y, n);
    }

    /// The columns of a tile, and one thread that writes for all.
    #[cuweave::graph(launches = "fused")]
    pub fn columns(n: u32, x: &mut [f32; n], y: &mut [f32; n], s: &mut [f32; n]) {
        tiled[(4, (8, 8))](&x, &mut y, 8, n);
        tiled[(4, (8, 8))](&y, &mut x, 8, n);
        firsts[(4, 64)](&x, &mut s, n);
        spread[(4, 64)](&s, &mut x, n);
    }
}

fn numbers(n: usize, by: u32) -> Vec<f32> {
    (0..n as u32).map(|at| (at.wrapping_mul(by) % 1_001) as f32 * 0.004 - 2.0).collect()
}

/// Builds a graph in both forms and compares the results. Returns the report of the fused graph.
macro_rules! both {
    ($device:ident, $graph:ident, ($($scalar:expr),*), [$($read:expr),*], [$($written:expr),*]) => {{
        let mut reports = Vec::new();
        let mut left = Vec::new();
        for fused in [false, true] {
            if !fused {
                change_next_rules(|_, _, rules| rules.allowed.fuse = false);
            }
            let mut own = ($($device.upload(&$written),)*);
            let _reads = ($($device.upload(&$read),)*);
            let graph = both!(@build $device, $graph, ($($scalar),*), _reads, own, [$($read),*], [$($written),*]);
            reports.push(graph.report());
            graph.instantiate().expect("an exec").launch(&$device.stream).expect("a launch");
            left.push(format!("{:?}", both!(@download $device, own, [$($written),*])));
        }
        assert_eq!(left[0], left[1]);
        reports.swap_remove(1)
    }};
    (@build $device:ident, $graph:ident, ($($scalar:expr),*), $reads:ident, $own:ident, [$a:expr], [$b:expr]) => {
        graphs::$graph(&$device.ctx, $($scalar,)* &$reads.0, &mut $own.0).expect("a graph")
    };
    (@build $device:ident, $graph:ident, ($($scalar:expr),*), $reads:ident, $own:ident, [$a:expr], [$b:expr,
        $c:expr]) => {
        graphs::$graph(&$device.ctx, $($scalar,)* &$reads.0, &mut $own.0, &mut $own.1).expect("a graph")
    };
    (@build $device:ident, $graph:ident, ($($scalar:expr),*), $reads:ident, $own:ident, [], [$b:expr, $c:expr,
        $d:expr]) => {
        graphs::$graph(&$device.ctx, $($scalar,)* &mut $own.0, &mut $own.1, &mut $own.2).expect("a graph")
    };
    (@download $device:ident, $own:ident, [$b:expr]) => { $device.download(&$own.0) };
    (@download $device:ident, $own:ident, [$b:expr, $c:expr]) => {
        ($device.download(&$own.0), $device.download(&$own.1))
    };
    (@download $device:ident, $own:ident, [$b:expr, $c:expr, $d:expr]) => {
        ($device.download(&$own.0), $device.download(&$own.1), $device.download(&$own.2))
    };
}

#[test]
fn temporaries_of_one_chain_have_no_memory() {
    let device = device();
    for n in [256, 250, 129, 1] {
        let report = both!(device, through, (n as u32), [numbers(n, 7)], [numbers(n, 11)]);
        let [chain] = &report.forwarded[..] else { panic!("{report}") };
        // `a` for its scaling and its sum, `x` for the sum, and `b`.
        assert_eq!((chain.loads, chain.stores, chain.barriers), (4, 3, 0), "{report}");
        let names: Vec<String> = chain.elided.iter().map(|at| at.name.clone()).collect();
        assert_eq!(names, ["a", "b"], "{report}");
        assert_eq!(report.planned_bytes, 0, "{report}");
        let text = report.to_string();
        assert!(
            text.contains("4 loads from registers, 3 stores left out, without memory: `a` (line "),
            "{text}"
        );
    }
    device.nothing_reported();
}

#[test]
fn what_others_read_is_stored() {
    let device = device();
    let n = 256;
    let report = both!(device, read_later, (n as u32), [numbers(n, 7)], [numbers(n, 11), numbers(n, 13)]);
    let [chain] = &report.forwarded[..] else { panic!("{report}") };
    assert_eq!((chain.loads, chain.stores, chain.barriers), (1, 0, 0), "{report}");
    assert!(chain.elided.is_empty() && report.planned_bytes > 0, "{report}");
    let report = both!(device, beside, (n as u32), [numbers(n, 7)], [numbers(n, 11)]);
    let [chain] = &report.forwarded[..] else { panic!("{report}") };
    assert_eq!((chain.loads, chain.stores, chain.barriers), (0, 0, 1), "{report}");
    device.nothing_reported();
}

#[test]
fn pointers_of_what_has_no_memory_are_not_null() {
    let device = device();
    let n = 200;
    let report = both!(device, compared, (n as u32), [numbers(n, 7)], [numbers(n, 11)]);
    assert_eq!(report.forwarded[0].elided.len(), 1, "{report}");
    device.nothing_reported();
}

#[test]
fn elements_of_all_sizes_stay_in_registers() {
    let device = device();
    let n = 256_usize;
    let signed: Vec<i8> = (0..n).map(|at| (at as u8).wrapping_mul(37) as i8).collect();
    let unsigned: Vec<u8> = (0..n).map(|at| (at as u8).wrapping_mul(91)).collect();
    let mut left = Vec::new();
    for fused in [false, true] {
        if !fused {
            change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        }
        let (s, x) = (device.upload(&signed), device.upload(&unsigned));
        let (mut t, mut y) = (device.zeros::<i8>(n), device.zeros::<f64>(n));
        let graph = graphs::sizes(&device.ctx, n as u32, &s, &mut t, &x, &mut y).expect("a graph");
        let report = graph.report();
        let out: usize = report.forwarded.iter().map(|chain| chain.elided.len()).sum();
        // A store of the low half of a register goes to memory.
        assert_eq!(out, if fused { 3 } else { 0 }, "{report}");
        graph.instantiate().expect("an exec").launch(&device.stream).expect("a launch");
        left.push((
            device.download(&t),
            device.download(&y).into_iter().map(f64::to_bits).collect::<Vec<_>>(),
        ));
    }
    assert_eq!(left[0], left[1]);
    device.nothing_reported();
}

#[test]
fn columns_are_a_threads_own_and_what_one_thread_writes_is_not() {
    let device = device();
    let n = 256;
    let report = both!(device, columns, (n as u32), [], [numbers(n, 7), numbers(n, 11), numbers(n, 13)]);
    let chains: Vec<_> = report.forwarded.iter().map(|chain| (chain.loads, chain.barriers)).collect();
    // `y`; then `x`, which the first thread reads for its block, and a barrier before all threads read `s`.
    assert_eq!(chains, [(1, 0), (0, 1)], "{report}");
    device.nothing_reported();
}

#[test]
fn setters_change_what_stays_in_registers() {
    let device = device();
    let n = 250_usize;
    let mut left = Vec::new();
    for fused in [false, true] {
        if !fused {
            change_next_rules(|_, _, rules| rules.allowed.fuse = false);
        }
        let (mut first, mut second) = (device.upload(&numbers(n, 7)), device.upload(&numbers(n, 17)));
        let mut y = device.upload(&numbers(n, 11));
        let graph = graphs::settable(&device.ctx, n as u32, 0.5, 100, &mut first, &mut y).expect("a graph");
        println!("{}", graph.report());
        let mut exec = graph.instantiate().expect("an exec");
        let launch = |exec: &mut graphs::settable::Exec<'_>| exec.launch(&device.stream).expect("a launch");
        launch(&mut exec);
        exec.set_rate(1.5).expect("a rate");
        launch(&mut exec);
        for k in [0, 65, 250] {
            exec.set_k(k).expect("a number");
            launch(&mut exec);
        }
        exec.set_x(&mut second).expect("a buffer");
        launch(&mut exec);
        drop(exec);
        left.push(device.download(&y).into_iter().map(f32::to_bits).collect::<Vec<u32>>());
    }
    assert_eq!(left[0], left[1]);
    device.nothing_reported();
}
