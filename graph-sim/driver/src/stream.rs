//! Stream work: captured into a graph, or executed as it is enqueued.
//!
//! [`enqueue`] checks an operation, adds it to the stream's capture if there is one, and otherwise executes it
//! before it returns.

use std::sync::MutexGuard;

use crate::base::callback;
use crate::base::report::Report;
use crate::base::status::{Result, Status};
use crate::graph::capture;
use crate::graph::memory_accounting;
use crate::memory::{AllocationKind, Touched};
use crate::state::operation::Operation;
use crate::state::{State, state};
use crate::work::kernel::{self, KernelPart};
use crate::work::transfer;
use crate::work::waits::{self, Rendezvous};

/// Executes an operation in a stream, or captures it.
pub fn enqueue(stream: u64, op: &Operation) -> Result {
    let mut state = state();
    let context = state.stream_context(stream)?;
    if let Operation::Kernel(launch) = op
        && let Err(status) = kernel::check(&state, launch)
    {
        // Measured on driver 580 (CUDA 13.0): this refusal invalidates a capture.
        if let (Status::COOPERATIVE_LAUNCH_TOO_LARGE, Some(capture)) =
            (status, state.captures.of_stream(stream))
        {
            capture.invalidated = true;
        }
        return Err(status);
    }
    waits::check(&state, op)?;
    if capture::capture(&mut state, stream, op)? {
        return Ok(());
    }
    match op {
        Operation::Kernel(launch) => {
            let part = KernelPart::Whole { dependent: false };
            let (_, result) = kernel::run(&state, launch, context, stream, None, false, part);
            submit(state, context, result);
            Ok(())
        }
        Operation::Copy(copy) => {
            let access = transfer::check_access(&state, op, context, stream, None);
            let told = match access {
                Ok(()) => transfer::run_copy(&state, copy, None)?
                    .map_or(Ok(()), |found| transfer::report_unwritten(&state, found, None, None)),
                Err(report) => Err(report),
            };
            submit(state, context, told);
            Ok(())
        }
        Operation::Fill(fill) => {
            let access = transfer::check_access(&state, op, context, stream, None);
            if access.is_ok() {
                transfer::run_fill(&state, fill, None)?;
            }
            submit(state, context, access);
            Ok(())
        }
        Operation::Host { function, data, .. } => {
            let (function, data) = (*function, *data);
            drop(state);
            // SAFETY: the program passed the function to be called with this argument.
            callback::call_program(|| unsafe { function(data as *mut std::ffi::c_void) });
            Ok(())
        }
        Operation::Rendezvous { poll, data } => {
            let (state, result) =
                waits::wait_for_rendezvous(state, Rendezvous { function: *poll, data: *data }, "a stream");
            submit(state, context, result);
            Ok(())
        }
        Operation::Free(address) => free(&mut state, *address),
        Operation::MemoryOperations(_) | Operation::SignalSemaphores(_) | Operation::WaitSemaphores(_) => {
            let mut touched = Touched::new();
            let (state, result) = waits::run(state, op, "a stream", &mut touched);
            submit(state, context, result);
            Ok(())
        }
        Operation::Empty
        | Operation::Child(_)
        | Operation::Conditional(_)
        | Operation::Alloc { .. }
        | Operation::RecordEvent(_)
        | Operation::WaitEvent(_) => Ok(()),
    }
}

/// Submits the report of a failure, which breaks the context.
fn submit(mut state: MutexGuard<'_, State>, context: u64, result: std::result::Result<(), Report>) {
    if let Err(report) = result {
        state.break_context(context, report.status);
        drop(state);
        report.submit();
    }
}

/// Frees an allocation in stream order: one of a graph, of a pool or of `cuMemAlloc`.
pub fn free(state: &mut State, address: u64) -> Result {
    match state.memory.at(address).ok_or(Status::INVALID_VALUE)?.kind {
        AllocationKind::Graph(_) => memory_accounting::free(state, address),
        AllocationKind::Pool(pool) => {
            let gone = state.memory.free(address)?;
            if let Some(pool) = state.pools.get_mut(pool) {
                pool.give(gone.size);
            }
            Ok(())
        }
        AllocationKind::Device => state.memory.free(address).map(drop),
        _ => Err(Status::INVALID_VALUE),
    }
}
