//! Advice, prefetches and discards by builder methods, and by attributes of fields of records and lists.

use cuweave::builder::Builder;
use cuweave::managed::{Advice, Attach, Location, ManagedFault};
use cuweave::prelude::*;
use cuweave::{Buffer, Error, Managed};
use cuweave_sim::PageCounts;
use cuweave_testkit::device::{Device, simulated_alone};

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("examples/kernels/memory.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn shift(x: &mut [i32; n], by: i32, n: u32);
    }
}
use kernels::shift;

/// Three pages.
const N: usize = 3 * 1024;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn managed(device: &Device, value: i32) -> Managed<i32> {
    Managed::from_host(&device.stream, &[value; N], Attach::Global).expect("managed memory")
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
fn a_builder_gives_advice_and_moves_pages() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    drop((x.host()?, out.host()?));
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar("n", N as u32);
    let (from, mut to) = (b.shared("x", n, &x), b.exclusive("out", n, &out));
    b.advise(from, Advice::ReadMostly)?.advise(from, Advice::AccessedBy(Location::Host))?;
    b.advise(to, Advice::PreferredLocation(Location::Device(0)))?.prefetch(to, Location::Device(0))?;
    b.copy(&from, &mut to)?;
    b.launch(shift {}, per_item(n), (&mut to, 1, n))?;
    let mut exec = b.build()?.instantiate()?;
    let advice = x.attributes(..)?;
    assert!(advice.read_mostly);
    assert_eq!(advice.accessed_by, [Location::Host]);
    assert_eq!(out.attributes(..)?.preferred_location, Some(Location::Device(0)));
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.copied, found.migrated, found.prefetched, found.device_faults), (3, 0, 3, 3));
    // Memory that a setter binds gets the advice, and its pages are moved.
    let other = managed(&device, 5);
    drop(other.host()?);
    exec.set_buffer(&from, &other)?;
    assert!(other.attributes(..)?.read_mostly);
    let there = managed(&device, 0);
    drop(there.host()?);
    exec.set_buffer(&to, &there)?;
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.copied, found.prefetched), (3, 3));
    assert_eq!(*there.host()?, [6; N]);
    let plain = Buffer::from_host(&device.stream, &[1; N])?;
    let refused = exec.set_buffer(&from, &plain);
    assert!(matches!(refused, Err(Error::ManagedArgument { fault: ManagedFault::NotManaged, .. })));
    device.nothing_reported();
    Ok(())
}

#[test]
fn a_builder_discards_what_it_writes_first() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    drop((x.host()?, out.host()?));
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar("n", N as u32);
    let (mut h, mut to) = (b.exclusive("x", n, &x), b.exclusive("out", n, &out));
    b.discard(&h)?.prefetch(h, Location::Device(0))?;
    b.fill(&mut h, 3)?;
    b.launch(shift {}, per_item(n), (&mut h, 1, n))?;
    b.copy(&h, &mut to)?;
    let mut exec = b.build()?.instantiate()?;
    let found = counted(|| exec.launch(&device.stream))?;
    assert_eq!((found.discarded, found.prefetched, found.device_faults, found.migrated), (3, 3, 3, 3));
    assert_eq!(*out.host()?, [4; N]);
    device.nothing_reported();
    Ok(())
}

/// Elements beyond the present length are not discarded, and a hint about a range follows the length.
#[test]
fn hints_follow_sizes() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let x = managed(&device, 1);
    drop(x.host()?);
    let mut b = Builder::new(&device.ctx);
    let n = b.scalar_at_most("n", 1024_u32, N);
    let mut h = b.exclusive("x", n, &x);
    b.discard(&h)?;
    b.fill(&mut h, 3)?;
    let mut exec = b.build()?.instantiate()?;
    for (count, pages) in [(1024, 1), (2048, 2), (1024, 1), (3072, 3)] {
        exec.set_scalar(&n, count)?;
        assert_eq!(counted(|| exec.launch(&device.stream))?.discarded, pages, "{count}");
        device.stream.synchronize()?;
    }
    assert_eq!(*x.host()?, [3; N]);
    device.nothing_reported();
    Ok(())
}

#[test]
fn a_builder_refuses_what_attributes_refuse() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    // Passed to a kernel that may read it; half written; not written at all.
    for (way, code) in ["CW101", "CW108", "CW108"].into_iter().enumerate() {
        let mut b = Builder::new(&device.ctx);
        let (mut h, mut to) = (b.exclusive("x", N as u64, &x), b.exclusive("out", N as u64, &out));
        b.discard(&h)?;
        match way {
            0 => drop(b.launch(shift {}, per_item(N as u32), (&mut h, 1, N as u32))?),
            1 => drop(b.fill(h.range(0, N as u64 / 2).write(), 1)?),
            _ => {}
        }
        b.fill(&mut to, 1)?;
        let told = text(b.build());
        assert!(told.contains(code) && told.contains("`x`"), "{told}");
        assert!(!told.contains("#[discard]"), "{told}");
        assert!(told.contains("discarded"), "{told}");
    }
    let mut b = Builder::new(&device.ctx);
    let (shared, mut to) = (b.shared("x", N as u64, &x), b.exclusive("out", N as u64, &out));
    let h = b.named("h").alloc::<i32>(N as u64);
    assert!(text(b.discard(&shared)).contains("`x` is only read, and its contents are discarded"));
    assert!(text(b.advise(h, Advice::ReadMostly)).contains("cannot be bound to `h`"));
    b.prefetch(to, Location::Host)?;
    assert!(text(b.prefetch(to, Location::Device(0))).contains("`prefetch` is called twice for `out`"));
    b.advise(to, Advice::PreferredLocation(Location::Host))?;
    let second = b.advise(to, Advice::PreferredLocation(Location::Device(0)));
    assert!(text(second).contains("`advise` gives `out` a second preferred location"));
    assert!(
        text(b.advise(to, Advice::PreferredLocation(Location::Host))).contains("second preferred location")
    );
    let foreign = Builder::new(&device.ctx).alloc::<i32>(1_u64);
    assert!(text(b.discard(&foreign)).contains("CW402"));
    b.copy(&shared, &mut to)?;
    b.free(h)?;
    let mut exec = b.build()?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!(*out.host()?, [1; N]);
    // Locations that do not exist are detected when memory is bound.
    for (advice, part) in [
        (Advice::AccessedBy(Location::HostNuma(0)), "NUMA node 0"),
        (Advice::PreferredLocation(Location::HostNuma(4095)), "4095"),
        (Advice::PreferredLocation(Location::Device(9)), "9"),
    ] {
        let mut b = Builder::new(&device.ctx);
        let mut to = b.exclusive("out", N as u64, &out);
        b.advise(to, advice)?;
        b.fill(&mut to, 1)?;
        assert!(text(b.build()).contains(part));
    }
    device.nothing_reported();
    Ok(())
}

/// The state of a step: `by` is mostly read, and `x` is prefetched.
#[cuweave::arguments]
struct State {
    n: u32,
    #[advise(read_mostly)]
    by: &[i32; n],
    #[advise(preferred_location(device))]
    #[prefetch(device(0))]
    x: &mut [i32; n],
    #[advise(accessed_by(host))]
    more: &[&[i32; n]],
}

#[cuweave::graph]
fn stepped(
    n: u32,
    state: State<'_>,
    #[prefetch(device)]
    #[advise(read_mostly)]
    list: &[&[i32; n]],
) {
    copy(&state.by, &mut state.x);
    shift[per_item(n)](&mut state.x, 2, n);
    for more in state.more {
        copy(&more[0..1], &mut state.x[0..1]);
    }
    for one in list {
        copy(&one[1..2], &mut state.x[1..2]);
    }
}

#[test]
fn fields_of_records_and_lists_have_hints() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [by, x, more, one] = [7, 0, 20, 30].map(|value| managed(&device, value));
    drop((by.host()?, x.host()?, more.host()?, one.host()?));
    let state = State::new(N as u32, &by, &x, vec![&more]);
    let mut exec = stepped(&device.ctx, N as u32, state, vec![&one])?.instantiate()?;
    assert!(by.attributes(..)?.read_mostly && one.attributes(..)?.read_mostly);
    assert_eq!(x.attributes(..)?.preferred_location, Some(Location::Device(0)));
    assert_eq!(more.attributes(..)?.accessed_by, [Location::Host]);
    let found = counted(|| exec.launch(&device.stream))?;
    // `x` and the only member of the list are prefetched.
    assert_eq!(found.prefetched, 3 + 3);
    assert_eq!(x.host()?[..3], [20, 30, 9]);
    // A setter of a field applies the advice to the memory that it binds.
    let other = managed(&device, 8);
    exec.state().set_by(&other)?;
    assert!(other.attributes(..)?.read_mostly);
    let last = managed(&device, 31);
    exec.list(0)?.set(&last)?;
    assert!(last.attributes(..)?.read_mostly);
    exec.launch(&device.stream)?;
    assert_eq!(x.host()?[..3], [20, 31, 10]);
    device.nothing_reported();
    Ok(())
}
