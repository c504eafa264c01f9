//! Multicast objects on simulated drivers with 1, 2 and 4 devices. Each test runs in a separate process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaStream};
use cuweave::multicast::{Complete, Forming, Memory, MulticastFault, granularity, is_supported, team};
use cuweave::{Error, Result};

use cuweave_testkit::device::driver;
use cuweave_testkit::process::apart;

const STEP: u64 = 2 << 20;

/// Runs a test with this number of devices and this CUDA version, if the driver is the simulated one.
fn on(devices: &str, version: &str, test: &str) {
    if driver().is_simulated() {
        apart(
            &format!("multicast::{test}"),
            &[("CUWEAVE_SIM_DEVICES", devices), ("CUWEAVE_SIM_VERSION", version)],
        );
    }
}

fn contexts() -> Vec<Arc<CudaContext>> {
    driver();
    let count = CudaContext::device_count().expect("a count");
    (0..usize::try_from(count).unwrap()).map(|at| cuweave::context(at).expect("a context")).collect()
}

fn streams(contexts: &[Arc<CudaContext>]) -> Vec<Arc<CudaStream>> {
    contexts.iter().map(|ctx| ctx.new_stream().expect("a stream")).collect()
}

fn fault<T: std::fmt::Debug>(result: Result<T>) -> MulticastFault {
    match result {
        Err(Error::Multicast(fault)) => fault,
        other => panic!("no fault of a multicast object: {other:?}"),
    }
}

fn complete(contexts: &[Arc<CudaContext>], bytes: u64) -> Complete {
    let mut forming = Forming::new(contexts, bytes).expect("an object");
    forming.add_own().expect("devices");
    forming.complete().expect("a complete object")
}

fn memories(streams: &[Arc<CudaStream>], bytes: u64) -> Vec<Arc<Memory>> {
    streams.iter().map(|stream| Memory::zeros(stream, bytes).expect("memory")).collect()
}

fn nothing_reported() {
    let reports = cuweave_sim::take_reports().expect("the simulated driver");
    assert!(reports.is_empty(), "{reports:#?}");
}

fn called(name: &str) -> u64 {
    cuweave_sim::call_counts().expect("counts").get(name).copied().unwrap_or(0)
}

#[test]
fn one_write_reaches_all_devices() {
    on("2", "13.0", "writes");
    on("4", "13.0", "writes");
    on("4", "13.1", "writes");
    on("2", "12.4", "writes");
}

#[test]
#[ignore = "run by another test, with several devices"]
fn writes() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let before = cuweave_sim::live_objects().unwrap();
    let memory = memories(&streams, 2 * STEP);
    let object = complete(&contexts, 4 * STEP);
    assert_eq!(object.num_bytes(), 4 * STEP);
    assert_eq!((object.granularity().minimum, object.granularity().recommended), (STEP, 512 << 20));
    // Part 1 of the object is bound by handle and part 2 by address, at different offsets of the memory.
    let mut bound = Vec::new();
    for memory in &memory {
        bound.push(object.bind(STEP, memory, STEP, STEP).unwrap());
        bound.push(object.bind_address(2 * STEP, memory, 0, STEP).unwrap());
    }
    let all = object.map().unwrap();
    let last = streams.last().unwrap();
    all.write(last, STEP + 4, &[1.5_f32, 2.5]).unwrap();
    // Each member of a team may map the object at different addresses.
    object.map().unwrap().write(last, STEP + 12, &[3.5_f32]).unwrap();
    // Across the border of the two parts.
    all.write(&streams[0], 2 * STEP - 4, &[7u32, 8]).unwrap();
    for (memory, stream) in memory.iter().zip(&streams) {
        assert_eq!(memory.read::<f32>(stream, STEP, 4).unwrap(), [0.0, 1.5, 2.5, 3.5]);
        assert_eq!(memory.read::<u32>(stream, 2 * STEP - 4, 1).unwrap(), [7]);
        assert_eq!(memory.read::<u32>(stream, 0, 2).unwrap(), [8, 0]);
    }
    assert_eq!(
        fault(all.write(&streams[0], STEP - 4, &[0u64])),
        fault(all.write(&streams[0], STEP - 4, &[0u32]))
    );
    assert!(matches!(
        fault(all.write(&streams[0], 3 * STEP - 4, &[0u64])),
        MulticastFault::Unbound { device: 0, offset, .. } if offset == 3 * STEP
    ));
    assert!(matches!(fault(all.write(&streams[0], 4 * STEP, &[0u8])), MulticastFault::Outside { .. }));
    // Once the last device's second part is unbound, only the first part can be written.
    let memory_back = bound.pop().unwrap().unbind().unwrap();
    assert!(Arc::ptr_eq(&memory_back, memory.last().unwrap()));
    assert!(matches!(
        fault(all.write(&streams[0], 2 * STEP, &[9u32])),
        MulticastFault::Unbound { device, .. } if device == contexts.len() - 1
    ));
    all.write(&streams[0], STEP, &[3u8]).unwrap();
    // It can be bound again at another offset.
    bound.push(object.bind(3 * STEP, &memory_back, 0, STEP).unwrap());
    let newer = called("cuMulticastBindMem_v2");
    let by_device = std::env::var("CUWEAVE_SIM_VERSION").as_deref() == Ok("13.1");
    assert_eq!(newer > 0 && called("cuMulticastBindAddr_v2") > 0, by_device);
    assert_eq!(called("cuMulticastBindMem") == 0 && called("cuMulticastBindAddr") == 0, by_device);
    drop((memory_back, memory));
    drop((object, all, bound));
    assert_eq!(cuweave_sim::live_objects().unwrap(), before, "all is freed");
    nothing_reported();
}

#[test]
fn the_parts_end_in_any_order() {
    on("2", "13.0", "orders");
}

#[test]
#[ignore = "run by another test, with several devices"]
fn orders() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let before = cuweave_sim::live_objects().unwrap();
    for order in 0..24 {
        let memory = memories(&streams, STEP);
        let object = complete(&contexts, STEP);
        let bound: Vec<_> = memory.iter().map(|memory| object.bind(0, memory, 0, STEP).unwrap()).collect();
        let all = object.map().unwrap();
        all.write(&streams[1], 0, &[order]).unwrap();
        let mut parts: Vec<Box<dyn std::any::Any>> =
            vec![Box::new(memory), Box::new(object), Box::new(bound), Box::new(all)];
        let mut rest = usize::try_from(order).unwrap();
        while !parts.is_empty() {
            let at = rest % parts.len();
            rest /= parts.len();
            drop(parts.remove(at));
        }
        assert_eq!(cuweave_sim::live_objects().unwrap(), before, "order {order}");
    }
    contexts.iter().for_each(|ctx| ctx.check_err().expect("no call in a drop failed"));
    nothing_reported();
}

#[test]
fn sizes_offsets_and_devices_are_checked_before_the_driver_sees_them() {
    on("4", "13.0", "checks");
}

#[test]
#[ignore = "run by another test, with several devices"]
fn checks() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let team = &contexts[..2];
    let create = |contexts: &[Arc<CudaContext>], bytes| fault(Forming::new(contexts, bytes));
    assert_eq!(create(&[], STEP), MulticastFault::NoDevices);
    assert!(matches!(create(team, 0), MulticastFault::Empty { .. }));
    assert!(matches!(create(team, STEP + 1), MulticastFault::Misaligned { granularity: STEP, .. }));
    let twice = [contexts[1].clone(), contexts[0].clone(), contexts[1].clone()];
    assert!(matches!(create(&twice, STEP), MulticastFault::Repeated { device: 1, .. }));
    assert_eq!(called("cuMulticastCreate"), 0);
    assert_eq!(granularity(team, STEP).unwrap().minimum, STEP);

    let mut forming = Forming::new(team, 2 * STEP).unwrap();
    forming.add(&contexts[0]).unwrap();
    assert!(matches!(fault(forming.add(&contexts[0])), MulticastFault::AddedTwice { device: 0, .. }));
    assert!(matches!(fault(forming.add(&contexts[2])), MulticastFault::NotInTeam { device: 2, .. }));
    assert!(matches!(fault(forming.complete()), MulticastFault::Missing { added: 1, devices: 2, .. }));
    assert_eq!(called("cuMulticastAddDevice"), 1);

    assert!(matches!(fault(Memory::zeros(&streams[0], 0)), MulticastFault::Empty { .. }));
    assert!(matches!(fault(Memory::zeros(&streams[0], 4096)), MulticastFault::Misaligned { .. }));
    let memory = memories(&streams, 2 * STEP);
    let object = complete(team, 4 * STEP);
    let bind = |offset, at, bytes| fault(object.bind(offset, &memory[0], at, bytes));
    assert!(matches!(bind(1, 0, STEP), MulticastFault::Misaligned { bytes: 1, .. }));
    assert!(matches!(bind(0, 1, STEP), MulticastFault::Misaligned { bytes: 1, .. }));
    assert!(matches!(bind(0, 0, 7), MulticastFault::Misaligned { bytes: 7, .. }));
    assert!(matches!(bind(0, 0, 0), MulticastFault::Empty { .. }));
    assert!(matches!(bind(0, 0, 4 * STEP), MulticastFault::Outside { size, .. } if size == 2 * STEP));
    assert!(matches!(bind(0, STEP, 2 * STEP), MulticastFault::Outside { .. }));
    assert!(matches!(bind(4 * STEP, 0, STEP), MulticastFault::Outside { size, .. } if size == 4 * STEP));
    assert!(matches!(bind(u64::MAX - STEP + 1, 0, STEP), MulticastFault::Outside { .. }));
    assert!(matches!(bind(0, u64::MAX - STEP + 1, STEP), MulticastFault::Outside { .. }));
    let address = |at| fault(object.bind_address(0, &memory[0], at, STEP));
    assert!(matches!(address(4096), MulticastFault::Misaligned { .. }));
    assert!(matches!(
        fault(object.bind(0, &memory[2], 0, STEP)),
        MulticastFault::NotInTeam { device: 2, .. }
    ));
    assert_eq!(called("cuMulticastBindMem") + called("cuMulticastBindAddr"), 0);

    let held = object.bind(STEP, &memory[0], 0, 2 * STEP).unwrap();
    assert_eq!((held.offset(), held.num_bytes()), (STEP, 2 * STEP));
    assert!(matches!(bind(2 * STEP, 0, STEP), MulticastFault::Overlap { device: 0, .. }));
    let beside = object.bind(2 * STEP, &memory[1], 0, STEP).unwrap();
    let all = object.map().unwrap();
    assert!(matches!(fault(all.write(&streams[2], 0, &[0u8])), MulticastFault::NotInTeam { device: 2, .. }));
    assert!(matches!(
        fault(memory[0].read::<u8>(&streams[1], 0, 1)),
        MulticastFault::OtherDevice { device: 1, memory: 0, .. }
    ));
    assert!(matches!(
        fault(memory[0].read::<u64>(&streams[0], 2 * STEP - 4, 1)),
        MulticastFault::Outside { .. }
    ));
    assert!(matches!(
        fault(memory[0].read::<u64>(&streams[0], 8, usize::MAX)),
        MulticastFault::Outside { .. }
    ));
    assert_eq!(memory[0].read::<u64>(&streams[0], 0, 0).unwrap(), [0; 0]);
    drop((held, beside));
    nothing_reported();
}

#[test]
fn nothing_is_called_where_it_is_not_supported() {
    on("1", "13.0", "unsupported");
    if driver().is_simulated() {
        apart("multicast::unsupported", &[("CUWEAVE_SIM_DEVICES", "2"), ("CUWEAVE_SIM_MULTICAST", "0")]);
        apart("multicast::unsupported", &[("CUWEAVE_SIM_DEVICES", "2"), ("CUWEAVE_SIM_CAPABILITY", "8.0")]);
    }
}

#[test]
#[ignore = "run by another test, with other settings"]
fn unsupported() {
    let contexts = contexts();
    assert!(!is_supported(&contexts[0]).unwrap());
    let expected = |fault| matches!(fault, MulticastFault::Unsupported { device: 0, .. });
    assert!(expected(fault(Forming::new(&contexts, STEP))));
    assert!(expected(fault(granularity(&contexts, STEP))));
    let members = team(&contexts, Duration::from_secs(60)).unwrap();
    std::thread::scope(|scope| {
        let joined: Vec<_> = members
            .into_iter()
            .map(|member| scope.spawn(move || fault(Forming::join(member, STEP))))
            .collect();
        joined.into_iter().for_each(|thread| assert!(expected(thread.join().unwrap())));
    });
    let counts = cuweave_sim::call_counts().unwrap();
    let made: Vec<_> =
        counts.iter().filter(|(name, count)| name.contains("Multicast") && **count > 0).collect();
    assert!(made.is_empty(), "{made:?}");
    nothing_reported();
}

#[test]
fn a_team_forms_one_object() {
    on("2", "13.0", "members");
    on("4", "13.1", "members");
}

#[test]
#[ignore = "run by another test, with several devices"]
fn members() {
    let contexts = contexts();
    let before = cuweave_sim::live_objects().unwrap();
    let members = team(&contexts, Duration::from_secs(60)).unwrap();
    std::thread::scope(|scope| {
        for member in members {
            scope.spawn(move || {
                let rank = member.rank();
                let ctx = member.context().unwrap().clone();
                let stream = ctx.new_stream().unwrap();
                let memory = Memory::zeros(&stream, STEP).unwrap();
                let mut forming = Forming::join(member, STEP).unwrap();
                // The last ones arrive late, and nobody binds before they do.
                std::thread::sleep(Duration::from_millis(20 * rank as u64));
                forming.add_own().unwrap();
                let object = forming.complete().unwrap();
                let _bound = object.bind(0, &memory, 0, STEP).unwrap();
                object.agree("bound").unwrap();
                if rank == 0 {
                    object.map().unwrap().write(&stream, 128, &[11u64]).unwrap();
                }
                object.agree("written").unwrap();
                assert_eq!(memory.read::<u64>(&stream, 128, 1).unwrap(), [11]);
                object.agree("read").unwrap();
            });
        }
    });
    assert_eq!(called("cuMulticastCreate"), 1);
    assert_eq!(cuweave_sim::live_objects().unwrap(), before, "all is freed");
    nothing_reported();
}

#[test]
fn nobody_hangs_where_a_member_is_missing() {
    on("4", "13.0", "missing_members");
}

#[test]
#[ignore = "run by another test, with several devices"]
fn missing_members() {
    let contexts = contexts();
    let before = cuweave_sim::live_objects().unwrap();
    let begun = Instant::now();
    let long = Duration::from_secs(300);
    // One is dropped before it joins, one after it joined; one panics before it adds its device; one never adds it.
    for way in 0..4 {
        let members = team(&contexts, long).unwrap();
        let faults: Vec<MulticastFault> = std::thread::scope(|scope| {
            let threads: Vec<_> = members
                .into_iter()
                .map(|member| {
                    scope.spawn(move || {
                        let rank = member.rank();
                        if rank == 2 && way == 0 {
                            return None;
                        }
                        let mut forming = match Forming::join(member, STEP) {
                            Ok(forming) => forming,
                            other => return Some(fault(other)),
                        };
                        match (rank, way) {
                            (2, 1) => return None,
                            (2, 2) => std::panic::resume_unwind(Box::new("on purpose")),
                            (2, 3) => {}
                            _ => forming.add_own().unwrap(),
                        }
                        Some(fault(forming.complete()))
                    })
                })
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
        });
        if way == 3 {
            let missing = |fault: &MulticastFault| {
                matches!(fault, MulticastFault::Missing { added: 3, devices: 4, .. })
            };
            assert!(faults.len() == 4 && faults.iter().all(missing), "{faults:?}");
        } else {
            let gone = |fault: &MulticastFault| matches!(fault, MulticastFault::MemberGone { rank: 2, .. });
            assert!(faults.len() == 3 && faults.iter().all(gone), "{way}: {faults:?}");
        }
        assert_eq!(cuweave_sim::live_objects().unwrap(), before, "way {way}");
    }
    // One member is alive but does nothing.
    let mut members = team(&contexts, Duration::from_millis(100)).unwrap();
    let idle = members.pop().unwrap();
    std::thread::scope(|scope| {
        for member in members {
            scope.spawn(move || {
                let found = fault(Forming::join(member, STEP));
                // The first member that gives up ends the wait of all, for the same reason.
                let late = matches!(found, MulticastFault::TimedOut { step: "create", members: 4, .. });
                assert!(late, "{found:?}");
            });
        }
    });
    assert!(matches!(fault(idle.agree("create")), MulticastFault::TimedOut { .. }));
    // Members that request different sizes.
    let members = team(&contexts[..2], long).unwrap();
    std::thread::scope(|scope| {
        for member in members {
            scope.spawn(move || {
                let bytes = STEP * (1 + member.rank() as u64);
                assert!(matches!(
                    fault(Forming::join(member, bytes)),
                    MulticastFault::Disagree { step: "create", .. }
                ));
            });
        }
    });
    assert!(begun.elapsed() < long, "the patience was not needed");
    assert_eq!(cuweave_sim::live_objects().unwrap(), before);
    nothing_reported();
}

#[test]
fn each_call_that_fails_is_an_error_and_leaves_nothing_behind() {
    on("2", "13.0", "faults");
    on("2", "13.1", "faults");
}

/// Creates, uses and destroys everything. Dropped parts record their failures in a context.
fn whole_life(contexts: &[Arc<CudaContext>], streams: &[Arc<CudaStream>]) -> Result<()> {
    let mut memory = Vec::new();
    for stream in streams {
        memory.push(Memory::zeros(stream, STEP)?);
    }
    let mut forming = Forming::new(contexts, 2 * STEP)?;
    forming.add_own()?;
    let object = forming.complete()?;
    let mut bound = Vec::new();
    for memory in &memory {
        bound.push(object.bind(0, memory, 0, STEP)?);
    }
    let all = object.map()?;
    all.write(&streams[1], 8, &[5u32])?;
    for (memory, stream) in memory.iter().zip(streams) {
        assert_eq!(memory.read::<u32>(stream, 8, 1)?, [5]);
    }
    bound.pop().map_or(Ok(()), |bound| bound.unbind().map(drop))?;
    bound.push(object.bind_address(STEP, &memory[1], 0, STEP)?);
    Ok(())
}

#[test]
#[ignore = "run by another test, with several devices"]
fn faults() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let before = cuweave_sim::live_objects().unwrap();
    // The first uses of a context make calls that later ones do not.
    whole_life(&contexts, &streams).unwrap();
    let counted = cuweave_sim::call_counts().unwrap();
    whole_life(&contexts, &streams).unwrap();
    let calls: Vec<(String, u64)> = cuweave_sim::call_counts()
        .unwrap()
        .into_iter()
        .map(|(name, count)| {
            let old = counted.get(&name).copied().unwrap_or(0);
            (name, count - old)
        })
        .filter(|(name, count)| {
            *count > 0
                && (name.contains("Mem")
                    || name.contains("Multicast")
                    || name.contains("Synchronize")
                    || name.contains("Attribute")
                    || name.contains("Granularity")
                    || name.contains("emset")
                    || name.contains("emcpy"))
        })
        .collect();
    let multicast = calls.iter().filter(|(name, _)| name.contains("Multicast")).count();
    assert_eq!(multicast, 6, "each of the calls is made: {calls:?}");
    for (call, count) in calls {
        for nth in 1..=count {
            // CUDA_ERROR_UNKNOWN
            cuweave_sim::inject_fault(&call, nth, 999).expect("a fault");
            let result = whole_life(&contexts, &streams);
            let recorded = contexts.iter().filter(|ctx| ctx.check_err().is_err()).count();
            match result {
                // A drop waits for the uses of what it unmaps or unbinds, and leaves failures in the context.
                Ok(()) => assert_eq!(recorded, 1, "{nth}. {call}: not seen"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(call.trim_end_matches("_v2")), "{nth}. {call}: {text}");
                }
            }
            cuweave_sim::clear_faults().unwrap();
            assert_eq!(cuweave_sim::live_objects().unwrap(), before, "{nth}. {call}");
        }
    }
    // The binding failures that have names.
    let memory = memories(&streams, STEP);
    let object = complete(&contexts, STEP);
    let bind = if called("cuMulticastBindMem") > 0 { "cuMulticastBindMem" } else { "cuMulticastBindMem_v2" };
    for (code, expected) in [
        (2, MulticastFault::NoResources),
        (47, MulticastFault::NoResources),
        (802, MulticastFault::SystemNotReady),
        (401, MulticastFault::IllegalState),
    ] {
        cuweave_sim::inject_fault(bind, 1, code).expect("a fault");
        assert_eq!(fault(object.bind(0, &memory[0], 0, STEP)), expected);
        assert!(object.bind(0, &memory[0], 0, STEP).is_ok(), "the failed binding holds nothing");
    }
    nothing_reported();
}

#[test]
fn kernels_access_the_object_by_multimem_alone() {
    on("2", "13.0", "plain_access");
}

/// A store to the address of the object, which is undefined on hardware. The error breaks the context.
#[test]
#[ignore = "run by another test, with several devices"]
#[allow(unsafe_code)]
fn plain_access() {
    use cudarc::driver::{LaunchConfig, PushKernelArg};
    use cudarc::nvrtc::Ptx;
    let contexts = contexts();
    let streams = streams(&contexts);
    let memory = memories(&streams, STEP);
    let object = complete(&contexts, STEP);
    let _bound = [0, 1].map(|at| object.bind(0, &memory[at], 0, STEP).unwrap());
    let all = object.map().unwrap();
    let module =
        contexts[0].load_module(Ptx::from_src(include_str!("../../examples/kernels/memory.ptx"))).unwrap();
    let shift = module.load_function("shift").unwrap();
    let launch = |address: u64| {
        let (by, n) = (3i32, 4u32);
        let mut launch = streams[0].launch_builder(&shift);
        launch.arg(&address).arg(&by).arg(&n);
        // SAFETY: the simulated driver checks each access.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.and_then(|_| streams[0].synchronize())
    };
    launch(memory[0].address()).unwrap();
    assert_eq!(memory[0].read::<i32>(&streams[0], 0, 5).unwrap(), [3, 3, 3, 3, 0]);
    nothing_reported();
    launch(all.address()).expect_err("an illegal address");
    let reports = cuweave_sim::take_reports().unwrap();
    assert!(reports.iter().any(|report| report.kind == "illegal-address"), "{reports:#?}");
}

#[test]
fn the_driver_waits_for_all_devices_and_says_so() {
    if driver().is_simulated() {
        let settings = [("CUWEAVE_SIM_DEVICES", "2"), ("CUWEAVE_SIM_TIMEOUT", "50")];
        let text = apart("multicast::bare_driver", &settings);
        assert!(text.contains("waits for all devices of a multicast object, which has 1 of 2"), "{text}");
    }
}

/// Direct calls to the simulated driver in the wrong order.
#[test]
#[ignore = "run by another test, with other settings"]
#[allow(unsafe_code)]
fn bare_driver() {
    use cudarc::driver::sys;
    let _contexts = contexts();
    let code = |result: sys::CUresult| result as u32;
    let mut prop: sys::CUmulticastObjectProp = unsafe { std::mem::zeroed() };
    (prop.numDevices, prop.size) = (2, STEP as usize);
    let mut place: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
    place.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    place.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let (mut object, mut memory, mut start, size) = (0, 0, 0, STEP as usize);
    // SAFETY: the pointers are to locals.
    unsafe {
        assert_eq!(code(sys::cuMulticastCreate(&mut object, &prop)), 0);
        assert_eq!(code(sys::cuMemCreate(&mut memory, size, &place, 0)), 0);
        assert_eq!(code(sys::cuMemAddressReserve(&mut start, size, 0, 0, 0)), 0);
        assert_eq!(code(sys::cuMulticastAddDevice(object, 0)), 0);
        assert_eq!(code(sys::cuMulticastAddDevice(object, 0)), 1, "twice");
        // `CUDA_ERROR_TIMEOUT`. The real driver would block forever.
        assert_eq!(code(sys::cuMulticastBindMem(object, 0, memory, 0, size, 0)), 909);
        assert_eq!(code(sys::cuMulticastBindAddr(object, 0, start, size, 0)), 909);
        assert_eq!(code(sys::cuMemMap(start, size, 0, object, 0)), 909);
        let kinds: Vec<String> =
            cuweave_sim::take_reports().unwrap().into_iter().map(|report| report.kind).collect();
        assert_eq!(kinds, ["deadlock"; 3]);
        // The other device is added while a bind waits.
        cuweave_sim::set_wait_timeout(60_000).unwrap();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            code(sys::cuMulticastAddDevice(object, 1))
        });
        assert_eq!(code(sys::cuMulticastBindMem(object, 0, memory, 0, size, 0)), 0);
        assert_eq!(other.join().unwrap(), 0);
        assert_eq!(code(sys::cuMulticastAddDevice(object, 1)), 1, "more than the team");
        assert_eq!(code(sys::cuMulticastBindMem(object, 0, memory, 0, size, 0)), 1, "bound there");
        assert_eq!(code(sys::cuMulticastBindMem(memory, 0, memory, 0, size, 0)), 1, "no object");
        assert_eq!(code(sys::cuMulticastBindMem(object, 0, object, 0, size, 0)), 1, "no memory");
        assert_eq!(code(sys::cuMulticastBindMem(object, 0, memory, 0, size, 1)), 1, "flags");
        nothing_reported();
        assert_eq!(code(sys::cuMulticastUnbind(object, 1, 0, size)), 1, "not what was bound");
        assert_eq!(cuweave_sim::take_reports().unwrap()[0].kind, "multicast-unbind");
        assert_eq!(code(sys::cuMulticastUnbind(object, 0, 0, size)), 0);
        assert_eq!(code(sys::cuMemRelease(object)), 0);
        assert_eq!(code(sys::cuMulticastUnbind(object, 0, 0, size)), 1, "released");
    }
}
