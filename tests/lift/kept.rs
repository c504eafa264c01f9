//! Nodes that are kept as they were captured, memory of nodes, and parameters that are null or overlap.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{CudaModule, CudaSlice, CudaStream, DevicePtr, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use cuweave::{Captured, Error, Finding};
use cuweave_testkit::device::{ExclusiveDevice, pinned, ramp};

use crate::library::{Kernels, PTX, threads};
use crate::{COUNT, N, faults, lifted, untracked};

#[test]
fn what_is_not_a_launch_is_kept() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let (mut x, mut y) = (device.zeros::<f32>(N), device.zeros::<f32>(N));
    let (mut pinned, stream) = (pinned(&device.ctx, &[1.5_f32; N]), &device.stream);
    let called = Arc::new(AtomicU32::new(0));
    let pageable: Vec<f32> = vec![2.5; N];
    let captured = Captured::of(stream, || {
        stream.memcpy_htod(&pinned, &mut x).expect("a copy");
        kernels.scale(stream, &mut x, 2.0, COUNT);
        let seen = called.clone();
        unsafe { call_host(stream, seen) };
        stream.memcpy_htod(&pageable, &mut y).expect("a copy");
        kernels.axpy(stream, 1.0, &x, &mut y, COUNT);
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    let kept: Vec<&str> = lifted
        .findings()
        .list()
        .iter()
        .filter_map(|finding| match finding {
            Finding::Kept { name, .. } => Some(&**name),
            _ => None,
        })
        .collect();
    assert_eq!(kept, ["copy", "host function", "copy"], "{}", lifted.findings());
    let found = faults(&lifted);
    assert!(found[0].starts_with("host memory: node 3 (`copy`) reads pageable host memory"), "{found:?}");
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    for launches in 1..=3 {
        pinned.as_mut_slice().expect("no copy runs").fill(launches as f32);
        exec.launch(stream).expect("it launches");
        assert_eq!(device.download(&y), vec![2.0 * launches as f32 + 2.5; N]);
        assert_eq!(called.load(Ordering::Relaxed), launches);
    }
    drop(exec);
    device.nothing_reported();
}

/// Enqueues a call of a host function that counts.
unsafe fn call_host(stream: &CudaStream, count: Arc<AtomicU32>) {
    unsafe extern "C" fn add(data: *mut std::ffi::c_void) {
        unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
    }
    // Leaked: the graph may run as long as the test.
    let data = Arc::into_raw(count).cast_mut().cast();
    let done = unsafe { sys::cuLaunchHostFunc(stream.cu_stream(), Some(add), data) };
    done.result().expect("a host function");
}

#[test]
fn a_launch_whose_parameters_overlap_is_kept() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let mut y = device.upload(&ramp(N));
    let captured = Captured::of(&device.stream, || {
        kernels.scale(&device.stream, &mut y, 2.0, COUNT);
        let (f, address) = (kernels.function("axpy"), address(&device, &y));
        let launch = |stream: &CudaStream| unsafe {
            let mut launch = stream.launch_builder(&f);
            launch.arg(&3.0_f32).arg(&address).arg(&address).arg(&COUNT).launch(threads(COUNT)).map(drop)
        };
        launch(&device.stream).expect("axpy");
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    let text = lifted.findings().to_string();
    assert_eq!(text, "kept as captured: node 1 (`axpy`): two of its parameters overlap");
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    let wanted: Vec<f32> = ramp(N).iter().map(|x| 8.0 * x).collect();
    assert_eq!(device.download(&y), wanted);
    drop(exec);
    device.nothing_reported();
}

fn address(device: &ExclusiveDevice, slice: &CudaSlice<f32>) -> u64 {
    slice.device_ptr(&device.stream).0
}

#[test]
fn allocations_that_leave_a_graph_are_outputs() {
    let device = untracked();
    let (kernels, x) = (Kernels::new(&device.ctx), device.upload(&ramp(N)));
    let stream = &device.stream;
    let captured = Captured::of(stream, || {
        let mut y = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.copy_to(stream, &x, &mut y, COUNT);
        kernels.scale(stream, &mut y, 4.0, COUNT);
        // Its address is of the captured graph alone, which is never launched.
        y.leak()
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    assert_eq!(lifted.findings().to_string(), "nothing found");
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    for _ in 0..2 {
        let launched = exec.launch(stream).expect("it launches");
        let bytes = launched.nth::<u8>(0).expect("an output");
        let found: Vec<u8> = stream.clone_dtoh(&bytes).expect("it is read");
        let found = found.chunks_exact(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().expect("four")));
        assert!(found.eq(ramp(N).into_iter().map(|x| 4.0 * x)));
        let missing = launched.nth::<u8>(1).map(drop).expect_err("there is one");
        assert!(missing.to_string().starts_with("there is no output 1"), "{missing}");
    }
    drop(exec);
    device.nothing_reported();
}

#[test]
fn memory_that_nothing_wrote_and_uses_after_a_free_are_found() {
    let device = untracked();
    let (kernels, mut y) = (Kernels::new(&device.ctx), device.zeros::<f32>(N));
    let stream = &device.stream;
    let captured = Captured::of(stream, || {
        let mut h = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.scale(stream, &mut h, 2.0, COUNT);
        kernels.copy_to(stream, &h, &mut y, COUNT);
        let address = h.device_ptr(stream).0;
        drop(h);
        let f = kernels.function("copy_to");
        let mut launch = stream.launch_builder(&f);
        unsafe { launch.arg(&address).arg(&mut y).arg(&COUNT).launch(threads(COUNT)) }.expect("copy_to");
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    let found = faults(&lifted);
    assert!(found.iter().any(|text| text.starts_with("unwritten memory: node 1 (`scale`)")), "{found:#?}");
    assert!(found.iter().any(|text| text.starts_with("use after free: node 4 (`copy_to`)")), "{found:#?}");
    let refused = lifted.graph().map(drop).expect_err("it uses freed memory");
    assert!(refused.to_string().contains("use after free"), "{refused}");
}

#[test]
fn ranges_that_data_decides_are_assumed_and_left_in_the_captured_order() {
    let device = untracked();
    let (kernels, side) = (Kernels::new(&device.ctx), device.new_stream());
    let keys: Vec<u32> = (0..COUNT).map(|at| at % 16).collect();
    let (keys, mut bins) = (device.upload(&keys), device.zeros::<u32>(32));
    let f = kernels.function("histogram");
    let captured = Captured::of(&device.stream, || {
        side.join(&device.stream).expect("a fork");
        for (stream, part) in [(&device.stream, 0..16), (&side, 16..32)] {
            let mut part = bins.slice_mut(part);
            let mut launch = stream.launch_builder(&f);
            let launch = launch.arg(&keys).arg(&mut part).arg(&COUNT).arg(&16_u32);
            unsafe { launch.launch(threads(COUNT)) }.expect("histogram");
        }
        device.stream.join(&side).expect("a join");
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    println!("{}", lifted.findings());
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    exec.launch(&device.stream).expect("it launches");
    let count = |bin: u32| (0..COUNT).filter(|at| at % 16 == bin).count() as u32;
    let wanted: Vec<u32> = (0..32).map(|bin| count(bin % 16)).collect();
    assert_eq!(device.download(&bins), wanted);
    drop(exec);
    device.nothing_reported();
}

#[test]
fn null_pointers_and_tables_of_constants_are_launches() {
    const OPTIONAL: &str = include_str!("../kernels/optional.ptx");
    const STATE: &str = include_str!("../kernels/state.ptx");
    let device = untracked();
    let load = |text: &str| device.ctx.load_module(Ptx::from_src(text)).expect("a module");
    let (optional, state) = (load(OPTIONAL), load(STATE));
    let function = |module: &Arc<CudaModule>, name: &str| module.load_function(name).expect("a kernel");
    let (x, stream) = (device.upload(&ramp(N)), &device.stream);
    let (mut y, mut z, mut odd) = (device.zeros::<f32>(N), device.zeros::<f32>(N), device.zeros::<u32>(64));
    let captured = Captured::of(stream, || unsafe {
        let (null, config) = (0_u64, threads(COUNT));
        let (f, g, h) =
            (function(&optional, "biased"), function(&optional, "doubled"), function(&optional, "squared"));
        stream.launch_builder(&f).arg(&x).arg(&null).arg(&mut y).arg(&COUNT).launch(config).expect("biased");
        stream.launch_builder(&g).arg(&null).arg(&mut y).arg(&COUNT).launch(config).expect("doubled");
        stream.launch_builder(&h).arg(&y).arg(&null).arg(&mut z).arg(&COUNT).launch(config).expect("squared");
        let f = function(&state, "odd_numbers");
        stream.launch_builder(&f).arg(&mut odd).arg(&64_u32).launch(threads(64)).expect("odd_numbers");
        let f = function(&state, "state_step");
        stream.launch_builder(&f).launch(threads(1)).expect("state_step");
    })
    .expect("it is captured");
    let lifted = unsafe { cuweave::lift(&device.ctx, &captured, &[OPTIONAL, STATE]) }.expect("it is lifted");
    assert_eq!(
        lifted.findings().to_string(),
        "kept as captured: node 4 (`state_step`): it uses the variable `counter` of its module, which others set"
    );
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    cuweave_check::check(&exec.certificate()).expect("the certificate holds");
    exec.launch(stream).expect("it launches");
    let square = |x: f32| (2.0 * x + 1.0) * (2.0 * x + 1.0);
    assert_eq!(device.download(&z), ramp(N).into_iter().map(square).collect::<Vec<f32>>());
    assert_eq!(device.download(&odd)[..4], [1, 3, 5, 7]);
    drop(exec);
    device.nothing_reported();
}

#[test]
fn memory_of_nodes_may_have_the_address_of_earlier_memory() {
    let device = untracked();
    let (kernels, x) = (Kernels::new(&device.ctx), device.upload(&ramp(N)));
    let (mut y, stream) = (device.zeros::<f32>(N), &device.stream);
    let captured = Captured::of(stream, || {
        let mut addresses = Vec::new();
        for factor in [2.0, 3.0, 4.0] {
            let mut h = unsafe { stream.alloc::<f32>(N) }.expect("memory");
            addresses.push(h.device_ptr(stream).0);
            kernels.copy_to(stream, &x, &mut h, COUNT);
            kernels.scale(stream, &mut h, factor, COUNT);
            kernels.axpy(stream, 1.0, &h, &mut y, COUNT);
        }
        addresses
    })
    .expect("it is captured");
    assert_eq!(captured.result()[0], captured.result()[1], "the driver takes the address again");
    for texts in [&[PTX][..], &[]] {
        stream.memset_zeros(&mut y).expect("a fill");
        let lifted = unsafe { cuweave::lift(&device.ctx, &captured, texts) }.expect("it is lifted");
        assert_eq!(faults(&lifted), Vec::<String>::new());
        let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
        cuweave_check::check(&exec.certificate()).expect("the certificate holds");
        exec.launch(stream).expect("it launches");
        let wanted: Vec<f32> = ramp(N).iter().map(|x| 9.0 * x).collect();
        assert_eq!(device.download(&y), wanted);
    }
    device.nothing_reported();
}

/// A kernel whose values decide which thread accesses which element, and one that needs blocks of a size.
const ORDERED: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry turned(.param .u64 turned_x, .param .u64 turned_y, .param .u32 turned_turn)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<2>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [turned_x];
    ld.param.u64 %rd2, [turned_y];
    ld.param.u32 %r1, [turned_turn];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r2, %tid.x;
    sub.u32 %r3, 63, %r2;
    setp.ne.u32 %p1, %r1, 0;
    selp.u32 %r4, %r3, %r2, %p1;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f1;
    ret;
}
.visible .entry required(.param .u64 required_x)
.reqntid 64
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [required_x];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 0;
    st.global.u32 [%rd3], %r2;
    ret;
}
";

#[test]
fn values_that_move_accesses_between_threads_are_not_set() {
    let device = untracked();
    let module = device.ctx.load_module(Ptx::from_src(ORDERED)).expect("a module");
    let (turned, required) = (module.load_function("turned"), module.load_function("required"));
    let (turned, required) = (turned.expect("a kernel"), required.expect("a kernel"));
    let (x, stream) = (device.upload(&ramp(64)), &device.stream);
    let (mut y, mut z) = (device.zeros::<f32>(64), device.zeros::<f32>(64));
    let mut zeroed = device.upload(&ramp(64));
    let captured = Captured::of(stream, || unsafe {
        let config = threads(64);
        stream.launch_builder(&turned).arg(&x).arg(&mut y).arg(&0_u32).launch(config).expect("turned");
        stream.launch_builder(&turned).arg(&y).arg(&mut z).arg(&0_u32).launch(config).expect("turned");
        stream.launch_builder(&required).arg(&mut zeroed).launch(config).expect("required");
    })
    .expect("it is captured");
    let lifted = unsafe { cuweave::lift(&device.ctx, &captured, &[ORDERED]) }.expect("it is lifted");
    assert_eq!(lifted.findings().to_string(), "nothing found");
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    let refused = exec.kernel("turned", 1).expect("the second").set(2, 1_u32).expect_err("other threads");
    assert!(matches!(refused, Error::BuildAgain { .. }), "{refused}");
    exec.launch(stream).expect("it launches");
    assert_eq!(device.download(&z), ramp(64));
    assert_eq!(device.download(&zeroed), vec![0.0; 64]);
    drop(exec);
    device.nothing_reported();
}

#[test]
fn outputs_that_are_read_before_they_are_written_are_zeros_at_first() {
    let device = untracked();
    let kernels = Kernels::new(&device.ctx);
    let stream = &device.stream;
    let captured = Captured::of(stream, || {
        let mut y = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.scale(stream, &mut y, 2.0, COUNT);
        y.leak()
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    assert!(faults(&lifted)[0].starts_with("unwritten memory: node 1 (`scale`)"), "{}", lifted.findings());
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    let launched = exec.launch(stream).expect("it launches");
    let bytes: Vec<u8> = stream.clone_dtoh(&launched.nth::<u8>(0).expect("an output")).expect("it is read");
    assert_eq!(bytes, vec![0; 4 * N]);
    drop(exec);
    device.nothing_reported();
}

#[test]
fn races_with_kept_nodes_are_ordered_and_their_memory_is_not_replaced() {
    let device = untracked();
    let (kernels, side) = (Kernels::new(&device.ctx), device.new_stream());
    let (mut x, mut y) = (device.zeros::<f32>(N), device.zeros::<f32>(N));
    let host = pinned(&device.ctx, &[3.0_f32; N]);
    let captured = Captured::of(&device.stream, || {
        side.join(&device.stream).expect("a fork");
        side.memcpy_htod(&host, &mut x).expect("a copy");
        kernels.copy_to(&device.stream, &x, &mut y, COUNT);
        device.stream.join(&side).expect("a join");
    })
    .expect("it is captured");
    let lifted = lifted(&device, &captured);
    assert_eq!(lifted.findings().faults().count(), 1, "{}", lifted.findings());
    let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
    exec.launch(&device.stream).expect("it launches");
    assert_eq!(device.download(&y), vec![3.0; N]);
    let unverified = exec.verify(&device.stream).map(drop).expect_err("a kept node");
    assert!(unverified.to_string().contains("is kept as it was captured"), "{unverified}");
    let address = x.device_ptr(&device.stream).0;
    let other = unsafe { cuweave::Foreign::<u8>::new(address, 4 * N, ()) }.expect("memory");
    let nth = usize::from(address > y.device_ptr(&device.stream).0);
    let refused = exec.set_memory(nth, other).expect_err("the copy keeps its address");
    assert!(refused.to_string().contains("cannot be replaced: node 0 (`copy`)"), "{refused}");
    drop(exec);
    device.nothing_reported();
}

#[test]
fn dead_addresses_among_the_parameters_of_kept_kernels_are_no_use() {
    let device = untracked();
    let (kernels, x) = (Kernels::new(&device.ctx), device.upload(&ramp(N)));
    let (mut y, stream) = (device.zeros::<f32>(N), &device.stream);
    let captured = Captured::of(stream, || {
        let mut h = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.copy_to(stream, &x, &mut h, COUNT);
        kernels.copy_to(stream, &h, &mut y, COUNT);
        let dead = h.device_ptr(stream).0;
        drop(h);
        // Reads nothing at the address that it is given first.
        let f = kernels.function("axpy");
        let mut launch = stream.launch_builder(&f);
        unsafe { launch.arg(&1.0_f32).arg(&dead).arg(&dead).arg(&0_u32).launch(threads(64)) }.expect("axpy");
        let mut g = unsafe { stream.alloc::<f32>(N) }.expect("memory");
        kernels.copy_to(stream, &y, &mut g, COUNT);
        kernels.axpy(stream, 2.0, &g, &mut y, COUNT);
        dead
    })
    .expect("it is captured");
    let wanted: Vec<f32> = ramp(N).iter().map(|x| 3.0 * x).collect();
    for texts in [&[PTX][..], &[]] {
        let lifted = unsafe { cuweave::lift(&device.ctx, &captured, texts) }.expect("it is lifted");
        assert_eq!(lifted.findings().faults().count(), 0, "{}", lifted.findings());
        let mut exec = lifted.graph().expect("it builds").instantiate().expect("it instantiates");
        exec.launch(stream).expect("it launches");
        assert_eq!(device.download(&y), wanted);
    }
    device.nothing_reported();
}
