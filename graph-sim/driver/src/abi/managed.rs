//! Managed memory: allocation, association with streams, advice, prefetching and discarding.

#![allow(missing_docs, clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::base::config::config;
use crate::base::pointer::{read_array, write_result};
use crate::base::status::{Result, Status};
use crate::base::types::{CUdeviceptr, CUmemLocation, CUstream, LOCATION_DEVICE, STREAM_LEGACY};
use crate::call::driver_calls;
use crate::memory::pages::{HOST, Location, Page, StreamAssociation};
use crate::memory::{AllocationKind, MemoryPlace};
use crate::state::{State, state};

/// `CU_MEM_LOCATION_TYPE_HOST`, `_HOST_NUMA` and `_HOST_NUMA_CURRENT`.
const LOCATION_HOST: u32 = 2;
const LOCATION_NUMA: u32 = 3;
const LOCATION_CURRENT: u32 = 4;
/// `CU_DEVICE_INVALID`.
const NONE: c_int = -2;
/// The byte with which discarded memory is filled, so that a read of it is noticed.
const DISCARDED_BYTE: u8 = 0xcb;

/// Checks a location.
fn location(
    state: &State,
    location: CUmemLocation,
    kinds: std::ops::RangeInclusive<u32>,
) -> Result<Location> {
    if !kinds.contains(&location.kind) {
        return Err(Status::INVALID_VALUE);
    }
    match location.kind {
        LOCATION_DEVICE => {
            state.device(location.id)?;
            if config().concurrent { Ok((location.kind, location.id)) } else { Err(Status::INVALID_DEVICE) }
        }
        LOCATION_NUMA if !(0..config().numa_nodes).contains(&location.id) => Err(Status::INVALID_VALUE),
        LOCATION_NUMA => Ok((location.kind, location.id)),
        kind => Ok((kind, 0)),
    }
}

/// Returns the location for the device argument of the calls' first versions; -1 stands for the host.
fn location_from_device(state: &State, device: c_int) -> Result<Location> {
    let kind = if device == HOST { LOCATION_HOST } else { LOCATION_DEVICE };
    location(state, CUmemLocation { kind, id: device }, 1..=2)
}

/// Applies advice to a range. `at` is called only for advice that uses its location.
fn advise(
    address: u64,
    bytes: usize,
    advice: c_uint,
    at: impl FnOnce(&State, std::ops::RangeInclusive<u32>) -> Result<Location>,
) -> Result {
    let mut state = state();
    state.captures.refuse_without_stream()?;
    let (_, managed, range) = state.memory.managed(address, bytes as u64)?;
    let change: Box<dyn Fn(&mut Page)> = match advice {
        1 => Box::new(|page| page.read_mostly = true),
        2 => Box::new(Page::collapse),
        3 => {
            let at = at(&state, 1..=4)?;
            Box::new(move |page| page.preferred = Some(at))
        }
        4 => Box::new(|page| page.preferred = None),
        5 | 6 => {
            let (kind, id) = at(&state, 1..=2)?;
            let by = if kind == LOCATION_DEVICE { id } else { HOST };
            Box::new(move |page| match advice {
                5 => drop(page.accessed_by.insert(by)),
                _ => drop(page.accessed_by.remove(&by)),
            })
        }
        _ => return Err(Status::INVALID_VALUE),
    };
    managed.on_pages(range, change);
    Ok(())
}

/// Checks the stream of a prefetch or a discard.
fn ordered(state: &mut State, stream: CUstream) -> Result {
    state.stream_context(stream)?;
    state.captures.refuse(stream)?;
    if config().concurrent { Ok(()) } else { Err(Status::INVALID_DEVICE) }
}

fn prefetch(
    address: u64,
    bytes: usize,
    stream: CUstream,
    to: impl FnOnce(&State) -> Result<Location>,
) -> Result {
    let mut state = state();
    ordered(&mut state, stream)?;
    let to = to(&state)?;
    state.memory.prefetch(address, bytes as u64, to)
}

/// Checks a batch and returns its ranges.
fn batch(
    state: &mut State,
    addresses: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    stream: CUstream,
) -> Result<Vec<(u64, usize)>> {
    if count == 0 || flags != 0 || matches!(stream, 0 | STREAM_LEGACY) {
        return Err(Status::INVALID_VALUE);
    }
    let ranges: Vec<_> = read_array(addresses, count)?.into_iter().zip(read_array(sizes, count)?).collect();
    if !config().concurrent {
        return Err(Status::NOT_SUPPORTED);
    }
    ordered(state, stream)?;
    for &(address, bytes) in &ranges {
        state.memory.managed(address, bytes as u64)?;
    }
    Ok(ranges)
}

/// Returns the location of each range of a batch. Each location applies from an index on; the indices must rise
/// from 0.
fn batch_locations(
    state: &State,
    locations: *mut CUmemLocation,
    firsts: *mut usize,
    count: usize,
    ranges: usize,
) -> Result<Vec<Location>> {
    let (locations, firsts) = (read_array(locations, count)?, read_array(firsts, count)?);
    let rises = firsts.windows(2).all(|pair| pair[0] < pair[1]);
    if firsts.first() != Some(&0) || !rises || firsts.last().is_none_or(|&last| last >= ranges) {
        return Err(Status::INVALID_VALUE);
    }
    let checked: Vec<_> =
        locations.into_iter().map(|at| location(state, at, 1..=4)).collect::<Result<_>>()?;
    let of = |range: usize| checked[firsts.partition_point(|&first| first <= range) - 1];
    Ok((0..ranges).map(of).collect())
}

/// Discards the contents of the pages that lie entirely within a range.
fn discard(state: &State, address: u64, bytes: usize) -> Result {
    use crate::memory::pages::PAGE;
    let (found, managed, range) = state.memory.managed(address, bytes as u64)?;
    let (first, last) = (range.start.next_multiple_of(PAGE), range.end / PAGE * PAGE);
    if first < last {
        let place = MemoryPlace::Device(found.backing.clone(), first);
        crate::memory::fill(&place, u32::from(DISCARDED_BYTE), 1, last - first);
    }
    managed.discard(range);
    Ok(())
}

/// Writes an attribute of a range.
fn attribute(
    state: &State,
    data: *mut c_void,
    size: usize,
    number: c_uint,
    address: u64,
    bytes: usize,
) -> Result {
    let (_, managed, range) = state.memory.managed(address, bytes as u64)?;
    let place = |found: Option<Option<Location>>| found.flatten();
    let preferred = || place(managed.common(range.clone(), |page| page.preferred));
    let prefetched = || place(managed.common(range.clone(), |page| page.prefetched));
    let device = |location: Option<Location>| match location {
        Some((LOCATION_DEVICE, id)) => id,
        Some((LOCATION_HOST | LOCATION_NUMA | LOCATION_CURRENT, _)) => HOST,
        _ => NONE,
    };
    if number == 3 {
        if size == 0 || !size.is_multiple_of(4) {
            return Err(Status::INVALID_VALUE);
        }
        let mut all = Vec::new();
        for by in (HOST..).take(state.devices.len() + 1) {
            if managed.common(range.clone(), |page| page.accessed_by.contains(&by)) == Some(true) {
                all.push(by);
            }
        }
        all.resize(size / 4, NONE);
        let data = data.cast::<c_int>();
        // SAFETY: the program passes room for `size` bytes.
        return all
            .into_iter()
            .enumerate()
            .try_for_each(|(at, id)| write_result(unsafe { data.add(at) }, id));
    }
    let value = match number {
        1 => c_int::from(managed.common(range.clone(), |page| page.read_mostly) == Some(true)),
        2 => device(preferred()),
        4 => device(prefetched()),
        5 => preferred().map_or(0, |location| location.0 as c_int),
        6 => preferred().map_or(0, |location| location.1),
        7 => prefetched().map_or(0, |location| location.0 as c_int),
        8 => prefetched().map_or(0, |location| location.1),
        _ => return Err(Status::INVALID_VALUE),
    };
    if size == 4 { write_result(data.cast(), value) } else { Err(Status::INVALID_VALUE) }
}

driver_calls! {
    Call fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytes: usize, flags: c_uint) {
        if dptr.is_null() || !matches!(flags, 1 | 2) {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = state();
        let context = state.current()?;
        let device = state.current_device()?;
        state.captures.refuse_without_stream()?;
        if !config().managed {
            return Err(Status::NOT_SUPPORTED);
        }
        let (kind, host) = (AllocationKind::Managed, flags == 2);
        write_result(dptr, state.memory.allocate_managed(bytes as u64, kind, host, device, context)?)
    }

    Call fn cuStreamAttachMemAsync(hstream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint) {
        let mut state = state();
        state.stream_context(hstream)?;
        state.captures.refuse(hstream)?;
        let found = state.memory.at(dptr).ok_or(Status::INVALID_VALUE)?;
        let managed = found.managed.as_ref().ok_or(Status::INVALID_VALUE)?;
        let to = match flags {
            1 => StreamAssociation::Global,
            2 => StreamAssociation::Host,
            4 if !matches!(hstream, 0 | STREAM_LEGACY) => StreamAssociation::Single(hstream),
            _ => return Err(Status::INVALID_VALUE),
        };
        if length != 0 && length as u64 != found.size {
            return Err(Status::INVALID_VALUE);
        }
        managed.attach(to);
        Ok(())
    }

    Call fn cuMemAdvise_v2(dptr: CUdeviceptr, count: usize, advice: c_uint, place: CUmemLocation) {
        // Measured: advice that ignores its location still needs a valid location type.
        if !(LOCATION_DEVICE..=LOCATION_CURRENT).contains(&place.kind) {
            return Err(Status::INVALID_VALUE);
        }
        // Measured: a device that does not exist is an invalid value here, and an invalid device for prefetches.
        let exists = |state: &State| place.kind != LOCATION_DEVICE || state.device(place.id).is_ok();
        advise(dptr, count, advice, |state, kinds| match exists(state) {
            true => location(state, place, kinds),
            false => Err(Status::INVALID_VALUE),
        })
    }

    Call fn cuMemAdvise(dptr: CUdeviceptr, count: usize, advice: c_uint, device: c_int) {
        advise(dptr, count, advice, |state, _| location_from_device(state, device))
    }

    Call fn cuMemPrefetchAsync(dptr: CUdeviceptr, count: usize, device: c_int, hstream: CUstream) {
        prefetch(dptr, count, hstream, |state| location_from_device(state, device))
    }

    Call fn cuMemPrefetchAsync_v2(
        dptr: CUdeviceptr, count: usize, place: CUmemLocation, flags: c_uint, hstream: CUstream
    ) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        prefetch(dptr, count, hstream, |state| location(state, place, 1..=4))
    }

    Call fn cuMemPrefetchBatchAsync(
        dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation,
        firsts: *mut usize, places: usize, flags: c_ulonglong, hstream: CUstream
    ) {
        let mut state = state();
        let ranges = batch(&mut state, dptrs, sizes, count, flags, hstream)?;
        let to = batch_locations(&state, locations, firsts, places, count)?;
        for ((address, bytes), to) in ranges.into_iter().zip(to) {
            state.memory.prefetch(address, bytes as u64, to)?;
        }
        Ok(())
    }

    Call fn cuMemDiscardBatchAsync(
        dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: c_ulonglong, hstream: CUstream
    ) {
        let mut state = state();
        let ranges = batch(&mut state, dptrs, sizes, count, flags, hstream)?;
        ranges.into_iter().try_for_each(|(address, bytes)| discard(&state, address, bytes))
    }

    Call fn cuMemDiscardAndPrefetchBatchAsync(
        dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation,
        firsts: *mut usize, places: usize, flags: c_ulonglong, hstream: CUstream
    ) {
        let mut state = state();
        let ranges = batch(&mut state, dptrs, sizes, count, flags, hstream)?;
        let to = batch_locations(&state, locations, firsts, places, count)?;
        for ((address, bytes), to) in ranges.into_iter().zip(to) {
            discard(&state, address, bytes)?;
            state.memory.prefetch(address, bytes as u64, to)?;
        }
        Ok(())
    }

    Call fn cuMemRangeGetAttribute(data: *mut c_void, size: usize, number: c_uint, dptr: CUdeviceptr, count: usize) {
        attribute(&state(), data, size, number, dptr, count)
    }

    Call fn cuMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, numbers: *mut c_uint, attributes: usize, dptr: CUdeviceptr,
        count: usize
    ) {
        let (data, sizes) = (read_array(data, attributes)?, read_array(sizes, attributes)?);
        let numbers = read_array(numbers, attributes)?;
        if attributes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let state = state();
        let mut all = data.into_iter().zip(sizes).zip(numbers);
        all.try_for_each(|((data, size), number)| attribute(&state, data, size, number, dptr, count))
    }
}
