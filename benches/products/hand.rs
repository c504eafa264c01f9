//! Products by cuBLASLt as a careful C programmer writes them: one algorithm, chosen before the capture, and a workspace.

#![allow(unsafe_code)]
// SAFETY, for the whole file: descriptors live as long as their `Product`; addresses are of buffers that the benchmark keeps.

use std::ffi::c_void;
use std::ptr;

use cudarc::cublaslt::{result, sys};
use cudarc::driver::{CudaSlice, CudaStream, sys as driver};

use crate::common::Result;
use crate::common::hand::Node;

/// A row-major product c = a · b + β · c of matrices without gaps.
pub struct Product {
    handle: sys::cublasLtHandle_t,
    operation: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algorithm: sys::cublasLtMatmulAlgo_t,
    /// The bytes of workspace that the algorithm takes.
    pub workspace: usize,
}

/// The most bytes of workspace.
const LIMIT: u64 = 32 << 20;

impl Product {
    /// Asks for the algorithm.
    pub fn new([m, n, k]: [u32; 3], bf16: bool) -> Result<Product> {
        let kind = if bf16 { sys::cudaDataType::CUDA_R_16BF } else { sys::cudaDataType::CUDA_R_32F };
        let handle = result::create_handle()?;
        let operation = result::create_matmul_desc(
            sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            sys::cudaDataType::CUDA_R_32F,
        )?;
        // cᵀ = bᵀ · aᵀ, in column-major order.
        let layout = |rows: u32, columns: u32| {
            result::create_matrix_layout(kind, rows.into(), columns.into(), rows.into())
        };
        let layouts = [layout(n, k)?, layout(k, m)?, layout(n, m)?];
        let preference = result::create_matmul_pref()?;
        let most = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let [x, y, c] = layouts;
        let answer = unsafe {
            result::set_matmul_pref_attribute(preference, most, ptr::from_ref(&LIMIT).cast(), 8)?;
            let answer = result::get_matmul_algo_heuristic(handle, operation, x, y, c, c, preference)?;
            result::destroy_matmul_pref(preference)?;
            answer
        };
        Ok(Product { handle, operation, layouts, algorithm: answer.algo, workspace: answer.workspaceSize })
    }

    /// Enqueues it: `addresses` are those of a, b and c.
    pub fn enqueue(&self, stream: &CudaStream, [a, b, c]: [u64; 3], beta: f32, workspace: u64) -> Result<()> {
        let alpha = 1.0f32;
        let address = |address: u64| ptr::with_exposed_provenance_mut::<c_void>(address as usize);
        let [x, y, z] = self.layouts;
        unsafe {
            result::matmul(
                self.handle,
                self.operation,
                ptr::from_ref(&alpha).cast(),
                ptr::from_ref(&beta).cast(),
                address(b),
                x,
                address(a),
                y,
                address(c),
                z,
                address(c),
                z,
                &self.algorithm,
                address(workspace),
                self.workspace,
                stream.cu_stream().cast(),
            )?;
        }
        Ok(())
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        unsafe {
            for layout in self.layouts {
                let _ = result::destroy_matrix_layout(layout);
            }
            let _ = result::destroy_matmul_desc(self.operation);
            let _ = result::destroy_handle(self.handle);
        }
    }
}

/// Returns a workspace, of a byte at least.
pub fn workspace(stream: &std::sync::Arc<CudaStream>, bytes: usize) -> Result<CudaSlice<u8>> {
    Ok(stream.alloc_zeros::<u8>(bytes.max(1))?)
}

/// A graph into which calls are captured one by one, each behind the one before it.
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
