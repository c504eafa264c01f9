//! Writes to multicast objects and reads of the memory that is bound to them, from several threads. The calls of
//! the simulated driver must show that each conflicting pair is ordered.

use std::collections::BTreeMap;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use cuweave::multicast::{Binding, Complete, Forming, Mapping, Memory};

use cuweave_sim::DriverCall;
use cuweave_testkit::device::driver;
use cuweave_testkit::process::apart;

const STEP: u64 = 2 << 20;
/// The number of elements of a write or a read.
const MANY: usize = 16;
/// The number of accesses by each thread.
const TURNS: u32 = 500;

/// Runs a test with this number of devices, if the driver is the simulated one.
fn on(devices: &str, test: &str) {
    if driver().is_simulated() {
        apart(&format!("multicast_order::{test}"), &[("CUWEAVE_SIM_DEVICES", devices)]);
    }
}

fn contexts() -> Vec<Arc<CudaContext>> {
    driver();
    let count = CudaContext::device_count().expect("a count");
    (0..usize::try_from(count).unwrap()).map(|at| cuweave::context(at).expect("a context")).collect()
}

fn complete(contexts: &[Arc<CudaContext>], bytes: u64) -> Complete {
    let mut forming = Forming::new(contexts, bytes).expect("an object");
    forming.add_own().expect("devices");
    forming.complete().expect("a complete object")
}

fn memories(contexts: &[Arc<CudaContext>]) -> Vec<Arc<Memory>> {
    let stream = |ctx: &Arc<CudaContext>| ctx.new_stream().expect("a stream");
    contexts.iter().map(|ctx| Memory::zeros(&stream(ctx), STEP).expect("memory")).collect()
}

fn bind(object: &Complete, offset: u64, memory: &[Arc<Memory>]) -> Vec<Binding> {
    memory.iter().map(|memory| object.bind(offset, memory, 0, STEP).expect("a binding")).collect()
}

/// An access that a thread waits for: true for a write, and its first address.
type Use = (bool, u64);

/// Returns the pairs of accesses where one is enqueued while a thread waits for the other, and which of them
/// conflict.
fn met(calls: &[DriverCall], conflict: impl Fn(Use, Use) -> bool) -> (Vec<(Use, Use)>, usize) {
    let mut open: BTreeMap<u64, Use> = BTreeMap::new();
    let (mut met, mut uses) = (Vec::new(), 0);
    for call in calls {
        let used = match call.name.as_str() {
            "cuMemcpyHtoDAsync_v2" => (true, call.arguments[0]),
            "cuMemcpyDtoHAsync_v2" => (false, call.arguments[1]),
            "cuStreamSynchronize" => {
                open.remove(&call.thread);
                continue;
            }
            _ => continue,
        };
        uses += 1;
        met.extend(open.values().filter(|&&other| conflict(used, other)).map(|&other| (other, used)));
        open.insert(call.thread, used);
    }
    (met, uses)
}

/// Runs each of `uses` on its own thread, and returns the driver calls.
fn traced(uses: Vec<Box<dyn FnOnce() + Send + '_>>) -> Vec<DriverCall> {
    cuweave_sim::take_trace().expect("a trace");
    cuweave_sim::set_trace(true).expect("a trace");
    let barrier = std::sync::Barrier::new(uses.len());
    std::thread::scope(|scope| {
        for used in uses {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                used();
            });
        }
    });
    cuweave_sim::set_trace(false).expect("a trace");
    cuweave_sim::take_trace().expect("a trace")
}

fn writes<'a>(mapping: &'a Mapping, stream: Arc<CudaStream>, first: u32) -> Box<dyn FnOnce() + Send + 'a> {
    Box::new(move || {
        for value in first..first + TURNS {
            mapping.write(&stream, 0, &[value; MANY]).expect("a write");
        }
    })
}

/// Reads repeatedly; all elements must come from the same write.
fn reads<'a>(memory: &'a Memory, stream: Arc<CudaStream>) -> Box<dyn FnOnce() + Send + 'a> {
    Box::new(move || {
        for _ in 0..TURNS {
            let found = memory.read::<u32>(&stream, 0, MANY).expect("a read");
            assert!(found.iter().all(|value| *value == found[0]), "a read meets a write in flight");
        }
    })
}

fn all_is_well(contexts: &[Arc<CudaContext>], memory: &[Arc<Memory>]) {
    let last: Vec<u32> = memory
        .iter()
        .zip(contexts)
        .map(|(memory, ctx)| memory.read::<u32>(&ctx.new_stream().unwrap(), 0, MANY).unwrap()[MANY - 1])
        .collect();
    assert!(last.iter().all(|value| *value == last[0]), "the last write reached all devices: {last:?}");
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no call failed"));
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert!(reports.is_empty(), "{reports:#?}");
}

#[test]
fn a_write_is_over_before_any_read_of_its_memory_begins() {
    on("2", "one_object");
    on("4", "one_object");
}

/// Two mappings of one object whose memory is read on each device, all on different threads and streams.
#[test]
#[ignore = "run by another test, with several devices"]
fn one_object() {
    let contexts = contexts();
    let memory = memories(&contexts);
    let object = complete(&contexts, STEP);
    let _bound = bind(&object, 0, &memory);
    let mappings = [object.map().unwrap(), object.map().unwrap()];
    let stream = |at: usize| contexts[at % contexts.len()].new_stream().unwrap();
    let mut uses: Vec<_> = memory.iter().enumerate().map(|(at, memory)| reads(memory, stream(at))).collect();
    uses.extend(mappings.iter().zip(1..).map(|(all, at)| writes(all, stream(at), 1000 * at as u32)));
    let wanted = TURNS as usize * uses.len();
    let (met, uses) = met(&traced(uses), |one, other| one.0 || other.0);
    assert_eq!(uses, wanted);
    assert!(met.is_empty(), "{} of {uses} uses meet one in flight", met.len());
    all_is_well(&contexts, &memory);
}

#[test]
fn objects_with_the_same_memory_are_ordered_and_others_are_not() {
    on("2", "two_objects");
}

/// Memory that is bound to two objects, to the second one in reverse order and twice.
#[test]
#[ignore = "run by another test, with several devices"]
fn two_objects() {
    let contexts = contexts();
    let (memory, apart) = (memories(&contexts), memories(&contexts));
    let objects = [complete(&contexts, STEP), complete(&contexts, 2 * STEP), complete(&contexts, STEP)];
    let _first = bind(&objects[0], 0, &memory);
    let _second: Vec<Binding> = memory
        .iter()
        .rev()
        .flat_map(|memory| [0, STEP].map(|offset| objects[1].bind(offset, memory, 0, STEP).unwrap()))
        .collect();
    let _third = bind(&objects[2], 0, &apart);
    let mappings: Vec<Mapping> = objects.iter().map(|object| object.map().unwrap()).collect();
    let stream = |at: usize| contexts[at].new_stream().unwrap();
    let other = [mappings[2].address()].into_iter().chain(apart.iter().map(|memory| memory.address()));
    let other: Vec<u64> = other.collect();
    let uses = vec![
        writes(&mappings[0], stream(0), 1000),
        writes(&mappings[1], stream(1), 2000),
        writes(&mappings[2], stream(0), 3000),
        reads(&memory[0], stream(0)),
        reads(&memory[1], stream(1)),
        reads(&apart[1], stream(1)),
    ];
    let wanted = TURNS as usize * uses.len();
    let same = |one: Use, two: Use| other.contains(&one.1) == other.contains(&two.1);
    let (met, uses) = met(&traced(uses), |one, two| (one.0 || two.0) && same(one, two));
    assert_eq!(uses, wanted);
    assert!(met.is_empty(), "{} of {uses} uses meet one in flight", met.len());
    // A write across two parts that are bound to the same memory.
    mappings[1].write(&stream(0), STEP - 4, &[7_u32, 8]).unwrap();
    assert_eq!(memory[0].read::<u32>(&stream(0), STEP - 4, 1).unwrap(), [7]);
    assert_eq!(memory[0].read::<u32>(&stream(0), 0, 1).unwrap(), [8]);
    mappings[0].write(&stream(1), 0, &[9_u32; MANY]).unwrap();
    all_is_well(&contexts, &memory);
    all_is_well(&contexts, &apart);
}

#[test]
fn a_wait_that_fails_ends_with_the_work_over() {
    on("2", "failed_waits");
}

/// If the wait for a copy fails, another wait follows before the next access may begin.
#[test]
#[ignore = "run by another test, with several devices"]
fn failed_waits() {
    const NOT_SUPPORTED: u32 = 801;
    let contexts = contexts();
    let memory = memories(&contexts);
    let object = complete(&contexts, STEP);
    let _bound = bind(&object, 0, &memory);
    let (all, stream) = (object.map().unwrap(), contexts[0].new_stream().unwrap());
    let waited = || cuweave_sim::call_counts().unwrap().get("cuCtxSynchronize").copied().unwrap_or(0);
    let before = waited();
    cuweave_sim::inject_fault("cuStreamSynchronize", 1, NOT_SUPPORTED).unwrap();
    all.write(&stream, 0, &[1_u32; MANY]).expect_err("its wait fails");
    cuweave_sim::inject_fault("cuStreamSynchronize", 1, NOT_SUPPORTED).unwrap();
    memory[0].read::<u32>(&stream, 0, MANY).expect_err("its wait fails");
    assert_eq!(waited(), before + 2);
    assert_eq!(cuweave_sim::clear_faults(), Ok(0));
    all.write(&stream, 0, &[2_u32; MANY]).unwrap();
    assert_eq!(memory[1].read::<u32>(&contexts[1].new_stream().unwrap(), 0, 1).unwrap(), [2]);
    all_is_well(&contexts, &memory);
}
