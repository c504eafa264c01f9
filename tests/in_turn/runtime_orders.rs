//! A launch in flight reads and writes its own operands, whatever safe code drops, forgets or moves, in any order
//! and on any thread.
//!
//! Each launch begins with a slow kernel. Meanwhile, the buffer that it is about to read is dropped. If its memory
//! is free by then, it is allocated again and overwritten. The simulated driver runs work when it is enqueued;
//! there, the same programs show that nothing is freed twice or leaked.

use std::sync::{Arc, MutexGuard, OnceLock};
use std::time::Instant;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cuweave::Exec;
use cuweave::prelude::*;
use cuweave_testkit::device::{driver, pinned, test_lock};
use cuweave_testkit::process::apart;

use crate::slow::{late, late_out, spin};

/// out = x, delayed; both from and to the host.
#[cuweave::graph]
fn late_up(n: u32, rounds: u32, x: &Pinned<[f32; n]>, ticket: &mut [u32; 1], out: &mut [f32; n]) {
    let wait = spin[(1, 1)](&mut ticket, rounds);
    #[after(wait)]
    copy(&x, &mut out);
}

#[cuweave::graph]
fn late_down(n: u32, rounds: u32, x: &[f32; n], ticket: &mut [u32; 1], out: &mut Pinned<[f32; n]>) {
    let wait = spin[(1, 1)](&mut ticket, rounds);
    #[after(wait)]
    copy(&x, &mut out);
}

#[cuweave::graph]
fn late_take(n: u32, rounds: u32, h: [f32; n], ticket: &mut [u32; 1], out: &mut [f32; n]) {
    let wait = spin[(1, 1)](&mut ticket, rounds);
    #[after(wait)]
    copy(&h, &mut out);
}

const N: u32 = 16 << 10;

/// About two milliseconds on a GPU.
fn rounds() -> u32 {
    static ROUNDS: OnceLock<u32> = OnceLock::new();
    *ROUNDS.get_or_init(|| if simulated() { 3 } else { 400_000 })
}

fn simulated() -> bool {
    driver().is_simulated()
}

/// Runs one test at a time, so that no test can take the memory of another.
fn alone() -> Alone {
    rounds();
    let guard = test_lock();
    Alone { since: Instant::now(), _guard: guard }
}

/// Prints the duration of a test when it ends, without the time spent waiting for the lock.
struct Alone {
    since: Instant,
    _guard: MutexGuard<'static, ()>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        let thread = std::thread::current();
        println!("{}: {:.1} s", thread.name().unwrap_or("a test"), self.since.elapsed().as_secs_f64());
    }
}

/// On a GPU, keeps the kernels loaded forever. The real driver compiles them at each load, which takes longer than
/// the rest of a case, and some tests have hundreds of cases. On the simulated driver, and in
/// [`a_module_goes_with_its_last_exec`], each case loads them and unloads them while a launch is in flight.
fn keep_kernels() {
    static KEPT: OnceLock<cuweave::Loaded> = OnceLock::new();
    if !simulated() {
        KEPT.get_or_init(|| spin::load(&context()).expect("the kernels"));
    }
}

fn context() -> Arc<CudaContext> {
    cuweave::context(0).expect("a context")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    First,
    Second,
    Default,
    PerThread,
}

const KINDS: [Kind; 4] = [Kind::First, Kind::Second, Kind::Default, Kind::PerThread];

struct Streams {
    first: Arc<CudaStream>,
    second: Arc<CudaStream>,
    ctx: Arc<CudaContext>,
}

impl Streams {
    fn new() -> Streams {
        let ctx = context();
        Streams {
            first: ctx.new_stream().expect("a stream"),
            second: ctx.new_stream().expect("a stream"),
            ctx,
        }
    }

    fn of(&self, kind: Kind) -> Arc<CudaStream> {
        match kind {
            Kind::First => self.first.clone(),
            Kind::Second => self.second.clone(),
            Kind::Default => self.ctx.default_stream(),
            Kind::PerThread => self.ctx.per_thread_stream(),
        }
    }
}

fn ramp(seed: usize) -> Vec<f32> {
    (0..N as usize).map(|i| (i + seed) as f32).collect()
}

/// Allocates memory of the same size, which may be freed memory, and overwrites it.
fn scribble(streams: &Streams) -> Vec<CudaSlice<f32>> {
    let other = vec![-1.0_f32; N as usize];
    let mut taken = Vec::new();
    for kind in KINDS {
        let stream = streams.of(kind);
        taken.extend((0..3).map(|_| stream.clone_htod(&other).expect("an upload")));
    }
    taken
}

fn on_thread<T: Send>(elsewhere: bool, work: impl FnOnce() -> T + Send) -> T {
    if elsewhere {
        return std::thread::scope(|scope| scope.spawn(work).join()).expect("no panic");
    }
    work()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binding {
    Borrowed,
    View,
    Shared,
    Owned,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Drop,
    DropElsewhere,
    Forget,
    IntoArgs,
    Set,
}

/// An exec with a launch in flight.
fn start<'a>(
    ctx: &Arc<CudaContext>,
    stream: &Arc<CudaStream>,
    x: impl cuweave::bind::BindShared<'a, f32>,
    ticket: &'a mut CudaSlice<u32>,
    out: &'a mut CudaSlice<f32>,
) -> Exec<late::Args<'a>> {
    let graph = late(ctx, N, rounds(), x, ticket, out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(stream).expect("it launches");
    exec
}

/// Ends an exec in the given way.
fn end<'a>(mut exec: Exec<late::Args<'a>>, how: End, other: &'a CudaSlice<f32>) {
    match how {
        End::Drop => drop(exec),
        End::DropElsewhere => on_thread(true, move || drop(exec)),
        End::Forget => std::mem::forget(exec),
        End::IntoArgs => drop(exec.into_args()),
        End::Set => {
            exec.set_x(other).expect("another buffer");
            std::mem::forget(exec);
        }
    }
}

#[test]
fn what_a_launch_reads_is_given_up() {
    let _alone = alone();
    keep_kernels();
    let streams = Streams::new();
    let mut cases = 0;
    for binding in [Binding::Borrowed, Binding::View, Binding::Shared, Binding::Owned] {
        for how in [End::Drop, End::DropElsewhere, End::Forget, End::IntoArgs, End::Set] {
            for owner in KINDS {
                for launcher in KINDS {
                    for elsewhere in [false, true] {
                        if elsewhere && owner == Kind::PerThread && !simulated() {
                            // cudarc frees such a buffer in the per-thread stream of the thread that drops it. The
                            // driver was observed not to let a thread end while such a free is pending
                            // (h200-2026-11-22/probes.md).
                            continue;
                        }
                        given_up(&streams, binding, how, owner, launcher, elsewhere);
                        cases += 1;
                    }
                }
            }
        }
    }
    streams.ctx.synchronize().expect("all is well");
    println!("{cases} cases");
}

/// The module is unloaded with its last user, but not before its launches have ended. Runs in a separate process,
/// because an exec that another test has forgotten would keep the module.
#[test]
fn a_module_goes_with_its_last_exec() {
    apart("runtime_orders::with_no_module_kept", &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_no_module_kept() {
    let _alone = alone();
    let streams = Streams::new();
    for binding in [Binding::Borrowed, Binding::Owned] {
        // Without the ways that forget the exec, which keep its module loaded.
        for how in [End::Drop, End::DropElsewhere, End::IntoArgs] {
            for launcher in KINDS {
                given_up(&streams, binding, how, Kind::First, launcher, true);
            }
        }
    }
    streams.ctx.synchronize().expect("all is well");
}

fn given_up(streams: &Streams, binding: Binding, how: End, owner: Kind, launcher: Kind, elsewhere: bool) {
    let case = format!(
        "{binding:?}, {how:?}, of {owner:?}, launched on {launcher:?}, dropped elsewhere {elsewhere}"
    );
    if !simulated() {
        println!("{case}");
    }
    let (owner, launcher) = (streams.of(owner), streams.of(launcher));
    let expected = ramp(7);
    let x = owner.clone_htod(&expected).expect("an upload");
    let other = owner.clone_htod(&ramp(8)).expect("an upload");
    let mut out = streams.second.alloc_zeros::<f32>(N as usize).expect("an allocation");
    let mut ticket = streams.first.alloc_zeros::<u32>(1).expect("an allocation");
    let (ctx, ticket, out_ref) = (&streams.ctx, &mut ticket, &mut out);
    match binding {
        Binding::Owned => end(start(ctx, &launcher, x, ticket, out_ref), how, &other),
        Binding::Shared => {
            let x = Arc::new(x);
            end(start(ctx, &launcher, x.clone(), ticket, out_ref), how, &other);
            on_thread(elsewhere, move || drop(x));
        }
        Binding::Borrowed => {
            end(start(ctx, &launcher, &x, ticket, out_ref), how, &other);
            on_thread(elsewhere, move || drop(x));
        }
        Binding::View => {
            end(start(ctx, &launcher, x.slice(..), ticket, out_ref), how, &other);
            on_thread(elsewhere, move || drop(x));
        }
    }
    let taken = scribble(streams);
    assert_eq!(streams.second.clone_dtoh(&out).expect("a download"), expected, "{case}");
    drop(taken);
}

/// Others read and write a buffer right after the exec that wrote it is dropped.
#[test]
fn what_a_launch_writes_is_used_next() {
    let _alone = alone();
    keep_kernels();
    let streams = Streams::new();
    let expected = ramp(3);
    for how in [End::Drop, End::DropElsewhere, End::IntoArgs] {
        for owner in KINDS {
            for launcher in KINDS {
                for reader in [Kind::First, Kind::Second] {
                    let x = streams.first.clone_htod(&expected).expect("an upload");
                    let other = streams.first.clone_htod(&ramp(8)).expect("an upload");
                    let mut out = streams.of(owner).alloc_zeros::<f32>(N as usize).expect("an allocation");
                    let mut ticket = streams.second.alloc_zeros::<u32>(1).expect("an allocation");
                    let graph =
                        late(&streams.ctx, N, rounds(), &x, &mut ticket, &mut out).expect("it builds");
                    let mut exec = graph.instantiate().expect("it instantiates");
                    exec.launch(&streams.of(launcher)).expect("it launches");
                    end(exec, how, &other);
                    let reader_stream = streams.of(reader);
                    let got = reader_stream.clone_dtoh(&out).expect("a download");
                    assert_eq!(
                        got, expected,
                        "{how:?}, of {owner:?}, launched on {launcher:?}, read on {reader:?}"
                    );
                }
            }
        }
    }
}

/// Views of a live exec are ordered after its last launch, and its next launch after them.
#[test]
fn views_between_launches() {
    let _alone = alone();
    keep_kernels();
    let streams = Streams::new();
    for owner in KINDS {
        for launcher in KINDS {
            for user in [Kind::First, Kind::Second] {
                let (x, out) = (streams.of(owner).clone_htod(&ramp(1)).expect("an upload"), ramp(0));
                let out = streams.of(owner).clone_htod(&out).expect("an upload");
                let ticket = streams.second.alloc_zeros::<u32>(1).expect("an allocation");
                let (launcher, user) = (streams.of(launcher), streams.of(user));
                let graph = late(&streams.ctx, N, rounds(), x, ticket, out).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                for seed in 2..5 {
                    exec.launch(&launcher).expect("it launches");
                    assert_eq!(user.clone_dtoh(&exec.args().out).expect("a download"), ramp(seed - 1));
                    exec.launch(&launcher).expect("it launches");
                    // Written while the previous launch may still read.
                    let x = &mut exec.args_mut().x.expect("it is owned");
                    user.memcpy_htod(&ramp(seed), x).expect("an upload");
                }
                let args = exec.into_args();
                assert_eq!(user.clone_dtoh(&args.x).expect("a download"), ramp(4));
            }
        }
    }
}

#[test]
fn pinned_memory_is_given_up() {
    let _alone = alone();
    keep_kernels();
    let streams = Streams::new();
    let (expected, ctx) = (ramp(5), &streams.ctx);
    for launcher in KINDS {
        for forget in [false, true] {
            for write in [false, true] {
                let mut out = streams.second.alloc_zeros::<f32>(N as usize).expect("an allocation");
                let mut ticket = streams.first.alloc_zeros::<u32>(1).expect("an allocation");
                let mut x = pinned(ctx, &expected);
                let graph = late_up(ctx, N, rounds(), &x, &mut ticket, &mut out).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&streams.of(launcher)).expect("it launches");
                if forget {
                    std::mem::forget(exec)
                } else {
                    drop(exec)
                }
                if write {
                    x.as_mut_slice().expect("its memory").fill(-1.0);
                }
                drop(x);
                let again = pinned(ctx, &ramp(9));
                assert_eq!(streams.second.clone_dtoh(&out).expect("a download"), expected);
                drop(again);

                let source = streams.first.clone_htod(&expected).expect("an upload");
                let mut target = pinned(ctx, &ramp(0));
                let graph =
                    late_down(ctx, N, rounds(), &source, &mut ticket, &mut target).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                exec.launch(&streams.of(launcher)).expect("it launches");
                assert_eq!(exec.args().out.as_slice().expect("its memory"), expected);
                exec.launch(&streams.of(launcher)).expect("it launches");
                if forget {
                    std::mem::forget(exec)
                } else {
                    drop(exec)
                }
                assert_eq!(target.as_slice().expect("its memory"), expected);
            }
        }
    }
    // Owned and shared buffers.
    let ticket = || streams.first.alloc_zeros::<u32>(1).expect("an allocation");
    let mut out = streams.second.alloc_zeros::<f32>(N as usize).expect("an allocation");
    let shared = Arc::new(pinned(ctx, &expected));
    let graph = late_up(ctx, N, rounds(), shared.clone(), ticket(), &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&streams.first).expect("it launches");
    exec.set_x(pinned(ctx, &ramp(6))).expect("another one");
    drop(shared);
    exec.launch(&streams.second).expect("it launches");
    drop(exec);
    assert_eq!(streams.second.clone_dtoh(&out).expect("a download"), ramp(6));
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Drop,
    DropElsewhere,
    Forget,
    Read,
    TakenOver,
}

#[test]
fn outputs_end_in_every_way_and_are_made_again() {
    let _alone = alone();
    keep_kernels();
    let streams = Streams::new();
    let ctx = &streams.ctx;
    for fate in [Fate::Drop, Fate::DropElsewhere, Fate::Forget, Fate::Read, Fate::TakenOver] {
        for launcher in KINDS {
            for next in KINDS {
                let x = streams.first.clone_htod(&ramp(1)).expect("an upload");
                let ticket = || streams.first.alloc_zeros::<u32>(1).expect("an allocation");
                let out = streams.first.alloc_zeros::<f32>(N as usize).expect("an allocation");
                let graph = late_out(ctx, N, rounds(), x, ticket()).expect("it builds");
                let mut exec = graph.instantiate().expect("it instantiates");
                let graph = late_take(ctx, N, rounds(), exec.output(), ticket(), out).expect("it builds");
                let mut taker = graph.instantiate().expect("it instantiates");
                let made = exec.launch(&streams.of(launcher)).expect("it launches");
                let mut read = None;
                match fate {
                    Fate::Drop => drop(made),
                    Fate::DropElsewhere => on_thread(true, move || drop(made)),
                    Fate::Forget => std::mem::forget(made),
                    Fate::Read => {
                        read = Some(streams.second.clone_dtod(&made).expect("a copy"));
                        drop(made);
                    }
                    Fate::TakenOver => taker.launch(&streams.of(next), (made,)).expect("it takes over"),
                }
                // Rebuilt with other contents while the previous one may still be in use.
                streams
                    .second
                    .memcpy_htod(&ramp(2), &mut exec.args_mut().x.expect("owned"))
                    .expect("an upload");
                let made = exec.launch(&streams.of(next)).expect("it launches again");
                let case = format!("{fate:?}, launched on {launcher:?}, then on {next:?}");
                assert_eq!(streams.second.clone_dtoh(&made).expect("a download"), ramp(2), "{case}");
                drop(made);
                drop(exec);
                if let Some(read) = read {
                    assert_eq!(streams.second.clone_dtoh(&read).expect("a download"), ramp(1), "{case}");
                }
                if let Fate::TakenOver = fate {
                    let args = taker.into_args();
                    assert_eq!(streams.second.clone_dtoh(&args.out).expect("a download"), ramp(1), "{case}");
                }
            }
        }
    }
}

/// Objects that can outlive one another are given up in every order, each dropped or forgotten, on one thread or
/// two.
#[test]
fn every_order_of_the_end() {
    let _alone = alone();
    keep_kernels();
    for elsewhere in [false, true] {
        // None, each one alone, all.
        for forgotten in [0, 1, 2, 4, 8, 16, 31_u32] {
            // On a GPU, where forgotten objects accumulate, only some of them.
            let step = if simulated() { 1 } else { 11 };
            for order in permutations(5).iter().skip(forgotten as usize % step).step_by(step) {
                ends(order, forgotten, elsewhere);
            }
        }
    }
    context().synchronize().expect("all is well");
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for item in 0..n {
        all = all
            .into_iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, item);
                    order
                })
            })
            .collect();
    }
    all
}

/// A function that drops an object, or forgets it if the argument is true.
type Thing = Box<dyn FnOnce(bool) + Send>;

fn thing<T: Send + 'static>(value: T) -> Option<Thing> {
    Some(Box::new(move |forget| if forget { std::mem::forget(value) } else { drop(value) }))
}

fn ends(order: &[usize], forgotten: u32, elsewhere: bool) {
    let ctx = context();
    let stream = ctx.new_stream().expect("a stream");
    let x = Arc::new(stream.clone_htod(&[1.0_f32; 8]).expect("an upload"));
    let ticket = || stream.alloc_zeros::<u32>(1).expect("an allocation");
    let out = ctx.default_stream().alloc_zeros::<f32>(8).expect("an allocation");
    let few = rounds() / 100 + 1;
    let mut exec = late(&ctx, 8, few, x.clone(), ticket(), out)
        .expect("it builds")
        .instantiate()
        .expect("it instantiates");
    exec.launch(&stream).expect("it launches");
    // The exec is leaked, so its output has the lifetime `'static`.
    let graph = late_out(&ctx, 8, few, x.clone(), ticket()).expect("it builds");
    let maker = Box::leak(Box::new(graph.instantiate().expect("it instantiates")));
    let output = maker.launch(&stream).expect("it launches");
    let mut things = [thing(exec), thing(output), thing(x), thing(stream), thing(ctx)];
    for &at in order {
        let end = things[at].take().expect("each once");
        on_thread(elsewhere && at % 2 == 0, move || end(forgotten & (1 << at) != 0));
    }
}

/// Two threads launch different execs that read the same memory.
#[test]
fn two_threads() {
    let _alone = alone();
    let streams = Streams::new();
    let ctx = &streams.ctx;
    let x = Arc::new(streams.first.clone_htod(&ramp(1)).expect("an upload"));
    let borrowed = streams.second.clone_htod(&ramp(2)).expect("an upload");
    let host = pinned(ctx, &ramp(3));
    std::thread::scope(|scope| {
        for stream in [&streams.first, &streams.second] {
            let (x, borrowed, host) = (x.clone(), &borrowed, &host);
            scope.spawn(move || {
                let ticket = || stream.alloc_zeros::<u32>(1).expect("an allocation");
                let out = || stream.alloc_zeros::<f32>(N as usize).expect("an allocation");
                let few = rounds() / 100 + 1;
                let mut up = late_up(ctx, N, few, host, ticket(), out())
                    .expect("it builds")
                    .instantiate()
                    .expect("it instantiates");
                let mut exec = late(ctx, N, few, x.clone(), ticket(), out())
                    .expect("it builds")
                    .instantiate()
                    .expect("it instantiates");
                for _ in 0..20 {
                    exec.launch(stream).expect("it launches");
                    assert_eq!(stream.clone_dtoh(&exec.args().out).expect("a download"), ramp(1));
                    exec.set_x(borrowed).expect("another buffer");
                    up.launch(stream).expect("it launches");
                    exec.launch(stream).expect("it launches");
                    assert_eq!(stream.clone_dtoh(&exec.args().out).expect("a download"), ramp(2));
                    assert_eq!(stream.clone_dtoh(&up.args().out).expect("a download"), ramp(3));
                    exec.set_x(x.clone()).expect("the first one again");
                }
                std::mem::forget(up);
            });
        }
    });
    drop((x, borrowed, host));
    let taken = scribble(&streams);
    ctx.synchronize().expect("all is well");
    drop(taken);
}
