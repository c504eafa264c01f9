//! Products of row-major matrices in TF32 by cuBLASLt, by hand: one algorithm each, chosen before, and a workspace.

#![allow(unsafe_code)]
// SAFETY, for the whole file: descriptors live as long as their `Product`; addresses are of buffers that the benchmark keeps.

use std::ffi::c_void;
use std::ptr::{from_ref, with_exposed_provenance_mut};

use cudarc::cublaslt::{result, sys};
use cudarc::driver::CudaStream;

use crate::common::Result;

/// The factor that is stored as its transpose, or what follows the product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// c = max(a · b, 0)
    Relu,
    /// c = aᵀ · b
    FirstTransposed,
    /// c = a · bᵀ
    SecondTransposed,
}

/// A product of m x k and k x n.
pub struct Product {
    handle: sys::cublasLtHandle_t,
    operation: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algorithm: sys::cublasLtMatmulAlgo_t,
    /// The bytes of workspace that the algorithm takes.
    workspace: usize,
}

/// The value of `cublasOperation_t` for a matrix that is stored as its transpose.
const CUBLAS_OP_T: i32 = 1;

/// The most bytes of workspace.
pub const WORKSPACE: usize = 32 << 20;

impl Product {
    /// Asks for the algorithm. The context of the device must be current.
    pub fn new([m, n, k]: [u32; 3], form: Form) -> Result<Product> {
        let kind = sys::cudaDataType::CUDA_R_32F;
        let handle = result::create_handle()?;
        let compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32;
        let operation = result::create_matmul_desc(compute, kind)?;
        // cᵀ = bᵀ · aᵀ, in column-major order: b comes first.
        let layout = |rows: u32, columns: u32| {
            result::create_matrix_layout(kind, rows.into(), columns.into(), rows.into())
        };
        let b = if form == Form::SecondTransposed { layout(k, n)? } else { layout(n, k)? };
        let a = if form == Form::FirstTransposed { layout(m, k)? } else { layout(k, m)? };
        let layouts = [b, a, layout(n, m)?];
        let transposed = CUBLAS_OP_T;
        let relu = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_RELU as i32;
        let (attribute, value) = match form {
            Form::Relu => (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_EPILOGUE, relu),
            Form::FirstTransposed => {
                (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSB, transposed)
            }
            Form::SecondTransposed => {
                (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA, transposed)
            }
        };
        let preference = result::create_matmul_pref()?;
        let most = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let [x, y, c] = layouts;
        let answer = unsafe {
            result::set_matmul_desc_attribute(operation, attribute, from_ref(&value).cast(), 4)?;
            result::set_matmul_pref_attribute(preference, most, from_ref(&WORKSPACE).cast(), 8)?;
            let answer = result::get_matmul_algo_heuristic(handle, operation, x, y, c, c, preference)?;
            result::destroy_matmul_pref(preference)?;
            answer
        };
        Ok(Product { handle, operation, layouts, algorithm: answer.algo, workspace: answer.workspaceSize })
    }

    /// Enqueues it: `addresses` are those of a, b and c.
    pub fn enqueue(&self, stream: &CudaStream, [a, b, c]: [u64; 3], workspace: u64) -> Result<()> {
        let (alpha, beta) = (1.0f32, 0.0f32);
        let address = |address: u64| with_exposed_provenance_mut::<c_void>(address as usize);
        let [x, y, z] = self.layouts;
        unsafe {
            result::matmul(
                self.handle,
                self.operation,
                from_ref(&alpha).cast(),
                from_ref(&beta).cast(),
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
