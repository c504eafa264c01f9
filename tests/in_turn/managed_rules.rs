//! Sentences of the driver's manual about managed memory that no other test shows. `docs/reference-rules.md` lists
//! all of them with their tests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaStream, DevicePtr, DeviceRepr, ValidAsZeroBits};
use cuweave::builder::Builder;
use cuweave::managed::{Attach, Location, ManagedFault};
use cuweave::prelude::*;
use cuweave::{Error, Managed};

use cuweave_sim::DriverCall;
use cuweave_testkit::device::{Device, simulated_alone};
use cuweave_testkit::process::apart;

mod kernels {
    use cuweave::prelude::*;

    #[cuweave::kernels("examples/kernels/memory.ptx")]
    unsafe extern "ptx-kernel" {
        pub fn shift(x: &mut [i32; n], by: i32, n: u32);
    }
}
use kernels::shift;

/// x += by
#[cuweave::graph]
fn add(n: u32, by: i32, x: &mut [i32; n]) {
    shift[per_item(n)](&mut x, by, n);
}

/// Arguments that are prefetched, discarded, and both.
#[cuweave::graph]
fn hinted(
    n: u32,
    #[prefetch(device)] moved: &mut [i32; n],
    #[prefetch(host)] read: &[i32; n],
    #[discard] dropped: &mut [i32; n],
    #[discard] other: &mut [i32; n],
    #[discard]
    #[prefetch(device)]
    both: &mut [i32; n],
    #[discard]
    #[prefetch(host)]
    too: &mut [i32; n],
) {
    copy(&read, &mut dropped);
    copy(&read, &mut other);
    copy(&read, &mut both);
    fill(&mut too, 2);
    shift[per_item(n)](&mut moved, 1, n);
}

/// A page of elements.
const N: u32 = 1024;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn stream(device: &Device) -> Arc<CudaStream> {
    device.ctx.new_stream().expect("a stream")
}

fn managed(device: &Device, value: i32) -> Managed<i32> {
    Managed::from_host(&device.stream, &[value; N as usize], Attach::Global).expect("managed memory")
}

fn called(name: &str) -> u64 {
    cuweave_sim::call_counts().expect("the simulated driver").get(name).copied().unwrap_or(0)
}

/// Returns the driver calls that some work makes.
fn traced(work: impl FnOnce()) -> Vec<DriverCall> {
    cuweave_sim::take_trace().expect("a trace");
    cuweave_sim::set_trace(true).expect("a trace");
    work();
    cuweave_sim::set_trace(false).expect("a trace");
    cuweave_sim::take_trace().expect("a trace")
}

/// An element with a larger alignment than a page of the host.
#[derive(Clone, Copy)]
#[repr(C, align(65536))]
struct Aligned([u32; 16384]);

// SAFETY: it is an array of numbers, and zero is one of its values.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Aligned {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl ValidAsZeroBits for Aligned {}

#[test]
fn an_allocation_begins_at_a_page_and_at_the_alignment_of_its_elements() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let mut held = Vec::new();
    for _ in 0..8 {
        // Moves the next allocation of the driver by a page.
        held.push(managed(&device, 0));
        let x = Managed::<Aligned>::zeros(&device.stream, 1, Attach::Global)?;
        let address = x.as_buffer().with(&device.stream, |view| view.device_ptr(&device.stream).0)?;
        assert_eq!(address % 65536, 0);
        assert_eq!(x.set_read_mostly(..)?, 0..65536);
        assert!(x.attributes(..)?.read_mostly);
    }
    for x in &held {
        let address = x.as_buffer().with(&device.stream, |view| view.device_ptr(&device.stream).0)?;
        assert_eq!(address % 4096, 0);
    }
    device.nothing_reported();
    Ok(())
}

/// New memory of the simulated driver is zero by chance, so the test counts the writes.
#[test]
fn zeros_are_written() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let mut x = None;
    let calls = traced(|| x = Managed::<i32>::zeros(&device.stream, 8, Attach::Global).ok());
    let x = x.expect("managed memory");
    let address = x.as_buffer().with(&device.stream, |view| view.device_ptr(&device.stream).0)?;
    let fill = |call: &DriverCall| {
        call.name == "cuMemsetD8Async" && (call.arguments[0], call.arguments[2]) == (address, 32)
    };
    assert_eq!(calls.iter().filter(|call| fill(call)).count(), 1, "{calls:#?}");
    Ok(())
}

/// The size in bytes is a number, but no allocation of the host can have it.
#[test]
fn an_allocation_is_smaller_than_the_address_space() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    for len in [usize::MAX / 8 + 1, usize::MAX / 8, usize::MAX / 5] {
        let refused = Managed::<i32>::zeros(&device.stream, len, Attach::Global);
        let too_large = matches!(refused, Err(Error::Managed(ManagedFault::TooLarge { element: 4, .. })));
        assert!(too_large, "{len}: {refused:?}");
    }
    Ok(())
}

#[test]
fn an_allocation_without_memory_is_the_error_of_its_call() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    cuweave_sim::inject_fault("cuMemAllocManaged", 1, 2)?;
    let refused = Managed::<i32>::zeros(&device.stream, 8, Attach::Global);
    assert_eq!(cuweave_sim::clear_faults()?, 0);
    let Err(Error::Driver(failure)) = refused else { panic!("another result: {refused:?}") };
    assert_eq!((failure.code, failure.name.as_str()), (2, "CUDA_ERROR_OUT_OF_MEMORY"));
    assert!(failure.to_string().contains("`cuMemAllocManaged`"), "{failure}");
    Ok(())
}

#[test]
fn an_error_of_earlier_work_is_returned_as_such() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let failed = cudarc::driver::sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    device.ctx.record_err::<()>(Err(cudarc::driver::DriverError(failed)));
    let refused = Managed::<i32>::zeros(&device.stream, 8, Attach::Global);
    assert!(matches!(refused, Err(Error::Earlier(_))), "{refused:?}");
    Managed::<i32>::zeros(&device.stream, 8, Attach::Global)?;
    Ok(())
}

/// While work is held it looks pending, so a host view that does not wait for it comes too early.
#[test]
fn the_host_waits_for_launches_in_flight() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let (mut x, a) = (managed(&device, 1), stream(&device));
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    for mutable in [false, true] {
        let held = cuweave_sim::hold_work()?;
        exec.launch(&a)?;
        let begin = Instant::now();
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(40));
            drop(held);
        });
        let calls = traced(|| match mutable {
            true => drop(x.host_mut().expect("a view")),
            false => drop(x.host().expect("a view")),
        });
        assert!(calls.iter().any(|call| call.name == "cuStreamWaitEvent"), "{calls:#?}");
        assert!(begin.elapsed() >= Duration::from_millis(40), "mutable: {mutable}");
        release.join().expect("the work is let go");
    }
    assert_eq!(*x.host()?, [3; N as usize]);
    Ok(())
}

#[test]
fn memory_keeps_the_stream_that_it_is_attached_to() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let (x, a) = (managed(&device, 1), stream(&device));
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    let refused = |exec: &mut add::Exec<'_>| {
        let refused = exec.launch(&device.stream).map(|_| ());
        matches!(refused, Err(Error::ManagedArgument { fault: ManagedFault::AttachedElsewhere, .. }))
    };
    x.attach(&a)?;
    exec.launch(&a)?;
    let before = called("cuStreamDestroy_v2");
    drop(a);
    assert!(refused(&mut exec));
    assert_eq!(called("cuStreamDestroy_v2"), before);
    x.detach()?;
    exec.launch(&device.stream)?;
    assert_eq!(*x.host()?, [3; N as usize]);
    device.nothing_reported();
    Ok(())
}

#[test]
fn prefetches_and_discards_come_after_earlier_work() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [a, b] = [stream(&device), stream(&device)];
    let x = managed(&device, 1);
    let mut exec = add(&device.ctx, N, 1, &x)?.instantiate()?;
    let prefetch = || {
        x.prefetch(&b, .., Location::Host).expect("a prefetch");
    };
    let discard = || {
        x.discard(&b, ..).expect("a discard");
    };
    for used in [&prefetch as &dyn Fn(), &discard] {
        exec.launch(&a)?;
        let calls = traced(used);
        let moved = |call: &DriverCall| ["Prefetch", "Discard"].iter().any(|word| call.name.contains(word));
        let at = calls.iter().position(moved).expect("the call is made");
        let waited =
            |call: &DriverCall| call.name == "cuStreamWaitEvent" && call.arguments[0] == b.cu_stream() as u64;
        assert!(calls[..at].iter().any(waited), "{calls:#?}");
        // The next launch comes after it.
        let calls = traced(|| exec.launch(&a).expect("it launches"));
        let waited =
            |call: &DriverCall| call.name == "cuStreamWaitEvent" && call.arguments[0] == a.cu_stream() as u64;
        assert!(calls.iter().any(waited), "{calls:#?}");
    }
    device.nothing_reported();
    Ok(())
}

#[test]
fn one_call_has_all_prefetches_and_another_all_discards() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let all: [Managed<i32>; 6] = std::array::from_fn(|_| managed(&device, 1));
    let [moved, read, dropped, other, both, too] = &all;
    let mut exec = hinted(&device.ctx, N, moved, read, dropped, other, both, too)?.instantiate()?;
    let names = [
        "cuMemPrefetchBatchAsync",
        "cuMemDiscardBatchAsync",
        "cuMemDiscardAndPrefetchBatchAsync",
        "cuMemPrefetchAsync_v2",
    ];
    let before = names.map(called);
    let pages = cuweave_sim::page_counts()?;
    exec.launch(&device.stream)?;
    let after = names.map(called);
    assert_eq!([0, 1, 2, 3].map(|at| after[at] - before[at]), [1, 1, 1, 0]);
    let found = cuweave_sim::page_counts()? - pages;
    assert_eq!(found.discarded, 4);
    let last = |x: &Managed<i32>| x.attributes(..).map(|found| found.last_prefetch);
    assert_eq!(last(moved)?, Some(Location::Device(0)));
    assert_eq!(last(read)?, Some(Location::Host));
    assert_eq!(last(dropped)?, None);
    assert_eq!(last(both)?, Some(Location::Device(0)));
    assert_eq!(last(too)?, Some(Location::Host));
    for (x, expected) in all.iter().zip([2, 1, 1, 1, 1, 2]) {
        assert_eq!(*x.host()?, [expected; N as usize]);
    }
    device.nothing_reported();
    Ok(())
}

/// Without batches each prefetch is a call.
#[test]
fn older_drivers_move_one_argument_a_call() {
    if simulated_alone().is_some() {
        apart("managed_rules::one_by_one", &[("CUWEAVE_SIM_VERSION", "12.8")]);
    }
}

#[cuweave::graph]
fn two(n: u32, #[prefetch(device)] x: &mut [i32; n], #[prefetch(device)] y: &mut [i32; n]) {
    shift[per_item(n)](&mut x, 1, n);
    shift[per_item(n)](&mut y, 1, n);
}

#[test]
#[ignore = "in a process of its own"]
fn one_by_one() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, y] = [managed(&device, 1), managed(&device, 2)];
    let mut exec = two(&device.ctx, N, &x, &y)?.instantiate()?;
    exec.launch(&device.stream)?;
    assert_eq!((called("cuMemPrefetchAsync_v2"), called("cuMemPrefetchBatchAsync")), (2, 0));
    Ok(())
}

/// A kernel that is declared to read what it writes may read discarded contents. The declaration, not the graph
/// function, says so: it is a fault of unwritten memory. What is known to read is a fault of `#[discard]`.
#[test]
fn readers_of_discarded_arguments_are_refused_by_kind() -> Outcome {
    let Some(device) = simulated_alone() else { return Ok(()) };
    let [x, out] = [managed(&device, 1), managed(&device, 0)];
    for (reads_only, code, reason) in [
        (false, "CW101", "`x` is given to the kernel `shift` before it is written"),
        (true, "CW108", "`x` is discarded before the launch and read by `copy`"),
    ] {
        let mut b = Builder::new(&device.ctx);
        let (mut h, mut to) = (b.exclusive("x", u64::from(N), &x), b.exclusive("out", u64::from(N), &out));
        b.discard(&h)?;
        match reads_only {
            true => drop(b.copy(&h, &mut to)?),
            false => drop(b.launch(shift {}, per_item(N), (&mut h, 1, N))?),
        }
        b.fill(&mut h, 1)?;
        let told = b.build().map(drop).expect_err("it is refused").to_string();
        assert!(told.contains(code) && told.contains(reason), "{told}");
    }
    Ok(())
}
