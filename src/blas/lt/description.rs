//! The descriptors that cuBLASLt needs for a problem.

use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

use cudarc::cublas::sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
use cudarc::cublaslt::sys::cublasComputeType_t::{
    CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F,
};
use cudarc::cublaslt::sys::cublasLtEpilogue_t::{
    CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
};
use cudarc::cublaslt::sys::cublasLtMatmulDescAttributes_t::{
    CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_TRANSA,
    CUBLASLT_MATMUL_DESC_TRANSB,
};
use cudarc::cublaslt::sys::cublasLtMatrixLayoutAttribute_t::{
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
};
use cudarc::cublaslt::sys::cudaDataType_t::{CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_64F};
use cudarc::cublaslt::sys::{cublasLtMatmulDesc_t, cublasLtMatrixLayout_t};

use crate::blas::element::ElementKind;
use crate::blas::error::Error;
use crate::blas::kernels::ElementKinds;
use crate::blas::library::{Library, check_status};
use crate::blas::product::{Activation, Matrix};

use super::problem::Problem;

/// The descriptors of an operation and its matrices.
pub struct Description<'l> {
    library: &'l Library,
    pub operation: cublasLtMatmulDesc_t,
    pub layouts: [cublasLtMatrixLayout_t; 3],
}

impl Drop for Description<'_> {
    fn drop(&mut self) {
        // SAFETY: each is null, or was created by its call and is not used any more.
        unsafe {
            for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
                let _ = (self.library.cublasLtMatrixLayoutDestroy)(layout);
            }
            if !self.operation.is_null() {
                let _ = (self.library.cublasLtMatmulDescDestroy)(self.operation);
            }
        }
    }
}

impl<'l> Description<'l> {
    /// Describes a problem. Leaves bias and activation out if `unfinished` is true.
    pub fn new(library: &'l Library, problem: &Problem, unfinished: bool, bias: u64) -> Result<Self, Error> {
        let ElementKinds { factors, result } = problem.kinds;
        let mut description = Description { library, operation: null_mut(), layouts: [null_mut(); 3] };
        let compute = match (factors, problem.tf32) {
            (ElementKind::F64, _) => CUBLAS_COMPUTE_64F,
            (ElementKind::F32, true) => CUBLAS_COMPUTE_32F_FAST_TF32,
            _ => CUBLAS_COMPUTE_32F,
        };
        let summed = data_type(factors.summed());
        // SAFETY: the pointers are to fields of a local.
        let status =
            unsafe { (library.cublasLtMatmulDescCreate)(&mut description.operation, compute as u32, summed) };
        check_status("cublasLtMatmulDescCreate", status)?;
        let [x, y] = problem.factors();
        let c = problem.matrices[2];
        for (attribute, (_, transposed)) in
            [(CUBLASLT_MATMUL_DESC_TRANSA, x), (CUBLASLT_MATMUL_DESC_TRANSB, y)]
        {
            let operation = if transposed { CUBLAS_OP_T } else { CUBLAS_OP_N };
            description.set(attribute as u32, &(operation as u32))?;
        }
        if !unfinished {
            description.set(CUBLASLT_MATMUL_DESC_EPILOGUE as u32, &epilogue(problem))?;
            if problem.bias {
                description.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER as u32, &bias)?;
            }
        }
        for (at, (matrix, kind)) in [(x.0, factors), (y.0, factors), (c, result)].into_iter().enumerate() {
            layout(library, &mut description.layouts[at], &matrix, kind, problem.sizes[3])?;
        }
        Ok(description)
    }

    fn set<T>(&self, attribute: u32, value: &T) -> Result<(), Error> {
        let value: *const c_void = from_ref(value).cast();
        // SAFETY: the description lives, and the value has the size of the attribute.
        let status = unsafe {
            (self.library.cublasLtMatmulDescSetAttribute)(self.operation, attribute, value, size_of::<T>())
        };
        check_status("cublasLtMatmulDescSetAttribute", status)
    }
}

/// Describes a matrix, in column-major order. After a failure `made` is null or must still be destroyed.
fn layout(
    library: &Library,
    made: &mut cublasLtMatrixLayout_t,
    matrix: &Matrix,
    kind: ElementKind,
    batch: u32,
) -> Result<(), Error> {
    let (rows, columns) = matrix.lines();
    let (rows, columns) = (u64::from(rows), u64::from(columns));
    let leading = i64::from(matrix.leading);
    // SAFETY: the pointer is valid.
    let status =
        unsafe { (library.cublasLtMatrixLayoutCreate)(made, data_type(kind), rows, columns, leading) };
    check_status("cublasLtMatrixLayoutCreate", status)?;
    if batch > 1 {
        let set = |attribute: u32, value: *const c_void, bytes| {
            // SAFETY: the layout lives, and the value has the size of the attribute.
            let status =
                unsafe { (library.cublasLtMatrixLayoutSetAttribute)(*made, attribute, value, bytes) };
            check_status("cublasLtMatrixLayoutSetAttribute", status)
        };
        let (count, stride) = (batch, matrix.stride);
        set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT as u32, from_ref(&count).cast(), 4)?;
        set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET as u32, from_ref(&stride).cast(), 8)?;
    }
    Ok(())
}

fn data_type(kind: ElementKind) -> u32 {
    (match kind {
        ElementKind::F32 => CUDA_R_32F,
        ElementKind::F64 => CUDA_R_64F,
        ElementKind::F16 => CUDA_R_16F,
        ElementKind::BF16 => CUDA_R_16BF,
    }) as u32
}

/// Returns the value of the attribute `EPILOGUE`.
fn epilogue(problem: &Problem) -> u32 {
    (match (problem.activation, problem.bias) {
        (Activation::None, false) => CUBLASLT_EPILOGUE_DEFAULT,
        (Activation::None, true) => CUBLASLT_EPILOGUE_BIAS,
        (Activation::Relu, false) => CUBLASLT_EPILOGUE_RELU,
        (Activation::Relu, true) => CUBLASLT_EPILOGUE_RELU_BIAS,
        (Activation::Gelu, false) => CUBLASLT_EPILOGUE_GELU,
        (Activation::Gelu, true) => CUBLASLT_EPILOGUE_GELU_BIAS,
    }) as u32
}
