//! Hints about ranges of arguments and about NUMA nodes of the host, what reports say of hints, and memory that is
//! allocated without being written.

use cuweave::builder::Builder;
use cuweave::managed::{Advice, Attach, Location, ManagedFault};
use cuweave::prelude::*;
use cuweave::report::MemoryHintKind;
use cuweave::{Buffer, Error, Managed};
use cuweave_sim::PageCounts;
use cuweave_testkit::device::{Device, alone as device, simulated_alone};
use cuweave_testkit::process::apart;

#[cuweave::kernels("examples/kernels/memory.ptx")]
unsafe extern "ptx-kernel" {
    fn shift(x: &mut [i32; n], by: i32, n: u32);
}

#[cuweave::kernels("tests/kernels/managed.ptx")]
unsafe extern "ptx-kernel" {
    /// x = value
    fn set(x: &mut [MaybeUninit<u32>; n], value: u32, n: u32);
}

/// x += 1; the first `k` elements are moved to the device, the others to the host.
#[cuweave::graph]
fn split(
    n: u32,
    k: u32,
    #[prefetch(device, 0..k)]
    #[prefetch(host, k..)]
    x: &mut [i32; n],
) {
    shift[per_item(n)](&mut x, 1, n);
}

/// The page of one element is moved, and the pages of the first half are read by the host.
#[cuweave::graph]
fn one_page(
    n: u32,
    at: u32,
    #[advise(accessed_by(host), ..n / 2)]
    #[advise(read_mostly)]
    #[prefetch(device, at - 1..=at - 1)]
    x: &[i32; n],
    out: &mut [i32; n],
) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn on_nodes(
    n: u32,
    #[advise(preferred_location(host_numa(0)))]
    #[prefetch(host_numa_current)]
    x: &[i32; n],
    #[advise(preferred_location(host_numa_current))]
    #[prefetch(host_numa(0))]
    out: &mut [i32; n],
) {
    copy(&x, &mut out);
}

#[cuweave::graph]
fn on_no_node(n: u32, #[prefetch(host_numa(4095))] x: &mut [i32; n]) {
    fill(&mut x, 1);
}

/// A state with hints about ranges of its own scalars.
#[cuweave::arguments]
struct State {
    n: u32,
    used: u32,
    #[advise(accessed_by(host), used..n)]
    #[prefetch(device, ..used)]
    x: &mut [i32; n],
    #[advise(read_mostly)]
    more: &[&[i32; n]],
}

#[cuweave::graph]
fn stepped(n: u32, state: State<'_>, #[prefetch(device, 0..state.used)] y: &mut [i32; n]) {
    shift[per_item(n)](&mut state.x, 1, n);
    copy(&state.x, &mut y);
    for more in state.more {
        copy(&more[0..1], &mut y[0..1]);
    }
}

/// The argument is discarded and moved before each launch.
#[cuweave::graph]
fn told(
    n: u32,
    #[advise(read_mostly, accessed_by(device))] by: &[i32; n],
    #[discard]
    #[prefetch(device, 0..n / 3)]
    x: &mut [i32; n],
    out: &mut [i32; n],
) {
    copy(&by, &mut x);
    copy(&x, &mut out);
}

/// The elements of one page, and of three pages.
const PAGE: u32 = 1024;
const N: u32 = 3 * PAGE;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn managed(device: &Device, value: i32) -> Managed<i32> {
    Managed::from_host(&device.stream, &[value; N as usize], Attach::Global).expect("managed memory")
}

fn counted<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<PageCounts, Error> {
    let pages = || cuweave_sim::page_counts().expect("the simulated driver");
    let before = pages();
    work()?;
    Ok(pages() - before)
}

fn text<T>(result: cuweave::Result<T>) -> String {
    let text = result.map(drop).expect_err("it is refused").to_string();
    println!("{text}");
    text
}

#[test]
fn a_prefetch_moves_the_pages_of_its_range() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let mut x = managed(&device, 1);
    let mut exec = split(&device.ctx, N, PAGE + 1, &x)?.instantiate()?;
    drop(x.host_mut()?);
    // Two pages have elements of the first range. The pages of the second one are at the host, but for the page
    // that both share, which moves back.
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (3, 2));
    // The setter moves both ranges.
    exec.set_k(N)?;
    drop(x.host_mut()?);
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (3, 0));
    exec.set_k(0)?;
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (3, 3));
    assert_eq!(*x.host()?, [4; N as usize]);
    // A range beyond the argument leaves the exec as it was.
    let told = text(exec.set_k(N + 1));
    assert!(told.starts_with("`x` (tests/in_turn/managed_ranges.rs:"), "{told}");
    assert!(
        told.ends_with("its `#[advise]` or `#[prefetch]` names the elements 0..3073, and it has 3072"),
        "{told}"
    );
    drop(x.host_mut()?);
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (0, 3));
    assert_eq!(*x.host()?, [5; N as usize]);
    assert!(text(split(&device.ctx, N, N + 1, &x)).contains("names the elements 0..3073, and it has 3072"));
    // The memory that a setter binds has the ranges of the last values.
    exec.set_k(PAGE)?;
    let other = managed(&device, 1);
    drop(other.host()?);
    exec.set_x(&other)?;
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (1, 2));
    device.nothing_reported();
    Ok(())
}

#[test]
fn advice_is_about_its_range() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    drop((x.host()?, out.host()?));
    let mut exec = one_page(&device.ctx, N, 2 * PAGE, &x, &out)?.instantiate()?;
    // Half of the three pages: two have elements of the range.
    assert_eq!(x.attributes(..2 * PAGE as usize)?.accessed_by, [Location::Host]);
    assert!(x.attributes(2 * PAGE as usize..)?.accessed_by.is_empty());
    assert!(x.attributes(..)?.read_mostly);
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.copied), (1, 2));
    assert_eq!(x.attributes(PAGE as usize..2 * PAGE as usize)?.last_prefetch, Some(Location::Device(0)));
    assert_eq!(x.attributes(..PAGE as usize)?.last_prefetch, None);
    exec.set_at(1)?;
    exec.launch(&device.stream)?;
    assert_eq!(x.attributes(..PAGE as usize)?.last_prefetch, Some(Location::Device(0)));
    // A bound without a value.
    let told = text(exec.set_at(0));
    assert!(told.ends_with("a bound of its `#[advise]` or `#[prefetch]` is negative"), "{told}");
    exec.launch(&device.stream)?;
    device.nothing_reported();
    Ok(())
}

#[test]
fn nodes_of_the_host_are_locations() -> Outcome {
    let device = device();
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    let mut exec = on_nodes(&device.ctx, N, &x, &out)?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [1; N as usize]);
    let preferred = x.attributes(..)?.preferred_location;
    // Driver 580 of a machine without a choice of NUMA nodes returns none.
    let known = |preferred| matches!(preferred, Some(Location::HostNuma(0) | Location::Host));
    assert!(!device.simulated || known(preferred), "{preferred:?}");
    assert!(!device.simulated || out.attributes(..)?.preferred_location.is_some());
    let refused = on_no_node(&device.ctx, N, &x).map(drop);
    match refused {
        Err(Error::ManagedArgument { fault: ManagedFault::NoNode { node: 4095, .. }, .. }) => {}
        refused => panic!("{refused:?}"),
    }
    Ok(())
}

#[test]
fn fields_of_records_have_ranges_of_their_scalars() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, y, more] = [1, 0, 9].map(|value| managed(&device, value));
    drop((x.host()?, y.host()?, more.host()?));
    let state = State::new(N, PAGE, &x, vec![&more]);
    let mut exec = stepped(&device.ctx, N, state, &y)?.instantiate()?;
    assert!(x.attributes(..PAGE as usize)?.accessed_by.is_empty());
    assert_eq!(x.attributes(PAGE as usize..)?.accessed_by, [Location::Host]);
    assert!(more.attributes(..)?.read_mostly);
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!(found.prefetched, 1 + 1);
    exec.state().set_used(2 * PAGE)?;
    drop((x.host()?, y.host()?));
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!(found.prefetched, 2 + 2);
    assert!(text(exec.state().set_used(N + 1)).contains("names the elements 3073..3072, and it has 3072"));
    drop((x.host()?, y.host()?));
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!(found.prefetched, 2 + 2);
    assert_eq!(y.host()?[..2], [9, 4]);
    device.nothing_reported();
    Ok(())
}

#[test]
fn a_builder_gives_hints_about_parts() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, other] = [managed(&device, 1), managed(&device, 1)];
    drop((x.host()?, other.host()?));
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar("n", N);
    let k = b.scalar("k", PAGE);
    let mut h = b.exclusive("x", N, &x);
    b.prefetch(h.range(0_u32, k), Location::Device(0))?.prefetch(h.range(k, N), Location::HostNumaCurrent)?;
    b.advise(h.split_at_mut(k).1.range(0_u32, PAGE), Advice::AccessedBy(Location::Host))?;
    b.launch(shift {}, per_item(n), (&mut h, 1, n))?;
    let mut exec = b.build()?.instantiate()?;
    assert!(x.attributes(..PAGE as usize)?.accessed_by.is_empty());
    assert_eq!(x.attributes(PAGE as usize..2 * PAGE as usize)?.accessed_by, [Location::Host]);
    assert!(x.attributes(2 * PAGE as usize..)?.accessed_by.is_empty());
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (1, 2));
    exec.set_scalar(&k, 2 * PAGE)?;
    exec.set_buffer(&h, &other)?;
    assert_eq!(other.attributes(2 * PAGE as usize..)?.accessed_by, [Location::Host]);
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (2, 1));
    // A setter of a scalar also moves the hints of memory that a setter has bound.
    exec.set_scalar(&k, PAGE)?;
    drop(other.host()?);
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.prefetched, found.device_faults), (1, 2));
    assert!(text(exec.set_scalar(&k, N)).contains("names the elements 3072..4096, and it has 3072"));
    let mut b = Builder::new(&device.ctx);
    let h = b.exclusive("x", N, &x);
    let foreign = Builder::new(&device.ctx).scalar("k", 1_u32);
    assert!(text(b.prefetch(h.range(0_u32, foreign), Location::Host)).contains("CW402"));
    device.nothing_reported();
    Ok(())
}

#[test]
fn reports_tell_hints() -> Outcome {
    let device = device();
    let [by, x, out] = [1, 0, 0].map(|value| managed(&device, value));
    let Ok(graph) = told(&device.ctx, N, &by, &x, &out) else {
        println!("not run: the driver cannot discard");
        return Ok(());
    };
    let report = graph.report();
    let hints: Vec<_> = report
        .hints
        .iter()
        .map(|hint| (&*hint.at.name, hint.kind, hint.location.as_deref(), hint.bytes))
        .collect();
    let expected = [
        ("by", MemoryHintKind::ReadMostly, None, 12288),
        ("by", MemoryHintKind::AccessedBy, Some("device 0"), 12288),
        ("x", MemoryHintKind::Discard, None, 12288),
        ("x", MemoryHintKind::Prefetch, Some("device 0"), 4096),
    ];
    assert_eq!(hints, expected);
    let told: Vec<String> = report
        .all()
        .to_string()
        .lines()
        .filter(|line| line.starts_with("managed"))
        .map(str::to_owned)
        .collect();
    println!("{told:#?}");
    assert_eq!(told.len(), 4);
    for (line, end) in told.iter().zip([
        ") advised as mostly read, 12 KiB",
        ") advised as accessed by device 0, 12 KiB",
        ") discarded before each launch, 12 KiB",
        ") moved to device 0 before each launch, 4 KiB",
    ]) {
        assert!(line.ends_with(end), "{line}");
    }
    Ok(())
}

#[test]
fn uninitialised_memory_touches_no_page() -> Outcome {
    let device = device();
    let resident = || {
        let pages = |at| cuweave_sim::resident_pages(at).expect("the simulated driver");
        [pages(Some(0)), pages(None)]
    };
    let mut x = Managed::<u32>::uninit(&device.stream, N as usize, Attach::Global)?;
    if device.simulated {
        let before = resident();
        let more = Managed::<u32>::uninit(&device.stream, N as usize, Attach::Global)?;
        let host = Managed::<u32>::uninit(&device.stream, N as usize, Attach::Host)?;
        assert_eq!(resident(), before);
        let zeros = Managed::<u32>::zeros(&device.stream, N as usize, Attach::Global)?;
        assert_eq!(resident(), [before[0] + 3, before[1]]);
        drop((more, host, zeros));
    }
    // The device writes it first, and then the host.
    let mut b = Builder::new(&device.ctx);
    let mut h = b.exclusive("x", N, &x);
    b.launch(set {}, per_item(N), (&mut h, 9_u32, N))?;
    b.build()?.instantiate()?.launch(&device.stream)?;
    assert_eq!(*x.host()?, [9; N as usize]);
    x.host_mut()?.fill(1);
    assert_eq!(x.as_buffer().to_host(&device.stream)?, [1; N as usize]);
    // Its values are arbitrary until then, but they are values.
    let x = Managed::<f32>::uninit(&device.stream, 4, Attach::Host)?;
    assert_eq!(x.host()?.len(), 4);
    let refused = Managed::<u32>::uninit(&device.stream, 0, Attach::Global);
    assert!(matches!(refused, Err(Error::Managed(ManagedFault::Empty))));
    Ok(())
}

#[test]
fn allocations_say_how_much_they_asked_for() {
    if simulated_alone().is_some() {
        let small = ("CUWEAVE_SIM_MEMORY", "4M");
        apart("managed_ranges::out_of_memory", &[small, ("CUWEAVE_SIM_CONCURRENT", "0")]);
        apart("managed_ranges::larger_than_the_device", &[small]);
    }
}

/// More than the device has, in a buffer between two others.
#[cuweave::graph(memory = "nodes")]
fn in_nodes(n: u32, out: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    fill(&mut h, 1);
    copy(&h[0..1], &mut out);
}

#[cuweave::graph]
fn in_an_arena(n: u32, out: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    fill(&mut h, 1);
    copy(&h[0..1], &mut out);
}

#[cuweave::graph(memory = "owned")]
fn owned(n: u32, out: &mut [u32; 1]) {
    let h = alloc::<u32>(n);
    fill(&mut h, 1);
    copy(&h[0..1], &mut out);
}

#[test]
#[ignore = "in a process of its own"]
fn out_of_memory() -> Outcome {
    let device = device();
    let much = 16 << 20;
    let asked = |result: Result<(), Error>, call: &str| {
        let error = result.expect_err("there is not that much");
        let told = error.to_string();
        println!("{told}");
        let Error::Driver(failure) = error else { panic!("{told}") };
        assert!(told.starts_with(&format!("`{call}`")), "{told}");
        assert!(told.contains("CUDA_ERROR_OUT_OF_MEMORY (2) when asked for"), "{told}");
        assert_eq!(failure.bytes, Some(4 * much as u64), "{told}");
    };
    asked(Managed::<u32>::zeros(&device.stream, much, Attach::Global).map(drop), "cuMemAllocManaged");
    asked(Managed::<u32>::uninit(&device.stream, much, Attach::Host).map(drop), "cuMemAllocManaged");
    asked(Buffer::<u32>::zeros(&device.stream, much).map(drop), "cuMemAllocAsync");
    asked(Buffer::from_host(&device.stream, &vec![1_u32; much]).map(drop), "cuMemAllocAsync");
    let pool = cuweave::ArenaPool::with_capacity(&device.stream, 4 * much as u64);
    asked(pool.map(drop), "cuMemCreate");
    let out = Buffer::<u32>::zeros(&device.stream, 1)?;
    let failed = in_nodes(&device.ctx, much as u32, &out).and_then(|graph| {
        let mut exec = graph.instantiate()?;
        exec.launch(&device.stream)
    });
    let told = failed.expect_err("there is not that much").to_string();
    println!("{told}");
    assert!(told.contains("when asked for 67108864 bytes"), "{told}");
    let failed = in_an_arena(&device.ctx, much as u32, &out).and_then(|graph| {
        let mut exec = graph.instantiate()?;
        exec.launch(&device.stream)
    });
    let told = failed.expect_err("there is not that much").to_string();
    println!("{told}");
    assert!(told.contains("when asked for 67108864 bytes"), "{told}");
    let told = owned(&device.ctx, much as u32, &out).map(drop).expect_err("too much").to_string();
    println!("{told}");
    assert!(told.starts_with("`cuMemCreate` for `h` (tests/in_turn/managed_ranges.rs:"), "{told}");
    assert!(told.contains("when asked for 67108864 bytes"), "{told}");
    Ok(())
}

#[test]
#[ignore = "in a process of its own"]
fn larger_than_the_device() -> Outcome {
    let device = device();
    let found = counted(|| {
        let mut x = Managed::<u8>::uninit(&device.stream, 16 << 20, Attach::Global)?;
        x.host_mut()?[0] = 1;
        Ok(())
    })?;
    assert_eq!((found.evicted, found.device_faults), (0, 0));
    let found = counted(|| Managed::<u8>::zeros(&device.stream, 16 << 20, Attach::Global))?;
    assert!(found.evicted >= 3 << 10, "{found:?}");
    Ok(())
}
