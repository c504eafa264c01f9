//! The rules of reserved addresses and mapped memory, as the real driver implements them: where there is a real
//! driver, these tests run on it.

#![allow(unsafe_code)]

use cudarc::driver::sys;
use cuweave_testkit::raw::*;
use cuweave_testkit::{gives, ok};

fn properties() -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: location(),
        // SAFETY: zero is a valid value for numbers and pointers.
        ..unsafe { std::mem::zeroed() }
    }
}

fn location() -> sys::CUmemLocation {
    // SAFETY: zero is a valid value for numbers.
    let mut location: sys::CUmemLocation = unsafe { std::mem::zeroed() };
    location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    location
}

/// A reserved range, with the memory that is mapped from its start.
struct Range {
    start: u64,
    bytes: usize,
    mapped: usize,
    step: usize,
}

impl Range {
    fn new(steps: usize) -> Self {
        let (mut start, mut step) = (0, 0);
        let option = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        ok!(sys::cuMemGetAllocationGranularity(&mut step, &properties(), option));
        ok!(sys::cuMemAddressReserve(&mut start, steps * step, 0, 0, 0));
        Range { start, bytes: steps * step, mapped: 0, step }
    }

    /// Maps memory after the mapped part and grants the device access.
    fn grow(&mut self, steps: usize) {
        let (mut handle, bytes) = (0, steps * self.step);
        let at = self.start + self.mapped as u64;
        ok!(sys::cuMemCreate(&mut handle, bytes, &properties(), 0));
        ok!(sys::cuMemMap(at, bytes, 0, handle, 0));
        ok!(sys::cuMemRelease(handle));
        self.access(at, bytes);
        self.mapped += bytes;
    }

    fn access(&self, at: u64, bytes: usize) {
        // SAFETY: zero is a valid value for numbers.
        let mut access: sys::CUmemAccessDesc = unsafe { std::mem::zeroed() };
        access.location = location();
        access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        ok!(sys::cuMemSetAccess(at, bytes, &access, 1));
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if self.mapped > 0 {
            ok!(sys::cuMemUnmap(self.start, self.mapped));
        }
        ok!(sys::cuMemAddressFree(self.start, self.bytes));
    }
}

#[test]
fn a_graph_works_before_and_after_its_memory_has_grown_in_place() {
    let context = Context::new();
    let mut range = Range::new(8);
    range.grow(1);
    let graph = Graph::new();
    let fill = graph.fill_words(&context, &[], range.start, 7, range.step / 4);
    let double = context.function(context.module(include_str!("kernels.ptx")), "double_words");
    let words = 128;
    graph.kernel(
        &[fill],
        double,
        (words / 128) as u32,
        128,
        &[range.start + (range.step - 4 * words) as u64],
    );
    let exec = graph.exec();
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    let end: Vec<u32> = context.download(range.start + (range.step - 4 * words - 8) as u64, words + 2);
    assert_eq!((&end[..2], &end[2..]), (&[7, 7][..], &vec![14; words][..]));

    range.grow(2);
    assert_eq!((exec.launch(&context), context.sync()), (OK, OK));
    let across: Vec<u32> = context.download(range.start + (range.step - 8) as u64, 2);
    assert_eq!(across, [14, 14]);
    // A single copy crosses the border of two mappings.
    let border = range.start + (range.step - 8) as u64;
    context.write(border, &[1u32, 2, 3, 4]);
    assert_eq!(context.download::<u32>(border, 4), [1, 2, 3, 4]);
}

#[test]
fn mapped_memory_is_touched_only_with_access_and_freed_only_by_its_own_calls() {
    let context = Context::new();
    let mut range = Range::new(4);
    let (mut handle, step) = (0, range.step);
    ok!(sys::cuMemCreate(&mut handle, step, &properties(), 0));
    ok!(sys::cuMemMap(range.start, step, 0, handle, 0));
    let mut flags = 7;
    ok!(sys::cuMemGetAccess(&mut flags, &location(), range.start));
    assert_eq!(flags, 0);
    range.access(range.start, step);
    ok!(sys::cuMemGetAccess(&mut flags, &location(), range.start));
    assert_eq!(flags, 3);
    range.mapped = step;
    gives!(INVALID, sys::cuMemFree_v2(range.start));
    gives!(INVALID, sys::cuMemAddressFree(range.start, range.bytes));
    // The handle may be released before the mapping.
    ok!(sys::cuMemRelease(handle));
    context.write(range.start, &[5u32]);
    assert_eq!(context.download::<u32>(range.start, 1), [5]);
}

#[test]
fn sizes_and_places_that_do_not_fit_are_refused() {
    let context = Context::new();
    let range = Range::new(4);
    let (mut start, mut handle, step) = (0, 0, range.step);
    gives!(INVALID, sys::cuMemAddressReserve(&mut start, 0, 0, 0, 0));
    gives!(INVALID, sys::cuMemCreate(&mut handle, 0, &properties(), 0));
    gives!(INVALID, sys::cuMemCreate(&mut handle, step + 4096, &properties(), 0));
    ok!(sys::cuMemCreate(&mut handle, 2 * step, &properties(), 0));
    gives!(INVALID, sys::cuMemMap(range.start + 4096, 2 * step, 0, handle, 0));
    if context.simulated {
        // The real driver refuses a mapping that crosses the end of its range in some runs and accepts it in others.
        gives!(INVALID, sys::cuMemMap(range.start + 3 * step as u64, 2 * step, 0, handle, 0));
    }
    ok!(sys::cuMemMap(range.start, 2 * step, 0, handle, 0));
    let mut other = 0;
    ok!(sys::cuMemCreate(&mut other, step, &properties(), 0));
    gives!(INVALID, sys::cuMemMap(range.start + step as u64, step, 0, other, 0));
    gives!(INVALID, sys::cuMemUnmap(range.start, step));
    ok!(sys::cuMemUnmap(range.start, 2 * step));
    for handle in [handle, other] {
        ok!(sys::cuMemRelease(handle));
    }
    let mut nothing = 0;
    gives!(INVALID, sys::cuMemRetainAllocationHandle(&mut nothing, range.start as *mut _));
}
