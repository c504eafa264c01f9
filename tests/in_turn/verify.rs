//! `exec.verify`: graphs are equal to their statements as written, and the program does not notice a verification,
//! also after a failure half-way.

use std::sync::Arc;

use cudarc::driver::{CudaEvent, sys};
use cuweave::__private::limit_verified_pieces;
use cuweave::error::{VerificationFault, VerificationObstacle};
use cuweave::managed::Attach;
use cuweave::prelude::*;
use cuweave::verify::Verification;
use cuweave::{ArenaPool, Buffer, Error, Flag, Managed};
use cuweave_testkit::device::{alone, pinned, simulated_alone};
use cuweave_testkit::faults::{NOT_SUPPORTED, OUT_OF_MEMORY};

#[cuweave::kernels("tests/kernels/common.ptx")]
unsafe extern "ptx-kernel" {
    fn iota(out: &mut [MaybeUninit<f32>; n], first: f32, n: u32);
    fn scale(x: &mut [f32; n], a: f32, n: u32);
    fn axpy(a: f32, x: &[f32; n], y: &mut [f32; n], n: u32);
    fn add(a: &[f32; n], b: &[f32; n], out: &mut [MaybeUninit<f32>; n], n: u32);
}

#[cuweave::kernels("tests/kernels/decide.ptx")]
unsafe extern "ptx-kernel" {
    fn mix(x: &mut [u32; n], by: u32, n: u32);
    fn count_down(x: &mut [u32; 1]);
}

#[cuweave::kernels("tests/kernels/state.ptx")]
unsafe extern "ptx-kernel" {
    fn state_set(value: u32);
    fn state_get(out: &mut [MaybeUninit<u32>; 1]);
    fn odd_numbers(out: &mut [MaybeUninit<u32>; n], n: u32);
}

const N: u32 = 300;

fn ramp(first: f32) -> Vec<f32> {
    (0..N).map(|at| first + at as f32).collect()
}

/// Checks that all bytes were compared and equal.
fn equal(verification: cuweave::Result<Verification>, bytes: u64) {
    let verification = verification.expect("a verification");
    assert!(verification.is_equal() && verification.difference().is_none(), "{verification}");
    assert_eq!((verification.compared(), verification.launches()), (bytes, 3), "{verification}");
    assert!(verification.to_string().contains("leaves the bytes that its statements do"), "{verification}");
}

/// Batches, a chain, a fill, copies, temporaries, an output, and a range of an argument.
macro_rules! programs {
    ($($name:ident $memory:literal;)*) => {$(
        #[cuweave::graph(memory = $memory)]
        fn $name(n: u32, a: f32, x: &[f32; n], y: &mut [f32; n], z: &mut [f32; 2 * n]) -> [f32; n] {
            let one = alloc::<f32>(n);
            let two = alloc::<f32>(n);
            iota[per_item(n)](&mut one, 3.0, n);
            copy(&x, &mut two);
            scale[per_item(n)](&mut one, a, n);
            scale[per_item(n)](&mut two, 3.0, n);
            let three = alloc::<f32>(n);
            add[per_item(n)](&one, &two, &mut three, n);
            axpy[per_item(n)](2.0, &three, &mut y, n);
            fill(&mut z[..n], 7.0);
            scale[per_item(n)](&mut y, 0.5, n);
            three
        }
    )*};
}
programs! {
    in_arena "arena";
    in_nodes "nodes";
    in_owned "owned";
}

/// Returns the output and the arguments after a launch: of `y` the values before it.
fn left(a: f32, y: &[f32]) -> [Vec<f32>; 3] {
    let three: Vec<f32> = (0..N).map(|at| (3.0 + at as f32) * a + (1.0 + at as f32) * 3.0).collect();
    let y = y.iter().zip(&three).map(|(y, three)| (y + 2.0 * three) * 0.5).collect();
    let z = (0..2 * N).map(|at| if at < N { 7.0 } else { at as f32 }).collect();
    [three, y, z]
}

#[test]
fn a_program_does_not_notice_it() {
    let device = alone();
    macro_rules! each {
        ($($name:ident)*) => {$({
            let live = device.live();
            let (x, z): (_, Vec<f32>) = (device.upload(&ramp(1.0)), (0..2 * N).map(|at| at as f32).collect());
            let (mut y, mut z) = (device.upload(&ramp(5.0)), device.upload(&z));
            let graph = $name(&device.ctx, N, 2.0, &x, &mut y, &mut z).expect("a graph");
            let mut exec = graph.instantiate().expect("an exec");
            // The output, `y`, and half of `z`.
            let bytes = 3 * 4 * u64::from(N);
            equal(exec.verify(&device.stream), bytes);
            assert_eq!(exec.launches(), 0);
            let mut before = ramp(5.0);
            for a in [2.0, 4.0] {
                exec.set_a(a).expect("a scalar");
                equal(exec.verify(&device.stream), bytes);
                let [output, y, z] = left(a, &before);
                {
                    let three = exec.launch(&device.stream).expect("a launch");
                    assert_eq!(device.download(&*three), output);
                }
                let views = exec.args();
                assert_eq!(device.download(&views.y), y);
                assert_eq!(device.download(&views.z), z);
                before = y;
                // In another stream than that of the launch.
                equal(exec.verify(&device.new_stream()), bytes);
            }
            assert_eq!(exec.launches(), 2);
            drop(exec);
            assert_eq!(device.download(&y), before);
            drop((x, y, z));
            device.stream.synchronize().expect("all is well");
            if let (Some(before), Some(after)) = (live, device.live()) {
                assert_eq!(before, after);
            }
        })*};
    }
    each!(in_arena in_nodes in_owned);
    device.nothing_reported();
}

/// Results are compared in pieces of whole elements, in as many runs as there are pieces.
#[test]
fn pieces() {
    struct Unlimited;
    impl Drop for Unlimited {
        fn drop(&mut self) {
            limit_verified_pieces(1 << 30);
        }
    }
    let device = alone();
    let _unlimited = Unlimited;
    let (x, mut y) = (device.upload(&ramp(1.0)), device.upload(&ramp(5.0)));
    let mut z = device.zeros::<f32>(2 * N as usize);
    let graph = in_arena(&device.ctx, N, 2.0, &x, &mut y, &mut z).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    for limit in [1, 1000, 1203, 3600] {
        limit_verified_pieces(limit);
        equal(exec.verify(&device.stream), 3 * 4 * u64::from(N));
    }
    drop(exec);
    assert_eq!(device.download(&y), ramp(5.0));
    device.nothing_reported();
}

#[cuweave::graph]
fn made(n: u32, first: f32) -> [f32; n] {
    let h = alloc::<f32>(n);
    iota[per_item(n)](&mut h, first, n);
    h
}

#[cuweave::graph]
fn taker(n: u32, h: [f32; n], out: &mut [f32; n]) {
    scale[per_item(n)](&mut h, 2.0, n);
    add[per_item(n)](&h, &h, &mut out, n);
}

/// A verification consumes outputs as a launch does.
#[test]
fn outputs_are_taken_over() {
    let device = alone();
    let mut maker = made(&device.ctx, N, 1.0).expect("a graph").instantiate().expect("an exec");
    let mut out = device.zeros::<f32>(N as usize);
    let graph = taker(&device.ctx, N, maker.output(), &mut out).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    for _ in 0..2 {
        let made = maker.launch(&device.stream).expect("a launch");
        equal(exec.verify(&device.stream, (made,)), 2 * 4 * u64::from(N));
        let made = maker.launch(&device.stream).expect("a launch");
        exec.launch(&device.stream, (made,)).expect("a launch");
    }
    drop(exec);
    let expected: Vec<f32> = ramp(1.0).iter().map(|value| 4.0 * value).collect();
    assert_eq!(device.download(&out), expected);
    device.nothing_reported();
}

#[cuweave::graph]
fn doubled(n: u32, x: &mut [f32; n]) {
    scale[per_item(n)](&mut x, 2.0, n);
}

/// Verifications wait for launches of other execs in other streams, and those are ordered after it.
#[test]
fn other_execs_use_the_buffer_before_and_after() {
    let device = alone();
    let buffer = Buffer::new(device.upload(&ramp(1.0))).expect("a buffer");
    let (one, other) = (device.new_stream(), device.new_stream());
    let exec = |buffer: &Buffer<f32>| {
        doubled(&device.ctx, N, buffer.clone()).expect("a graph").instantiate().expect("an exec")
    };
    let (mut first, mut second) = (exec(&buffer), exec(&buffer));
    let mut expected = ramp(1.0);
    for _ in 0..3 {
        first.launch(&one).expect("a launch");
        equal(second.verify(&other), 4 * u64::from(N));
        second.launch(&other).expect("a launch");
        equal(first.verify(&other), 4 * u64::from(N));
        expected.iter_mut().for_each(|value| *value *= 4.0);
    }
    assert_eq!(buffer.to_host(&device.stream).expect("a download"), expected);
    device.nothing_reported();
}

#[cuweave::graph]
fn decided(n: u32, x: &mut [u32; n], go: &mut [u32; 1], other: &mut [u32; 1]) {
    #[at_most(5)]
    'solve: while go {
        let t = alloc::<u32>(n);
        copy(&x, &mut t);
        mix[per_item(n)](&mut t, 2, n);
        mix[per_item(n)](&mut t, 3, n);
        copy(&t, &mut x);
        count_down[(1, 1)](&mut go);
    }
    if other {
        mix[per_item(n)](&mut x, 4, n);
    } else {
        mix[per_item(n)](&mut x, 5, n);
    }
}

#[test]
fn decisions_of_the_device() {
    let device = alone();
    let (mut x, mut go, mut other) =
        (device.upload(&[1u32; N as usize]), device.upload(&[7u32]), device.upload(&[1u32]));
    let graph = decided(&device.ctx, N, &mut x, &mut go, &mut other).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    let numbers = |exec: &decided::Exec<'_>| {
        let counts = exec.iterations_solve().expect("counts");
        (counts.entries, counts.limited, counts.iterations)
    };
    let bytes = 4 * u64::from(N) + 4;
    equal(exec.verify(&device.stream), bytes);
    assert_eq!(numbers(&exec), (0, 0, 0), "nothing was launched");
    exec.launch(&device.stream).expect("a launch");
    assert_eq!(numbers(&exec), (1, 1, 5));
    equal(exec.verify(&device.stream), bytes);
    assert_eq!(numbers(&exec), (1, 1, 5), "the counts are those of the launch");
    exec.launch(&device.stream).expect("a launch");
    assert_eq!(numbers(&exec), (1, 0, 2));
    device.nothing_reported();
}

#[cuweave::graph]
fn through_pinned(n: u32, x: &mut [f32; n], seen: &mut Pinned<[f32; n]>) {
    scale[per_item(n)](&mut x, 2.0, n);
    copy(&x, &mut seen);
}

#[test]
fn pinned_memory_and_managed_memory() {
    let device = alone();
    let mut seen = pinned(&device.ctx, &ramp(7.0));
    let mut x = device.upload(&ramp(1.0));
    let graph = through_pinned(&device.ctx, N, &mut x, &mut seen).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    equal(exec.verify(&device.stream), 2 * 4 * u64::from(N));
    drop(exec);
    assert_eq!(seen.as_slice().expect("elements"), ramp(7.0));

    let managed = Managed::from_host(&device.stream, &ramp(1.0), Attach::Global).expect("managed memory");
    let graph = doubled(&device.ctx, N, managed.clone()).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    equal(exec.verify(&device.stream), 4 * u64::from(N));
    assert_eq!(&*managed.host().expect("elements"), ramp(1.0));
    exec.launch(&device.stream).expect("a launch");
    drop(exec);
    device.nothing_reported();
}

/// A member of a pool shares its temporaries with others of its stream.
#[test]
fn members_of_a_pool() {
    let device = alone();
    let pool = ArenaPool::new(&device.stream).expect("a pool");
    let (x, mut y) = (device.upload(&ramp(1.0)), device.upload(&ramp(5.0)));
    let mut z = device.zeros::<f32>(2 * N as usize);
    let graph = in_arena(&device.ctx, N, 2.0, &x, &mut y, &mut z).expect("a graph");
    let mut exec = graph.instantiate_in(&pool).expect("an exec");
    equal(exec.verify(&device.stream), 3 * 4 * u64::from(N));
    let error = exec.verify(&device.new_stream()).expect_err("it is another stream than the pool's");
    assert!(matches!(error, Error::StreamOfOtherPool { .. }), "{error}");
    device.nothing_reported();
}

#[cuweave::graph]
fn with_host(n: u32, seen: &mut Pinned<[f32; n]>) {
    host(&mut seen, |seen| seen[0] += 1.0);
}

#[cuweave::graph]
fn with_flag(go: &Flag<u32>) {
    write_value(&go, 1);
}

#[cuweave::graph]
fn with_event(event: &CudaEvent) {
    record(&event);
}

#[cuweave::graph]
fn with_state(out: &mut [u32; 1]) {
    state_set[(1, 1)](5);
    state_get[(1, 1)](&mut out);
}

#[cuweave::graph]
fn with_constants(n: u32, out: &mut [u32; n]) {
    odd_numbers[per_item(n)](&mut out, n);
}

fn obstacle(verification: cuweave::Result<Verification>) -> VerificationObstacle {
    match verification {
        Err(Error::Verification(fault)) => match *fault {
            VerificationFault::Refused { obstacle, .. } => obstacle,
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Statements that cannot run twice are refused by name, and the exec can be launched as before.
#[test]
fn refusals() {
    let device = alone();
    let stream = &device.stream;
    let mut seen = pinned(&device.ctx, &[1.0f32]);
    let mut exec = with_host(&device.ctx, 1, &mut seen).expect("a graph").instantiate().expect("an exec");
    assert!(matches!(obstacle(exec.verify(stream)), VerificationObstacle::Host(at) if at.name == "host"));
    exec.launch(stream).expect("a launch");
    drop(exec);

    let flag = Flag::<u32>::new(&device.ctx).expect("a flag");
    let mut exec = with_flag(&device.ctx, &flag).expect("a graph").instantiate().expect("an exec");
    assert!(matches!(obstacle(exec.verify(stream)), VerificationObstacle::Flag(_)));
    exec.launch(stream).expect("a launch");
    drop(exec);

    let event = Arc::new(device.ctx.new_event(None).expect("an event"));
    let mut exec = with_event(&device.ctx, event).expect("a graph").instantiate().expect("an exec");
    assert!(matches!(obstacle(exec.verify(stream)), VerificationObstacle::Event(_)));
    drop(exec);

    let mut out = device.zeros::<u32>(1);
    let mut exec = with_state(&device.ctx, &mut out).expect("a graph").instantiate().expect("an exec");
    let variable = obstacle(exec.verify(stream));
    assert!(
        matches!(&variable, VerificationObstacle::ModuleVariable { variable, .. } if variable == "counter"),
        "{variable}"
    );
    drop(exec);

    // A variable that nothing writes is the same for both graphs.
    let mut out = device.zeros::<u32>(8);
    let mut exec = with_constants(&device.ctx, 8, &mut out).expect("a graph").instantiate().expect("an exec");
    equal(exec.verify(stream), 32);
    drop(exec);

    let mut x = device.upload(&ramp(1.0));
    let mut exec = doubled(&device.ctx, N, &mut x).expect("a graph").instantiate().expect("an exec");
    let capturing = device.new_stream();
    capturing.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("a capture");
    let error = exec.verify(&capturing).expect_err("the stream is capturing");
    let flags = sys::CUgraphInstantiate_flags_enum::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    drop(capturing.end_capture(flags).expect("the end of the capture"));
    assert!(matches!(error, Error::StreamCapturing { .. }), "{error}");
    device.nothing_reported();
}

/// Each driver call of a verification fails once. The arguments are as before, nothing leaks, and the exec can be
/// launched.
#[test]
fn every_call_fails_once() {
    let Some(device) = simulated_alone() else { return };
    let (x, mut z) = (device.upload(&ramp(1.0)), device.zeros::<f32>(2 * N as usize));
    let mut y = device.upload(&ramp(5.0));
    let graph = in_nodes(&device.ctx, N, 2.0, &x, &mut y, &mut z).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    equal(exec.verify(&device.stream), 3 * 4 * u64::from(N));
    // The first use of a view creates an event.
    assert_eq!(device.download(&exec.args().y), ramp(5.0));
    let before = cuweave_sim::call_counts().expect("the simulated driver");
    equal(exec.verify(&device.stream), 3 * 4 * u64::from(N));
    let after = cuweave_sim::call_counts().expect("the simulated driver");
    let made = after.into_iter().filter(|(call, count)| before.get(call) != Some(count));
    let calls: Vec<String> = made.map(|(call, _)| call).collect();
    let mut told = 0;
    for call in &calls {
        for number in 1..=40 {
            let what = format!("`{call}` {number}");
            let live = cuweave_sim::live_objects().expect("counts");
            cuweave_sim::inject_fault(call, number, NOT_SUPPORTED).expect("a fault");
            let verified = exec.verify(&device.stream);
            let over = cuweave_sim::clear_faults().expect("faults") > 0;
            let _ = device.ctx.check_err();
            match verified {
                Ok(verification) => assert!(verification.difference().is_none(), "{what}: {verification}"),
                Err(error) => {
                    assert!(!over, "{what}: {error}");
                    told += 1;
                }
            }
            device.stream.synchronize().expect("all is well");
            let _ = device.ctx.check_err();
            assert_eq!(device.download(&exec.args().y), ramp(5.0), "{what}");
            assert_eq!(cuweave_sim::live_objects().expect("counts"), live, "{what} leaves something behind");
            if over {
                break;
            }
        }
    }
    assert!(told > 20, "only {told} failures were told");
    equal(exec.verify(&device.stream), 3 * 4 * u64::from(N));
    device.nothing_reported();
}

/// Lack of memory is told, and is no error.
#[test]
fn lack_of_memory_is_not_verified() {
    let Some(device) = simulated_alone() else { return };
    let (x, mut y) = (device.upload(&ramp(1.0)), device.upload(&ramp(5.0)));
    let mut z = device.zeros::<f32>(2 * N as usize);
    let graph = in_arena(&device.ctx, N, 2.0, &x, &mut y, &mut z).expect("a graph");
    let mut exec = graph.instantiate().expect("an exec");
    // The memory of the statements as written.
    cuweave_sim::inject_fault("cuMemCreate", 1, OUT_OF_MEMORY).expect("a fault");
    let verification = exec.verify(&device.stream).expect("no error");
    assert_eq!(cuweave_sim::clear_faults().expect("faults"), 0);
    assert!(!verification.is_equal() && verification.difference().is_none(), "{verification}");
    assert!(verification.not_verified().is_some_and(|why| why.contains("OUT_OF_MEMORY")), "{verification}");
    // The copies on the device: they are on the host instead.
    cuweave_sim::inject_fault("cuMemCreate", 2, OUT_OF_MEMORY).expect("a fault");
    equal(exec.verify(&device.stream), 3 * 4 * u64::from(N));
    assert_eq!(cuweave_sim::clear_faults().expect("faults"), 0);
    drop(exec);
    assert_eq!(device.download(&y), ramp(5.0));
    device.nothing_reported();
}
