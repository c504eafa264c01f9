//! Programmatic edges: consumers may start before their producers end, and wait for them at
//! `griddepcontrol.wait`. Kernels that rely on nothing before the wait pass under every schedule; all others are
//! reported.

use cudarc::driver::sys;
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};

const FAILED: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_FAILED;
/// The shape of a buffer: blocks, and threads per block. There is one element per thread.
const SHAPE: (u32, u32) = (4, 64);
const COUNT: usize = 256;

/// Kernels whose threads set an element of `to` to that of `from` plus one. They differ in the place of the wait,
/// and some do not wait.
fn ptx() -> String {
    const WAIT: &str = "griddepcontrol.wait;";
    const ONE_WAITS: &str = "mov.u32 %r3, %tid.x; setp.ne.u32 %p1, %r3, 0; @%p1 bra MEET;
        griddepcontrol.wait;
        MEET: bar.sync 0;";
    const SPINS: &str = "mov.u32 %r3, %tid.x; setp.ne.u32 %p1, %r3, 0; @%p1 bra START;
        mov.u32 %r4, 0; st.volatile.shared.u32 [flag], %r4;
        START: bar.sync 0; @%p1 bra SPIN;
        griddepcontrol.wait;
        mov.u32 %r4, 1; st.volatile.shared.u32 [flag], %r4;
        SPIN: ld.volatile.shared.u32 %r4, [flag]; setp.eq.u32 %p1, %r4, 0; @%p1 bra SPIN;";
    // The instructions at the start, before the load, and after the load.
    let kernels = [
        ("waits", WAIT, "", ""),
        // Triggers its dependents first.
        ("triggers", "griddepcontrol.launch_dependents; griddepcontrol.wait;", "", ""),
        ("never_waits", "", "", ""),
        ("loads_first", "", "", WAIT),
        // Overwrites `to` while others may still read it.
        ("stores_first", "", "mov.u32 %r2, 0; st.global.u32 [%rd4], %r2; griddepcontrol.wait;", ""),
        // One thread of a block waits. The others wait for it at a barrier.
        ("one_waits", ONE_WAITS, "", ""),
        // One thread of a block waits and sets a flag in shared memory. The last warp spins on the flag.
        ("spins", SPINS, "", ""),
    ];
    let kernels = kernels.map(|(name, first, before, after)| {
        format!(
            ".visible .entry {name}(.param .u64 to, .param .u64 from) {{
                .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<6>;
                .shared .align 4 .u32 flag;
                {first}
                ld.param.u64 %rd1, [to];
                ld.param.u64 %rd2, [from];
                mov.u32 %r1, %ctaid.x;
                mov.u32 %r2, %ntid.x;
                mov.u32 %r3, %tid.x;
                mad.lo.s32 %r1, %r1, %r2, %r3;
                mul.wide.u32 %rd3, %r1, 4;
                add.s64 %rd4, %rd1, %rd3;
                add.s64 %rd5, %rd2, %rd3;
                {before}
                ld.global.u32 %r2, [%rd5];
                {after}
                add.u32 %r2, %r2, 1;
                st.global.u32 [%rd4], %r2;
                ret;
            }}\n"
        )
    });
    format!(".version 8.0\n.target sm_90\n.address_size 64\n{}", kernels.concat())
}

/// The port of a kernel node for programmatic edges.
const TRIGGER: u8 = 1;
const BEGIN: u8 = 2;

fn edge(port: u8) -> sys::CUgraphEdgeData {
    let kind = match port {
        0 => sys::CUgraphDependencyType_enum::CU_GRAPH_DEPENDENCY_TYPE_DEFAULT,
        _ => sys::CUgraphDependencyType_enum::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
    };
    sys::CUgraphEdgeData { from_port: port, to_port: 0, type_: kind as u8, reserved: [0; 5] }
}

/// Adds edges of one kind from several nodes to a node.
fn link(graph: &Graph, from: &[Node], to: Node, port: u8) -> sys::CUresult {
    let (to, data) = (vec![to; from.len()], vec![edge(port); from.len()]);
    unsafe { sys::cuGraphAddDependencies_v2(graph.0, from.as_ptr(), to.as_ptr(), data.as_ptr(), from.len()) }
}

/// A graph under construction: kernels on buffers of [`COUNT`] numbers, and edges of both kinds.
struct Program {
    context: Context,
    module: sys::CUmodule,
    graph: Graph,
    notes: SimulatorCalls,
    prefix: String,
}

impl Program {
    /// Returns `None` on a real driver, which makes no checks.
    fn new(prefix: &str, seed: u64) -> Option<Self> {
        let context = Context::new();
        if !context.simulated {
            return None;
        }
        cuweave_sim::set_seed(seed).unwrap();
        let module = context.module(&ptx());
        let prefix = format!("{prefix}_{seed}_");
        Some(Program { context, module, graph: Graph::new(), notes: SimulatorCalls::new(), prefix })
    }

    /// Adds a kernel node. `after` are its predecessors, with the ports of their edges.
    fn kernel(&self, kernel: &str, name: &str, after: &[(Node, u8)], to: u64, from: u64) -> Node {
        let function = self.context.function(self.module, kernel);
        let node = self.graph.kernel(&[], function, SHAPE.0, SHAPE.1, &[to, from]);
        for &(before, port) in after {
            assert_eq!(link(&self.graph, &[before], node, port), OK);
        }
        self.notes.node(node, &format!("{}{name}", self.prefix), 1);
        node
    }

    fn fresh(&self) -> u64 {
        self.context.alloc(4 * COUNT)
    }

    fn numbers(&self) -> u64 {
        self.context.upload(&(0..COUNT as u32).collect::<Vec<_>>())
    }

    /// Launches twice. Asserts that there is no report, and that `result` holds the original numbers plus `plus`.
    fn passes(&self, result: u64, plus: u32) {
        let exec = self.graph.exec();
        for _ in 0..2 {
            assert_eq!((exec.launch(&self.context), self.context.sync()), (OK, OK));
        }
        assert!(reports_of(&self.prefix).is_empty());
        let expected: Vec<u32> = (0..COUNT as u32).map(|number| number + plus).collect();
        assert_eq!(self.context.download::<u32>(result, COUNT), expected);
    }

    /// Launches. Asserts that the report names these two nodes and contains this text.
    fn fails(&self, nodes: [&str; 2], kinds: &[&str], text: &str) {
        let exec = self.graph.exec();
        assert_eq!((exec.launch(&self.context), self.context.sync()), (OK, FAILED));
        let reports = reports_of(&self.prefix);
        let about = |report: &&cuweave_sim::Report| {
            kinds.contains(&report.kind.as_str())
                && (report.kind != "race"
                    || nodes.iter().all(|node| report.text.contains(&format!("{}{node}`", self.prefix))))
        };
        let report = reports.iter().find(about).unwrap_or_else(|| panic!("{reports:?}"));
        assert!(report.kind != "race" || report.text.contains(text), "{}", report.text);
    }
}

const SEEDS: std::ops::Range<u64> = 0..8;

/// Tests that set the seed take turns, because it applies to the whole process.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn under_every_seed(prefix: &str, test: impl Fn(Program)) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for seed in SEEDS {
        let Some(program) = Program::new(prefix, seed) else { return };
        test(program);
    }
    cuweave_sim::set_seed(0).unwrap();
}

#[test]
fn kernels_that_wait_first_are_ordered_through_chains_of_them() {
    for kernel in ["waits", "triggers", "one_waits", "spins"] {
        for port in [TRIGGER, BEGIN] {
            under_every_seed(&format!("right_{kernel}_{port}"), |p| {
                let (from, a, b) = (p.numbers(), p.fresh(), p.fresh());
                let first = p.kernel(kernel, "first", &[], a, from);
                let second = p.kernel(kernel, "second", &[(first, port)], b, a);
                // The third node writes the bytes that the first one wrote and the second one read. The fourth
                // reads the bytes that the first one read.
                let third = p.kernel(kernel, "third", &[(second, port)], a, b);
                p.kernel(kernel, "fourth", &[(third, port)], b, a);
                p.passes(b, 4);
            });
        }
    }
}

#[test]
fn a_kernel_without_the_wait_is_reported_with_the_one_before_it() {
    under_every_seed("no_wait", |p| {
        let (from, a, b) = (p.numbers(), p.fresh(), p.fresh());
        let first = p.kernel("triggers", "first", &[], a, from);
        p.kernel("never_waits", "second", &[(first, TRIGGER)], b, a);
        p.fails(["first", "second"], &["race", "uninitialised-read"], "before any `griddepcontrol.wait`");
    });
}

#[test]
fn who_comes_behind_a_kernel_without_the_wait_is_not_behind_those_before() {
    under_every_seed("broken_chain", |p| {
        let (from, other, a, b, c) = (p.numbers(), p.numbers(), p.fresh(), p.fresh(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        // The second node touches no byte that the first one touches.
        let second = p.kernel("never_waits", "second", &[(first, TRIGGER)], b, other);
        p.kernel("waits", "third", &[(second, 0)], c, a);
        p.fails(["first", "third"], &["race"], "ends without executing `griddepcontrol.wait`");
    });
    // A full edge from the first node restores the order.
    under_every_seed("mended_chain", |p| {
        let (from, other, a, b, c) = (p.numbers(), p.numbers(), p.fresh(), p.fresh(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        let second = p.kernel("never_waits", "second", &[(first, TRIGGER)], b, other);
        p.kernel("waits", "third", &[(second, 0), (first, 0)], c, a);
        p.passes(c, 2);
    });
}

#[test]
fn a_load_before_the_wait_is_reported_and_one_of_older_memory_is_none() {
    under_every_seed("load_first", |p| {
        let (from, a, b) = (p.numbers(), p.numbers(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        p.kernel("loads_first", "second", &[(first, TRIGGER)], b, a);
        p.fails(["first", "second"], &["race"], "before any `griddepcontrol.wait`");
    });
    under_every_seed("load_older", |p| {
        let (from, a, b) = (p.numbers(), p.fresh(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        p.kernel("loads_first", "second", &[(first, TRIGGER)], b, from);
        p.passes(b, 1);
    });
}

#[test]
fn full_edges_further_up_order_what_is_before_the_wait() {
    under_every_seed("full_further_up", |p| {
        let (from, a, b, c) = (p.numbers(), p.fresh(), p.fresh(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        let second = p.kernel("waits", "second", &[(first, 0)], b, a);
        // The third node reads the bytes that the first one wrote. The first one had ended before the second one
        // started.
        p.kernel("loads_first", "third", &[(second, TRIGGER)], c, a);
        p.passes(c, 2);
    });
    // Along programmatic edges, it may not have ended.
    under_every_seed("programmatic_further_up", |p| {
        let (from, a, b, c) = (p.numbers(), p.fresh(), p.fresh(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        let second = p.kernel("waits", "second", &[(first, TRIGGER)], b, a);
        p.kernel("loads_first", "third", &[(second, TRIGGER)], c, a);
        p.fails(["first", "third"], &["race", "uninitialised-read"], "before any `griddepcontrol.wait`");
    });
}

#[test]
fn a_store_before_the_wait_over_what_others_read() {
    under_every_seed("store_first", |p| {
        let (from, other, a) = (p.numbers(), p.numbers(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        p.kernel("stores_first", "second", &[(first, TRIGGER)], from, other);
        p.fails(["first", "second"], &["race"], "before any `griddepcontrol.wait`");
    });
    // After a full edge, the wait returns at once, and everything is ordered.
    under_every_seed("store_behind_full", |p| {
        let (from, other, a) = (p.numbers(), p.numbers(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        p.kernel("stores_first", "second", &[(first, 0)], from, other);
        p.passes(from, 1);
    });
}

/// The live range of an arena buffer begins with a kernel that started while an older buffer in the same place
/// was in use.
#[test]
fn planned_buffers_change_hands_at_the_wait() {
    under_every_seed("arena", |p| {
        let (from, out, arena) = (p.numbers(), p.fresh(), p.context.alloc(8 * COUNT));
        let other = arena + 4 * COUNT as u64;
        let first = p.kernel("waits", "first", &[], arena, from);
        let second = p.kernel("waits", "second", &[(first, TRIGGER)], other, arena);
        let third = p.kernel("waits", "third", &[(second, TRIGGER)], arena, other);
        let fourth = p.kernel("waits", "fourth", &[(third, TRIGGER)], out, arena);
        let buffer = |name: &str, address, users: &[Node]| {
            p.notes.buffer(&p.graph, &format!("{}{name}", p.prefix), address, 4 * COUNT as u64, users);
        };
        buffer("x", arena, &[first, second]);
        buffer("y", other, &[second, third]);
        buffer("z", arena, &[third, fourth]);
        p.passes(out, 4);
    });
}

fn nodes_behind(node: Node) -> Vec<Node> {
    let mut nodes = [std::ptr::null_mut(); 4];
    let mut data = [edge(0); 4];
    let mut count = 4;
    ok!(sys::cuGraphNodeGetDependentNodes_v2(node, nodes.as_mut_ptr(), data.as_mut_ptr(), &mut count));
    assert!(data[..count].iter().all(|data| data.from_port == TRIGGER));
    nodes[..count].to_vec()
}

/// These are the driver's own rules, so a real driver must agree.
#[test]
fn edge_data_is_kept_and_checked() {
    let context = Context::new();
    let module = context.module(&ptx());
    let function = context.function(module, "waits");
    let buffer = context.alloc(4 * COUNT);
    let graph = Graph::new();
    let kernel = || graph.kernel(&[], function, SHAPE.0, SHAPE.1, &[buffer, buffer]);
    let (a, b, c) = (kernel(), kernel(), kernel());
    let empty = graph.empty(&[]);
    // Ports and types that do not match, and nodes other than kernels.
    let bad = |from, to, data: sys::CUgraphEdgeData| unsafe {
        sys::cuGraphAddDependencies_v2(graph.0, &from, &to, &data, 1)
    };
    assert_eq!(bad(a, b, sys::CUgraphEdgeData { from_port: 0, ..edge(TRIGGER) }), INVALID);
    assert_eq!(bad(a, b, sys::CUgraphEdgeData { from_port: 3, ..edge(TRIGGER) }), INVALID);
    assert_eq!(bad(a, b, sys::CUgraphEdgeData { to_port: 1, ..edge(TRIGGER) }), INVALID);
    assert_eq!(bad(a, b, sys::CUgraphEdgeData { reserved: [1, 0, 0, 0, 0], ..edge(TRIGGER) }), INVALID);
    assert_eq!(bad(a, b, sys::CUgraphEdgeData { type_: 7, ..edge(TRIGGER) }), INVALID);
    assert_eq!(bad(a, empty, edge(TRIGGER)), INVALID);
    assert_eq!(bad(empty, a, edge(TRIGGER)), INVALID);
    assert_eq!(link(&graph, &[a], b, TRIGGER), OK);
    // The edge exists already, and is refused with any data.
    assert_eq!(link(&graph, &[a], b, 0), INVALID);
    assert_eq!(link(&graph, &[b], c, 0), OK);

    let (mut from, mut to, mut data) = ([std::ptr::null_mut(); 4], [std::ptr::null_mut(); 4], [edge(0); 4]);
    let mut count = 4;
    ok!(sys::cuGraphGetEdges_v2(graph.0, from.as_mut_ptr(), to.as_mut_ptr(), data.as_mut_ptr(), &mut count));
    let mut edges: Vec<_> =
        (0..count).map(|at| (from[at], to[at], data[at].from_port, data[at].type_)).collect();
    edges.sort_unstable();
    let mut expected = vec![(a, b, TRIGGER, 1), (b, c, 0, 0)];
    expected.sort_unstable();
    assert_eq!(edges, expected);
    // A query without an array for the data fails if an edge has data.
    let lossy = sys::CUresult::CUDA_ERROR_LOSSY_QUERY;
    let null = std::ptr::null_mut();
    count = 4;
    gives!(lossy, sys::cuGraphGetEdges_v2(graph.0, from.as_mut_ptr(), to.as_mut_ptr(), null, &mut count));
    count = 4;
    gives!(lossy, sys::cuGraphNodeGetDependencies_v2(b, from.as_mut_ptr(), null, &mut count));
    count = 4;
    gives!(lossy, sys::cuGraphNodeGetDependentNodes_v2(a, to.as_mut_ptr(), null, &mut count));
    count = 4;
    ok!(sys::cuGraphNodeGetDependencies_v2(c, from.as_mut_ptr(), null, &mut count));
    assert_eq!((count, from[0]), (1, b));
    count = 4;
    ok!(sys::cuGraphNodeGetDependencies_v2(b, from.as_mut_ptr(), data.as_mut_ptr(), &mut count));
    assert_eq!((count, from[0], data[0].type_), (1, a, 1));
    // An edge is removed with its own data. According to the documentation other data is an error, but the driver
    // does not return it; the test relies on neither.
    let programmatic = edge(TRIGGER);
    ok!(sys::cuGraphRemoveDependencies_v2(graph.0, &a, &b, &programmatic, 1));
    gives!(INVALID, sys::cuGraphRemoveDependencies_v2(graph.0, &a, &b, &programmatic, 1));
    count = 4;
    ok!(sys::cuGraphGetEdges_v2(graph.0, from.as_mut_ptr(), to.as_mut_ptr(), data.as_mut_ptr(), &mut count));
    assert_eq!(count, 1);
}

#[test]
fn nodes_are_added_with_programmatic_edges() {
    under_every_seed("added", |p| {
        let (from, a, b) = (p.numbers(), p.fresh(), p.fresh());
        let first = p.kernel("waits", "first", &[], a, from);
        let function = p.context.function(p.module, "waits");
        let (mut to, mut of) = (b, a);
        let mut pointers = [(&raw mut to).cast(), (&raw mut of).cast()];
        // SAFETY: zero is a valid value for this struct of numbers and pointers.
        let mut params: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL;
        params.__bindgen_anon_1.kernel = sys::CUDA_KERNEL_NODE_PARAMS_v3 {
            func: function,
            gridDimX: SHAPE.0,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: SHAPE.1,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: pointers.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        };
        let mut node = std::ptr::null_mut();
        let data = edge(TRIGGER);
        ok!(sys::cuGraphAddNode_v2(&mut node, p.graph.0, &first, &data, 1, &mut params));
        p.passes(b, 2);
        assert_eq!(nodes_behind(first), [node]);
    });
}

/// A launch with programmatic stream serialization is captured as a programmatic edge.
#[test]
fn streams_that_overlap_their_launches_are_captured() {
    let context = Context::new();
    let module = context.module(&ptx());
    let waits = context.function(module, "waits");
    let (from, to) = (context.upload(&[1u32; COUNT]), context.alloc(4 * COUNT));
    let launch = |early: i32, mut to: u64, mut from: u64| {
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            // SAFETY: zero is a valid value for this union of numbers.
            value: unsafe { std::mem::zeroed() },
        };
        attribute.value.programmaticStreamSerializationAllowed = early;
        let config = sys::CUlaunchConfig {
            gridDimX: SHAPE.0,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: SHAPE.1,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: context.stream,
            attrs: &mut attribute,
            numAttrs: 1,
        };
        let mut pointers = [(&raw mut to).cast(), (&raw mut from).cast()];
        ok!(sys::cuLaunchKernelEx(&config, waits, pointers.as_mut_ptr(), std::ptr::null_mut()));
    };
    ok!(sys::cuStreamBeginCapture_v2(
        context.stream,
        sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    launch(1, to, from);
    launch(1, from, to);
    launch(0, to, from);
    let mut graph = std::ptr::null_mut();
    ok!(sys::cuStreamEndCapture(context.stream, &mut graph));
    let graph = Graph(graph);
    let (mut before, mut after) = ([std::ptr::null_mut(); 4], [std::ptr::null_mut(); 4]);
    let (mut data, mut count) = ([edge(0); 4], 4);
    ok!(sys::cuGraphGetEdges_v2(
        graph.0,
        before.as_mut_ptr(),
        after.as_mut_ptr(),
        data.as_mut_ptr(),
        &mut count
    ));
    assert_eq!(count, 2);
    // The full edge comes from the node to which the other edge leads.
    let first = usize::from(after[1] == before[0]);
    assert_eq!((data[first].type_, data[first].from_port), (1, TRIGGER));
    assert_eq!((data[1 - first].type_, data[1 - first].from_port), (0, 0));
    assert_eq!((graph.exec().launch(&context), context.sync()), (OK, OK));
    assert_eq!(context.download::<u32>(to, COUNT), [4; COUNT]);
}

#[test]
fn modules_are_refused_that_their_version_or_target_rules_out() {
    let context = Context::new();
    let load = |text: &str| {
        let text = std::ffi::CString::new(text).unwrap();
        let mut module = std::ptr::null_mut();
        unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) }
    };
    let invalid = sys::CUresult::CUDA_ERROR_INVALID_PTX;
    assert_eq!(load(&ptx().replace("sm_90", "sm_80")), invalid);
    let module = |version: &str, target: &str, bytes: u32| {
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n\
             .visible .entry k(.param .align 4 .b8 p[{bytes}])\n{{ ret; }}\n"
        )
    };
    assert_eq!(load(&module("8.0", "sm_90", 4096)), OK);
    // Here the driver accepts more than the manual allows. The simulated driver follows the manual.
    assert!(!context.simulated || load(&module("8.0", "sm_90", 4100)) == OK);
    assert_eq!(load(&module("8.1", "sm_70", 32_764)), OK);
    assert_eq!(load(&module("8.1", "sm_70", 32_768)), invalid);
    drop(context);
}
