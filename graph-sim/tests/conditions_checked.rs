//! Conditional nodes: the checks that only the simulated driver makes, and its behaviour by simulated version.

#[path = "conditions/kernels.rs"]
mod kernels;

use std::ptr::null;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys;
use cuweave_sim::Report;
use cuweave_testkit::process::apart;
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};
use kernels::Setup;

const FAILED: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_FAILED;
const TIMEOUT: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT;
const ILLEGAL: sys::CUresult = sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;

/// Returns a context of the simulated driver, and holds its seed at 0 while the test runs. `None` on a real
/// driver.
fn simulated() -> Option<(Setup, SimulatorCalls, MutexGuard<'static, ()>)> {
    static ALONE: Mutex<()> = Mutex::new(());
    let setup = Setup::new();
    if !setup.context.simulated {
        return None;
    }
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    cuweave_sim::set_seed(0).unwrap();
    Some((setup, SimulatorCalls::new(), alone))
}

/// A loop with a fixed number of iterations: a setter at the end of the body counts a word down.
struct Loop {
    node: Node,
    body: Body,
    handle: u64,
    count: u64,
}

impl Loop {
    fn new(setup: &Setup, graph: &Graph, after: &[Node], iterations: u32) -> Self {
        let (handle, count) =
            (graph.handle(&setup.context, Some(u32::from(iterations > 0))), setup.word(iterations));
        let (node, body) = graph.run_while(&setup.context, after, handle);
        Loop { node, body, handle, count }
    }

    /// Adds the setter after all nodes of the body.
    fn close(&self, setup: &Setup, after: &[Node]) -> Node {
        setup.add(&self.body, after, "count_down", &[self.handle, self.count])
    }
}

/// Returns the only report about a name.
fn only(name: &str) -> Report {
    let mut reports = reports_of(name);
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports.remove(0)
}

/// Runs an instance under several schedules. Each must end with this code.
fn under_schedules(setup: &Setup, exec: &Exec, code: sys::CUresult) {
    for seed in [0, 1, 2, 3] {
        cuweave_sim::set_seed(seed).unwrap();
        assert_eq!(exec.run(&setup.context), code);
    }
}

#[test]
fn nodes_of_a_body_race_with_nodes_outside() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let outside = setup.add(&graph, &[], "put", &[word, 1]);
    let other = Loop::new(&setup, &graph, &[], 3);
    let inside = setup.add(&other.body, &[], "move", &[setup.word(0), word]);
    other.close(&setup, &[inside]);
    notes.node(outside, "race_outside", 3);
    notes.node(inside, "race_inside", 4);
    notes.node(other.node, "race_loop", 5);
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    let report = only("race_inside");
    assert_eq!(report.kind, "race");
    let missing = "an edge from node `race_outside` (src/plan.rs:3) to node `race_loop` (src/plan.rs:5), \
                   or back, is missing";
    assert!(report.text.contains(missing), "{}", report.text);
}

#[test]
fn nodes_outside_race_with_earlier_turns() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let other = Loop::new(&setup, &graph, &[], 3);
    // Only the choice of the first iteration touches the word.
    let handle = graph.handle(&setup.context, None);
    let set = setup.add(&other.body, &[], "set_modulo", &[handle, setup.word(16), 2]);
    let (choice, arm) = other.body.run_if(&setup.context, &[set], handle);
    let inside = setup.add(&arm, &[], "put", &[word, 1]);
    other.close(&setup, &[choice]);
    let outside = setup.add(&graph, &[], "put", &[word, 2]);
    notes.node(inside, "turn_inside", 3);
    notes.node(outside, "turn_outside", 4);
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    let report = only("turn_outside");
    assert_eq!(report.kind, "race");
    assert!(
        report.text.contains("`turn_inside` (src/plan.rs:3), in an earlier iteration, writes"),
        "{}",
        report.text
    );
    let missing = "an edge from node #0 (while) to node `turn_outside` (src/plan.rs:4), or back, is missing";
    assert!(report.text.contains(missing), "{}", report.text);
}

#[test]
fn nodes_of_a_body_race_with_each_other() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    for (name, value) in [("pair_one", 1), ("pair_two", 2)] {
        let node = setup.add(&body, &[], "put", &[word, value]);
        notes.node(node, name, 1);
    }
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    assert_eq!(only("pair_one").kind, "race");
}

#[test]
fn turns_are_ordered_one_after_the_other() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let (one, two) = (setup.word(1), setup.word(2));
    let graph = Graph::new();
    let before = setup.add(&graph, &[], "put", &[one, 1]);
    let outer = Loop::new(&setup, &graph, &[before], 3);
    // Each iteration reads what the previous one wrote: in a node that precedes its writer, and in an inner loop.
    let read = setup.add(&outer.body, &[], "move", &[two, one]);
    let inner_count = setup.word(0);
    let refill = setup.add(&outer.body, &[read], "put", &[inner_count, 2]);
    let handle = outer.body.handle(&setup.context, None);
    let set = setup.add(&outer.body, &[refill], "set_from", &[handle, inner_count]);
    let (inner, body) = outer.body.run_while(&setup.context, &[set], handle);
    let mix = setup.add(&body, &[], "mix", &[one, 3]);
    setup.add(&body, &[mix], "count_down", &[handle, inner_count]);
    outer.close(&setup, &[inner]);
    setup.add(&graph, &[outer.node], "mix", &[one, 4]);
    let exec = graph.exec();
    for seed in 0..4 {
        cuweave_sim::set_seed(seed).unwrap();
        setup.context.write(outer.count, &[3_u32]);
        assert_eq!(exec.run(&setup.context), OK);
    }
}

#[test]
fn programmatic_edges_in_bodies_hold_turn_by_turn() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let ptx = |wait: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry next(.param .u64 to, .param .u64 from) {{
                .reg .b32 %r; .reg .b64 %a, %b;
                {wait}
                ld.param.u64 %a, [to]; ld.param.u64 %b, [from];
                ld.global.u32 %r, [%b]; add.u32 %r, %r, 1; st.global.u32 [%a], %r; ret; }}"
        )
    };
    for (wait, code) in [("griddepcontrol.wait;", OK), ("", FAILED)] {
        let setup = if code == OK { &setup } else { &Setup::new() };
        let function = setup.context.function(setup.context.module(&ptx(wait)), "next");
        let words = [setup.word(0), setup.word(0)];
        let graph = Graph::new();
        let other = Loop::new(setup, &graph, &[], 3);
        let first = other.body.kernel(&[], function, 1, 1, &[words[1], words[0]]);
        let second = other.body.kernel(&[], function, 1, 1, &[words[0], words[1]]);
        let data = sys::CUgraphEdgeData { from_port: 1, to_port: 0, type_: 1, reserved: [0; 5] };
        ok!(sys::cuGraphAddDependencies_v2(other.body.0, &first, &second, &data, 1));
        other.close(setup, &[second]);
        let exec = graph.exec();
        for seed in 0..4 {
            cuweave_sim::set_seed(seed).unwrap();
            setup.context.write(other.count, &[3_u32]);
            setup.context.write(words[0], &[0_u32]);
            assert_eq!(exec.run(&setup.context), code);
            if code != OK {
                break;
            }
            assert_eq!(setup.read(words[0]), 6);
        }
    }
}

#[test]
fn memory_that_a_body_uses_lives_over_its_node() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    // First the free is unordered with the loop, then it comes first.
    for (ordered, kind, name) in
        [(false, "lifetime", "life_beside"), (true, "illegal-address", "life_behind")]
    {
        let setup = if ordered { &setup } else { &Setup::new() };
        let graph = Graph::new();
        let (alloc, memory) = graph.alloc(&[], 4096);
        let (free, other) = match ordered {
            false => {
                let other = Loop::new(setup, &graph, &[alloc], 2);
                (graph.free(&[alloc], memory), other)
            }
            true => {
                let free = graph.free(&[alloc], memory);
                (free, Loop::new(setup, &graph, &[free], 2))
            }
        };
        let put = setup.add(&other.body, &[], "put", &[memory, 1]);
        other.close(setup, &[put]);
        notes.node(put, name, 1);
        notes.node(free, "life_free", 2);
        cuweave_sim::set_seed(0).unwrap();
        assert_ne!(graph.exec().run(&setup.context), OK);
        assert_eq!(only(name).kind, kind);
    }
}

#[test]
fn a_setter_that_is_not_ordered_with_its_node_races() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    let set = setup.add(&graph, &[], "set_to", &[handle, 1]);
    let (node, _) = graph.run_if(&setup.context, &[], handle);
    notes.node(set, "beside_setter", 1);
    notes.node(node, "beside_if", 2);
    under_schedules(&setup, &graph.exec(), FAILED);
    let report = reports_of("beside_setter").remove(0);
    assert_eq!(report.kind, "race");
    assert!(report.text.contains("of the condition of node `beside_if` (src/plan.rs:2)"), "{}", report.text);
}

#[test]
fn setters_of_one_condition_race() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let setters = [1, 0].map(|value| setup.add(&graph, &[], "set_to", &[handle, value]));
    graph.run_if(&setup.context, &setters, handle);
    notes.node(setters[0], "setter_one", 1);
    notes.node(setters[1], "setter_two", 2);
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    assert_eq!(only("setter_two").kind, "race");
}

#[test]
fn threads_that_set_other_values_conflict() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let set = graph.kernel(&[], setup.function("set_thread"), 1, 64, &[handle]);
    graph.run_if(&setup.context, &[set], handle);
    notes.node(set, "many_setters", 1);
    assert_eq!(graph.exec().run(&setup.context), OK);
    let report = only("many_setters");
    assert_eq!((report.kind.as_str(), report.error), ("conflict", 0));
    assert!(report.text.contains("two threads set one condition to different values"), "{}", report.text);
}

#[test]
fn a_condition_that_nothing_set_is_an_uninitialised_read() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let (node, _) = graph.run_if(&setup.context, &[], handle);
    setup.add(&graph, &[node], "put", &[word, 1]);
    notes.node(node, "unset_if", 1);
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    let report = only("unset_if");
    assert_eq!(report.kind, "uninitialised-read");
    assert!(report.text.contains("its handle has no default value"), "{}", report.text);
}

#[test]
#[ignore = "runs in a process of its own"]
fn keeps_values() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, None);
    let (node, body) = graph.run_if(&setup.context, &[], handle);
    setup.add(&body, &[], "mix", &[word, 1]);
    setup.add(&graph, &[node], "set_to", &[handle, 1]);
    let exec = graph.exec();
    for result in [0, 1, 32] {
        assert_eq!((exec.run(&setup.context), setup.read(word)), (OK, result));
    }
}

#[test]
fn values_persist_where_reads_of_nothing_are_allowed() {
    apart("keeps_values", &[("CUWEAVE_SIM_INITIALISED", "0"), ("CUWEAVE_DRIVER", "sim")]);
}

#[test]
#[ignore = "runs in a process of its own"]
fn never_ends() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let outer = Loop::new(&setup, &graph, &[], 1000);
    let inner = graph.handle(&setup.context, Some(1));
    let (node, body) = outer.body.run_while(&setup.context, &[], inner);
    setup.add(&body, &[], "mix", &[word, 1]);
    outer.close(&setup, &[node]);
    notes.node(node, "endless", 7);
    assert_eq!(graph.exec().run(&setup.context), TIMEOUT);
    let report = only("endless");
    assert_eq!(report.kind, "iteration-limit");
    assert_eq!(
        report.text,
        "node `endless` (src/plan.rs:7) begins an iteration after 50 iterations of the launch's loops, and its \
         condition is still not 0; help: `CUWEAVE_SIM_ITERATIONS` sets the limit"
    );
}

#[test]
fn a_loop_without_end_is_an_error() {
    apart("never_ends", &[("CUWEAVE_SIM_ITERATIONS", "50"), ("CUWEAVE_DRIVER", "sim")]);
}

#[test]
fn conditions_are_set_in_their_graph() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let (graph, other) = (Graph::new(), Graph::new());
    let handle = other.handle(&setup.context, Some(0));
    other.run_if(&setup.context, &[], handle);
    let set = setup.add(&graph, &[], "set_to", &[handle, 1]);
    notes.node(set, "foreign_setter", 1);
    assert_eq!(graph.exec().run(&setup.context), ILLEGAL);
    let report = only("foreign_setter");
    assert!(report.text.contains("which is not a condition of this graph"), "{}", report.text);
}

#[test]
fn conditions_are_not_set_in_streams() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    graph.run_if(&setup.context, &[], handle);
    let args = [handle, 1_u64];
    let mut pointers = args.each_ref().map(|arg| std::ptr::from_ref(arg).cast_mut().cast());
    let (function, stream) = (setup.function("set_to"), setup.context.stream);
    ok!(sys::cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        stream,
        pointers.as_mut_ptr(),
        std::ptr::null_mut()
    ));
    assert_eq!(setup.context.sync(), ILLEGAL);
}

#[test]
fn kernels_of_bodies_are_of_the_nodes_context() {
    let Some((first, _, _alone)) = simulated() else { return };
    let second = Setup::new();
    let graph = Graph::new();
    let handle = graph.handle(&second.context, Some(0));
    let (_, body) = graph.run_if(&second.context, &[], handle);
    first.add(&body, &[], "nothing", &[]);
    assert_eq!(graph.try_exec(0).err(), Some(INVALID));
    // The node has the context of its handle.
    let handle = graph.handle(&second.context, Some(0));
    let kind = (CU_GRAPH_COND_TYPE_IF, 1);
    assert_eq!(graph.try_conditional(&first.context, &[], handle, kind).err(), Some(INVALID));
}

#[test]
fn copies_of_bodies_do_not_touch_pageable_memory() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let data = [1_u32; 4];
    let mut pinned = std::ptr::null_mut();
    ok!(sys::cuMemHostAlloc(&mut pinned, 16, 0));
    for (host, allowed) in [(data.as_ptr().cast(), false), (pinned.cast_const(), true)] {
        let graph = Graph::new();
        let handle = graph.handle(&setup.context, Some(0));
        let (_, body) = graph.run_if(&setup.context, &[], handle);
        let mut params = copy_params(setup.word(0), 0, 4);
        (params.srcMemoryType, params.srcHost) = (sys::CUmemorytype::CU_MEMORYTYPE_HOST, host);
        let mut node = std::ptr::null_mut();
        ok!(sys::cuGraphAddMemcpyNode(&mut node, body.0, null(), 0, &params, setup.context.context));
        assert_eq!(graph.try_exec(0).err(), (!allowed).then_some(INVALID));
    }
}

#[test]
fn a_handle_without_a_node_is_refused() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let (first, second) = (graph.handle(&setup.context, Some(0)), graph.handle(&setup.context, Some(0)));
    let (node, _) = graph.run_if(&setup.context, &[], first);
    // SAFETY: zero is a valid value for this struct of numbers and pointers.
    let mut params: sys::CUDA_GRAPH_INSTANTIATE_PARAMS = unsafe { std::mem::zeroed() };
    let mut exec = std::ptr::null_mut();
    gives!(INVALID, sys::cuGraphInstantiateWithParams(&mut exec, graph.0, &mut params));
    let unused = sys::CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    assert_eq!(params.result_out, unused);
    let kind = (CU_GRAPH_COND_TYPE_IF, 1);
    assert_eq!(graph.try_conditional(&setup.context, &[], 0, kind).err(), Some(INVALID));
    // Destroying a node leaves its handle without a node.
    ok!(sys::cuGraphDestroyNode(node));
    for handle in [first, second] {
        graph.run_if(&setup.context, &[], handle);
    }
    graph.exec();
}

#[test]
fn bodies_belong_to_their_node() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(0));
    let (node, body) = graph.run_if(&setup.context, &[], handle);
    gives!(INVALID, sys::cuGraphDestroy(body.0));
    let many = (CU_GRAPH_COND_TYPE_SWITCH, u32::MAX);
    let handle = graph.handle(&setup.context, Some(0));
    assert_eq!(graph.try_conditional(&setup.context, &[], handle, many).err(), Some(NO_MEMORY));
    assert_eq!(body.try_exec(0).err(), Some(INVALID));
    let live = || cuweave_sim::live_objects().unwrap().graphs;
    let before = live();
    let handle = graph.handle(&setup.context, Some(0));
    let (_, bodies) = graph.run_switch(&setup.context, &[node], handle, 4);
    let inner = bodies[0].handle(&setup.context, Some(0));
    bodies[0].run_if(&setup.context, &[], inner);
    assert!(live() >= before + 5);
    // A child graph can get no conditional nodes.
    let child = Graph::new();
    let mut node = std::ptr::null_mut();
    ok!(sys::cuGraphAddChildGraphNode(&mut node, bodies[1].0, null(), 0, child.0));
    let mut inside = std::ptr::null_mut();
    ok!(sys::cuGraphChildGraphNodeGetGraph(node, &mut inside));
    let inside = std::mem::ManuallyDrop::new(Graph(inside));
    let handle = graph.handle(&setup.context, Some(0));
    let kind = (CU_GRAPH_COND_TYPE_IF, 1);
    assert_eq!(inside.try_conditional(&setup.context, &[], handle, kind).err(), Some(UNSUPPORTED));
}

/// Adds an arena that the graph allocates.
fn arena(graph: &Graph) -> (Node, u64) {
    graph.alloc(&[], 4096)
}

#[test]
fn buffers_of_arms_share_bytes_and_those_that_live_across_do_not() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    for (across, code) in [(false, OK), (true, FAILED)] {
        let graph = Graph::new();
        let (alloc, memory) = arena(&graph);
        let handle = graph.handle(&setup.context, Some(1));
        let first = setup.add(&graph, &[alloc], "put", &[memory + 512, 1]);
        let (node, bodies) = graph.run_switch(&setup.context, &[first], handle, 2);
        let mut users = Vec::new();
        for (at, body) in (0..).zip(&bodies) {
            let put = setup.add(body, &[], "put", &[memory, at]);
            let mix = setup.add(body, &[put], "mix", &[memory, 1]);
            users.push([put, mix]);
        }
        // The bytes of a buffer that lives across the conditional node.
        let outer = if across { memory } else { memory + 512 };
        let last = setup.add(&graph, &[node], "mix", &[memory + 512, 1]);
        graph.free(&[last], memory);
        for (name, users) in ["arms_first", "arms_second"].iter().zip(&users) {
            notes.buffer(&graph, name, memory, 256, users);
        }
        notes.buffer(&graph, "arms_across", outer, 256, &[first, last]);
        if across {
            notes.buffer(&graph, "arms_real", memory + 512, 256, &[first, last]);
        }
        assert_eq!(graph.exec().run(&setup.context), code);
    }
    let reports = reports_of("arms_across");
    assert!(reports.iter().all(|report| report.kind == "overlap") && reports.len() == 2, "{reports:?}");
}

#[test]
fn buffers_of_a_loop_live_over_it_and_those_of_its_body_in_a_turn() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    // Two buffers that the body uses one after the other may share bytes if they are described to the body, but
    // not if they are described to the graph.
    for (of_body, code) in [(true, OK), (false, FAILED)] {
        let graph = Graph::new();
        let (alloc, memory) = arena(&graph);
        let other = Loop::new(&setup, &graph, &[alloc], 3);
        let one = setup.add(&other.body, &[], "put", &[memory, 1]);
        let two = setup.add(&other.body, &[one], "put", &[memory, 2]);
        other.close(&setup, &[two]);
        graph.free(&[other.node], memory);
        let owner = if of_body { &other.body } else { &graph };
        notes.buffer(owner, &format!("loop_one_{of_body}"), memory, 256, &[one]);
        notes.buffer(owner, &format!("loop_two_{of_body}"), memory, 256, &[two]);
        assert_eq!(graph.exec().run(&setup.context), code);
    }
    assert_eq!(only("loop_one_false").kind, "overlap");
}

#[test]
fn a_buffer_of_a_body_is_unwritten_at_the_begin_of_each_turn() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let (alloc, memory) = arena(&graph);
    let other = Loop::new(&setup, &graph, &[alloc], 3);
    // The first iteration writes the bytes that all iterations read.
    let handle = graph.handle(&setup.context, None);
    let set = setup.add(&other.body, &[], "set_modulo", &[handle, other.count, 2]);
    let first = setup.word(16);
    let set_again = setup.add(&other.body, &[set], "set_modulo", &[handle, first, 2]);
    let (choice, arm) = other.body.run_if(&setup.context, &[set_again], handle);
    let put = setup.add(&arm, &[], "put", &[memory, 1]);
    let over = setup.add(&other.body, &[choice], "put", &[first, 0]);
    let read = setup.add(&other.body, &[over], "move", &[setup.word(0), memory]);
    other.close(&setup, &[read]);
    graph.free(&[other.node], memory);
    notes.node(read, "turn_reader", 1);
    notes.buffer(&other.body, "turn_buffer", memory, 4, &[put, read]);
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    assert_eq!(only("turn_reader").kind, "uninitialised-read");
}

#[test]
fn the_graph_of_a_launch_is_told_where_nodes_without_names_are() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, bodies) = graph.run_switch(&setup.context, &[], handle, 2);
    let inner = graph.handle(&setup.context, Some(1));
    let (_, body) = bodies[1].run_while(&setup.context, &[], inner);
    setup.add(&body, &[], "put", &[64, 1]);
    assert_eq!(graph.exec().run(&setup.context), ILLEGAL);
    let place = "#0 (kernel `put`) in the body of #0 (while) in body 1 of #0 (switch)";
    assert_eq!(only(place).kind, "illegal-address");
}

#[test]
fn deep_nesting_runs() {
    let Some((setup, _, _alone)) = simulated() else { return };
    let word = setup.word(0);
    let graph = Graph::new();
    let mut bodies: Vec<Body> = Vec::new();
    for _ in 0..200 {
        let inside: &Graph = bodies.last().map_or(&graph, |body| body);
        let handle = graph.handle(&setup.context, Some(1));
        let (_, body) = inside.run_if(&setup.context, &[], handle);
        bodies.push(body);
    }
    setup.add(&bodies[199], &[], "put", &[word, 1]);
    let exec = graph.exec();
    for parallel in [false, true] {
        cuweave_sim::set_parallel(parallel).unwrap();
        assert_eq!((exec.run(&setup.context), setup.read(word)), (OK, 1));
    }
    cuweave_sim::set_parallel(false).unwrap();
}

#[test]
fn buffers_of_bodies_move_in_the_order_in_which_they_were_told_of() {
    let Some((setup, notes, _alone)) = simulated() else { return };
    let (first, second) = (setup.context.upload(&[0_u32; 64]), setup.context.upload(&[0_u32; 64]));
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let (_, body) = graph.run_if(&setup.context, &[], handle);
    let inside = setup.add(&body, &[], "put", &[first, 1]);
    let outside = setup.add(&graph, &[], "put", &[first + 64, 1]);
    notes.buffer(&body, "moved_inside", first, 64, &[inside]);
    notes.buffer(&graph, "moved_outside", first + 64, 64, &[outside]);
    let exec = graph.exec();
    assert_eq!(exec.run(&setup.context), OK);
    // The nodes, and then the buffers, move to the other memory, in which their positions are swapped.
    assert_eq!(setup.update(&exec, inside, "put", &[second + 64, 1]), OK);
    assert_eq!(setup.update(&exec, outside, "put", &[second, 1]), OK);
    assert_eq!(notes.move_buffers(&exec, &[second + 64, second]), OK);
    assert_eq!(exec.run(&setup.context), OK);
    assert_eq!(notes.move_buffers(&exec, &[second, second + 64]), OK);
    assert_eq!(exec.run(&setup.context), FAILED);
    assert_eq!(only("moved_inside").kind, "not-a-user");
}
