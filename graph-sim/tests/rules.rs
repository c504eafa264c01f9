//! The rules of graphs with memory nodes and of related calls, as the real driver implements them: where there is
//! a real driver, these tests run on it.
//!
//! The tests do not rely on undocumented behaviour, such as the addresses of allocations or the granularity of
//! reserved memory.

use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};

const SIZE: usize = 1 << 20;

#[test]
fn an_allocation_of_nothing_is_refused_and_one_of_too_much_too() {
    let _context = Context::new();
    let graph = Graph::new();
    assert_eq!(graph.try_alloc(&[], 0).unwrap_err(), INVALID);
    assert_eq!(graph.try_alloc(&[], 4 << 40).unwrap_err(), NO_MEMORY);
    graph.alloc(&[], SIZE);
}

/// Returns the parameters of an alloc node of one mebibyte that these locations may access.
fn with_access(access: &[sys::CUmemAccessDesc]) -> sys::CUDA_MEM_ALLOC_NODE_PARAMS {
    let mut params = alloc_params(SIZE);
    (params.accessDescs, params.accessDescCount) = (access.as_ptr(), access.len());
    params
}

fn try_add(graph: &Graph, mut params: sys::CUDA_MEM_ALLOC_NODE_PARAMS) -> Result<Node, sys::CUresult> {
    let mut node = null_mut();
    // SAFETY: the parameters, and the list in them, live until the call returns.
    match unsafe { sys::cuGraphAddMemAllocNode(&mut node, graph.0, null(), 0, &mut params) } {
        OK => Ok(node),
        code => Err(code),
    }
}

#[test]
fn alloc_nodes_have_properties_that_can_be_read_back() {
    use sys::CUmemAllocationHandleType as HandleType;
    use sys::CUmemLocationType::*;
    let _context = Context::new();
    let graph = Graph::new();
    let change = |change: &dyn Fn(&mut sys::CUmemPoolProps)| {
        let mut params = alloc_params(SIZE);
        change(&mut params.poolProps);
        try_add(&graph, params)
    };
    // Graph memory is not shared with other processes, and is memory of a device.
    for handles in
        [HandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, HandleType::CU_MEM_HANDLE_TYPE_FABRIC]
    {
        assert_eq!(change(&|props| props.handleTypes = handles).err(), Some(UNSUPPORTED));
    }
    let windows = HandleType::CU_MEM_HANDLE_TYPE_WIN32;
    assert_eq!(change(&|props| props.handleTypes = windows).err(), Some(INVALID));
    for host in [CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA] {
        assert_eq!(change(&|props| props.location.type_ = host).err(), Some(UNSUPPORTED));
    }
    assert_eq!(change(&|props| props.location.__bindgen_anon_1.id = 99).err(), Some(INVALID));
    assert_eq!(change(&|props| props.reserved[5] = 1).err(), Some(INVALID));
    // A maximum below the size of the allocation has no effect, and a usage neither.
    let node = change(&|props| (props.maxSize, props.usage) = (4096, 1)).unwrap();
    let read = |node| {
        let mut params = alloc_params(0);
        ok!(sys::cuGraphMemAllocNodeGetParams(node, &mut params));
        params
    };
    let found = read(node);
    assert_eq!((found.poolProps.maxSize, found.poolProps.usage), (4096, 1));
    assert_eq!((found.bytesize, found.accessDescCount), (SIZE, 0));
}

#[test]
fn alloc_nodes_keep_who_may_access_them() {
    use sys::CUmemAccess_flags::*;
    use sys::CUmemLocationType::*;
    let _context = Context::new();
    let graph = Graph::new();
    let access = |id, flags| {
        let location = sys::CUmemLocation {
            type_: CU_MEM_LOCATION_TYPE_DEVICE,
            __bindgen_anon_1: sys::CUmemLocation_st__bindgen_ty_1 { id },
        };
        sys::CUmemAccessDesc { location, flags }
    };
    let full = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    let add = |list: &[sys::CUmemAccessDesc]| try_add(&graph, with_access(list));
    for less in [CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_NONE] {
        assert_eq!(add(&[access(0, less)]).err(), Some(UNSUPPORTED));
    }
    assert_eq!(add(&[access(0, full); 2]).err(), Some(INVALID));
    assert_eq!(add(&[access(99, full)]).err(), Some(sys::CUresult::CUDA_ERROR_INVALID_DEVICE));
    let node = add(&[access(0, full)]).unwrap();
    // The list is the driver's, and stays valid when other nodes are added.
    let mut params = alloc_params(0);
    ok!(sys::cuGraphMemAllocNodeGetParams(node, &mut params));
    for _ in 0..100 {
        graph.alloc(&[], 512);
    }
    assert_eq!(params.accessDescCount, 1);
    // SAFETY: the list has one entry, and lives as long as the node.
    let kept = unsafe { *params.accessDescs };
    assert_eq!((kept.location.type_, kept.flags), (CU_MEM_LOCATION_TYPE_DEVICE, full));
    // SAFETY: a device is named by its number.
    assert_eq!(unsafe { kept.location.__bindgen_anon_1.id }, 0);
}

#[test]
fn a_graph_with_memory_nodes_has_one_instance_at_a_time() {
    let _context = Context::new();
    let graph = Graph::new();
    let (node, address) = graph.alloc(&[], SIZE);
    graph.free(&[node], address);
    let first = graph.exec();
    assert_eq!(graph.try_exec(0).err(), Some(UNSUPPORTED));
    drop(first);
    graph.exec();
}

#[test]
fn a_plain_graph_has_many_instances() {
    let context = Context::new();
    let graph = Graph::new();
    graph.empty(&[]);
    let (a, b) = (graph.exec(), graph.exec());
    assert_eq!((a.launch(&context), b.launch(&context), context.sync()), (OK, OK, OK));
}

#[test]
fn a_graph_with_memory_nodes_is_not_cloned() {
    let _context = Context::new();
    let (graph, plain) = (Graph::new(), Graph::new());
    graph.alloc(&[], SIZE);
    plain.empty(&[]);
    let mut clone = null_mut();
    gives!(UNSUPPORTED, sys::cuGraphClone(&mut clone, graph.0));
    ok!(sys::cuGraphClone(&mut clone, plain.0));
    ok!(sys::cuGraphDestroy(clone));
}

#[test]
fn a_graph_with_memory_nodes_becomes_a_child_by_moving_only() {
    let context = Context::new();
    let mut version = 0;
    ok!(sys::cuDriverGetVersion(&mut version));
    let (parent, child) = (Graph::new(), Graph::new());
    let (node, address) = child.alloc(&[], SIZE);
    let fill = child.fill(&context, &[node], address, 1, SIZE);
    child.free(&[fill], address);
    let mut node = null_mut();
    gives!(UNSUPPORTED, sys::cuGraphAddChildGraphNode(&mut node, parent.0, null(), 0, child.0));
    if version < 12090 {
        return;
    }
    let mut params = unsafe { std::mem::zeroed::<sys::CUgraphNodeParams>() };
    params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH;
    params.__bindgen_anon_1.graph = sys::CUDA_CHILD_GRAPH_NODE_PARAMS {
        graph: child.0,
        ownership: sys::CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE,
    };
    ok!(sys::cuGraphAddNode_v2(&mut node, parent.0, null(), null(), 0, &mut params));
    // The child graph belongs to its parent now.
    assert!(child.try_exec(0).is_err());
    assert!(child.try_alloc(&[], SIZE).is_err());
    std::mem::forget(child);
    let exec = parent.exec();
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
}

#[test]
fn nodes_and_edges_of_a_graph_with_memory_nodes_stay() {
    let _context = Context::new();
    let graph = Graph::new();
    let (node, address) = graph.alloc(&[], SIZE);
    let empty = graph.empty(&[node]);
    graph.free(&[empty], address);
    gives!(UNSUPPORTED, sys::cuGraphDestroyNode(empty));
    assert_ne!(unsafe { sys::cuGraphRemoveDependencies_v2(graph.0, &node, &empty, null(), 1) }, OK);
    let mut count = 0;
    ok!(sys::cuGraphGetNodes(graph.0, null_mut(), &mut count));
    assert_eq!(count, 3);
}

#[test]
fn nodes_of_a_plain_graph_go() {
    let _context = Context::new();
    let graph = Graph::new();
    let a = graph.empty(&[]);
    let b = graph.empty(&[a]);
    ok!(sys::cuGraphRemoveDependencies_v2(graph.0, &a, &b, null(), 1));
    ok!(sys::cuGraphDestroyNode(a));
    let mut count = 0;
    ok!(sys::cuGraphGetNodes(graph.0, null_mut(), &mut count));
    assert_eq!(count, 1);
}

#[test]
fn only_an_alloc_nodes_allocation_is_freed_and_once() {
    let context = Context::new();
    let graph = Graph::new();
    let other = context.alloc(SIZE);
    let (node, address) = graph.alloc(&[], SIZE);
    for wrong in [0, 64, address + 512, other] {
        assert_eq!(graph.try_free(&[node], wrong).unwrap_err(), INVALID, "{wrong:#x}");
    }
    let free = graph.free(&[node], address);
    assert_eq!(graph.try_free(&[free], address).unwrap_err(), INVALID);
    ok!(sys::cuMemFree_v2(other));
}

#[test]
fn a_stale_address_frees_its_successor() {
    let _context = Context::new();
    let graph = Graph::new();
    let (node, a) = graph.alloc(&[], SIZE);
    let free = graph.free(&[node], a);
    let (node, b) = graph.alloc(&[free], SIZE);
    if a == b {
        let free = graph.free(&[node], a);
        assert_eq!(graph.try_free(&[free], b).unwrap_err(), INVALID);
    }
}

#[test]
fn addresses_are_handed_on_along_edges_only() {
    let context = Context::new();
    let graph = Graph::new();
    let (node, a) = graph.alloc(&[], SIZE);
    graph.free(&[node], a);
    // No path leads from that free node, so this allocation may be live at the same time.
    let (node, b) = graph.alloc(&[], SIZE);
    assert!(a + SIZE as u64 <= b || b + SIZE as u64 <= a);
    graph.free(&[node], b);
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), exec.launch(&context), context.sync()), (OK, OK, OK));
}

#[test]
fn an_address_is_the_same_in_every_launch() {
    let context = Context::new();
    let graph = Graph::new();
    let out = context.alloc(SIZE);
    let (node, address) = graph.alloc(&[], SIZE);
    let fill = graph.fill(&context, &[node], address, 7, SIZE);
    let copy = graph.copy(&context, &[fill], out, address, SIZE);
    graph.free(&[copy], address);
    let exec = graph.exec();
    for _ in 0..3 {
        assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
        assert_eq!(context.download::<u8>(out, SIZE), vec![7; SIZE]);
    }
    ok!(sys::cuMemFree_v2(out));
}

/// Returns a graph that leaves a filled allocation.
fn producer(context: &Context, value: u8) -> (Graph, u64) {
    let graph = Graph::new();
    let (node, address) = graph.alloc(&[], SIZE);
    graph.fill(context, &[node], address, value, SIZE);
    (graph, address)
}

#[test]
fn no_launch_while_an_allocation_of_the_last_one_lives() {
    let context = Context::new();
    let (graph, address) = producer(&context, 3);
    let exec = graph.exec();
    assert_eq!(exec.launch(&context), OK);
    assert_eq!(exec.launch(&context), INVALID);
    ok!(sys::cuMemFreeAsync(address, context.stream));
    assert_eq!(exec.launch(&context), OK);
    assert_eq!(context.sync(), OK);
    assert_eq!(context.download::<u8>(address, SIZE), vec![3; SIZE]);
    ok!(sys::cuMemFree_v2(address));
    assert_eq!(exec.launch(&context), OK);
    ok!(sys::cuMemFreeAsync(address, context.stream));
    assert_eq!(context.sync(), OK);
}

#[test]
fn auto_free_frees_at_the_next_launch() {
    const AUTO_FREE: u64 = 1;
    let context = Context::new();
    let (graph, address) = producer(&context, 3);
    let exec = graph.try_exec(AUTO_FREE).unwrap();
    for _ in 0..3 {
        assert_eq!(exec.launch(&context), OK);
    }
    ok!(sys::cuMemFreeAsync(address, context.stream));
    assert_eq!(context.sync(), OK);
}

#[test]
fn auto_free_and_launches_from_the_device_exclude_each_other() {
    let _context = Context::new();
    let graph = Graph::new();
    graph.empty(&[]);
    assert_eq!(graph.try_exec(1 | 4).err(), Some(INVALID));
}

#[test]
fn another_graph_frees_what_the_first_one_left() {
    let context = Context::new();
    let (producer, address) = producer(&context, 9);
    let consumer = Graph::new();
    let out = context.alloc(SIZE);
    let copy = consumer.copy(&context, &[], out, address, SIZE);
    consumer.free(&[copy], address);
    let (produce, consume) = (producer.exec(), consumer.exec());
    // Nothing is allocated yet.
    assert_eq!(consume.launch(&context), INVALID);
    for _ in 0..2 {
        assert_eq!(produce.launch(&context), OK);
        assert_eq!(consume.launch(&context), OK);
    }
    assert_eq!(consume.launch(&context), INVALID);
    assert_eq!(context.sync(), OK);
    assert_eq!(context.download::<u8>(out, SIZE), vec![9; SIZE]);
    ok!(sys::cuMemFree_v2(out));
}

#[test]
fn an_allocation_outlives_the_instance_that_made_it() {
    let context = Context::new();
    let (graph, address) = producer(&context, 5);
    let exec = graph.exec();
    assert_eq!(exec.launch(&context), OK);
    drop(exec);
    assert_eq!(context.sync(), OK);
    assert_eq!(context.download::<u8>(address, SIZE), vec![5; SIZE]);
    ok!(sys::cuMemFreeAsync(address, context.stream));
    assert_eq!(context.sync(), OK);
}

#[test]
fn an_allocation_is_freed_by_its_own_graph_or_by_others() {
    let _context = Context::new();
    let (owner, other) = (Graph::new(), Graph::new());
    let (node, freed_at_home) = owner.alloc(&[], SIZE);
    let (_, freed_abroad) = owner.alloc(&[node], SIZE);
    owner.free(&[node], freed_at_home);
    assert_eq!(other.try_free(&[], freed_at_home).unwrap_err(), INVALID);
    other.free(&[], freed_abroad);
    assert_eq!(owner.try_free(&[node], freed_abroad).unwrap_err(), INVALID);
}

#[test]
fn dependencies_are_nodes_of_the_graph_and_each_once() {
    let _context = Context::new();
    let (graph, other) = (Graph::new(), Graph::new());
    let (a, foreign) = (graph.empty(&[]), other.empty(&[]));
    let mut node = null_mut();
    for wrong in [[a, a], [a, foreign]] {
        gives!(INVALID, sys::cuGraphAddEmptyNode(&mut node, graph.0, wrong.as_ptr(), 2));
    }
}

#[test]
fn a_cycle_is_not_instantiated() {
    let _context = Context::new();
    let graph = Graph::new();
    let a = graph.empty(&[]);
    let b = graph.empty(&[a]);
    // Adding the edge may already fail.
    let added = unsafe { sys::cuGraphAddDependencies_v2(graph.0, &b, &a, null(), 1) };
    assert!(added != OK || graph.try_exec(0).is_err());
}

#[test]
fn fills_have_elements_of_1_2_or_4_bytes() {
    let context = Context::new();
    let graph = Graph::new();
    let address = context.alloc(SIZE);
    let mut node = null_mut();
    // The driver accepts a value wider than its element, and writes the low bytes.
    for (element, value, code) in [(3, 1, INVALID), (1, 256, OK), (2, 0xffff, OK), (4, u32::MAX, OK)] {
        let mut params = fill_params(address, 0, 16);
        (params.elementSize, params.value) = (element, value);
        gives!(code, sys::cuGraphAddMemsetNode(&mut node, graph.0, null(), 0, &params, context.context));
    }
    ok!(sys::cuMemFree_v2(address));
}

#[test]
fn an_instances_fill_takes_other_values_and_can_be_turned_off() {
    let context = Context::new();
    let graph = Graph::new();
    let out = context.upload(&[0u8; 64]);
    let first = graph.fill(&context, &[], out, 1, 64);
    let second = graph.fill(&context, &[first], out, 2, 32);
    let exec = graph.exec();
    let run = || {
        assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
        let bytes = context.download::<u8>(out, 64);
        (bytes[0], bytes[63])
    };
    assert_eq!(run(), (2, 1));
    ok!(sys::cuGraphExecMemsetNodeSetParams(exec.0, first, &fill_params(out, 5, 64), context.context));
    assert_eq!(run(), (2, 5));
    ok!(sys::cuGraphNodeSetEnabled(exec.0, second, 0));
    assert_eq!(run(), (5, 5));
    let mut enabled = 7;
    ok!(sys::cuGraphNodeGetEnabled(exec.0, second, &mut enabled));
    assert_eq!(enabled, 0);
    ok!(sys::cuGraphNodeSetEnabled(exec.0, second, 1));
    assert_eq!(run(), (2, 5));
    ok!(sys::cuMemFree_v2(out));
}

#[test]
fn memory_nodes_are_neither_turned_off_nor_changed() {
    let _context = Context::new();
    let graph = Graph::new();
    let (node, address) = graph.alloc(&[], SIZE);
    let free = graph.free(&[node], address);
    let exec = graph.exec();
    for node in [node, free] {
        assert_ne!(unsafe { sys::cuGraphNodeSetEnabled(exec.0, node, 0) }, OK);
    }
    let mut params = unsafe { std::mem::zeroed::<sys::CUgraphNodeParams>() };
    params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.__bindgen_anon_1.free = sys::CUDA_MEM_FREE_NODE_PARAMS { dptr: address };
    assert_ne!(unsafe { sys::cuGraphExecNodeSetParams(exec.0, free, &mut params) }, OK);
    assert_ne!(unsafe { sys::cuGraphNodeSetParams(free, &mut params) }, OK);
}

#[test]
fn an_update_needs_the_same_shape() {
    let context = Context::new();
    let out = context.upload(&[0u8; 16]);
    let (graph, same, longer, other) = (Graph::new(), Graph::new(), Graph::new(), Graph::new());
    graph.fill(&context, &[], out, 1, 16);
    same.fill(&context, &[], out, 2, 16);
    let node = longer.fill(&context, &[], out, 3, 16);
    longer.fill(&context, &[node], out, 4, 16);
    other.empty(&[]);
    let exec = graph.exec();
    let mut info = unsafe { std::mem::zeroed::<sys::CUgraphExecUpdateResultInfo>() };
    ok!(sys::cuGraphExecUpdate_v2(exec.0, same.0, &mut info));
    assert_eq!(info.result, sys::CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS);
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    assert_eq!(context.download::<u8>(out, 16), [2; 16]);
    let failed = sys::CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    gives!(failed, sys::cuGraphExecUpdate_v2(exec.0, longer.0, &mut info));
    assert_eq!(info.result, sys::CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    gives!(failed, sys::cuGraphExecUpdate_v2(exec.0, other.0, &mut info));
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    assert_eq!(context.download::<u8>(out, 16), [2; 16]);
    ok!(sys::cuMemFree_v2(out));
}

#[test]
fn graph_memory_is_counted() {
    use sys::CUgraphMem_attribute::*;
    let context = Context::new();
    let get = |which| {
        let mut value = 0u64;
        ok!(sys::cuDeviceGetGraphMemAttribute(0, which, (&raw mut value).cast()));
        value
    };
    let (graph, address) = producer(&context, 1);
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    assert!(get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= SIZE as u64);
    assert!(get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= SIZE as u64);
    assert!(get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= SIZE as u64);
    let mut value = 1u64;
    let mut set = |which| unsafe { sys::cuDeviceSetGraphMemAttribute(0, which, (&raw mut value).cast()) };
    assert_eq!(set(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), INVALID);
    let mut value = 0u64;
    ok!(sys::cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, (&raw mut value).cast()));
    ok!(sys::cuMemFreeAsync(address, context.stream));
    assert_eq!(context.sync(), OK);
    ok!(sys::cuDeviceGraphMemTrim(0));
}

#[test]
fn host_functions_run_in_order_and_may_not_call_the_driver() {
    struct Heard {
        calls: bool,
        codes: Vec<sys::CUresult>,
    }
    unsafe extern "C" fn hear(data: *mut std::ffi::c_void) {
        let heard = unsafe { &mut *data.cast::<Heard>() };
        // The real driver may refuse such a call, or never return from it.
        let mut address = 0;
        let code = if heard.calls { unsafe { sys::cuMemAlloc_v2(&mut address, 16) } } else { NOT_PERMITTED };
        heard.codes.push(code);
    }
    const NOT_PERMITTED: sys::CUresult = sys::CUresult::CUDA_ERROR_NOT_PERMITTED;
    let context = Context::new();
    let mut heard = Heard { calls: context.simulated, codes: Vec::new() };
    let graph = Graph::new();
    let params = sys::CUDA_HOST_NODE_PARAMS { fn_: Some(hear), userData: (&raw mut heard).cast() };
    let (mut first, mut second) = (null_mut(), null_mut());
    ok!(sys::cuGraphAddHostNode(&mut first, graph.0, null(), 0, &params));
    ok!(sys::cuGraphAddHostNode(&mut second, graph.0, &first, 1, &params));
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    assert_eq!(heard.codes, [NOT_PERMITTED; 2]);
}

#[test]
fn a_captured_stream_becomes_a_graph() {
    let context = Context::new();
    let out = context.upload(&[0u8; 32]);
    let (mut side, mut fork, mut join) = (null_mut(), null_mut(), null_mut());
    ok!(sys::cuStreamCreate(&mut side, 1));
    ok!(sys::cuEventCreate(&mut fork, 2));
    ok!(sys::cuEventCreate(&mut join, 2));
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    ok!(sys::cuStreamBeginCapture_v2(context.stream, mode));
    ok!(sys::cuMemsetD8Async(out, 1, 32, context.stream));
    ok!(sys::cuEventRecord(fork, context.stream));
    ok!(sys::cuStreamWaitEvent(side, fork, 0));
    ok!(sys::cuMemsetD8Async(out, 2, 16, side));
    ok!(sys::cuMemsetD8Async(out + 16, 3, 16, context.stream));
    ok!(sys::cuEventRecord(join, side));
    ok!(sys::cuStreamWaitEvent(context.stream, join, 0));
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    ok!(sys::cuStreamIsCapturing(side, &mut status));
    assert_eq!(status, sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    let mut graph = null_mut();
    ok!(sys::cuStreamEndCapture(context.stream, &mut graph));
    let graph = Graph(graph);
    assert_eq!(context.download::<u8>(out, 32), [0; 32]);
    let mut count = 0;
    ok!(sys::cuGraphGetNodes(graph.0, null_mut(), &mut count));
    assert_eq!(count, 3);
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    let bytes = context.download::<u8>(out, 32);
    assert_eq!((bytes[0], bytes[15], bytes[16], bytes[31]), (2, 2, 3, 3));
    ok!(sys::cuStreamDestroy_v2(side));
    ok!(sys::cuEventDestroy_v2(fork));
    ok!(sys::cuEventDestroy_v2(join));
    ok!(sys::cuMemFree_v2(out));
}

#[test]
fn a_capture_that_is_not_joined_fails() {
    let context = Context::new();
    let out = context.upload(&[0u8; 32]);
    let (mut side, mut fork) = (null_mut(), null_mut());
    ok!(sys::cuStreamCreate(&mut side, 1));
    ok!(sys::cuEventCreate(&mut fork, 2));
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    ok!(sys::cuStreamBeginCapture_v2(context.stream, mode));
    ok!(sys::cuEventRecord(fork, context.stream));
    ok!(sys::cuStreamWaitEvent(side, fork, 0));
    ok!(sys::cuMemsetD8Async(out, 2, 16, side));
    let mut graph = null_mut();
    gives!(
        sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
        sys::cuStreamEndCapture(context.stream, &mut graph)
    );
    ok!(sys::cuStreamDestroy_v2(side));
    ok!(sys::cuEventDestroy_v2(fork));
    ok!(sys::cuMemFree_v2(out));
}

#[test]
fn what_is_allocated_in_a_capture_is_the_graphs() {
    let context = Context::new();
    let out = context.alloc(64);
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let mut address = 0;
    ok!(sys::cuStreamBeginCapture_v2(context.stream, mode));
    ok!(sys::cuMemAllocAsync(&mut address, 64, context.stream));
    ok!(sys::cuMemsetD8Async(address, 4, 64, context.stream));
    ok!(sys::cuMemcpyDtoDAsync_v2(out, address, 64, context.stream));
    ok!(sys::cuMemFreeAsync(address, context.stream));
    let mut graph = null_mut();
    ok!(sys::cuStreamEndCapture(context.stream, &mut graph));
    let graph = Graph(graph);
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), exec.launch(&context), context.sync()), (OK, OK, OK));
    assert_eq!(context.download::<u8>(out, 64), [4; 64]);
    ok!(sys::cuMemFree_v2(out));
}
