//! The conditional nodes that the simulated driver supports in each CUDA version, and the faults of drivers of
//! these versions.

#[path = "conditions/kernels.rs"]
mod kernels;

use std::ptr::null;

use cudarc::driver::sys;
use cuweave_sim::Report;
use cuweave_testkit::ok;
use cuweave_testkit::process::apart;
use cuweave_testkit::raw::*;
use kernels::Setup;

const FAILED: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_FAILED;
const TIMEOUT: sys::CUresult = sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT;

/// Returns the only report about a name.
fn only(name: &str) -> Report {
    let mut reports = reports_of(name);
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports.remove(0)
}

#[test]
#[ignore = "runs in a process of its own"]
fn is_12_4() {
    let setup = Setup::primary();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    for newer in [(CU_GRAPH_COND_TYPE_SWITCH, 2), (CU_GRAPH_COND_TYPE_IF, 2)] {
        assert_eq!(graph.try_conditional(&setup.context, &[], handle, newer).err(), Some(INVALID));
    }
    let (node, _) = graph.run_if(&setup.context, &[], handle);
    SimulatorCalls::new().node(node, "empty_if", 1);
    assert_eq!(graph.exec().run(&setup.context), TIMEOUT);
    let report = only("empty_if");
    assert_eq!(report.kind, "driver-fault");
    assert!(report.text.contains("drivers before CUDA 12.8 can hang"), "{}", report.text);
}

#[test]
#[ignore = "runs in a process of its own"]
fn is_12_8() {
    let setup = Setup::primary();
    let word = setup.word(0);
    let graph = Graph::new();
    let handles = [graph.handle(&setup.context, Some(2)), graph.handle(&setup.context, Some(1))];
    let (first, bodies) = graph.run_switch(&setup.context, &[], handles[0], 3);
    setup.add(&bodies[2], &[], "put", &[word, 1]);
    let kind = (CU_GRAPH_COND_TYPE_IF, 2);
    let (node, bodies) = graph.try_conditional(&setup.context, &[first], handles[1], kind).unwrap();
    setup.add(&bodies[0], &[], "mix", &[word, 1]);
    let exec = graph.exec();
    assert_eq!((exec.run(&setup.context), setup.read(word)), (OK, 32));
    drop(exec);
    let child = Graph::new();
    ok!(sys::cuGraphAddChildGraphNode(&mut std::ptr::null_mut(), bodies[1].0, null(), 0, child.0));
    SimulatorCalls::new().node(node, "two_bodies", 1);
    assert_eq!(graph.exec().run(&setup.context), FAILED);
    assert_eq!(only("two_bodies").kind, "driver-fault");
}

#[test]
#[ignore = "runs in a process of its own"]
fn is_12_3() {
    let setup = Setup::primary();
    let graph = Graph::new();
    let handle = graph.handle(&setup.context, Some(1));
    let kind = (CU_GRAPH_COND_TYPE_IF, 1);
    assert_eq!(graph.try_conditional(&setup.context, &[], handle, kind).err(), Some(UNSUPPORTED));
}

#[test]
fn the_version_decides_what_there_is() {
    for (test, version) in
        [("is_12_3", "12.3"), ("is_12_4", "12.4"), ("is_12_8", "12.8"), ("is_12_8", "12.9")]
    {
        apart(test, &[("CUWEAVE_SIM_VERSION", version), ("CUWEAVE_DRIVER", "sim")]);
    }
}
