//! Conditional nodes, as the real driver implements them: where there is a real driver, these tests run on it.
//!
//! The asserted error codes are documented or were seen on a device. Where a code is neither, only the refusal is
//! asserted. `SWITCH` and `else` need CUDA 12.8.

mod kernels;
mod programs;

use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};
use kernels::Setup;

const MANY: [u32; 5] = [0, 1, 2, 77, u32::MAX];

#[test]
fn if_runs_its_body_where_the_value_is_not_0() {
    let setup = Setup::new();
    let (word, value) = (setup.word(0), setup.word(0));
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let set = setup.add(&graph, &[], "set_from", &[handle, value]);
    let (node, body) = graph.run_if(&setup.context, &[set], handle);
    setup.add(&body, &[], "mix", &[word, 1]);
    setup.add(&graph, &[node], "mix", &[word, 2]);
    let exec = graph.exec();
    for condition in MANY {
        setup.context.write(value, &[condition]);
        setup.context.write(word, &[0_u32]);
        assert_eq!(exec.run(&setup.context), OK);
        assert_eq!(setup.read(word), if condition == 0 { 2 } else { 33 }, "{condition}");
    }
}

#[test]
fn else_is_a_second_body() {
    let setup = Setup::new();
    let (word, value) = (setup.word(0), setup.word(0));
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let set = setup.add(&graph, &[], "set_from", &[handle, value]);
    let kind = (CU_GRAPH_COND_TYPE_IF, 2);
    let (_, bodies) = graph.try_conditional(&setup.context, &[set], handle, kind).unwrap();
    setup.add(&bodies[0], &[], "put", &[word, 1]);
    setup.add(&bodies[1], &[], "put", &[word, 2]);
    let exec = graph.exec();
    for condition in MANY {
        setup.context.write(value, &[condition]);
        assert_eq!(exec.run(&setup.context), OK);
        assert_eq!(setup.read(word), if condition == 0 { 2 } else { 1 }, "{condition}");
    }
}

#[test]
fn switch_runs_the_body_of_the_value_and_none_out_of_range() {
    let setup = Setup::new();
    let (word, value) = (setup.word(0), setup.word(0));
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let set = setup.add(&graph, &[], "set_from", &[handle, value]);
    let (_, bodies) = graph.run_switch(&setup.context, &[set], handle, 3);
    for (at, body) in bodies.iter().enumerate() {
        setup.add(body, &[], "put", &[word, 10 + at as u64]);
    }
    let exec = graph.exec();
    for condition in [0, 1, 2, 3, 77, u32::MAX] {
        setup.context.write(value, &[condition]);
        setup.context.write(word, &[9_u32]);
        assert_eq!(exec.run(&setup.context), OK);
        assert_eq!(setup.read(word), if condition < 3 { 10 + condition } else { 9 }, "{condition}");
    }
}

#[test]
fn while_runs_its_body_until_the_value_is_0() {
    let setup = Setup::new();
    let (word, count) = (setup.word(0), setup.word(0));
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let set = setup.add(&graph, &[], "set_from", &[handle, count]);
    let (node, body) = graph.run_while(&setup.context, &[set], handle);
    let mix = setup.add(&body, &[], "mix", &[word, 3]);
    setup.add(&body, &[mix], "count_down", &[handle, count]);
    setup.add(&graph, &[node], "mix", &[word, 5]);
    let exec = graph.exec();
    for iterations in [0, 1, 10, 7] {
        setup.context.write(count, &[iterations]);
        setup.context.write(word, &[0_u32]);
        assert_eq!(exec.run(&setup.context), OK);
        let result = (0..iterations).fold(0_u32, |word, _| word.wrapping_mul(31).wrapping_add(3));
        assert_eq!(setup.read(word), result.wrapping_mul(31).wrapping_add(5), "{iterations}");
        assert_eq!(setup.read(count), 0);
    }
}

#[test]
fn the_default_is_the_value_at_the_begin_of_each_launch() {
    let setup = Setup::new();
    let word = setup.word(0);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (node, body) = graph.run_if(&setup.context, &[], handle);
    setup.add(&body, &[], "mix", &[word, 1]);
    // A launch does not inherit the value that the previous launch left.
    setup.add(&graph, &[node], "set_to", &[handle, 0]);
    let exec = graph.exec();
    for launches in 1..4 {
        assert_eq!(exec.run(&setup.context), OK);
        assert_eq!(setup.read(word), [1, 32, 993][launches - 1]);
    }
}

#[test]
fn a_loop_that_its_default_lets_begin_ends_by_its_own_setter() {
    let setup = Setup::new();
    let (word, count) = (setup.word(0), setup.word(4));
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_while(&setup.context, &[], handle);
    let mix = setup.add(&body, &[], "mix", &[word, 1]);
    setup.add(&body, &[mix], "count_down", &[handle, count]);
    assert_eq!(graph.exec().run(&setup.context), OK);
    assert_eq!(setup.read(word), ((31 + 1) * 31 + 1) * 31 + 1);
}

#[test]
fn a_handle_has_one_node() {
    let setup = Setup::new();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    graph.run_if(&setup.context, &[], handle);
    let again = graph.try_conditional(&setup.context, &[], handle, (CU_GRAPH_COND_TYPE_IF, 1));
    assert!(again.is_err());
}

#[test]
fn a_handle_is_of_the_graph_or_of_one_around_it() {
    let setup = Setup::new();
    let (graph, other) = (Graph::new(), Graph::new());
    let kind = (CU_GRAPH_COND_TYPE_IF, 1);
    let foreign = other.handle(&setup.context, Some(1));
    assert!(graph.try_conditional(&setup.context, &[], foreign, kind).is_err());
    let outer = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_if(&setup.context, &[], outer);
    let words = [&graph, &*body].map(|owner| {
        let (inner, word) = (owner.handle(&setup.context, Some(1)), setup.word(0));
        let (_, inside) = body.run_if(&setup.context, &[], inner);
        setup.add(&inside, &[], "put", &[word, 1]);
        word
    });
    assert_eq!(graph.exec().run(&setup.context), OK);
    assert_eq!(words.map(|word| setup.read(word)), [1, 1]);
}

#[test]
fn nodes_have_as_many_bodies_as_their_type_allows() {
    use CU_GRAPH_COND_TYPE_SWITCH as SWITCH;
    use {CU_GRAPH_COND_TYPE_IF as IF, CU_GRAPH_COND_TYPE_WHILE as WHILE};
    let setup = Setup::new();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    for wrong in [(IF, 0), (IF, 3), (WHILE, 0), (WHILE, 2), (SWITCH, 0)] {
        assert!(graph.try_conditional(&setup.context, &[], handle, wrong).is_err(), "{wrong:?}");
    }
    let (_, bodies) = graph.run_switch(&setup.context, &[], handle, 9);
    assert_eq!(bodies.len(), 9);
}

#[test]
fn handles_have_no_other_flags_and_a_graph() {
    let setup = Setup::new();
    let graph = Graph::new();
    let mut handle = 0;
    let context = setup.context.context;
    gives!(INVALID, sys::cuGraphConditionalHandleCreate(&mut handle, graph.0, context, 0, 2));
    gives!(INVALID, sys::cuGraphConditionalHandleCreate(&mut handle, null_mut(), context, 0, 0));
}

/// Returns an instance of a graph with a loop whose body `fill` adds.
fn with_body(setup: &Setup, fill: impl Fn(&Graph)) -> Result<Exec, sys::CUresult> {
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    fill(&body);
    let exec = graph.try_exec(0);
    // The instance keeps what it needs alive.
    drop(graph);
    exec
}

#[test]
fn memory_host_and_event_nodes_are_refused_in_bodies_at_instantiation() {
    unsafe extern "C" fn call(_: *mut std::ffi::c_void) {}
    let setup = Setup::new();
    let mut event = null_mut();
    ok!(sys::cuEventCreate(&mut event, 0));
    let alloc = with_body(&setup, |body| {
        let (node, address) = body.alloc(&[], 4096);
        body.free(&[node], address);
    });
    assert_eq!(alloc.err(), Some(INVALID));
    let host = with_body(&setup, |body| {
        let params = sys::CUDA_HOST_NODE_PARAMS_st { fn_: Some(call), userData: null_mut() };
        ok!(sys::cuGraphAddHostNode(&mut null_mut(), body.0, null(), 0, &params));
    });
    assert_eq!(host.err(), Some(INVALID));
    let record = with_body(&setup, |body| {
        ok!(sys::cuGraphAddEventRecordNode(&mut null_mut(), body.0, null(), 0, event));
    });
    assert_eq!(record.err(), Some(INVALID));
    let wait = with_body(&setup, |body| {
        ok!(sys::cuGraphAddEventWaitNode(&mut null_mut(), body.0, null(), 0, event));
    });
    assert!(wait.is_err());
    // The same in a child graph of a body, and in a body of a body.
    let child = Graph::new();
    ok!(sys::cuGraphAddEventRecordNode(&mut null_mut(), child.0, null(), 0, event));
    let deep = with_body(&setup, |body| {
        ok!(sys::cuGraphAddChildGraphNode(&mut null_mut(), body.0, null(), 0, child.0));
    });
    assert!(deep.is_err());
    let deeper = with_body(&setup, |body| {
        let handle = body.handle(&setup.context, Some(0));
        let (_, inner) = body.run_while(&setup.context, &[], handle);
        inner.alloc(&[], 4096);
    });
    assert_eq!(deeper.err(), Some(INVALID));
}

#[test]
fn kernels_fills_copies_empty_nodes_and_child_graphs_run_in_bodies() {
    let setup = Setup::new();
    let memory = setup.context.upload(&[0_u32; 64]);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    let fill = body.fill_words(&setup.context, &[], memory, 7, 16);
    let copy = body.copy(&setup.context, &[fill], memory + 64, memory, 32);
    let empty = body.empty(&[copy]);
    let child = Graph::new();
    setup.add(&child, &[], "mix", &[memory + 64, 1]);
    let mut node = null_mut();
    ok!(sys::cuGraphAddChildGraphNode(&mut node, body.0, &empty, 1, child.0));
    setup.add(&body, &[node], "mix", &[memory + 64, 2]);
    assert_eq!(graph.exec().run(&setup.context), OK);
    let result: Vec<u32> = setup.context.download(memory, 32);
    assert_eq!(result[..16], [7; 16]);
    assert_eq!(
        (result[16], &result[17..24], &result[24..]),
        ((7 * 31 + 1) * 31 + 2, &[7; 7][..], &[0; 8][..])
    );
}

#[test]
fn bodies_use_memory_of_an_alloc_node_around_them() {
    let setup = Setup::new();
    let (word, count) = (setup.word(0), setup.word(5));
    let graph = Graph::new();
    let (alloc, memory) = graph.alloc(&[], 4096);
    let put = setup.add(&graph, &[alloc], "put", &[memory, 0]);
    let handle = graph.handle(&setup.context, Some(1));
    let (node, body) = graph.run_while(&setup.context, &[put], handle);
    let mix = setup.add(&body, &[], "mix", &[memory, 1]);
    setup.add(&body, &[mix], "count_down", &[handle, count]);
    let last = graph.copy(&setup.context, &[node], word, memory, 4);
    graph.free(&[last], memory);
    let exec = graph.exec();
    for iterations in [5_u32, 2] {
        setup.context.write(count, &[iterations]);
        assert_eq!(exec.run(&setup.context), OK);
        let result = (0..iterations).fold(0_u32, |word, _| word.wrapping_mul(31).wrapping_add(1));
        assert_eq!(setup.read(word), result);
    }
}

#[test]
fn a_body_without_nodes_does_nothing() {
    let setup = Setup::new();
    let word = setup.word(0);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (node, _) = graph.run_if(&setup.context, &[], handle);
    setup.add(&graph, &[node], "put", &[word, 1]);
    assert_eq!(graph.exec().run(&setup.context), OK);
    assert_eq!(setup.read(word), 1);
}

#[test]
fn a_graph_with_conditional_nodes_is_neither_cloned_nor_a_child() {
    let setup = Setup::new();
    let (graph, parent) = (Graph::new(), Graph::new());
    let handle = graph.handle(&setup.context, Some(0));
    graph.run_if(&setup.context, &[], handle);
    let (mut clone, mut node) = (null_mut(), null_mut());
    assert_ne!(unsafe { sys::cuGraphClone(&mut clone, graph.0) }, OK);
    assert_ne!(unsafe { sys::cuGraphAddChildGraphNode(&mut node, parent.0, null(), 0, graph.0) }, OK);
}

#[test]
fn a_graph_with_conditional_nodes_has_one_instance_at_a_time() {
    let setup = Setup::new();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    graph.run_if(&setup.context, &[], handle);
    let first = graph.exec();
    assert!(graph.try_exec(0).is_err());
    drop(first);
    graph.exec();
}

#[test]
fn nodes_in_bodies_are_updated_at_every_depth() {
    let setup = Setup::new();
    let words = [setup.word(0), setup.word(0), setup.word(0), setup.context.upload(&[0_u32; 16])];
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    let one = setup.add(&body, &[], "put", &[words[0], 1]);
    let fill = body.fill_words(&setup.context, &[], words[3], 1, 16);
    let inner = graph.handle(&setup.context, Some(1));
    let (_, inside) = body.run_if(&setup.context, &[], inner);
    let two = setup.add(&inside, &[], "put", &[words[1], 1]);
    let innermost = graph.handle(&setup.context, Some(1));
    let (_, deep) = inside.run_if(&setup.context, &[], innermost);
    let three = setup.add(&deep, &[], "put", &[words[2], 1]);
    let exec = graph.exec();
    assert_eq!(exec.run(&setup.context), OK);
    assert_eq!(words.map(|word| setup.read(word)), [1; 4]);
    for (at, node) in [one, two, three].into_iter().enumerate() {
        assert_eq!(setup.update(&exec, node, "put", &[words[at], 10 + at as u64]), OK);
    }
    let params = sys::CUDA_MEMSET_NODE_PARAMS { value: 5, elementSize: 4, ..fill_params(words[3], 0, 8) };
    ok!(sys::cuGraphExecMemsetNodeSetParams(exec.0, fill, &params, setup.context.context));
    setup.context.write(words[3], &[0_u32; 16]);
    assert_eq!(exec.run(&setup.context), OK);
    assert_eq!(words[..3].iter().map(|&word| setup.read(word)).collect::<Vec<_>>(), [10, 11, 12]);
    assert_eq!(setup.context.download::<u32>(words[3], 16), [[5_u32; 8], [0; 8]].concat());
}

#[test]
fn a_copy_in_a_body_stays_in_memory_of_its_kind() {
    let setup = Setup::new();
    let (word, other) = (setup.word(3), setup.word(0));
    let graph = Graph::new();
    let (alloc, memory) = graph.alloc(&[], 4096);
    let put = setup.add(&graph, &[alloc], "put", &[memory, 7]);
    let handle = graph.handle(&setup.context, Some(1));
    let (node, body) = graph.run_if(&setup.context, &[put], handle);
    let copy = body.copy(&setup.context, &[], other, memory, 4);
    graph.free(&[node], memory);
    let exec = graph.exec();
    let params = copy_params(other, word, 4);
    gives!(INVALID, sys::cuGraphExecMemcpyNodeSetParams(exec.0, copy, &params, setup.context.context));
    assert_eq!(exec.run(&setup.context), OK);
    assert_eq!(setup.read(other), 7);
}

#[test]
fn kernels_in_bodies_are_disabled_and_conditional_nodes_are_not() {
    let setup = Setup::new();
    let word = setup.word(0);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (node, body) = graph.run_if(&setup.context, &[], handle);
    let put = setup.add(&body, &[], "put", &[word, 1]);
    let exec = graph.exec();
    ok!(sys::cuGraphNodeSetEnabled(exec.0, put, 0));
    assert_ne!(unsafe { sys::cuGraphNodeSetEnabled(exec.0, node, 0) }, OK);
    assert_eq!(exec.run(&setup.context), OK);
    assert_eq!(setup.read(word), 0);
}

/// Returns a graph that writes one of two numbers, depending on the default of its condition.
fn picks(setup: &Setup, default: u32, word: u64, value: u64) -> Graph {
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(default));
    let (_, bodies) = graph.run_switch(&setup.context, &[], handle, 2);
    for (at, body) in (0..).zip(&bodies) {
        setup.add(body, &[], "put", &[word, value + at]);
    }
    graph
}

#[test]
fn an_update_of_all_nodes_reaches_bodies_and_defaults() {
    let setup = Setup::new();
    let word = setup.word(0);
    let (first, second) = (picks(&setup, 0, word, 10), picks(&setup, 1, word, 20));
    let exec = first.exec();
    assert_eq!((exec.run(&setup.context), setup.read(word)), (OK, 10));
    let mut info = unsafe { std::mem::zeroed() };
    ok!(sys::cuGraphExecUpdate_v2(exec.0, second.0, &mut info));
    assert_eq!((exec.run(&setup.context), setup.read(word)), (OK, 21));
    // A body with other nodes is another topology; other values in it are other parameters.
    let third = Graph::new();
    let handle = third.handle(&setup.context, Some(0));
    third.run_switch(&setup.context, &[], handle, 3);
    gives!(
        sys::CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
        sys::cuGraphExecUpdate_v2(exec.0, third.0, &mut info)
    );
    assert_eq!((exec.run(&setup.context), setup.read(word)), (OK, 21));
}

#[test]
fn bodies_are_filled_by_captures() {
    let setup = Setup::new();
    let memory = setup.context.upload(&[0_u32; 8]);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    let put = setup.add(&body, &[], "put", &[memory, 3]);
    let (stream, mode) =
        (setup.context.stream, sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ok!(sys::cuStreamBeginCaptureToGraph(stream, body.0, &put, null(), 1, mode));
    ok!(sys::cuMemcpyDtoDAsync_v2(memory + 4, memory, 4, stream));
    ok!(sys::cuMemsetD32Async(memory + 8, 5, 2, stream));
    let mut captured = null_mut();
    ok!(sys::cuStreamEndCapture(stream, &mut captured));
    assert_eq!(captured, body.0);
    assert_eq!(graph.exec().run(&setup.context), OK);
    assert_eq!(setup.context.download::<u32>(memory, 5), [3, 3, 5, 5, 0]);
}

#[test]
fn a_capture_goes_on_behind_a_conditional_node() {
    let setup = Setup::new();
    let (word, copy) = (setup.word(0), setup.word(0));
    let graph = Graph::new();
    let (stream, mode) =
        (setup.context.stream, sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ok!(sys::cuStreamBeginCaptureToGraph(stream, graph.0, null(), null(), 0, mode));
    ok!(sys::cuMemsetD32Async(word, 5, 1, stream));
    let mut nodes = [null_mut(); 1];
    let mut count = 1;
    ok!(sys::cuGraphGetNodes(graph.0, nodes.as_mut_ptr(), &mut count));
    let handle = graph.handle(&setup.context, Some(1));
    let (mut node, body) = graph.run_if(&setup.context, &nodes, handle);
    setup.add(&body, &[], "mix", &[word, 1]);
    ok!(sys::cuStreamUpdateCaptureDependencies_v2(stream, &mut node, null(), 1, 1));
    ok!(sys::cuMemcpyDtoDAsync_v2(copy, word, 4, stream));
    ok!(sys::cuStreamEndCapture(stream, &mut null_mut()));
    assert_eq!(graph.exec().run(&setup.context), OK);
    assert_eq!(setup.read(copy), 5 * 31 + 1);
}

#[test]
fn loops_in_loops_run_anew_in_each_turn() {
    let setup = Setup::new();
    let (word, outer_count, inner_count) = (setup.word(0), setup.word(3), setup.word(0));
    let graph = Graph::new();
    let (outer, inner) = (graph.handle(&setup.context, Some(1)), graph.handle(&setup.context, None));
    let (_, body) = graph.run_while(&setup.context, &[], outer);
    let start = setup.add(&body, &[], "put", &[inner_count, 2]);
    let set = setup.add(&body, &[start], "set_from", &[inner, inner_count]);
    let (node, inside) = body.run_while(&setup.context, &[set], inner);
    let mix = setup.add(&inside, &[], "mix", &[word, 1]);
    setup.add(&inside, &[mix], "count_down", &[inner, inner_count]);
    let mix = setup.add(&body, &[node], "mix", &[word, 2]);
    setup.add(&body, &[mix], "count_down", &[outer, outer_count]);
    assert_eq!(graph.exec().run(&setup.context), OK);
    let turn = [1, 1, 2].repeat(3);
    let result = turn.into_iter().fold(0_u32, |word, value| word.wrapping_mul(31).wrapping_add(value));
    assert_eq!(setup.read(word), result);
}

#[test]
fn two_loops_run_side_by_side() {
    let setup = Setup::new();
    let graph = Graph::new();
    let words = [4_u32, 9].map(|iterations| {
        let (word, count) = (setup.word(0), setup.word(iterations));
        let handle = graph.handle(&setup.context, Some(1));
        let (_, body) = graph.run_while(&setup.context, &[], handle);
        let mix = setup.add(&body, &[], "mix", &[word, 1]);
        setup.add(&body, &[mix], "count_down", &[handle, count]);
        (word, iterations)
    });
    assert_eq!(graph.exec().run(&setup.context), OK);
    for (word, iterations) in words {
        let result = (0..iterations).fold(0_u32, |word, _| word.wrapping_mul(31).wrapping_add(1));
        assert_eq!(setup.read(word), result);
    }
}

#[test]
fn one_kernel_may_set_several_conditions_and_a_later_one_again() {
    let setup = Setup::new();
    let words = [setup.word(0), setup.word(0)];
    let graph = Graph::new();
    let handles = [graph.handle(&setup.context, None), graph.handle(&setup.context, None)];
    let first = setup.add(&graph, &[], "set_to", &[handles[0], 0]);
    let second = setup.add(&graph, &[first], "set_to", &[handles[1], 1]);
    let third = setup.add(&graph, &[second], "set_to", &[handles[0], 1]);
    for (handle, word) in handles.into_iter().zip(words) {
        let (_, body) = graph.run_if(&setup.context, &[third], handle);
        setup.add(&body, &[], "put", &[word, 1]);
    }
    assert_eq!(graph.exec().run(&setup.context), OK);
    assert_eq!(words.map(|word| setup.read(word)), [1, 1]);
}

#[test]
fn conditional_nodes_have_a_type() {
    let setup = Setup::new();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    let (node, _) = graph.run_while(&setup.context, &[], handle);
    let mut kind = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
    ok!(sys::cuGraphNodeGetType(node, &mut kind));
    assert_eq!(kind, sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL);
}

#[test]
fn an_instance_outlives_its_graph() {
    let setup = Setup::new();
    let word = setup.word(0);
    let exec = with_body(&setup, |body| {
        setup.add(body, &[], "put", &[word, 1]);
    });
    assert_eq!((exec.unwrap().run(&setup.context), setup.read(word)), (OK, 0));
}

#[test]
fn graphs_with_conditional_nodes_are_not_launched_by_devices() {
    let setup = Setup::new();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    setup.add(&body, &[], "nothing", &[]);
    let flag = sys::CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    assert!(graph.try_exec(flag.0.into()).is_err());
    graph.exec();
}
