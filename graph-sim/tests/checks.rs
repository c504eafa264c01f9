//! The checks that no real driver makes: each fault is found in every node order, and the report names the nodes.

use cudarc::driver::sys;
use cuweave_testkit::ok;
use cuweave_testkit::raw::*;

const FAILED: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_FAILED;

#[test]
fn a_race_of_two_branches_names_both() {
    let Some((context, notes)) = Context::simulated() else { return };
    let out = context.alloc(256);
    notes.memory(out, "race_out");
    let graph = Graph::new();
    let fork = graph.empty(&[]);
    let left = graph.fill(&context, &[fork], out, 1, 160);
    let right = graph.fill(&context, &[fork], out + 128, 2, 128);
    graph.empty(&[left, right]);
    notes.node(left, "race_left", 3);
    notes.node(right, "race_right", 4);
    let exec = graph.exec();
    // As on a GPU, the fault shows at the next synchronisation.
    assert_eq!((exec.launch(&context), context.sync()), (OK, FAILED));
    let reports = reports_of("race_left");
    assert_eq!(reports.len(), 1, "{reports:?}");
    let report = &reports[0];
    assert_eq!((report.kind.as_str(), report.error), ("race", FAILED as u32));
    for part in ["`race_left` (src/plan.rs:3)", "`race_right` (src/plan.rs:4)", "`race_out`"] {
        assert!(report.text.contains(part), "{}", report.text);
    }
    assert!(report.text.contains(&format!("{:#x}..{:#x}", out + 128, out + 160)), "{}", report.text);
    // Every call returns the error of the broken context.
    assert_eq!(exec.launch(&context), FAILED);
}

#[test]
fn readers_side_by_side_are_no_race_and_a_writer_beside_one_is() {
    let Some((context, notes)) = Context::simulated() else { return };
    let (from, to) = (context.upload(&[1u8; 64]), context.alloc(256));
    let build = |last: &dyn Fn(&Graph, &[Node]) -> Node| {
        let graph = Graph::new();
        let a = graph.copy(&context, &[], to, from, 64);
        let b = graph.copy(&context, &[], to + 64, from, 64);
        notes.node(a, "reader_a", 1);
        notes.node(b, "reader_b", 2);
        let writer = last(&graph, &[a, b]);
        notes.node(writer, "the_writer", 3);
        graph
    };
    let ordered = build(&|graph, readers| graph.fill(&context, readers, from, 9, 64));
    assert_eq!((ordered.exec().launch(&context), context.sync()), (OK, OK));
    let racy = build(&|graph, readers| graph.fill(&context, &readers[..1], from, 9, 64));
    assert_eq!((racy.exec().launch(&context), context.sync()), (OK, FAILED));
    let reports = reports_of("the_writer");
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(
        reports[0].text.contains("reader_b") && !reports[0].text.contains("reader_a"),
        "{}",
        reports[0].text
    );
}

#[test]
fn an_access_that_no_path_orders_with_its_allocation() {
    let Some((context, notes)) = Context::simulated() else { return };
    // First not after the alloc node, then not before the free node.
    for late in [false, true] {
        let context = Context::new();
        let graph = Graph::new();
        let (alloc, address) = graph.alloc(&[], 64);
        let first = graph.fill(&context, &[alloc], address, 1, 64);
        let (name, other) = if late {
            let user = graph.fill(&context, &[first], address, 2, 64);
            graph.free(&[first], address);
            ("late_user", user)
        } else {
            let before = graph.empty(&[]);
            let user = graph.fill(&context, &[before], address, 2, 64);
            graph.free(&[first, user], address);
            ("early_user", user)
        };
        notes.node(other, name, 1);
        let exec = graph.exec();
        assert_eq!(exec.launch(&context), OK);
        assert_ne!(context.sync(), OK);
        let reports = reports_of(name);
        assert!(
            reports.iter().any(|report| report.kind == "lifetime" || report.kind == "illegal-address"),
            "{reports:?}"
        );
    }
    drop(context);
}

#[test]
fn a_use_after_the_free_is_found() {
    let Some((context, notes)) = Context::simulated() else { return };
    let graph = Graph::new();
    let (alloc, address) = graph.alloc(&[], 64);
    let free = graph.free(&[alloc], address);
    let user = graph.fill(&context, &[free], address, 2, 64);
    notes.node(user, "after_free", 1);
    let exec = graph.exec();
    assert_eq!(exec.launch(&context), OK);
    assert_eq!(context.sync(), sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(reports_of("after_free")[0].kind, "illegal-address");
}

/// Returns an arena of 256 bytes with buffers `a` (at 0) and `b` (at `at`), each filled and then copied out. The
/// order is fill a, fill b, copy a, copy b; every node waits for the previous one.
fn arena(context: &Context, notes: &SimulatorCalls, prefix: &str, at: u64) -> Graph {
    let (arena, out) = (context.alloc(256), context.alloc(256));
    let graph = Graph::new();
    let fill_a = graph.fill(context, &[], arena, 1, 128);
    let fill_b = graph.fill(context, &[fill_a], arena + at, 2, 128);
    let copy_a = graph.copy(context, &[fill_b], out, arena, 128);
    let copy_b = graph.copy(context, &[copy_a], out + 128, arena + at, 128);
    for (line, (name, node)) in
        [("fill_a", fill_a), ("fill_b", fill_b), ("copy_a", copy_a), ("copy_b", copy_b)]
            .into_iter()
            .enumerate()
    {
        notes.node(node, &format!("{prefix}{name}"), line as u32 + 1);
    }
    notes.buffer(&graph, &format!("{prefix}a"), arena, 128, &[fill_a, copy_a]);
    notes.buffer(&graph, &format!("{prefix}b"), arena + at, 128, &[fill_b, copy_b]);
    graph
}

#[test]
fn live_buffers_that_share_bytes_are_found_though_all_is_ordered() {
    let Some((context, notes)) = Context::simulated() else { return };
    let good = arena(&context, &notes, "good_", 128);
    let exec = good.exec();
    for _ in 0..3 {
        assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    }
    assert!(reports_of("good_").is_empty());
    let bad = arena(&context, &notes, "bad_", 96);
    assert_eq!((bad.exec().launch(&context), context.sync()), (OK, FAILED));
    let reports = reports_of("bad_");
    let kinds: Vec<&str> = reports.iter().map(|report| report.kind.as_str()).collect();
    assert_eq!(kinds, ["overlap", "overwritten"], "{reports:?}");
    for report in reports {
        for part in ["`bad_copy_a` (src/plan.rs:3)", "`bad_fill_b` (src/plan.rs:2)", "`bad_a`"] {
            assert!(report.text.contains(part), "{}", report.text);
        }
    }
}

#[test]
fn a_node_touches_no_buffer_of_an_arena_that_it_is_not_a_user_of() {
    let Some((context, notes)) = Context::simulated() else { return };
    let arena = context.alloc(256);
    let graph = Graph::new();
    let owner = graph.fill(&context, &[], arena, 1, 64);
    let stranger = graph.fill(&context, &[owner], arena + 32, 1, 64);
    notes.node(owner, "own_user", 1);
    notes.node(stranger, "the_stranger", 2);
    notes.buffer(&graph, "own_buffer", arena, 64, &[owner]);
    notes.buffer(&graph, "its_buffer", arena + 64, 64, &[stranger]);
    assert_eq!((graph.exec().launch(&context), context.sync()), (OK, FAILED));
    let reports = reports_of("the_stranger");
    assert_eq!((reports[0].kind.as_str(), reports.len()), ("not-a-user", 1), "{reports:?}");
    assert!(reports[0].text.contains("own_buffer"), "{}", reports[0].text);
}

#[test]
fn faults_are_found_under_every_seed() {
    let Some((context, notes)) = Context::simulated() else { return };
    for seed in 0..20 {
        cuweave_sim::set_seed(seed).unwrap();
        let context = Context::new();
        let out = context.alloc(64);
        let graph = Graph::new();
        let fork = graph.empty(&[]);
        let nodes: Vec<Node> = (0..4).map(|i| graph.fill(&context, &[fork], out + i * 16, 1, 16)).collect();
        let racy = graph.fill(&context, &nodes[1..], out, 2, 8);
        let name = format!("seeded_{seed}_");
        notes.node(racy, &name, 1);
        assert_eq!((graph.exec().launch(&context), context.sync()), (OK, FAILED));
        assert_eq!(reports_of(&name).len(), 1);
    }
    cuweave_sim::set_seed(0).unwrap();
    drop(context);
}

#[test]
fn what_was_never_written_reaches_the_host_as_nonsense() {
    let Some((context, _)) = Context::simulated() else { return };
    let address = context.alloc(8);
    ok!(sys::cuMemsetD8_v2(address, 0, 4));
    let bytes = context.download::<u8>(address, 8);
    assert_eq!(bytes[..4], [0; 4]);
    assert_eq!(bytes[4], bytes[7]);
    assert_ne!(bytes[4], 0);
}
