//! Settings from the environment. Each test runs this program again with other settings.

use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};
use cuweave_testkit::raw::{Context, Graph, INVALID, NO_MEMORY, OK, UNSUPPORTED};
use cuweave_testkit::{gives, ok};

/// Set when this program runs itself. Without it, the tests of settings do nothing.
const AGAIN: &str = "CUWEAVE_TEST_AGAIN";

fn is_again() -> bool {
    std::env::var_os(AGAIN).is_some()
}

/// Runs the test `name` of this program with these settings. Returns true if it passed, and its output.
fn again(name: &str, settings: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(AGAIN, "1").envs(settings.iter().copied());
    if !settings.iter().any(|setting| setting.0 == "CUWEAVE_DRIVER") {
        command.env("CUWEAVE_DRIVER", "sim");
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn passes(name: &str, settings: &[(&str, &str)]) {
    let (passed, text) = again(name, settings);
    assert!(passed && text.contains("1 passed"), "{text}");
}

#[test]
fn the_version_can_be_chosen() {
    passes("presents_itself_as_12_4", &[("CUWEAVE_SIM_VERSION", "12.4")]);
}

#[test]
fn presents_itself_as_12_4() {
    if !is_again() {
        return;
    }
    let driver = cuweave_sim::load().unwrap();
    assert_eq!((driver.version(), driver.to_string().as_str()), ((12, 4), "simulated driver, CUDA 12.4"));
    enter_primary();
    assert_eq!(load("8.4", "sm_80", "").1, OK);
    assert_eq!(load("8.5", "sm_80", "").1, CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    // A call newer than CUDA 12.4 is not found, and fails.
    use sys::CUdriverProcAddressQueryResult::*;
    let find = |name: &std::ffi::CStr| {
        let (mut place, mut why) = (null_mut(), CU_GET_PROC_ADDRESS_SUCCESS);
        unsafe { sys::cuGetProcAddress_v2(name.as_ptr(), &mut place, 13000, 0, &mut why) };
        (place.is_null(), why)
    };
    assert_eq!(find(c"cuGraphAddNode"), (false, CU_GET_PROC_ADDRESS_SUCCESS));
    assert_eq!(find(c"cuGraphGetId"), (true, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
    assert_eq!(unsafe { sys::cuGraphGetId(null_mut(), &mut 0) }, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    // Bindings for CUDA 13 measure times with a newer form of a call that every driver has.
    let [mut start, mut end] = [null_mut(); 2];
    let (mut milliseconds, mut newer) = (-1.0, -1.0);
    ok!(sys::cuEventCreate(&mut start, 0));
    ok!(sys::cuEventCreate(&mut end, 0));
    ok!(sys::cuEventRecord(start, null_mut()));
    ok!(sys::cuEventRecord(end, null_mut()));
    ok!(sys::cuEventElapsedTime_v2(&mut newer, start, end));
    // SAFETY: the simulated driver has this function with this signature.
    unsafe {
        let library = libloading::Library::new("libcuda.so").unwrap();
        type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> CUresult;
        let older = library.get::<Elapsed>(b"cuEventElapsedTime").unwrap();
        assert_eq!(older(&mut milliseconds, start, end), OK);
    }
    assert!(milliseconds >= 0.0 && milliseconds == newer);
}

#[test]
fn the_memory_of_a_device_can_be_chosen() {
    passes("has_little_memory", &[("CUWEAVE_SIM_MEMORY", "1M")]);
    let (passed, text) = again("has_little_memory", &[("CUWEAVE_SIM_MEMORY", "none")]);
    assert!(!passed && text.contains("`CUWEAVE_SIM_MEMORY=none` is not understood"), "{text}");
}

/// Allocations larger than the device's memory fail. Managed memory larger than it is evicted and keeps its
/// contents.
#[test]
fn has_little_memory() {
    if !is_again() {
        return;
    }
    const MEBIBYTE: usize = 1 << 20;
    let context = Context::new();
    let (mut free, mut total) = (0, 0);
    ok!(sys::cuMemGetInfo_v2(&mut free, &mut total));
    assert_eq!((free, total), (MEBIBYTE, MEBIBYTE));
    ok!(sys::cuDeviceTotalMem_v2(&mut total, 0));
    assert_eq!(total, MEBIBYTE);
    let mut memory = 0;
    gives!(NO_MEMORY, sys::cuMemAlloc_v2(&mut memory, MEBIBYTE + 1));
    gives!(NO_MEMORY, sys::cuMemAllocAsync(&mut memory, MEBIBYTE + 1, context.stream));
    assert_eq!(Graph::new().try_alloc(&[], MEBIBYTE + 1).unwrap_err(), NO_MEMORY);

    let mut managed = 0;
    ok!(sys::cuMemAllocManaged(&mut managed, 4 * MEBIBYTE, 1));
    ok!(sys::cuMemsetD32_v2(managed, 7, MEBIBYTE));
    let before = cuweave_sim::page_counts().unwrap();
    let device = sys::CUmemLocation_st {
        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..unsafe { std::mem::zeroed() }
    };
    for part in 0..4 {
        let start = managed + (part * MEBIBYTE) as u64;
        ok!(sys::cuMemPrefetchAsync_v2(start, MEBIBYTE, device, 0, context.stream));
    }
    let counts = cuweave_sim::page_counts().unwrap() - before;
    // The fill has left the last part on the device. The first prefetch evicts it.
    assert_eq!((cuweave_sim::resident_pages(Some(0)).unwrap(), counts.evicted), (256, 4 * 256));
    ok!(sys::cuMemGetInfo_v2(&mut free, &mut total));
    assert_eq!(free, 0);
    // An allocation evicts pages.
    ok!(sys::cuMemAlloc_v2(&mut memory, MEBIBYTE / 2));
    assert_eq!(cuweave_sim::resident_pages(Some(0)).unwrap(), 128);
    assert_eq!(context.sync(), OK);
    // SAFETY: these are four mebibytes of managed memory, which nothing else uses now.
    let values = unsafe { std::slice::from_raw_parts(managed as *const u32, MEBIBYTE) };
    assert!(values.iter().all(|&value| value == 7));
}

#[test]
fn the_capability_can_be_chosen() {
    passes("is_an_older_device", &[("CUWEAVE_SIM_CAPABILITY", "8.0")]);
    passes("takes_few_parameters", &[("CUWEAVE_SIM_CAPABILITY", "6.1")]);
    passes("takes_few_parameters", &[("CUWEAVE_SIM_VERSION", "12.0")]);
    let (passed, text) = again("is_an_older_device", &[("CUWEAVE_SIM_CAPABILITY", "8.5")]);
    assert!(!passed && text.contains("`CUWEAVE_SIM_CAPABILITY=8.5` is not understood"), "{text}");
}

/// Enters a context in a way that drivers of every version support.
fn enter_primary() {
    let mut context = null_mut();
    ok!(sys::cuInit(0));
    ok!(sys::cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(sys::cuCtxSetCurrent(context));
}

/// Loads a module with a kernel `k`.
fn load(version: &str, target: &str, parameters: &str) -> (sys::CUmodule, CUresult) {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k({parameters}) {{ ret; }}\n\0"
    );
    let mut module = null_mut();
    let code = unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) };
    (module, code)
}

#[test]
fn is_an_older_device() {
    if !is_again() {
        return;
    }
    let context = Context::new();
    let attribute = |attribute| {
        let mut value = 0;
        ok!(sys::cuDeviceGetAttribute(&mut value, attribute, 0));
        value
    };
    use sys::CUdevice_attribute::*;
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 163 << 10);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 0);
    for newer in ["sm_86", "sm_90", "sm_90a"] {
        assert_eq!(load("8.0", newer, "").1, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    let (module, loaded) = load("8.0", "sm_80", ".param .b8 p[8192]");
    assert_eq!(loaded, OK);
    let function = context.function(module, "k");
    let shared = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    ok!(sys::cuFuncSetAttribute(function, shared, 163 << 10));
    gives!(INVALID, sys::cuFuncSetAttribute(function, shared, (163 << 10) + 1));
    let mut blocks = 0;
    ok!(sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 32, 31 << 10));
    assert_eq!(blocks, 5, "of 164 KiB each block takes 31, and one that is reserved");

    let graph = Graph::new();
    let (module, _) = load("8.0", "sm_80", "");
    let function = context.function(module, "k");
    let nodes = [(); 2].map(|()| graph.kernel(&[], function, 1, 32, &[]));
    let early = sys::CUgraphEdgeData { from_port: 1, to_port: 0, type_: 1, reserved: [0; 5] };
    gives!(UNSUPPORTED, sys::cuGraphAddDependencies_v2(graph.0, &nodes[0], &nodes[1], &early, 1));
    ok!(sys::cuGraphAddDependencies_v2(graph.0, &nodes[0], &nodes[1], std::ptr::null(), 1));
}

#[test]
fn takes_few_parameters() {
    if !is_again() {
        return;
    }
    cuweave_sim::load().unwrap();
    enter_primary();
    assert_eq!(load("8.0", "sm_60", ".param .b8 p[4096]").1, OK);
    assert_ne!(load("8.0", "sm_70", ".param .b8 p[4097]").1, OK);
    assert_eq!(load("8.0", "sm_60", ".param .b8 p[4097]").1, CUresult::CUDA_ERROR_INVALID_PTX);
}

#[test]
fn there_are_as_many_devices_as_asked_for() {
    passes("has_three_devices", &[("CUWEAVE_SIM_DEVICES", "3")]);
}

#[test]
fn has_three_devices() {
    if !is_again() {
        return;
    }
    cuweave_sim::load().unwrap();
    let contexts: Vec<_> = (0..3).map(|device| cudarc::driver::CudaContext::new(device).unwrap()).collect();
    assert!(cudarc::driver::CudaContext::new(3).is_err());
    let first = contexts[0].default_stream().clone_htod(&[1u8, 2, 3]).unwrap();
    let stream = contexts[2].default_stream();
    let mut copy = stream.alloc_zeros::<u8>(3).unwrap();
    stream.memcpy_dtod(&first, &mut copy).unwrap();
    assert_eq!(stream.clone_dtoh(&copy).unwrap(), [1, 2, 3]);
}

#[test]
fn devices_can_be_hidden() {
    let seen = |list, devices: &[(&str, &str)]| {
        again(
            "lists_its_devices",
            &[&[("CUDA_VISIBLE_DEVICES", list), ("CUWEAVE_SIM_DEVICES", "3")], devices].concat(),
        )
    };
    for (list, expected) in [
        ("0,1,2", "devices 1, 2, 3: 0-1 0-2 1-2"),
        ("2,0", "devices 3, 1: 0-1"),
        ("1", "devices 2:"),
        ("1,5,0", "devices 2:"),
        ("GPU-63757765-6176-652d-7369-6d2d30303002", "devices 3:"),
    ] {
        let (passed, text) = seen(list, &[]);
        assert!(passed && text.lines().any(|line| line.trim_end() == expected), "{list}: {text}");
    }
    // Peers are named by the numbers of all devices.
    let (_, text) = seen("2,1", &[("CUWEAVE_SIM_PEERS", "1-2")]);
    assert!(text.contains("devices 3, 2: 0-1"), "{text}");
    let (_, text) = seen("2,0", &[("CUWEAVE_SIM_PEERS", "1-2")]);
    assert!(text.lines().any(|line| line.trim_end() == "devices 3, 1:"), "{text}");
    for none in ["", "-1", "3"] {
        let (passed, text) = seen(none, &[]);
        assert!(
            !passed && text.contains("`CUDA_VISIBLE_DEVICES` hides all simulated devices"),
            "{none}: {text}"
        );
    }
    assert!(!seen("1,1", &[]).0);
}

/// Prints the PCI buses of the devices, and the pairs that are peers.
#[test]
fn lists_its_devices() {
    if !is_again() {
        return;
    }
    cuweave_sim::load().unwrap();
    ok!(sys::cuInit(0));
    let mut count = 0;
    ok!(sys::cuDeviceGetCount(&mut count));
    let bus = |device| {
        let mut value = 0;
        let number = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID;
        ok!(sys::cuDeviceGetAttribute(&mut value, number, device));
        value.to_string()
    };
    let peers = |&(one, other): &(i32, i32)| {
        let mut can = 0;
        ok!(sys::cuDeviceCanAccessPeer(&mut can, one, other));
        can != 0
    };
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
    let pairs: Vec<String> = pairs.filter(peers).map(|(one, other)| format!("{one}-{other}")).collect();
    println!("\ndevices {}: {}", (0..count).map(bus).collect::<Vec<_>>().join(", "), pairs.join(" "));
}

#[test]
fn the_host_has_as_many_numa_nodes_as_asked_for() {
    passes("has_two_numa_nodes", &[("CUWEAVE_SIM_NUMA_NODES", "2")]);
    let (passed, text) = again("has_two_numa_nodes", &[("CUWEAVE_SIM_NUMA_NODES", "0")]);
    assert!(!passed && text.contains("`CUWEAVE_SIM_NUMA_NODES=0` is not understood"), "{text}");
}

#[test]
fn has_two_numa_nodes() {
    if !is_again() {
        return;
    }
    let context = Context::new();
    let mut address = 0;
    ok!(sys::cuMemAllocManaged(&mut address, 4096, 1));
    let node = |id| sys::CUmemLocation {
        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA,
        __bindgen_anon_1: sys::CUmemLocation_st__bindgen_ty_1 { id },
    };
    ok!(sys::cuMemPrefetchAsync_v2(address, 4096, node(1), 0, context.stream));
    gives!(INVALID, sys::cuMemPrefetchAsync_v2(address, 4096, node(2), 0, context.stream));
}

/// Attached to the host at first, memory returns to that when the stream of its association ends.
#[test]
fn the_end_of_a_stream_closes_memory_that_was_the_hosts() {
    passes("returns_to_the_host", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
}

#[test]
fn returns_to_the_host() {
    if !is_again() {
        return;
    }
    let context = Context::new();
    let (mut address, mut other) = (0, null_mut());
    ok!(sys::cuMemAllocManaged(&mut address, 4096, 2));
    ok!(sys::cuStreamAttachMemAsync(context.stream, address, 0, 1));
    ok!(sys::cuMemsetD8Async(address, 7, 4096, context.stream));
    ok!(sys::cuStreamCreate(&mut other, 1));
    ok!(sys::cuStreamAttachMemAsync(other, address, 0, 4));
    ok!(sys::cuStreamDestroy_v2(other));
    // The host copies it, and devices do not use it.
    let value = [3u8; 4];
    ok!(sys::cuMemcpyAsync(address, value.as_ptr() as u64, 4, context.stream));
    assert_eq!(context.sync(), OK);
    ok!(sys::cuMemsetD8Async(address, 7, 4096, context.stream));
    assert_eq!(context.sync(), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let reports = cuweave_sim::reports().unwrap();
    assert!(reports[0].text.contains("managed memory that is attached to the host"), "{}", reports[0].text);
}

#[test]
fn nodes_can_run_at_the_same_time() {
    passes("two_kernels_meet", &[("CUWEAVE_SIM_PARALLEL", "1")]);
    // One after the other, they would wait for ever.
    let (passed, text) = again("two_kernels_meet", &[("CUWEAVE_SIM_INSTRUCTIONS", "100000")]);
    assert!(!passed && text.contains("error[instruction-limit]"), "{text}");
}

/// Each kernel signals its arrival and waits for the other's.
#[test]
fn two_kernels_meet() {
    if !is_again() {
        return;
    }
    cuweave_sim::load().unwrap();
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n
.visible .entry meet(.param .u64 mine, .param .u64 others)
{
.reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [mine]; ld.param.u64 %rd2, [others];
red.global.add.u32 [%rd1], 1;
AGAIN: atom.global.add.u32 %r1, [%rd2], 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;
ret;
}\0";
    let (mut context, mut module, mut function) = (null_mut(), null_mut(), null_mut());
    let (mut graph, mut exec, mut flags) = (null_mut(), null_mut(), 0);
    let ok = |code: CUresult| assert_eq!(code, CUresult::CUDA_SUCCESS);
    unsafe {
        ok(sys::cuInit(0));
        ok(sys::cuDevicePrimaryCtxRetain(&mut context, 0));
        ok(sys::cuCtxSetCurrent(context));
        ok(sys::cuModuleLoadData(&mut module, ptx.as_ptr().cast()));
        ok(sys::cuModuleGetFunction(&mut function, module, c"meet".as_ptr()));
        ok(sys::cuMemAlloc_v2(&mut flags, 8));
        ok(sys::cuMemsetD8_v2(flags, 0, 8));
        ok(sys::cuGraphCreate(&mut graph, 0));
        for (mut mine, mut others) in [(flags, flags + 4), (flags + 4, flags)] {
            let mut pointers = [(&raw mut mine).cast(), (&raw mut others).cast()];
            let mut params: sys::CUDA_KERNEL_NODE_PARAMS_v2_st = std::mem::zeroed();
            params.func = function;
            (params.gridDimX, params.gridDimY, params.gridDimZ) = (1, 1, 1);
            (params.blockDimX, params.blockDimY, params.blockDimZ) = (1, 1, 1);
            params.kernelParams = pointers.as_mut_ptr();
            let none = std::ptr::null();
            ok(sys::cuGraphAddKernelNode_v2(&mut null_mut(), graph, none, 0, &params));
        }
        ok(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok(sys::cuGraphLaunch(exec, null_mut()));
        ok(sys::cuStreamSynchronize(null_mut()));
    }
}

#[test]
fn the_driver_can_be_chosen() {
    let (passed, text) = again("loads", &[("CUWEAVE_DRIVER", "other")]);
    assert!(
        !passed && text.contains("`CUWEAVE_DRIVER` is `other`, and may be `sim`, `cuda` or `auto`"),
        "{text}"
    );
    passes("loads", &[("CUWEAVE_DRIVER", "auto")]);
    let (passed, text) = again("loads", &[("CUWEAVE_DRIVER", "cuda")]);
    assert!(passed || text.contains("there is no CUDA driver with a device"), "{text}");
}

#[test]
fn a_program_that_linked_the_simulated_driver_keeps_that_one() {
    if cuweave_sim::load().is_ok_and(|driver| !driver.is_simulated()) {
        return;
    }
    let library = cuweave_sim::library_folder().unwrap().join("libcuda.so.1");
    passes("uses_the_driver_that_it_has", &[("LD_PRELOAD", library.to_str().unwrap())]);
}

#[test]
fn uses_the_driver_that_it_has() {
    if !is_again() {
        return;
    }
    cuweave_sim::load().unwrap();
    let stream = cudarc::driver::CudaContext::new(0).unwrap().default_stream();
    let memory = stream.clone_htod(&[1u8; 100]).unwrap();
    // A second library would count only its own allocations.
    assert_eq!(cuweave_sim::live_objects().unwrap().bytes, 100);
    drop(memory);
}

#[test]
fn a_library_that_is_none_is_an_error() {
    let (passed, text) = again("loads", &[("CUWEAVE_SIM_LIBRARY", "/nowhere/libcuda.so")]);
    assert!(!passed && text.contains("the simulated driver `/nowhere/libcuda.so` does not open"), "{text}");
}

#[test]
fn loads() {
    if !is_again() {
        return;
    }
    match cuweave_sim::load() {
        Ok(driver) => println!("{driver}"),
        Err(error) => panic!("{error}"),
    }
}
