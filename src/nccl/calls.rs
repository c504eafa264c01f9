//! The library calls of this module: each describes one collective. The text of the description is what ranks
//! compare before anything is enqueued.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::MaybeUninit;

use cudarc::driver::{DevicePtr, DevicePtrMut};

use crate::CallStream;

use super::communicator::{Communicator, pointer, pointer_mut};
use super::element::{Element, Reduce};
use super::error::Error;

/// Reduces x over all ranks, in place: afterwards x is the result on all ranks.
///
/// `all_reduce(&comm, &mut x, Reduce::Sum, n);` with `n` of type `u32`.
#[crate::call(collective)]
pub unsafe fn all_reduce<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &mut [T; n],
    by: Reduce,
    n: u32,
) -> Result<(), Error> {
    let x = x.device_ptr_mut(stream).0;
    let text = format!("all_reduce {} of {n} {}", by.name(), T::NAME);
    comm.describe(stream, text, move |raw| {
        let (library, by) = (raw.library, by.number());
        let (from, to) = (pointer(x), pointer_mut(x));
        let status =
            unsafe { (library.ncclAllReduce)(from, to, n as usize, T::NUMBER, by, raw.comm, raw.stream) };
        library.check_status("ncclAllReduce", status)
    })
}

/// Reduces x over all ranks into y, on all ranks.
///
/// `all_reduce_to(&comm, &x, &mut y, Reduce::Sum, n);`
#[crate::call(collective)]
pub unsafe fn all_reduce_to<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &[T; n],
    y: &mut [MaybeUninit<T>; n],
    by: Reduce,
    n: u32,
) -> Result<(), Error> {
    let (x, y) = (x.device_ptr(stream).0, y.device_ptr_mut(stream).0);
    let text = format!("all_reduce {} of {n} {}", by.name(), T::NAME);
    comm.describe(stream, text, move |raw| {
        let (library, by) = (raw.library, by.number());
        let (from, to) = (pointer(x), pointer_mut(y));
        let status =
            unsafe { (library.ncclAllReduce)(from, to, n as usize, T::NUMBER, by, raw.comm, raw.stream) };
        library.check_status("ncclAllReduce", status)
    })
}

/// Reduces x over all ranks into x of rank `root`. On the other ranks x is unchanged.
///
/// `reduce(&comm, &mut x, Reduce::Sum, root, n);`
#[crate::call(collective)]
pub unsafe fn reduce<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &mut [T; n],
    by: Reduce,
    root: u32,
    n: u32,
) -> Result<(), Error> {
    let x = x.device_ptr_mut(stream).0;
    let text = format!("reduce {} of {n} {} to rank {root}", by.name(), T::NAME);
    comm.describe(stream, text, move |raw| {
        let (library, by, root) = (raw.library, by.number(), root_of(root, raw.ranks)?);
        let (from, to) = (pointer(x), pointer_mut(x));
        let status =
            unsafe { (library.ncclReduce)(from, to, n as usize, T::NUMBER, by, root, raw.comm, raw.stream) };
        library.check_status("ncclReduce", status)
    })
}

/// Copies x of rank `root` to x of all ranks.
///
/// `broadcast(&comm, &mut x, root, n);`
#[crate::call(collective)]
pub unsafe fn broadcast<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &mut [T; n],
    root: u32,
    n: u32,
) -> Result<(), Error> {
    let x = x.device_ptr_mut(stream).0;
    let text = format!("broadcast of {n} {} from rank {root}", T::NAME);
    comm.describe(stream, text, move |raw| {
        let (library, root) = (raw.library, root_of(root, raw.ranks)?);
        let (from, to) = (pointer(x), pointer_mut(x));
        let status =
            unsafe { (library.ncclBroadcast)(from, to, n as usize, T::NUMBER, root, raw.comm, raw.stream) };
        library.check_status("ncclBroadcast", status)
    })
}

/// Concatenates the n elements x of each rank, by rank, into y on all ranks.
///
/// `all_gather(&comm, &x, &mut y, n);`: y has `n * comm.ranks()` elements.
#[crate::call(collective)]
pub unsafe fn all_gather<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &[T; n],
    y: &mut [MaybeUninit<T>; n * comm.ranks()],
    n: u32,
) -> Result<(), Error> {
    let (x, y) = (x.device_ptr(stream).0, y.device_ptr_mut(stream).0);
    comm.describe(stream, format!("all_gather of {n} {} each", T::NAME), move |raw| {
        let library = raw.library;
        let (from, to) = (pointer(x), pointer_mut(y));
        let status =
            unsafe { (library.ncclAllGather)(from, to, n as usize, T::NUMBER, raw.comm, raw.stream) };
        library.check_status("ncclAllGather", status)
    })
}

/// Reduces x over all ranks; y gets this rank's n elements of the result.
///
/// `reduce_scatter(&comm, &x, &mut y, Reduce::Sum, n);`: x has `n * comm.ranks()` elements, and rank i gets
/// the n elements from `i * n` on.
#[crate::call(collective)]
pub unsafe fn reduce_scatter<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &[T; n * comm.ranks()],
    y: &mut [MaybeUninit<T>; n],
    by: Reduce,
    n: u32,
) -> Result<(), Error> {
    let (x, y) = (x.device_ptr(stream).0, y.device_ptr_mut(stream).0);
    let text = format!("reduce_scatter {} of {n} {} each", by.name(), T::NAME);
    comm.describe(stream, text, move |raw| {
        let (library, by) = (raw.library, by.number());
        let (from, to) = (pointer(x), pointer_mut(y));
        let status =
            unsafe { (library.ncclReduceScatter)(from, to, n as usize, T::NUMBER, by, raw.comm, raw.stream) };
        library.check_status("ncclReduceScatter", status)
    })
}

/// Shifts x around the ring of ranks: each rank sends its x to the rank `by` after it, and y is the x of the
/// rank `by` before.
///
/// `shift(&comm, &x, &mut y, 1, n);`: a combined send and receive, which all ranks make.
#[crate::call(collective)]
pub unsafe fn shift<T: Element>(
    stream: &CallStream,
    comm: &Communicator,
    x: &[T; n],
    y: &mut [MaybeUninit<T>; n],
    by: u32,
    n: u32,
) -> Result<(), Error> {
    let (x, y) = (x.device_ptr(stream).0, y.device_ptr_mut(stream).0);
    comm.describe(stream, format!("shift by {by} of {n} {}", T::NAME), move |raw| {
        let (library, ranks) = (raw.library, u64::from(raw.ranks));
        let to = (u64::from(raw.rank) + u64::from(by)) % ranks;
        let from = (u64::from(raw.rank) + ranks - u64::from(by) % ranks) % ranks;
        let [to, from] = [to, from].map(|rank| c_int::try_from(rank).unwrap_or(c_int::MAX));
        let (count, number) = (n as usize, T::NUMBER);
        unsafe {
            let status = (library.ncclSend)(pointer(x), count, number, to, raw.comm, raw.stream);
            library.check_status("ncclSend", status)?;
            let status = (library.ncclRecv)(pointer_mut(y), count, number, from, raw.comm, raw.stream);
            library.check_status("ncclRecv", status)
        }
    })
}

/// Converts a root, which must be a rank. Called after all ranks have agreed on it, so a root that differs
/// between ranks is an error on all of them.
fn root_of(root: u32, ranks: u32) -> Result<c_int, Error> {
    if root >= ranks {
        return Err(Error::NoRank { rank: root, ranks });
    }
    Ok(c_int::try_from(root).unwrap_or(c_int::MAX))
}
