//! Stream work: captured into a graph, or executed as it is enqueued.
//!
//! [`enqueue`] checks an operation, adds it to the stream's capture if there is one, and otherwise executes it
//! before it returns.

use crate::base::callback;
use crate::base::status::{Result, Status};
use crate::graph::accounts;
use crate::graph::capture;
use crate::memory::{Kind, Touched};
use crate::state::op::Op;
use crate::state::{State, state};
use crate::work::kernel::{self, Part};
use crate::work::meeting::{self, Poll};
use crate::work::transfer;

/// Executes an operation in a stream, or captures it.
pub fn enqueue(stream: u64, op: &Op) -> Result {
    let mut state = state();
    let context = state.stream_context(stream)?;
    if let Op::Kernel(launch) = op
        && let Err(status) = kernel::check(&state, launch)
    {
        // Measured on driver 580 (CUDA 13.0): this refusal invalidates a capture.
        if let (Status::COOPERATIVE_LAUNCH_TOO_LARGE, Some(capture)) = (status, state.captures.of(stream)) {
            capture.broken = true;
        }
        return Err(status);
    }
    meeting::check(&state, op)?;
    if capture::capture(&mut state, stream, op)? {
        return Ok(());
    }
    match op {
        Op::Kernel(launch) => {
            let part = Part::Whole { dependent: false };
            if let (_, Err(report)) = kernel::run(&state, launch, context, stream, None, false, part) {
                state.break_context(context, report.status);
                drop(state);
                report.file();
            }
            Ok(())
        }
        Op::Copy(copy) => {
            let told = transfer::run_copy(&state, copy, None)?
                .map_or(Ok(()), |found| transfer::tell_unwritten(&state, found, None, None));
            if let Err(report) = told {
                state.break_context(context, report.status);
                drop(state);
                report.file();
            }
            Ok(())
        }
        Op::Fill(fill) => transfer::run_fill(&state, fill, context, None),
        Op::Host { function, data, .. } => {
            let (function, data) = (*function, *data);
            drop(state);
            // SAFETY: the program passed the function to be called with this argument.
            callback::outside(|| unsafe { function(data as *mut std::ffi::c_void) });
            Ok(())
        }
        Op::Meeting { poll, data } => {
            let (mut state, result) = meeting::meet(state, Poll { function: *poll, data: *data }, "a stream");
            if let Err(report) = result {
                state.break_context(context, report.status);
                drop(state);
                report.file();
            }
            Ok(())
        }
        Op::Free(address) => free(&mut state, *address),
        Op::Memory(_) | Op::Signal(_) | Op::WaitSemaphore(_) => {
            let mut touched = Touched::new();
            let (mut state, result) = meeting::run(state, op, "a stream", &mut touched);
            if let Err(report) = result {
                state.break_context(context, report.status);
                drop(state);
                report.file();
            }
            Ok(())
        }
        Op::Empty | Op::Child(_) | Op::Conditional(_) | Op::Alloc { .. } | Op::Record(_) | Op::Wait(_) => {
            Ok(())
        }
    }
}

/// Frees an allocation in stream order: one of a graph, of a pool or of `cuMemAlloc`.
pub fn free(state: &mut State, address: u64) -> Result {
    match state.memory.at(address).ok_or(Status::INVALID_VALUE)?.kind {
        Kind::Graph(_) => accounts::free(state, address),
        Kind::Pool(pool) => {
            let gone = state.memory.free(address)?;
            if let Some(pool) = state.pools.get_mut(pool) {
                pool.give(gone.size);
            }
            Ok(())
        }
        Kind::Device => state.memory.free(address).map(drop),
        _ => Err(Status::INVALID_VALUE),
    }
}
