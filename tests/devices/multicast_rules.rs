//! Sentences of the driver's manual about multicast objects that `multicast.rs` does not show.
//! `docs/reference-rules.md` lists all of them with their tests.

use std::sync::Arc;

use cudarc::driver::sys;
use cuweave::Error;
use cuweave::multicast::{Binding, Forming, Memory, MulticastFault};

use crate::support::{contexts, silent, streams, with_devices};
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::process::apart;

const STEP: u64 = 2 << 20;

/// Memory is created, bound in both ways, mapped, unbound and released.
fn whole_life() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let memory: Vec<Arc<Memory>> =
        streams.iter().map(|stream| Memory::zeros(stream, STEP).expect("memory")).collect();
    let mut forming = Forming::new(&contexts, 2 * STEP).expect("an object");
    forming.add_own().expect("devices");
    let object = forming.complete().expect("a complete object");
    let bound: Vec<Binding> = memory
        .iter()
        .flat_map(|memory| [object.bind(0, memory, 0, STEP), object.bind_address(STEP, memory, 0, STEP)])
        .map(|bound| bound.expect("a binding"))
        .collect();
    let all = object.map().expect("a mapping");
    all.write(&streams[0], 0, &[1_u32]).expect("a write");
    drop((all, bound, object));
}

#[test]
fn no_call_affects_a_capture() {
    with_devices("multicast_rules::relaxed", 2, &[]);
    with_devices("multicast_rules::relaxed", 2, &[("CUWEAVE_SIM_VERSION", "13.1")]);
}

/// Each call comes between two changes of the thread's capture mode, of which the first makes it relaxed.
#[test]
#[ignore = "run by the test above, in a process of its own"]
fn relaxed() {
    whole_life();
    cuweave_sim::take_trace().expect("a trace");
    cuweave_sim::set_trace(true).expect("a trace");
    whole_life();
    cuweave_sim::set_trace(false).expect("a trace");
    let calls = cuweave_sim::take_trace().expect("a trace");
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    let exclusive = |name: &str| {
        let changes = ["Create", "AddDevice", "Bind", "Unbind"].iter().any(|word| name.contains(word));
        (name.starts_with("cuMulticast") && changes)
            || ["cuMemMap", "cuMemUnmap", "cuMemRelease"].contains(&name)
    };
    let mut found = 0;
    for (at, name) in names.iter().enumerate().filter(|(_, name)| exclusive(name)) {
        found += 1;
        for beside in [at - 1, at + 1] {
            assert_eq!(names[beside], "cuThreadExchangeStreamCaptureMode", "beside {name}");
        }
    }
    assert!(found >= 16, "{found} calls: {names:?}");
    silent();
}

#[test]
fn an_illegal_state_says_what_to_check() {
    with_devices("multicast_rules::illegal_state", 2, &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn illegal_state() {
    let contexts = contexts();
    let streams = streams(&contexts);
    let memory = Memory::zeros(&streams[0], STEP).expect("memory");
    let mut forming = Forming::new(&contexts, STEP).expect("an object");
    forming.add_own().expect("devices");
    let object = forming.complete().expect("a complete object");
    cuweave_sim::inject_fault("cuMulticastBindMem", 1, 401).expect("a fault");
    let refused = object.bind(0, &memory, 0, STEP).map(drop).expect_err("it fails");
    assert!(matches!(refused, Error::Multicast(MulticastFault::IllegalState)), "{refused}");
    assert!(refused.to_string().ends_with("check its configuration and the driver's daemons"), "{refused}");
}

#[test]
fn direct_calls_have_the_codes_of_the_manual() {
    if simulated_alone().is_some() {
        let settings = [("CUWEAVE_SIM_DEVICES", "2"), ("CUWEAVE_SIM_VERSION", "13.1")];
        let text = apart("multicast_rules::bare_driver", &settings);
        for said in [
            "multicast objects with a handle for other processes are not simulated",
            "binding memory of pools to multicast objects is not simulated",
        ] {
            assert!(text.contains(said), "{text}");
        }
        let settings = [("CUWEAVE_SIM_DEVICES", "2"), ("CUWEAVE_SIM_MULTICAST", "0")];
        let text = apart("multicast_rules::bare_driver_without_support", &settings);
        assert!(
            text.contains("`cuMulticastCreate` is called, and CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0")
        );
    }
}

fn code(result: sys::CUresult) -> u32 {
    result as u32
}

#[allow(unsafe_code)]
fn properties() -> sys::CUmulticastObjectProp {
    // SAFETY: zero is a valid value for numbers.
    let mut properties: sys::CUmulticastObjectProp = unsafe { std::mem::zeroed() };
    (properties.numDevices, properties.size) = (2, 4 * STEP as usize);
    properties
}

/// Direct calls that the runtime never makes.
#[test]
#[ignore = "run by another test, with other settings"]
#[allow(unsafe_code)]
fn bare_driver() {
    let contexts = contexts();
    contexts[0].bind_to_thread().expect("a current context");
    let (mut object, mut memory, mut of_pool, step) = (0, 0, 0, STEP as usize);
    // SAFETY: zero is a valid value for numbers and pointers.
    let mut place: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
    place.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    place.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let shared = sys::CUmulticastObjectProp { handleTypes: 1, ..properties() };
    let flagged = sys::CUmulticastObjectProp { flags: 1, ..properties() };
    let odd = sys::CUmulticastObjectProp { size: step + 1, ..properties() };
    let many = sys::CUmulticastObjectProp { numDevices: 3, ..properties() };
    // SAFETY: the pointers are to locals.
    unsafe {
        assert_eq!(code(sys::cuMulticastCreate(&mut object, &shared)), 801);
        assert_eq!(code(sys::cuMulticastCreate(&mut object, &flagged)), 1);
        assert_eq!(code(sys::cuMulticastCreate(&mut object, &odd)), 1);
        assert_eq!(code(sys::cuMulticastCreate(&mut object, &many)), 1, "more devices than there are");
        assert_eq!(code(sys::cuMulticastCreate(&mut object, &properties())), 0);
        for device in [0, 1] {
            assert_eq!(code(sys::cuMulticastAddDevice(object, device)), 0);
        }
        assert_eq!(code(sys::cuMemCreate(&mut memory, step, &place, 0)), 0);
        assert_eq!(code(sys::cuMulticastBindMem(object, 0, memory, 0, step, 1)), 1, "flags");
        assert_eq!(code(sys::cuMulticastBindMem_v2(object, 1, 0, memory, 0, step, 0)), 101, "of device 0");
        assert_eq!(code(sys::cuMulticastBindMem_v2(object, 0, 0, memory, 0, step, 0)), 0);
        assert_eq!(code(sys::cuMemAllocAsync(&mut of_pool, step, std::ptr::null_mut())), 0);
        assert_eq!(code(sys::cuMulticastBindAddr(object, step, of_pool, step, 0)), 801);
        assert_eq!(code(sys::cuMemFreeAsync(of_pool, std::ptr::null_mut())), 0);
        assert_eq!(code(sys::cuMulticastUnbind(object, 0, 0, step + 1)), 1, "no multiple of the granularity");
        assert_eq!(code(sys::cuMulticastUnbind(object, 0, 4 * step, step)), 1, "outside of the object");
        for handle in [memory, object] {
            assert_eq!(code(sys::cuMemRelease(handle)), 0);
        }
    }
    silent();
}

#[test]
#[ignore = "run by another test, with other settings"]
#[allow(unsafe_code)]
fn bare_driver_without_support() {
    let _contexts = contexts();
    let mut object = 0;
    // SAFETY: the pointers are to locals.
    assert_eq!(code(unsafe { sys::cuMulticastCreate(&mut object, &properties()) }), 801);
    let kinds: Vec<String> =
        cuweave_sim::take_reports().expect("reports").into_iter().map(|report| report.kind).collect();
    assert_eq!(kinds, ["multicast-unsupported"]);
}
