//! Graphs that programs of cudarc captured, lifted: the same bytes, in the order that the accesses need, with what is
//! wrong in them.

mod kept;
mod library;
mod own;
mod random;

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use cuweave::error::LiftFault;
use cuweave::{Captured, Error, Finding, Lifted};
use cuweave_testkit::device::{ExclusiveDevice, alone, ramp};

use library::{Kernels, PTX};

const N: usize = 300;
const COUNT: u32 = 300;

/// Returns a device whose buffers record no events.
fn untracked() -> ExclusiveDevice {
    let device = alone();
    unsafe { device.ctx.disable_event_tracking() };
    device
}

fn lifted<R>(device: &ExclusiveDevice, captured: &Captured<R>) -> Lifted {
    unsafe { cuweave::lift(&device.ctx, captured, &[PTX]) }.expect("it is lifted")
}

/// Returns the findings without those that say that a node is kept.
fn faults(lifted: &Lifted) -> Vec<String> {
    lifted.findings().list().iter().filter(|finding| !finding.is_kept()).map(ToString::to_string).collect()
}

#[test]
fn a_chain_of_one_stream_has_the_same_bytes() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let (x, mut y, mut z) = (device.upload(&ramp(N)), device.zeros::<f32>(N), device.zeros::<f32>(N));
    let mut work = |stream: &Arc<CudaStream>| {
        stream.memset_zeros(&mut z).expect("a fill");
        kernels.copy_to(stream, &x, &mut y, COUNT);
        kernels.scale(stream, &mut y, 3.0, COUNT);
        kernels.axpy(stream, 2.0, &x, &mut y, COUNT);
        stream.memcpy_dtod(&y, &mut z).expect("a copy");
        kernels.scale(stream, &mut z, 0.5, COUNT);
    };
    let captured = Captured::of(&device.stream, || work(&device.stream)).expect("it is captured");
    let lifted = lifted(&device, &captured);
    assert_eq!(lifted.nodes(), 6);
    let found = faults(&lifted);
    assert_eq!(found.len(), 1, "{}", lifted.findings());
    assert!(found[0].starts_with("overwritten: nothing reads what node 0 (`fill`) writes"), "{}", found[0]);
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    assert!(exec.verify(&device.stream).expect("it runs").is_equal());
    exec.launch(&device.stream).expect("it launches");
    let wanted: Vec<f32> = ramp(N).iter().map(|x| 0.5 * (3.0 * x + 2.0 * x)).collect();
    assert_eq!(device.download(&z), wanted);
    drop(exec);
    device.nothing_reported();
}

/// Enqueues in two streams beside each other: a += x and b += x, then a += b.
fn fork_join(
    kernels: &Kernels,
    [stream, side]: [&Arc<CudaStream>; 2],
    x: &CudaSlice<f32>,
    [a, b]: [&mut CudaSlice<f32>; 2],
) {
    side.join(stream).expect("a fork");
    kernels.axpy(stream, 2.0, x, a, COUNT);
    kernels.axpy(side, 3.0, x, b, COUNT);
    stream.join(side).expect("a join");
    kernels.axpy(stream, 1.0, b, a, COUNT);
}

#[test]
fn branches_of_two_streams_stay_beside_each_other() {
    let device = untracked();
    let (kernels, side) = (Kernels::new(&device.ctx), device.new_stream());
    let (x, mut a, mut b) = (device.upload(&ramp(N)), device.zeros::<f32>(N), device.zeros::<f32>(N));
    let captured =
        Captured::of(&device.stream, || fork_join(&kernels, [&device.stream, &side], &x, [&mut a, &mut b]))
            .expect("it is captured");
    let lifted = lifted(&device, &captured);
    assert_eq!(faults(&lifted), Vec::<String>::new());
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    exec.launch(&device.stream).expect("it launches");
    let wanted: Vec<f32> = ramp(N).iter().map(|x| 5.0 * x).collect();
    assert_eq!(device.download(&a), wanted);
    drop(exec);
    device.nothing_reported();
}

#[test]
fn a_race_of_two_streams_is_found_and_ordered() {
    let device = untracked();
    let (kernels, side) = (Kernels::new(&device.ctx), device.new_stream());
    let (x, mut a) = (device.upload(&ramp(N)), device.upload(&ramp(N)));
    let captured = Captured::of(&device.stream, || {
        side.join(&device.stream).expect("a fork");
        kernels.scale(&device.stream, &mut a, 2.0, COUNT);
        kernels.axpy(&side, 1.0, &x, &mut a, COUNT);
        device.stream.join(&side).expect("a join");
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    let found: Vec<&Finding> = lifted.findings().list().iter().filter(|finding| !finding.is_kept()).collect();
    let [Finding::Race { proved: true, first, second, .. }] = found[..] else {
        panic!("{}", lifted.findings())
    };
    assert_eq!((&*first.name, &*second.name), ("scale", "axpy"));
    assert!(first.instruction.is_some() && first.parameter == Some(0));
    let text = lifted.findings().to_string();
    assert!(
        text.starts_with("race: node 0 (`scale`) writes 0x") && text.ends_with("no path orders them"),
        "{text}"
    );
    let dot = lifted.dot();
    assert!(dot.contains("n0 [label=\"0: scale\", fillcolor=tomato];"), "{dot}");
    assert!(dot.contains("n0 -> n1 [dir=none, style=dashed, constraint=false, color=tomato];"), "{dot}");
    let graph = lifted.graph().expect("it builds");
    let page = lifted.page(&graph);
    assert_page(&page, [2, graph.report().nodes()]);
    assert!(page.contains("<title>race: node 0 (`scale`) writes 0x"), "the node says what was found");
    let mut exec = graph.instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    let wanted: Vec<f32> = ramp(N).iter().map(|x| 2.0 * x + x).collect();
    assert_eq!(device.download(&a), wanted);
    drop(exec);
    device.nothing_reported();
}

/// Checks that a page has two well-formed pictures, with so many nodes each.
fn assert_page(page: &str, nodes: [usize; 2]) {
    let pictures: Vec<&str> = page.match_indices("<svg").map(|(at, _)| &page[at..]).collect();
    assert_eq!(pictures.len(), 2);
    for (picture, nodes) in pictures.into_iter().zip(nodes) {
        let end = picture.find("</svg>").expect("it ends") + "</svg>".len();
        let drawn = roxmltree::Document::parse(&picture[..end]).expect("it is well-formed");
        let boxes = drawn.descendants().filter(|node| node.has_tag_name("rect") && node.has_attribute("rx"));
        assert!(boxes.count() >= nodes, "{nodes} nodes");
    }
    assert!(page.contains("<h2>findings</h2>") && page.contains("<h2>report</h2>"));
}

#[test]
fn kernels_without_ptx_are_kept_in_their_order() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let (x, mut y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let captured = Captured::of(&device.stream, || {
        kernels.copy_to(&device.stream, &x, &mut y, COUNT);
        kernels.scale(&device.stream, &mut y, 3.0, COUNT);
        kernels.axpy(&device.stream, 2.0, &x, &mut y, COUNT);
    })
    .expect("it is captured");
    // Another text: none of the kernels is known.
    let other = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry other() { ret; }\n";
    let changed = PTX.replace("ret;", "ret; ");
    for texts in [&[][..], &[other], &[PTX, &changed]] {
        let lifted = unsafe { cuweave::lift(&device.ctx, &captured, texts) }.expect("it is lifted");
        let kept = lifted.findings().list().iter().filter(|finding| finding.is_kept()).count();
        assert_eq!(kept, 3, "{}", lifted.findings());
        let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(&device.stream).expect("it launches");
        let wanted: Vec<f32> = ramp(N).iter().map(|x| 5.0 * x).collect();
        assert_eq!(device.download(&y), wanted);
    }
    device.nothing_reported();
}

#[test]
fn memory_of_nodes_becomes_temporaries() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let (x, mut y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let stream = &device.stream;
    let captured = Captured::of(stream, || {
        let mut h = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.copy_to(stream, &x, &mut h, COUNT);
        kernels.scale(stream, &mut h, 3.0, COUNT);
        let mut g = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.add(stream, &h, &x, &mut g, COUNT);
        drop(h);
        kernels.copy_to(stream, &g, &mut y, COUNT);
    })
    .expect("it is captured");
    let wanted: Vec<f32> = ramp(N).iter().map(|x| 4.0 * x).collect();
    for texts in [&[PTX][..], &[]] {
        let lifted = unsafe { cuweave::lift(&device.ctx, &captured, texts) }.expect("it is lifted");
        assert_eq!(faults(&lifted), Vec::<String>::new());
        let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(stream).expect("it launches");
        assert_eq!(device.download(&y), wanted);
    }
    device.nothing_reported();
}

#[test]
fn buffers_that_are_dropped_before_a_replay_are_found() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let (x, mut y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let captured = Captured::of(&device.stream, || kernels.copy_to(&device.stream, &x, &mut y, COUNT))
        .expect("it is captured");
    drop(x);
    device.stream.synchronize().expect("it is freed");
    let lifted = lifted(&device, &captured);
    let found = faults(&lifted);
    assert!(found[0].starts_with("dangling address: node 0 (`copy_to`) uses 0x"), "{}", lifted.findings());
    let refused = lifted.graph().map(drop).expect_err("it cannot be launched");
    assert!(
        refused.to_string().starts_with("the captured graph cannot be launched: dangling address"),
        "{refused}"
    );
}

#[test]
fn values_and_memory_are_set_by_position() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let (x, mut y) = (device.upload(&ramp(N)), device.zeros::<f32>(N));
    let captured = Captured::of(&device.stream, || {
        kernels.copy_to(&device.stream, &x, &mut y, COUNT);
        kernels.scale(&device.stream, &mut y, 3.0, COUNT);
        kernels.scale(&device.stream, &mut y, 2.0, COUNT);
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    exec.kernel("scale", 1).expect("the second").set(1, 10.0_f32).expect("it is set");
    exec.launch(&device.stream).expect("it launches");
    let times = |factor: f32| ramp(N).iter().map(|x| factor * x).collect::<Vec<f32>>();
    assert_eq!(device.download(&y), times(30.0));
    let mut second = exec.kernel("scale", 0).expect("the first");
    let refused = second.set(2, 100_u32).expect_err("other bytes");
    assert!(matches!(refused, Error::BuildAgain { .. }), "{refused}");
    let fault = |refused: Error| match refused {
        Error::Lift(fault) => *fault,
        other => panic!("{other}"),
    };
    let size = fault(second.set(1, 1.0_f64).expect_err("another size"));
    assert!(matches!(size, LiftFault::ParameterSize { bytes: 4, given: 8, .. }), "{size}");
    let pointer = fault(second.set(0, 1_u64).expect_err("a pointer"));
    assert!(matches!(pointer, LiftFault::NoParameter { parameter: 0, .. }), "{pointer}");
    let missing = fault(exec.kernel("scale", 2).map(drop).expect_err("there are two"));
    assert!(matches!(missing, LiftFault::NoKernel { count: 2, .. }), "{missing}");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&y), times(30.0));
    drop(exec);
    device.nothing_reported();
}

#[test]
fn wrong_texts_are_refused() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let mut y = device.zeros::<f32>(N);
    let captured = Captured::of(&device.stream, || kernels.scale(&device.stream, &mut y, 3.0, COUNT))
        .expect("it is captured");
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let other =
        format!("{head}.visible .entry scale(.param .u64 x, .param .f64 a, .param .u32 n) {{ ret; }}\n");
    let refused = unsafe { cuweave::lift(&device.ctx, &captured, &[&other]) }.expect_err("another kernel");
    assert_eq!(
        refused.to_string(),
        "the PTX of `scale` is not that of the captured kernel, which has parameter 1 of 4 bytes, and the PTX \
            declares 8"
    );
    let refused = unsafe { cuweave::lift(&device.ctx, &captured, &["what"]) }.expect_err("no PTX");
    assert!(refused.to_string().starts_with("text 0 is no PTX"), "{refused}");
    let refused = Captured::of(&device.ctx.default_stream(), || ()).expect_err("the default stream");
    assert!(refused.to_string().starts_with("the legacy default stream cannot capture"), "{refused}");
}
