//! The simulated driver detects races with the captured nodes of a library call and names the call. A race breaks
//! the context.

use cuweave::prelude::*;
use cuweave_testkit::device::simulated_alone;
use cuweave_testkit::process::apart;

use crate::library::{Library, rescale, sum};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
}

/// out = x + y, written by a call. A kernel adds zeros to it.
#[cuweave::graph(launches = "as-written")]
fn chained(n: u32, library: &Library, x: &[f32; n], y: &[f32; n], out: &mut [f32; n]) {
    let h = alloc::<f32>(n);
    fill(&mut h, 0.0);
    rescale(&library, &mut h, 3.0, n);
    sum(&library, &x, &y, &mut out, n);
    axpy[per_item(n)](2.0, &h, &mut out, n);
}

#[test]
fn a_missing_edge_out_of_a_call_is_a_race_with_the_call() {
    apart("races::with_a_missing_edge", &[]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn with_a_missing_edge() {
    let Some(device) = simulated_alone() else { return };
    let library = Library::new(&device.ctx);
    let (x, y) = (device.upload(&[1.0f32; 8]), device.upload(&[2.0f32; 8]));
    let mut found = String::new();
    let mut out = device.upload(&[0.0f32; 8]);
    cuweave::__private::change_next_plan(|_, operations| {
        for operation in operations.list.iter_mut().filter(|operation| operation.name == "axpy") {
            operation.after.clear();
        }
    });
    let graph = chained(&device.ctx, 8, &library, &x, &y, &mut out).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    let _ = exec.launch(&device.stream);
    drop(exec);
    let _ = device.ctx.check_err();
    for report in cuweave_sim::take_reports().expect("the simulated driver") {
        found.push_str(&format!("{report:?}\n"));
    }
    assert!(found.contains("sum") && found.contains("axpy"), "{found}");
}
