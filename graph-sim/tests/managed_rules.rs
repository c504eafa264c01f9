//! Rules of managed memory that need devices without concurrent access, and refusals of calls about it.

#![allow(unsafe_code)]

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUmem_advise::*, CUmemLocationType::*, CUresult};
use cuweave_testkit::process::apart;
use cuweave_testkit::raw::{Context, INVALID, OK};
use cuweave_testkit::{gives, ok};

const GLOBAL: u32 = 1;
const HOST: u32 = 2;
const SINGLE: u32 = 4;

fn managed(flags: u32) -> u64 {
    let mut address = 0;
    ok!(sys::cuMemAllocManaged(&mut address, 4096, flags));
    address
}

/// Runs a kernel that writes a word, in a stream. An error breaks the context.
fn write_in(context: &Context, stream: sys::CUstream, address: u64) -> CUresult {
    let function = context.function(context.module(include_str!("kernels.ptx")), "store_word");
    let mut address = address;
    let mut arguments = [(&raw mut address).cast::<std::ffi::c_void>()];
    ok!(sys::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.as_mut_ptr(), null_mut()));
    unsafe { sys::cuStreamSynchronize(stream) }
}

/// Returns the result of a write in a new stream of a new context.
fn write_elsewhere(address: u64) -> CUresult {
    let context = Context::new();
    write_in(&context, context.stream, address)
}

#[test]
fn attached_memory_is_for_the_host_or_one_stream() {
    if cuweave_sim::load().unwrap().is_simulated() {
        apart("attached", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn attached() {
    const ILLEGAL: CUresult = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    for (flags, by_default) in [(GLOBAL, OK), (HOST, ILLEGAL)] {
        let owner = Context::new();
        let address = managed(flags);
        assert_eq!(write_elsewhere(address), by_default, "flags {flags}");
        ok!(sys::cuCtxSetCurrent(owner.context));
        let mut stream = null_mut();
        ok!(sys::cuStreamCreate(&mut stream, 1));
        ok!(sys::cuStreamAttachMemAsync(stream, address, 0, SINGLE));
        assert_eq!(write_in(&owner, stream, address), OK);
        assert_eq!(write_elsewhere(address), ILLEGAL, "another stream");
        // The end of the stream restores the first association.
        ok!(sys::cuCtxSetCurrent(owner.context));
        ok!(sys::cuStreamDestroy_v2(stream));
        assert_eq!(write_elsewhere(address), by_default, "flags {flags}, after the stream");
        ok!(sys::cuCtxSetCurrent(owner.context));
        ok!(sys::cuMemFree_v2(address));
    }
}

#[test]
fn advice_without_concurrent_access_names_no_device() {
    if cuweave_sim::load().unwrap().is_simulated() {
        apart("not_concurrent", &[("CUWEAVE_SIM_CONCURRENT", "0")]);
    }
}

fn place(kind: sys::CUmemLocationType, id: i32) -> sys::CUmemLocation {
    sys::CUmemLocation { type_: kind, __bindgen_anon_1: sys::CUmemLocation_st__bindgen_ty_1 { id } }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn not_concurrent() {
    const DEVICE: CUresult = CUresult::CUDA_ERROR_INVALID_DEVICE;
    let context = Context::new();
    let address = managed(GLOBAL);
    let [device, host] = [place(CU_MEM_LOCATION_TYPE_DEVICE, 0), place(CU_MEM_LOCATION_TYPE_HOST, 7)];
    for advice in [CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_ACCESSED_BY] {
        gives!(DEVICE, sys::cuMemAdvise_v2(address, 4096, advice, device));
        // The number of the host is ignored.
        ok!(sys::cuMemAdvise_v2(address, 4096, advice, host));
    }
    gives!(DEVICE, sys::cuMemPrefetchAsync_v2(address, 4096, host, 0, context.stream));
    ok!(sys::cuMemFree_v2(address));
}

#[test]
fn locations_of_advice_are_checked() {
    let context = Context::new();
    let address = managed(GLOBAL);
    let preferred = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    // Advice that ignores its location needs a valid type of it all the same.
    for advice in [CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, preferred] {
        gives!(INVALID, sys::cuMemAdvise_v2(address, 4096, advice, place(CU_MEM_LOCATION_TYPE_INVALID, 0)));
    }
    let no_device = place(CU_MEM_LOCATION_TYPE_DEVICE, 99);
    if context.simulated {
        ok!(sys::cuMemAdvise_v2(address, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, no_device));
    }
    for advice in [preferred, CU_MEM_ADVISE_SET_ACCESSED_BY] {
        gives!(INVALID, sys::cuMemAdvise_v2(address, 4096, advice, no_device));
    }
    let current = place(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 7);
    ok!(sys::cuMemAdvise_v2(address, 4096, preferred, current));
    gives!(INVALID, sys::cuMemAdvise_v2(address, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, current));
    gives!(INVALID, sys::cuMemAdvise_v2(address, 4097, preferred, current));
    assert_eq!(context.sync(), OK);
    ok!(sys::cuMemFree_v2(address));
}
