//! Counts the nodes that a call captures.

use std::ptr::null_mut;

use cudarc::driver::result::{graph, stream};
use cudarc::driver::sys::{self, CUstream, CUstreamCaptureMode};

use crate::blas::error::Error;

/// Returns the number of nodes that `work` captures in a stream of its own. The context must be current.
pub fn captured_nodes(work: impl FnOnce(CUstream) -> Result<(), Error>) -> Result<usize, Error> {
    let own = stream::create(stream::StreamKind::NonBlocking)?;
    let counted = count(own, work);
    // SAFETY: it is not used any more.
    unsafe { stream::destroy(own) }?;
    counted
}

fn count(own: CUstream, work: impl FnOnce(CUstream) -> Result<(), Error>) -> Result<usize, Error> {
    // SAFETY: the stream is live.
    unsafe { stream::begin_capture(own, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED) }?;
    let worked = work(own);
    // SAFETY: the stream captures.
    let captured = unsafe { stream::end_capture(own) };
    worked?;
    let captured = captured?;
    let mut count = 0;
    // SAFETY: the graph is live, and the count is a local.
    let counted = unsafe { sys::cuGraphGetNodes(captured, null_mut(), &mut count) }.result();
    // SAFETY: it is not used any more.
    unsafe { graph::destroy(captured) }?;
    counted?;
    Ok(count)
}
