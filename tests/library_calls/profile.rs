//! Profiles of graphs with library calls: all nodes of a call are timed together, also in the body of a conditional
//! node.

use cuweave::prelude::*;
use cuweave_testkit::device::alone;

use crate::library::{Library, forked, scaled, sum};

#[cuweave::graph]
fn calling(n: u32, library: &Library, flag: &mut [u32; 1], x: &mut [f32; n]) {
    let one = alloc::<f32>(n);
    let two = alloc::<f32>(n);
    let twice = alloc::<f32>(n);
    forked(&library, &x, &mut one, &mut two, n);
    sum(&library, &one, &two, &mut twice, n);
    copy(&twice, &mut x);
    if flag {
        let three = alloc::<f32>(n);
        scaled(&library, &x, &mut three, 3.0, n);
        copy(&three, &mut x);
    }
}

#[test]
fn a_call_is_one_entry() {
    const N: usize = 100;
    let device = alone();
    let library = Library::new(&device.ctx);
    let (mut x, mut flag) = (device.upload(&[1.0f32; N]), device.upload(&[1u32]));
    let graph = calling(&device.ctx, N as u32, &library, &mut flag, &mut x).expect("a graph");
    let captured = graph.report().captured;
    let mut exec = graph.instantiate().expect("an exec");
    let profile = exec.profile(&device.stream, 2).expect("a profile");
    assert_eq!(exec.report().captured, captured);
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    // Five launches: x = 3 (x + x).
    assert_eq!(device.download(&x), [7776.0; N]);
    device.nothing_reported();
    let calls = profile.entries.iter().filter(|entry| entry.node == "call");
    let calls: Vec<(&str, u64, f64, bool)> = calls
        .map(|entry| (entry.name.as_str(), entry.bytes, entry.runs, entry.iterations.is_some()))
        .collect();
    let bytes = |buffers: u64| buffers * 4 * N as u64;
    // The scratch of `sum` does not count.
    let expected =
        [("forked", bytes(3), 1.0, false), ("sum", bytes(3), 1.0, false), ("scaled", bytes(2), 1.0, true)];
    assert_eq!(calls, expected, "{profile}");
    assert!(
        profile.entries.iter().filter(|entry| entry.node == "call").all(|entry| entry.time.mean > 0.0),
        "{profile}"
    );
}
