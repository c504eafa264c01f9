//! Banks: execs by key in one arena, of which the longest unused ones are dropped.

use std::cell::Cell;

use cuweave::builder::Builder;
use cuweave::error::BankFault;
use cuweave::memory::ExecBytes;
use cuweave::prelude::*;
use cuweave::{ArenaPool, Bank, Buffer, Error, GraphExec};
use cuweave_testkit::device::{Device, alone};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

/// out = a^layers * x: a chain of `layers` nodes between two copies.
#[cuweave::graph(launches = "as-written")]
fn deep(n: u32, layers: u32, a: f32, x: &[f32; n], out: &mut [f32; n]) {
    let t = alloc::<f32>(n);
    copy(&x, &mut t);
    for i in 0..layers {
        scale[per_item(n)](&mut t, a, n);
    }
    copy(&t, &mut out);
}

/// `width` copies side by side.
#[cuweave::graph(launches = "as-written")]
fn wide(n: u32, width: u32, x: &[f32; n], out: &mut [f32; n * width]) {
    for i in 0..width {
        copy(&x, &mut out[i * n..i * n + n]);
    }
}

/// The structure of `deep`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    n: u32,
    layers: u32,
}

const N: u32 = 64;
/// The granularity in which the arena grows.
const STEP: u64 = 2 << 20;

/// The estimate for a node that is no fill.
const NODE: u64 = 2377;

/// The estimate for a chain of `deep`.
fn driver_bytes(layers: u32) -> u64 {
    110_000 + NODE * u64::from(layers + 2)
}

fn shape(layers: u32) -> Shape {
    Shape { n: N, layers }
}

/// The buffers that all execs of a test share.
struct Operands {
    x: Buffer<f32>,
    out: Buffer<f32>,
    built: Cell<usize>,
}

impl Operands {
    fn new(device: &Device, len: u32) -> Operands {
        Operands {
            x: Buffer::from_host(&device.stream, &vec![1.0; len as usize]).expect("a buffer"),
            out: Buffer::zeros(&device.stream, len as usize).expect("a buffer"),
            built: Cell::new(0),
        }
    }

    fn build(&self, device: &Device, key: &Shape, pool: &ArenaPool) -> cuweave::Result<deep::Exec<'static>> {
        self.built.set(self.built.get() + 1);
        let (x, out) = (self.x.clone(), self.out.clone());
        deep(&device.ctx, key.n, key.layers, 2.0, x, out)?.instantiate_in(pool)
    }

    fn first(&self, device: &Device) -> f32 {
        self.out.to_host(&device.stream).expect("a download")[0]
    }
}

type DeepBank = Bank<Shape, deep::Exec<'static>>;

#[test]
fn a_key_is_built_once() -> cuweave::Result<()> {
    let device = alone();
    let ctx = &device.ctx;
    let operands = Operands::new(&device, N);
    let (x, out) = (&operands.x, &operands.out);
    let mut bank =
        cuweave::Bank::<Shape, deep::Exec<'static>>::new(&device.stream).max_execs(16).max_bytes(256 << 20);
    assert!(bank.is_empty() && !bank.contains(&shape(1)));
    for (layers, value) in [(1, 2.0), (3, 8.0), (1, 2.0), (3, 8.0)] {
        let key = shape(layers);
        let exec = bank.get(&key, |pool| {
            operands.built.set(operands.built.get() + 1);
            deep(ctx, N, layers, 2.0, x.clone(), out.clone())?.instantiate_in(pool)
        })?;
        exec.launch(&device.stream)?;
        assert_eq!(operands.first(&device), value);
    }
    assert_eq!((operands.built.get(), bank.len()), (2, 2));
    let bytes = bank.bytes();
    let keys: Vec<u32> = bytes.each.iter().map(|(key, _)| key.layers).collect();
    assert_eq!(keys, [1, 3], "the longest unused first");
    let of = |at: usize| -> ExecBytes { bytes.each[at].1 };
    assert_eq!([of(0).driver, of(1).driver], [driver_bytes(1), driver_bytes(3)]);
    assert_eq!((of(0).planned, of(0).library, bytes.all.planned), (STEP, 0, STEP));
    assert_eq!(bytes.all.driver, driver_bytes(1) + driver_bytes(3));
    assert_eq!(bytes.all.total(), STEP + bytes.all.driver);
    let text = format!("{bank:?}");
    assert!(text.starts_with("Bank {") && text.contains("execs: 2"), "{text}");

    let mut taken = bank.remove(&shape(1)).expect("it is there");
    assert!(!bank.contains(&shape(1)) && bank.remove(&shape(1)).is_none());
    taken.launch(bank.stream())?;
    bank.clear();
    assert!(bank.is_empty());
    assert_eq!(bank.bytes().all.planned, 0);
    assert_eq!(operands.first(&device), 2.0);
    drop(taken);
    bank.get(&shape(2), |pool| operands.build(&device, &shape(2), pool))?.launch(&device.stream)?;
    assert_eq!(operands.first(&device), 4.0);
    device.nothing_reported();
    Ok(())
}

#[test]
fn the_longest_unused_is_dropped() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    // By number.
    let mut bank = DeepBank::new(&device.stream).max_execs(2);
    for layers in [1, 2, 1, 3] {
        bank.get(&shape(layers), |pool| operands.build(&device, &shape(layers), pool))?
            .launch(&device.stream)?;
    }
    assert_eq!([1, 2, 3].map(|layers| bank.contains(&shape(layers))), [true, false, true]);
    assert_eq!(bank.len(), 2);
    // By bytes: of 10, 20 and 30 layers two fit, unless they are the last two.
    let limit = STEP + driver_bytes(10) + driver_bytes(30);
    let mut bank = DeepBank::new(&device.stream).max_bytes(limit);
    for (layers, held) in [(10, 1), (20, 2), (30, 1), (10, 2), (20, 2)] {
        bank.get(&shape(layers), |pool| operands.build(&device, &shape(layers), pool))?
            .launch(&device.stream)?;
        assert_eq!(bank.len(), held, "after {layers}");
        assert!(bank.bytes().all.total() <= limit, "{:?}", bank.bytes());
    }
    assert!(!bank.contains(&shape(30)));
    // An existing bank gets other limits.
    bank = bank.max_execs(1);
    bank.get(&shape(4), |pool| operands.build(&device, &shape(4), pool))?;
    assert_eq!(bank.len(), 1);
    device.nothing_reported();
    Ok(())
}

/// An exec is dropped while its launches are in flight, and memory of the next one is that of the arena.
#[test]
fn launches_of_dropped_execs_complete() {
    let device = alone();
    for seed in 0..device.scaled(1, 8) {
        device.schedule(seed);
        let operands = Operands::new(&device, N);
        let outs: Vec<Buffer<f32>> =
            (0..6).map(|_| Buffer::zeros(&device.stream, N as usize).expect("a buffer")).collect();
        let mut bank = DeepBank::new(&device.stream).max_execs(1);
        for (layers, out) in (1..).zip(&outs) {
            let build = |pool: &ArenaPool| {
                let (x, out) = (operands.x.clone(), out.clone());
                deep(&device.ctx, N, layers, 2.0, x, out)?.instantiate_in(pool)
            };
            let exec = bank.get(&shape(layers), build).expect("it builds");
            exec.launch(&device.stream).expect("it launches");
            exec.launch(&device.stream).expect("it launches");
        }
        drop(bank);
        for (layers, out) in (1..).zip(&outs) {
            let value = out.to_host(&device.stream).expect("a download");
            assert_eq!(value, vec![f32::from(1u16 << layers); N as usize]);
        }
        device.nothing_reported();
    }
}

#[test]
fn one_above_the_limit_is_refused() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    let limit = STEP + driver_bytes(10);
    let mut bank = DeepBank::new(&device.stream).max_bytes(limit);
    bank.get(&shape(10), |pool| operands.build(&device, &shape(10), pool))?;
    let Err(error) = bank.get(&shape(11), |pool| operands.build(&device, &shape(11), pool)) else {
        panic!("above the limit")
    };
    let Error::Bank(function, BankFault::AboveLimit { needed, most, .. }) = &error else { panic!("{error}") };
    assert_eq!((&function[..], *needed, *most), ("deep", limit + NODE, limit));
    assert_eq!(error.to_string(), "`deep` alone takes 2.1 MiB, and its bank may take 2.1 MiB");
    assert!(bank.contains(&shape(10)), "the others remain");

    // The temporaries count, and the arena does not grow for an exec that is refused.
    let large = Operands::new(&device, 1 << 20);
    let key = Shape { n: 1 << 20, layers: 1 };
    let Err(error) = bank.get(&key, |pool| large.build(&device, &key, pool)) else { panic!("above") };
    assert!(matches!(error, Error::Bank(_, BankFault::AboveLimit { .. })), "{error}");
    assert_eq!(bank.bytes().all.planned, STEP);

    let mut none = DeepBank::new(&device.stream).max_execs(0);
    let Err(error) = none.get(&shape(1), |pool| operands.build(&device, &shape(1), pool)) else {
        panic!("no exec fits")
    };
    assert_eq!(error.to_string(), "`deep` is given to a bank that may hold no exec: `max_execs` is 0");
    device.nothing_reported();
    Ok(())
}

/// The arena of a large exec makes way for an exec with small temporaries and many nodes.
#[test]
fn a_large_arena_is_replaced() -> cuweave::Result<()> {
    let device = alone();
    let (small, large) = (Operands::new(&device, N), Operands::new(&device, 1 << 20));
    let large_key = Shape { n: 1 << 20, layers: 1 };
    let mut bank = DeepBank::new(&device.stream).max_bytes(2 * STEP + driver_bytes(1));
    bank.get(&large_key, |pool| large.build(&device, &large_key, pool))?.launch(&device.stream)?;
    assert_eq!(bank.bytes().all.planned, 2 * STEP);
    let exec = bank.get(&shape(20), |pool| small.build(&device, &shape(20), pool))?;
    exec.launch(&device.stream)?;
    assert_eq!((bank.len(), bank.bytes().all.planned), (1, STEP));
    assert_eq!((small.first(&device), large.first(&device)), (f32::from(2u8).powi(20), 2.0));
    drop(bank);
    device.nothing_reported();
    Ok(())
}

#[test]
fn an_ignored_pool_is_refused() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    let graph = || deep(&device.ctx, N, 1, 2.0, operands.x.clone(), operands.out.clone());
    let mut bank = DeepBank::new(&device.stream);
    let other = ArenaPool::new(&device.stream)?;
    let text = "`deep` is given to a bank, but its temporaries are elsewhere: write `.instantiate_in(pool)`";
    for result in [
        bank.get(&shape(1), |_| graph()?.instantiate()).map(|_| ()),
        bank.get(&shape(1), |_| graph()?.instantiate_in(&other)).map(|_| ()),
    ] {
        let Err(error) = result else { panic!("the pool was ignored") };
        assert!(matches!(error, Error::Bank(_, BankFault::NotInPool)), "{error:?}");
        assert_eq!(error.to_string(), text);
    }
    assert!(bank.is_empty());
    // An error of the build is passed on.
    let Err(error) = bank.get(&shape(1), |_| Err(Error::NoContext)) else { panic!("it failed") };
    assert_eq!(error, Error::NoContext);
    // The stream is checked by the first use.
    let mut bank = DeepBank::new(&device.ctx.per_thread_stream());
    let Err(error) = bank.get(&shape(1), |pool| graph()?.instantiate_in(pool)) else { panic!("no pool") };
    assert_eq!(error, Error::PoolStream);
    device.nothing_reported();
    Ok(())
}

/// An exec that was built ahead is not built again. It can be changed and launched while it is built.
#[test]
fn keys_are_warmed() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    let build = |&layers: &u32, pool: &ArenaPool| {
        let mut exec = operands.build(&device, &shape(layers), pool)?;
        exec.set_a(3.0)?;
        exec.upload(&device.stream)?;
        exec.launch(&device.stream)?;
        Ok(exec)
    };
    let mut bank = Bank::<u32, deep::Exec<'static>>::new(&device.stream).max_execs(3);
    bank.warm([1, 2, 3, 1], build)?;
    assert_eq!((operands.built.get(), bank.len()), (3, 3));
    bank.get(&2, |_| panic!("it is there"))?.launch(&device.stream)?;
    assert_eq!(operands.first(&device), 9.0);
    bank.warm([4, 5].iter(), build)?;
    assert_eq!([1, 2, 3, 4, 5].map(|key| bank.contains(&key)), [false, true, false, true, true]);
    let all = bank.bytes().all;
    assert_eq!(
        all.driver,
        [1, 2, 4, 5].map(driver_bytes).iter().sum::<u64>(),
        "four at once, since they were launched"
    );
    let Err(error) = bank.warm(6..8, |_, _| Err(Error::NoContext)) else { panic!("it failed") };
    assert_eq!((error, bank.len()), (Error::NoContext, 3));
    drop(bank);
    device.nothing_reported();
    Ok(())
}

/// One exec is used between all others, and is never built again.
#[test]
fn an_exec_in_use_remains() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    let mut bank = DeepBank::new(&device.stream).max_execs(3);
    for round in 0..40 {
        let other = 2 + round % 7;
        for layers in [1, other] {
            bank.get(&shape(layers), |pool| operands.build(&device, &shape(layers), pool))?
                .launch(&device.stream)?;
        }
    }
    assert_eq!(bank.get(&shape(1), |_| panic!("it was dropped"))?.launches(), 40);
    assert_eq!(operands.built.get(), 41);
    drop(bank);
    device.nothing_reported();
    Ok(())
}

/// Thousands of uses of 64 structures stay within the limit, and memory does not grow.
#[test]
fn many_structures_do_not_grow() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    let limit = STEP + 40 * driver_bytes(32);
    let mut bank = DeepBank::new(&device.stream).max_bytes(limit);
    let mut state = 1u64;
    let mut live = Vec::new();
    let mut free = Vec::new();
    for use_ in 0..device.scaled(10_000, 2_000) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let layers = 1 + u32::try_from(state >> 33).expect("31 bits") % 64;
        let exec = bank.get(&shape(layers), |pool| operands.build(&device, &shape(layers), pool))?;
        exec.launch(&device.stream)?;
        if use_ % 100 == 99 {
            device.stream.synchronize().expect("all is well");
            let bytes = bank.bytes();
            assert!(bytes.all.total() <= limit, "{bytes:?}");
            assert_eq!(bytes.all.planned, STEP);
            live.extend(device.live());
            free.push(device.ctx.mem_get_info().expect("bytes").0);
        }
    }
    assert!(bank.len() < 64 && operands.built.get() > 64, "{bank:?}");
    let half = &free[free.len() / 2..];
    assert!(half.iter().all(|&bytes| bytes == half[0]), "{free:?}");
    for pair in live.windows(2).skip(4) {
        assert_eq!((pair[0].allocations, pair[0].bytes), (pair[1].allocations, pair[1].bytes));
    }
    drop(bank);
    device.nothing_reported();
    Ok(())
}

/// Execs that borrow their arguments, and those of a builder.
#[test]
fn all_kinds_of_execs() -> cuweave::Result<()> {
    fn held<E: GraphExec>(bank: &Bank<&'static str, E>) -> usize {
        bank.len()
    }
    let device = alone();
    let x = device.upload(&[1.0f32; N as usize]);
    let mut outs = [device.zeros::<f32>(N as usize), device.zeros::<f32>(N as usize)];
    {
        let mut bank = Bank::<&'static str, deep::Exec<'_>>::new(&device.stream);
        for (key, out) in ["one", "two"].into_iter().zip(&mut outs) {
            let exec = bank.get(&key, |pool| deep(&device.ctx, N, 1, 4.0, &x, out)?.instantiate_in(pool))?;
            exec.launch(&device.stream)?;
        }
        assert_eq!(held(&bank), 2);
    }
    assert_eq!(outs.map(|out| device.download(&out)[0]), [4.0, 4.0]);

    let mut bank = Bank::<&'static str, cuweave::builder::Exec<'static>>::new(&device.stream);
    let out = Buffer::<f32>::zeros(&device.stream, N as usize)?;
    let exec = bank.get(&"built", |pool| {
        let mut b = Builder::with_name(&device.ctx, "built");
        let mut to = b.exclusive("out", N, out.clone());
        b.fill(&mut to, 7.0f32)?;
        b.build()?.instantiate_in(pool)
    })?;
    exec.launch(&device.stream)?;
    assert_eq!((held(&bank), out.to_host(&device.stream)?[0]), (1, 7.0));
    device.nothing_reported();
    Ok(())
}

/// The report says before instantiating what the bank says after it.
#[test]
fn the_report_estimates_what_instantiating_takes() -> cuweave::Result<()> {
    let device = alone();
    let operands = Operands::new(&device, N);
    let graph = deep(&device.ctx, N, 8, 2.0, operands.x.clone(), operands.out.clone())?;
    let report = graph.report();
    // With its two memory nodes.
    assert_eq!((report.nodes(), report.width, report.exec_bytes), (12, 1, driver_bytes(8)));
    assert!(report.to_string().contains("exec         about 130.6 KiB of the driver"), "{report}");
    let out = Buffer::<f32>::zeros(&device.stream, 16 * N as usize)?;
    let report = wide(&device.ctx, N, 16, operands.x.clone(), out)?.report();
    assert_eq!((report.nodes(), report.width), (16, 16));
    assert_eq!(report.exec_bytes, 16 * (110_000 + NODE));
    assert!(report.to_string().contains(", 16 nodes side by side"), "{report}");
    Ok(())
}
