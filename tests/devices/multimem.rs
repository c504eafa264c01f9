//! Kernels that access multicast objects by `multimem`, on simulated drivers with 2 and 4 devices. Each test runs
//! in a separate process.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use cuweave::multicast::{Binding, Complete, Forming, Mapping, Memory};

use cuweave_sim::Report;
use cuweave_testkit::multimem::{Form, instructions, module};
use cuweave_testkit::random::Random;

use super::support::{contexts, silent, streams, with_devices};

const STEP: u64 = 2 << 20;
const THREADS: u32 = 40;

/// Returns the configuration of one block.
fn block(threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// An object whose second part is bound to the memory of each device.
struct Bound {
    contexts: Vec<Arc<CudaContext>>,
    streams: Vec<Arc<CudaStream>>,
    memory: Vec<Arc<Memory>>,
    _object: Complete,
    all: Mapping,
    _bindings: Vec<Binding>,
}

impl Bound {
    fn new() -> Bound {
        let contexts = contexts();
        let streams = streams(&contexts);
        let zeros = |stream| Memory::zeros(stream, STEP).expect("memory");
        let memory: Vec<Arc<Memory>> = streams.iter().map(zeros).collect();
        let mut forming = Forming::new(&contexts, 2 * STEP).expect("an object");
        forming.add_own().expect("devices");
        let object = forming.complete().expect("a complete object");
        let bind = |memory| object.bind(STEP, memory, 0, STEP).expect("a binding");
        let bindings = memory.iter().map(bind).collect();
        let all = object.map().expect("a mapping");
        Bound { contexts, streams, memory, _object: object, all, _bindings: bindings }
    }

    /// Returns the address at which the memory is bound.
    fn address(&self) -> u64 {
        self.all.address() + STEP
    }

    fn function(&self, device: usize, text: &str, name: &str) -> CudaFunction {
        let module = self.contexts[device].load_module(Ptx::from_src(text)).expect("a module");
        module.load_function(name).expect("a kernel")
    }

    /// Runs `kernel(all, own)` on a device and waits for it.
    fn launch(
        &self,
        device: usize,
        kernel: &CudaFunction,
        threads: u32,
        all: u64,
        own: u64,
    ) -> cuweave::Result<()> {
        let mut launch = self.streams[device].launch_builder(kernel);
        launch.arg(&all).arg(&own);
        // SAFETY: the simulated driver checks each access.
        unsafe { launch.launch(block(threads)) }?;
        Ok(self.streams[device].synchronize()?)
    }

    /// Writes bytes to the memory of one device.
    fn put(&self, device: usize, bytes: &[u8]) {
        use cudarc::driver::{result, sys};
        let address: sys::CUdeviceptr = self.memory[device].address();
        // SAFETY: the memory is longer than the bytes.
        unsafe { result::memcpy_htod_async(address, bytes, self.streams[device].cu_stream()) }
            .expect("a copy");
        self.streams[device].synchronize().expect("a copy");
    }

    fn get(&self, device: usize, bytes: usize) -> Vec<u8> {
        self.memory[device].read(&self.streams[device], 0, bytes).expect("a read")
    }
}

#[test]
fn each_type_and_operation_reaches_all_devices() {
    with_devices("multimem::instructions_on_all_devices", 2, &[]);
    with_devices("multimem::instructions_on_all_devices", 4, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn instructions_on_all_devices() {
    let bound = Bound::new();
    let devices = bound.contexts.len();
    let all = instructions();
    let text = module(&all);
    let modules: Vec<_> = bound
        .contexts
        .iter()
        .map(|ctx| ctx.load_module(Ptx::from_src(text.as_str())).expect("a module"))
        .collect();
    let mut random = Random::new(7);
    for (number, instruction) in all.iter().enumerate() {
        let device = number % devices;
        let kernel = modules[device].load_function(&format!("k{number}")).expect("a kernel");
        let mut elements = || instruction.elements(&mut random, THREADS as usize);
        let old: Vec<Vec<u8>> = (0..devices).map(|_| elements()).collect();
        old.iter().enumerate().for_each(|(device, bytes)| bound.put(device, bytes));
        let operand = elements();
        let own = bound.streams[device].clone_htod(&operand).expect("a copy");
        let own_address = {
            use cudarc::driver::DevicePtr;
            own.device_ptr(&bound.streams[device]).0
        };
        bound.launch(device, &kernel, THREADS, bound.address(), own_address).expect(&instruction.text);
        let what = &instruction.text;
        if instruction.form == Form::LoadReduce {
            let (ours, expected) =
                (bound.streams[device].clone_dtoh(&own).expect("a copy"), instruction.reduced(&old));
            assert!(instruction.are_equal(&ours, &expected), "{what}: {ours:x?} {expected:x?}");
            continue;
        }
        for (device, old) in old.iter().enumerate() {
            let (ours, expected) = (bound.get(device, old.len()), instruction.written(old, &operand));
            assert!(instruction.are_equal(&ours, &expected), "{what} on {device}: {ours:x?} {expected:x?}");
        }
    }
    silent();
}

/// Returns a kernel `k(all, own)` with both in `%rd1` and `%rd2`.
fn kernel(head: &str, body: &str) -> String {
    format!(
        "{head}\n.address_size 64\n.visible .entry k(.param .u64 all, .param .u64 own)\n{{\n.reg .b32 %r<9>; .reg \
         .b64 %rd<9>;\nld.param.u64 %rd1, [all];\nld.param.u64 %rd2, [own];\n{body}\nret;\n}}\n"
    )
}

const HEAD: &str = ".version 8.1\n.target sm_90";

/// The only report of a kernel with one thread that must fail. The error breaks the context.
fn failure(bound: &Bound, device: usize, body: &str, all: u64) -> Report {
    let kernel = bound.function(device, &kernel(HEAD, body), "k");
    bound.launch(device, &kernel, 1, all, bound.memory[device].address()).expect_err(body);
    let mut reports = cuweave_sim::take_reports().expect("reports");
    assert_eq!(reports.len(), 1, "{body}: {reports:#?}");
    reports.remove(0)
}

#[test]
fn wrong_accesses_are_reported() {
    for case in ["plain", "unbound", "ordinary", "misaligned", "unwritten", "no_access"] {
        with_devices("multimem::one_wrong_access", 4, &[("CUWEAVE_TEST_CASE", case)]);
    }
}

#[test]
#[ignore = "run by another test, with several devices"]
fn one_wrong_access() {
    let case = std::env::var("CUWEAVE_TEST_CASE").expect("a case");
    let bound = Bound::new();
    let start = bound.all.address();
    let load = "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];";
    let (body, address, kind, text) = match case.as_str() {
        "plain" => {
            ("ld.global.u32 %r1, [%rd1];", start + STEP, "illegal-address", "which takes only `multimem`")
        }
        "unbound" => (
            load,
            start + 16,
            "illegal-address",
            "offset 0x10 of a multicast object, where device 0 has no memory",
        ),
        "ordinary" => (
            load,
            bound.memory[0].address(),
            "illegal-address",
            "which is not an address of a multicast object",
        ),
        "misaligned" => (load, start + STEP + 2, "misaligned-address", "which is not a multiple of 4"),
        "no_access" => (load, team_mapping(&bound), "illegal-address", "to which the device has no access"),
        "unwritten" => {
            (load, unwritten(&bound), "uninitialised-read", "which were never written on device 2")
        }
        other => panic!("{other}"),
    };
    let report = failure(&bound, 0, body, address);
    assert!(report.kind == kind && report.text.contains(text), "{report:#?}");
}

/// Returns the address of an object of devices 1 and 2, in which both have memory bound.
fn team_mapping(bound: &Bound) -> u64 {
    let mut forming = Forming::new(&bound.contexts[1..3], STEP).expect("an object");
    forming.add_own().expect("devices");
    let object = forming.complete().expect("a complete object");
    for device in [1, 2] {
        std::mem::forget(object.bind(0, &bound.memory[device], 0, STEP).expect("a binding"));
    }
    let all = object.map().expect("a mapping");
    let address = all.address();
    std::mem::forget((object, all));
    address
}

/// Returns the address of an object of all devices, to which device 2 has bound memory that was never written.
fn unwritten(bound: &Bound) -> u64 {
    use cudarc::driver::sys;
    let raw = Raw::new(bound.contexts.len(), STEP);
    for device in 0..bound.contexts.len() {
        let memory = raw_memory(device, STEP);
        // SAFETY: the handles are valid.
        let code = unsafe { sys::cuMulticastBindMem(raw.object, 0, memory, 0, STEP as usize, 0) };
        assert_eq!(code as u32, 0);
    }
    let all = raw.map(STEP, 0, &[0]);
    for device in [0, 1, 3] {
        // SAFETY: as above.
        assert_eq!(unsafe { sys::cuMulticastUnbind(raw.object, device, 0, STEP as usize) } as u32, 0);
    }
    // SAFETY: as above.
    for device in [0, 1, 3] {
        let code = unsafe {
            let address = bound.memory[device].address();
            sys::cuMulticastBindAddr(raw.object, 0, address, STEP as usize, 0)
        };
        assert_eq!(code as u32, 0);
    }
    all
}

/// A multicast object of the first devices, made by direct calls.
struct Raw {
    object: u64,
}

/// Allocates physical memory.
fn raw_memory(device: usize, bytes: u64) -> u64 {
    use cudarc::driver::sys;
    let mut memory = 0;
    // SAFETY: the pointers are to locals, and zeros are valid.
    unsafe {
        let mut place: sys::CUmemAllocationProp = std::mem::zeroed();
        place.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        place.location = location(device);
        assert_eq!(sys::cuMemCreate(&mut memory, bytes as usize, &place, 0) as u32, 0);
    }
    memory
}

/// Returns the location of a device. The name of its second field depends on the version of CUDA.
fn location(device: usize) -> cudarc::driver::sys::CUmemLocation {
    const CU_MEM_LOCATION_TYPE_DEVICE: i32 = 1;
    // SAFETY: two integers in all versions.
    unsafe { std::mem::transmute([CU_MEM_LOCATION_TYPE_DEVICE, device as i32]) }
}

/// Returns the access of a device.
fn access(device: usize) -> cudarc::driver::sys::CUmemAccessDesc {
    use cudarc::driver::sys;
    // SAFETY: zeros are valid.
    let mut access: sys::CUmemAccessDesc = unsafe { std::mem::zeroed() };
    access.location = location(device);
    access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access
}

impl Raw {
    fn new(devices: usize, bytes: u64) -> Raw {
        use cudarc::driver::sys;
        let mut object = 0;
        // SAFETY: the pointers are to locals, and zeros are valid.
        unsafe {
            let mut properties: sys::CUmulticastObjectProp = std::mem::zeroed();
            (properties.numDevices, properties.size) = (devices as u32, bytes as usize);
            assert_eq!(sys::cuMulticastCreate(&mut object, &properties) as u32, 0);
            for device in 0..devices {
                assert_eq!(sys::cuMulticastAddDevice(object, device as i32) as u32, 0);
            }
        }
        Raw { object }
    }

    /// Maps a part with access for devices, and returns its address.
    fn map(&self, bytes: u64, offset: u64, devices: &[usize]) -> u64 {
        use cudarc::driver::sys;
        let (size, mut start) = (bytes as usize, 0);
        let access: Vec<_> = devices.iter().map(|&device| access(device)).collect();
        // SAFETY: the pointers are to locals.
        unsafe {
            assert_eq!(sys::cuMemAddressReserve(&mut start, size, 0, 0, 0) as u32, 0);
            assert_eq!(sys::cuMemMap(start, size, offset as usize, self.object, 0) as u32, 0);
            assert_eq!(sys::cuMemSetAccess(start, size, access.as_ptr(), access.len()) as u32, 0);
        }
        start
    }
}

#[test]
fn parts_of_an_object_are_mapped_separately() {
    with_devices("multimem::mapped_parts", 2, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn mapped_parts() {
    use cudarc::driver::sys;
    let bound = Bound::new();
    let raw = Raw::new(2, 4 * STEP);
    let code = |result: sys::CUresult| result as u32;
    for (device, memory) in bound.memory.iter().enumerate() {
        // Part 3 of the object, from both devices.
        let (address, size) = (memory.address(), STEP as usize);
        // SAFETY: the handle and the address are valid.
        let bind =
            |offset| unsafe { sys::cuMulticastBindAddr(raw.object, offset as usize, address, size, 0) };
        assert_eq!((code(bind(4 * STEP)), code(bind(3 * STEP))), (1, 0), "{device}");
        assert_eq!(code(bind(3 * STEP)), 1, "bound there");
    }
    let last = raw.map(STEP, 3 * STEP, &[0, 1]);
    let both = raw.map(2 * STEP, 2 * STEP, &[1]);
    let store = kernel(HEAD, "mov.u32 %r1, 5; multimem.st.relaxed.sys.global.u32 [%rd1], %r1;");
    let add = kernel(HEAD, "mov.u32 %r1, 2; multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;");
    let (store, add) = (bound.function(0, &store, "k"), bound.function(1, &add, "k"));
    bound.launch(0, &store, 1, last + 8, 0).unwrap();
    bound.launch(1, &add, 1, both + STEP + 8, 0).unwrap();
    for (memory, stream) in bound.memory.iter().zip(&bound.streams) {
        assert_eq!(memory.read::<u32>(stream, 8, 1).unwrap(), [7]);
    }
    let (mut flags, mut start, mut other) = (9, 0, 0);
    // SAFETY: the pointers are to locals, and the addresses are reserved.
    unsafe {
        for (device, expected) in [(0, 0), (1, 3)] {
            assert_eq!(code(sys::cuMemGetAccess(&mut flags, &location(device), both + STEP)), 0);
            assert_eq!(flags, expected, "device {device}");
        }
        assert_eq!(code(sys::cuMemAddressReserve(&mut start, 4 * STEP as usize, 0, 0, 0)), 0);
        let map = |size: u64, offset: u64, object| {
            code(sys::cuMemMap(start, size as usize, offset as usize, object, 0))
        };
        assert_eq!(map(STEP, 4096, raw.object), 1, "not a multiple of the granularity");
        assert_eq!(map(4096, 0, raw.object), 1, "not a multiple of the granularity");
        assert_eq!(map(2 * STEP, 3 * STEP, raw.object), 1, "past the end of the object");
        assert_eq!(map(STEP, STEP, raw_memory(0, 2 * STEP)), 1, "memory is mapped as a whole");
        assert_eq!(code(sys::cuMemUnmap(both, STEP as usize)), 1, "half of a mapping");
        let one = access(0);
        assert_eq!(code(sys::cuMemSetAccess(both, STEP as usize, &one, 1)), 1, "half of a mapping");
        assert_eq!(code(sys::cuMemRetainAllocationHandle(&mut other, both as *mut _)), 0);
        assert_eq!(other, raw.object);
        assert_eq!(code(sys::cuMemUnmap(both, 2 * STEP as usize)), 0);
        assert_eq!(code(sys::cuMemGetAccess(&mut flags, &location(1), both)), 1, "not mapped");
    }
    bound.launch(0, &store, 1, last + 8, 0).unwrap();
    silent();
    let report = failure(&bound, 1, "multimem.st.u32 [%rd1], %r1;", both);
    assert!(report.kind == "illegal-address", "{report:#?}");
}

#[test]
fn older_targets_and_versions_do_not_have_multimem() {
    with_devices("multimem::old_files", 2, &[]);
}

#[test]
#[ignore = "run by another test, with several devices"]
fn old_files() {
    let ctx = &contexts()[0];
    let load =
        |head: &str, instruction: &str| ctx.load_module(Ptx::from_src(kernel(head, instruction))).map(drop);
    let (plain, single) =
        ("multimem.st.u32 [%rd1], %r1;", "multimem.ld_reduce.add.acc::f32.f16x2 %r1, [%rd1];");
    load(HEAD, plain).expect("a module");
    load(".version 8.2\n.target sm_90", single).expect("a module");
    for (head, instruction) in [
        (".version 8.0\n.target sm_90", plain),
        (".version 8.2\n.target sm_80", plain),
        (".version 8.1\n.target sm_90", single),
    ] {
        // `CUDA_ERROR_INVALID_PTX`
        let error = load(head, instruction).expect_err(head);
        assert_eq!(error.0 as u32, 218, "{head}");
    }
}

const STORE_ONE: &str = "mov.u32 %r1, 1; multimem.st.global.u32 [%rd1], %r1;";
const STORE_TWO: &str = "mov.u32 %r1, 2; multimem.st.global.u32 [%rd1], %r1;";
const STORE_BESIDE: &str = "mov.u32 %r1, 2; multimem.st.global.u32 [%rd1+4], %r1;";
const LOAD: &str = "multimem.ld_reduce.global.add.u32 %r1, [%rd1];";
const ADD: &str = "mov.u32 %r1, 1; multimem.red.global.add.u32 [%rd1], %r1;";
const OWN_LOAD: &str = "ld.global.u32 %r1, [%rd2];";
const OWN_STORE: &str = "mov.u32 %r1, 2; st.global.u32 [%rd2], %r1;";

/// Runs a graph with a kernel on each device, the second after the first if `ordered`. Returns the kinds of the
/// reports.
fn graph_of_two(bound: &Bound, first: &str, second: &str, ordered: bool) -> Vec<String> {
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    let [one, two] =
        [(0, first), (1, second)].map(|(device, body)| bound.function(device, &kernel(HEAD, body), "k"));
    let [main, side] = [&bound.streams[0], &bound.streams[1]];
    let enqueue = |device: usize, kernel: &CudaFunction| {
        let (all, own) = (bound.address(), bound.memory[device].address());
        let mut launch = bound.streams[device].launch_builder(kernel);
        launch.arg(&all).arg(&own);
        // SAFETY: the simulated driver checks each access.
        unsafe { launch.launch(block(1)) }.expect("a captured launch");
    };
    main.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("a capture");
    if ordered {
        enqueue(0, &one);
        side.join(main).expect("an event");
    } else {
        side.join(main).expect("an event");
        enqueue(0, &one);
    }
    enqueue(1, &two);
    main.join(side).expect("an event");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = main.end_capture(flags).expect("a graph").expect("a graph");
    let result = graph.launch().and_then(|()| main.synchronize());
    let reports = cuweave_sim::take_reports().expect("reports");
    assert_eq!(result.is_ok(), reports.is_empty(), "{reports:#?}");
    reports.into_iter().map(|report| report.kind).collect()
}

#[test]
fn nodes_that_access_one_object_are_ordered_or_reported() {
    with_devices("multimem::nodes_without_a_race", 2, &[]);
    for case in ["store", "load", "own_load", "own_store", "own_add", "fill"] {
        with_devices("multimem::a_race_of_nodes", 2, &[("CUWEAVE_TEST_CASE", case)]);
    }
}

#[test]
#[ignore = "run by another test, with several devices"]
fn nodes_without_a_race() {
    let bound = Bound::new();
    let none: [String; 0] = [];
    for (first, second) in [(LOAD, LOAD), (ADD, ADD), (STORE_ONE, STORE_BESIDE), (LOAD, OWN_LOAD)] {
        assert_eq!(graph_of_two(&bound, first, second, false), none, "{first} {second}");
    }
    for (first, second) in
        [(STORE_ONE, STORE_TWO), (STORE_ONE, LOAD), (OWN_STORE, LOAD), (STORE_ONE, OWN_LOAD)]
    {
        assert_eq!(graph_of_two(&bound, first, second, true), none, "{first} {second}");
    }
}

#[test]
#[ignore = "run by another test, with several devices"]
fn a_race_of_nodes() {
    let bound = Bound::new();
    let case = std::env::var("CUWEAVE_TEST_CASE").expect("a case");
    let (first, second) = match case.as_str() {
        "store" => (STORE_ONE, STORE_TWO),
        "load" => (STORE_ONE, LOAD),
        "own_load" => (STORE_ONE, OWN_LOAD),
        "own_store" => (LOAD, OWN_STORE),
        "own_add" => (ADD, OWN_STORE),
        "fill" => return a_race_with_a_fill(&bound),
        other => panic!("{other}"),
    };
    assert_eq!(graph_of_two(&bound, first, second, false), ["race"], "{first} {second}");
}

/// A fill of the object's addresses on one device, and a load of the bound memory on the other.
fn a_race_with_a_fill(bound: &Bound) {
    use cudarc::driver::sys::{self, CUgraphInstantiate_flags, CUstreamCaptureMode};
    let load = bound.function(1, &kernel(HEAD, OWN_LOAD), "k");
    let [main, side] = [&bound.streams[0], &bound.streams[1]];
    main.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("a capture");
    side.join(main).expect("an event");
    let (all, own) = (bound.address(), bound.memory[1].address());
    // SAFETY: the simulated driver checks each access.
    unsafe {
        assert_eq!(sys::cuMemsetD32Async(all, 7, 4, main.cu_stream()) as u32, 0);
        let mut launch = side.launch_builder(&load);
        launch.arg(&all).arg(&own);
        launch.launch(block(1)).expect("a captured launch");
    }
    main.join(side).expect("an event");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = main.end_capture(flags).expect("a graph").expect("a graph");
    graph.launch().and_then(|()| main.synchronize()).expect_err("a race");
    let kinds: Vec<String> =
        cuweave_sim::take_reports().expect("reports").into_iter().map(|r| r.kind).collect();
    assert_eq!(kinds, ["race"]);
}
