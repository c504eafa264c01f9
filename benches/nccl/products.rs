//! The products of a training step in TF32, called by hand.

use cudarc::cublaslt::sys;

use crate::common::Result;
use crate::matmul::Product;

/// The factor that is stored transposed, or the operation after the product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// c = max(a · b, 0)
    Relu,
    /// c = aᵀ · b
    FirstTransposed,
    /// c = a · bᵀ
    SecondTransposed,
}

/// The value of `cublasOperation_t` for a transposed matrix.
const CUBLAS_OP_T: i32 = 1;

/// Returns the product of m x k and k x n matrices. The context of the device must be current.
pub fn product([m, n, k]: [u32; 3], form: Form) -> Result<Product> {
    let a = if form == Form::FirstTransposed { [k, m] } else { [m, k] };
    let b = if form == Form::SecondTransposed { [n, k] } else { [k, n] };
    // The library's first factor is bᵀ.
    let attribute = match form {
        Form::Relu => (
            sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_EPILOGUE,
            sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_RELU as i32,
        ),
        Form::FirstTransposed => {
            (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T)
        }
        Form::SecondTransposed => {
            (sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T)
        }
    };
    let compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32;
    Product::choose([a, b, [m, n]], sys::cudaDataType::CUDA_R_32F, compute, Some(attribute))
}
