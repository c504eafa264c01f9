//! Managed memory: its association with streams, advice, prefetches and discards, and `__managed__` variables.
//!
//! The rules are those that the real driver implements: where there is a real driver, most of these tests run on it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::{self, CUresult};
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};

const SIZE: usize = 1 << 20;
/// `CU_MEM_ATTACH_GLOBAL`, `_HOST` and `_SINGLE`.
const GLOBAL: u32 = 1;
const HOST: u32 = 2;
const SINGLE: u32 = 4;

fn managed(flags: u32) -> u64 {
    let mut address = 0;
    ok!(sys::cuMemAllocManaged(&mut address, SIZE, flags));
    address
}

fn place(type_: sys::CUmemLocationType, id: i32) -> sys::CUmemLocation {
    sys::CUmemLocation { type_, __bindgen_anon_1: sys::CUmemLocation_st__bindgen_ty_1 { id } }
}

#[test]
fn managed_memory_and_advice_about_it() {
    use sys::CUmem_advise::*;
    use sys::CUmemLocationType::*;
    let context = Context::new();
    let mut address = 0;
    gives!(INVALID, sys::cuMemAllocManaged(&mut address, 0, 1));
    gives!(INVALID, sys::cuMemAllocManaged(&mut address, SIZE, 4));
    gives!(INVALID, sys::cuMemAllocManaged(&mut address, SIZE, 3));
    ok!(sys::cuMemAllocManaged(&mut address, SIZE, 1));
    let device = place(CU_MEM_LOCATION_TYPE_DEVICE, 0);
    let host = place(CU_MEM_LOCATION_TYPE_HOST, 0);
    let numa = place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);
    ok!(sys::cuMemAdvise_v2(address, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    ok!(sys::cuMemAdvise_v2(address, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    ok!(sys::cuMemAdvise_v2(address, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    gives!(INVALID, sys::cuMemAdvise_v2(address, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, numa));
    let plain = context.alloc(SIZE);
    gives!(INVALID, sys::cuMemAdvise_v2(plain, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    let graph = Graph::new();
    assert_eq!(graph.try_free(&[], address).unwrap_err(), INVALID);
    ok!(sys::cuMemFree_v2(plain));
    ok!(sys::cuMemFree_v2(address));
}

#[test]
fn prefetches_and_discards_have_streams_and_are_not_captured() {
    use sys::CUmemLocationType::*;
    let context = Context::new();
    let mut address = 0;
    ok!(sys::cuMemAllocManaged(&mut address, SIZE, 1));
    let (device, stream) = (place(CU_MEM_LOCATION_TYPE_DEVICE, 0), context.stream);
    let null = std::ptr::null_mut();
    ok!(sys::cuMemPrefetchAsync_v2(address, SIZE, device, 0, null));
    gives!(INVALID, sys::cuMemPrefetchAsync_v2(address, SIZE, device, 1, stream));
    gives!(INVALID, sys::cuMemPrefetchAsync_v2(address, SIZE + 1, device, 0, stream));
    let (mut addresses, mut sizes, mut places) = ([address; 2], [SIZE; 2], [device; 2]);
    let mut batch = |stream, count: usize, mut firsts: [usize; 2], flags| {
        let (addresses, sizes) = (addresses.as_mut_ptr(), sizes.as_mut_ptr());
        let (places, firsts) = (places.as_mut_ptr(), firsts.as_mut_ptr());
        // SAFETY: the lists live until the call returns.
        unsafe { sys::cuMemPrefetchBatchAsync(addresses, sizes, count, places, firsts, 2, flags, stream) }
    };
    assert_eq!(batch(stream, 2, [0, 1], 0), sys::CUresult::CUDA_SUCCESS);
    for (stream, count, firsts) in [(null, 2, [0, 1]), (stream, 0, [0, 1]), (stream, 2, [1, 1])] {
        assert_eq!(batch(stream, count, firsts, 0), INVALID, "{stream:?} {count} {firsts:?}");
    }
    // The documentation excludes equal indices. Driver 580.159 accepts them.
    let equal = if context.simulated { INVALID } else { sys::CUresult::CUDA_SUCCESS };
    assert_eq!(batch(stream, 2, [0, 0], 0), equal);
    assert_eq!(batch(stream, 1, [0, 1], 0), INVALID);
    assert_eq!(batch(stream, 2, [0, 1], 1), INVALID);
    let mut one = SIZE;
    ok!(sys::cuMemDiscardBatchAsync(&mut address, &mut one, 1, 0, stream));
    gives!(INVALID, sys::cuMemDiscardBatchAsync(&mut address, &mut one, 1, 0, null));
    ok!(sys::cuStreamAttachMemAsync(stream, address, 0, 4));
    gives!(INVALID, sys::cuStreamAttachMemAsync(null, address, 0, 4));
    gives!(INVALID, sys::cuStreamAttachMemAsync(stream, address, SIZE - 1, 1));
    gives!(INVALID, sys::cuStreamAttachMemAsync(stream, address, 0, 3));
    let unsupported = sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let mut graph = std::ptr::null_mut();
    ok!(sys::cuStreamBeginCapture_v2(stream, mode));
    gives!(unsupported, sys::cuMemPrefetchAsync_v2(address, SIZE, device, 0, stream));
    gives!(sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, sys::cuStreamEndCapture(stream, &mut graph));
    ok!(sys::cuMemFree_v2(address));
}

#[test]
fn locations_that_do_not_exist_are_refused() {
    use sys::CUmem_advise::*;
    use sys::CUmemLocationType::*;
    let context = Context::new();
    let address = managed(GLOBAL);
    let numa = |node| place(CU_MEM_LOCATION_TYPE_HOST_NUMA, node);
    let (preferred, mostly) = (CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_READ_MOSTLY);
    ok!(sys::cuMemAdvise_v2(address, SIZE, preferred, numa(0)));
    ok!(sys::cuMemPrefetchAsync_v2(address, SIZE, numa(0), 0, context.stream));
    for node in [-1, 4095] {
        gives!(INVALID, sys::cuMemAdvise_v2(address, SIZE, preferred, numa(node)));
        gives!(INVALID, sys::cuMemPrefetchAsync_v2(address, SIZE, numa(node), 0, context.stream));
        // This advice ignores its location.
        ok!(sys::cuMemAdvise_v2(address, SIZE, mostly, numa(node)));
    }
    let device = place(CU_MEM_LOCATION_TYPE_DEVICE, 99);
    gives!(INVALID, sys::cuMemAdvise_v2(address, SIZE, preferred, device));
    gives!(
        CUresult::CUDA_ERROR_INVALID_DEVICE,
        sys::cuMemPrefetchAsync_v2(address, SIZE, device, 0, context.stream)
    );
    ok!(sys::cuMemFree_v2(address));
}

/// A context with managed memory that belongs to one of its streams, and another stream.
struct Attached {
    context: Context,
    address: u64,
    other: sys::CUstream,
    /// Other device memory.
    plain: u64,
    /// The name of the managed memory, which no other test uses.
    name: String,
}

impl Attached {
    /// `None` for a real driver, which does not check the association.
    fn new() -> Option<Self> {
        let context = Context::new();
        if !context.simulated {
            return None;
        }
        let (address, plain, mut other) = (managed(GLOBAL), context.alloc(SIZE), null_mut());
        ok!(sys::cuStreamCreate(&mut other, 1));
        ok!(sys::cuStreamAttachMemAsync(context.stream, address, 0, SINGLE));
        ok!(sys::cuStreamSynchronize(context.stream));
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("attached_{}_", COUNT.fetch_add(1, Ordering::Relaxed));
        SimulatorCalls::new().memory(address, &name);
        Some(Attached { context, address, other, plain, name })
    }

    /// Checks that the context is broken, with one report about the memory.
    fn broken(&self, word: &str) {
        gives!(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, sys::cuStreamSynchronize(self.other));
        let reports = reports_of(&self.name);
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!(report.kind, "illegal-address");
        let why = "managed memory that is attached to another stream";
        assert!(report.text.contains(why) && report.text.contains(word), "{}", report.text);
        assert!(!report.text.contains("no live allocation"), "{}", report.text);
    }
}

#[test]
fn memory_of_one_stream_is_filled_and_copied_in_that_stream() {
    let Some(memory) = Attached::new() else { return };
    let Attached { context: Context { stream, .. }, address, plain, .. } = &memory;
    let host = [0u8; 16];
    ok!(sys::cuMemsetD8Async(*address, 7, SIZE, *stream));
    ok!(sys::cuMemcpyDtoDAsync_v2(*plain, *address, SIZE, *stream));
    ok!(sys::cuMemcpyHtoDAsync_v2(*address, host.as_ptr().cast(), 16, *stream));
    ok!(sys::cuStreamSynchronize(*stream));
    assert_eq!(memory.context.download::<u8>(*plain, 4), [7; 4]);
}

#[test]
fn another_stream_neither_fills_nor_copies_it() {
    type Use = fn(&Attached, sys::CUstream) -> CUresult;
    let uses: [(Use, &str); 5] = [
        (|m, stream| unsafe { sys::cuMemsetD8Async(m.address + 8, 7, 16, stream) }, "a fill of"),
        (|m, stream| unsafe { sys::cuMemcpyDtoDAsync_v2(m.plain, m.address, 16, stream) }, "a copy of"),
        (|m, stream| unsafe { sys::cuMemcpyDtoDAsync_v2(m.address, m.plain, 16, stream) }, "a copy of"),
        (|m, stream| unsafe { sys::cuMemcpyAsync(m.address, m.plain, 16, stream) }, "a copy of"),
        (
            |m, stream| unsafe { sys::cuMemcpyDtoHAsync_v2(m.address as *mut _, m.plain, 16, stream) },
            "a copy of",
        ),
    ];
    for (run, word) in uses {
        let Some(memory) = Attached::new() else { return };
        ok!(sys::cuMemsetD8_v2(memory.plain, 1, SIZE));
        assert_eq!(run(&memory, memory.other), OK);
        memory.broken(word);
    }
}

#[test]
fn nodes_use_it_only_in_launches_in_its_stream() {
    let fills = |memory: &Attached| {
        let graph = Graph::new();
        graph.fill(&memory.context, &[], memory.address, 7, SIZE);
        graph
    };
    let copies = |memory: &Attached| {
        let graph = Graph::new();
        graph.copy(&memory.context, &[], memory.address, memory.plain, 16);
        graph
    };
    let stores = |memory: &Attached| {
        let module = memory.context.module(include_str!("kernels.ptx"));
        let graph = Graph::new();
        graph.kernel(&[], memory.context.function(module, "store_word"), 1, 1, &[memory.address]);
        graph
    };
    type Make = fn(&Attached) -> Graph;
    for (make, word) in [(fills as Make, "fills"), (copies, "copies"), (stores, "that it has no access to")] {
        let Some(memory) = Attached::new() else { return };
        ok!(sys::cuMemsetD8_v2(memory.plain, 1, SIZE));
        let exec = make(&memory).exec();
        assert_eq!(exec.launch(&memory.context), OK);
        assert_eq!(memory.context.sync(), OK);
        gives!(OK, sys::cuGraphLaunch(exec.0, memory.other));
        memory.broken(word);
    }
}

#[test]
fn the_end_of_a_stream_restores_the_association_of_the_allocation() {
    let context = Context::new();
    if !context.simulated {
        return;
    }
    let fill = |address, stream| unsafe { sys::cuMemsetD8Async(address, 7, SIZE, stream) };
    let address = managed(HOST);
    // In between it is global, which is not what it returns to: without concurrent access that would differ.
    ok!(sys::cuStreamAttachMemAsync(context.stream, address, 0, GLOBAL));
    let mut other = null_mut();
    ok!(sys::cuStreamCreate(&mut other, 1));
    ok!(sys::cuStreamAttachMemAsync(other, address, 0, SINGLE));
    ok!(sys::cuStreamDestroy_v2(other));
    assert_eq!(fill(address, context.stream), OK);
    assert_eq!(context.sync(), OK);
    // A context that is destroyed takes its streams along.
    let (mut second, mut of_second) = (null_mut(), null_mut());
    ok!(sys::cuCtxCreate_v4(&mut second, null_mut(), 0, 0));
    ok!(sys::cuStreamCreate(&mut of_second, 1));
    ok!(sys::cuStreamAttachMemAsync(of_second, address, 0, SINGLE));
    ok!(sys::cuCtxDestroy_v2(second));
    ok!(sys::cuCtxSetCurrent(context.context));
    assert_eq!(fill(address, context.stream), OK);
    assert_eq!(context.sync(), OK);
}

const VARIABLES: &str = ".version 8.0\n.target sm_80\n.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 counter = 7;
.visible .global .attribute(.managed) .align 8 .u64 place = counter;
.visible .global .align 4 .u32 plain;
.visible .entry add()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [counter];
    add.u32 %r2, %r1, 1;
    st.global.u32 [counter], %r2;
    ret;
}
";

fn variable(module: sys::CUmodule, name: &std::ffi::CStr) -> (u64, usize) {
    let (mut address, mut bytes) = (0, 0);
    ok!(sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()));
    (address, bytes)
}

#[test]
fn managed_variables_are_managed_memory() {
    use sys::CUmem_advise::*;
    use sys::CUmem_range_attribute::*;
    use sys::CUmemLocationType::*;
    use sys::CUpointer_attribute::*;
    let context = Context::new();
    let module = context.module(VARIABLES);
    let ((address, bytes), (plain, _)) = (variable(module, c"counter"), variable(module, c"plain"));
    let attribute = |number, of| {
        let mut value = 0u64;
        ok!(sys::cuPointerGetAttribute((&raw mut value).cast(), number, of));
        value
    };
    assert_eq!((attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, address), bytes), (1, 4));
    assert_eq!(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, plain), 0);
    assert_eq!(attribute(CU_POINTER_ATTRIBUTE_HOST_POINTER, address), address);
    assert_eq!(attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, address), 4);
    assert_eq!(attribute(CU_POINTER_ATTRIBUTE_CONTEXT, address), 0);
    // The host reads and writes it by its address.
    let counter = address as *mut u32;
    let (second, _) = variable(module, c"place");
    // SAFETY: no work that uses the variables runs.
    unsafe {
        assert_eq!((counter.read_volatile(), (second as *const u64).read_volatile()), (7, address));
        counter.write_volatile(20);
    }
    let function = context.function(module, "add");
    let launch = |stream| unsafe {
        sys::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, null_mut(), null_mut())
    };
    assert_eq!(launch(context.stream), OK);
    assert_eq!(context.sync(), OK);
    // SAFETY: the kernel has ended.
    assert_eq!(unsafe { counter.read_volatile() }, 21);
    // Advice, prefetches and associations.
    let device = place(CU_MEM_LOCATION_TYPE_DEVICE, 0);
    ok!(sys::cuMemAdvise_v2(address, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    gives!(INVALID, sys::cuMemAdvise_v2(plain, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    ok!(sys::cuMemPrefetchAsync_v2(address, bytes, device, 0, context.stream));
    let read = |number| {
        let mut value = -7;
        ok!(sys::cuMemRangeGetAttribute((&raw mut value).cast(), 4, number, address, bytes));
        value
    };
    assert_eq!(read(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
    assert_eq!(read(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
    let mut other = null_mut();
    ok!(sys::cuStreamCreate(&mut other, 1));
    ok!(sys::cuStreamAttachMemAsync(other, address, 0, SINGLE));
    assert_eq!(launch(other), OK);
    ok!(sys::cuStreamSynchronize(other));
    // It is global by default, and returns to that.
    ok!(sys::cuStreamDestroy_v2(other));
    assert_eq!(launch(context.stream), OK);
    assert_eq!(context.sync(), OK);
    // SAFETY: the kernels have ended.
    assert_eq!(unsafe { counter.read_volatile() }, 23);
    // It is freed with its module only.
    gives!(INVALID, sys::cuMemFree_v2(address));
    ok!(sys::cuModuleUnload(module));
    gives!(INVALID, sys::cuMemAdvise_v2(address, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
}
