//! A copy of unwritten bytes to the host is reported with the buffer's name.

use cuweave::prelude::*;
use cuweave_testkit::device::{Device, simulated_alone};

#[cuweave::kernels("tests/ptx-corpus/nvrtc/basic.ptx")]
unsafe extern "ptx-kernel" {
    /// The written elements depend on data.
    fn scatter64(x: &[f32; n], index: &[i64; n], out: &mut [MaybeUninit<f32>; 64], n: u32);
}

/// Writes those of 64 elements that `index` selects, and copies all to the host.
#[cuweave::graph]
fn scattered(x: &[f32; 64], index: &[i64; 64], out: &mut [f32; 64], there: &mut Pinned<[f32; 64]>) {
    let half = alloc::<f32>(64);
    scatter64[(1, 64)](&x, &index, &mut half, 64);
    copy(&half, &mut there);
    scatter64[(1, 64)](&x, &index, &mut out, 64);
}

/// Writes every `step`-th element. Returns the contents that both copies bring to the host, and the reports.
fn run(step: i64) -> Option<(Vec<f32>, Vec<f32>, Vec<cuweave_sim::Report>)> {
    let device = simulated_alone()?;
    let Device { ctx, stream, .. } = &*device;
    cuweave_sim::take_reports().expect("the simulated driver");
    let x = stream.clone_htod(&vec![2.5_f32; 64]).expect("an upload");
    let index: Vec<i64> = (0..64).map(|i| i / step * step).collect();
    let index = stream.clone_htod(&index).expect("an upload");
    // SAFETY: the test is about unwritten bytes; they are only copied, and every bit pattern is an `f32`.
    #[allow(unsafe_code)]
    let (mut out, mut there) = unsafe {
        (stream.alloc::<f32>(64).expect("an allocation"), ctx.alloc_pinned::<f32>(64).expect("pinned memory"))
    };
    stream.synchronize().expect("the uploads are done");
    let graph = scattered(ctx, &x, &index, &mut out, &mut there).expect("it builds");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(stream).expect("it launches");
    drop(exec);
    stream.synchronize().expect("the launch ends");
    let out = stream.clone_dtoh(&out).expect("a download");
    stream.synchronize().expect("the copy ends");
    let there = there.as_slice().expect("the copy has ended").to_vec();
    Some((out, there, cuweave_sim::take_reports().expect("the simulated driver")))
}

#[test]
fn half_of_a_buffer_is_told_by_its_name_where_it_arrives() {
    let Some((out, there, reports)) = run(2) else { return };
    let written = |values: &[f32]| values.iter().step_by(2).all(|&value| value == 2.5);
    assert!(written(&out) && written(&there), "{out:?} {there:?}");
    assert_eq!(reports.len(), 2, "{reports:?}");
    for (report, name) in
        reports.iter().zip(["`half` (tests/in_turn/unwritten.rs:", "`out` (tests/in_turn/unwritten.rs:"])
    {
        assert_eq!((report.kind.as_str(), report.error), ("uninitialised-read", 0), "{report:?}");
        let said = "copies 128 bytes to the host that were never written";
        assert!(report.text.contains(said) && report.text.contains(name), "{}", report.text);
    }
    assert!(reports[0].nodes[0].starts_with("`copy` (tests/in_turn/unwritten.rs:"), "{:?}", reports[0].nodes);
}

#[test]
fn what_is_written_is_not_told() {
    let Some((out, there, reports)) = run(1) else { return };
    assert_eq!((out, there), (vec![2.5; 64], vec![2.5; 64]));
    assert!(reports.is_empty(), "{reports:?}");
}
