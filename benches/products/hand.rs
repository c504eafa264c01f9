//! cuBLASLt calls, captured as a careful C programmer would capture them.

#![allow(unsafe_code)]
// SAFETY, for the whole file: a graph lives as long as its `Captured`; arrays of nodes are read before the next
// driver call.

use std::ptr;

use cudarc::cublaslt::sys;
use cudarc::driver::{CudaSlice, CudaStream, sys as driver};

use crate::common::Result;
use crate::common::hand::Node;
use crate::matmul::Product;

/// Returns the product of m x k and k x n matrices of f32 or bf16.
pub fn product([m, n, k]: [u32; 3], bf16: bool) -> Result<Product> {
    let elements = if bf16 { sys::cudaDataType::CUDA_R_16BF } else { sys::cudaDataType::CUDA_R_32F };
    let compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F;
    Product::choose([[m, k], [k, n], [m, n]], elements, compute, None)
}

/// Returns a workspace of at least one byte.
pub fn workspace(stream: &std::sync::Arc<CudaStream>, bytes: usize) -> Result<CudaSlice<u8>> {
    Ok(stream.alloc_zeros::<u8>(bytes.max(1))?)
}

/// A graph into which calls are captured one by one, each after the previous one.
pub struct Captured {
    graph: driver::CUgraph,
    frontier: Vec<Node>,
}

impl Captured {
    pub fn new() -> Result<Captured> {
        let mut graph = ptr::null_mut();
        unsafe { driver::cuGraphCreate(&mut graph, 0) }.result()?;
        Ok(Captured { graph, frontier: Vec::new() })
    }

    /// Captures a call.
    pub fn call(&mut self, stream: &CudaStream, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let raw = stream.cu_stream();
        let mode = driver::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let after = &self.frontier;
        unsafe {
            let before = if after.is_empty() { ptr::null() } else { after.as_ptr() };
            driver::cuStreamBeginCaptureToGraph(raw, self.graph, before, ptr::null(), after.len(), mode)
                .result()?;
        }
        work()?;
        let mut status = driver::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let (mut id, mut graph, mut nodes, mut edges, mut count) =
            (0, ptr::null_mut(), ptr::null(), ptr::null(), 0);
        unsafe {
            driver::cuStreamGetCaptureInfo_v3(
                raw,
                &mut status,
                &mut id,
                &mut graph,
                &mut nodes,
                &mut edges,
                &mut count,
            )
            .result()?;
            self.frontier = std::slice::from_raw_parts(nodes, count).to_vec();
            driver::cuStreamEndCapture(raw, &mut graph).result()?;
        }
        Ok(())
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = unsafe { driver::cuGraphDestroy(self.graph) };
    }
}
