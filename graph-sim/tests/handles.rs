//! No argument of a program can end the process: handles are looked up, null is refused, and injected faults
//! leave nothing behind.

use std::ptr::{null, null_mut};
use std::sync::Mutex;

use cudarc::driver::sys;
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};

/// Held while a test makes a call fail: no other test may make that call meanwhile.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns invalid handles: null, the built-in streams, unusual numbers, and pointers of our own.
fn wrong_handles() -> Vec<usize> {
    let own = 7u64;
    vec![3, 4, 0x10, 0xdead_beef, usize::MAX, usize::MAX - 7, 0x5000_0000_0000, (&raw const own) as usize]
}

#[test]
fn wrong_handles_are_errors() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let graph = Graph::new();
    for handle in wrong_handles().into_iter().chain([0]) {
        let (mut node, mut exec, mut count, mut number) = (null_mut(), null_mut(), 0usize, 0u32);
        let (mut address, mut bytes) = (0u64, 0usize);
        let params = fill_params(0, 0, 1);
        let copy = copy_params(0, 0, 1);
        let mut kernel = kernel_params(handle as _, 1, 1, &mut []);
        kernel.kernelParams = null_mut();
        let mut info = unsafe { std::mem::zeroed::<sys::CUgraphExecUpdateResultInfo>() };
        let mut any = unsafe { std::mem::zeroed::<sys::CUgraphNodeParams>() };
        let mut alloc = alloc_params(64);
        let codes = unsafe {
            [
                sys::cuGraphDestroy(handle as _),
                sys::cuGraphExecDestroy(handle as _),
                sys::cuGraphLaunch(handle as _, context.stream),
                sys::cuGraphUpload(handle as _, context.stream),
                sys::cuGraphInstantiateWithFlags(&mut exec, handle as _, 0),
                sys::cuGraphAddEmptyNode(&mut node, handle as _, null(), 0),
                sys::cuGraphAddEmptyNode(&mut node, graph.0, [handle as Node].as_ptr(), 1),
                sys::cuGraphAddMemsetNode(&mut node, handle as _, null(), 0, &params, context.context),
                sys::cuGraphAddMemsetNode(&mut node, graph.0, null(), 0, &params, handle as _),
                sys::cuGraphAddMemcpyNode(&mut node, graph.0, null(), 0, &copy, handle as _),
                sys::cuGraphAddKernelNode_v2(&mut node, graph.0, null(), 0, &kernel),
                sys::cuGraphAddMemAllocNode(&mut node, handle as _, null(), 0, &mut alloc),
                sys::cuGraphAddMemFreeNode(&mut node, graph.0, null(), 0, handle as u64),
                sys::cuGraphAddChildGraphNode(&mut node, graph.0, null(), 0, handle as _),
                sys::cuGraphAddNode_v2(&mut node, handle as _, null(), null(), 0, &mut any),
                sys::cuGraphAddEventRecordNode(&mut node, graph.0, null(), 0, handle as _),
                sys::cuGraphAddDependencies_v2(graph.0, &(handle as _), &(handle as _), null(), 1),
                sys::cuGraphClone(&mut (null_mut()), handle as _),
                sys::cuGraphGetNodes(handle as _, null_mut(), &mut count),
                sys::cuGraphDestroyNode(handle as _),
                sys::cuGraphNodeSetEnabled(handle as _, handle as _, 1),
                sys::cuGraphExecUpdate_v2(handle as _, graph.0, &mut info),
                sys::cuGraphExecKernelNodeSetParams_v2(handle as _, handle as _, &kernel),
                sys::cuGraphExecMemsetNodeSetParams(handle as _, handle as _, &params, context.context),
                sys::cuModuleUnload(handle as _),
                sys::cuModuleGetFunction(&mut (null_mut()), handle as _, c"x".as_ptr()),
                sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, handle as _, c"x".as_ptr()),
                sys::cuFuncGetAttribute(
                    &mut 0,
                    sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
                    handle as _,
                ),
                sys::cuFuncGetParamInfo(handle as _, 0, &mut bytes, null_mut()),
                sys::cuLaunchKernel(handle as _, 1, 1, 1, 1, 1, 1, 0, context.stream, null_mut(), null_mut()),
                sys::cuEventDestroy_v2(handle as _),
                sys::cuEventRecord(handle as _, context.stream),
                sys::cuEventSynchronize(handle as _),
                sys::cuMemFree_v2(handle as u64 | 1),
                sys::cuMemFreeAsync(handle as u64, context.stream),
                sys::cuMemFreeHost(handle as _),
                sys::cuCtxDestroy_v2(handle as _),
                sys::cuMemPoolDestroy(handle as _),
                sys::cuMemsetD8_v2(handle as u64, 0, 16),
                sys::cuMemcpyDtoD_v2(handle as u64, handle as u64, 16),
            ]
        };
        for (at, code) in codes.into_iter().enumerate() {
            assert_ne!(code, OK, "call {at} with {handle:#x}");
        }
        if handle > 2 {
            assert_ne!(unsafe { sys::cuStreamSynchronize(handle as _) }, OK);
            assert_ne!(unsafe { sys::cuStreamDestroy_v2(handle as _) }, OK);
        }
        let _ = &mut number;
    }
    assert_eq!(context.sync(), OK);
}

#[test]
fn handles_of_what_is_gone_are_errors() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let graph = Graph::new();
    let node = graph.empty(&[]);
    let exec = graph.exec();
    ok!(sys::cuGraphExecDestroy(exec.0));
    gives!(INVALID, sys::cuGraphExecDestroy(exec.0));
    assert_eq!(exec.launch(&context), INVALID);
    ok!(sys::cuGraphDestroy(graph.0));
    gives!(INVALID, sys::cuGraphDestroy(graph.0));
    gives!(INVALID, sys::cuGraphDestroyNode(node));
    std::mem::forget((graph, exec));
}

#[test]
fn null_is_an_invalid_value() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let graph = Graph::new();
    unsafe {
        for code in [
            sys::cuMemAlloc_v2(null_mut(), 16),
            sys::cuMemAllocAsync(null_mut(), 16, context.stream),
            sys::cuMemHostAlloc(null_mut(), 16, 0),
            sys::cuStreamCreate(null_mut(), 0),
            sys::cuEventCreate(null_mut(), 0),
            sys::cuGraphCreate(null_mut(), 0),
            sys::cuGraphAddEmptyNode(null_mut(), graph.0, null(), 0),
            sys::cuGraphAddEmptyNode(&mut null_mut(), graph.0, null(), 1),
            sys::cuGraphAddKernelNode_v2(&mut null_mut(), graph.0, null(), 0, null()),
            sys::cuGraphAddMemsetNode(&mut null_mut(), graph.0, null(), 0, null(), context.context),
            sys::cuGraphAddMemAllocNode(&mut null_mut(), graph.0, null(), 0, null_mut()),
            sys::cuGraphInstantiateWithFlags(null_mut(), graph.0, 0),
            sys::cuGraphInstantiateWithParams(&mut null_mut(), graph.0, null_mut()),
            sys::cuModuleLoadData(null_mut(), c"x".as_ptr().cast()),
            sys::cuModuleLoadData(&mut null_mut(), null()),
            sys::cuDeviceGetCount(null_mut()),
            sys::cuPointerGetAttribute(
                null_mut(),
                sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT,
                16,
            ),
            sys::cuMemcpy2D_v2(null()),
            sys::cuGetErrorName(sys::CUresult::CUDA_SUCCESS, null_mut()),
        ] {
            assert_eq!(code, INVALID);
        }
    }
}

#[test]
fn images_that_are_no_ptx_are_refused() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let load = |text: &str| {
        let text = std::ffi::CString::new(text).unwrap();
        unsafe { sys::cuModuleLoadData(&mut null_mut(), text.as_ptr().cast()) }
    };
    use sys::CUresult::*;
    assert_eq!(load(""), CUDA_ERROR_INVALID_IMAGE);
    assert_eq!(load("\x7fELF"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_eq!(load("this is no PTX"), CUDA_ERROR_INVALID_PTX);
    assert_eq!(
        load(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k("),
        CUDA_ERROR_INVALID_PTX
    );
    assert_eq!(load(".version 99.0\n.target sm_90\n.address_size 64\n"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    assert_eq!(context.sync(), OK);
}

#[test]
fn a_failure_on_request_strikes_once_and_at_its_time() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    cuweave_sim::inject_fault("cuMemAlloc_v2", 2, 2).unwrap();
    let first = context.alloc(16);
    let mut address = 0;
    gives!(NO_MEMORY, sys::cuMemAlloc_v2(&mut address, 16));
    let third = context.alloc(16);
    // Functions that destroy an object do so before they return the error.
    let before = cuweave_sim::live_objects().unwrap().allocations;
    cuweave_sim::inject_fault("cuMemFree_v2", 1, 999).unwrap();
    gives!(sys::CUresult::CUDA_ERROR_UNKNOWN, sys::cuMemFree_v2(first));
    assert_eq!(cuweave_sim::live_objects().unwrap().allocations, before - 1);
    ok!(sys::cuMemFree_v2(third));
    assert!(cuweave_sim::inject_fault("cuNoSuchCall", 1, 2).is_err());
    cuweave_sim::inject_fault("cuGraphCreate", 1, 2).unwrap();
    assert_eq!(cuweave_sim::clear_faults().unwrap(), 1);
    Graph::new();
}

#[test]
fn every_call_of_a_piece_of_work_can_be_made_to_fail() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let work = || -> Result<(), sys::CUresult> {
        let graph = Graph::new();
        let (alloc, address) = graph.try_alloc(&[], 64)?;
        let free = graph.try_free(&[alloc], address)?;
        let exec = graph.try_exec(0)?;
        let _ = free;
        match exec.launch(&context) {
            OK => Ok(()),
            code => Err(code),
        }
    };
    let before = cuweave_sim::call_counts().unwrap();
    work().unwrap();
    let after = cuweave_sim::call_counts().unwrap();
    let count = |name: &String| after[name] - before.get(name).copied().unwrap_or(0);
    let made: Vec<&String> = after.keys().filter(|name| count(name) > 0).collect();
    assert_eq!(made.len(), 7, "{made:?}");
    for name in made.into_iter().filter(|name| *name != "cuGraphCreate") {
        let live = cuweave_sim::live_objects().unwrap();
        cuweave_sim::inject_fault(name, 1, 999).unwrap();
        let failed = work().is_err();
        // Destructors call these functions and cannot return an error.
        assert_eq!(failed, !name.contains("Destroy"), "{name}");
        assert_eq!(cuweave_sim::clear_faults().unwrap(), 0, "{name}");
        assert_eq!(cuweave_sim::live_objects().unwrap(), live, "{name}");
    }
}

#[test]
fn nothing_is_left_of_graphs_that_are_gone() {
    let _alone = alone();
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let before = cuweave_sim::live_objects().unwrap();
    for _ in 0..50 {
        let (parent, child) = (Graph::new(), Graph::new());
        child.empty(&[]);
        let mut node = null_mut();
        ok!(sys::cuGraphAddChildGraphNode(&mut node, parent.0, null(), 0, child.0));
        let (alloc, address) = parent.alloc(&[node], 4096);
        let fill = parent.fill(&context, &[alloc], address, 1, 4096);
        parent.free(&[fill], address);
        let exec = parent.exec();
        assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    }
    assert_eq!(cuweave_sim::live_objects().unwrap(), before);
}

#[test]
fn calls_are_found_by_their_names() {
    let _alone = alone();
    let context = Context::new();
    let mut place = null_mut();
    let find = |name: &std::ffi::CStr, place: &mut *mut std::ffi::c_void, version: i32| {
        let mut why = sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS;
        ok!(sys::cuGetProcAddress_v2(name.as_ptr(), place, version, 0, &mut why));
        why
    };
    use sys::CUdriverProcAddressQueryResult::*;
    assert_eq!(find(c"cuMemAlloc", &mut place, 12000), CU_GET_PROC_ADDRESS_SUCCESS);
    assert!(!place.is_null());
    assert_eq!(find(c"cuNoSuchCall", &mut place, 12000), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert!(place.is_null());
    drop(context);
}
