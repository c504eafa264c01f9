//! Bytes that nothing wrote: variables begin as zeros, copies between devices keep bytes marked as unwritten, and
//! copies to the host report them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cuweave_testkit::ok;
use cuweave_testkit::raw::*;

/// Allocates 64 bytes and writes the first 16.
fn partly(context: &Context, notes: &SimulatorCalls, name: &str) -> u64 {
    let address = context.alloc(64);
    notes.memory(address, name);
    ok!(sys::cuMemsetD8_v2(address, 1, 16));
    address
}

/// Asserts that one warning names the buffer and this number of bytes.
fn warned(name: &str, bytes: u64) {
    let reports = reports_of(&format!("`{name}`"));
    assert_eq!(reports.len(), 1, "`{name}`: {reports:?}");
    assert_eq!((reports[0].kind.as_str(), reports[0].error), ("uninitialised-read", 0));
    let said = format!("copies {bytes} bytes to the host that were never written");
    assert!(reports[0].text.contains(&said), "{}", reports[0].text);
}

/// Returns a copy of rows from a device to host memory.
fn rows(from: u64, to: *mut u8, pitch: usize, (width, height): (usize, usize)) -> sys::CUDA_MEMCPY3D {
    sys::CUDA_MEMCPY3D {
        srcPitch: pitch,
        dstPitch: width,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: to.cast(),
        dstDevice: 0,
        srcHeight: height,
        dstHeight: height,
        WidthInBytes: width,
        Height: height,
        ..copy_params(0, from, 1)
    }
}

fn plane(of: &sys::CUDA_MEMCPY3D) -> sys::CUDA_MEMCPY2D {
    sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: of.srcMemoryType,
        srcHost: null(),
        srcDevice: of.srcDevice,
        srcArray: null_mut(),
        srcPitch: of.srcPitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: of.dstMemoryType,
        dstHost: of.dstHost,
        dstDevice: of.dstDevice,
        dstArray: null_mut(),
        dstPitch: of.dstPitch,
        WidthInBytes: of.WidthInBytes,
        Height: of.Height,
    }
}

fn pinned(bytes: usize) -> *mut u8 {
    let mut host: *mut c_void = null_mut();
    ok!(sys::cuMemHostAlloc(&mut host, bytes, 0));
    host.cast()
}

#[test]
fn every_copy_of_a_stream_to_the_host_tells() {
    let Some((context, notes)) = Context::simulated() else { return };
    let mut host = [0u8; 64];
    let to = host.as_mut_ptr();
    let stream = context.stream;
    let source = |name| partly(&context, &notes, name);
    ok!(sys::cuMemcpyDtoH_v2(to.cast(), source("uw_sync"), 64));
    warned("uw_sync", 48);
    ok!(sys::cuMemcpyDtoHAsync_v2(to.cast(), source("uw_async"), 64, stream));
    warned("uw_async", 48);
    ok!(sys::cuMemcpy(to as u64, source("uw_unified"), 32));
    warned("uw_unified", 16);
    ok!(sys::cuMemcpyAsync(to as u64, source("uw_unified_async"), 20, stream));
    warned("uw_unified_async", 4);
    // Two rows of 12 bytes at a distance of 16: only the second row is unwritten. Of four rows, three are
    // unwritten.
    ok!(sys::cuMemcpy2D_v2(&plane(&rows(source("uw_2d"), to, 16, (12, 2)))));
    warned("uw_2d", 12);
    ok!(sys::cuMemcpy2DUnaligned_v2(&plane(&rows(source("uw_2d_unaligned"), to, 16, (12, 4)))));
    warned("uw_2d_unaligned", 36);
    ok!(sys::cuMemcpy2DAsync_v2(&plane(&rows(source("uw_2d_async"), to, 16, (12, 3))), stream));
    warned("uw_2d_async", 24);
    ok!(sys::cuMemcpy3D_v2(&rows(source("uw_3d"), to, 16, (12, 2))));
    warned("uw_3d", 12);
    ok!(sys::cuMemcpy3DAsync_v2(&rows(source("uw_3d_async"), to, 16, (12, 2)), stream));
    warned("uw_3d_async", 12);
    // The context is not broken, because this is a warning.
    assert_eq!(context.sync(), OK);
}

#[test]
fn host_memory_of_every_kind_is_the_host() {
    let Some((context, notes)) = Context::simulated() else { return };
    let source = |name| partly(&context, &notes, name);
    let to = pinned(64);
    ok!(sys::cuMemcpyDtoHAsync_v2(to.cast(), source("uw_pinned"), 64, context.stream));
    warned("uw_pinned", 48);
    // The same through its device address.
    ok!(sys::cuMemcpyDtoD_v2(to as u64, source("uw_pinned_device"), 64));
    warned("uw_pinned_device", 48);
    let mut managed = 0;
    ok!(sys::cuMemAllocManaged(&mut managed, 64, 1));
    ok!(sys::cuMemcpyDtoDAsync_v2(managed, source("uw_managed"), 64, context.stream));
    warned("uw_managed", 48);
    let mut own = vec![0u8; 64];
    ok!(sys::cuMemHostRegister_v2(own.as_mut_ptr().cast(), 64, 0));
    ok!(sys::cuMemcpy(own.as_mut_ptr() as u64, source("uw_registered"), 64));
    warned("uw_registered", 48);
    ok!(sys::cuMemHostUnregister(own.as_mut_ptr().cast()));
    ok!(sys::cuMemFree_v2(managed));
    ok!(sys::cuMemFreeHost(to.cast()));
}

#[test]
fn nodes_tell_by_their_name_and_the_buffers() {
    let Some((context, notes)) = Context::simulated() else { return };
    let to = pinned(64);
    let source = context.alloc(64);
    let graph = Graph::new();
    let fill = graph.fill(&context, &[], source, 1, 16);
    let params = rows(source, to, 64, (64, 1));
    let mut copy = null_mut();
    ok!(sys::cuGraphAddMemcpyNode(&mut copy, graph.0, &fill, 1, &params, context.context));
    notes.node(copy, "uw_node", 7);
    notes.buffer(&graph, "uw_node_source", source, 64, &[fill, copy]);
    let exec = graph.exec();
    for launches in 1..=2 {
        assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
        let reports = reports_of("`uw_node` (src/plan.rs:7)");
        assert_eq!(reports.len(), launches, "{reports:?}");
        assert!(reports[0].text.contains("copies 48 bytes to the host that were never written"));
        assert!(reports[0].text.contains("in `uw_node_source`"), "{}", reports[0].text);
        assert_eq!(
            (reports[0].error, reports[0].nodes.as_slice()),
            (0, &["`uw_node` (src/plan.rs:7)".to_owned()][..])
        );
    }
    ok!(sys::cuMemFreeHost(to.cast()));
}

#[test]
fn copies_between_devices_carry_the_mark_and_tell_nothing() {
    let Some((context, notes)) = Context::simulated() else { return };
    let source = partly(&context, &notes, "uw_carried_from");
    let (a, b, c) = (context.alloc(64), context.alloc(64), context.alloc(64));
    notes.memory(c, "uw_carried_to");
    ok!(sys::cuMemcpyDtoD_v2(a, source, 64));
    ok!(sys::cuMemcpyPeer(b, context.context, a, context.context, 64));
    let graph = Graph::new();
    let copied = graph.copy(&context, &[], c, b, 64);
    // Four of these bytes are written.
    graph.fill(&context, &[copied], c + 60, 3, 4);
    assert_eq!((graph.exec().launch(&context), context.sync()), (OK, OK));
    assert!(reports_of("uw_carried_from").is_empty() && reports_of("uw_carried_to").is_empty());
    assert_eq!(context.download::<u8>(c, 16), [1; 16]);
    assert_eq!(context.download::<u8>(c + 60, 4), [3; 4]);
    assert!(reports_of("uw_carried_to").is_empty());
    context.download::<u8>(c, 64);
    warned("uw_carried_to", 44);
}

#[test]
fn what_is_written_is_never_told_of() {
    let Some((context, notes)) = Context::simulated() else { return };
    let address = context.alloc(64);
    notes.memory(address, "uw_all");
    ok!(sys::cuMemsetD32_v2(address, 7, 16));
    context.download::<u8>(address, 64);
    assert!(reports_of("uw_all").is_empty());
}

const VARIABLES: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .global .align 4 .b8 table[64] = {1, 2, 3};
.visible .const .align 4 .b8 zeros[64];
.visible .const .align 4 .u32 some[4] = {5};
.global .align 8 .f64 sums[4];

.visible .entry ticket(.param .u64 out)
{
  .reg .b32 %a<8>; .reg .b64 %d<4>; .reg .f64 %f<4>;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d1, %d1;
  atom.global.add.u32 %a1, [counter], 1;
  ld.global.u32 %a2, [table + 60];
  ld.const.u32 %a3, [zeros + 32];
  ld.const.u32 %a4, [some + 12];
  ld.global.f64 %f1, [sums + 24];
  add.f64 %f1, %f1, 0d3FF0000000000000;
  st.global.f64 [sums + 24], %f1;
  cvt.rzi.u32.f64 %a5, %f1;
  st.global.u32 [%d1], %a1;
  st.global.u32 [%d1 + 4], %a2;
  st.global.u32 [%d1 + 8], %a3;
  st.global.u32 [%d1 + 12], %a4;
  st.global.u32 [%d1 + 16], %a5;
  ret;
}
";

fn ticket(context: &Context, module: sys::CUmodule) -> Vec<u32> {
    let function = context.function(module, "ticket");
    let out = context.alloc(20);
    let mut arguments = [(&raw const out).cast_mut().cast::<c_void>()];
    ok!(sys::cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        context.stream,
        arguments.as_mut_ptr(),
        null_mut()
    ));
    assert_eq!(context.sync(), OK);
    context.download(out, 5)
}

#[test]
fn variables_begin_with_zeros_in_every_load() {
    let context = Context::new();
    for _ in 0..2 {
        let module = context.module(VARIABLES);
        assert_eq!(ticket(&context, module), [0, 0, 0, 0, 1]);
        assert_eq!(ticket(&context, module), [1, 0, 0, 0, 2]);
        let (mut address, mut bytes) = (0, 0);
        ok!(sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"table".as_ptr()));
        let mut expected = vec![0u8; 64];
        expected[..3].copy_from_slice(&[1, 2, 3]);
        assert_eq!(context.download::<u8>(address, bytes), expected);
        ok!(sys::cuModuleUnload(module));
    }
    assert!(reports_of("`counter`").is_empty() && reports_of("`table`").is_empty());
}

#[test]
fn variables_that_are_copied_into_carry_the_mark() {
    let Some((context, notes)) = Context::simulated() else { return };
    let module = context.module(&VARIABLES.replace("counter", "uw_counter"));
    let (mut address, mut bytes) = (0, 0);
    ok!(sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"uw_counter".as_ptr()));
    let source = partly(&context, &notes, "uw_into_variable");
    ok!(sys::cuMemcpyDtoD_v2(address, source + 16, 4));
    context.download::<u32>(address, 1);
    warned("uw_counter", 4);
}

#[test]
fn memory_that_nothing_touches_costs_nothing() {
    let Some((context, _)) = Context::simulated() else { return };
    let before = std::time::Instant::now();
    // More than the memory of many machines.
    let all: Vec<u64> = (0..4).map(|_| context.alloc(8 << 30)).collect();
    for &address in &all {
        ok!(sys::cuMemsetD32_v2(address + (7 << 30), 5, 4));
        assert_eq!(context.download::<u32>(address + (7 << 30), 4), [5; 4]);
    }
    all.into_iter().for_each(|address| ok!(sys::cuMemFree_v2(address)));
    assert!(before.elapsed().as_secs() < 10, "{:?}", before.elapsed());
}
