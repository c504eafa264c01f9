//! Products of row-major matrices with cuBLASLt, called by hand: one algorithm, which is chosen before any launch
//! or capture, and a workspace.

#![allow(unsafe_code)]
// SAFETY, for the whole file: descriptors live as long as their `Product`; addresses are of buffers that the
// benchmark keeps.

use std::ffi::c_void;
use std::ptr::{from_ref, with_exposed_provenance_mut};

use cudarc::cublaslt::{result, sys};
use cudarc::driver::CudaStream;

use crate::common::Result;

/// A product c = a · b + β · c of contiguous matrices.
pub struct Product {
    handle: sys::cublasLtHandle_t,
    operation: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algorithm: sys::cublasLtMatmulAlgo_t,
    /// The bytes of workspace that the algorithm needs.
    pub workspace: usize,
}

/// The maximum number of bytes of workspace.
pub const WORKSPACE: usize = 32 << 20;

/// A non-default attribute of a product.
pub type Attribute = (sys::cublasLtMatmulDescAttributes_t, i32);

impl Product {
    /// Queries the algorithm. `stored` has the rows and columns of a, b and c as they are in memory. The context of
    /// the device must be current.
    pub fn choose(
        stored: [[u32; 2]; 3],
        elements: sys::cudaDataType,
        compute: sys::cublasComputeType_t,
        attribute: Option<Attribute>,
    ) -> Result<Product> {
        let handle = result::create_handle()?;
        let operation = result::create_matmul_desc(compute, sys::cudaDataType::CUDA_R_32F)?;
        // cᵀ = bᵀ · aᵀ in column-major order, so b comes first.
        let layout = |[rows, columns]: [u32; 2]| {
            result::create_matrix_layout(elements, columns.into(), rows.into(), columns.into())
        };
        let [a, b, c] = stored;
        let layouts = [layout(b)?, layout(a)?, layout(c)?];
        let preference = result::create_matmul_pref()?;
        let most = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let [x, y, z] = layouts;
        let answer = unsafe {
            if let Some((attribute, value)) = attribute {
                result::set_matmul_desc_attribute(operation, attribute, from_ref(&value).cast(), 4)?;
            }
            result::set_matmul_pref_attribute(preference, most, from_ref(&WORKSPACE).cast(), 8)?;
            let answer = result::get_matmul_algo_heuristic(handle, operation, x, y, z, z, preference)?;
            result::destroy_matmul_pref(preference)?;
            answer
        };
        Ok(Product { handle, operation, layouts, algorithm: answer.algo, workspace: answer.workspaceSize })
    }

    /// Enqueues the product. `addresses` are those of a, b and c.
    pub fn enqueue(&self, stream: &CudaStream, [a, b, c]: [u64; 3], beta: f32, workspace: u64) -> Result<()> {
        let alpha = 1.0f32;
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
