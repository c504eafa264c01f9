//! Kernels launched through the driver: their results, and the code and report of each fault.

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};

const PTX: &str = include_str!("kernels.ptx");

#[test]
fn cudarcs_safe_api_runs_a_kernel() {
    cuweave_sim::load().unwrap();
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let module = context.load_module(cudarc::nvrtc::Ptx::from_src(PTX)).unwrap();
    let saxpy = module.load_function("saxpy").unwrap();
    let n = 1000u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (x, mut y) = (stream.clone_htod(&x).unwrap(), stream.clone_htod(&vec![1.0f32; n as usize]).unwrap());
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&mut y).arg(&x).arg(&2.0f32).arg(&n);
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.unwrap();
    let expected: Vec<f32> = (0..n).map(|i| 2.0 * i as f32 + 1.0).collect();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), expected);
}

#[test]
fn cudarcs_captured_graph_runs_again_and_again() {
    cuweave_sim::load().unwrap();
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let module = context.load_module(cudarc::nvrtc::Ptx::from_src(PTX)).unwrap();
    // Otherwise cudarc's events would make the capture wait for earlier work.
    unsafe { context.disable_event_tracking() };
    let count = module.load_function("count").unwrap();
    let mut counter = stream.clone_htod(&[0u32]).unwrap();
    stream.synchronize().unwrap();
    use sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    let mut launch = stream.launch_builder(&count);
    launch.arg(&mut counter);
    unsafe {
        launch.launch(LaunchConfig { grid_dim: (4, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 })
    }
    .unwrap();
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).unwrap().unwrap();
    for _ in 0..3 {
        graph.launch().unwrap();
    }
    assert_eq!(stream.clone_dtoh(&counter).unwrap(), [3 * 4 * 32]);
}

struct Kernels {
    context: Context,
    module: sys::CUmodule,
}

impl Kernels {
    fn new() -> Self {
        let context = Context::new();
        let module = context.module(PTX);
        Kernels { context, module }
    }

    /// Launches a kernel with 64-bit arguments. Returns the results of the launch and of the next
    /// synchronisation.
    fn run(&self, name: &str, threads: u32, args: &[u64]) -> (CUresult, CUresult) {
        let function = self.context.function(self.module, name);
        let mut pointers: Vec<_> =
            args.iter().map(|arg| std::ptr::from_ref(arg) as *mut std::ffi::c_void).collect();
        let stream = self.context.stream;
        let launched = unsafe {
            sys::cuLaunchKernel(
                function,
                1,
                1,
                1,
                threads,
                1,
                1,
                0,
                stream,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        (launched, self.context.sync())
    }
}

/// Asserts that a kernel breaks the context with this code, and that its report has this kind and contains these
/// parts.
fn breaks(name: &str, args: &[u64], code: CUresult, kind: &str, parts: &[&str]) {
    let kernels = Kernels::new();
    breaks_in(&kernels, name, args, code, kind, parts);
}

fn breaks_in(kernels: &Kernels, name: &str, args: &[u64], code: CUresult, kind: &str, parts: &[&str]) {
    assert_eq!(kernels.run(name, 32, args), (OK, code));
    assert_eq!(unsafe { sys::cuMemAlloc_v2(&mut 0, 16) }, code);
    let found = reports_of(&format!("`{name}`"));
    let fits = |report: &&cuweave_sim::Report| {
        report.kind == kind && parts.iter().all(|part| report.text.contains(part))
    };
    assert!(found.iter().any(|report| fits(&report)), "{parts:?} in {found:?}");
}

#[test]
fn an_access_outside_all_memory_names_the_thread_and_the_place() {
    let kernels = Kernels::new();
    if !kernels.context.simulated {
        return;
    }
    let address = kernels.context.alloc(16 * 4);
    SimulatorCalls::new().memory(address, "sixteen_words");
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    // Thread 16 is the first one outside.
    let parts =
        ["thread (16, 0, 0)", "0 bytes after the end of `sixteen_words`", &format!("{:#x}", address + 64)];
    breaks_in(&kernels, "fill_words", &[address], code, "illegal-address", &parts.map(|part| part));
}

#[test]
fn each_fault_has_its_code() {
    if !Context::new().simulated {
        return;
    }
    breaks(
        "store_word",
        &[0],
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        "illegal-address",
        &["in no live allocation"],
    );
    breaks("trap_now", &[], CUresult::CUDA_ERROR_LAUNCH_FAILED, "trap", &[]);
    let kernels = Kernels::new();
    let address = kernels.context.alloc(64);
    breaks_in(
        &kernels,
        "store_word",
        &[address + 2],
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        "misaligned-address",
        &[],
    );
}

#[test]
fn a_read_of_fresh_memory_is_an_error_and_a_copy_carries_the_mark() {
    let kernels = Kernels::new();
    if !kernels.context.simulated {
        return;
    }
    let (a, b) = (kernels.context.alloc(256), kernels.context.alloc(256));
    ok!(sys::cuMemsetD8_v2(a, 1, 124));
    ok!(sys::cuMemcpyDtoD_v2(b, a, 128));
    SimulatorCalls::new().memory(b, "half_written");
    let code = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    breaks_in(
        &kernels,
        "double_words",
        &[b],
        code,
        "uninitialised-read",
        &["thread (31, 0, 0)", "`half_written`"],
    );
}

#[test]
fn a_kernel_that_never_ends_is_ended() {
    let kernels = Kernels::new();
    if !kernels.context.simulated {
        return;
    }
    assert_eq!(kernels.run("for_ever", 1, &[]), (OK, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT));
    assert!(reports_of("`for_ever`")[0].text.contains("CUWEAVE_SIM_INSTRUCTIONS"));
}

#[test]
fn kernels_of_two_branches_that_write_the_same_bytes() {
    let kernels = Kernels::new();
    let context = &kernels.context;
    if !context.simulated {
        return;
    }
    let out = context.alloc(32 * 4 + 4);
    let fill = context.function(kernels.module, "fill_words");
    let build = |ordered: bool| {
        let graph = Graph::new();
        let left = graph.kernel(&[], fill, 1, 32, &[out]);
        let right =
            graph.kernel(if ordered { std::slice::from_ref(&left) } else { &[] }, fill, 1, 32, &[out + 4]);
        let notes = SimulatorCalls::new();
        notes.node(left, "left_kernel", 1);
        notes.node(right, "right_kernel", 2);
        graph
    };
    assert_eq!((build(true).exec().launch(context), context.sync()), (OK, OK));
    assert_eq!(
        (build(false).exec().launch(context), context.sync()),
        (OK, CUresult::CUDA_ERROR_LAUNCH_FAILED)
    );
    let reports = reports_of("left_kernel");
    assert_eq!((reports.len(), reports[0].kind.as_str()), (1, "race"), "{reports:?}");
    assert!(reports[0].text.contains(&format!("{:#x}..{:#x}", out + 4, out + 128)), "{}", reports[0].text);
}

#[test]
fn a_fault_in_a_graph_names_the_node_and_the_buffer() {
    let kernels = Kernels::new();
    let context = &kernels.context;
    if !context.simulated {
        return;
    }
    let notes = SimulatorCalls::new();
    let arena = context.alloc(512);
    let double = context.function(kernels.module, "double_words");
    let fill = context.function(kernels.module, "fill_words");
    let graph = Graph::new();
    let first = graph.kernel(&[], fill, 1, 32, &[arena]);
    let second = graph.kernel(&[first], double, 1, 32, &[arena + 128]);
    notes.node(first, "fills_h", 10);
    notes.node(second, "reads_fresh", 11);
    notes.buffer(&graph, "h", arena, 128, &[first]);
    notes.buffer(&graph, "fresh_k", arena + 128, 128, &[second]);
    // Bytes that an earlier launch wrote do not count: the live range of the buffer begins in this one.
    ok!(sys::cuMemsetD8_v2(arena, 0, 512));
    assert_eq!((graph.exec().launch(context), context.sync()), (OK, CUresult::CUDA_ERROR_LAUNCH_FAILED));
    let reports = reports_of("`reads_fresh` (src/plan.rs:11)");
    assert_eq!(reports[0].kind, "uninitialised-read", "{reports:?}");
    assert!(reports[0].text.contains("`fresh_k`"), "{}", reports[0].text);
}

#[test]
fn instances_take_other_arguments() {
    let kernels = Kernels::new();
    let context = &kernels.context;
    let (a, b) = (context.upload(&[0u32; 32]), context.upload(&[0u32; 32]));
    let fill = context.function(kernels.module, "fill_words");
    let graph = Graph::new();
    let node = graph.kernel(&[], fill, 1, 32, &[a]);
    let exec = graph.exec();
    assert_eq!((exec.launch(context), context.sync()), (OK, OK));
    let mut pointers = [std::ptr::from_ref(&b) as *mut std::ffi::c_void];
    let params = kernel_params(fill, 1, 16, &mut pointers);
    ok!(sys::cuGraphExecKernelNodeSetParams_v2(exec.0, node, &params));
    assert_eq!((exec.launch(context), context.sync()), (OK, OK));
    let ids: Vec<u32> = (0..32).collect();
    assert_eq!(context.download::<u32>(a, 32), ids);
    let b: Vec<u32> = context.download(b, 32);
    assert_eq!((&b[..16], &b[16..]), (&ids[..16], &[0u32; 16][..]));
}

#[test]
fn launches_that_no_device_takes_are_refused() {
    let kernels = Kernels::new();
    let address = kernels.context.alloc(4096 * 4);
    for threads in [0, 1025] {
        assert_eq!(kernels.run("fill_words", threads, &[address]), (INVALID, OK));
    }
    // `.maxntid 64`
    assert_eq!(kernels.run("at_most_64", 64, &[]), (OK, OK));
    assert_eq!(kernels.run("at_most_64", 65, &[]).0, INVALID);
    let name = c"no_such_kernel";
    let module = kernels.module;
    gives!(CUresult::CUDA_ERROR_NOT_FOUND, sys::cuModuleGetFunction(&mut null_mut(), module, name.as_ptr()));
}

#[test]
fn functions_and_variables_tell_about_themselves() {
    let kernels = Kernels::new();
    let function = kernels.context.function(kernels.module, "saxpy");
    let (mut offset, mut size) = (0, 0);
    let infos: Vec<_> = (0..4)
        .map(|at| {
            ok!(sys::cuFuncGetParamInfo(function, at, &mut offset, &mut size));
            (offset, size)
        })
        .collect();
    assert_eq!(infos, [(0, 8), (8, 8), (16, 4), (20, 4)]);
    gives!(INVALID, sys::cuFuncGetParamInfo(function, 4, &mut offset, &mut size));
    let (mut address, mut bytes) = (0, 0);
    ok!(sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, kernels.module, c"table".as_ptr()));
    assert_eq!(bytes, 16);
    assert_eq!(kernels.context.download::<u32>(address, 4), [1, 2, 3, 4]);
    ok!(sys::cuMemcpyHtoD_v2(address, [5u32, 6, 7, 8].as_ptr().cast(), 16));
    let out = kernels.context.upload(&[0u32; 4]);
    assert_eq!(kernels.run("read_table", 4, &[out]), (OK, OK));
    assert_eq!(kernels.context.download::<u32>(out, 4), [5, 6, 7, 8]);
}
